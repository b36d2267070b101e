//! The built-in functions of the run that starts what a completed run triggers.
//!
//! `rival:trigger` does one trigger of the run that its own run's input names. What it finds decides what it gives:
//!
//! | | it |
//! | --- | --- |
//! | all values are there | starts the run, or one for each item |
//! | a value is not there | gives `skipped`, with the value's name; for an item, leaves that item out |
//! | the list is empty | gives `triggered`, with nothing started |
//! | the list is no list, or too long | fails |
//! | the target is not there, or refuses its input | fails, when it has tried all items |
//! | the chain of triggers is too long | fails with `trigger_depth` |
//! | the store fails | fails, and is tried again |
//!
//! Runs have fixed ids, and starting one again under the same id with the same input gives the same run: so it may be called
//! again at any time, and starts each run once. What it reads of the completed run never changes.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use rival_core::event::TriggerOrigin;
use rival_core::failure::code;
use rival_core::plan::{TRIGGER_DEPTH_MAX, TRIGGER_ITEMS_MAX, Trigger};
use rival_core::view::TriggerStatus;
use rival_core::{FailureRecord, RunId, StepError, TraceParent, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::api::engine::Engine;
use crate::api::error::StartError;
use crate::api::start::{RunRequest, TriggeredStart};
use crate::call::context::{CallContext, StateCell};
use crate::call::function::{CallError, FunctionNeeds, UserFunction};
use crate::inspect::triggers::{SourceError, SourceRun};
use crate::template::{FillError, Template};

/// How many runs are started at a time.
const BATCH: usize = 100;
/// How many ids of started runs are recorded; the others follow from how many there are.
const IDS_MAX: usize = 100;

/// What a trigger came to, if it did not fail.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriggerResult {
    pub(crate) status: TriggerStatus,
    /// How many runs it has started.
    #[serde(default)]
    pub(crate) started: usize,
    /// The first of them.
    #[serde(default)]
    pub(crate) runs: Vec<RunId>,
    /// How many items it has left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) skipped_items: usize,
    /// The value that is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The input of the run.
#[derive(Deserialize)]
struct TriggersInput {
    source: RunId,
}

/// Whether the templates of a trigger read, and know what they refer to: `output` and `input`, with a list also `item` and
/// `index`.
pub fn check_trigger(trigger: &Trigger) -> Result<(), String> {
    let of_run = ["output", "input"];
    let of_item = ["output", "input", "item", "index"];
    let known: &[&str] = if trigger.for_each().is_some() { &of_item } else { &of_run };
    let check = |what: &str, data: &Value, known: &[&str]| {
        let template = Template::parse(data).map_err(|error| format!("{what}: {error}"))?;
        match template.roots().into_iter().find(|root| !known.contains(root)) {
            Some(root) => Err(format!("{what}: `{root}` means nothing here; there is {}", known.join(", "))),
            None => Ok(()),
        }
    };
    check("inputs", trigger.inputs(), known)?;
    trigger.for_each().map_or(Ok(()), |list| check("forEach", list, &of_run))
}

/// Does one trigger.
pub(crate) struct StartTriggered {
    needs: FunctionNeeds,
}

impl StartTriggered {
    pub(crate) fn new() -> Self {
        Self { needs: FunctionNeeds { iteration: true, ..FunctionNeeds::default() } }
    }
}

impl UserFunction for StartTriggered {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        Box::pin(async move {
            let index = context.iteration.as_ref().map_or(0, |iteration| iteration.index);
            let result = TriggerCall::begin(&context, index).await?.start_all().await?;
            Value::encode(&result).map_err(|error| failed(code::NOT_JSON, error.to_string()).into())
        })
    }
}

/// Fails the run unless all triggers are done.
pub(crate) struct AllTriggered {
    pub(crate) template: Template,
    pub(crate) needs: FunctionNeeds,
}

impl UserFunction for AllTriggered {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let filled = self.template.fill_in_call(&context, &self.needs);
        let judged = filled
            .map_err(FillError::into_step_error)
            .and_then(|results| all_done(results.unwrap_or_default()));
        Box::pin(std::future::ready(judged.map_err(CallError::Failed)))
    }
}

/// A trigger that failed has no result.
fn all_done(results: Value) -> Result<Value, StepError> {
    let list: Vec<Option<serde::de::IgnoredAny>> = results.decode().unwrap_or_default();
    let failed_ones: Vec<String> = (1..)
        .zip(&list)
        .filter(|(_, result)| result.is_none())
        .map(|(number, _): (usize, _)| number.to_string())
        .collect();
    if failed_ones.is_empty() {
        return Ok(results);
    }
    let shown = failed_ones.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
    let (count, all) = (failed_ones.len(), list.len());
    let message = format!("{count} of {all} triggers failed: {shown}; a retry of this run does those again");
    Err(failed(code::TRIGGER_FAILED, message))
}

