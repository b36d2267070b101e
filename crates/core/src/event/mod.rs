//! Events: the facts of a run, in order. They are the truth; everything else is derived from them.
//!
//! The types here are what is on disk. A change must keep old histories loading: add fields with
//! defaults, add kinds, and raise [`VERSION`] when a reader has to tell old from new. The golden
//! histories in `crates/core/tests/golden` hold every version we have written.

mod batch;
mod content;

use serde::{Deserialize, Serialize};

use crate::bound::{CALLER_MAX, cut};
use crate::durable::{ChildOutcome, OpBody, OpOutcome};
use crate::failure::FailureRecord;
use crate::ids::{RunId, Seq, Time};
use crate::path::Path;
use crate::plan::PlanHash;
use crate::trace::TraceParent;
use crate::value::{self, Value};

pub use batch::{DecodeError, decode, encode};
pub use content::ValueField;

/// The version of the event schema that this build writes.
pub const VERSION: u32 = 7;

/// The first version of the schema in which events say who asked.
const VERSION_OF_CALLERS: u32 = 6;

/// One fact about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Schema version; events of version 1 do not write it.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub v: u32,
    /// Position in the run's history.
    pub seq: Seq,
    /// When it was decided.
    pub at: Time,
    /// What made it happen.
    pub cause: EventCause,
    /// Who asked for it, if a request made it happen and said so: the name of a token, or of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What happened.
    #[serde(rename = "event")]
    pub kind: EventKind,
}

impl Event {
    /// An event with the version of the schema that it needs. `by` is said only of what a request made happen.
    pub fn new(seq: Seq, at: Time, cause: EventCause, by: Option<String>, mut kind: EventKind) -> Self {
        kind.bound();
        let by = by.filter(|_| cause == EventCause::Outside(ExternalCause::Request));
        let by = by.map(|by| cut(by, CALLER_MAX));
        let v = if by.is_some() { VERSION_OF_CALLERS } else { kind.version() };
        Self { v, seq, at, cause, by, kind }
    }
}

/// What made an event happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EventCause {
    /// Another event of the run.
    Event(Seq),
    /// Something outside of the run: a request, the engine's start, the clock.
    Outside(ExternalCause),
}

impl From<Seq> for EventCause {
    fn from(event: Seq) -> Self {
        Self::Event(event)
    }
}

/// Causes outside of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ExternalCause {
    /// A caller asked for it.
    Request,
    /// A moment came.
    Clock,
    /// A child told of itself.
    Child,
    /// The engine started again after a crash, or took the run over.
    Recovery,
    /// The engine stopped in order.
    Shutdown,
}

