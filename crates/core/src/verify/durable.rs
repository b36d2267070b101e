//! The rules of signals, durable operations and children.

use std::collections::{BTreeMap, BTreeSet};

use super::{HistoryRule, RuleViolation};
use crate::durable::{OpBody, OpOutcome};
use crate::event::{Event, EventKind};
use crate::ids::{RunId, Seq, Time};
use crate::path::Path;

pub(super) fn check(events: &[Event], violations: &mut Vec<RuleViolation>) {
    let mut history = DurableChecker { violations, facts: DurableFacts::default() };
    for event in events {
        history.check_event(event);
    }
    history.rests(events.last().map_or(Seq::ZERO, |event| event.seq));
}

/// The first version in which a call that is suspended says which answers it has used.
const SAYS_WHAT_IT_USED: u32 = 5;

/// Who waits for a signal or does an operation: a node, or an operation of it.
type WaitOwner = (Path, Option<u32>);

/// The signal that an operation took: its event, its name and when it was sent.
type TakenSignal = Option<(Seq, String, Time)>;

#[derive(Default)]
struct DurableFacts {
    /// Signals that were not taken: name and when they were sent.
    kept: BTreeMap<Seq, (String, Time)>,
    /// Waits for signals: since when, name, deadline.
    waits: BTreeMap<WaitOwner, (Seq, String, Option<Time>)>,
    /// Operations that have not ended, with the moment of a sleep.
    open: BTreeMap<(Path, u32), Option<Time>>,
    /// Operations with one child.
    single: BTreeSet<(Path, u32)>,
    /// Operations that were given up.
    dropped: BTreeSet<(Path, u32)>,
    /// Operations that have ended and whose answers their step has not used, with the signal that they took.
    unused: BTreeMap<(Path, u32), TakenSignal>,
    /// Operations that ended well, which later attempts of their step find again, with the signal that they took.
    good: BTreeMap<(Path, u32), TakenSignal>,
    /// Those of them that the attempt at work has neither used nor given up.
    found: BTreeMap<(Path, u32), TakenSignal>,
    /// The attempt that a step has come to.
    attempts: BTreeMap<Path, u32>,
    /// Operations whose answers were given before their step was suspended.
    told: BTreeSet<(Path, u32)>,
    /// Steps that were suspended, with the operations that they have not been told of.
    asleep: BTreeMap<Path, BTreeSet<u32>>,
    last: BTreeMap<Path, u32>,
    at_work: BTreeMap<Path, u32>,
    children: BTreeMap<RunId, (Path, u32)>,
    /// How many children an operation has open.
    open_children: BTreeMap<(Path, u32), usize>,
    known: BTreeSet<RunId>,
    /// Runs that undo children.
    undoing: BTreeSet<RunId>,
    ending: bool,
    paused: bool,
}

impl DurableFacts {
    fn set_clock_back(&mut self, by_ms: u64, now: Time) {
        self.kept.values_mut().for_each(|(_, sent_at)| *sent_at = (*sent_at).min(now));
        let answers = [&mut self.unused, &mut self.good, &mut self.found];
        let taken = answers.into_iter().flat_map(BTreeMap::values_mut).flatten();
        taken.for_each(|(_, _, sent_at)| *sent_at = (*sent_at).min(now));
        let untils = self.waits.values_mut().map(|(_, _, until)| until).chain(self.open.values_mut());
        untils.for_each(|until| *until = until.map(|until| until.minus_ms(by_ms)));
    }

    /// A step comes to a new attempt, which may ask again for what went well before, use it, or give it up.
    fn begin_attempt(&mut self, node: &Path, attempt: u32) {
        if self.attempts.insert(node.clone(), attempt) == Some(attempt) {
            return;
        }
        self.dropped.retain(|(of, _)| of != node);
        let of_node = self.good.range((node.clone(), 0)..=(node.clone(), u32::MAX));
        self.found.extend(of_node.map(|(owner, taken)| (owner.clone(), taken.clone())));
    }

    fn has_children(&self, node: &Path, op: u32) -> bool {
        self.open_children.get(&(node.clone(), op)).is_some_and(|open| *open > 0)
    }
}

struct DurableChecker<'a> {
    violations: &'a mut Vec<RuleViolation>,
    facts: DurableFacts,
}

