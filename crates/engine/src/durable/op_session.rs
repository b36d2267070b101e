//! What the actor of a run and a function that waits say to each other.
//!
//! Each question is looked up in what the step has recorded. Answers are given when what they rest on is durable, in
//! the order in which the function used them before, else in the order in which the operations ended; one at a time, so
//! that the first one wins a race. A function that has nothing to say for a while is suspended, when it has used every
//! answer that is there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rival_core::durable::{OpKey, Replay, ReplayResult};
use rival_core::event::BlockedReason;
use rival_core::failure::code;
use rival_core::machine::{AskedOp, CallOutcome, Effect, MachineInput, OnceRequest, OpRequest};
use rival_core::state::{OpState, StepOps};
use rival_core::{FailureRecord, Path, Time, Value};
use tokio::sync::oneshot;

use crate::call::live_calls::RunningCall;
use crate::call::values::RecordedValue;
use crate::durable::handle::{ChildInputCheck, GivenUp, OpMessage, OpReply};
use crate::durable::idle::IdleTracker;
use crate::run::actor::{Actor, PendingCommit};
use crate::run::mailbox::ActorMessage;

/// How long a function may do nothing but wait for operations before it is suspended.
const IDLE_MS: u64 = 10_000;
/// How often a run looks for such functions.
const IDLE_LOOK_MS: u64 = IDLE_MS / 2;

/// The questions of a call that wait for an answer, and its way through what is recorded.
pub(crate) struct OpSession {
    pub(crate) idle_tracker: Arc<IdleTracker>,
    replay: Replay,
    asks: BTreeMap<u32, WaitingRequest>,
    /// Those of them that have ended, and whose answer is not due yet.
    kept_back: BTreeSet<u32>,
    /// Those that it was given the answers of.
    given: Vec<u32>,
    /// What it wants to do once, if it asks for something else in the same breath; else the message.
    undecided: Vec<(WaitingRequest, String)>,
}

/// A question that waits for an answer.
struct WaitingRequest {
    id: u64,
    reply: oneshot::Sender<OpReply>,
}

impl OpSession {
    /// The answer that is next, if one is there and due: the one that was used first, else the one that is oldest.
    fn next_due(&self, ops: &StepOps) -> Option<u32> {
        let due = self.kept_back.iter().filter_map(|number| Some((*number, ops.get(*number)?)));
        let due = due.filter(|(_, op)| self.replay.is_due(op));
        let order = |op: &OpState| (op.used_no.unwrap_or(u32::MAX), op.end.map(|end| end.seq));
        due.min_by_key(|(_, op)| order(op)).map(|(number, _)| number)
    }

    /// Whether it has not asked for everything again that was asked for before, or has an answer coming.
    fn is_behind(&self, ops: Option<&StepOps>) -> bool {
        !self.replay.has_caught_up() || self.asks.keys().any(|number| has_ended(ops, *number).is_some())
    }

    /// Why the function cannot be what it was, if it waits for an answer that it was given after a question which it
    /// does not ask any more.
    fn never_asks_again(&self, ops: Option<&StepOps>) -> Option<String> {
        let coming: Vec<&OpState> = self.asks.keys().filter_map(|number| has_ended(ops, *number)).collect();
        let stuck = !coming.is_empty() && !coming.iter().any(|op| self.replay.is_due(op));
        stuck.then(|| self.replay.forgot(ops)).flatten()
    }

    pub(crate) fn new(idle_tracker: Arc<IdleTracker>, replay: Replay) -> Self {
        Self {
            idle_tracker,
            replay,
            asks: BTreeMap::new(),
            kept_back: BTreeSet::new(),
            given: Vec::new(),
            undecided: Vec::new(),
        }
    }
}

impl Actor {
    /// A function asks for something durable.
    pub(crate) fn handle_op_request(&mut self, ask: OpMessage, pending: &mut PendingCommit) {
        let OpMessage { node, call, id, key, hash, used, request, check, reply } = ask;
        let Some(running) = self.calls.get_mut(&node).filter(|running| running.number == call) else {
            return;
        };
        let Some(session) = &mut running.session else { return };
        let idle_tracker = Arc::clone(&session.idle_tracker);
        idle_tracker.heard();
        let ops = self.state.ops.get(&node);
        let op = match &request {
            OpRequest::Once(OnceRequest::Record(_)) => {
                session.replay.worked();
                ops.map_or(1, StepOps::next)
            }
            _ => match session.replay.ask(ops, &key, &hash, &used) {
                ReplayResult::Recorded(op) => {
                    session.asks.insert(op, WaitingRequest { id, reply });
                    idle_tracker.known(id);
                    return pending.effects.push(Effect::Answer { node, call, op });
                }
                ReplayResult::Mismatch(message) => return self.nondeterminism(&node, call, message, pending),
                ReplayResult::Undecided(message) => {
                    session.undecided.push((WaitingRequest { id, reply }, message));
                    // What it asks for in the same poll is in the inbox when that poll is over.
                    if idle_tracker.listens() {
                        self.links.mailbox.send(ActorMessage::ReplyWanted { node, call });
                    }
                    return;
                }
                ReplayResult::New if matches!(request, OpRequest::Once(OnceRequest::Begin)) => {
                    session.replay.working();
                    // A function that is gone needs no answer.
                    let _ = reply.send(OpReply::Do);
                    return;
                }
                ReplayResult::New => ops.map_or(1, StepOps::next),
            },
        };
        session.asks.insert(op, WaitingRequest { id, reply });
        session.replay.recorded(op);
        let request = match request {
            OpRequest::Once(OnceRequest::Record(Ok(value))) => {
                OpRequest::Once(OnceRequest::Record(self.small_enough(value)))
            }
            other => other,
        };
        let refused = self.refused(&request, &key.name, check);
        let OpKey { name, occurrence, .. } = key;
        let asked = AskedOp { node, call, name, occurrence, hash, after: used, request, refused };
        let lines = self.calls.get(&asked.node).map(RunningCall::unstored);
        // With the operation, because a call that finds it does not write them again.
        pending.logs.extend(lines.into_iter().flatten());
        self.decide(MachineInput::Op(asked), pending);
        idle_tracker.known(id);
    }

