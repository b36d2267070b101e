//! Holds a store against the ledgers: what clients were told, and what steps saw.

mod answers;
mod over_http;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use rival::{Path, RunId, RunStatus, Seq, Value};
use rival_core::event::{CallRole, EventKind, FailureVerdict};
use rival_core::failure::code;
use rival_core::joined::build;
use rival_core::{Event, FailureRecord, RunState};
use rival_engine::verify::{self, ExaminedRun, StoreInvariant, VerifyReport};
use rival_store::{LogFilter, RunFilter, Store, StoreError};

use crate::TestFolder;
use crate::ledger::{self, CallObservation, ClientAck, ClientRequest};
use crate::steps::StepReceipt;
use over_http::StartLedger;

pub use answers::{AnswerAudit, audit_answers};

/// What was found.
#[derive(Debug, Default)]
pub struct AuditReport {
    /// What the store alone tells, and every breach.
    pub report: VerifyReport,
    /// What clients were told.
    pub acks: usize,
    /// Starts that they were told of.
    pub started: usize,
    /// Ends that they were told of.
    pub ended: usize,
    /// Cancels, pauses, resumes and retries that they were told of.
    pub requests: usize,
    /// Signals that they were told of.
    pub signals: usize,
    /// Streams that they were told the end of.
    pub streams: usize,
    /// Events that they were told of.
    pub told_events: usize,
    /// Starts of functions.
    pub sightings: usize,
    /// Values that functions saw.
    pub seen: usize,
    /// How often it came to what: a story without them proves little.
    pub came_to: BTreeMap<&'static str, u64>,
}

/// What a story should come to, sooner or later.
fn came_to(event: &EventKind) -> Option<&'static str> {
    match event {
        EventKind::CallFailed { failure, .. } if failure.code == code::TIMEOUT => Some("timeouts"),
        EventKind::CallFailed { failure, .. } if failure.code == code::INTERRUPTED => {
            Some("interrupted for good")
        }
        EventKind::CallFailed { verdict: FailureVerdict::RetryAt(_), .. } => Some("retries"),
        EventKind::CallFailed { verdict: FailureVerdict::Continue, .. } => Some("soft failures"),
        EventKind::CallFailed { verdict: FailureVerdict::Fail, .. } => None,
        EventKind::CallSucceeded { skipped: true, .. } => Some("skipped"),
        EventKind::CallStarted { role: CallRole::OnError, .. } => Some("handlers"),
        EventKind::CallStarted { role: CallRole::Compensate, .. } => Some("compensations"),
        EventKind::LaneStopping { .. } => Some("lost lanes"),
        EventKind::Joined { .. } => Some("joins"),
        EventKind::CallCancelled { .. } => Some("cancelled calls"),
        EventKind::NodeHeld { .. } => Some("held"),
        EventKind::NodeBlocked { .. } => Some("quarantined"),
        EventKind::NodeImported { .. } => Some("imported"),
        EventKind::SleepEnded { .. } => Some("sleeps"),
        EventKind::RunPaused {} => Some("pauses"),
        EventKind::CancelRequested { .. } => Some("cancels"),
        EventKind::RunStarted { .. }
        | EventKind::DecisionImported { .. }
        | EventKind::LaneImported { .. }
        | EventKind::CallStarted { .. }
        | EventKind::CallSucceeded { .. }
        | EventKind::CallLost { .. }
        | EventKind::NodeStarted { .. }
        | EventKind::LaneEnded { .. }
        | EventKind::BlockFailing { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeFailed { .. }
        | EventKind::NodeCancelled { .. }
        | EventKind::NodeUnblocked { .. }
        | EventKind::SleepStarted { .. }
        | EventKind::SignalReceived { .. }
        | EventKind::SignalAwaited { .. }
        | EventKind::SignalTaken { .. }
        | EventKind::SignalTimedOut { .. }
        | EventKind::OpStarted { .. }
        | EventKind::OpEnded { .. }
        | EventKind::OpDropped { .. }
        | EventKind::OpStopping { .. }
        | EventKind::ChildStarted { .. }
        | EventKind::ChildRetried { .. }
        | EventKind::ChildEnded { .. }
        | EventKind::ChildUndoing { .. }
        | EventKind::ChildUndone { .. }
        | EventKind::CallSuspended { .. }
        | EventKind::RunResumed {}
        | EventKind::ClockSetBack { .. }
        | EventKind::RunFailing { .. }
        | EventKind::RunCompleted { .. }
        | EventKind::RunFailed { .. }
        | EventKind::RunCancelled { .. } => None,
    }
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.report;
        writeln!(
            f,
            "{} runs {:?}, {} events, {} calls: {} lost to a crash, {} to a shutdown; {} runs took over from others",
            report.run_count(),
            report.runs,
            report.events,
            report.calls,
            report.lost_to_crash,
            report.lost_to_shutdown,
            report.importing,
        )?;
        writeln!(
            f,
            "clients were told {} things: {} starts, {} ends, {} requests, {} signals, {} events, {} ends of streams",
            self.acks, self.started, self.ended, self.requests, self.signals, self.told_events, self.streams
        )?;
        writeln!(f, "it came to {:?}", self.came_to)?;
        write!(f, "functions were seen to start {} times, and saw {} values", self.sightings, self.seen)
    }
}