/// What can happen to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum EventKind {
    /// The first event of every run.
    RunStarted {
        /// The workflow's name.
        workflow: String,
        /// The plan it keeps.
        plan: PlanHash,
        /// What it was given.
        input: Value,
        /// When it fails with `run_timeout`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Time>,
        /// How many automatic retries are left.
        #[serde(default, skip_serializing_if = "is_zero")]
        retries_left: u32,
        /// The run that it retries.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<RunId>,
        /// The run that started it as a child, and waits for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<RunId>,
        /// The trigger that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trigger: Option<Box<TriggerOrigin>>,
        /// The span, here or elsewhere, that it was started in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
        trace: Option<TraceParent>,
    },
    /// A node's recorded outcome was taken over from the source run.
    NodeImported {
        /// The node.
        node: Path,
        /// How it ended there.
        status: ImportedStatus,
        /// Its result there.
        #[serde(default)]
        result: Value,
        /// Its recorded state there.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
        state: Option<Value>,
        /// Its failure there, if it was a soft one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureRecord>,
        /// When it began there.
        started_at: Time,
        /// When it ended there.
        ended_at: Time,
        /// Its run did not undo it: if this one fails, it does.
        #[serde(default, skip_serializing_if = "is_false")]
        undoable: bool,
    },
    /// What a supervisor had decided was taken over from the source run.
    DecisionImported {
        /// The supervisor.
        node: Path,
        /// The mapped input of a nested workflow, the items of a forEach, the answer that chose a case.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
        /// The case of a branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        case: Option<String>,
        /// How many items a forEach has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
    },
    /// The iterations of a loop up to this one were taken over from the source run.
    LaneImported {
        /// The iteration.
        lane: Path,
        /// Its number.
        index: u32,
        /// Its result there.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
        /// The test has said there that the loop goes on after it.
        #[serde(default, skip_serializing_if = "is_false")]
        tested: bool,
    },
    /// A user function is about to be called.
    CallStarted {
        /// The node it belongs to.
        node: Path,
        /// The call's number, never used again within the node.
        call: u32,
        /// What the function does for the node.
        #[serde(default, skip_serializing_if = "CallRole::is_step")]
        role: CallRole,
        /// Which charged attempt this is.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        attempt: u32,
        /// When it times out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Time>,
        /// How long one stretch of work may take, if that is not the time from here to the deadline: a call that goes
        /// the way of an earlier one again has more time until it comes to something new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit_ms: Option<u64>,
        /// The step has a compensation: what it does may have to be undone.
        #[serde(default, skip_serializing_if = "is_false")]
        undoable: bool,
    },
    /// The function returned.
    CallSucceeded {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// What it returned.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        result: Value,
        /// What it put into its `state`, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
        state: Option<Value>,
        /// It asked to count as skipped.
        #[serde(default, skip_serializing_if = "is_false")]
        skipped: bool,
    },
    /// The function failed or timed out, and this was decided.
    CallFailed {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// What went wrong.
        failure: FailureRecord,
        /// What it had put into its `state`, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
        state: Option<Value>,
        /// What happens next.
        verdict: FailureVerdict,
        /// The call had been told to stop when it failed, so the failure does not tell whether it acted.
        #[serde(default, skip_serializing_if = "is_false")]
        told: bool,
    },
    /// The call was cut short and says nothing about the function.
    CallLost {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// Why.
        reason: LostReason,
    },
    /// The call was stopped because the run is being cancelled or has timed out.
    CallCancelled {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// It did not settle within the grace period and was left behind.
        #[serde(default, skip_serializing_if = "is_false")]
        forced: bool,
        /// What it had put into its `state`, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
        state: Option<Value>,
    },
    /// A supervisor started its children.
    NodeStarted {
        /// The node.
        node: Path,
        /// The case that a branch chose; absent if none applies and none has to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        case: Option<String>,
        /// How many lanes a parallel or forEach has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// How many of them go on at a time, if not all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u32>,
    },
    /// One run through the block of a loop, forEach or parallel has ended.
    LaneEnded {
        /// The lane: `items[17]`, `setup/db`.
        lane: Path,
        /// Its place among the lanes of its node, from 0.
        index: u32,
        /// How it ended.
        #[serde(default, skip_serializing_if = "LaneOutcome::is_completed")]
        outcome: LaneOutcome,
        /// The event that holds its result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Seq>,
    },
    /// A node inside has failed: nothing new starts in this block, waits are cancelled, and it fails when the calls
    /// at work have settled.
    BlockFailing {
        /// The supervisor, or the lane of a graph.
        node: Path,
        /// The node inside that failed.
        child: Path,
        /// Why the block fails, if it is not the child's own failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureRecord>,
    },
    /// The others have won: this lane is stopped, and what it did is undone.
    LaneStopping {
        /// The lane.
        lane: Path,
        /// Its place among the lanes of its node.
        index: u32,
        /// When calls that have not settled are left behind.
        force_at: Time,
    },
    /// The lanes of a block are joined; its result is put together from those events when it is read.
    Joined {
        /// The supervisor, or the lane of a graph.
        node: Path,
        /// Where the parts are.
        #[cfg_attr(feature = "openapi", schema(value_type = Object))]
        parts: ResultParts,
    },
    /// A supervisor's children are done.
    NodeCompleted {
        /// The node.
        node: Path,
        /// The event that holds its result, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Seq>,
    },
    /// A supervisor failed because a child did.
    NodeFailed {
        /// The node.
        node: Path,
        /// The child whose failure it was.
        child: Path,
        /// Why it failed, if it is not the child's own failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureRecord>,
    },
    /// A node that had not ended was stopped by a cancel or run timeout.
    NodeCancelled {
        /// The node.
        node: Path,
    },
    /// A node is next, but the run is paused or the engine is stopping.
    NodeHeld {
        /// The node; the root means that the run has not begun.
        node: Path,
        /// The call that is due, for a node that had begun or begins with a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due: Option<DueCall>,
    },
    /// A node cannot go on without help.
    NodeBlocked {
        /// The node.
        node: Path,
        /// Why.
        reason: BlockedReason,
    },
    /// A blocked node is looked at again.
    NodeUnblocked {
        /// The node.
        node: Path,
    },
    /// A sleep began.
    SleepStarted {
        /// The node.
        node: Path,
        /// When it ends.
        until: Time,
        /// It was asked to end at this moment of the wall clock, and not after a length of time.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        absolute: bool,
    },
    /// A sleep ended.
    SleepEnded {
        /// The node.
        node: Path,
    },
    /// A signal came from outside; it is kept until a wait takes it.
    SignalReceived {
        /// The signal's name.
        name: String,
        /// The sender's id for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What it says.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        payload: Value,
        /// When it was sent: this decides whether it came in time.
        sent_at: Time,
    },
    /// A signal node began to wait.
    SignalAwaited {
        /// The node.
        node: Path,
        /// The signal's name.
        name: String,
        /// When it stops waiting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
    },
    /// The oldest wait took the oldest signal.
    SignalTaken {
        /// The node that waited.
        node: Path,
        /// The operation of it that did, if it is a step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<u32>,
        /// The event that holds the payload.
        signal: Seq,
    },
    /// No signal came in time.
    SignalTimedOut {
        /// The node that waited.
        node: Path,
        /// The operation of it that did, if it is a step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        op: Option<u32>,
        /// Why that is a failure; absent if it is a value, `null`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureRecord>,
    },
    /// A step asked for something durable.
    OpStarted {
        /// The step.
        node: Path,
        /// The operation's number, never used again within the step.
        op: u32,
        /// The call that asked for it.
        call: u32,
        /// What it is called: the signal's, workflow's or given name; a sleep has none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
        /// Occurrence (from 1) among operations of this kind and name.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        occurrence: u32,
        /// Names its arguments.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        hash: String,
        /// The operations whose answers the function had used by then and not at the operation before this one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<u32>,
        /// What it is.
        what: OpBody,
    },
    /// An operation other than a wait for one child or a signal has ended.
    OpEnded {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
        /// How.
        outcome: OpOutcome,
    },
    /// The function gave up an operation: it dropped the future, or ended without using the answer. A sleep or a wait
    /// ends with this, children are cancelled, and a signal that the operation had taken is kept again.
    OpDropped {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
        /// The call that gave it up.
        call: u32,
    },
    /// No call waits for these children any more: they are cancelled.
    OpStopping {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
    },
    /// A child was started in the same commit.
    ChildStarted {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
        /// Which item of a map it works on, from 0.
        #[serde(default, skip_serializing_if = "is_zero")]
        index: u32,
        /// The child.
        child: RunId,
    },
    /// A child failed and is retried by itself: that run is the child from now on.
    ChildRetried {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
        /// Which item of a map it works on.
        #[serde(default, skip_serializing_if = "is_zero")]
        index: u32,
        /// The run that failed.
        child: RunId,
        /// The run that goes on.
        next: RunId,
    },
    /// A child has ended.
    ChildEnded {
        /// The step.
        node: Path,
        /// The operation.
        op: u32,
        /// Which item of a map it worked on.
        #[serde(default, skip_serializing_if = "is_zero")]
        index: u32,
        /// The child.
        child: RunId,
        /// How.
        outcome: ChildOutcome,
        /// It completed, and did what can be undone: if this run fails or is cancelled, it is.
        #[serde(default, skip_serializing_if = "is_false")]
        undoable: bool,
        /// What it could not undo, if it completed or failed; the outcome of a cancelled child says it itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
    },
    /// A completed child is being undone. Another run does that, started in the same commit: the child itself has
    /// ended and never changes.
    ChildUndoing {
        /// The step that had started the child.
        node: Path,
        /// The child.
        child: RunId,
        /// The run that undoes it.
        undo: RunId,
    },
    /// The run that undoes a child has ended.
    ChildUndone {
        /// The step that had started the child.
        node: Path,
        /// The child.
        child: RunId,
        /// The run that undid it.
        undo: RunId,
        /// Why it could not be undone, or not all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<FailureRecord>,
    },
    /// A call that waits inside an operation was suspended; a new one starts when an answer is there.
    CallSuspended {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// The operations whose answers the function had used by then and not at its last operation, in that order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        used: Vec<u32>,
        /// The operations whose answers it had been given and had not used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<u32>,
        /// What it had put into its `state`, if anything: the step's, should it not be called again.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
        state: Option<Value>,
    },
    /// The run was asked to cancel.
    CancelRequested {
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// When calls that have not settled are left behind.
        force_at: Time,
        /// Nothing is undone or waited for.
        #[serde(default, skip_serializing_if = "is_false")]
        kill: bool,
    },
    /// The run was paused.
    RunPaused {},
    /// A paused or blocked run was resumed.
    RunResumed {},
    /// The run's earlier events were written by a clock that was ahead. From here on, time is the wall clock's again.
    /// What was left of each wait, timeout and deadline then is left now; sleeps until a moment stay where they are.
    ClockSetBack {
        /// How far this event is before the one that precedes it.
        by_ms: u64,
    },
    /// The run is going to fail; its calls settle and its handler is called first.
    RunFailing {
        /// Why.
        failure: FailureRecord,
        /// The node that failed, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Path>,
        /// When calls that have not settled are left behind.
        force_at: Time,
    },
    /// The run is done.
    RunCompleted {
        /// The event that holds its output, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Seq>,
        /// What could not be undone of branches that lost and of children.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
        /// The run that starts what this one triggers, created in the same commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        triggers: Option<RunId>,
    },
    /// The run failed.
    RunFailed {
        /// Why.
        failure: FailureRecord,
        /// The node that failed, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node: Option<Path>,
        /// The run that retries it by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retried_as: Option<RunId>,
        /// What could not be undone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
    },
    /// The run was cancelled.
    RunCancelled {
        /// In the words of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What could not be undone.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
    },
}

