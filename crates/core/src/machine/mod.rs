//! The machine: what an input leads to.
//!
//! [`decide`] is the only door. It emits events, folds each into the state at once, and collects the
//! effects that the engine performs after the events are durable. Work is proportional to what changes:
//! nothing here walks the plan or the history.
//!
//! One file per concept, each with its transition table at the top: [`call`](self) for the life of a
//! call; `block` and `graph` for how nodes follow each other; `lane` for who supervises a block; `supervisor` for what all
//! supervisors have in common, `nested`, `branch`, `looping`, `for_each`, `parallel` for each of them; `sleep` and `signal`; `durable` and `child` for
//! what steps wait for; `scope` for parts that end while the rest goes
//! on; `ending` for failing and cancelling; `undo` for compensations; `hold` for pause and orderly stop; `recover` for
//! what a crash left behind; `invariant` for what cannot happen.

mod backoff;
mod block;
mod branch;
mod call;
mod child;
mod durable;
mod ending;
mod for_each;
mod graph;
mod hold;
mod invariant;
mod lane;
mod looping;
mod nested;
mod parallel;
mod recover;
mod scope;
mod signal;
mod sleep;
mod supervisor;
mod timer;
mod undo;

use std::collections::VecDeque;

pub use durable::{AskedOp, OnceRequest, OpRequest};
pub use invariant::BrokenInvariant;
pub use signal::{SIGNALS_MAX, SentSignal};

use crate::durable::ChildOutcome;
use crate::event::{
    BlockedReason, CallRole, Event, EventCause, EventKind, ExternalCause, LostReason, NotUndone,
    TriggerOrigin,
};
use crate::failure::StepError;
use crate::fork::ForkImport;
use crate::ids::{RunId, Seq, Time};
use crate::path::Path;
use crate::plan::{FunctionRef, IndexedPlan};
use crate::state::RunState;
use crate::trace::TraceParent;
use crate::value::Value;

/// How long calls may take to settle after a cancel, before they are left behind.
pub const GRACE_MS: u64 = 30_000;
/// How long an error handler may take.
pub const HANDLER_TIMEOUT_MS: u64 = 300_000;
/// A call that a crash cut short this often is not made again without help.
pub const INTERRUPTIONS_MAX: u32 = 5;

/// Something that happened outside of the machine.
#[derive(Clone, Debug)]
pub enum MachineInput {
    /// The run begins.
    Start(RunStart),
    /// The run was loaded from its history: deal with what a crash or an orderly stop left behind.
    Activate {
        /// The last event that was loaded. Calls started after this event belong to this process and are not recovered.
        loaded: Seq,
    },
    /// A function returned, failed, or settled after it was told to stop.
    CallFinished {
        /// The node.
        node: Path,
        /// The call; any but the current one is ignored.
        call: u32,
        /// How it ended.
        outcome: CallOutcome,
    },
    /// The clock that wrote the run's last events was ahead of the wall clock, which is to be trusted again. Without
    /// effect if time has come to the last event meanwhile.
    ClockSetBack,
    /// Time has passed.
    Tick,
    /// A request to cancel.
    Cancel {
        /// In their words.
        reason: Option<String>,
        /// Who asked.
        by: Option<String>,
    },
    /// A request to end it at once: nothing is undone or waited for.
    Kill {
        /// In their words.
        reason: Option<String>,
        /// Who asked.
        by: Option<String>,
    },
    /// A request to pause.
    Pause {
        /// Who asked.
        by: Option<String>,
    },
    /// A request to resume.
    Resume {
        /// Who asked.
        by: Option<String>,
    },
    /// The engine stops in order: abandon what still runs.
    ReleaseNow,
    /// A signal arrived.
    Signal(SentSignal),
    /// A function asks for an operation that is not recorded.
    Op(AskedOp),
    /// A function does nothing but wait inside an operation: suspend it.
    Suspend {
        /// The node.
        node: Path,
        /// The call; any but the current one is ignored.
        call: u32,
        /// The operations whose answers it has used, in that order: all, or those since it last asked for a new one.
        used: Vec<u32>,
        /// The operations whose answers it was given and has not used.
        told: Vec<u32>,
    },
    /// A function gives an operation up.
    OpDropped {
        /// The step.
        node: Path,
        /// The call; any but the current one is ignored.
        call: u32,
        /// The operation.
        op: u32,
    },
    /// A child has ended.
    ChildEnded {
        /// The child, or the run that undoes one.
        child: RunId,
        /// How.
        outcome: ChildOutcome,
        /// It did what can be undone.
        undoable: bool,
        /// What it could not undo, if its outcome does not say that.
        not_undone: Vec<NotUndone>,
    },
    /// A child failed and is retried by itself.
    ChildRetried {
        /// The run that failed.
        child: RunId,
        /// The run that goes on.
        next: RunId,
    },
}

