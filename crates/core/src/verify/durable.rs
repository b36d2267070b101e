//! The rules of signals, durable operations and children.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Violation};
use crate::durable::{OpBody, OpOutcome};
use crate::event::{Event, Kind};
use crate::ids::{RunId, Seq, Time};
use crate::path::Path;

pub(super) fn check(events: &[Event], violations: &mut Vec<Violation>) {
    let mut history = Durable { violations, facts: Facts::default() };
    for event in events {
        history.happened(event);
    }
    history.rests(events.last().map_or(Seq::ZERO, |event| event.seq));
}

/// The first version in which a call that is let go says which answers it has used.
const SAYS_WHAT_IT_USED: u32 = 5;

/// Who waits for a signal or does an operation: a node, or an operation of it.
type Who = (Path, Option<u32>);

#[derive(Default)]
struct Facts {
    /// Signals that nobody has taken: name and when they were sent.
    kept: BTreeMap<Seq, (String, Time)>,
    /// Waits for signals: since when, name, deadline.
    waits: BTreeMap<Who, (Seq, String, Option<Time>)>,
    /// Operations that have not ended, with the moment of a sleep.
    open: BTreeMap<(Path, u32), Option<Time>>,
    /// Operations with one child.
    single: BTreeSet<(Path, u32)>,
    /// Operations that were given up.
    dropped: BTreeSet<(Path, u32)>,
    /// Operations that have ended and whose answers nobody used, with the signal that they took.
    unused: BTreeMap<(Path, u32), Option<(Seq, String, Time)>>,
    /// Operations whose answers were given before their step was let go.
    told: BTreeSet<(Path, u32)>,
    /// Steps that were let go, with the operations that they have not been told of.
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

impl Facts {
    fn set_clock_back(&mut self, by_ms: u64, now: Time) {
        self.kept.values_mut().for_each(|(_, sent_at)| *sent_at = (*sent_at).min(now));
        self.unused.values_mut().flatten().for_each(|(_, _, sent_at)| *sent_at = (*sent_at).min(now));
        let untils = self.waits.values_mut().map(|(_, _, until)| until).chain(self.open.values_mut());
        untils.for_each(|until| *until = until.map(|until| until.minus_ms(by_ms)));
    }

    fn has_children(&self, node: &Path, op: u32) -> bool {
        self.open_children.get(&(node.clone(), op)).is_some_and(|open| *open > 0)
    }
}

struct Durable<'a> {
    violations: &'a mut Vec<Violation>,
    facts: Facts,
}