impl DurableChecker<'_> {
    fn require(&mut self, holds: bool, seq: Seq, rule: HistoryRule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(RuleViolation { seq, rule, message: message() });
        }
    }

    fn check_event(&mut self, event: &Event) {
        let (seq, at) = (event.seq, event.at);
        match &event.kind {
            EventKind::SignalReceived { name, sent_at, .. } => {
                self.facts.kept.insert(seq, (name.clone(), *sent_at));
            }
            EventKind::SignalAwaited { node, name, until } => {
                self.facts.waits.insert((node.clone(), None), (seq, name.clone(), *until));
            }
            EventKind::SignalTaken { node, op, signal } => self.taken(node, *op, *signal, seq),
            EventKind::SignalTimedOut { node, op, failure } => {
                let wait = self.facts.waits.remove(&(node.clone(), *op));
                let late = wait.and_then(|(_, _, until)| until).is_some_and(|until| until <= at);
                self.require(late, seq, HistoryRule::Signals, || {
                    format!("`{node}` stops waiting for a signal too early")
                });
                self.end(node, *op, failure.is_none().then_some(None), seq);
            }
            EventKind::OpStarted { node, op, call, name, after, what, .. } => {
                self.op_started(node, *op, *call, seq);
                self.used(node, after);
                self.facts.open.insert((node.clone(), *op), None);
                match what {
                    OpBody::Sleep { until } => {
                        self.facts.open.insert((node.clone(), *op), Some(*until));
                    }
                    OpBody::Signal { until, .. } => {
                        self.facts.waits.insert((node.clone(), Some(*op)), (seq, name.clone(), *until));
                    }
                    OpBody::Run { .. } => {
                        self.facts.single.insert((node.clone(), *op));
                    }
                    OpBody::Once {} | OpBody::Map { .. } => {}
                }
            }
            EventKind::OpDropped { node, op, call } => self.op_dropped(node, *op, *call, seq),
            EventKind::OpEnded { node, op, outcome } => self.op_ended(node, *op, outcome, event),
            EventKind::OpStopping { node, op } => {
                let children = self.facts.has_children(node, *op);
                self.require(children, seq, HistoryRule::Children, || {
                    format!("operation {op} of `{node}` has no children to stop")
                });
            }
            EventKind::ChildStarted { node, op, child, .. } => self.child_started(node, *op, child, seq),
            EventKind::ChildRetried { child, next, .. } => {
                let owner = self.facts.children.remove(child);
                self.require(owner.is_some(), seq, HistoryRule::Children, || {
                    format!("run `{child}` is no child")
                });
                self.facts.children.extend(owner.map(|owner| (next.clone(), owner)));
            }
            EventKind::ChildEnded { child, outcome, .. } => {
                let owner = self.facts.children.remove(child);
                self.require(owner.is_some(), seq, HistoryRule::Children, || {
                    format!("run `{child}` is no child, or ended before")
                });
                let Some(owner) = owner else { return };
                if let Some(open) = self.facts.open_children.get_mut(&owner) {
                    *open = open.saturating_sub(1);
                }
                if self.facts.single.contains(&owner) {
                    self.answered(owner, outcome.is_completed().then_some(None));
                }
            }
            EventKind::ChildUndoing { undo, .. } => {
                let new = self.facts.undoing.insert(undo.clone());
                self.require(new, seq, HistoryRule::Children, || format!("run `{undo}` is started twice"));
            }
            EventKind::ChildUndone { undo, .. } => {
                let known = self.facts.undoing.remove(undo);
                self.require(known, seq, HistoryRule::Children, || format!("run `{undo}` undoes no child"));
            }
            EventKind::CallStarted { node, call, attempt, .. } => {
                self.facts.begin_attempt(node, *attempt);
                self.facts.asleep.remove(node);
                self.facts.at_work.insert(node.clone(), *call);
            }
            EventKind::NodeHeld { node, .. } | EventKind::NodeBlocked { node, .. } => {
                self.facts.asleep.remove(node);
            }
            EventKind::CallSucceeded { node, .. }
            | EventKind::CallFailed { node, .. }
            | EventKind::CallCancelled { node, .. }
            | EventKind::NodeCancelled { node } => self.call_over(node),
            EventKind::CallLost { node, .. } => {
                self.facts.at_work.remove(node);
            }
            EventKind::CallSuspended { node, used, told, .. } => {
                self.facts.at_work.remove(node);
                self.used(node, used);
                let says = event.v >= SAYS_WHAT_IT_USED;
                let mut unheard = if says { self.unused_of(node) } else { BTreeSet::new() };
                unheard.retain(|op| !told.contains(op) && !self.facts.told.contains(&(node.clone(), *op)));
                self.facts.told.extend(told.iter().map(|op| (node.clone(), *op)));
                self.facts.asleep.insert(node.clone(), unheard);
            }
            EventKind::CancelRequested { kill: true, .. } => {
                self.facts.ending = true;
                // A killed run does not wait for the runs that undo its children.
                self.facts.undoing.clear();
            }
            EventKind::CancelRequested { .. } | EventKind::RunFailing { .. } => self.facts.ending = true,
            EventKind::ClockSetBack { by_ms } => self.facts.set_clock_back(*by_ms, at),
            EventKind::RunPaused {} => self.facts.paused = true,
            EventKind::RunResumed {} => self.facts.paused = false,
            EventKind::RunCompleted { .. } | EventKind::RunFailed { .. } | EventKind::RunCancelled { .. } => {
                self.facts.asleep.clear();
                let open = self.facts.children.keys().chain(&self.facts.undoing).next().cloned();
                self.require(open.is_none(), seq, HistoryRule::Children, || {
                    format!("run `{}` is left alone", open.map(|run| run.to_string()).unwrap_or_default())
                });
            }
            EventKind::RunStarted { .. }
            | EventKind::NodeImported { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::LaneImported { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::LaneEnded { .. }
            | EventKind::BlockFailing { .. }
            | EventKind::LaneStopping { .. }
            | EventKind::Joined { .. }
            | EventKind::NodeCompleted { .. }
            | EventKind::NodeFailed { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SleepStarted { .. }
            | EventKind::SleepEnded { .. } => {}
        }
    }

    fn taken(&mut self, node: &Path, op: Option<u32>, signal: Seq, seq: Seq) {
        let wait = self.facts.waits.remove(&(node.clone(), op));
        let kept = self.facts.kept.remove(&signal);
        let (Some((since, name, until)), Some((sent, sent_at))) = (wait, kept) else {
            return self.require(false, seq, HistoryRule::Signals, || {
                format!("`{node}` takes {signal}, which is no signal, or taken, or not waited for")
            });
        };
        let in_time = until.is_none_or(|until| sent_at < until || signal < since);
        self.require(name == sent && in_time, seq, HistoryRule::Signals, || {
            format!("`{node}` takes a signal that is not the one, or came too late")
        });
        let older = |(other, (word, _)): (&Seq, &(String, Time))| *other < signal && *word == name;
        let passed_over = self.facts.kept.iter().any(older);
        let waiting = self.facts.waits.values().any(|(other, word, _)| *other < since && *word == name);
        self.require(!passed_over && !waiting, seq, HistoryRule::Signals, || {
            format!("an older signal or wait for `{name}` is passed over")
        });
        self.end(node, op, Some(Some((signal, sent, sent_at))), seq);
    }

    fn op_dropped(&mut self, node: &Path, op: u32, call: u32, seq: Seq) {
        let owner = (node.clone(), op);
        let at_work = self.facts.at_work.get(node) == Some(&call);
        self.require(at_work, seq, HistoryRule::Operations, || {
            format!("call {call} of `{node}` is not at work and gives something up")
        });
        self.facts.waits.remove(&(node.clone(), Some(op)));
        let found = self.facts.found.remove(&owner);
        let unused = self.facts.unused.remove(&owner).or(found);
        let known = unused.is_some() || self.facts.open.contains_key(&owner);
        let first = self.facts.dropped.insert(owner.clone());
        self.require(known && first, seq, HistoryRule::Operations, || {
            format!("`{node}` gives up operation {op}, which it has not, has used, or gave up before")
        });
        if let Some((signal, name, sent_at)) = unused.flatten() {
            self.facts.kept.insert(signal, (name, sent_at));
            self.facts.good.remove(&owner);
        }
        if !self.facts.has_children(node, op) {
            self.facts.open.remove(&owner);
        }
    }

    /// The function used these answers.
    fn used(&mut self, node: &Path, used: &[u32]) {
        for op in used {
            self.facts.unused.remove(&(node.clone(), *op));
            self.facts.found.remove(&(node.clone(), *op));
        }
    }

    fn unused_of(&self, node: &Path) -> BTreeSet<u32> {
        let of_node = self.facts.unused.range((node.clone(), 0)..=(node.clone(), u32::MAX));
        of_node.map(|((_, op), _)| *op).collect()
    }

    /// An operation has ended, and there is an answer for its function. A good one, with the signal that it took, is
    /// found by later attempts too.
    fn answered(&mut self, owner: (Path, u32), good: Option<TakenSignal>) {
        if let Some(taken) = &good {
            self.facts.good.insert(owner.clone(), taken.clone());
        }
        if self.facts.dropped.contains(&owner) {
            return;
        }
        if let Some(unheard) = self.facts.asleep.get_mut(&owner.0) {
            unheard.insert(owner.1);
        }
        self.facts.unused.insert(owner, good.flatten());
    }

    /// No step sleeps through an answer that is there.
    fn rests(&mut self, last: Seq) {
        for (node, unheard) in std::mem::take(&mut self.facts.asleep) {
            self.require(unheard.is_empty(), last, HistoryRule::Operations, || {
                format!("`{node}` was suspended and is not told that operations {unheard:?} have ended")
            });
        }
    }

    fn op_started(&mut self, node: &Path, op: u32, call: u32, seq: Seq) {
        let at_work = self.facts.at_work.get(node) == Some(&call);
        self.require(at_work, seq, HistoryRule::Operations, || {
            format!("call {call} of `{node}` is not at work and asks for something")
        });
        let last = self.facts.last.insert(node.clone(), op).unwrap_or(0);
        // A step that has ended starts again at 1 only in another iteration, which has another path.
        self.require(op == last + 1, seq, HistoryRule::Operations, || {
            format!("`{node}` should do operation {}", last + 1)
        });
    }

    fn op_ended(&mut self, node: &Path, op: u32, outcome: &OpOutcome, event: &Event) {
        let seq = event.seq;
        let owner = (node.clone(), op);
        self.facts.waits.remove(&(node.clone(), Some(op)));
        if matches!(outcome, OpOutcome::Left {}) {
            self.facts.children.retain(|_, of| *of != owner);
            self.facts.open_children.remove(&owner);
            self.facts.open.remove(&owner);
            return;
        }
        let open = self.facts.open.remove(&owner);
        let good = matches!(outcome, OpOutcome::Done {} | OpOutcome::Value(_));
        self.answered(owner, good.then_some(None));
        self.require(open.is_some(), seq, HistoryRule::Operations, || {
            format!("operation {op} of `{node}` ends and was not open")
        });
        let early =
            matches!(outcome, OpOutcome::Done {}) && open.flatten().is_some_and(|until| until > event.at);
        self.require(!early, seq, HistoryRule::Timers, || {
            format!("operation {op} of `{node}` wakes up too early")
        });
        let children = self.facts.has_children(node, op);
        self.require(!children, seq, HistoryRule::Children, || {
            format!("operation {op} of `{node}` ends before its children")
        });
    }

    fn child_started(&mut self, node: &Path, op: u32, child: &RunId, seq: Seq) {
        let open = self.facts.open.contains_key(&(node.clone(), op));
        self.require(open, seq, HistoryRule::Operations, || {
            format!("`{node}` has no operation {op} under way")
        });
        let new = self.facts.known.insert(child.clone());
        self.require(new, seq, HistoryRule::Children, || format!("run `{child}` is started twice"));
        let (ending, paused) = (self.facts.ending, self.facts.paused);
        self.require(!ending, seq, HistoryRule::Ending, || {
            "a child starts although the run is ending".into()
        });
        self.require(!paused, seq, HistoryRule::Holding, || "a child starts while the run is paused".into());
        self.facts.children.insert(child.clone(), (node.clone(), op));
        *self.facts.open_children.entry((node.clone(), op)).or_default() += 1;
    }

    fn end(&mut self, node: &Path, op: Option<u32>, good: Option<TakenSignal>, seq: Seq) {
        let Some(op) = op else { return };
        let open = self.facts.open.remove(&(node.clone(), op)).is_some();
        self.answered((node.clone(), op), good);
        self.require(open, seq, HistoryRule::Operations, || {
            format!("operation {op} of `{node}` ends and was not open")
        });
    }

    /// The node's call is over, and no longer waits for its operations.
    fn call_over(&mut self, node: &Path) {
        self.facts.at_work.remove(node);
        self.facts.asleep.remove(node);
        self.facts.waits.retain(|(waiting, _), _| waiting != node);
        self.facts.unused.retain(|(of, _), _| of != node);
        self.facts.found.retain(|(of, _), _| of != node);
        let DurableFacts { open, open_children, .. } = &mut self.facts;
        let parent = |owner: &(Path, u32)| open_children.get(owner).is_some_and(|open| *open > 0);
        open.retain(|owner, _| owner.0 != *node || parent(owner));
    }
}
