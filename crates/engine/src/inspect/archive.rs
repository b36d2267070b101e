//! A run as one portable document: out of one store, and into another.
//!
//! An archive holds what the store holds of a run, in words that outlive a store's tables: the row, the plan that the
//! run keeps, the events and the log. The reader of an archive trusts nothing in it: the plan must have the hash that the run
//! names, the history must keep every rule, and the row must say what the history says. What steps returned cannot be
//! checked, because nothing is signed: a run that was taken in has a tag that says so.
//!
//! A run that another one led to (`order-7~c1`, `order-7~c1~undo`, `order-7~1`) is taken in after that one, and only if
//! that one names it. Else a later run `order-7` would wait for a child that has ended already.

use futures::stream::{self, BoxStream, StreamExt};
use rival_core::bound::{NOTE_MAX, cut};
use rival_core::event::EventKind;
use rival_core::{
    Event, IndexedPlan, Plan, PlanHash, RunId, RunState, RunStatus, Seq, Time, Value, event, verify,
};
use rival_store::{
    EngineId, EventBatch, LogFilter, LogLevel, LogLine, MemoryStore, NewRun, RowUpdate, RunHold, RunRow,
    Store,
};
use serde::{Deserialize, Serialize};

use crate::api::engine::Engine;
use crate::api::error::{EngineError, ImportError, RunError};
use crate::api::start::{can_name_run, fingerprint};
use crate::json;
use crate::run::load::{self, LoadError};

/// What every archive says it is.
const FORMAT: &str = "rival-run";
/// The version that this build writes, and the latest that it reads.
const VERSION: u32 = 1;
/// The tag of runs that were taken in.
pub const IMPORTED: &str = "imported";
/// How a `<` is written where none may be.
const ESCAPED: &str = "\\u003c";
/// How many broken rules an error names.
const NAMED_MAX: usize = 5;
/// The 200 bytes of a user's id, and many generations of children.
const ID_MAX_BYTES: usize = 1_000;

/// A run as one portable document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Archive {
    /// `rival-run`.
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// When it was written.
    pub exported_at: Time,
    /// The run's row.
    pub run: ArchivedRun,
    /// The plan that it keeps.
    pub plan: ArchivedPlan,
    /// All its events.
    pub events: Vec<Event>,
    /// What its steps wrote.
    pub logs: Vec<ArchivedLog>,
}

/// The row of an archived run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedRun {
    /// Its id.
    pub run_id: RunId,
    /// Its workflow.
    pub workflow: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was started.
    pub created_at: Time,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// The run that started it as a child.
    pub parent: Option<RunId>,
    /// The run that it retries.
    pub source: Option<RunId>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// One line: why it failed or is blocked.
    pub note: Option<String>,
}

/// The plan of an archived run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedPlan {
    /// Its hash.
    pub hash: PlanHash,
    /// The plan itself.
    pub plan: Value,
}

/// A line that a step of an archived run wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedLog {
    /// When.
    pub timestamp: Time,
    /// How much it matters.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// The step's path.
    pub step_name: String,
    /// The charged attempt.
    pub attempt: u32,
    /// The call.
    pub call: u32,
    /// The fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// What became of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub status: RunStatus,
    /// Whether it was not there before.
    pub new: bool,
}

impl Archive {
    /// Reads the text of an archive.
    pub fn from_json(text: &str) -> Result<Self, ImportError> {
        serde_json::from_str(text).map_err(|error| invalid(format!("it does not read: {error}")))
    }

    /// JSON that can stand inside of a `<script>` element: no `<` is in it, so nothing in it can end the element.
    pub fn to_embedded(&self) -> String {
        serde_json::to_string(self).expect("an archive has only string keys").replace('<', ESCAPED)
    }

    /// Reads what [`Archive::to_embedded`] wrote.
    pub fn from_embedded(text: &str) -> Result<Self, ImportError> {
        Self::from_json(&plain(text))
    }