impl Durable<'_> {
    fn require(&mut self, holds: bool, seq: Seq, rule: Rule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { seq, rule, message: message() });
        }
    }

    fn happened(&mut self, event: &Event) {
        let (seq, at) = (event.seq, event.at);
        match &event.event {
            Kind::SignalReceived { name, sent_at, .. } => {
                self.facts.kept.insert(seq, (name.clone(), *sent_at));
            }
            Kind::SignalAwaited { node, name, until } => {
                self.facts.waits.insert((node.clone(), None), (seq, name.clone(), *until));
            }
            Kind::SignalTaken { node, op, signal } => self.taken(node, *op, *signal, seq),
            Kind::SignalTimedOut { node, op, .. } => {
                let wait = self.facts.waits.remove(&(node.clone(), *op));
                let late = wait.and_then(|(_, _, until)| until).is_some_and(|until| until <= at);
                self.require(late, seq, Rule::Signals, || {
                    format!("`{node}` stops waiting for a signal too early")
                });
                self.end(node, *op, None, seq);
            }
            Kind::OpStarted { node, op, call, name, after, what, .. } => {
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
            Kind::OpDropped { node, op, call } => self.op_dropped(node, *op, *call, seq),
            Kind::OpEnded { node, op, outcome } => self.op_ended(node, *op, outcome, event),
            Kind::OpStopping { node, op } => {
                let children = self.facts.has_children(node, *op);
                self.require(children, seq, Rule::Children, || {
                    format!("operation {op} of `{node}` has no children to stop")
                });
            }
            Kind::ChildStarted { node, op, child, .. } => self.child_started(node, *op, child, seq),
            Kind::ChildRetried { child, next, .. } => {
                let owner = self.facts.children.remove(child);
                self.require(owner.is_some(), seq, Rule::Children, || format!("run `{child}` is no child"));
                self.facts.children.extend(owner.map(|owner| (next.clone(), owner)));
            }
            Kind::ChildEnded { child, .. } => {
                let owner = self.facts.children.remove(child);
                self.require(owner.is_some(), seq, Rule::Children, || {
                    format!("run `{child}` is no child, or ended before")
                });
                let Some(owner) = owner else { return };
                if let Some(open) = self.facts.open_children.get_mut(&owner) {
                    *open = open.saturating_sub(1);
                }
                if self.facts.single.contains(&owner) {
                    self.answered(owner, None);
                }
            }
            Kind::ChildUndoing { undo, .. } => {
                let new = self.facts.undoing.insert(undo.clone());
                self.require(new, seq, Rule::Children, || format!("run `{undo}` is started twice"));
            }
            Kind::ChildUndone { undo, .. } => {
                let known = self.facts.undoing.remove(undo);
                self.require(known, seq, Rule::Children, || format!("run `{undo}` undoes no child"));
            }
            Kind::CallStarted { node, call, .. } => {
                self.facts.asleep.remove(node);
                self.facts.at_work.insert(node.clone(), *call);
            }
            Kind::NodeHeld { node, .. } | Kind::NodeBlocked { node, .. } => {
                self.facts.asleep.remove(node);
            }
            Kind::CallSucceeded { node, .. }
            | Kind::CallFailed { node, .. }
            | Kind::CallCancelled { node, .. }
            | Kind::NodeCancelled { node } => self.call_over(node),
            Kind::CallLost { node, .. } => {
                self.facts.at_work.remove(node);
            }
            Kind::CallSuspended { node, used, told, .. } => {
                self.facts.at_work.remove(node);
                self.used(node, used);
                let says = event.v >= SAYS_WHAT_IT_USED;
                let mut unheard = if says { self.unused_of(node) } else { BTreeSet::new() };
                unheard.retain(|op| !told.contains(op) && !self.facts.told.contains(&(node.clone(), *op)));
                self.facts.told.extend(told.iter().map(|op| (node.clone(), *op)));
                self.facts.asleep.insert(node.clone(), unheard);
            }
            Kind::CancelRequested { kill: true, .. } => {
                self.facts.ending = true;
                // Nobody waits for what is being undone.
                self.facts.undoing.clear();
            }
            Kind::CancelRequested { .. } | Kind::RunFailing { .. } => self.facts.ending = true,
            Kind::ClockSetBack { by_ms } => self.facts.set_clock_back(*by_ms, at),
            Kind::RunPaused {} => self.facts.paused = true,
            Kind::RunResumed {} => self.facts.paused = false,
            Kind::RunCompleted { .. } | Kind::RunFailed { .. } | Kind::RunCancelled { .. } => {
                self.facts.asleep.clear();
                let open = self.facts.children.keys().chain(&self.facts.undoing).next().cloned();
                self.require(open.is_none(), seq, Rule::Children, || {
                    format!("run `{}` is left alone", open.map(|run| run.to_string()).unwrap_or_default())
                });
            }
            _ => {}
        }
    }

    fn taken(&mut self, node: &Path, op: Option<u32>, signal: Seq, seq: Seq) {
        let wait = self.facts.waits.remove(&(node.clone(), op));
        let kept = self.facts.kept.remove(&signal);
        let (Some((since, name, until)), Some((sent, sent_at))) = (wait, kept) else {
            return self.require(false, seq, Rule::Signals, || {
                format!("`{node}` takes {signal}, which is no signal, or taken, or not waited for")
            });
        };
        let in_time = until.is_none_or(|until| sent_at < until || signal < since);
        self.require(name == sent && in_time, seq, Rule::Signals, || {
            format!("`{node}` takes a signal that is not the one, or came too late")
        });
        let older = |(other, (word, _)): (&Seq, &(String, Time))| *other < signal && *word == name;
        let passed_over = self.facts.kept.iter().any(older);
        let waiting = self.facts.waits.values().any(|(other, word, _)| *other < since && *word == name);
        self.require(!passed_over && !waiting, seq, Rule::Signals, || {
            format!("an older signal or wait for `{name}` is passed over")
        });
        self.end(node, op, Some((signal, sent, sent_at)), seq);
    }

    fn op_dropped(&mut self, node: &Path, op: u32, call: u32, seq: Seq) {
        let owner = (node.clone(), op);
        let at_work = self.facts.at_work.get(node) == Some(&call);
        self.require(at_work, seq, Rule::Operations, || {
            format!("call {call} of `{node}` is not at work and gives something up")
        });
        self.facts.waits.remove(&(node.clone(), Some(op)));
        let unused = self.facts.unused.remove(&owner);
        let known = unused.is_some() || self.facts.open.contains_key(&owner);
        let first = self.facts.dropped.insert(owner.clone());
        self.require(known && first, seq, Rule::Operations, || {
            format!("`{node}` gives up operation {op}, which it has not, has used, or gave up before")
        });
        if let Some((signal, name, sent_at)) = unused.flatten() {
            self.facts.kept.insert(signal, (name, sent_at));
        }
        if !self.facts.has_children(node, op) {
            self.facts.open.remove(&owner);
        }
    }

    /// The function used these answers.
    fn used(&mut self, node: &Path, used: &[u32]) {
        for op in used {
            self.facts.unused.remove(&(node.clone(), *op));
        }
    }

    fn unused_of(&self, node: &Path) -> BTreeSet<u32> {
        let of_node = self.facts.unused.range((node.clone(), 0)..=(node.clone(), u32::MAX));
        of_node.map(|((_, op), _)| *op).collect()
    }

    /// An operation has ended, and there is an answer for its function.
    fn answered(&mut self, owner: (Path, u32), taken: Option<(Seq, String, Time)>) {
        if self.facts.dropped.contains(&owner) {
            return;
        }
        if let Some(unheard) = self.facts.asleep.get_mut(&owner.0) {
            unheard.insert(owner.1);
        }
        self.facts.unused.insert(owner, taken);
    }

    /// No step sleeps through an answer that is there.
    fn rests(&mut self, last: Seq) {
        for (node, unheard) in std::mem::take(&mut self.facts.asleep) {
            self.require(unheard.is_empty(), last, Rule::Operations, || {
                format!("`{node}` was let go and is not told that operations {unheard:?} have ended")
            });
        }
    }

    fn op_started(&mut self, node: &Path, op: u32, call: u32, seq: Seq) {
        let at_work = self.facts.at_work.get(node) == Some(&call);
        self.require(at_work, seq, Rule::Operations, || {
            format!("call {call} of `{node}` is not at work and asks for something")
        });
        let last = self.facts.last.insert(node.clone(), op).unwrap_or(0);
        // A step that has ended starts again at 1 only in another iteration, which has another path.
        self.require(op == last + 1, seq, Rule::Operations, || {
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
        self.answered(owner, None);
        self.require(open.is_some(), seq, Rule::Operations, || {
            format!("operation {op} of `{node}` ends and was not open")
        });
        let early =
            matches!(outcome, OpOutcome::Done {}) && open.flatten().is_some_and(|until| until > event.at);
        self.require(!early, seq, Rule::Timers, || format!("operation {op} of `{node}` wakes up too early"));
        let children = self.facts.has_children(node, op);
        self.require(!children, seq, Rule::Children, || {
            format!("operation {op} of `{node}` ends before its children")
        });
    }

    fn child_started(&mut self, node: &Path, op: u32, child: &RunId, seq: Seq) {
        let open = self.facts.open.contains_key(&(node.clone(), op));
        self.require(open, seq, Rule::Operations, || format!("`{node}` has no operation {op} under way"));
        let new = self.facts.known.insert(child.clone());
        self.require(new, seq, Rule::Children, || format!("run `{child}` is started twice"));
        let (ending, paused) = (self.facts.ending, self.facts.paused);
        self.require(!ending, seq, Rule::Ending, || "a child starts although the run is ending".into());
        self.require(!paused, seq, Rule::Holding, || "a child starts while the run is paused".into());
        self.facts.children.insert(child.clone(), (node.clone(), op));
        *self.facts.open_children.entry((node.clone(), op)).or_default() += 1;
    }

    fn end(&mut self, node: &Path, op: Option<u32>, taken: Option<(Seq, String, Time)>, seq: Seq) {
        let Some(op) = op else { return };
        let open = self.facts.open.remove(&(node.clone(), op)).is_some();
        self.answered((node.clone(), op), taken);
        self.require(open, seq, Rule::Operations, || {
            format!("operation {op} of `{node}` ends and was not open")
        });
    }

    /// Nobody waits for its operations any more.
    fn call_over(&mut self, node: &Path) {
        self.facts.at_work.remove(node);
        self.facts.asleep.remove(node);
        self.facts.waits.retain(|(waiting, _), _| waiting != node);
        self.facts.unused.retain(|(of, _), _| of != node);
        let Facts { open, open_children, .. } = &mut self.facts;
        let parent = |owner: &(Path, u32)| open_children.get(owner).is_some_and(|open| *open > 0);
        open.retain(|owner, _| owner.0 != *node || parent(owner));
    }
}