/// Judges a store on which no engine runs, with the ledgers of its folder.
pub async fn audit(store: &dyn Store, folder: &TestFolder) -> anyhow::Result<AuditReport> {
    let mut ledgers = Ledgers::read(folder)?;
    let mut audit = ledgers.counted();
    let mut starts = StartLedger::new(ledger::read(&folder.sent())?);
    let mut lines = Vec::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    audit.report = verify::check_runs(store, &RunFilter::default(), |run, report| {
        ledgers.check(run, report);
        starts.look(run);
        lines.extend(lines_owed(run));
        for word in run.events.iter().filter_map(|event| came_to(&event.kind)) {
            *counts.entry(word).or_default() += 1;
        }
    })
    .await?;
    audit.came_to = counts;
    ledgers.check_missing(&mut audit.report);
    starts.check(&mut audit.report);
    for (run, line) in lines {
        let logs = store.logs(&run, &LogFilter::default()).await?;
        if logs.iter().filter(|it| it.message == line).count() != 1 {
            audit.report.breach(
                &run,
                StoreInvariant::Acknowledged,
                format!("log line `{line}` is not there once"),
            );
        }
    }
    Ok(audit)
}

/// Judges what has not ended, which is what workers left.
pub async fn unfinished(
    store: &dyn Store,
    look: impl FnMut(&ExaminedRun, &mut VerifyReport),
) -> Result<VerifyReport, StoreError> {
    let statuses: Vec<RunStatus> = RunStatus::ALL.into_iter().filter(|it| !it.is_terminal()).collect();
    verify::check_runs(store, &RunFilter { statuses, ..RunFilter::default() }, look).await
}

/// Log lines that were committed with the end of the calls that wrote them.
fn lines_owed(run: &ExaminedRun) -> Vec<(RunId, String)> {
    let ends = run.events.iter().filter_map(|event| {
        let EventKind::CallSucceeded { node, result, .. } = &event.kind else { return None };
        if node.id() == "chatty" { result.decode::<StepReceipt>().ok() } else { None }
    });
    ends.map(|receipt| (run.row.id.clone(), format!("nonce {}", receipt.nonce))).collect()
}

struct Ledgers {
    acks: HashMap<RunId, Vec<ClientAck>>,
    sightings: HashMap<RunId, Vec<CallObservation>>,
    nonces: usize,
}

impl Ledgers {
    fn read(folder: &TestFolder) -> anyhow::Result<Self> {
        let mut acks: HashMap<RunId, Vec<ClientAck>> = HashMap::new();
        for ack in ledger::read::<ClientAck>(&folder.acks())? {
            acks.entry(ack.run().clone()).or_default().push(ack);
        }
        let mut sightings: HashMap<RunId, Vec<CallObservation>> = HashMap::new();
        for sighting in ledger::read::<CallObservation>(&folder.sightings())? {
            sightings.entry(sighting.run.clone()).or_default().push(sighting);
        }
        let nonces = sightings.values().flatten().map(|it| it.nonce).collect::<HashSet<_>>().len();
        Ok(Self { acks, sightings, nonces })
    }

