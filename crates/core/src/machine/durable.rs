//! Durable operations inside of a step.
//!
//! | operation | when | then |
//! | --- | --- | --- |
//! | once | it has been done | `OpStarted` and `OpEnded`, together |
//! | sleep | it is asked for | `OpStarted`; `OpEnded` at its moment |
//! | signal | it is asked for | `OpStarted`; `SignalTaken` or `SignalTimedOut`, see `signal` |
//! | run, map | it is asked for | `OpStarted`; children, see `child` |
//! | any but once | the call has nothing else to do for a while, and was given every answer that is there | `CallSuspended`: the function is suspended |
//! | any | it ends, the call is at work | the function is told |
//! | any | it ends, the call was suspended | a new call starts, uncharged, which asks for the same again |
//! | any | the function gives it up | `OpDropped`: it is never answered; its children are cancelled, a signal that it took is kept again |
//! | once | the function gives it up before it is done | `OpStarted` and `OpDropped`: it is not begun again |
//! | any | the call ends while it is open | it is dropped; its children are cancelled |
//! | any | the run is ending | sleeps and waits end as cancelled, children are cancelled |
//!
//! What waits inside an operation when the process dies has not been interrupted: it did nothing. It is called again
//! like one that was suspended.

use std::collections::BTreeSet;

use super::{CommitExtra, Effect, Machine};
use crate::durable::{OpBody, OpOutcome};
use crate::event::{EventCause, EventKind, ExternalCause};
use crate::failure::FailureRecord;
use crate::ids::Seq;
use crate::path::{self, Path};
use crate::state::{OpState, OpenCall};
use crate::value::Value;

/// An operation that a function asks for, and that is not recorded.
#[derive(Clone, Debug)]
pub struct AskedOp {
    /// The step.
    pub node: Path,
    /// The call; any but the current one is ignored.
    pub call: u32,
    /// What it is called.
    pub name: String,
    /// Occurrence (from 1) among operations of this kind and name.
    pub occurrence: u32,
    /// Names its arguments.
    pub hash: String,
    /// The operations whose answers the function has used since it last asked for a new one.
    pub after: Vec<u32>,
    /// What it is.
    pub request: OpRequest,
    /// Why it fails at once: a child that cannot be started.
    pub refused: Option<FailureRecord>,
}

/// What a function asks for.
#[derive(Clone, Debug)]
pub enum OpRequest {
    /// To do something once.
    Once(OnceRequest),
    /// To sleep for so many milliseconds.
    Sleep(u64),
    /// A signal.
    Signal {
        /// How long it waits.
        timeout_ms: Option<u64>,
        /// A timeout is a value rather than a failure.
        timeout_is_value: bool,
    },
    /// A child.
    Run {
        /// What it is given.
        input: Value,
    },
    /// A child for each item.
    Map {
        /// What each is given.
        items: Vec<Value>,
        /// How many may run at a time.
        concurrency: u32,
        /// Let all end, whatever becomes of some.
        collect: bool,
    },
}

/// What a function says of something that it does once.
#[derive(Clone, Debug)]
pub enum OnceRequest {
    /// Whether it is recorded. The engine answers that: it comes to the machine only if it is not.
    Begin,
    /// It did it, and this came of it.
    Record(Result<Value, FailureRecord>),
    /// It began, and gave it up.
    Drop,
}

