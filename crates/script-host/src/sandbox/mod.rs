//! Transforms: pure functions from JSON to JSON, each call in a runtime of its own.
//!
//! ```text
//!   code -> bytecode (bytecode.rs, kept) --.
//!   a bare context, made beforehand -------+-> evaluate -> call with the input -> JSON (json.rs)
//!   limits: time, memory, stack -----------'
//! ```
//!
//! The limits hold for whatever QuickJS can be interrupted in. The rest is the parent's, who kills the process.

mod bytecode;
mod cell;
mod json;

use std::sync::Arc;
use std::time::{Duration, Instant};

use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, Ctx, Function, Value};
use serde_json::value::RawValue;

use crate::control::LoopWatch;
use crate::error;
use crate::frame::ScriptError;
use bytecode::BytecodeCache;
use cell::{CellLimits, NoOutput, SandboxCell};

/// One call of a transform.
#[derive(Debug)]
pub(crate) struct TransformJob {
    pub(crate) code: String,
    pub(crate) input: Box<RawValue>,
    pub(crate) limit: Duration,
    pub(crate) memory: usize,
}

/// Runs transforms, one at a time.
#[derive(Debug)]
pub(crate) struct TransformRunner {
    watch: Arc<LoopWatch>,
    bytecodes: BytecodeCache,
    /// The next call's world.
    next: Option<SandboxCell>,
    /// The last call's world, to be let go when there is time.
    last: Option<SandboxCell>,
    used: bool,
}

impl TransformRunner {
    pub(crate) fn new(watch: Arc<LoopWatch>) -> Self {
        Self { watch, bytecodes: BytecodeCache::default(), next: None, last: None, used: false }
    }

    /// The transform's output as JSON.
    pub(crate) fn run(&mut self, job: TransformJob) -> Result<Vec<u8>, Box<ScriptError>> {
        self.used = true;
        let limits = CellLimits { deadline: Instant::now() + job.limit, memory: job.memory };
        let bytecode = self.bytecodes.of(job.code, limits, &self.watch).map_err(placed)?;
        let cell = match self.next.take() {
            Some(cell) => cell,
            None => SandboxCell::new(&self.watch)?,
        };
        cell.limit(limits);
        let outcome = cell.with(|ctx, cell| call(ctx, cell, &bytecode, &job.input));
        let outcome = cell.judge(outcome).map_err(placed);
        // A large world takes long to let go: that is part of this call and not of the next.
        self.last = (!cell.is_large()).then_some(cell);
        outcome
    }

    /// Does what would cost the next call time.
    pub(crate) fn tidy(&mut self) {
        self.last = None;
        if self.used && self.next.is_none() {
            // If it fails, the next call says so.
            self.next = SandboxCell::new(&self.watch).ok();
        }
    }
}

/// Adds the line and the column of the innermost place in the transform, as details.
fn placed(mut error: Box<ScriptError>) -> Box<ScriptError> {
    if let Some((line, column)) = error.stack.as_deref().and_then(place) {
        error.details = Some(serde_json::json!({ "line": line, "column": column }));
    }
    error
}

/// Stacks have `at name (transform:3:9)` and `at transform:3:9`.
fn place(stack: &str) -> Option<(u32, u32)> {
    let marker = format!("{}:", bytecode::NAME);
    let (_, place) = stack.split_once(&marker)?;
    let mut numbers = place.split(|char: char| !char.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Evaluates the module and calls what it exports.
fn call(ctx: &Ctx<'_>, cell: &SandboxCell, bytecode: &[u8], input: &RawValue) -> Result<Vec<u8>, NoOutput> {
    let thrown = |error| NoOutput::Thrown(Box::new(error::thrown(ctx, error)));
    let function = exported(ctx, bytecode)?;
    let input = ctx.json_parse(input.get()).catch(ctx).map_err(thrown)?;
    let output: Value<'_> = function.call((input,)).catch(ctx).map_err(thrown)?;
    if is_thenable(&output).catch(ctx).map_err(thrown)? {
        return Err(NoOutput::Async("a transform is synchronous: it returned a promise"));
    }
    json::write(ctx, &output, cell)
}

fn exported<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Function<'js>, NoOutput> {
    let thrown = |error| NoOutput::Thrown(Box::new(error::thrown(ctx, error)));
    let module = bytecode::load(ctx, bytecode).catch(ctx).map_err(thrown)?;
    let (module, evaluated) = module.eval().catch(ctx).map_err(thrown)?;
    match evaluated.state() {
        PromiseState::Resolved => {}
        PromiseState::Pending => {
            return Err(NoOutput::Async("a transform is synchronous: it awaits something"));
        }
        PromiseState::Rejected => {
            let rejected = evaluated.result::<Value<'js>>().unwrap_or(Err(rquickjs::Error::Unknown));
            rejected.catch(ctx).map_err(thrown)?;
        }
    }
    let exported: Value<'js> = module.get("default").catch(ctx).map_err(thrown)?;
    exported.into_function().ok_or(NoOutput::NoFunction)
}

fn is_thenable(value: &Value<'_>) -> rquickjs::Result<bool> {
    match value.as_object() {
        Some(object) => Ok(value.is_promise() || object.get::<_, Value<'_>>("then")?.is_function()),
        None => Ok(false),
    }
}