    fn counted(&self) -> AuditReport {
        let mut audit = AuditReport { sightings: self.nonces, ..AuditReport::default() };
        audit.seen = self.sightings.values().flatten().map(|it| it.seen.len() + 1).sum();
        for ack in self.acks.values().flatten() {
            audit.acks += 1;
            match ack {
                ClientAck::Asking { .. } | ClientAck::Signalling { .. } => audit.acks -= 1,
                ClientAck::Started { .. } => audit.started += 1,
                ClientAck::Ended { .. } => audit.ended += 1,
                ClientAck::Event { .. } | ClientAck::Streamed { .. } => audit.told_events += 1,
                ClientAck::Signalled { .. } => audit.signals += 1,
                ClientAck::StreamEnded { .. } => audit.streams += 1,
                ClientAck::Cancelled { .. } | ClientAck::Paused { .. } | ClientAck::Resumed { .. } => {
                    audit.requests += 1;
                }
                ClientAck::Retried { .. } | ClientAck::Refused { .. } | ClientAck::Conflict { .. } => {
                    audit.requests += 1;
                }
            }
        }
        audit
    }

    /// Checks one run, and takes what is about it out of the ledgers.
    fn check(&mut self, run: &ExaminedRun, report: &mut VerifyReport) {
        let mut case = RunCase::new(run, report);
        let acks = self.acks.remove(&run.row.id).unwrap_or_default();
        acks.iter().for_each(|ack| case.check_ack(ack));
        case.check_heard_once(&acks);
        case.check_signals(&acks);
        case.check_streams(&acks);
        let sightings = self.sightings.remove(&run.row.id).unwrap_or_default();
        case.check_sightings(&sightings);
        case.check_backoff();
    }

    /// What is left is about runs that are not there.
    fn check_missing(&self, report: &mut VerifyReport) {
        for run in self.acks.keys() {
            report.breach(run, StoreInvariant::Acknowledged, "a client was told of it, and it is not there");
        }
        for run in self.sightings.keys() {
            report.breach(run, StoreInvariant::NoRepeat, "its functions were called, and it is not there");
        }
    }
}

impl ClientAck {
    fn run(&self) -> &RunId {
        match self {
            Self::Started { run, .. }
            | Self::Conflict { run }
            | Self::Ended { run, .. }
            | Self::Asking { run, .. }
            | Self::Cancelled { run, .. }
            | Self::Paused { run, .. }
            | Self::Resumed { run, .. }
            | Self::Refused { run, .. }
            | Self::Retried { run, .. }
            | Self::Signalling { run, .. }
            | Self::Signalled { run, .. }
            | Self::Streamed { run, .. }
            | Self::StreamEnded { run, .. }
            | Self::Event { run, .. } => run,
        }
    }
}

/// The request that an event is the answer to.
fn answers(event: &EventKind) -> Option<ClientRequest> {
    if matches!(event, EventKind::CancelRequested { .. }) {
        Some(ClientRequest::Cancel)
    } else if matches!(event, EventKind::RunPaused {}) {
        Some(ClientRequest::Pause)
    } else {
        matches!(event, EventKind::RunResumed {}).then_some(ClientRequest::Resume)
    }
}

/// One run against its ledgers.
struct RunCase<'a> {
    run: &'a ExaminedRun,
    /// The run's state with every node, those of finished iterations too.
    whole: RunState,
    report: &'a mut VerifyReport,
    /// Starts of calls: node and number give role and attempt.
    calls: BTreeMap<(&'a str, u32), (CallRole, u32)>,
}

impl<'a> RunCase<'a> {
    fn new(run: &'a ExaminedRun, report: &'a mut VerifyReport) -> Self {
        let calls = run.events.iter().filter_map(|event| {
            let EventKind::CallStarted { node, call, role, attempt, .. } = &event.kind else { return None };
            Some(((node.as_str(), *call), (*role, *attempt)))
        });
        Self { run, whole: RunState::of_whole_run(&run.events), report, calls: calls.collect() }
    }

    fn require(&mut self, holds: bool, invariant: StoreInvariant, message: impl FnOnce() -> String) {
        if !holds {
            self.report.breach(&self.run.row.id, invariant, message());
        }
    }

    fn has(&self, kind: impl Fn(&EventKind) -> bool) -> bool {
        self.run.events.iter().any(|event| kind(&event.kind))
    }