impl MachineInput {
    /// Who asked for it.
    fn by(&self) -> Option<&String> {
        match self {
            Self::Start(start) => start.by.as_ref(),
            Self::Cancel { by, .. } | Self::Kill { by, .. } | Self::Pause { by } | Self::Resume { by } => {
                by.as_ref()
            }
            Self::Signal(signal) => signal.by.as_ref(),
            Self::Activate { .. }
            | Self::CallFinished { .. }
            | Self::ClockSetBack
            | Self::Tick
            | Self::ReleaseNow
            | Self::Op(_)
            | Self::Suspend { .. }
            | Self::OpDropped { .. }
            | Self::ChildEnded { .. }
            | Self::ChildRetried { .. } => None,
        }
    }
}

/// What a run begins with.
#[derive(Clone, Debug)]
pub struct RunStart {
    /// What it was given.
    pub input: Value,
    /// Overrides the plan's timeout.
    pub timeout_ms: Option<u64>,
    /// Overrides the plan's automatic retries.
    pub max_retries: Option<u32>,
    /// The run that it goes on from.
    pub source: Option<RunId>,
    /// The run that starts it as a child.
    pub parent: Option<RunId>,
    /// The trigger that starts it.
    pub trigger: Option<Box<TriggerOrigin>>,
    /// The span, here or elsewhere, that it is started in.
    pub trace: Option<TraceParent>,
    /// Who asked for it.
    pub by: Option<String>,
    /// What is taken over from its source.
    pub imports: Vec<ForkImport>,
}

impl RunStart {
    /// A plain start.
    pub fn new(input: Value) -> Self {
        Self {
            input,
            timeout_ms: None,
            max_retries: None,
            source: None,
            parent: None,
            trigger: None,
            trace: None,
            by: None,
            imports: Vec::new(),
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug)]
pub enum CallOutcome {
    /// With a result.
    Success {
        /// What it returned.
        result: Value,
        /// What it put into its state.
        state: Option<Value>,
        /// It asked to count as skipped.
        skipped: bool,
    },
    /// With an error.
    Failure {
        /// What it said.
        error: StepError,
        /// What it had put into its state.
        state: Option<Value>,
    },
    /// It stopped because it was told to.
    Stopped {
        /// What it had put into its state.
        state: Option<Value>,
    },
    /// It was cut short through no fault of its function, and says nothing about it.
    Lost(LostReason),
    /// It could not be made, or cannot go on without help.
    Blocked(BlockedReason),
}

/// Something for the engine to do once the events are durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Call this function.
    Call(NewCall),
    /// Tell this call to stop; its outcome no longer counts unless it settles before it is left behind.
    Stop {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// Why.
        why: StopReason,
    },
    /// Tell this call that an operation of it has ended.
    Answer {
        /// The node.
        node: Path,
        /// The call.
        call: u32,
        /// The operation.
        op: u32,
    },
}

/// Something for the engine to put into the commit that makes the events durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitExtra {
    /// Create this run.
    Start(NewChild),
    /// Send this child a request to cancel.
    Cancel(RunId),
    /// Create the run that undoes a completed child.
    Undo {
        /// The child.
        child: RunId,
        /// The run that undoes it.
        undo: RunId,
    },
    /// Create the run that starts what this one triggers.
    Triggers(RunId),
}

/// A child to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChild {
    /// Its id.
    pub child: RunId,
    /// Its workflow.
    pub workflow: String,
    /// The event that holds its input.
    pub asked: Seq,
    /// In a map: which of the items there it is.
    pub index: Option<u32>,
}

/// A call to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCall {
    /// The node.
    pub node: Path,
    /// The call's number.
    pub number: u32,
    /// What the function does for the node.
    pub role: CallRole,
    /// The function.
    pub function: FunctionRef,
    /// Which charged attempt it is.
    pub attempt: u32,
}

/// Why a call is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The run is being cancelled or has timed out; the call may settle within the grace period.
    Ending,
    /// The call has timed out, and its outcome is recorded as such.
    Timeout,
}

/// What the engine brings to a decision.
#[derive(Clone, Copy, Debug)]
pub struct DecisionEnv<'a> {
    /// The run's id: it decides jitter, so that the same history gives the same delays.
    pub run: &'a RunId,
    /// The time.
    pub now: Time,
    /// Whether new calls may start; an engine that stops in order, or has no room, says no.
    pub admit: bool,
    /// What the calls at work have put into their state so far.
    pub states: &'a dyn LiveStates,
}

/// What the calls at work have put into their state so far. It is recorded when a call ends without a word of its
/// function.
pub trait LiveStates: std::fmt::Debug {
    /// The state of a call; `None` if it has put nothing there, or nothing is known of it.
    fn written(&self, node: &Path, call: u32) -> Option<Value>;
}

/// No state is known: no call is at work.
#[derive(Clone, Copy, Debug)]
pub struct NoStates;

impl LiveStates for NoStates {
    fn written(&self, _: &Path, _: u32) -> Option<Value> {
        None
    }
}