    /// Everything that must hold before anything of it is believed.
    fn check(&self, payload_max: usize) -> Result<RunState, ImportError> {
        if self.format != FORMAT {
            return Err(invalid(format!("its format is `{}`, not `{FORMAT}`", self.format)));
        }
        if self.version > VERSION {
            let found = self.version;
            return Err(invalid(format!("its version is {found}: use a newer rival than this")));
        }
        if let Some(event) = self.events.iter().find(|event| event.v > event::VERSION) {
            let (seq, v) = (event.seq, event.v);
            return Err(invalid(format!("event {seq} has version {v}: use a newer rival than this")));
        }
        if !can_name_run(self.run.run_id.as_str(), ID_MAX_BYTES) {
            return Err(invalid("its id is no run id"));
        }
        let plan = self.checked_plan()?;
        let violations = verify::check_run(&plan, &self.events);
        if !violations.is_empty() {
            let named: Vec<String> = violations.iter().take(NAMED_MAX).map(ToString::to_string).collect();
            return Err(invalid(format!("its history breaks the rules: {}", named.join("; "))));
        }
        self.check_values(payload_max)?;
        let state = RunState::of_whole_run(&self.events);
        self.check_row(&state)?;
        Ok(state)
    }

    /// No run can have recorded what is larger or deeper than this.
    fn check_values(&self, max: usize) -> Result<(), ImportError> {
        for event in &self.events {
            for value in event.kind.value().into_iter().chain(event.kind.state()) {
                if value.len_bytes() > max {
                    let (seq, size) = (event.seq, value.len_bytes());
                    return Err(invalid(format!(
                        "event {seq} has {size} bytes, more than the limit of {max}"
                    )));
                }
                if json::is_too_deep(value.as_json()) {
                    return Err(invalid(format!("event {} nests too deep", event.seq)));
                }
            }
        }
        Ok(())
    }

    fn checked_plan(&self) -> Result<IndexedPlan, ImportError> {
        let plan = Plan::from_json(self.plan.plan.as_json())
            .map_err(|error| invalid(format!("its plan does not read: {error}")))?;
        let plan = IndexedPlan::new(plan);
        match self.events.first().map(|event| &event.kind) {
            Some(EventKind::RunStarted { plan: named, .. })
                if named == plan.hash() && *named == self.plan.hash =>
            {
                Ok(plan)
            }
            Some(EventKind::RunStarted { .. }) => {
                Err(invalid("its plan is not the one that the run began with"))
            }
            Some(_) | None => Err(invalid("its history does not begin with the start of the run")),
        }
    }

    /// The row says what the history says.
    fn check_row(&self, state: &RunState) -> Result<(), ImportError> {
        let run = &self.run;
        let agrees = [
            ("status", state.end.as_ref().is_none_or(|end| end.status == run.status)),
            ("status", state.is_terminal() == run.status.is_terminal()),
            ("endedAt", run.ended_at == state.end.as_ref().map(|end| end.at)),
            ("workflow", run.workflow == state.workflow),
            ("parent", run.parent == state.parent),
            ("source", run.source == state.source),
        ];
        match agrees.into_iter().find(|(_, agrees)| !agrees) {
            Some((what, _)) => Err(invalid(format!("its `{what}` is not what its history says"))),
            None => Ok(()),
        }
    }

    fn new_run(&self) -> NewRun {
        let run = &self.run;
        let input = self.events.first().and_then(|event| event.kind.value().cloned()).unwrap_or_default();
        let count = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        NewRun {
            id: run.run_id.clone(),
            workflow: run.workflow.clone(),
            plan: self.plan.hash.clone(),
            fingerprint: fingerprint(&run.workflow, &input),
            created_at: run.created_at,
            parent: run.parent.clone(),
            source: run.source.clone(),
            tags: run.tags.clone(),
            events: EventBatch { first: Seq(1), count, body: event::encode(&self.events) },
            row_update: RowUpdate::new(
                run.status,
                RunHold::Release(None),
                run.ended_at.unwrap_or(run.created_at),
                run.note.clone().map(|note| cut(note, NOTE_MAX)),
            ),
            engine: EngineId(0),
        }
    }

    fn log_lines(&self) -> Vec<LogLine> {
        let lines = self.logs.iter().map(|line| LogLine {
            no: 0,
            run: self.run.run_id.clone(),
            node: line.step_name.clone(),
            attempt: line.attempt,
            call: line.call,
            at: line.timestamp,
            level: line.level,
            message: line.message.clone(),
            fields: line.metadata.clone(),
        });
        lines.collect()
    }

