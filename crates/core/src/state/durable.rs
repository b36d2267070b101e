//! Durable operations and children: how they change the state.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::signal::{AwaitedSignal, SignalWaiter};
use super::{NodePhase, NodeState, OpenCall, RunState, WaitReason, expected};
use crate::durable::{OpBody, OpKey, OpKind, OpOutcome};
use crate::event::DueCall;
use crate::failure::FailureRecord;
use crate::ids::{RunId, Seq, Time};
use crate::path::{self, Path};

/// The durable operations of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepOps {
    /// By number.
    all: BTreeMap<u32, OpState>,
    /// Those that a call can ask for again.
    by_key: BTreeMap<String, u32>,
    /// The last number that was given.
    last: u32,
    /// How many wait for something.
    waiting: u32,
    /// How many children have not ended.
    children: u32,
    /// Those that have ended, and that the function does not know of as far as the history says.
    fresh: BTreeSet<u32>,
    /// How many answers have been used.
    uses: u32,
    /// The last number that was given when a call of this attempt was suspended.
    #[serde(skip_serializing_if = "is_default")]
    suspended_at: u32,
}

/// A durable operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpState {
    /// Which one it is.
    pub key: OpKey,
    /// Names its arguments.
    pub hash: String,
    /// The attempt that asked for it.
    pub attempt: u32,
    /// The event that began it.
    pub started: Seq,
    /// How it ended, if it has.
    pub end: Option<OpEnd>,
    /// The operation that the function asked for next, once it had used this one's answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_by: Option<u32>,
    /// Which of the answers that the function used it was, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_no: Option<u32>,
    /// The function gave it up: it is never answered.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dropped: bool,
    /// When the signal was sent that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Time>,
    /// When a sleep or a wait for a signal ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// A timeout is a value rather than a failure.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_is_value: bool,
    /// The wait for a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<AwaitedSignal>,
    /// The children of a run or map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub children: Option<OpChildren>,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpEnd {
    /// The event that says so; of a signal that was taken, the one that holds it.
    pub seq: Seq,
    /// Whether it ended well, so that a later attempt finds it.
    pub good: bool,
}

/// The children of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpChildren {
    /// How many there will be.
    pub count: u32,
    /// How many may run at a time.
    pub window: u32,
    /// How many have been started.
    pub begun: u32,
    /// Those that have not ended.
    pub open: BTreeMap<u32, RunId>,
    /// Let all end, whatever becomes of some.
    pub collect: bool,
    /// They are cancelled: no call waits for them any more, or one of them failed.
    #[serde(rename = "stopping")]
    pub cancelling: bool,
    /// The event that told of the first failure.
    pub failed: Option<Seq>,
}

/// Whose child a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildRef {
    /// The step.
    pub node: Path,
    /// The operation.
    pub op: u32,
    /// Which item of a map.
    pub index: u32,
}

impl OpChildren {
    /// Whether another one may start.
    pub(crate) fn has_room(&self) -> bool {
        let open = u32::try_from(self.open.len()).unwrap_or(u32::MAX);
        let fails = self.failed.is_some() && !self.collect;
        open < self.window && self.begun < self.count && !fails && !self.cancelling
    }
}

impl StepOps {
    /// All operations by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &OpState)> {
        self.all.iter().map(|(number, op)| (*number, op))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpState> {
        self.all.values_mut()
    }

    /// An operation by number.
    pub fn get(&self, number: u32) -> Option<&OpState> {
        self.all.get(&number)
    }

    /// An operation that a call can ask for again.
    pub fn find(&self, key: &OpKey) -> Option<(u32, &OpState)> {
        let number = *self.by_key.get(&word(key))?;
        Some((number, self.all.get(&number)?))
    }

    /// The number of the next one.
    pub fn next(&self) -> u32 {
        self.last + 1
    }

    /// The operations of an attempt that have ended and whose answers the function has not used, as far as the history
    /// says.
    pub fn unused(&self, attempt: u32) -> impl Iterator<Item = u32> {
        let unused = move |op: &OpState| {
            op.attempt == attempt && op.end.is_some() && op.used_no.is_none() && !op.dropped
        };
        self.iter().filter(move |(_, op)| unused(op)).map(|(number, _)| number)
    }

    /// The operations that have ended and that the function does not know of, as far as the history says.
    pub fn fresh(&self) -> impl Iterator<Item = u32> {
        self.fresh.iter().copied()
    }

    /// Whether there are any.
    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Whether a call of this attempt was suspended, and nothing has been asked for since.
    pub(crate) fn was_suspended_last(&self) -> bool {
        self.suspended_at > 0 && self.suspended_at == self.last
    }

