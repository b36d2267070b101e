//! Requests to start a run: checks what a caller asks for.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rival_core::event::TriggerOrigin;
use rival_core::failure::code;
use rival_core::machine::{Decision, NewChild, RunStart};
use rival_core::text::is_hidden;
use rival_core::{FailureRecord, RunId, RunStatus, Time, TraceParent, Value};
use rival_store::{NewRun, RunRow};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::api::engine::Engine;
use crate::api::error::StartError;
use crate::api::handle::RunHandle;
use crate::call::job::handle_refused_input;
use crate::json;
use crate::registry::definition::CheckError;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::Actor;
use crate::run::child::AskedChild;
use crate::run::launch::{self, RunSpec, launch};
use crate::schedule::shared::EngineShared;

/// What can be run: a workflow's name, or a typed workflow.
///
/// `I` is what it may be given, [`RunTarget::Output`] what it leaves.
pub trait RunTarget<I> {
    /// The type of the run's output.
    type Output;

    /// The workflow's name.
    fn workflow(&self) -> &str;
}

impl<I: Serialize> RunTarget<I> for &str {
    type Output = Value;

    fn workflow(&self) -> &str {
        self
    }
}

impl<I: Serialize> RunTarget<I> for &String {
    type Output = Value;

    fn workflow(&self) -> &str {
        self
    }
}

/// A run about to be started: await it, or say more about it first.
#[must_use = "a run is started by awaiting it"]
#[derive(Debug)]
pub struct RunRequest<O> {
    pub(crate) engine: Engine,
    pub(crate) workflow: String,
    pub(crate) input: Result<Value, json::EncodeError>,
    pub(crate) id: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) trace: Option<TraceParent>,
    /// The trigger that starts it, which also names it.
    pub(crate) trigger: Option<Box<TriggerOrigin>>,
    pub(crate) output: PhantomData<fn() -> O>,
}

impl<O> RunRequest<O> {
    /// Names the run. Starting it again with the same workflow and input gives the same run.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// What the run will be called: the given id, or one that is made up now. After an error that does not tell whether
    /// the run was started, such as one of the store, starting it again under this id is harmless.
    pub fn run_id(&mut self) -> &str {
        self.id.get_or_insert_with(|| uuid::Uuid::now_v7().to_string())
    }

    /// Says who asks, see [`Engine::asked_by`].
    pub fn by(mut self, caller: impl Into<Arc<str>>) -> Self {
        self.engine = self.engine.asked_by(caller);
        self
    }

    /// Adds a word to find the run by.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Fails the run with `run_timeout` when it is older; overrides the workflow's own setting.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Retries the run by itself this often if it fails; overrides the workflow's own setting.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// Makes the run part of a trace: the value of the header `traceparent`. One that is not as the standard says is
    /// ignored.
    pub fn trace(mut self, traceparent: impl AsRef<str>) -> Self {
        self.trace = TraceParent::parse(traceparent.as_ref());
        self
    }
}

/// What a trigger starts.
pub(crate) struct TriggeredStart {
    pub(crate) workflow: String,
    pub(crate) input: Value,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) trace: Option<TraceParent>,
}

impl RunRequest<Value> {
    /// The run that a trigger starts. Asked for again it is the same run.
    pub(crate) fn triggered(engine: &Engine, origin: TriggerOrigin, start: TriggeredStart) -> Self {
        let TriggeredStart { workflow, input, timeout, max_retries, trace } = start;
        Self {
            engine: engine.clone(),
            workflow,
            input: Ok(input),
            id: None,
            tags: Vec::new(),
            timeout,
            max_retries,
            trace,
            trigger: Some(Box::new(origin)),
            output: PhantomData,
        }
    }
}