    /// The run that this one belongs to must be here, and name it.
    async fn check_origin(&self, store: &dyn Store) -> Result<(), ImportError> {
        let ArchivedRun { run_id, parent, source, .. } = &self.run;
        if parent.is_none() && !run_id.as_str().contains('~') {
            return Ok(());
        }
        for origin in [parent, source].into_iter().flatten() {
            let history = load::load_history(store, origin).await.map_err(|error| match error {
                LoadError::Store(error) => ImportError::Store(error),
                other => invalid(format!("run `{origin}`, which it belongs to: {other}")),
            })?;
            if history.iter().any(|event| names(&event.kind, run_id)) {
                return Ok(());
            }
        }
        let origin = parent.as_ref().or(source.as_ref()).cloned();
        Err(ImportError::OriginMissing { run: run_id.clone(), origin })
    }

    /// Gives the row of the run, if it is there already.
    async fn put(&self, store: &dyn Store, tags: Vec<String>) -> Result<Option<RunRow>, ImportError> {
        store.put_plan(&self.plan.hash, self.plan.plan.as_json()).await?;
        let known = store.start(NewRun { tags, ..self.new_run() }).await?;
        if known.is_none() {
            store.append_logs(self.log_lines()).await?;
        }
        Ok(known)
    }

    /// The run is there already: that is fine if it is the same. An import that was cut short lacks its log.
    async fn compare(&self, store: &dyn Store, row: &RunRow) -> Result<(), ImportError> {
        let history = load::load_history(store, &row.id).await.map_err(|error| match error {
            LoadError::Store(error) => ImportError::Store(error),
            _ => ImportError::Conflict(row.id.clone()),
        })?;
        if !alike(&history, &self.events) {
            return Err(ImportError::Conflict(row.id.clone()));
        }
        if !self.logs.is_empty() && store.logs(&row.id, &LogFilter::default()).await?.is_empty() {
            store.append_logs(self.log_lines()).await?;
        }
        Ok(())
    }
}

/// Whether an event says that a run led to another one.
fn names(event: &EventKind, run: &RunId) -> bool {
    match event {
        EventKind::ChildStarted { child, .. } => child == run,
        EventKind::ChildUndoing { undo, .. } => undo == run,
        EventKind::ChildRetried { next, .. } => next == run,
        EventKind::RunFailed { retried_as, .. } => retried_as.as_ref() == Some(run),
        EventKind::RunStarted { .. }
        | EventKind::NodeImported { .. }
        | EventKind::DecisionImported { .. }
        | EventKind::LaneImported { .. }
        | EventKind::CallStarted { .. }
        | EventKind::CallSucceeded { .. }
        | EventKind::CallFailed { .. }
        | EventKind::CallLost { .. }
        | EventKind::CallCancelled { .. }
        | EventKind::NodeStarted { .. }
        | EventKind::LaneEnded { .. }
        | EventKind::BlockFailing { .. }
        | EventKind::LaneStopping { .. }
        | EventKind::Joined { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeFailed { .. }
        | EventKind::NodeCancelled { .. }
        | EventKind::NodeHeld { .. }
        | EventKind::NodeBlocked { .. }
        | EventKind::NodeUnblocked { .. }
        | EventKind::SleepStarted { .. }
        | EventKind::SleepEnded { .. }
        | EventKind::SignalReceived { .. }
        | EventKind::SignalAwaited { .. }
        | EventKind::SignalTaken { .. }
        | EventKind::SignalTimedOut { .. }
        | EventKind::OpStarted { .. }
        | EventKind::OpEnded { .. }
        | EventKind::OpDropped { .. }
        | EventKind::OpStopping { .. }
        | EventKind::ChildEnded { .. }
        | EventKind::ChildUndone { .. }
        | EventKind::CallSuspended { .. }
        | EventKind::CancelRequested { .. }
        | EventKind::RunPaused {}
        | EventKind::RunResumed {}
        | EventKind::ClockSetBack { .. }
        | EventKind::RunFailing { .. }
        | EventKind::RunCompleted { .. }
        | EventKind::RunCancelled { .. } => false,
    }
}

/// Whether two histories are the same, however their texts write `<` and where they have spaces: a file may have been
/// formatted on its way.
fn alike(one: &[Event], other: &[Event]) -> bool {
    let text = |events| compact(&plain(&String::from_utf8_lossy(&event::encode(events))));
    one == other || text(one) == text(other)
}

/// JSON without the spaces between its parts.
fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let keep = |c: &char| {
        let outside = !in_string;
        in_string = if outside { *c == '"' } else { escaped || *c != '"' };
        escaped = !outside && !escaped && *c == '\\';
        !(outside && c.is_ascii_whitespace())
    };
    json.chars().filter(keep).collect()
}