    /// Whether children have not ended.
    pub(super) fn has_children(&self) -> bool {
        self.children > 0
    }

    /// How many answers an attempt has been given, or could be.
    fn answers(&self, attempt: u32) -> u64 {
        let answered = self.all.values().filter(|op| op.attempt == attempt && op.end.is_some());
        u64::try_from(answered.count()).unwrap_or(u64::MAX)
    }

    /// The function used an answer, and asked for `by` next.
    fn used(&mut self, number: u32, by: Option<u32>) {
        self.fresh.remove(&number);
        let Some(op) = self.all.get_mut(&number) else { return };
        op.used_by = op.used_by.or(by);
        if op.used_no.is_none() {
            self.uses += 1;
            op.used_no = Some(self.uses);
        }
    }

    /// A new attempt finds what went well before, in whatever order it asks. Later calls of the attempt go its way again:
    /// what it used and gave up of that stays so.
    fn begin_attempt(&mut self, attempt: u32) {
        self.suspended_at = 0;
        let past: Vec<u32> = self.iter().filter(|(_, op)| op.attempt != attempt).map(|(no, _)| no).collect();
        for number in past {
            match self.all.get_mut(&number) {
                Some(op) if op.is_for_later_attempts() => {
                    (op.used_by, op.used_no, op.dropped) = (None, None, false);
                    self.fresh.remove(&number);
                }
                // Their step's last call has ended, and they are being cancelled.
                Some(op) if op.has_children() => {}
                _ => self.remove(number),
            }
        }
    }

    /// Forgets an operation that no call can ask for any more.
    fn remove(&mut self, number: u32) {
        self.fresh.remove(&number);
        let Some(op) = self.all.remove(&number) else { return };
        self.hide(number, &op.key);
    }

    fn hide(&mut self, number: u32, key: &OpKey) {
        let key = word(key);
        if self.by_key.get(&key) == Some(&number) {
            self.by_key.remove(&key);
        }
    }
}

impl OpState {
    /// Whether a function waits for it without working.
    fn waits(&self) -> bool {
        self.end.is_none() && !self.dropped && self.key.kind != OpKind::Once
    }

    /// Whether a child could start that has not: the run was paused, or its engine was stopping.
    pub(crate) fn has_children_to_start(&self) -> bool {
        self.end.is_none() && !self.dropped && self.children.as_ref().is_some_and(OpChildren::has_room)
    }

    pub(crate) fn has_children(&self) -> bool {
        self.children.as_ref().is_some_and(|children| !children.open.is_empty())
    }

    /// Whether a later attempt is given what came of it. A signal that was given up is kept for the next wait instead.
    fn is_for_later_attempts(&self) -> bool {
        let gone = self.dropped && self.key.kind == OpKind::Signal;
        self.end.is_some_and(|end| end.good) && !gone
    }
}

/// A key as text, because a map in a snapshot has such keys.
fn word(key: &OpKey) -> String {
    format!("{}#{}/{}", key.kind.word(), key.occurrence, key.name)
}

impl RunState {
    /// Whether children could start that have not.
    pub fn has_children_to_start(&self) -> bool {
        self.ops.values().any(|ops| ops.iter().any(|(_, op)| op.has_children_to_start()))
    }

    /// Whether a step was suspended, and an operation of it has ended that it may not have been told of.
    pub fn has_answers_to_give(&self, node: &Path) -> bool {
        self.is_suspended(node) && self.ops.get(node).is_some_and(StepOps::has_fresh)
    }

    /// How many answers an attempt of a step has been given, or could be: a call that goes its way again has that much
    /// more to do.
    pub(crate) fn answers(&self, node: &Path, attempt: u32) -> u64 {
        self.ops.get(node).map_or(0, |ops| ops.answers(attempt))
    }

    /// Whether children of nodes inside of a scope, or of the scope itself, have not ended.
    pub fn children_open_within(&self, scope: &Path) -> bool {
        if scope.is_root() {
            return !self.index.parents.is_empty();
        }
        self.index.parents.contains(scope) || path::within(&self.index.parents, scope).next().is_some()
    }

    /// An operation of a step.
    pub fn op(&self, node: &Path, op: u32) -> Option<&OpState> {
        self.ops.get(node)?.get(op)
    }

    /// The call at work, for changes that do not move its deadline.
    fn open_call_mut(&mut self, node: &Path) -> Option<&mut OpenCall> {
        match &mut self.nodes.get_mut(node)?.phase {
            NodePhase::Calling { call, .. } => Some(call),
            NodePhase::Idle
            | NodePhase::Held { .. }
            | NodePhase::Waiting { .. }
            | NodePhase::Blocked { .. } => None,
        }
    }