/// Which trigger started a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TriggerOrigin {
    /// The completed run that has the trigger.
    pub run: RunId,
    /// Which of its triggers, from 0.
    pub index: u32,
    /// Which item of the trigger's list, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
    /// How many runs came before it, each of which triggered the next: at least 1.
    pub depth: u32,
}

/// How a lane ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LaneOutcome {
    /// Its last node has ended well.
    #[default]
    Completed,
    /// This node in it failed.
    Failed(Path),
    /// It was stopped.
    Cancelled,
}

impl LaneOutcome {
    fn is_completed(&self) -> bool {
        matches!(self, Self::Completed)
    }
}

/// What a block's result is put together from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ResultParts {
    /// An array, in the order of the items.
    List(Vec<ResultPart>),
    /// A map, in the order of the definition.
    Map(Vec<(String, ResultPart)>),
}

/// One part of a block's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ResultPart {
    /// There is none: `null`.
    #[default]
    Absent,
    /// The event that holds it.
    Value(Seq),
    /// The event that holds the failure which ended the lane.
    Failure {
        /// The event.
        failure: Seq,
    },
}

impl From<Option<Seq>> for ResultPart {
    fn from(result: Option<Seq>) -> Self {
        result.map_or(Self::Absent, Self::Value)
    }
}

