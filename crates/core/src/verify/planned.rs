//! The rules that need the plan: order, and what the settings allow.

use std::collections::{BTreeMap, BTreeSet};

use super::{Rule, Violation};
use crate::event::{Event, Kind, Role, Verdict};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{Block, IndexedPlan, NodeKind, Order, Step};

pub(super) fn check(plan: &IndexedPlan, events: &[Event], violations: &mut Vec<Violation>) {
    let mut planned = Planned { places: BTreeMap::new(), facts: Facts::default(), violations };
    planned.place(&plan.plan().block, &Path::root());
    for event in events {
        planned.happened(plan, event);
    }
}

/// Where a node of a sequence is.
struct Place<'a> {
    previous: Option<Path>,
    step: Option<&'a Step>,
    workflow: bool,
}

#[derive(Default)]
struct Facts {
    ended: BTreeSet<Path>,
    started: BTreeSet<Path>,
    lost: BTreeSet<Path>,
    handler_owed: BTreeSet<Path>,
    roles: BTreeMap<Path, Role>,
    ending: bool,
}

struct Planned<'a> {
    places: BTreeMap<Path, Place<'a>>,
    facts: Facts,
    violations: &'a mut Vec<Violation>,
}

impl<'a> Planned<'a> {
    /// Notes the places of the nodes of sequences; what is inside other blocks is not judged here.
    fn place(&mut self, block: &'a Block, owner: &Path) {
        if block.order != Order::Sequence {
            return;
        }
        let mut previous = None;
        for node in &block.nodes {
            let path = owner.child(&node.id);
            let step = match &node.kind {
                NodeKind::Step(step) => Some(step),
                _ => None,
            };
            let workflow = matches!(node.kind, NodeKind::Workflow(_));
            if let NodeKind::Workflow(nested) = &node.kind {
                self.place(&nested.block, &path);
            }
            self.places.insert(path.clone(), Place { previous, step, workflow });
            previous = Some(path);
        }
    }