    pub(super) fn op_mut(&mut self, node: &Path, op: u32) -> Option<&mut OpState> {
        self.ops.get_mut(node)?.all.get_mut(&op)
    }

    /// Whether a step's call was suspended inside an operation: it is called again when an answer is there.
    pub(crate) fn is_suspended(&self, node: &Path) -> bool {
        self.node(node).is_some_and(NodeState::is_suspended)
    }

    /// Whether a call waits inside an operation.
    pub fn is_waiting(&self, node: &Path) -> bool {
        self.index.calls_waiting.contains(node)
    }

    /// A function has used the answers of these operations, and asked for a new one then.
    pub(super) fn ops_used(&mut self, node: &Path, after: &[u32], by: u32) {
        let ops = self.ops.entry(node.clone()).or_default();
        after.iter().for_each(|used| ops.used(*used, Some(by)));
    }

    pub(super) fn op_ended_with(&mut self, node: &Path, op: u32, outcome: &OpOutcome, seq: Seq, at: Time) {
        match outcome {
            OpOutcome::Done {} => {
                // A map in which a child failed is asked for again by the next attempt, unless it collects.
                let children = self.op(node, op).and_then(|op| op.children.as_ref());
                let good = children.is_none_or(|it| it.failed.is_none() || it.collect);
                self.op_ended(node, op, seq, good, at);
            }
            OpOutcome::Value(_) => self.op_ended(node, op, seq, true, at),
            OpOutcome::Failed(_) => self.op_ended(node, op, seq, false, at),
            OpOutcome::Cancelled {} => {
                self.call_was_told(node);
                self.op_ended(node, op, seq, false, at);
            }
            OpOutcome::Left {} => {
                self.call_was_told(node);
                self.leave_children(node, op);
                self.op_ended(node, op, seq, false, at);
            }
        }
    }

    /// What a call waits for is cancelled. If something around it is ending, the call may take that for a word to stop.
    pub(super) fn call_was_told(&mut self, node: &Path) {
        let ending = self.is_ending(node);
        if let Some(call) = self.open_call_mut(node) {
            call.told |= ending;
        }
    }

    pub(super) fn child_retried(&mut self, node: &Path, op: u32, index: u32, child: &RunId, next: &RunId) {
        if let Some(owner) = self.children.remove(child) {
            self.children.insert(next.clone(), owner);
        }
        if let Some(children) = self.op_mut(node, op).and_then(|op| op.children.as_mut()) {
            children.open.insert(index, next.clone());
        }
    }

    pub(super) fn child_undone(&mut self, node: &Path, undo: &RunId, failure: Option<&FailureRecord>) {
        self.undo.child_ended(undo, failure);
        // What it returned no longer holds, so a run that goes on from here does not take it over.
        if let Some(state) = self.nodes.get_mut(node).filter(|_| failure.is_none()) {
            state.undone = true;
        }
    }

    pub(super) fn op_started(
        &mut self,
        node: &Path,
        number: u32,
        key: OpKey,
        hash: &str,
        what: &OpBody,
        seq: Seq,
    ) {
        let attempt = self.node(node).map_or(1, |node| node.attempts);
        let mut op = OpState {
            key,
            hash: hash.to_owned(),
            attempt,
            started: seq,
            end: None,
            used_by: None,
            used_no: None,
            dropped: false,
            taken: None,
            until: None,
            timeout_is_value: false,
            awaited: None,
            children: None,
        };
        match what {
            OpBody::Once {} => {}
            OpBody::Sleep { until } => op.until = Some(*until),
            OpBody::Signal { until, timeout_is_value } => {
                op.until = *until;
                op.timeout_is_value = *timeout_is_value;
                let awaited = AwaitedSignal { name: op.key.name.clone(), since: seq };
                self.signals
                    .wait(&awaited, SignalWaiter { node: node.clone(), op: Some(number), until: *until });
                op.awaited = Some(awaited);
            }
            OpBody::Run { .. } => {
                op.children = Some(OpChildren { count: 1, window: 1, ..OpChildren::default() });
            }
            OpBody::Map { items, concurrency, collect } => {
                let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
                let (window, collect) = (*concurrency, *collect);
                op.children = Some(OpChildren { count, window, collect, ..OpChildren::default() });
            }
        }
        self.op_timer_set(node, number, op.until);
        let waits = op.waits();
        let ops = self.ops.entry(node.clone()).or_default();
        ops.last = number;
        ops.by_key.insert(word(&op.key), number);
        ops.all.insert(number, op);
        if waits {
            ops.waiting += 1;
            self.call_waits(node);
        }
    }