    fn event(&self, seq: Seq) -> Option<&'a Event> {
        let place = usize::try_from(seq.0).ok()?.checked_sub(1)?;
        self.run.events.get(place)
    }

    fn value(&self, seq: Option<Seq>) -> Option<Value> {
        build(self.event(seq?)?, &|seq| self.event(seq))
    }

    fn check_ack(&mut self, ack: &ClientAck) {
        let status = self.run.row.status;
        match ack {
            ClientAck::Started { workflow, input, .. } => {
                let same =
                    self.run.row.workflow == *workflow && self.value(Some(Seq(1))).as_ref() == Some(input);
                self.require(same, StoreInvariant::Identity, || "it has another workflow or input".into());
            }
            ClientAck::Conflict { .. }
            | ClientAck::Asking { .. }
            | ClientAck::Signalling { .. }
            | ClientAck::Signalled { .. }
            | ClientAck::Streamed { .. }
            | ClientAck::StreamEnded { .. } => {}
            ClientAck::Ended { status, output, error, retried_as, .. } => {
                self.check_end(*status, output.as_ref(), error.as_ref(), retried_as.as_ref());
            }
            ClientAck::Cancelled { .. } => {
                let asked = self.has(|kind| matches!(kind, EventKind::CancelRequested { .. }));
                let decided = self
                    .has(|kind| matches!(kind, EventKind::RunFailing { .. } | EventKind::RunFailed { .. }));
                self.require(asked || decided, StoreInvariant::Acknowledged, || {
                    "its cancel was acknowledged and is not there".into()
                });
                let ended = !status.is_terminal() || !asked || status == RunStatus::Cancelled;
                self.require(ended, StoreInvariant::Ending, || format!("it was cancelled, and is {status}"));
            }
            ClientAck::Paused { status: told, .. } => {
                let there =
                    *told != RunStatus::Paused || self.has(|kind| matches!(kind, EventKind::RunPaused {}));
                self.require(there, StoreInvariant::Acknowledged, || "its pause is not there".into());
            }
            ClientAck::Resumed { .. } => {
                let paused = self.has(|kind| matches!(kind, EventKind::RunPaused {}));
                let resumed = self.has(|kind| matches!(kind, EventKind::RunResumed {}));
                let ending = self.run.state.is_terminal();
                self.require(resumed || !paused || ending, StoreInvariant::Acknowledged, || {
                    "its resume is not there".into()
                });
            }
            ClientAck::Refused { status: told, .. } => {
                self.require(status == *told, StoreInvariant::Acknowledged, || {
                    format!("a client was told that it is {told}, and it is {status}")
                });
            }
            ClientAck::Retried { source, .. } => {
                let same = self.run.state.source.as_ref() == Some(source);
                self.require(same, StoreInvariant::Acknowledged, || format!("it does not retry `{source}`"));
            }
            ClientAck::Event { event, .. } => {
                let told = event.decode::<Event>().ok();
                let stored = told.as_ref().and_then(|told| self.event(told.seq));
                self.require(told.is_some() && stored == told.as_ref(), StoreInvariant::Prefix, || {
                    format!("a client was told of an event that is not there: {event:?}")
                });
            }
        }
    }

    /// A request is acted on once, if at all: before and after a crash alike.
    fn check_heard_once(&mut self, acks: &[ClientAck]) {
        for request in [ClientRequest::Cancel, ClientRequest::Pause, ClientRequest::Resume] {
            let asked = acks
                .iter()
                .filter(|ack| matches!(ack, ClientAck::Asking { request: it, .. } if *it == request));
            let heard = self.run.events.iter().filter(|event| answers(&event.kind) == Some(request));
            let (asked, heard) = (asked.count(), heard.count());
            self.require(heard <= asked, StoreInvariant::Acknowledged, || {
                format!("{request:?} was asked for {asked} times and acted on {heard} times")
            });
        }
    }

    fn check_end(
        &mut self,
        status: RunStatus,
        output: Option<&Value>,
        error: Option<&FailureRecord>,
        retried_as: Option<&RunId>,
    ) {
        let end = self.run.state.end.as_ref();
        let stored = self.value(end.and_then(|end| end.output));
        let same = end.is_some_and(|end| {
            end.status == status && end.failure.as_ref() == error && end.retried_as.as_ref() == retried_as
        });
        let same = same && (status != RunStatus::Completed || stored.as_ref() == output);
        self.require(same, StoreInvariant::Acknowledged, || {
            format!("a client was told of another end: {status} {output:?} {error:?}, not {end:?} {stored:?}")
        });
    }

    fn check_sightings(&mut self, sightings: &[CallObservation]) {
        let mut begun: HashMap<(&str, u32), u64> = HashMap::new();
        for sighting in sightings {
            let place = (sighting.node.as_str(), sighting.call);
            let again = begun.insert(place, sighting.nonce).is_some();
            self.require(!again, StoreInvariant::NoRepeat, || format!("call {place:?} was made twice"));
            self.check_sighting(sighting);
        }
        for event in &self.run.events {
            self.check_was_called(event, &begun);
        }
        self.check_once(sightings);
    }

    fn check_sighting(&mut self, sighting: &CallObservation) {
        let CallObservation { node, call, attempt, .. } = sighting;
        let Some((role, recorded)) = self.calls.get(&(node.as_str(), *call)).copied() else {
            return self.require(false, StoreInvariant::NoRepeat, || {
                format!("call {call} of `{node}` was made, and its start was not durable")
            });
        };
        self.require(recorded == *attempt, StoreInvariant::Calls, || {
            format!("call {call} of `{node}` was attempt {attempt}, and its history says {recorded}")
        });
        let path = Path::new(node.as_str());
        let input = self.value(Some(self.input_of(&path, role)));
        self.require(input.as_ref() == Some(&sighting.input), StoreInvariant::Values, || {
            format!("call {call} of `{node}` saw another input: {:?}, not {input:?}", sighting.input)
        });
        for (name, seen) in &sighting.seen {
            // On paper nothing and `null` are the same; an imported delay has recorded `null`.
            let something = |value: &Option<Value>| value.clone().filter(|value| !value.is_null());
            let recorded = self.result_of(&path, name);
            self.require(something(&recorded) == something(seen), StoreInvariant::Values, || {
                format!("call {call} of `{node}` saw {seen:?} of `{name}`, and its history has {recorded:?}")
            });
        }
        if let Some(failure) = &sighting.failure {
            let handled = self.has(|kind| kind.failure() == Some(failure));
            self.require(handled, StoreInvariant::Values, || {
                format!("`{node}` handled another failure: {failure}")
            });
        }
    }

    /// The event that holds the input which a function at this node sees.
    fn input_of(&self, node: &Path, role: CallRole) -> Seq {
        let mut at = if role == CallRole::Input { node.parent() } else { Some(node.clone()) };
        while let Some(path) = at {
            if let Some(input) = self.whole.node(&path).and_then(|node| node.input) {
                return input;
            }
            at = path.parent();
        }
        Seq(1)
    }

    /// What an earlier node left, the nearest of this name.
    fn result_of(&self, from: &Path, name: &str) -> Option<Value> {
        let mut at = from.parent();
        while let Some(block) = at {
            if let Some(node) = self.whole.node(&block.child(name)) {
                return self.value(node.result);
            }
            at = block.parent();
        }
        None
    }

    /// What has an outcome was called, and a result is that of its own call.
    fn check_was_called(&mut self, event: &Event, begun: &HashMap<(&str, u32), u64>) {
        if let EventKind::CallSucceeded { node, call, result, .. } = &event.kind {
            let nonce = begun.get(&(node.as_str(), *call));
            self.require(nonce.is_some(), StoreInvariant::Budget, || {
                format!("call {call} of `{node}` has a result and was never made")
            });
            let other = result.decode::<StepReceipt>().is_ok_and(|receipt| Some(&receipt.nonce) != nonce);
            self.require(!other, StoreInvariant::Values, || {
                format!("call {call} of `{node}` has the result of another call")
            });
        } else if let EventKind::CallFailed { node, call, failure, .. } = &event.kind {
            let by_engine = failure.code == code::TIMEOUT || failure.code == code::INTERRUPTED;
            let called = by_engine || begun.contains_key(&(node.as_str(), *call));
            self.require(called, StoreInvariant::Budget, || {
                format!("call {call} of `{node}` failed and was never made: {failure}")
            });
        }
    }

    fn check_once(&mut self, sightings: &[CallObservation]) {
        let starts = sightings.iter().filter(|sighting| sighting.node == "only_once").count();
        self.require(starts <= 1, StoreInvariant::Budget, || format!("`only_once` began {starts} times"));
    }

    /// No attempt begins before the one that failed asked for it.
    fn check_backoff(&mut self) {
        let mut due: BTreeMap<&Path, rival::Time> = BTreeMap::new();
        let mut early = Vec::new();
        for event in &self.run.events {
            if let EventKind::CallFailed { node, verdict: FailureVerdict::RetryAt(at), .. } = &event.kind {
                due.insert(node, *at);
            } else if let EventKind::CallStarted { node, .. } = &event.kind {
                early.extend(due.remove(node).filter(|at| event.at < *at).map(|_| node));
            }
        }
        for node in early {
            self.require(false, StoreInvariant::Backoff, || format!("`{node}` was tried again too early"));
        }
    }
}
