//! Judges a whole store: every run's history, and what the store keeps beside it, against the invariants.
//!
//! What can be told from one history is [`rival_core::verify`]'s to say. Here is what needs the store: that rows,
//! snapshots and wake-ups are what the history says, and that runs agree with the runs they come from.
//!
//! A store can be judged while no engine runs on it, however the last one ended.

use std::collections::BTreeMap;
use std::fmt;

use rival_core::event::{EventKind, ImportedStatus, LostReason};
use rival_core::joined::build;
use rival_core::state::{FOLD_VERSION, NodeState};
use rival_core::verify::{self, HistoryRule};
use rival_core::{Event, IndexedPlan, Path, Plan, PlanHash, RunId, RunState, RunStatus, Seq, Time, Value};
use rival_store::{Page, RunFilter, RunRow, Store, StoreDamage, StoreError};

use crate::inspect::archive::IMPORTED;
use crate::run::load::{self, LoadError};

/// What must hold, by the number under which the reliability plan lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoreInvariant {
    /// A history can be read, and its numbers are 1, 2, 3 …
    Sequence,
    /// What was read once stays as it was.
    Prefix,
    /// A history begins with the start of the run, and nothing follows its end.
    Ends,
    /// Row, snapshot and wake-up are what the history folds to.
    Projection,
    /// What was acknowledged is there, once.
    Acknowledged,
    /// One run per id; another input changes nothing.
    Identity,
    /// A call starts before it ends; attempts have no gaps; a node ends once.
    Calls,
    /// Nothing is called whose outcome is durable, or whose start is not.
    NoRepeat,
    /// What completed was called; limits on attempts and interruptions hold.
    Budget,
    /// No attempt begins before its backoff is over.
    Backoff,
    /// What is read is what was recorded, byte for byte.
    Values,
    /// Nodes start in their order, and not while the run is paused.
    Order,
    /// A timer acts once and never early.
    Timers,
    /// A run starts what is to go on in its place, once.
    Successor,
    /// After a cancel or a failure the run ends so, and starts nothing new.
    Ending,
    /// Every run is at its end, or waits for something that will come.
    Liveness,
    /// What has ended holds nothing.
    Resources,
}

impl StoreInvariant {
    /// Its number in the reliability plan.
    pub fn number(self) -> u8 {
        match self {
            Self::Sequence => 1,
            Self::Prefix => 2,
            Self::Ends => 3,
            Self::Projection => 4,
            Self::Acknowledged => 6,
            Self::Identity => 7,
            Self::Calls => 8,
            Self::NoRepeat => 9,
            Self::Budget => 10,
            Self::Backoff => 11,
            Self::Values => 12,
            Self::Order => 13,
            Self::Timers => 16,
            Self::Successor => 18,
            Self::Ending => 20,
            Self::Liveness => 26,
            Self::Resources => 29,
        }
    }

    fn of(rule: HistoryRule) -> Self {
        match rule {
            HistoryRule::Sequence => Self::Sequence,
            HistoryRule::Ends => Self::Ends,
            HistoryRule::Interruptions | HistoryRule::Settings => Self::Budget,
            HistoryRule::Timers => Self::Timers,
            HistoryRule::Holding | HistoryRule::Order => Self::Order,
            HistoryRule::Ending => Self::Ending,
            HistoryRule::References => Self::Values,
            HistoryRule::Signals | HistoryRule::Operations => Self::NoRepeat,
            HistoryRule::Children => Self::Successor,
            // Calls, attempts and outcomes; and rules that came later, until they are listed here.
            _ => Self::Calls,
        }
    }
}

/// A place where a store breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantBreach {
    /// The run.
    pub run: RunId,
    /// The invariant.
    pub invariant: StoreInvariant,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for InvariantBreach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, invariant, message } = self;
        write!(f, "invariant {} ({invariant:?}), run `{run}`: {message}", invariant.number())
    }
}