    /// A call that goes the way of an earlier one again has come to its end: from now on its time is that of a stretch
    /// of work.
    pub(super) fn call_comes_to_something_new(&mut self, node: &Path, number: u32) {
        if let Some(call) = self.open_call_mut(node).filter(|call| call.number == number) {
            call.replays = false;
        }
    }

    /// A call waits for an operation: its time does not run.
    fn call_waits(&mut self, node: &Path) {
        let call = self.node(node).and_then(NodeState::open_call);
        if let Some(deadline) = call.map(|call| call.deadline) {
            self.set_waits(node, true, deadline);
        }
    }

    /// It goes on, with all the time that a stretch of work has. One that goes the way of an earlier call again does all
    /// stretches up to here once more.
    fn call_goes_on(&mut self, node: &Path, at: Time) {
        if !self.is_waiting(node) {
            return;
        }
        let Some(call) = self.node(node).and_then(NodeState::open_call) else { return };
        let answers = if call.replays { self.answers(node, call.attempt) } else { 0 };
        let deadline = call.limit_ms.map(|ms| at.plus_ms(ms.saturating_mul(1 + answers)));
        self.set_waits(node, false, deadline);
    }

    /// A call begins: the operations that its step has open are waited for already.
    pub(super) fn call_finds_ops(&mut self, node: &Path, attempt: u32, is_new_attempt: bool) {
        let Some(ops) = self.ops.get_mut(node) else { return };
        if is_new_attempt {
            ops.begin_attempt(attempt);
        }
        let (waits, replays) = (ops.waiting > 0, ops.all.values().any(|op| op.attempt == attempt));
        if let Some(call) = self.open_call_mut(node) {
            call.replays = replays;
        }
        if waits {
            self.call_waits(node);
        }
    }

    /// A call has ended with an outcome: what it still waited for is dropped, children are to be cancelled.
    pub(super) fn close_ops(&mut self, node: &Path) {
        let over = self.node(node).is_some_and(NodeState::has_ended);
        let Some(ops) = self.ops.get_mut(node) else { return };
        ops.waiting = 0;
        ops.fresh.clear();
        let (mut dropped, mut hidden, mut timers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, op) in &mut ops.all {
            if op.end.is_none() {
                timers.push((*number, op.until));
                if let Some(awaited) = op.awaited.take() {
                    self.signals.stop(&awaited);
                }
            }
            if op.has_children() {
                hidden.push((*number, op.key.clone()));
                let cancelling = op.children.as_ref().is_some_and(|children| children.cancelling);
                if !cancelling {
                    self.orphaned.insert((node.clone(), *number));
                }
            } else if over || op.end.is_none() {
                dropped.push(*number);
            }
        }
        dropped.into_iter().for_each(|number| ops.remove(number));
        hidden.into_iter().for_each(|(number, key)| ops.hide(number, &key));
        if ops.all.is_empty() && over {
            self.ops.remove(node);
        }
        timers.into_iter().for_each(|(number, until)| self.op_timer_gone(node, number, until));
    }

    pub(super) fn op_ended(&mut self, node: &Path, number: u32, seq: Seq, good: bool, at: Time) {
        let Some(op) = expected(self.op_mut(node, number), "an operation that ends has begun") else {
            return;
        };
        let waited = op.waits();
        let is_news = op.end.is_none() && !op.dropped;
        op.end.get_or_insert(OpEnd { seq, good });
        let (until, awaited) = (op.until, op.awaited.take());
        self.op_timer_gone(node, number, until);
        if let Some(awaited) = awaited {
            self.signals.stop(&awaited);
        }
        self.orphaned.remove(&(node.clone(), number));
        if let Some(ops) = self.ops.get_mut(node).filter(|_| is_news) {
            ops.fresh.insert(number);
        }
        if waited {
            self.one_less_waits(node, at);
        }
        self.forget_if_over(node, number);
    }

    /// A signal was taken that was sent at this moment.
    pub(super) fn op_took(&mut self, node: &Path, number: u32, sent_at: Option<Time>) {
        if let Some(op) = self.op_mut(node, number) {
            op.taken = sent_at;
        }
    }