/// What an input led to.
#[derive(Debug, Default)]
pub struct Decision {
    /// New events, already folded into the state.
    pub events: Vec<Event>,
    /// What to do once they are durable.
    pub effects: Vec<Effect>,
    /// What becomes durable with them.
    pub extras: Vec<CommitExtra>,
    /// A signal was refused: the run keeps too many already.
    pub refused: bool,
    /// It came to something that cannot be: neither it nor the state is to be used.
    pub broken: Option<BrokenInvariant>,
}

/// Decides what an input leads to. The state is ahead of the store until the events are committed: if
/// they cannot be, throw the state away.
pub fn decide(
    plan: &IndexedPlan,
    state: &mut RunState,
    input: MachineInput,
    env: DecisionEnv<'_>,
) -> Decision {
    // A run starts once, nothing happens before that, and nothing after its end.
    let starts = matches!(input, MachineInput::Start(_));
    if state.is_terminal() || starts != (state.seq == Seq::ZERO) {
        return Decision::default();
    }
    let is_set_back = matches!(input, MachineInput::ClockSetBack);
    let now = if is_set_back { env.now } else { env.now.max(state.at) };
    let env = DecisionEnv { now, ..env };
    let by = input.by().cloned();
    let mut machine = Machine { plan, state, env, by, decision: Decision::default(), todo: VecDeque::new() };
    match input {
        MachineInput::Start(start) => machine.start_run(start),
        MachineInput::Activate { loaded } => machine.activate(loaded),
        MachineInput::CallFinished { node, call, outcome } => machine.call_finished(&node, call, outcome),
        MachineInput::ClockSetBack => machine.set_clock_back(),
        MachineInput::Tick => machine.tick(),
        MachineInput::Cancel { reason, .. } => machine.cancel(reason),
        MachineInput::Kill { reason, .. } => machine.kill(reason),
        MachineInput::Pause { .. } => machine.pause(),
        MachineInput::Resume { .. } => machine.resume(),
        MachineInput::ReleaseNow => machine.release_calls(),
        MachineInput::Signal(signal) => machine.signal_arrived(signal),
        MachineInput::Op(asked) => machine.op_asked(asked),
        MachineInput::ChildEnded { child, outcome, undoable, not_undone } => {
            machine.child_ended(child, outcome, undoable, not_undone);
        }
        MachineInput::Suspend { node, call, used, told } => machine.suspend(&node, call, &used, &told),
        MachineInput::OpDropped { node, call, op } => machine.op_dropped(&node, call, op),
        MachineInput::ChildRetried { child, next } => machine.child_retried(child, next),
    }
    machine.settle();
    machine.decision
}

/// One decision in the making.
struct Machine<'a> {
    plan: &'a IndexedPlan,
    state: &'a mut RunState,
    env: DecisionEnv<'a>,
    /// Who asked for what is decided.
    by: Option<String>,
    decision: Decision,
    /// What follows, as a queue and not as recursion: a plan of 100,000 nodes may fall through at once.
    todo: VecDeque<MachineTask>,
}

enum MachineTask {
    /// A node's turn has come.
    Start(Path, Seq),
    /// A node has ended; its supervisor must hear of it.
    Ended(Path, Seq),
    /// A scope may have settled.
    Settled(Path, Seq),
}

impl Machine<'_> {
    /// Does what follows, one task after the other; then takes the next step towards an end that is coming, and so on.
    fn settle(&mut self) {
        loop {
            while let Some(task) = self.todo.pop_front() {
                if self.state.is_terminal() || self.decision.broken.is_some() {
                    self.todo.clear();
                    break;
                }
                match task {
                    MachineTask::Start(node, cause) => self.start_node(&node, cause),
                    MachineTask::Ended(node, cause) => self.node_ended(&node, cause),
                    MachineTask::Settled(scope, cause) => self.settled_within(&scope, cause),
                }
            }
            self.cancel_orphaned_children();
            if self.decision.broken.is_some() || !self.end_run() {
                break;
            }
        }
    }

    fn start_run(&mut self, start: RunStart) {
        let plan = self.plan.plan();
        let timeout_ms = start.timeout_ms.or(plan.timeout_ms);
        let event = EventKind::RunStarted {
            workflow: plan.workflow.clone(),
            plan: self.plan.hash().clone(),
            input: start.input,
            deadline: timeout_ms.map(|ms| self.env.now.plus_ms(ms)),
            retries_left: start.max_retries.unwrap_or(plan.max_retries),
            source: start.source,
            parent: start.parent,
            trigger: start.trigger,
            trace: start.trace,
        };
        let started = self.emit(event, EventCause::Outside(ExternalCause::Request));
        for import in start.imports {
            self.emit(import.into_event(), started);
        }
        self.todo.push_back(MachineTask::Start(Path::root(), started));
    }

    /// Writes an event and folds it in.
    fn emit(&mut self, kind: EventKind, cause: impl Into<EventCause>) -> Seq {
        let seq = self.state.seq.next();
        let event = Event::new(seq, self.env.now, cause.into(), self.by.clone(), kind);
        self.state.apply(&event);
        self.decision.events.push(event);
        seq
    }
}
