//! The world of one call: a runtime of its own, and a context that has nothing but the language.

use std::cell::Cell as StdCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rquickjs::context::intrinsic::{Json, MapSet, Promise, Proxy, RegExp, RegExpCompiler, TypedArrays};
use rquickjs::{Context, Ctx, Object, Runtime};

use crate::code;
use crate::control::LoopWatch;
use crate::error;
use crate::frame::ScriptError;
use crate::memory::{MemoryMeter, MeteredAllocator};

/// As much of the language as gives the same result every time. Without `Eval` nothing can make code out of text,
/// whether it is called `eval`, `Function` or `constructor`.
type Pure = (RegExpCompiler, RegExp, Json, Proxy, MapSet, TypedArrays, Promise);

/// What the language has without being asked, and a transform must not.
const REMOVED: [&str; 4] = ["Atomics", "SharedArrayBuffer", "eval", "queueMicrotask"];

/// How deep a transform may call.
pub(super) const STACK_BYTES: usize = 1024 * 1024;
/// A world that holds more takes noticeable time to let go.
const LARGE: usize = 2 * 1024 * 1024;

/// What a call may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellLimits {
    pub(super) deadline: Instant,
    pub(super) memory: usize,
}

/// Why a transform has no output.
#[derive(Debug)]
pub(super) enum NoOutput {
    /// It threw.
    Thrown(Box<ScriptError>),
    /// Its output is not JSON.
    NotJson(String),
    /// It wants to do something later.
    Async(&'static str),
    /// Its module exports no function.
    NoFunction,
    /// It was stopped.
    Stopped,
}

/// A runtime with a context.
pub(super) struct SandboxCell {
    // In this order: a context goes before its runtime.
    context: Context,
    _runtime: Runtime,
    guard: Rc<LimitGuard>,
}

/// Watches over the limits.
#[derive(Debug)]
pub(super) struct LimitGuard {
    watch: Arc<LoopWatch>,
    meter: Arc<MemoryMeter>,
    deadline: StdCell<Option<Instant>>,
    stopped: StdCell<Option<CellStop>>,
}

#[derive(Clone, Copy, Debug)]
enum CellStop {
    Late,
    Wanted,
    Memory,
}

impl SandboxCell {
    pub(super) fn new(watch: &Arc<LoopWatch>) -> Result<Self, Box<ScriptError>> {
        let (runtime, guard) = runtime(watch)?;
        let context = Context::custom::<Pure>(&runtime).map_err(|_| Box::new(error::out_of_memory()))?;
        let bare = context.with(|ctx| bare(&ctx));
        bare.map_err(|error| Box::new(error::plain(error.to_string())))?;
        Ok(Self { context, _runtime: runtime, guard })
    }

    pub(super) fn limit(&self, limits: CellLimits) {
        self.guard.limit(limits);
    }

    pub(super) fn with<T>(&self, work: impl FnOnce(&Ctx<'_>, &Self) -> T) -> T {
        self.context.with(|ctx| work(&ctx, self))
    }

    /// Whether the call must end; asked now and then by what is not JavaScript.
    pub(super) fn must_stop(&self) -> bool {
        self.guard.interrupts()
    }

    /// Output is memory, too: a small object can be a long text.
    pub(super) fn check_output(&self, bytes: usize) {
        self.guard.meter.check(bytes);
    }

    pub(super) fn is_large(&self) -> bool {
        self.guard.meter.used() > LARGE
    }

    /// What came of it, with the limits that were hit: a script may have caught their errors.
    pub(super) fn judge<T>(&self, outcome: Result<T, NoOutput>) -> Result<T, Box<ScriptError>> {
        self.guard.judge(outcome)
    }
}

impl std::fmt::Debug for SandboxCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cell").field(&self.guard).finish()
    }
}

/// A runtime without limits yet, and their guard.
pub(super) fn runtime(watch: &Arc<LoopWatch>) -> Result<(Runtime, Rc<LimitGuard>), Box<ScriptError>> {
    let meter = Arc::new(MemoryMeter::default());
    meter.set_limit(usize::MAX);
    let made = Runtime::new_with_alloc(MeteredAllocator(Arc::clone(&meter)));
    let runtime = made.map_err(|_| Box::new(error::out_of_memory()))?;
    runtime.set_max_stack_size(STACK_BYTES);
    let guard = Rc::new(LimitGuard {
        watch: Arc::clone(watch),
        meter,
        deadline: StdCell::new(None),
        stopped: StdCell::new(None),
    });
    let asked = Rc::clone(&guard);
    runtime.set_interrupt_handler(Some(Box::new(move || asked.interrupts())));
    Ok((runtime, guard))
}

/// Takes away what the language has of time, chance and other threads.
fn bare(ctx: &Ctx<'_>) -> rquickjs::Result<()> {
    let globals = ctx.globals();
    globals.get::<_, Object<'_>>("Math")?.remove("random")?;
    REMOVED.iter().try_for_each(|name| globals.remove(*name))
}

impl LimitGuard {
    pub(super) fn limit(&self, limits: CellLimits) {
        self.deadline.set(Some(limits.deadline));
        self.meter.set_limit(limits.memory);
    }

    /// Asked by QuickJS again and again: whether to stop.
    fn interrupts(&self) -> bool {
        if self.stopped.get().is_some() {
            return true;
        }
        let stop = if self.meter.refused() {
            CellStop::Memory
        } else if self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline) {
            CellStop::Late
        } else if self.watch.take_wanted() || self.watch.closing() {
            CellStop::Wanted
        } else {
            return false;
        };
        self.stopped.set(Some(stop));
        true
    }

    pub(super) fn judge<T>(&self, outcome: Result<T, NoOutput>) -> Result<T, Box<ScriptError>> {
        let stop = self.stopped.get().or_else(|| self.meter.refused().then_some(CellStop::Memory));
        let error = match (stop, outcome) {
            (None, Ok(output)) => return Ok(output),
            (Some(CellStop::Memory), _) => error::out_of_memory(),
            (Some(CellStop::Late), _) => coded(code::LATE, "the transform took longer than it may"),
            (Some(CellStop::Wanted), _) | (None, Err(NoOutput::Stopped)) => error::interrupted(),
            (None, Err(NoOutput::Thrown(error))) => return Err(error),
            (None, Err(NoOutput::NotJson(what))) => coded(code::NOT_JSON, &what),
            (None, Err(NoOutput::Async(what))) => coded(code::ASYNC, what),
            (None, Err(NoOutput::NoFunction)) => {
                coded(code::NO_FUNCTION, "the default export of a transform is a function")
            }
        };
        Err(Box::new(error))
    }
}

fn coded(code: &str, message: &str) -> ScriptError {
    ScriptError { code: Some(code.to_owned()), ..error::plain(message.to_owned()) }
}