/// A failure that trying again at once does not mend.
fn failed(code: &str, message: String) -> StepError {
    FailureRecord::new(code, message).stop()
}

/// One trigger that is being done.
struct TriggerCall {
    engine: Engine,
    source: SourceRun,
    trigger: Trigger,
    index: u32,
    depth: u32,
    state: StateCell,
    trace: Option<TraceParent>,
}

/// What became of one run that is to be started.
enum StartedRun {
    Started(RunId),
    Skipped(String),
    Failed(StartError),
}

impl TriggerCall {
    async fn begin(context: &CallContext, index: u32) -> Result<Self, StepError> {
        let engine =
            context.engine().ok_or_else(|| failed(code::INTERNAL, "there is no engine".to_owned()))?;
        let input: Result<TriggersInput, _> = context.input.decode();
        let TriggersInput { source } = input.map_err(|error| failed(code::DECODE, error.to_string()))?;
        let source = SourceRun::read(&engine, &source).await.map_err(SourceError::into_step_error)?;
        let trigger = source.trigger(index);
        let trigger = trigger.ok_or_else(|| failed(code::DECODE, format!("there is no trigger {index}")))?;
        let depth = source.depth(&engine).await.map_err(SourceError::into_step_error)? + 1;
        if depth > TRIGGER_DEPTH_MAX {
            let chain = source.chain(&engine).await.join(" -> ");
            let message = format!(
                "the chain of triggers ends here, after {TRIGGER_DEPTH_MAX}: {chain} -> `{}`",
                trigger.workflow
            );
            return Err(failed(code::TRIGGER_DEPTH, message));
        }
        let (state, trace) = (context.state.clone(), context.run.trace);
        Ok(Self { engine, source, trigger, index, depth, state, trace })
    }

    async fn start_all(mut self) -> Result<TriggerResult, StepError> {
        let inputs = template(self.trigger.inputs())?;
        let roots = inputs.roots().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let list = self.trigger.for_each().map(template).transpose()?;
        let of_list = list.iter().flat_map(Template::roots).map(str::to_owned);
        let wanted: Vec<String> = roots.into_iter().chain(of_list).collect();
        self.source.load(&self.engine, &wanted).await.map_err(SourceError::into_step_error)?;
        let items = match list {
            None => vec![None],
            Some(list) => match self.fill(&list, None)? {
                Ok(list) => self.items(&list)?.into_iter().map(Some).collect(),
                Err(missing) => return Ok(skipped(0, missing)),
            },
        };
        let call = Arc::new(self);
        let inputs = Arc::new(inputs);
        let start = |(number, item): (u32, Option<Value>)| {
            let (call, inputs) = (Arc::clone(&call), Arc::clone(&inputs));
            async move { call.start_one(&inputs, number, item).await }
        };
        let mut outcome = TriggerOutcome::default();
        let mut started = futures::stream::iter((0..).zip(items)).map(start).buffered(BATCH);
        let mut number = 0;
        while let Some(run) = started.next().await {
            outcome.add(number, run?)?;
            number += 1;
        }
        outcome.conclude(&call.state, number)
    }

    /// What a template becomes, or the name of a value that is not there.
    fn fill(
        &self,
        template: &Template,
        item: Option<(u32, &Value)>,
    ) -> Result<Result<Value, String>, StepError> {
        let values = |root: &str| match root {
            "item" => item.map(|(_, item)| item.clone()),
            "index" => item.map(|(index, _)| Value::from(json!(index))),
            root => self.source.value(root),
        };
        match template.fill(&values, self.engine.shared.limits.payload_max) {
            Ok(Some(value)) => Ok(Ok(value)),
            Ok(None) => Ok(Err("the value".to_owned())),
            Err(FillError::Missing(reference)) => Ok(Err(reference.to_string())),
            Err(error) => Err(error.into_step_error()),
        }
    }

    fn items(&self, list: &Value) -> Result<Vec<Value>, StepError> {
        let workflow = &self.trigger.workflow;
        let items: Vec<Value> = list.decode().map_err(|_| {
            let shown: String = list.as_json().chars().take(100).collect();
            failed(
                code::BAD_ANSWER,
                format!("`{workflow}` is to be started for each item of a list, and this is none: {shown}"),
            )
        })?;
        if items.len() > TRIGGER_ITEMS_MAX {
            let count = items.len();
            let message =
                format!("`{workflow}` is to be started for {count} items, more than {TRIGGER_ITEMS_MAX}");
            return Err(failed(code::MAX_ITERATIONS, message));
        }
        Ok(items)
    }

