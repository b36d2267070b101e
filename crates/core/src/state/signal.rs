//! Signals that wait to be taken, and waits for signals: how they change the state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{NodePhase, RunState, WaitReason};
use crate::failure::FailureRecord;
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::status::NodeStatus;

/// Signals and the waits for them, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignalQueues {
    /// Signals that were not taken, the oldest first: their events, and when they were sent.
    kept: BTreeMap<String, BTreeMap<Seq, Time>>,
    /// Waits that have taken nothing, the oldest first, by the event that began them.
    waits: BTreeMap<String, BTreeMap<Seq, SignalWaiter>>,
    /// How many signals are kept, under all names.
    count: usize,
}

/// Who waits for a signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalWaiter {
    /// The node.
    pub node: Path,
    /// The operation of it, if it is a step.
    pub op: Option<u32>,
    /// When it stops waiting.
    pub until: Option<Time>,
}

/// A wait for a signal, as its node or operation knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedSignal {
    /// The signal's name.
    pub name: String,
    /// The event that began the wait.
    pub since: Seq,
}

impl SignalQueues {
    /// How many signals were not taken.
    pub fn kept(&self) -> usize {
        self.count
    }

    /// Whether a wait for one is open.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Whether a wait for one of this name is open.
    pub fn is_awaited_by_name(&self, name: &str) -> bool {
        self.waits.contains_key(name)
    }

    /// The oldest signal and the oldest wait of a name, with the event that began it, if there are both.
    pub(crate) fn pair(&self, name: &str) -> Option<(Seq, Time, Seq, &SignalWaiter)> {
        let (signal, sent_at) = self.kept.get(name)?.first_key_value()?;
        let (since, wait) = self.waits.get(name)?.first_key_value()?;
        Some((*signal, *sent_at, *since, wait))
    }

    /// Whether a signal is kept that is waited for.
    fn has_pair(&self) -> bool {
        self.kept.keys().any(|name| self.waits.contains_key(name))
    }

    /// The names that have both signals and waits.
    pub(crate) fn paired(&self) -> Vec<String> {
        self.kept.keys().filter(|name| self.waits.contains_key(*name)).cloned().collect()
    }

    pub(super) fn keep(&mut self, name: &str, signal: Seq, sent_at: Time) {
        self.kept.entry(name.to_owned()).or_default().insert(signal, sent_at);
        self.count += 1;
    }

    /// Gives when it was sent.
    fn take(&mut self, name: &str, signal: Seq) -> Option<Time> {
        let sent_at = remove(&mut self.kept, name, signal)?;
        self.count -= 1;
        Some(sent_at)
    }

    pub(super) fn wait(&mut self, awaited: &AwaitedSignal, wait: SignalWaiter) {
        self.waits.entry(awaited.name.clone()).or_default().insert(awaited.since, wait);
    }

    pub(super) fn stop(&mut self, awaited: &AwaitedSignal) {
        remove(&mut self.waits, &awaited.name, awaited.since);
    }

    /// No signal was sent later than now, and waits end as much later as they would have.
    pub(super) fn set_clock_back(&mut self, by_ms: u64, now: Time) {
        let sent = self.kept.values_mut().flat_map(BTreeMap::values_mut);
        sent.for_each(|sent_at| *sent_at = (*sent_at).min(now));
        let waits = self.waits.values_mut().flat_map(BTreeMap::values_mut);
        waits.for_each(|wait| wait.until = wait.until.map(|until| until.minus_ms(by_ms)));
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

fn remove<T>(map: &mut BTreeMap<String, BTreeMap<Seq, T>>, name: &str, seq: Seq) -> Option<T> {
    let inner = map.get_mut(name)?;
    let removed = inner.remove(&seq);
    if inner.is_empty() {
        map.remove(name);
    }
    removed
}

impl RunState {
    /// Whether a signal is there for a wait that could take it.
    fn has_signals_to_take(&self) -> bool {
        self.ending.is_none() && self.signals.has_pair()
    }

    /// Whether something could begin that was held back, by an orderly stop above all: an engine has to load the run
    /// at once.
    pub fn is_held_back(&self) -> bool {
        let any = !self.index.held.is_empty()
            || self.has_children_to_start()
            || self.has_signals_to_take()
            || self.index.waits.iter().any(|node| self.has_answers_to_give(node));
        any && !self.paused
    }

    pub(super) fn signal_awaited(
        &mut self,
        node: &Path,
        name: &str,
        until: Option<Time>,
        seq: Seq,
        at: Time,
    ) {
        self.begin(node, at);
        let awaited = AwaitedSignal { name: name.to_owned(), since: seq };
        self.signals.wait(&awaited, SignalWaiter { node: node.clone(), op: None, until });
        self.set_phase(node, NodePhase::Waiting { why: WaitReason::Signal(awaited), due: None, until });
    }

    pub(super) fn signal_taken(&mut self, node: &Path, op: Option<u32>, signal: Seq, at: Time) {
        let name = self.awaited(node, op).map(|awaited| awaited.name.clone());
        let sent_at = name.and_then(|name| self.signals.take(&name, signal));
        match op {
            Some(op) => {
                self.op_took(node, op, sent_at);
                self.op_ended(node, op, signal, true, at);
            }
            None => self.signal_gave(node, signal, at),
        }
    }

    pub(super) fn signal_timed_out(
        &mut self,
        node: &Path,
        op: Option<u32>,
        failure: Option<&FailureRecord>,
        seq: Seq,
        at: Time,
    ) {
        match (op, failure) {
            (Some(op), _) => self.op_ended(node, op, seq, failure.is_none(), at),
            (None, Some(failure)) => {
                self.fail_node(node, seq, at, failure);
            }
            (None, None) => self.signal_gave(node, seq, at),
        }
    }

    /// A signal node ends with what an event holds.
    fn signal_gave(&mut self, node: &Path, result: Seq, at: Time) {
        self.end_node(node, NodeStatus::Completed, at);
        self.entry(node).result = Some(result);
    }

    fn awaited(&self, node: &Path, op: Option<u32>) -> Option<&AwaitedSignal> {
        match op {
            Some(op) => self.op(node, op)?.awaited.as_ref(),
            None => self.node(node)?.awaited(),
        }
    }
}