/// What was looked at, and what was wrong with it.
#[derive(Clone, Debug, Default)]
pub struct VerifyReport {
    /// Everything that is wrong with runs.
    pub breaches: Vec<InvariantBreach>,
    /// What is wrong with the store itself, beside its runs.
    pub damage: Vec<String>,
    /// How many runs there are, by status.
    pub runs: BTreeMap<RunStatus, u64>,
    /// How many events they have.
    pub events: u64,
    /// Calls that were started.
    pub calls: u64,
    /// Calls that a crash cut short.
    pub lost_to_crash: u64,
    /// Calls that an orderly stop cut short.
    pub lost_to_shutdown: u64,
    /// Calls that are at work, or were when the engine died.
    pub open_calls: u64,
    /// Runs that an engine owns, or owned when it died.
    pub owned: u64,
    /// Runs with a snapshot.
    pub snapshots: u64,
    /// Runs that took something over from another run.
    pub importing: u64,
    /// Messages that wait to be read.
    pub messages: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.breaches.is_empty() && self.damage.is_empty()
    }

    /// All runs.
    pub fn run_count(&self) -> u64 {
        self.runs.values().sum()
    }

    /// Runs that have not ended.
    pub fn unfinished(&self) -> u64 {
        self.runs.iter().filter(|(status, _)| !status.is_terminal()).map(|(_, count)| count).sum()
    }

    /// Adds something that is wrong.
    pub fn breach(&mut self, run: &RunId, invariant: StoreInvariant, message: impl Into<String>) {
        self.breaches.push(InvariantBreach { run: run.clone(), invariant, message: message.into() });
    }

    fn require(
        &mut self,
        holds: bool,
        run: &RunId,
        invariant: StoreInvariant,
        message: impl FnOnce() -> String,
    ) {
        if !holds {
            self.breach(run, invariant, message());
        }
    }
}

/// A run as a judge sees it: its row, its whole history, and what that folds to.
#[derive(Clone, Debug)]
pub struct ExaminedRun {
    /// The row.
    pub row: RunRow,
    /// All events.
    pub events: Vec<Event>,
    /// What they fold to.
    pub state: RunState,
}

/// Judges a store on which no engine runs: whether everything in it is as it was written, and every run.
pub async fn check_store(store: &dyn Store) -> Result<VerifyReport, StoreError> {
    let found = store.check().await?;
    let mut report = match check_runs(store, &RunFilter::default(), |_, _| {}).await {
        // What could not be read is said, and what was found before too.
        Err(StoreError::Damaged(message)) => {
            VerifyReport { damage: vec![message], ..VerifyReport::default() }
        }
        judged => judged?,
    };
    for StoreDamage { run, message } in found {
        match run {
            Some(run) => report.breach(&run, StoreInvariant::Prefix, message),
            None => report.damage.push(message),
        }
    }
    Ok(report)
}