    async fn start_one(
        &self,
        inputs: &Template,
        number: u32,
        item: Option<Value>,
    ) -> Result<StartedRun, StepError> {
        let at = item.as_ref().map(|item| (number, item));
        let input = match self.fill(inputs, at)? {
            Ok(input) => input,
            Err(missing) => return Ok(StartedRun::Skipped(missing)),
        };
        let run = self.source.id().clone();
        let origin =
            TriggerOrigin { run, index: self.index, item: at.map(|(number, _)| number), depth: self.depth };
        let start = TriggeredStart {
            workflow: self.trigger.workflow.clone(),
            input,
            timeout: self.trigger.timeout_ms.map(Duration::from_millis),
            max_retries: self.trigger.max_retries,
            trace: self.trace,
        };
        match RunRequest::triggered(&self.engine, origin, start).await {
            Ok(handle) => Ok(StartedRun::Started(handle.id().clone())),
            Err(error) if is_worth_another_attempt(&error) => {
                Err(FailureRecord::new(error.code(), error.to_string()).plain())
            }
            Err(error) => Ok(StartedRun::Failed(error)),
        }
    }
}

fn template(data: &Value) -> Result<Template, StepError> {
    Template::parse(data).map_err(|error| failed(code::DECODE, error.to_string()))
}

fn skipped(items: usize, missing: String) -> TriggerResult {
    let (started, runs) = (0, Vec::new());
    TriggerResult {
        status: TriggerStatus::Skipped,
        started,
        runs,
        skipped_items: items,
        missing: Some(missing),
    }
}

/// Whether the same start may go well a moment later.
fn is_worth_another_attempt(error: &StartError) -> bool {
    match error {
        StartError::CheckUnavailable { .. } | StartError::ShuttingDown => true,
        StartError::Store(error) => error.is_retryable(),
        StartError::UnknownWorkflow { .. }
        | StartError::InvalidInput { .. }
        | StartError::InputNotJson { .. }
        | StartError::InputTooLarge { .. }
        | StartError::InvalidRunId(_)
        | StartError::InvalidTags(_)
        | StartError::Conflict(_)
        | StartError::NotRetryable { .. }
        | StartError::NotEnded { .. }
        | StartError::NoForkPoint(_)
        | StartError::NodeChanged { .. }
        | StartError::UnknownNode { .. }
        | StartError::NotFound(_)
        | StartError::History { .. } => false,
    }
}

/// What a trigger has come to so far.
#[derive(Default)]
struct TriggerOutcome {
    started: usize,
    runs: Vec<RunId>,
    skipped: usize,
    missing: Option<String>,
    failed: usize,
    /// The first that could not be started, and why.
    failure: Option<(usize, StartError)>,
}

impl TriggerOutcome {
    fn add(&mut self, number: usize, run: StartedRun) -> Result<(), StepError> {
        match run {
            StartedRun::Started(run) => {
                self.started += 1;
                if self.runs.len() < IDS_MAX {
                    self.runs.push(run);
                }
            }
            StartedRun::Skipped(missing) => {
                self.skipped += 1;
                self.missing.get_or_insert(missing);
            }
            // All others would be refused, too.
            StartedRun::Failed(error @ StartError::UnknownWorkflow { .. }) => {
                return Err(failed(error.code(), error.to_string()));
            }
            StartedRun::Failed(error) => {
                self.failed += 1;
                self.failure.get_or_insert((number, error));
            }
        }
        Ok(())
    }

    fn conclude(self, state: &StateCell, count: usize) -> Result<TriggerResult, StepError> {
        let Self { started, runs, skipped, missing, failed: failures, failure } = self;
        if let Some((number, error)) = failure {
            state.set("started", json!(started));
            state.set("runs", json!(runs));
            let message = match count {
                1 => error.to_string(),
                count => format!("{failures} of {count} runs could not be started; item {number}: {error}"),
            };
            return Err(failed(error.code(), message));
        }
        if started == 0
            && let Some(missing) = missing
        {
            return Ok(self::skipped(if count > 1 { skipped } else { 0 }, missing));
        }
        let status = TriggerStatus::Triggered;
        Ok(TriggerResult { status, started, runs, skipped_items: skipped, missing })
    }
}