impl<O: Send + 'static> IntoFuture for RunRequest<O> {
    type Output = Result<RunHandle<O>, StartError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let shared = Arc::clone(&self.engine.shared);
            check_tags(&self.tags)?;
            let submitted = self.input.as_ref().map_err(|error| {
                let (workflow, error) = (self.workflow.clone(), error.clone());
                StartError::InputNotJson { workflow, error }
            })?;
            let (run, status) = match self.start(&shared, submitted).await {
                // The workflow may have been another one, or there, when the same was asked for before.
                Err(refused) if is_about_the_workflow(&refused) => {
                    let known = self.known(&shared, submitted).await?;
                    known.map(|row| (row.id, row.status)).ok_or(refused)?
                }
                started => started?,
            };
            Ok(RunHandle::new(&self.engine, run, self.workflow, status))
        })
    }
}

impl<O> RunRequest<O> {
    async fn start(
        &self,
        shared: &Arc<EngineShared>,
        submitted: &Value,
    ) -> Result<(RunId, RunStatus), StartError> {
        let mut registered = shared.registered(&self.workflow)?;
        loop {
            let input = accept_input(shared, &registered, submitted).await?;
            let id = self.new_id()?;
            let Some(created_at) = shared.registry.created_at_for(&registered, shared.clock.now()) else {
                // Another definition has taken its place meanwhile.
                registered = shared.registered(&self.workflow)?;
                continue;
            };
            let (max_retries, trace) = (self.max_retries, self.trace);
            let timeout_ms =
                self.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
            let (source, parent, imports) = (self.source().cloned(), None, Vec::new());
            let trigger = self.trigger.clone();
            let by = self.engine.by();
            let start =
                RunStart { input, timeout_ms, max_retries, source, parent, trigger, trace, by, imports };
            let (fingerprint, tags) = (fingerprint(&self.workflow, submitted), self.tags.clone());
            return launch(&self.engine, registered, RunSpec { id, start, fingerprint, tags, created_at })
                .await;
        }
    }
}

impl<O> RunRequest<O> {
    /// What the run is called.
    fn new_id(&self) -> Result<RunId, StartError> {
        match &self.trigger {
            Some(origin) => Ok(origin.run.triggered(origin.index, origin.item)),
            None => run_id(self.id.as_deref()),
        }
    }

    /// The run that it goes on from.
    fn source(&self) -> Option<&RunId> {
        self.trigger.as_ref().map(|origin| &origin.run)
    }

    /// The run that the same request has led to before.
    async fn known(&self, shared: &EngineShared, submitted: &Value) -> Result<Option<RunRow>, StartError> {
        let is_named = self.trigger.is_some() || self.id.is_some();
        let Some(id) = self.new_id().ok().filter(|_| is_named) else { return Ok(None) };
        let row = shared.store.get()?.run(&id).await?;
        Ok(row.filter(|row| is_same(row, &fingerprint(&self.workflow, submitted), self.source())))
    }
}

/// Whether a start was refused because of what the workflow is now.
fn is_about_the_workflow(error: &StartError) -> bool {
    matches!(
        error,
        StartError::UnknownWorkflow { .. }
            | StartError::InvalidInput { .. }
            | StartError::CheckUnavailable { .. }
    )
}

/// The input as the run is given it.
pub(crate) async fn accept_input(
    shared: &EngineShared,
    registered: &RegisteredWorkflow,
    input: &Value,
) -> Result<Value, StartError> {
    let workflow = registered.name.to_string();
    let limit = shared.limits.payload_max;
    let too_large = |input: &Value| Some(input.len_bytes()).filter(|size| *size > limit);
    if let Some(size) = too_large(input) {
        return Err(StartError::InputTooLarge { workflow, size, limit });
    }
    let violations = match registered.accept(input.clone()).await {
        Ok(accepted) => {
            let large = too_large(&accepted);
            return large
                .map_or(Ok(accepted), |size| Err(StartError::InputTooLarge { workflow, size, limit }));
        }
        Err(CheckError::Unavailable(message)) => {
            return Err(StartError::CheckUnavailable { workflow, message });
        }
        Err(CheckError::Refused(violations)) => violations,
    };
    let error = StartError::InvalidInput { workflow, violations };
    let failure = FailureRecord::new(code::INVALID_INPUT, error.to_string());
    handle_refused_input(shared, registered, input.clone(), failure).await;
    Err(error)
}