/// Judges the runs that match, and shows each to `look`, the newest first, so that more can be asked of it.
pub async fn check_runs(
    store: &dyn Store,
    filter: &RunFilter,
    mut look: impl FnMut(&ExaminedRun, &mut VerifyReport),
) -> Result<VerifyReport, StoreError> {
    let mut judge = Judge { store, plans: BTreeMap::new(), report: VerifyReport::default() };
    let mut page = Page { before: None, limit: 256 };
    loop {
        let rows = store.runs(filter, &page).await?;
        let Some(last) = rows.last() else { return Ok(judge.report) };
        page.before = Some(last.no);
        for row in rows {
            let id = row.id.clone();
            match judge.examine(row).await {
                Ok(Some(examined)) => look(&examined, &mut judge.report),
                Ok(None) => {}
                // The others are judged all the same.
                Err(StoreError::Damaged(message)) => {
                    judge.report.breach(&id, StoreInvariant::Prefix, message);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

struct Judge<'a> {
    store: &'a dyn Store,
    plans: BTreeMap<PlanHash, Result<IndexedPlan, String>>,
    report: VerifyReport,
}

impl Judge<'_> {
    async fn examine(&mut self, row: RunRow) -> Result<Option<ExaminedRun>, StoreError> {
        *self.report.runs.entry(row.status).or_default() += 1;
        let events = match load::load_history(self.store, &row.id).await {
            Ok(events) => events,
            Err(LoadError::Store(error)) if !matches!(error, StoreError::Damaged(_)) => return Err(error),
            Err(error) => {
                let killed = if row.status.is_terminal() {
                    "; it was killed without a look at its history"
                } else {
                    ""
                };
                self.report.breach(&row.id, StoreInvariant::Sequence, format!("{error}{killed}"));
                return Ok(None);
            }
        };
        let mut state = RunState::default();
        events.iter().for_each(|event| state.apply(event));
        let run = ExaminedRun { row, events, state };
        self.count(&run);
        self.check_history(&run).await?;
        self.check_row(&run);
        self.check_wake(&run).await?;
        self.check_snapshot(&run).await?;
        self.check_origin(&run).await?;
        self.check_successor(&run).await?;
        self.check_triggers(&run).await?;
        Ok(Some(run))
    }

    fn count(&mut self, run: &ExaminedRun) {
        let report = &mut self.report;
        report.events += run.events.len() as u64;
        report.open_calls += run.state.index().calls.len() as u64;
        report.owned += u64::from(run.row.owner.is_some());
        report.importing += u64::from(run.state.nodes.values().any(|node| node.imported));
        for event in &run.events {
            report.calls += u64::from(matches!(event.kind, EventKind::CallStarted { .. }));
            let EventKind::CallLost { reason, .. } = &event.kind else { continue };
            match reason {
                LostReason::Crash => report.lost_to_crash += 1,
                LostReason::Shutdown => report.lost_to_shutdown += 1,
                LostReason::Bystander => {}
            }
        }
    }

    async fn check_history(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let id = &run.row.id;
        let hash = &run.row.plan;
        if !self.plans.contains_key(hash) {
            let plan = match self.store.plan(hash).await? {
                Some(json) => Plan::from_json(&json).map_err(|error| error.to_string()),
                None => Err("it is not in the store".to_owned()),
            };
            let plan = plan.map(IndexedPlan::new).and_then(|plan| {
                let is_itself = plan.hash() == hash;
                is_itself.then_some(plan).ok_or_else(|| "it is another one".to_owned())
            });
            self.plans.insert(hash.clone(), plan);
        }
        let plan = self.plans.get(hash);
        let unknown = plan.and_then(|plan| plan.as_ref().err()).cloned();
        let plan = plan.and_then(|plan| plan.as_ref().ok());
        let violations = match plan {
            Some(plan) => verify::check_run(plan, &run.events),
            None => verify::check_history(&run.events),
        };
        self.report.require(unknown.is_none(), id, StoreInvariant::Projection, || {
            format!("plan {hash}: {}", unknown.unwrap_or_default())
        });
        for violation in violations {
            let invariant = StoreInvariant::of(violation.rule);
            self.report.breach(id, invariant, violation.to_string());
        }
        Ok(())
    }

    fn check_row(&mut self, run: &ExaminedRun) {
        let (row, state) = (&run.row, &run.state);
        let mut require = |holds: bool, message: String| {
            self.report.require(holds, &row.id, StoreInvariant::Projection, || message);
        };
        let killed = row.status.is_terminal() && !state.is_terminal();
        let killed = if killed { ": it was killed without a look at its history" } else { "" };
        let message = format!("its row says {}, its history {}{killed}", row.status, state.status());
        require(may_say(row, state), message);
        let ended = state.end.as_ref().map(|end| end.at);
        require(row.ended_at == ended, format!("ended at {:?}, its history says {ended:?}", row.ended_at));
        require(row.workflow == state.workflow, format!("its row names workflow `{}`", row.workflow));
        require(Some(&row.plan) == state.plan.as_ref(), format!("its row names plan {}", row.plan));
        require(row.parent == state.parent, format!("its row names the parent {:?}", row.parent));
        require(row.source == state.source, format!("its row names the source {:?}", row.source));
        let idle = row.owner.is_none() && row.wake_at.is_none();
        let holds = ended.is_none() || idle;
        self.report
            .require(holds, &row.id, StoreInvariant::Resources, || "it has ended and is still held".into());
    }

    /// A run without an owner must wake no later than its history asks for.
    async fn check_wake(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let (row, state) = (&run.row, &run.state);
        let waiting = self.store.messages(&row.id).await?.len();
        self.report.messages += waiting as u64;
        let holds = !state.is_terminal() || waiting == 0;
        self.report.require(holds, &row.id, StoreInvariant::Resources, || "its messages outlive it".into());
        if row.owner.is_some() || state.is_terminal() || row.status == RunStatus::Queued {
            let holds = row.owner.is_none() || row.wake_at.is_none();
            let message = || "it is owned and has a wake-up too".to_owned();
            self.report.require(holds, &row.id, StoreInvariant::Projection, message);
            return Ok(());
        }
        let needed = needed_wake(state, waiting);
        let in_time = needed.is_none_or(|needed| row.wake_at.is_some_and(|wake| wake <= needed));
        self.report.require(in_time, &row.id, StoreInvariant::Liveness, || {
            format!("nobody owns it and it wakes at {:?}, needed is {needed:?}", row.wake_at)
        });
        let hopeful = needed.is_some() || row.wake_at.is_some() || waits_for_others(row, state);
        self.report.require(hopeful, &row.id, StoreInvariant::Liveness, || {
            format!("it is {} and waits for nothing that will come", state.status())
        });
        Ok(())
    }

    async fn check_snapshot(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let id = &run.row.id;
        let Some(snapshot) = self.store.snapshot(id).await? else { return Ok(()) };
        self.report.snapshots += 1;
        if snapshot.fold != FOLD_VERSION || snapshot.plan != run.row.plan {
            return Ok(());
        }
        let folded = match load::load_state(self.store, id, &run.row.plan).await {
            Ok((state, _)) => Some(state),
            Err(LoadError::Store(error)) => return Err(error),
            Err(_) => None,
        };
        let same = folded.as_ref() == Some(&run.state) && snapshot.seq <= run.state.seq;
        self.report.require(same, id, StoreInvariant::Projection, || {
            format!("its snapshot of event {} and what follows fold to another state", snapshot.seq)
        });
        Ok(())
    }

    /// What was taken over from another run is what that run recorded.
    async fn check_origin(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let Some(source) = &run.state.source else { return Ok(()) };
        let Some(origin) = self.fold(source).await? else { return Ok(()) };
        for event in &run.events {
            let EventKind::NodeImported { node, status, result, .. } = &event.kind else { continue };
            let same = origin.recorded(node) == Some((*status, result.clone()));
            self.report.require(same, &run.row.id, StoreInvariant::Values, || {
                format!("`{node}` is not what run `{source}` recorded")
            });
        }
        Ok(())
    }

    async fn check_successor(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let Some(next) = run.state.end.as_ref().and_then(|end| end.retried_as.as_ref()) else {
            return Ok(());
        };
        let next_row = self.store.run(next).await?;
        // Runs come in one by one, and this one comes first.
        if next_row.is_none() && run.row.tags.iter().any(|tag| tag == IMPORTED) {
            return Ok(());
        }
        let there = next_row.is_some_and(|row| row.source.as_ref() == Some(&run.row.id));
        self.report.require(there, &run.row.id, StoreInvariant::Successor, || {
            format!("run `{next}`, which goes on in its place, is not there")
        });
        Ok(())
    }

    /// What starts what it triggers was created with its end. That is removed later than it, or after a parent that keeps it.
    async fn check_triggers(&mut self, run: &ExaminedRun) -> Result<(), StoreError> {
        let Some(triggers) = run.state.end.as_ref().and_then(|end| end.triggers.as_ref()) else {
            return Ok(());
        };
        let row = self.store.run(triggers).await?;
        let is_imported = run.row.tags.iter().any(|tag| tag == IMPORTED);
        if row.is_none() && (is_imported || run.row.parent.is_some()) {
            return Ok(());
        }
        let there = row.is_some_and(|row| row.source.as_ref() == Some(&run.row.id));
        self.report.require(there, &run.row.id, StoreInvariant::Successor, || {
            format!("run `{triggers}`, which starts what it triggers, is not there")
        });
        Ok(())
    }

    async fn fold(&self, run: &RunId) -> Result<Option<ForkOrigin>, StoreError> {
        match load::load_history(self.store, run).await {
            Ok(events) => Ok((!events.is_empty()).then(|| ForkOrigin::new(events))),
            Err(LoadError::Store(error)) => Err(error),
            // Its own examination says so.
            Err(_) => Ok(None),
        }
    }
}

/// A run that another one took over from.
struct ForkOrigin {
    events: BTreeMap<Seq, Event>,
    state: RunState,
}

impl ForkOrigin {
    fn new(events: Vec<Event>) -> Self {
        let state = RunState::of_whole_run(&events);
        Self { events: events.into_iter().map(|event| (event.seq, event)).collect(), state }
    }

    fn recorded(&self, node: &Path) -> Option<(ImportedStatus, Value)> {
        let node = self.state.node(node)?;
        let find = |seq: Seq| self.events.get(&seq);
        let value = node.result.and_then(|seq| build(find(seq)?, &find));
        Some((imported_as(node)?, value.unwrap_or_default()))
    }
}

fn imported_as(node: &NodeState) -> Option<ImportedStatus> {
    use rival_core::NodeStatus as Status;
    match node.status() {
        Status::Completed => Some(ImportedStatus::Completed),
        Status::Skipped => Some(ImportedStatus::Skipped),
        Status::Failed if node.soft => Some(ImportedStatus::Failed),
        Status::Failed
        | Status::Pending
        | Status::Running
        | Status::WaitingRetry
        | Status::Waiting
        | Status::Blocked
        | Status::Cancelled => None,
    }
}

/// Whether a row may say what it says about a run in this state.
fn may_say(row: &RunRow, state: &RunState) -> bool {
    let claimed =
        state.status() == RunStatus::Queued && row.status == RunStatus::Running && row.owner.is_some();
    // A run that could not be loaded is set aside without an event.
    let set_aside = row.status == RunStatus::Blocked && !state.is_terminal() && row.note.is_some();
    row.status == state.status() || claimed || set_aside
}

/// When a run without an owner must wake.
fn needed_wake(state: &RunState, messages: usize) -> Option<Time> {
    // At once, whenever that was.
    let at_once = (state.is_held_back() || messages > 0).then_some(Time(i64::MAX));
    [at_once, state.next_timer()].into_iter().flatten().min()
}

/// Whether the run waits for something from outside.
fn waits_for_others(row: &RunRow, state: &RunState) -> bool {
    state.paused
        || !state.index().blocked.is_empty()
        || row.status == RunStatus::Blocked
        || state.awaits_others()
}