/// A compensation that failed for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotUndone {
    /// The step that it was to undo.
    pub node: Path,
    /// Why it failed.
    pub failure: FailureRecord,
}

/// What a function does for its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum CallRole {
    /// It is the step.
    #[default]
    Step,
    /// It handles the node's failure.
    OnError,
    /// It maps the input of a nested workflow.
    Input,
    /// It says how long to sleep.
    Wait,
    /// It chooses the case of a branch.
    Choose,
    /// It says whether a loop goes on.
    Test,
    /// It gives the items of a forEach.
    Items,
    /// It maps the joined result of a parallel block.
    Finally,
    /// It undoes the step.
    Compensate,
}

impl CallRole {
    /// Its name, as it is stored and shown.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::OnError => "onError",
            Self::Input => "input",
            Self::Wait => "wait",
            Self::Choose => "choose",
            Self::Test => "test",
            Self::Items => "items",
            Self::Finally => "finally",
            Self::Compensate => "compensate",
        }
    }

    fn is_step(&self) -> bool {
        matches!(self, Self::Step)
    }

    /// The first version of the schema in which a call can have this role.
    fn version(self) -> u32 {
        match self {
            Self::Step | Self::OnError | Self::Input | Self::Wait => 1,
            Self::Choose | Self::Test | Self::Items | Self::Finally | Self::Compensate => 2,
        }
    }
}