    /// A function gives an operation up.
    pub(crate) fn handle_op_dropped(&mut self, given_up: GivenUp, pending: &mut PendingCommit) {
        let GivenUp { node, call, key } = given_up;
        let Some(running) = self.calls.get_mut(&node).filter(|running| running.number == call) else {
            return;
        };
        let Some(session) = &mut running.session else { return };
        if let Some((op, _)) = self.state.ops.get(&node).and_then(|ops| ops.find(&key)) {
            session.replay.dropped(op);
            session.asks.remove(&op);
            session.kept_back.remove(&op);
            self.decide(MachineInput::OpDropped { node, call, op }, pending);
            return;
        }
        // Something that was to be done once, and is not recorded yet.
        session.replay.worked();
        let OpKey { name, occurrence, .. } = key;
        let (hash, after, refused) = (String::new(), Vec::new(), None);
        let request = OpRequest::Once(OnceRequest::Drop);
        let asked = AskedOp { node, call, name, occurrence, hash, after, request, refused };
        self.decide(MachineInput::Op(asked), pending);
    }

    /// A function has ended: replies that it did not use are discarded.
    pub(crate) fn give_up_unused(
        &mut self,
        node: &Path,
        call: u32,
        outcome: &CallOutcome,
        pending: &mut PendingCommit,
    ) {
        if !matches!(outcome, CallOutcome::Success { .. } | CallOutcome::Failure { .. }) {
            return;
        }
        let Some(running) = self.calls.get(node).filter(|running| running.number == call) else { return };
        let (Some(session), Some(ops)) = (&running.session, self.state.ops.get(node)) else { return };
        let used: BTreeSet<u32> = session.idle_tracker.used().into_iter().collect();
        for op in ops.unused(running.attempt).filter(|op| !used.contains(op)).collect::<Vec<_>>() {
            self.decide(MachineInput::OpDropped { node: node.clone(), call, op }, pending);
        }
    }

    /// The function has said what it asks for in one breath: it can be told.
    pub(crate) fn handle_reply_wanted(&mut self, node: &Path, call: u32, pending: &mut PendingCommit) {
        let Some(running) = self.calls.get_mut(node).filter(|running| running.number == call) else { return };
        let Some(session) = &mut running.session else { return };
        for (asking, message) in std::mem::take(&mut session.undecided) {
            // It was given up meanwhile.
            if asking.reply.is_closed() {
                continue;
            }
            if session.replay.is_alone() {
                return self.nondeterminism(node, call, message, pending);
            }
            session.replay.working();
            // A function that is gone needs no answer.
            let _ = asking.reply.send(OpReply::Do);
        }
        self.give_answers(node, call);
    }

    /// Why children cannot be started, as far as it is known here.
    fn refused(&self, request: &OpRequest, workflow: &str, check: ChildInputCheck) -> Option<FailureRecord> {
        match (request, check) {
            (OpRequest::Run { .. } | OpRequest::Map { .. }, Some(verdict)) => verdict.err(),
            (OpRequest::Run { input }, None) => self.refusal(workflow, std::slice::from_ref(input), false),
            (OpRequest::Map { items, .. }, None) => self.refusal(workflow, items, true),
            (OpRequest::Once(_) | OpRequest::Sleep(_) | OpRequest::Signal { .. }, _) => None,
        }
    }

    fn small_enough(&self, value: Value) -> Result<Value, FailureRecord> {
        let (size, limit) = (value.len_bytes(), self.shared.limits.payload_max);
        if size <= limit {
            return Ok(value);
        }
        let message = format!("what was done once gave {size} bytes, more than the limit of {limit}");
        Err(FailureRecord::new(code::TOO_LARGE, message))
    }