pub(crate) fn run_id(given: Option<&str>) -> Result<RunId, StartError> {
    let Some(id) = given else {
        let mut text = uuid::Uuid::encode_buffer();
        return Ok(RunId::new(&*uuid::Uuid::now_v7().hyphenated().encode_lower(&mut text)));
    };
    if is_run_id(id) { Ok(RunId::from(id)) } else { Err(StartError::InvalidRunId(id.to_owned())) }
}

/// How many tags a run may have, and how long they may be, each and together: lists show all tags of each run.
const TAGS_MAX: usize = 64;
const TAG_MAX_BYTES: usize = 256;
const TAGS_MAX_BYTES: usize = 4 * 1024;

/// Whether a run may have these tags.
pub(crate) fn check_tags(tags: &[String]) -> Result<(), StartError> {
    let wrong = |what: String| Err(StartError::InvalidTags(what));
    if tags.len() > TAGS_MAX {
        return wrong(format!("there are {}, and a run may have {TAGS_MAX}", tags.len()));
    }
    for tag in tags {
        let shown: String = tag.chars().take(40).flat_map(char::escape_debug).collect();
        if tag.is_empty() || tag.len() > TAG_MAX_BYTES {
            return wrong(format!(
                "`{shown}` has {} bytes, and a tag may have 1 to {TAG_MAX_BYTES}",
                tag.len()
            ));
        }
        if tag.chars().any(is_hidden) {
            return wrong(format!("`{shown}` has characters that cannot be seen"));
        }
    }
    let bytes: usize = tags.iter().map(String::len).sum();
    if bytes > TAGS_MAX_BYTES {
        return wrong(format!("together they have {bytes} bytes, and may have {TAGS_MAX_BYTES}"));
    }
    Ok(())
}

/// Whether a run can be given this id. `~` is for the runs that a run leads to: its children and retries.
pub fn is_run_id(id: &str) -> bool {
    can_name_run(id, 200) && !id.contains('~') && !id.chars().any(is_hidden)
}

/// Whether a text of up to so many bytes can name a run, given or not.
pub(crate) fn can_name_run(id: &str, bytes_max: usize) -> bool {
    let printable = |c: char| !c.is_control() && !c.is_whitespace() && c != '/';
    // Commands read `-` as "from stdin", and URLs resolve dots.
    let reserved = matches!(id, "-" | "." | "..");
    !id.is_empty() && id.len() <= bytes_max && id.chars().all(printable) && !reserved
}

/// Names workflow and input, however the input's keys are ordered.
pub(crate) fn fingerprint(workflow: &str, input: &Value) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(workflow.as_bytes());
    hash.update([0]);
    hash.update(input.canonical().as_bytes());
    hash.finalize()[..16].to_vec()
}

/// Whether a run was begun by the same request.
pub(crate) fn is_same(row: &RunRow, fingerprint: &[u8], source: Option<&RunId>) -> bool {
    row.fingerprint == fingerprint && row.source.as_ref() == source
}

/// A child of a live run, created with the commit that starts it. `None` if its workflow is gone.
pub(crate) fn child(
    actor: &Actor,
    new: &NewChild,
    asked: AskedChild,
) -> Option<(NewRun, Option<(Box<Actor>, Decision)>)> {
    let shared = &actor.shared;
    let (registered, now) = newest(shared, &new.workflow)?;
    let AskedChild { input, trace } = asked;
    let fingerprint = fingerprint(&new.workflow, &input);
    let start = RunStart { parent: Some(actor.links.run.clone()), trace, ..RunStart::new(input) };
    let spec = RunSpec { id: new.child.clone(), start, fingerprint, tags: Vec::new(), created_at: now };
    Some(launch::child(shared, registered, spec))
}

/// What a run that begins now takes, and when it is created.
fn newest(shared: &EngineShared, workflow: &str) -> Option<(Arc<RegisteredWorkflow>, Time)> {
    loop {
        let registered = shared.registry.get(workflow)?;
        if let Some(now) = shared.registry.created_at_for(&registered, shared.clock.now()) {
            return Some((registered, now));
        }
    }
}