    fn require(&mut self, holds: bool, seq: Seq, rule: Rule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { seq, rule, message: message() });
        }
    }

    fn happened(&mut self, plan: &IndexedPlan, event: &Event) {
        let seq = event.seq;
        match &event.event {
            Kind::RunStarted { plan: hash, .. } => {
                let same = hash == plan.hash();
                self.require(same, seq, Rule::Settings, || "the run has another plan".into());
            }
            Kind::NodeImported { node, .. } => {
                self.facts.ended.insert(node.clone());
            }
            Kind::CallStarted { node, role, attempt, .. } => {
                self.facts.roles.insert(node.clone(), *role);
                self.begins(node, seq);
                self.call_is_allowed(plan, node, *role, *attempt, seq);
            }
            Kind::CallSucceeded { node, .. } => {
                if matches!(self.facts.roles.get(node), Some(Role::Step | Role::OnError)) {
                    self.settle(node);
                }
            }
            Kind::CallFailed { node, verdict, .. } => self.call_failed(plan, node, *verdict),
            Kind::CallLost { node, .. } => {
                if self.facts.roles.get(node) == Some(&Role::Step) {
                    self.facts.lost.insert(node.clone());
                }
            }
            Kind::CallCancelled { node, .. } | Kind::NodeCancelled { node } => self.settle(node),
            Kind::NodeStarted { node, .. } => {
                self.begins(node, seq);
                self.facts.started.insert(node.clone());
            }
            Kind::NodeCompleted { node, .. } => self.settle(node),
            Kind::NodeFailed { node, .. } => {
                self.facts.ended.insert(node.clone());
                if self.handler(plan, node) && !self.facts.ending {
                    self.facts.handler_owed.insert(node.clone());
                }
            }
            Kind::SleepStarted { node, .. }
            | Kind::SignalAwaited { node, .. }
            | Kind::NodeHeld { node, .. } => self.begins(node, seq),
            Kind::SleepEnded { node }
            | Kind::SignalTaken { node, op: None, .. }
            | Kind::SignalTimedOut { node, op: None, .. } => self.settle(node),
            Kind::CancelRequested { .. } | Kind::RunFailing { .. } => {
                self.facts.ending = true;
            }
            Kind::RunCompleted { .. } => {
                let open = self.places.keys().find(|path| {
                    path.parent().is_some_and(|parent| parent.is_root()) && !self.facts.ended.contains(*path)
                });
                let open = open.map(|path| format!("`{path}`")).unwrap_or_default();
                self.require(open.is_empty(), seq, Rule::Order, || format!("{open} has not ended"));
            }
            Kind::RunFailed { .. } => {
                self.no_handler_is_owed(seq);
                let owed = plan.plan().on_error.is_some() && !self.facts.roles.contains_key(&Path::root());
                self.require(!owed, seq, Rule::Settings, || "the run's handler was not called".into());
            }
            Kind::NodeBlocked { .. }
            | Kind::NodeUnblocked { .. }
            | Kind::SignalReceived { .. }
            | Kind::SignalTaken { .. }
            | Kind::SignalTimedOut { .. }
            | Kind::OpStarted { .. }
            | Kind::OpEnded { .. }
            | Kind::OpStopping { .. }
            | Kind::ChildStarted { .. }
            | Kind::ChildRetried { .. }
            | Kind::ChildEnded { .. }
            | Kind::CallSuspended { .. }
            | Kind::RunPaused {}
            | Kind::RunResumed {}
            | Kind::DecisionImported { .. }
            | Kind::LaneImported { .. }
            | Kind::LaneEnded { .. }
            | Kind::LaneStopping { .. }
            | Kind::BlockFailing { .. }
            | Kind::Joined { .. }
            | Kind::RunCancelled { .. } => {}
        }
    }

    /// A node failed by itself or its handler's turn is over.
    fn settle(&mut self, node: &Path) {
        self.facts.ended.insert(node.clone());
        self.facts.handler_owed.remove(node);
    }

    fn call_failed(&mut self, plan: &IndexedPlan, node: &Path, verdict: Verdict) {
        if matches!(verdict, Verdict::RetryAt(_)) {
            return;
        }
        match self.facts.roles.get(node) {
            Some(Role::Step) if self.handler(plan, node) && !self.facts.ending => {
                self.facts.ended.insert(node.clone());
                self.facts.handler_owed.insert(node.clone());
            }
            _ => self.settle(node),
        }
    }

    fn handler(&self, plan: &IndexedPlan, node: &Path) -> bool {
        plan.node(node).is_some_and(|node| match &node.node().kind {
            NodeKind::Step(step) => step.on_error.is_some(),
            NodeKind::Workflow(nested) => nested.on_error.is_some(),
            _ => false,
        })
    }

    fn begins(&mut self, node: &Path, seq: Seq) {
        let Some(place) = self.places.get(node) else { return };
        let previous = place.previous.clone();
        if let Some(previous) = previous {
            let over = self.facts.ended.contains(&previous) && !self.facts.handler_owed.contains(&previous);
            self.require(over, seq, Rule::Order, || format!("`{previous}` comes before `{node}`"));
        }
        let Some(owner) = node.parent().filter(|owner| !owner.is_root()) else { return };
        let inside = self.facts.started.contains(&owner);
        self.require(inside, seq, Rule::Order, || format!("`{owner}`, around `{node}`, has not started"));
    }

    fn call_is_allowed(&mut self, plan: &IndexedPlan, node: &Path, role: Role, attempt: u32, seq: Seq) {
        let place = self.places.get(node);
        match role {
            Role::Step => {
                let Some(step) = place.and_then(|place| place.step) else { return };
                let most = step.retry.max_attempts.unwrap_or(u32::MAX);
                let again = step.at_most_once && self.facts.lost.contains(node);
                self.require(attempt <= most, seq, Rule::Settings, || {
                    format!("attempt {attempt} of `{node}`, which allows {most}")
                });
                self.require(!again, seq, Rule::Settings, || {
                    format!("`{node}` is at most once and is called again")
                });
            }
            Role::OnError if node.is_root() => {
                let has = plan.plan().on_error.is_some();
                self.require(has, seq, Rule::Settings, || "the run has no handler".into());
            }
            Role::OnError => {
                let has = self.handler(plan, node);
                self.require(has, seq, Rule::Settings, || format!("`{node}` has no handler"));
            }
            Role::Input => {
                let workflow = place.is_some_and(|place| place.workflow);
                self.require(workflow, seq, Rule::Settings, || format!("`{node}` maps no input"));
            }
            Role::Wait | Role::Choose | Role::Test | Role::Items | Role::Finally | Role::Compensate => {}
        }
    }

    /// Every handler that was to be called has been called, or was dropped because the run was ending.
    fn no_handler_is_owed(&mut self, seq: Seq) {
        let owed = self.facts.handler_owed.first().map(|node| format!("`{node}`")).unwrap_or_default();
        self.require(owed.is_empty(), seq, Rule::Settings, || {
            format!("the handler of {owed} was not called")
        });
    }
}