    /// The function gave an operation up. What it waits for is dropped, its children are to be cancelled, and a signal
    /// that it took is kept again where it was.
    pub(super) fn op_dropped(&mut self, node: &Path, number: u32, at: Time) {
        let Some(op) = expected(self.op_mut(node, number), "an operation that is dropped has begun") else {
            return;
        };
        let waited = op.waits();
        op.dropped = true;
        let (until, awaited) = (op.until, op.awaited.take());
        let taken = op.taken.take().zip(op.end).map(|(sent_at, end)| (op.key.name.clone(), end.seq, sent_at));
        let has_orphans = op.children.as_ref().is_some_and(|it| !it.open.is_empty() && !it.cancelling);
        self.op_timer_gone(node, number, until);
        if let Some(awaited) = awaited {
            self.signals.stop(&awaited);
        }
        if let Some((name, signal, sent_at)) = taken {
            self.signals.keep(&name, signal, sent_at);
        }
        if has_orphans {
            self.orphaned.insert((node.clone(), number));
        }
        if let Some(ops) = self.ops.get_mut(node) {
            ops.fresh.remove(&number);
        }
        if waited {
            self.one_less_waits(node, at);
        }
    }

    fn one_less_waits(&mut self, node: &Path, at: Time) {
        let Some(ops) = expected(self.ops.get_mut(node), "a step that waits has operations") else { return };
        ops.waiting = ops.waiting.saturating_sub(1);
        if ops.waiting == 0 {
            self.call_goes_on(node, at);
        }
    }

    pub(super) fn child_started(&mut self, node: &Path, op: u32, index: u32, child: &RunId) {
        self.children_started += 1;
        self.children.insert(child.clone(), ChildRef { node: node.clone(), op, index });
        if let Some(ops) = self.ops.get_mut(node) {
            ops.children += 1;
        }
        self.children_changed(node);
        if let Some(children) = self.op_mut(node, op).and_then(|op| op.children.as_mut()) {
            children.begun += 1;
            children.open.insert(index, child.clone());
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one event's fields")]
    pub(super) fn child_ended(
        &mut self,
        node: &Path,
        number: u32,
        index: u32,
        child: &RunId,
        good: bool,
        seq: Seq,
        at: Time,
    ) {
        self.children.remove(child);
        self.children_less(node, 1);
        let Some(op) = expected(self.op_mut(node, number), "a child that ends has its operation") else {
            return;
        };
        let single = op.key.kind == OpKind::Run;
        let Some(children) = expected(op.children.as_mut(), "a child's operation has children") else {
            return;
        };
        children.open.remove(&index);
        if !good && children.failed.is_none() {
            children.failed = Some(seq);
        }
        if single {
            self.op_ended(node, number, seq, good, at);
        } else {
            self.forget_if_over(node, number);
        }
    }

    fn leave_children(&mut self, node: &Path, number: u32) {
        let children = self.op_mut(node, number).and_then(|op| op.children.as_mut());
        let Some(children) = expected(children, "children that are left are there") else { return };
        let left = std::mem::take(&mut children.open);
        self.children_less(node, u32::try_from(left.len()).unwrap_or(u32::MAX));
        for child in left.into_values() {
            self.children.remove(&child);
        }
    }

    fn children_less(&mut self, node: &Path, ended: u32) {
        if let Some(ops) = self.ops.get_mut(node) {
            ops.children = ops.children.saturating_sub(ended);
        }
        self.children_changed(node);
    }

    /// The operation of a call that is over has ended, its children too: it will not be asked for again.
    fn forget_if_over(&mut self, node: &Path, number: u32) {
        let over = self.node(node).is_none_or(NodeState::has_ended);
        let Some(ops) = self.ops.get_mut(node) else { return };
        let hidden = ops.all.get(&number).is_some_and(|op| ops.by_key.get(&word(&op.key)) != Some(&number));
        let open = ops.all.get(&number).is_some_and(OpState::has_children);
        if (over || hidden) && !open {
            ops.remove(number);
        }
        if ops.all.is_empty() && over {
            self.ops.remove(node);
        }
    }

    pub(super) fn call_suspended(&mut self, node: &Path, used: &[u32], told: &[u32]) {
        if let Some(ops) = self.ops.get_mut(node) {
            used.iter().for_each(|number| ops.used(*number, None));
            ops.fresh.retain(|number| !told.contains(number));
            ops.suspended_at = ops.last;
        }
        let Some(call) = expected(self.close_call(node), "a call that is suspended is at work") else {
            return;
        };
        let due = Some(DueCall { role: call.role, attempt: call.attempt });
        self.set_phase(node, NodePhase::Waiting { why: WaitReason::Answer, due, until: None });
        self.entry(node).acted |= call.undoable;
    }

    pub(super) fn clear_durable(&mut self) {
        self.signals.clear();
        self.ops.clear();
        self.children.clear();
        self.orphaned.clear();
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