    /// The step is not what it was: it is blocked, and its function abandoned.
    fn nondeterminism(&mut self, node: &Path, call: u32, message: String, pending: &mut PendingCommit) {
        let outcome = CallOutcome::Blocked(BlockedReason::Nondeterminism { message });
        if let Some(running) = self.calls.remove(node) {
            running.abandon();
            pending.logs.extend(running.unstored());
            self.observe_call_end(node, call, running.began, &running.info.http, &outcome);
        }
        self.decide(MachineInput::CallFinished { node: node.clone(), call, outcome }, pending);
    }

    /// What a function that returned a result has to be held against.
    pub(crate) fn forgot(&self, node: &Path, call: u32) -> Option<String> {
        let running = self.calls.get(node).filter(|running| running.number == call)?;
        running.session.as_ref()?.replay.forgot(self.state.ops.get(node))
    }

    /// Operations have ended, or were asked for again: gives functions the answers that are there and due. All of them
    /// are known before the first is given, so that the one that ended first is.
    pub(crate) fn answer(&mut self, ended: &[(Path, u32, u32)]) {
        for (node, call, op) in ended {
            self.keep_back(node, *call, *op);
        }
        for (node, call, _) in ended {
            self.give_answers(node, *call);
        }
    }

    fn keep_back(&mut self, node: &Path, call: u32, op: u32) {
        let Some(running) = self.calls.get_mut(node).filter(|running| running.number == call) else { return };
        let Some(session) = &mut running.session else { return };
        if session.asks.contains_key(&op) && has_ended(self.state.ops.get(node), op).is_some() {
            session.kept_back.insert(op);
        }
    }

    /// Gives a function the answers that are due, each when it has had the time to act on the one before.
    pub(crate) fn give_answers(&mut self, node: &Path, call: u32) {
        let Some(running) = self.calls.get_mut(node).filter(|running| running.number == call) else { return };
        let (Some(session), Some(ops)) = (&mut running.session, self.state.ops.get(node)) else { return };
        while let Some(number) = session.next_due(ops) {
            if !session.idle_tracker.listens() {
                return;
            }
            session.kept_back.remove(&number);
            let (Some(asking), Some(op)) = (session.asks.remove(&number), ops.get(number)) else { continue };
            let Some(end) = op.end else { continue };
            let recorded = self.values.get(end.seq);
            let recorded = recorded
                .map_or(RecordedValue::Stored(end.seq), |event| RecordedValue::AtHand(Arc::clone(event)));
            let reply = OpReply::Ended {
                op: number,
                kind: op.key.kind,
                started: op.started,
                end: recorded,
                end_seq: end.seq,
                good: end.good,
            };
            session.given.push(number);
            session.idle_tracker.told(asking.id, || {
                // A function that is gone needs no answer.
                let _ = asking.reply.send(reply);
            });
        }
    }

    /// Lets go of functions that have done nothing but wait for a while, or at once if others want the room or the
    /// engine stops. One that has an answer coming, or has not asked again for all that it had asked for, is about to do
    /// something.
    pub(crate) fn suspend_idle(&mut self, pending: &mut PendingCommit) {
        if self.op_nodes.is_empty() {
            return;
        }
        let now = self.shared.clock.now();
        let room_wanted = self.shared.is_short_of_room() || self.shared.is_stopping();
        if !room_wanted && self.idle_check.is_none_or(|at| at > now) {
            return;
        }
        let idle = self.op_nodes.iter().filter_map(|node| {
            let running = self.calls.get(node)?;
            let session = running.session.as_ref()?;
            let long = session.idle_tracker.idle_since()?.plus_ms(IDLE_MS) <= now;
            let ops = self.state.ops.get(node);
            if session.is_behind(ops) {
                let message = session.never_asks_again(ops).filter(|_| long)?;
                return Some((node.clone(), running.number, Err(message)));
            }
            let waits = (long || room_wanted) && self.state.is_waiting(node);
            waits.then(|| {
                (node.clone(), running.number, Ok((session.idle_tracker.used(), session.given.clone())))
            })
        });
        for (node, call, waits) in idle.collect::<Vec<_>>() {
            let (used, told) = match waits {
                Ok(knows) => knows,
                Err(message) => {
                    self.nondeterminism(&node, call, message, pending);
                    continue;
                }
            };
            self.decide(MachineInput::Suspend { node: node.clone(), call, used, told }, pending);
            if self.state.node(&node).is_some_and(|node| node.open_call().is_none())
                && let Some(running) = self.calls.remove(&node)
            {
                running.abandon();
                pending.logs.extend(running.unstored());
            }
        }
        self.idle_check = None;
    }

    /// When the run looks for idle functions next.
    pub(crate) fn next_idle_check(&mut self) -> Option<Time> {
        let calls = &self.calls;
        self.op_nodes.retain(|node| calls.get(node).is_some_and(|running| running.session.is_some()));
        if self.op_nodes.is_empty() {
            self.idle_check = None;
        } else if self.idle_check.is_none() {
            self.idle_check = Some(self.shared.clock.now().plus_ms(IDLE_LOOK_MS));
        }
        self.idle_check
    }
}

/// An operation that has ended, and that its function has not given up.
fn has_ended(ops: Option<&StepOps>, number: u32) -> Option<&OpState> {
    ops?.get(number).filter(|op| op.end.is_some() && !op.dropped)
}
