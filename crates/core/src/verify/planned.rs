//! The rules that need the plan: order, lanes, and what the settings allow.

use std::collections::{BTreeMap, BTreeSet};

use super::results::Results;
use super::undo::{Done, UndoList};
use super::{Rule, Violation};
use crate::event::{Event, Kind, LaneOutcome, Role, Verdict};
use crate::failure::code;
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{Block, IndexedPlan, Join, LoopTest, Node, NodeKind, Order, Parallel, Wait};

/// How often a compensation is tried that does not say.
const COMPENSATIONS_MAX: u32 = 3;

pub(super) fn check(plan: &IndexedPlan, events: &[Event], violations: &mut Vec<Violation>) {
    let mut planned = Planned {
        plan,
        places: BTreeMap::new(),
        facts: Facts::default(),
        undo: UndoList::default(),
        results: Results::default(),
        violations,
    };
    planned.place(&plan.plan().block, &Path::root(), Lane::Run);
    for event in events {
        planned.gives(event);
        planned.happened(event);
        let role = event.event.node().and_then(|node| planned.facts.roles.get(node).copied());
        planned.results.note(event, role);
    }
}

/// Where a node is in the plan.
struct Place<'a> {
    node: &'a Node,
    /// The ids of the nodes of its block that come before it.
    before: Vec<&'a str>,
    lane: Lane<'a>,
}

/// What kind of lane a block runs in.
#[derive(Clone, Copy)]
enum Lane<'a> {
    Run,
    Nested,
    Iteration,
    Named(&'a str),
}

/// What a supervisor was started with, and what became of its lanes.
struct Lanes {
    case: Option<String>,
    count: Option<u32>,
    window: Option<u32>,
    ended: BTreeSet<u32>,
    completed: u32,
}

#[derive(Default)]
struct Facts {
    ended: BTreeSet<Path>,
    started: BTreeMap<Path, Lanes>,
    /// How many iterations of a loop were taken over without a word about their end.
    imported: BTreeMap<Path, u32>,
    lost: BTreeSet<Path>,
    /// Steps with a call of which is not known whether it acted.
    unknown: BTreeSet<Path>,
    /// Steps whose call was let go while it waited.
    let_go: BTreeSet<Path>,
    handler_owed: BTreeSet<Path>,
    roles: BTreeMap<Path, Role>,
    /// Blocks that fail and lanes that lost.
    scopes: BTreeSet<Path>,
    ending: bool,
    /// The run was killed: nothing is undone.
    killed: bool,
}

impl Facts {
    fn is_ending(&self, node: &Path) -> bool {
        self.ending || node.around().skip(1).any(|around| self.scopes.contains(&around))
    }
}

struct Planned<'a> {
    plan: &'a IndexedPlan,
    /// By the path in the plan.
    places: BTreeMap<String, Place<'a>>,
    facts: Facts,
    undo: UndoList,
    results: Results,
    violations: &'a mut Vec<Violation>,
}

impl<'a> Planned<'a> {
    fn place(&mut self, block: &'a Block, owner: &Path, lane: Lane<'a>) {
        let mut previous = None;
        for node in &block.nodes {
            let path = owner.child(&node.id);
            let before = match block.order {
                Order::Sequence => previous.into_iter().collect(),
                Order::Graph => node.after.iter().map(String::as_str).collect(),
            };
            for (name, inner) in node.blocks() {
                match name {
                    Some(name) => self.place(inner, &path.child(name), Lane::Named(name)),
                    None if matches!(node.kind, NodeKind::Workflow(_)) => {
                        self.place(inner, &path, Lane::Nested);
                    }
                    None => self.place(inner, &path, Lane::Iteration),
                }
            }
            self.places.insert(path.as_str().to_owned(), Place { node, before, lane });
            previous = Some(node.id.as_str());
        }
    }