/// JSON with every escaped `<` as itself.
fn plain(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(ESCAPED) {
            text.push('<');
            rest = after;
        } else {
            // A backslash and what it escapes, which may be another backslash.
            let end = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    text.push_str(rest);
    text
}

fn invalid(what: impl Into<String>) -> ImportError {
    ImportError::Invalid(what.into())
}

impl Engine {
    /// A run as one portable document, ended or not.
    pub async fn export(&self, run: &RunId) -> Result<Archive, RunError> {
        let store = self.shared.store.get()?;
        let store = &*store;
        // The row first: if the run goes on meanwhile, its events are newer and right.
        let row = self.row(run).await?;
        let plan = store.plan(&row.plan).await?.and_then(|json| Value::from_json(json).ok());
        let plan = plan.ok_or_else(|| RunError::Plan(run.clone()))?;
        let (events, state) = self.folded(run).await?;
        let logs = store.logs(run, &LogFilter::default()).await?;
        Ok(Archive {
            format: FORMAT.to_owned(),
            version: VERSION,
            exported_at: self.shared.clock.now(),
            run: archived_row(row.clone(), &state),
            plan: ArchivedPlan { hash: row.plan, plan },
            events,
            logs: logs.into_iter().map(archived_log).collect(),
        })
    }

    /// The same document as text, in pieces that are read one after the other: a run may have recorded more than fits
    /// into memory. Ends with an error if something cannot be read.
    pub async fn export_in_pieces(
        &self,
        run: &RunId,
    ) -> Result<BoxStream<'static, Result<String, RunError>>, RunError> {
        let store = self.shared.store.get()?;
        let store = &*store;
        let row = self.row(run).await?;
        let plan = store.plan(&row.plan).await?.and_then(|json| Value::from_json(json).ok());
        let plan = plan.ok_or_else(|| RunError::Plan(run.clone()))?;
        let (state, _) = self.read(run, load::load_state(store, run, &row.plan).await)?;
        let head = Archive {
            format: FORMAT.to_owned(),
            version: VERSION,
            exported_at: self.shared.clock.now(),
            run: archived_row(row.clone(), &state),
            plan: ArchivedPlan { hash: row.plan, plan },
            events: Vec::new(),
            logs: Vec::new(),
        };
        let head = serde_json::to_string(&head).expect("an archive has only string keys");
        let head = head.strip_suffix(END).expect("an archive ends with its events and logs");
        let writing = Writing {
            engine: self.clone(),
            run: run.clone(),
            last: state.seq,
            next: ArchivePart::Head(format!("{head}{EVENTS}")),
        };
        Ok(stream::unfold(writing, Writing::next).boxed())
    }

    /// Takes a run in that has ended, from this store or another. Taking the same in again does nothing. The run has the
    /// tag [`IMPORTED`].
    pub async fn import(&self, archive: &Archive) -> Result<Imported, ImportError> {
        let state = archive.check(self.shared.limits.payload_max)?;
        let store = self.shared.store.get()?;
        let store = &*store;
        let ArchivedRun { run_id, status, .. } = &archive.run;
        if !state.is_terminal() {
            return Err(ImportError::NotEnded { run: run_id.clone(), status: *status });
        }
        archive.check_origin(store).await?;
        let mut tags = archive.run.tags.clone();
        if !tags.iter().any(|tag| tag == IMPORTED) {
            tags.push(IMPORTED.to_owned());
        }
        let new = match archive.put(store, tags).await? {
            None => true,
            Some(row) => {
                archive.compare(store, &row).await?;
                false
            }
        };
        Ok(Imported { run: run_id.clone(), status: *status, new })
    }

    /// An engine that holds one archived run, ended or not, to look at: in memory, and it runs nothing.
    pub async fn of_archive(archive: &Archive) -> Result<Self, ImportError> {
        archive.check(usize::MAX)?;
        let engine = Self::builder().store(MemoryStore::default()).passive().build().await;
        let engine = engine.map_err(|error| match error {
            EngineError::Store(error) => ImportError::Store(error),
            EngineError::Register(_) | EngineError::BuiltinTaken(_) => invalid(error.to_string()),
        })?;
        archive.put(&*engine.shared.store.get()?, archive.run.tags.clone()).await?;
        Ok(engine)
    }
}

