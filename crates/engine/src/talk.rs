//! What the actor of a run and a function that waits say to each other.
//!
//! Each question is looked up in what the step has recorded. Answers are given when what they rest on is durable, in
//! the order in which the function used them before. A function that has nothing to say for a while is let go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rival_core::durable::{Found, OpKey, Replay};
use rival_core::event::BlockedReason;
use rival_core::failure::code;
use rival_core::machine::{AskedBody, AskedOp, Effect, Input, Outcome};
use rival_core::state::Ops;
use rival_core::{Failure, Path, Time, Value};
use tokio::sync::oneshot;

use crate::actor::{Actor, Work};
use crate::durable::{Ask, Question, Reply};
use crate::pulse::Pulse;
use crate::shared::Shared;
use crate::values::Recorded;

/// How long a function may do nothing but wait for operations before it is let go.
const IDLE_MS: u64 = 10_000;
/// How often a run looks for such functions.
const IDLE_LOOK_MS: u64 = IDLE_MS / 2;
/// The questions of a call that wait for an answer, and its way through what is recorded.
pub(crate) struct Talk {
    pub(crate) pulse: Arc<Pulse>,
    replay: Replay,
    asks: BTreeMap<u32, oneshot::Sender<Reply>>,
    /// Those of them that have ended, and whose answer is not due yet.
    kept_back: BTreeSet<u32>,
}

impl Talk {
    pub(crate) fn new(pulse: Arc<Pulse>, replay: Replay) -> Self {
        Self { pulse, replay, asks: BTreeMap::new(), kept_back: BTreeSet::new() }
    }
}

impl Actor {
    /// A function asks for something durable.
    pub(crate) fn asked(&mut self, ask: Ask, work: &mut Work) {
        let Ask { node, call, id, key, hash, used, what, reply } = ask;
        let Some(running) = self.calls.get_mut(&node).filter(|running| running.number == call) else {
            return;
        };
        let Some(talk) = &mut running.talk else { return };
        let pulse = Arc::clone(&talk.pulse);
        let ops = self.state.ops.get(&node);
        let op = match &what {
            Question::Done(_) => {
                talk.replay.worked();
                ops.map_or(1, Ops::next)
            }
            _ => match talk.replay.ask(ops, &key, &hash, &used) {
                Found::Recorded(op) => {
                    talk.asks.insert(op, reply);
                    pulse.known(id);
                    return work.effects.push(Effect::Answer { node, call, op });
                }
                Found::Mismatch(message) => return self.nondeterminism(&node, call, message, work),
                Found::New if matches!(what, Question::Once) => {
                    talk.replay.working();
                    // A function that is gone needs no answer.
                    let _ = reply.send(Reply::Do);
                    return;
                }
                Found::New => ops.map_or(1, Ops::next),
            },
        };
        talk.asks.insert(op, reply);
        talk.replay.recorded(op);
        let what = self.body_of(what, &key.name);
        let OpKey { name, occurrence, .. } = key;
        let asked = AskedOp { node, call, name, occurrence, hash, after: used, what };
        self.decide(Input::Op(asked), work);
        pulse.known(id);
    }

    fn body_of(&self, question: Question, workflow: &str) -> AskedBody {
        match question {
            // Answered before it comes to this.
            Question::Once => AskedBody::Once(Ok(Value::null())),
            Question::Done(outcome) => AskedBody::Once(outcome.and_then(|value| self.small_enough(value))),
            Question::Sleep(ms) => AskedBody::Sleep(ms),
            Question::Signal { timeout_ms, timeout_is_value } => {
                AskedBody::Signal { timeout_ms, timeout_is_value }
            }
            Question::Run { input } => {
                let refused = self.refusal(workflow, std::slice::from_ref(&input), false);
                AskedBody::Run { input, refused }
            }
            Question::Map { items, concurrency, collect } => {
                let refused = self.refusal(workflow, &items, true);
                AskedBody::Map { items, concurrency, collect, refused }
            }
        }
    }

    fn small_enough(&self, value: Value) -> Result<Value, Failure> {
        let (size, limit) = (value.len_bytes(), self.shared.limits.payload_max);
        if size <= limit {
            return Ok(value);
        }
        let message = format!("what was done once gave {size} bytes, more than the limit of {limit}");
        Err(Failure::new(code::TOO_LARGE, message))
    }