    fn require(&mut self, holds: bool, seq: Seq, rule: Rule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(Violation { seq, rule, message: message() });
        }
    }

    fn kind(&self, node: &Path) -> Option<&'a NodeKind> {
        self.places.get(&*node.in_plan()).map(|place| &place.node.kind)
    }

    fn happened(&mut self, event: &Event) {
        let seq = event.seq;
        match &event.event {
            Kind::RunStarted { plan: hash, .. } => {
                let same = hash == self.plan.hash();
                self.require(same, seq, Rule::Settings, || "the run has another plan".into());
            }
            Kind::NodeImported { node, .. } => {
                self.facts.ended.insert(node.clone());
            }
            Kind::LaneImported { lane, index, .. } => {
                if let Some((supervisor, _)) = lane.as_iteration() {
                    self.facts.imported.insert(supervisor, *index);
                }
            }
            Kind::ChildEnded { node, child, undoable, .. } => {
                if *undoable {
                    self.undo.completed(Done::child(node, child));
                }
            }
            Kind::ChildUndoing { node, child, .. } => {
                let done = Done::child(node, child);
                let owed = self.undo.has(&done);
                self.require(owed, seq, Rule::Undo, || format!("{done} is undone and was not to be"));
                self.undoes(&done, seq);
            }
            Kind::CallStarted { node, role, attempt, .. } => {
                self.facts.roles.insert(node.clone(), *role);
                self.facts.let_go.remove(node);
                if *role == Role::Compensate {
                    self.undoes(&Done::step(node), seq);
                } else {
                    self.begins(node, seq);
                }
                self.call_is_allowed(node, *role, *attempt, seq);
            }
            Kind::CallSucceeded { node, skipped, .. } => match self.facts.roles.get(node) {
                Some(Role::Step) => {
                    let undoable =
                        matches!(self.kind(node), Some(NodeKind::Step(step)) if step.compensate.is_some());
                    if undoable && !skipped {
                        self.undo.completed(Done::step(node));
                    }
                    self.settle(node);
                }
                Some(Role::OnError) => self.settle(node),
                _ => {}
            },
            Kind::CallFailed { node, verdict, failure, told, .. } => {
                let by_word = failure.code == code::TIMEOUT || failure.code == code::INTERRUPTED;
                self.step_failed(node, *verdict, *told || by_word);
                self.call_failed(node, *verdict);
            }
            Kind::CallLost { node, .. } => {
                if self.facts.roles.get(node) == Some(&Role::Step) {
                    self.facts.lost.insert(node.clone());
                    self.facts.unknown.insert(node.clone());
                }
            }
            Kind::CallCancelled { node, .. } => {
                if self.facts.roles.get(node) == Some(&Role::Step) {
                    self.facts.unknown.insert(node.clone());
                    self.may_have_acted(node);
                }
                self.settle(node);
            }
            Kind::NodeCancelled { node } => {
                if !self.facts.ended.contains(node) {
                    self.may_have_acted(node);
                }
                self.settle(node);
            }
            Kind::CallSuspended { node, .. } => {
                self.facts.let_go.insert(node.clone());
            }
            Kind::NodeStarted { node, case, count, window } => {
                self.begins(node, seq);
                let (case, count, window) = (case.clone(), *count, *window);
                let ended = (0..self.facts.imported.get(node).copied().unwrap_or(0)).collect();
                self.facts.started.insert(node.clone(), Lanes { case, count, window, ended, completed: 0 });
            }
            Kind::LaneEnded { lane, index, outcome, .. } => self.lane_ended(lane, *index, outcome, seq),
            Kind::LaneStopping { lane, .. } => {
                self.may_lose(lane, seq);
                self.facts.scopes.insert(lane.clone());
                self.undo.lost(lane);
            }
            Kind::BlockFailing { node, child, .. } => {
                let inside = child.is_within(node);
                self.require(inside, seq, Rule::Order, || format!("`{child}` is not inside of `{node}`"));
                self.facts.scopes.insert(node.clone());
            }
            Kind::NodeCompleted { node, .. } => {
                self.is_done(node, seq);
                self.settle(node);
            }
            Kind::NodeFailed { node, .. } => {
                self.facts.ended.insert(node.clone());
                if self.has_handler(node) && !self.facts.is_ending(node) {
                    self.facts.handler_owed.insert(node.clone());
                }
            }
            Kind::SleepStarted { node, .. }
            | Kind::SignalAwaited { node, .. }
            | Kind::NodeHeld { node, .. } => self.begins(node, seq),
            Kind::SleepEnded { node }
            | Kind::SignalTaken { node, op: None, .. }
            | Kind::SignalTimedOut { node, op: None, .. } => self.settle(node),
            Kind::CancelRequested { kill, .. } => {
                self.facts.ending = true;
                if *kill {
                    self.facts.killed = true;
                    self.undo.forget();
                }
            }
            Kind::RunFailing { .. } => self.facts.ending = true,
            Kind::RunCompleted { .. } => {
                let block = &self.plan.plan().block;
                let open = block.nodes.iter().map(|node| Path::root().child(&node.id));
                let open = open.into_iter().find(|path| !self.facts.ended.contains(path));
                self.require(open.is_none(), seq, Rule::Order, || {
                    format!("`{}` has not ended", open.unwrap_or_else(Path::root))
                });
                self.undo.keep();
                self.nothing_is_owed(seq);
            }
            Kind::RunFailed { .. } => {
                self.nothing_is_owed(seq);
                // A kill ends a run that is failing without its handler.
                let owed = self.plan.plan().on_error.is_some()
                    && !self.facts.killed
                    && !self.facts.roles.contains_key(&Path::root());
                self.require(!owed, seq, Rule::Settings, || "the run's handler was not called".into());
            }
            Kind::RunCancelled { .. } => self.nothing_is_owed(seq),
            Kind::DecisionImported { .. }
            | Kind::NodeBlocked { .. }
            | Kind::NodeUnblocked { .. }
            | Kind::SignalReceived { .. }
            | Kind::SignalTaken { .. }
            | Kind::SignalTimedOut { .. }
            | Kind::OpStarted { .. }
            | Kind::OpEnded { .. }
            | Kind::OpDropped { .. }
            | Kind::OpStopping { .. }
            | Kind::ChildStarted { .. }
            | Kind::ChildRetried { .. }
            | Kind::ChildUndone { .. }
            | Kind::ClockSetBack { .. }
            | Kind::RunPaused {}
            | Kind::RunResumed {}
            | Kind::Joined { .. } => {}
        }
    }

    /// What is given is what the plan says.
    fn gives(&mut self, event: &Event) {
        let (whose, wrong) = match &event.event {
            Kind::RunCompleted { output, .. } => {
                ("the run".to_owned(), self.results.of_block(&self.plan.plan().block, &Path::root(), *output))
            }
            Kind::NodeCompleted { node, result } => {
                let lanes = self.facts.started.get(node);
                let (case, count) = lanes.map_or((None, None), |lanes| (lanes.case.as_deref(), lanes.count));
                let kind = self.kind(node);
                let wrong = kind.and_then(|kind| self.results.of_node(kind, node, case, count, *result));
                (format!("`{node}`"), wrong)
            }
            Kind::LaneEnded { lane, outcome: LaneOutcome::Completed, result, .. } => {
                let block = self.block_of(lane);
                let wrong = block.and_then(|block| self.results.of_block(block, lane, *result));
                (format!("`{lane}`"), wrong)
            }
            _ => return,
        };
        self.require(wrong.is_none(), event.seq, Rule::Results, || {
            format!("{whose} gives what is not its result: {}", wrong.unwrap_or_default())
        });
    }

    /// The block of an iteration or a branch.
    fn block_of(&self, lane: &Path) -> Option<&'a Block> {
        if let Some((supervisor, _)) = lane.as_iteration() {
            return match self.kind(&supervisor)? {
                NodeKind::Loop(each) => Some(&each.body),
                NodeKind::ForEach(each) => Some(&each.body),
                _ => None,
            };
        }
        match self.kind(&lane.parent()?)? {
            NodeKind::Parallel(parallel) => {
                let named = parallel.branches.iter().find(|branch| branch.name == lane.id());
                named.map(|branch| &branch.block)
            }
            _ => None,
        }
    }

    fn undoes(&mut self, done: &Done, seq: Seq) {
        let before = self.undo.begin(done);
        self.require(before.is_none(), seq, Rule::Undo, || {
            format!("{} is to be undone before {done}", before.unwrap_or_default())
        });
    }

    /// A node failed by itself or its handler's turn is over.
    fn settle(&mut self, node: &Path) {
        self.facts.ended.insert(node.clone());
        self.facts.handler_owed.remove(node);
    }

    /// A step's call failed, and it is or is not known what it did.
    fn step_failed(&mut self, node: &Path, verdict: Verdict, unknown: bool) {
        if self.facts.roles.get(node) != Some(&Role::Step) {
            return;
        }
        if unknown {
            self.facts.unknown.insert(node.clone());
        }
        if !matches!(verdict, Verdict::RetryAt(_)) {
            self.may_have_acted(node);
        }
    }

    /// A step has ended without a result. If one of its calls may have acted, it is to be undone like one that completed.
    fn may_have_acted(&mut self, node: &Path) {
        let undoable = matches!(self.kind(node), Some(NodeKind::Step(step)) if step.compensate.is_some());
        if undoable
            && !self.facts.killed
            && (self.facts.unknown.contains(node) || self.facts.let_go.contains(node))
        {
            self.undo.completed(Done::step(node));
        }
    }

    fn call_failed(&mut self, node: &Path, verdict: Verdict) {
        if matches!(verdict, Verdict::RetryAt(_)) {
            return;
        }
        match self.facts.roles.get(node) {
            Some(Role::Step) if self.has_handler(node) && !self.facts.is_ending(node) => {
                self.facts.ended.insert(node.clone());
                self.facts.handler_owed.insert(node.clone());
            }
            _ => self.settle(node),
        }
    }

    fn has_handler(&self, node: &Path) -> bool {
        match self.kind(node) {
            Some(NodeKind::Step(step)) => step.on_error.is_some(),
            Some(NodeKind::Workflow(nested)) => nested.on_error.is_some(),
            _ => false,
        }
    }

    /// A node begins, or goes on: what is before it is over, and what is around it has come to it.
    fn begins(&mut self, node: &Path, seq: Seq) {
        let Some(lane) = node.parent() else { return };
        let Some(place) = self.places.get(&*node.in_plan()) else {
            return self.require(false, seq, Rule::Order, || format!("`{node}` is not in the plan"));
        };
        let facts = &self.facts;
        let over = |path: &Path| facts.ended.contains(path) && !facts.handler_owed.contains(path);
        let mut before = place.before.iter().map(|id| lane.child(id));
        let missing = before.find(|before| !over(before));
        let around = self.turn_of(place.lane, &lane);
        self.require(missing.is_none(), seq, Rule::Order, || {
            format!("`{}` comes before `{node}`", missing.unwrap_or_else(Path::root))
        });
        self.require(around.is_none(), seq, Rule::Order, || {
            format!("`{node}` begins, but {}", around.unwrap_or_default())
        });
    }

    /// Why it is not a lane's turn.
    fn turn_of(&self, kind: Lane<'_>, lane: &Path) -> Option<String> {
        let not_started = |node: &Path| format!("`{node}`, around it, has not started");
        match kind {
            Lane::Run => None,
            Lane::Nested => (!self.facts.started.contains_key(lane)).then(|| not_started(lane)),
            Lane::Named(name) => {
                let supervisor = lane.parent()?;
                let Some(started) = self.facts.started.get(&supervisor) else {
                    return Some(not_started(&supervisor));
                };
                let chosen = started.case.as_deref();
                let branch = matches!(self.kind(&supervisor), Some(NodeKind::Branch(_)));
                (branch && chosen != Some(name)).then(|| format!("`{supervisor}` chose {chosen:?}"))
            }
            Lane::Iteration => {
                let (supervisor, index) = lane.as_iteration()?;
                let Some(started) = self.facts.started.get(&supervisor) else {
                    return Some(not_started(&supervisor));
                };
                let ended = u32::try_from(started.ended.len()).unwrap_or(u32::MAX);
                let window = match self.kind(&supervisor) {
                    Some(NodeKind::Loop(_)) => 1,
                    _ => started.window.unwrap_or(u32::MAX),
                };
                let within =
                    index < ended.saturating_add(window) && started.count.is_none_or(|count| index < count);
                (!within).then(|| format!("`{supervisor}` has ended {ended} and does {window} at a time"))
            }
        }
    }

    fn lane_ended(&mut self, lane: &Path, index: u32, outcome: &LaneOutcome, seq: Seq) {
        let supervisor = lane.as_iteration().map(|(supervisor, _)| supervisor).or_else(|| lane.parent());
        let started = supervisor.and_then(|supervisor| self.facts.started.get_mut(&supervisor));
        // A lane that had failed when another won is undone, and ends once more.
        let lost = *outcome == LaneOutcome::Cancelled && self.facts.scopes.contains(lane);
        let first = started.is_some_and(|lanes| {
            lanes.completed += u32::from(*outcome == LaneOutcome::Completed);
            lanes.ended.insert(index) || lost
        });
        self.require(first, seq, Rule::Outcomes, || format!("`{lane}` ends twice, or did not begin"));
    }

    /// A lane is stopped only where others can win, and have.
    fn may_lose(&mut self, lane: &Path, seq: Seq) {
        let supervisor = lane.parent().unwrap_or_else(Path::root);
        let won = match self.kind(&supervisor) {
            Some(NodeKind::Parallel(parallel)) if parallel.join != Join::All => {
                let lanes = self.facts.started.get(&supervisor);
                lanes.is_some_and(|lanes| lanes.completed >= wanted(parallel))
            }
            _ => false,
        };
        self.require(won, seq, Rule::Ending, || format!("`{lane}` is stopped, and nobody has won"));
    }

    /// A supervisor completes when what it waits for is there.
    fn is_done(&mut self, node: &Path, seq: Seq) {
        let Some(lanes) = self.facts.started.get(node) else { return };
        let ended = u32::try_from(lanes.ended.len()).unwrap_or(u32::MAX);
        let all = |block: &Block, lane: &Path| {
            block.nodes.iter().all(|inner| self.facts.ended.contains(&lane.child(&inner.id)))
        };
        let done = match self.kind(node) {
            Some(NodeKind::Workflow(nested)) => all(&nested.block, node),
            Some(NodeKind::Branch(branch)) => lanes.case.as_ref().is_none_or(|case| {
                let named = branch.cases.iter().find(|named| named.name == *case).map(|named| &named.block);
                named.or(branch.default.as_ref()).is_some_and(|block| all(block, &node.child(case)))
            }),
            Some(NodeKind::Loop(each)) => ended > 0 || matches!(each.test, LoopTest::While(_)),
            Some(NodeKind::ForEach(_)) => lanes.count.is_some_and(|count| ended == count),
            Some(NodeKind::Parallel(parallel)) => match parallel.join {
                Join::All => ended == wanted(parallel),
                Join::First | Join::N(_) => lanes.completed >= wanted(parallel),
            },
            _ => true,
        };
        self.require(done, seq, Rule::Order, || format!("`{node}` completes before what is inside of it"));
    }

    fn call_is_allowed(&mut self, node: &Path, role: Role, attempt: u32, seq: Seq) {
        let kind = self.kind(node);
        let (fits, most) = match (role, kind) {
            (Role::OnError, _) if node.is_root() => (self.plan.plan().on_error.is_some(), 1),
            (Role::OnError, _) => (self.has_handler(node), 1),
            (Role::Step, Some(NodeKind::Step(step))) => (true, step.retry.max_attempts.unwrap_or(u32::MAX)),
            (Role::Compensate, Some(NodeKind::Step(step))) => {
                let most = step.compensate.as_ref().map(|undo| undo.retry.max_attempts);
                (most.is_some(), most.flatten().unwrap_or(COMPENSATIONS_MAX))
            }
            (Role::Input, Some(NodeKind::Workflow(nested))) => (nested.input.is_some(), 1),
            (Role::Wait, Some(NodeKind::Sleep(sleep))) => (matches!(sleep.wait, Wait::Computed(_)), 1),
            (Role::Choose, Some(NodeKind::Branch(_)))
            | (Role::Test, Some(NodeKind::Loop(_)))
            | (Role::Items, Some(NodeKind::ForEach(_))) => (true, 1),
            (Role::Finally, Some(NodeKind::Parallel(parallel))) => (parallel.finally.is_some(), 1),
            _ => (false, 1),
        };
        self.require(fits, seq, Rule::Settings, || format!("`{node}` has no function for {role:?}"));
        self.require(attempt <= most, seq, Rule::Settings, || {
            format!("attempt {attempt} of `{node}`, which allows {most}")
        });
        let once = matches!(kind, Some(NodeKind::Step(step)) if step.at_most_once);
        let again = role == Role::Step && once && self.facts.lost.contains(node);
        self.require(!again, seq, Rule::Settings, || format!("`{node}` is at most once and is called again"));
    }

    /// Every handler and compensation that was to be called has been, or was dropped because all was ending.
    fn nothing_is_owed(&mut self, seq: Seq) {
        let owed = self.facts.handler_owed.first().map(|node| format!("`{node}`")).unwrap_or_default();
        self.require(owed.is_empty(), seq, Rule::Settings, || {
            format!("the handler of {owed} was not called")
        });
        let owed = self.undo.first().map(ToString::to_string).unwrap_or_default();
        self.require(owed.is_empty(), seq, Rule::Undo, || format!("{owed} was not undone"));
    }
}

fn wanted(parallel: &Parallel) -> u32 {
    match parallel.join {
        Join::All => u32::try_from(parallel.branches.len()).unwrap_or(u32::MAX),
        Join::First => 1,
        Join::N(n) => n,
    }
}