fn archived_row(row: RunRow, state: &RunState) -> ArchivedRun {
    let end = state.end.as_ref();
    // A run that ended while it was read.
    let status = end.map_or(row.status, |end| end.status);
    ArchivedRun {
        run_id: row.id,
        workflow: row.workflow,
        status,
        created_at: row.created_at,
        ended_at: end.map(|end| end.at),
        parent: row.parent,
        source: row.source,
        tags: row.tags,
        note: end
            .and_then(|end| end.failure.as_ref())
            .map(|failure| cut(failure.message.clone(), NOTE_MAX))
            .or(row.note),
    }
}

fn archived_log(line: LogLine) -> ArchivedLog {
    ArchivedLog {
        timestamp: line.at,
        level: line.level,
        message: line.message,
        step_name: line.node,
        attempt: line.attempt,
        call: line.call,
        metadata: line.fields,
    }
}

/// How an archive without events and logs ends, and how its events and its logs begin.
const END: &str = r#""events":[],"logs":[]}"#;
const EVENTS: &str = r#""events":["#;
const LOGS: &str = r#"],"logs":["#;

/// An archive that is being written.
struct Writing {
    engine: Engine,
    run: RunId,
    /// The last event of it: what happens meanwhile is not in it.
    last: Seq,
    next: ArchivePart,
}

/// What is to be written next.
enum ArchivePart {
    Head(String),
    EventsAfter(Seq),
    LogsAfter(u64),
    Nothing,
}

impl Writing {
    async fn next(mut self) -> Option<(Result<String, RunError>, Self)> {
        let written = match std::mem::replace(&mut self.next, ArchivePart::Nothing) {
            ArchivePart::Head(head) => {
                self.next = ArchivePart::EventsAfter(Seq::ZERO);
                Ok(head)
            }
            ArchivePart::EventsAfter(after) => self.events(after).await,
            ArchivePart::LogsAfter(after) => self.logs(after).await,
            ArchivePart::Nothing => return None,
        };
        Some((written, self))
    }

    async fn events(&mut self, after: Seq) -> Result<String, RunError> {
        let page = load::load_events(&*self.engine.shared.store.get()?, &self.run, after, load::PAGE).await;
        let mut page = self.engine.read(&self.run, page)?;
        page.retain(|event| event.seq <= self.last);
        match page.last() {
            Some(last) => self.next = ArchivePart::EventsAfter(last.seq),
            None => {
                self.next = ArchivePart::LogsAfter(0);
                return Ok(LOGS.to_owned());
            }
        }
        Ok(listed(&page, after == Seq::ZERO))
    }

    async fn logs(&mut self, after: u64) -> Result<String, RunError> {
        let filter = LogFilter { after: Some(after), limit: Some(load::PAGE), ..LogFilter::default() };
        let lines = self.engine.shared.store.get()?.logs(&self.run, &filter).await?;
        let Some(last) = lines.last() else { return Ok("]}".to_owned()) };
        self.next = ArchivePart::LogsAfter(last.no);
        let lines: Vec<ArchivedLog> = lines.into_iter().map(archived_log).collect();
        Ok(listed(&lines, after == 0))
    }
}

/// Items as they stand in a list, after others unless they are the first.
fn listed<T: Serialize>(items: &[T], first: bool) -> String {
    let text = serde_json::to_string(items).expect("what is archived has only string keys");
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default();
    if first { inner.to_owned() } else { format!(",{inner}") }
}