/// A call that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DueCall {
    /// What the function does for the node.
    pub role: CallRole,
    /// Which charged attempt it will be.
    pub attempt: u32,
}

/// How an imported node ended in its source run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ImportedStatus {
    /// With a result.
    Completed,
    /// It asked to be skipped.
    Skipped,
    /// It failed, and the run went on.
    Failed,
}

/// What follows a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum FailureVerdict {
    /// Another attempt at this time.
    RetryAt(Time),
    /// The node has failed.
    Fail,
    /// The node has failed, and the run goes on.
    Continue,
}

/// Why a call was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LostReason {
    /// The process that ran it ended without a word.
    Crash,
    /// The engine stopped in order; this never counts against the step.
    Shutdown,
    /// The process that ran it had to be ended because of another call; this never counts against the step.
    Bystander,
}

/// Why a node cannot go on without help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BlockedReason {
    /// The workflow's definition has no such function any more, or a built-in one cannot be called now.
    FunctionMissing {
        /// The function's name.
        function: String,
        /// Why a built-in one cannot be called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The process died too often while this call ran.
    Quarantined {
        /// How often.
        interruptions: u32,
    },
    /// A recorded value does not decode into what the function asks for.
    Undecodable {
        /// What the decoder said.
        message: String,
    },
    /// The step, called again, asks for other durable operations than before.
    Nondeterminism {
        /// What was recorded, and what is asked for now.
        message: String,
    },
}

impl EventKind {
    /// The node that the event is about.
    pub fn node(&self) -> Option<&Path> {
        match self {
            Self::NodeImported { node, .. }
            | Self::DecisionImported { node, .. }
            | Self::LaneImported { lane: node, .. }
            | Self::CallStarted { node, .. }
            | Self::CallSucceeded { node, .. }
            | Self::CallFailed { node, .. }
            | Self::CallLost { node, .. }
            | Self::CallCancelled { node, .. }
            | Self::NodeStarted { node, .. }
            | Self::LaneEnded { lane: node, .. }
            | Self::LaneStopping { lane: node, .. }
            | Self::BlockFailing { node, .. }
            | Self::Joined { node, .. }
            | Self::NodeCompleted { node, .. }
            | Self::NodeFailed { node, .. }
            | Self::NodeCancelled { node }
            | Self::NodeHeld { node, .. }
            | Self::NodeBlocked { node, .. }
            | Self::NodeUnblocked { node }
            | Self::SleepStarted { node, .. }
            | Self::SleepEnded { node }
            | Self::SignalAwaited { node, .. }
            | Self::SignalTaken { node, .. }
            | Self::SignalTimedOut { node, .. }
            | Self::OpStarted { node, .. }
            | Self::OpEnded { node, .. }
            | Self::OpDropped { node, .. }
            | Self::OpStopping { node, .. }
            | Self::ChildStarted { node, .. }
            | Self::ChildRetried { node, .. }
            | Self::ChildEnded { node, .. }
            | Self::ChildUndoing { node, .. }
            | Self::ChildUndone { node, .. }
            | Self::CallSuspended { node, .. } => Some(node),
            Self::RunFailing { node, .. } | Self::RunFailed { node, .. } => node.as_ref(),
            Self::RunStarted { .. }
            | Self::SignalReceived { .. }
            | Self::CancelRequested { .. }
            | Self::RunPaused {}
            | Self::RunResumed {}
            | Self::ClockSetBack { .. }
            | Self::RunCompleted { .. }
            | Self::RunCancelled { .. } => None,
        }
    }