impl Machine<'_> {
    pub(super) fn op_asked(&mut self, asked: AskedOp) {
        let AskedOp { node, call, name, occurrence, hash, after, request, refused } = asked;
        let open = self.state.node(&node).and_then(|node| node.open_call());
        // A call that is not at work any more asks for nothing.
        let Some(started) = open.filter(|open| open.number == call).map(|open| open.started) else { return };
        let op = self.state.ops.get(&node).map_or(1, crate::state::StepOps::next);
        let now = self.env.now;
        let gives_up = matches!(request, OpRequest::Once(OnceRequest::Drop));
        let (what, outcome) = match request {
            OpRequest::Once(OnceRequest::Record(Ok(value))) => {
                (OpBody::Once {}, Some(OpOutcome::Value(value)))
            }
            OpRequest::Once(OnceRequest::Record(Err(failure))) => {
                (OpBody::Once {}, Some(OpOutcome::Failed(failure)))
            }
            OpRequest::Once(OnceRequest::Begin | OnceRequest::Drop) => (OpBody::Once {}, None),
            OpRequest::Sleep(ms) => (OpBody::Sleep { until: now.plus_ms(ms) }, None),
            OpRequest::Signal { timeout_ms, timeout_is_value } => {
                let until = timeout_ms.map(|ms| now.plus_ms(ms));
                (OpBody::Signal { until, timeout_is_value }, None)
            }
            OpRequest::Run { input } => (OpBody::Run { input }, None),
            OpRequest::Map { items, concurrency, collect } => {
                (OpBody::Map { items, concurrency, collect }, None)
            }
        };
        let outcome = refused.map(OpOutcome::Failed).or(outcome);
        let event =
            EventKind::OpStarted { node: node.clone(), op, call, name, occurrence, hash, after, what };
        let seq = self.emit(event, started);
        match outcome {
            Some(outcome) => self.end_op(&node, op, outcome, EventCause::Event(seq)),
            None if gives_up => {
                self.emit(EventKind::OpDropped { node, op, call }, seq);
            }
            None if self.state.is_ending(&node) => self.cancel_op(&node, op, seq),
            None => self.begin_op(&node, op, seq),
        }
    }

    fn begin_op(&mut self, node: &Path, op: u32, cause: Seq) {
        let Some(begun) = self.state.op(node, op) else {
            return self.broken(node, "an operation begins that was not recorded");
        };
        if begun.children.is_some() {
            return self.start_children(node, op, cause);
        }
        if let Some(awaited) = &begun.awaited {
            let name = awaited.name.clone();
            return self.take_signals(&name);
        }
        if begun.until.is_some_and(|until| until <= self.env.now) {
            self.end_op(node, op, OpOutcome::Done {}, EventCause::Event(cause));
        }
    }

    /// The moment of a sleep or of a wait for a signal has come.
    pub(super) fn op_is_due(&mut self, node: &Path, op: u32) {
        let Some(due) = self.state.op(node, op) else {
            return self.broken(node, "the moment comes of an operation that is gone");
        };
        if due.awaited.is_some() {
            self.signal_timed_out(node, Some(op));
        } else {
            self.end_op(node, op, OpOutcome::Done {}, EventCause::Outside(ExternalCause::Clock));
        }
    }

    pub(super) fn end_op(&mut self, node: &Path, op: u32, outcome: OpOutcome, cause: EventCause) {
        let seq = self.emit(EventKind::OpEnded { node: node.clone(), op, outcome }, cause);
        self.op_answered(node, op, seq);
    }

    /// An operation has ended: its function is told, or called again if it was suspended.
    pub(super) fn op_answered(&mut self, node: &Path, op: u32, cause: Seq) {
        // A dropped operation has no waiter.
        if self.state.op(node, op).is_some_and(|op| op.dropped) {
            return;
        }
        let Some(state) = self.state.node(node) else {
            return self.broken(node, "an operation has ended whose step is gone");
        };
        match state.open_call() {
            Some(call) => {
                let call = call.number;
                self.decision.effects.push(Effect::Answer { node: node.clone(), call, op });
            }
            None if self.state.is_suspended(node) => {
                self.make_due_call(node, EventCause::Event(cause));
            }
            // The step has ended, or is to be called again anyway.
            None => {}
        }
    }

    /// The function gives an operation up. In a run that is ending there is nothing left to give up.
    pub(super) fn op_dropped(&mut self, node: &Path, call: u32, number: u32) {
        let open = self.state.node(node).and_then(|node| node.open_call());
        // A call that is not at work any more asks for nothing.
        let Some(started) = open.filter(|open| open.number == call).map(|open| open.started) else { return };
        let op = self.state.op(node, number).filter(|op| !op.dropped && op.used_no.is_none());
        // It has used the answer, or has given the operation up before.
        let Some(name) = op.map(|op| op.key.name.clone()) else { return };
        if self.state.ending.is_some() {
            return;
        }
        self.emit(EventKind::OpDropped { node: node.clone(), op: number, call }, started);
        self.take_signals(&name);
    }

    /// The function has nothing to do but to wait: it is suspended, if it was given every answer that is there. One that was
    /// not is about to be told, and would sleep through it.
    pub(super) fn suspend(&mut self, node: &Path, call: u32, used: &[u32], told: &[u32]) {
        let open = self.state.node(node).and_then(|node| node.open_call());
        // A call that is not at work any more asks for nothing.
        let Some(started) = open.filter(|open| open.number == call).map(|open| open.started) else { return };
        // Without an operation there is nothing to wait for.
        let Some(ops) = self.state.ops.get(node) else { return };
        let knows: BTreeSet<u32> = used.iter().chain(told).copied().collect();
        let knows_all = ops.fresh().all(|op| knows.contains(&op));
        if knows_all && self.state.is_waiting(node) && !self.state.is_ending(node) {
            let mut fresh: BTreeSet<u32> = ops.fresh().collect();
            let used = used.iter().copied().filter(|op| fresh.remove(op)).collect();
            let told = fresh.into_iter().collect();
            let state = self.env.states.written(node, call);
            self.emit(EventKind::CallSuspended { node: node.clone(), call, used, told, state }, started);
        }
    }

    /// Calls steps again that were suspended although there was an answer which they may not have been given. No build that
    /// records what was used leaves one behind.
    pub(super) fn give_answers(&mut self) {
        let waits = self.state.index().waits.iter().filter(|node| self.state.has_answers_to_give(node));
        for node in waits.cloned().collect::<Vec<_>>() {
            self.make_due_call(&node, EventCause::Outside(ExternalCause::Recovery));
        }
    }

    /// A call that waited was cut off: that is no interruption, and it is made again.
    pub(super) fn waiting_call_was_lost(&mut self, node: &Path, open: &OpenCall, cause: EventCause) {
        let (used, told, call) = (Vec::new(), Vec::new(), open.number);
        let state = self.env.states.written(node, call);
        let event = EventKind::CallSuspended { node: node.clone(), call, used, told, state };
        let seq = self.emit(event, cause);
        self.make_due_call(node, EventCause::Event(seq));
    }

    /// The open operations of the nodes in a scope, and of the scope itself.
    pub(super) fn open_ops_within(&self, scope: &Path) -> Vec<(Path, u32)> {
        let mut open = Vec::new();
        let nodes = path::keys_within(&self.state.ops, scope).chain(self.state.ops.get_key_value(scope));
        for (node, ops) in nodes {
            let is_open = |op: &OpState| op.end.is_none() && (!op.dropped || op.has_children());
            let of_node = ops.iter().filter(|(_, op)| is_open(op)).map(|(op, _)| (node.clone(), op));
            open.extend(of_node);
        }
        open
    }

    /// Ends a sleep or a wait for a signal; cancels children.
    pub(super) fn cancel_op(&mut self, node: &Path, number: u32, cause: Seq) {
        let Some(op) = self.state.op(node, number) else {
            return self.broken(node, "an operation is cancelled that is gone");
        };
        match &op.children {
            // They are cancelling already, and in a run that is killed they are killed.
            Some(children) if children.cancelling => {
                let open =
                    if self.state.killed { children.open.values().cloned().collect() } else { Vec::new() };
                self.decision.extras.extend(open.into_iter().map(CommitExtra::Cancel));
            }
            Some(children) if !children.open.is_empty() => self.cancel_children(node, number, cause),
            Some(_) | None => self.end_op(node, number, OpOutcome::Cancelled {}, EventCause::Event(cause)),
        }
    }
}