    /// The step is not what it was: it is blocked, and its function let go.
    fn nondeterminism(&mut self, node: &Path, call: u32, message: String, work: &mut Work) {
        let outcome = Outcome::Blocked(BlockedReason::Nondeterminism { message });
        if let Some(running) = self.calls.remove(node) {
            running.abandon();
            work.logs.extend(running.unstored());
            self.tell_called(node, call, running.began, &outcome);
        }
        self.decide(Input::CallFinished { node: node.clone(), call, outcome }, work);
    }

    /// What a function that returned a result has to be held against.
    pub(crate) fn forgot(&self, node: &Path, call: u32) -> Option<String> {
        let running = self.calls.get(node).filter(|running| running.number == call)?;
        running.talk.as_ref()?.replay.forgot(self.state.ops.get(node))
    }

    /// An operation has ended, or was asked for again: gives a function the answers that are there and due.
    pub(crate) fn answer(&mut self, node: &Path, call: u32, op: u32) {
        let Some(running) = self.calls.get_mut(node).filter(|running| running.number == call) else { return };
        let (Some(talk), Some(ops)) = (&mut running.talk, self.state.ops.get(node)) else { return };
        if talk.asks.contains_key(&op) && ops.get(op).is_some_and(|op| op.end.is_some()) {
            talk.kept_back.insert(op);
        }
        let replay = &talk.replay;
        let is_due = |number: &u32| ops.get(*number).is_some_and(|op| replay.is_due(op));
        let due: Vec<u32> = talk.kept_back.iter().copied().filter(is_due).collect();
        for number in due {
            talk.kept_back.remove(&number);
            let (Some(reply), Some(op)) = (talk.asks.remove(&number), ops.get(number)) else { continue };
            let Some(end) = op.end else { continue };
            let recorded = self.values.get(end.seq);
            let recorded =
                recorded.map_or(Recorded::Stored(end.seq), |event| Recorded::AtHand(Arc::clone(event)));
            // A function that is gone needs no answer.
            let _ = reply.send(Reply::Ended {
                op: number,
                kind: op.key.kind,
                started: op.started,
                end: recorded,
                end_seq: end.seq,
                good: end.good,
            });
        }
    }

    /// Lets go of functions that have done nothing but wait for a while, or at once if others want the room or the
    /// engine stops.
    pub(crate) fn let_go_of_idle(&mut self, work: &mut Work) {
        let now = self.shared.clock.now();
        let room_wanted = self.shared.is_short_of_room() || self.shared.is_stopping();
        if self.talking.is_empty() || !(room_wanted || self.idle_look.is_some_and(|at| at <= now)) {
            return;
        }
        let idle = self.talking.iter().filter_map(|node| {
            let running = self.calls.get(node)?;
            let since = running.talk.as_ref()?.pulse.idle_since()?;
            let long = since.plus_ms(IDLE_MS) <= now || room_wanted;
            (long && self.state.is_waiting(node)).then(|| (node.clone(), running.number))
        });
        for (node, call) in idle.collect::<Vec<_>>() {
            // It waits for an answer that it was given after a question which it does not ask any more.
            if let Some(message) = self.never_asks_again(&node) {
                self.nondeterminism(&node, call, message, work);
                continue;
            }
            self.decide(Input::Suspend { node: node.clone(), call }, work);
            if self.state.node(&node).is_some_and(|node| node.call.is_none())
                && let Some(running) = self.calls.remove(&node)
            {
                running.abandon();
                work.logs.extend(running.unstored());
            }
        }
        self.idle_look = None;
    }

    fn never_asks_again(&self, node: &Path) -> Option<String> {
        let talk = self.calls.get(node)?.talk.as_ref()?;
        let ops = self.state.ops.get(node);
        (!talk.kept_back.is_empty()).then(|| talk.replay.forgot(ops)).flatten()
    }

    /// When the run looks for idle functions next.
    pub(crate) fn next_idle_look(&mut self) -> Option<Time> {
        let calls = &self.calls;
        self.talking.retain(|node| calls.get(node).is_some_and(|running| running.talk.is_some()));
        if self.talking.is_empty() {
            self.idle_look = None;
        } else if self.idle_look.is_none() {
            self.idle_look = Some(self.shared.clock.now().plus_ms(IDLE_LOOK_MS));
        }
        self.idle_look
    }
}

impl Shared {
    /// Whether somebody who wants to begin finds no room.
    pub(crate) fn is_short_of_room(&self) -> bool {
        self.keeper.wants_room() && self.room() == 0
    }
}