    /// The first version of the schema that can say this: an older build refuses it with advice.
    pub fn version(&self) -> u32 {
        match self {
            Self::RunStarted { trigger: Some(_), .. } | Self::RunCompleted { triggers: Some(_), .. } => 7,
            Self::ChildUndoing { .. } | Self::ChildUndone { .. } => 3,
            Self::CallLost { reason: LostReason::Bystander, .. } => 4,
            Self::ClockSetBack { .. }
            | Self::SleepStarted { absolute: true, .. }
            | Self::CallFailed { told: true, .. }
            | Self::CallCancelled { state: Some(_), .. }
            | Self::OpDropped { .. }
            | Self::CallSuspended { .. }
            | Self::CallStarted { limit_ms: Some(_), .. } => 5,
            Self::RunCompleted { not_undone, .. } | Self::ChildEnded { not_undone, .. }
                if !not_undone.is_empty() =>
            {
                5
            }
            Self::DecisionImported { .. }
            | Self::LaneImported { .. }
            | Self::LaneEnded { .. }
            | Self::BlockFailing { .. }
            | Self::LaneStopping { .. }
            | Self::Joined { .. } => 2,
            Self::CallStarted { limit_ms: None, role, .. } => role.version(),
            // Each kind is named, so that the compiler demands the version that a new kind begins with.
            Self::RunStarted { trigger: None, .. }
            | Self::NodeImported { .. }
            | Self::CallSucceeded { .. }
            | Self::CallFailed { .. }
            | Self::CallLost { reason: LostReason::Crash | LostReason::Shutdown, .. }
            | Self::CallCancelled { .. }
            | Self::NodeStarted { .. }
            | Self::NodeCompleted { .. }
            | Self::NodeFailed { .. }
            | Self::NodeCancelled { .. }
            | Self::NodeHeld { .. }
            | Self::NodeBlocked { .. }
            | Self::NodeUnblocked { .. }
            | Self::SleepStarted { absolute: false, .. }
            | Self::SleepEnded { .. }
            | Self::SignalReceived { .. }
            | Self::SignalAwaited { .. }
            | Self::SignalTaken { .. }
            | Self::SignalTimedOut { .. }
            | Self::OpStarted { .. }
            | Self::OpEnded { .. }
            | Self::OpStopping { .. }
            | Self::ChildStarted { .. }
            | Self::ChildRetried { .. }
            | Self::ChildEnded { .. }
            | Self::CancelRequested { .. }
            | Self::RunPaused {}
            | Self::RunResumed {}
            | Self::RunFailing { .. }
            | Self::RunCompleted { .. }
            | Self::RunFailed { .. }
            | Self::RunCancelled { .. } => 1,
        }
    }

    /// Whether the run ends with this event.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::RunCompleted { .. } | Self::RunFailed { .. } | Self::RunCancelled { .. })
    }
}

fn is_false(b: &bool) -> bool {
    !*b
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn first() -> u32 {
    1
}

fn is_first(n: &u32) -> bool {
    *n == 1
}
