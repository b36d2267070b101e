//! The rules that need the plan: order, lanes, and what the settings allow.

use std::collections::{BTreeMap, BTreeSet};

use super::results::SeenResults;
use super::undo::{DoneStep, ExpectedUndo};
use super::{HistoryRule, RuleViolation};
use crate::event::{CallRole, Event, EventKind, FailureVerdict, LaneOutcome};
use crate::failure::code;
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{BlockOrder, IndexedPlan, Join, LoopTest, Node, NodeKind, ParallelNode, PlanBlock};

/// How often a compensation is tried that does not say.
const COMPENSATIONS_MAX: u32 = 3;

pub(super) fn check(plan: &IndexedPlan, events: &[Event], violations: &mut Vec<RuleViolation>) {
    let mut planned = PlannedChecker {
        plan,
        places: BTreeMap::new(),
        facts: PlannedFacts::default(),
        undo: ExpectedUndo::default(),
        results: SeenResults::default(),
        violations,
    };
    planned.place(&plan.plan().block, &Path::root(), LaneKind::Run);
    for event in events {
        planned.gives(event);
        planned.check_event(event);
        let role = event.kind.node().and_then(|node| planned.facts.roles.get(node).copied());
        planned.results.note(event, role);
    }
}

/// Where a node is in the plan.
struct PlanPosition<'a> {
    node: &'a Node,
    before: ComesBefore<'a>,
    lane: LaneKind<'a>,
}

/// What of its block comes before a node.
enum ComesBefore<'a> {
    /// The nodes with these ids.
    Ids(Vec<&'a str>),
    /// All nodes of the phase before.
    Phase(&'a [Node]),
}

/// What kind of lane a block runs in.
#[derive(Clone, Copy)]
enum LaneKind<'a> {
    Run,
    Nested,
    Iteration,
    Named(&'a str),
}

/// What a supervisor was started with, and what became of its lanes.
struct SeenLanes {
    case: Option<String>,
    count: Option<u32>,
    window: Option<u32>,
    ended: BTreeSet<u32>,
    completed: u32,
}

#[derive(Default)]
struct PlannedFacts {
    ended: BTreeSet<Path>,
    started: BTreeMap<Path, SeenLanes>,
    /// How many iterations of a loop were taken over without a word about their end.
    imported: BTreeMap<Path, u32>,
    lost: BTreeSet<Path>,
    /// Steps with a call of which is not known whether it acted.
    unknown: BTreeSet<Path>,
    /// Steps whose call was suspended while it waited.
    let_go: BTreeSet<Path>,
    handler_owed: BTreeSet<Path>,
    roles: BTreeMap<Path, CallRole>,
    /// Blocks that fail and lanes that lost.
    scopes: BTreeSet<Path>,
    /// Phases of which all nodes have ended, by their lane: looked at once, and not for each node of the next.
    phases_over: BTreeSet<(Path, u32)>,
    ending: bool,
    /// The run was killed: nothing is undone.
    killed: bool,
}

impl PlannedFacts {
    /// Whether a node has ended and nothing is owed for it any more.
    fn is_over(&self, node: &Path) -> bool {
        self.ended.contains(node) && !self.handler_owed.contains(node)
    }

    fn is_ending(&self, node: &Path) -> bool {
        self.ending || node.around().skip(1).any(|around| self.scopes.contains(&around))
    }
}

struct PlannedChecker<'a> {
    plan: &'a IndexedPlan,
    /// By the path in the plan.
    places: BTreeMap<String, PlanPosition<'a>>,
    facts: PlannedFacts,
    undo: ExpectedUndo,
    results: SeenResults,
    violations: &'a mut Vec<RuleViolation>,
}

impl<'a> PlannedChecker<'a> {
    fn place(&mut self, block: &'a PlanBlock, owner: &Path, lane: LaneKind<'a>) {
        let mut previous = None;
        let phases: Vec<&[Node]> = block.nodes.chunk_by(|one, next| one.phase == next.phase).collect();
        for node in &block.nodes {
            let path = owner.child(&node.id);
            let before = match block.order {
                BlockOrder::Sequence => ComesBefore::Ids(previous.into_iter().collect()),
                BlockOrder::Graph => ComesBefore::Ids(node.after.iter().map(String::as_str).collect()),
                BlockOrder::Phases => {
                    let before = phases.partition_point(|phase| phase[0].phase < node.phase).checked_sub(1);
                    ComesBefore::Phase(before.map_or(&[], |before| phases[before]))
                }
            };
            for (name, inner) in node.blocks() {
                match name {
                    Some(name) => self.place(inner, &path.child(name), LaneKind::Named(name)),
                    None if matches!(node.kind, NodeKind::Workflow(_)) => {
                        self.place(inner, &path, LaneKind::Nested);
                    }
                    None => self.place(inner, &path, LaneKind::Iteration),
                }
            }
            self.places.insert(path.as_str().to_owned(), PlanPosition { node, before, lane });
            previous = Some(node.id.as_str());
        }
    }

    fn require(&mut self, holds: bool, seq: Seq, rule: HistoryRule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(RuleViolation { seq, rule, message: message() });
        }
    }

    fn kind(&self, node: &Path) -> Option<&'a NodeKind> {
        self.places.get(&*node.in_plan()).map(|place| &place.node.kind)
    }

    fn check_event(&mut self, event: &Event) {
        let seq = event.seq;
        match &event.kind {
            EventKind::RunStarted { plan: hash, .. } => {
                let same = hash == self.plan.hash();
                self.require(same, seq, HistoryRule::Settings, || "the run has another plan".into());
            }
            EventKind::NodeImported { node, .. } => {
                self.facts.ended.insert(node.clone());
            }
            EventKind::LaneImported { lane, index, .. } => {
                if let Some((supervisor, _)) = lane.as_iteration() {
                    self.facts.imported.insert(supervisor, *index);
                }
            }
            EventKind::ChildEnded { node, child, undoable, .. } => {
                if *undoable {
                    self.undo.completed(DoneStep::child(node, child));
                }
            }
            EventKind::ChildUndoing { node, child, .. } => {
                let done = DoneStep::child(node, child);
                let owed = self.undo.has(&done);
                self.require(owed, seq, HistoryRule::Undo, || format!("{done} is undone and was not to be"));
                self.undoes(&done, seq);
            }
            EventKind::CallStarted { node, role, attempt, .. } => {
                self.facts.roles.insert(node.clone(), *role);
                self.facts.let_go.remove(node);
                if *role == CallRole::Compensate {
                    self.undoes(&DoneStep::step(node), seq);
                } else {
                    self.begins(node, seq);
                }
                self.call_is_allowed(node, *role, *attempt, seq);
            }
            EventKind::CallSucceeded { node, skipped, .. } => match self.facts.roles.get(node) {
                Some(CallRole::Step) => {
                    let undoable =
                        matches!(self.kind(node), Some(NodeKind::Step(step)) if step.compensate.is_some());
                    if undoable && !skipped {
                        self.undo.completed(DoneStep::step(node));
                    }
                    self.settle(node);
                }
                Some(CallRole::OnError) => self.settle(node),
                _ => {}
            },
            EventKind::CallFailed { node, verdict, failure, told, .. } => {
                let by_word = failure.code == code::TIMEOUT || failure.code == code::INTERRUPTED;
                self.step_failed(node, *verdict, *told || by_word);
                self.call_failed(node, *verdict);
            }
            EventKind::CallLost { node, .. } => {
                if self.facts.roles.get(node) == Some(&CallRole::Step) {
                    self.facts.lost.insert(node.clone());
                    self.facts.unknown.insert(node.clone());
                }
            }
            EventKind::CallCancelled { node, .. } => {
                if self.facts.roles.get(node) == Some(&CallRole::Step) {
                    self.facts.unknown.insert(node.clone());
                    self.may_have_acted(node);
                }
                self.settle(node);
            }
            EventKind::NodeCancelled { node } => {
                if !self.facts.ended.contains(node) {
                    self.may_have_acted(node);
                }
                self.settle(node);
            }
            EventKind::CallSuspended { node, .. } => {
                self.facts.let_go.insert(node.clone());
            }
            EventKind::NodeStarted { node, case, count, window } => {
                self.begins(node, seq);
                let (case, count, window) = (case.clone(), *count, *window);
                let ended = (0..self.facts.imported.get(node).copied().unwrap_or(0)).collect();
                self.facts
                    .started
                    .insert(node.clone(), SeenLanes { case, count, window, ended, completed: 0 });
            }
            EventKind::LaneEnded { lane, index, outcome, .. } => self.lane_ended(lane, *index, outcome, seq),
            EventKind::LaneStopping { lane, .. } => {
                self.may_lose(lane, seq);
                self.facts.scopes.insert(lane.clone());
                self.undo.lost(lane);
            }
            EventKind::BlockFailing { node, child, .. } => {
                let inside = child.is_within(node);
                self.require(inside, seq, HistoryRule::Order, || {
                    format!("`{child}` is not inside of `{node}`")
                });
                self.facts.scopes.insert(node.clone());
            }
            EventKind::NodeCompleted { node, .. } => {
                self.is_done(node, seq);
                self.settle(node);
            }
            EventKind::NodeFailed { node, .. } => {
                self.facts.ended.insert(node.clone());
                if self.has_handler(node) && !self.facts.is_ending(node) {
                    self.facts.handler_owed.insert(node.clone());
                }
            }
            EventKind::SleepStarted { node, .. }
            | EventKind::SignalAwaited { node, .. }
            | EventKind::NodeHeld { node, .. } => self.begins(node, seq),
            EventKind::SleepEnded { node }
            | EventKind::SignalTaken { node, op: None, .. }
            | EventKind::SignalTimedOut { node, op: None, .. } => self.settle(node),
            EventKind::CancelRequested { kill, .. } => {
                self.facts.ending = true;
                if *kill {
                    self.facts.killed = true;
                    self.undo.forget();
                }
            }
            EventKind::RunFailing { .. } => self.facts.ending = true,
            EventKind::RunCompleted { triggers, .. } => {
                let owes = !self.plan.plan().triggers.is_empty();
                self.require(triggers.is_some() == owes, seq, HistoryRule::Settings, || {
                    let which = if owes { "no run that starts" } else { "a run that starts" };
                    format!("it names {which} what it triggers")
                });
                let block = &self.plan.plan().block;
                let open = block.nodes.iter().map(|node| Path::root().child(&node.id));
                let open = open.into_iter().find(|path| !self.facts.ended.contains(path));
                self.require(open.is_none(), seq, HistoryRule::Order, || {
                    format!("`{}` has not ended", open.unwrap_or_else(Path::root))
                });
                self.undo.keep();
                self.nothing_is_owed(seq);
            }
            EventKind::RunFailed { .. } => {
                self.nothing_is_owed(seq);
                // A kill ends a run that is failing without its handler.
                let owed = self.plan.plan().on_error.is_some()
                    && !self.facts.killed
                    && !self.facts.roles.contains_key(&Path::root());
                self.require(!owed, seq, HistoryRule::Settings, || "the run's handler was not called".into());
            }
            EventKind::RunCancelled { .. } => self.nothing_is_owed(seq),
            EventKind::DecisionImported { .. }
            | EventKind::NodeBlocked { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::SignalTaken { .. }
            | EventKind::SignalTimedOut { .. }
            | EventKind::OpStarted { .. }
            | EventKind::OpEnded { .. }
            | EventKind::OpDropped { .. }
            | EventKind::OpStopping { .. }
            | EventKind::ChildStarted { .. }
            | EventKind::ChildRetried { .. }
            | EventKind::ChildUndone { .. }
            | EventKind::ClockSetBack { .. }
            | EventKind::RunPaused {}
            | EventKind::RunResumed {}
            | EventKind::Joined { .. } => {}
        }
    }

    /// What is given is what the plan says.
    fn gives(&mut self, event: &Event) {
        let (whose, wrong) = match &event.kind {
            EventKind::RunCompleted { output, .. } => {
                ("the run".to_owned(), self.results.of_block(&self.plan.plan().block, &Path::root(), *output))
            }
            EventKind::NodeCompleted { node, result } => {
                let lanes = self.facts.started.get(node);
                let (case, count) = lanes.map_or((None, None), |lanes| (lanes.case.as_deref(), lanes.count));
                let kind = self.kind(node);
                let wrong = kind.and_then(|kind| self.results.of_node(kind, node, case, count, *result));
                (format!("`{node}`"), wrong)
            }
            EventKind::LaneEnded { lane, outcome: LaneOutcome::Completed, result, .. } => {
                let block = self.block_of(lane);
                let wrong = block.and_then(|block| self.results.of_block(block, lane, *result));
                (format!("`{lane}`"), wrong)
            }
            EventKind::RunStarted { .. }
            | EventKind::NodeImported { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::LaneImported { .. }
            | EventKind::CallStarted { .. }
            | EventKind::CallSucceeded { .. }
            | EventKind::CallFailed { .. }
            | EventKind::CallLost { .. }
            | EventKind::CallCancelled { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::LaneEnded { .. }
            | EventKind::BlockFailing { .. }
            | EventKind::LaneStopping { .. }
            | EventKind::Joined { .. }
            | EventKind::NodeFailed { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::NodeHeld { .. }
            | EventKind::NodeBlocked { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SleepStarted { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::SignalAwaited { .. }
            | EventKind::SignalTaken { .. }
            | EventKind::SignalTimedOut { .. }
            | EventKind::OpStarted { .. }
            | EventKind::OpEnded { .. }
            | EventKind::OpDropped { .. }
            | EventKind::OpStopping { .. }
            | EventKind::ChildStarted { .. }
            | EventKind::ChildRetried { .. }
            | EventKind::ChildEnded { .. }
            | EventKind::ChildUndoing { .. }
            | EventKind::ChildUndone { .. }
            | EventKind::CallSuspended { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused {}
            | EventKind::RunResumed {}
            | EventKind::ClockSetBack { .. }
            | EventKind::RunFailing { .. }
            | EventKind::RunFailed { .. }
            | EventKind::RunCancelled { .. } => return,
        };
        self.require(wrong.is_none(), event.seq, HistoryRule::Results, || {
            format!("{whose} gives what is not its result: {}", wrong.unwrap_or_default())
        });
    }

    /// The block of an iteration or a branch.
    fn block_of(&self, lane: &Path) -> Option<&'a PlanBlock> {
        if let Some((supervisor, _)) = lane.as_iteration() {
            return match self.kind(&supervisor)? {
                NodeKind::Loop(each) => Some(&each.body),
                NodeKind::ForEach(each) => Some(&each.body),
                NodeKind::Step(_)
                | NodeKind::Sleep(_)
                | NodeKind::Signal(_)
                | NodeKind::Branch(_)
                | NodeKind::Parallel(_)
                | NodeKind::Workflow(_) => None,
            };
        }
        match self.kind(&lane.parent()?)? {
            NodeKind::Parallel(parallel) => {
                let named = parallel.branches.iter().find(|branch| branch.name == lane.id());
                named.map(|branch| &branch.block)
            }
            NodeKind::Step(_)
            | NodeKind::Sleep(_)
            | NodeKind::Signal(_)
            | NodeKind::Branch(_)
            | NodeKind::Loop(_)
            | NodeKind::ForEach(_)
            | NodeKind::Workflow(_) => None,
        }
    }

    fn undoes(&mut self, done: &DoneStep, seq: Seq) {
        let before = self.undo.begin(done);
        self.require(before.is_none(), seq, HistoryRule::Undo, || {
            format!("{} is to be undone before {done}", before.unwrap_or_default())
        });
    }

    /// A node failed by itself or its handler's turn is over.
    fn settle(&mut self, node: &Path) {
        self.facts.ended.insert(node.clone());
        self.facts.handler_owed.remove(node);
    }

    /// A step's call failed, and it is or is not known what it did.
    fn step_failed(&mut self, node: &Path, verdict: FailureVerdict, unknown: bool) {
        if self.facts.roles.get(node) != Some(&CallRole::Step) {
            return;
        }
        if unknown {
            self.facts.unknown.insert(node.clone());
        }
        if !matches!(verdict, FailureVerdict::RetryAt(_)) {
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
            self.undo.completed(DoneStep::step(node));
        }
    }

    fn call_failed(&mut self, node: &Path, verdict: FailureVerdict) {
        if matches!(verdict, FailureVerdict::RetryAt(_)) {
            return;
        }
        match self.facts.roles.get(node) {
            Some(CallRole::Step) if self.has_handler(node) && !self.facts.is_ending(node) => {
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
            Some(
                NodeKind::Sleep(_)
                | NodeKind::Signal(_)
                | NodeKind::Branch(_)
                | NodeKind::Loop(_)
                | NodeKind::ForEach(_)
                | NodeKind::Parallel(_),
            )
            | None => false,
        }
    }

    /// A node begins, or goes on: what is before it is over, and what is around it has come to it.
    fn begins(&mut self, node: &Path, seq: Seq) {
        let Some(lane) = node.parent() else { return };
        let Some(place) = self.places.get(&*node.in_plan()) else {
            return self.require(false, seq, HistoryRule::Order, || format!("`{node}` is not in the plan"));
        };
        let around = self.turn_of(place.lane, &lane);
        let missing = match &place.before {
            ComesBefore::Ids(ids) => ids.iter().map(|id| lane.child(id)).find(|it| !self.facts.is_over(it)),
            &ComesBefore::Phase(nodes) => self.open_in_phase(&lane, nodes),
        };
        self.require(missing.is_none(), seq, HistoryRule::Order, || {
            format!("`{}` comes before `{node}`", missing.unwrap_or_else(Path::root))
        });
        self.require(around.is_none(), seq, HistoryRule::Order, || {
            format!("`{node}` begins, but {}", around.unwrap_or_default())
        });
    }

    /// A node of a phase that has not ended.
    fn open_in_phase(&mut self, lane: &Path, nodes: &[Node]) -> Option<Path> {
        let phase = (lane.clone(), nodes.first()?.phase);
        if self.facts.phases_over.contains(&phase) {
            return None;
        }
        let open = nodes.iter().map(|node| lane.child(&node.id)).find(|node| !self.facts.is_over(node));
        if open.is_none() {
            self.facts.phases_over.insert(phase);
        }
        open
    }

    /// Why it is not a lane's turn.
    fn turn_of(&self, kind: LaneKind<'_>, lane: &Path) -> Option<String> {
        let not_started = |node: &Path| format!("`{node}`, around it, has not started");
        match kind {
            LaneKind::Run => None,
            LaneKind::Nested => (!self.facts.started.contains_key(lane)).then(|| not_started(lane)),
            LaneKind::Named(name) => {
                let supervisor = lane.parent()?;
                let Some(started) = self.facts.started.get(&supervisor) else {
                    return Some(not_started(&supervisor));
                };
                let chosen = started.case.as_deref();
                let branch = matches!(self.kind(&supervisor), Some(NodeKind::Branch(_)));
                (branch && chosen != Some(name)).then(|| format!("`{supervisor}` chose {chosen:?}"))
            }
            LaneKind::Iteration => {
                let (supervisor, index) = lane.as_iteration()?;
                let Some(started) = self.facts.started.get(&supervisor) else {
                    return Some(not_started(&supervisor));
                };
                let ended = u32::try_from(started.ended.len()).unwrap_or(u32::MAX);
                let is_loop = matches!(self.kind(&supervisor), Some(NodeKind::Loop(_)));
                let window = if is_loop { 1 } else { started.window.unwrap_or(u32::MAX) };
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
        self.require(first, seq, HistoryRule::Outcomes, || format!("`{lane}` ends twice, or did not begin"));
    }

    /// A lane is stopped only where others can win, and have.
    fn may_lose(&mut self, lane: &Path, seq: Seq) {
        let supervisor = lane.parent().unwrap_or_else(Path::root);
        let lanes = self.facts.started.get(&supervisor);
        let won = match self.kind(&supervisor) {
            Some(NodeKind::Parallel(parallel)) => {
                parallel.join != Join::All && lanes.is_some_and(|lanes| lanes.completed >= wanted(parallel))
            }
            Some(
                NodeKind::Step(_)
                | NodeKind::Sleep(_)
                | NodeKind::Signal(_)
                | NodeKind::Branch(_)
                | NodeKind::Loop(_)
                | NodeKind::ForEach(_)
                | NodeKind::Workflow(_),
            )
            | None => false,
        };
        self.require(won, seq, HistoryRule::Ending, || format!("`{lane}` is stopped, and no other has won"));
    }

    /// A supervisor completes when what it waits for is there.
    fn is_done(&mut self, node: &Path, seq: Seq) {
        let Some(lanes) = self.facts.started.get(node) else { return };
        let ended = u32::try_from(lanes.ended.len()).unwrap_or(u32::MAX);
        let all = |block: &PlanBlock, lane: &Path| {
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
            Some(NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_)) | None => true,
        };
        self.require(done, seq, HistoryRule::Order, || {
            format!("`{node}` completes before what is inside of it")
        });
    }

    fn call_is_allowed(&mut self, node: &Path, role: CallRole, attempt: u32, seq: Seq) {
        let kind = self.kind(node);
        let fits = match kind {
            None => node.is_root() && role == CallRole::OnError && self.plan.plan().on_error.is_some(),
            Some(kind) => kind.function(role).is_some(),
        };
        let step = if let Some(NodeKind::Step(step)) = kind { Some(step) } else { None };
        let most = match (role, step) {
            (CallRole::Step, Some(step)) => step.retry.max_attempts.unwrap_or(u32::MAX),
            (CallRole::Compensate, Some(step)) => {
                let undo = step.compensate.as_ref();
                undo.and_then(|undo| undo.retry.max_attempts).unwrap_or(COMPENSATIONS_MAX)
            }
            _ => 1,
        };
        self.require(fits, seq, HistoryRule::Settings, || format!("`{node}` has no function for {role:?}"));
        self.require(attempt <= most, seq, HistoryRule::Settings, || {
            format!("attempt {attempt} of `{node}`, which allows {most}")
        });
        let once = matches!(kind, Some(NodeKind::Step(step)) if step.at_most_once);
        let again = role == CallRole::Step && once && self.facts.lost.contains(node);
        self.require(!again, seq, HistoryRule::Settings, || {
            format!("`{node}` is at most once and is called again")
        });
    }

    /// Every handler and compensation that was to be called has been, or was dropped because all was ending.
    fn nothing_is_owed(&mut self, seq: Seq) {
        let owed = self.facts.handler_owed.first().map(|node| format!("`{node}`")).unwrap_or_default();
        self.require(owed.is_empty(), seq, HistoryRule::Settings, || {
            format!("the handler of {owed} was not called")
        });
        let owed = self.undo.first().map(ToString::to_string).unwrap_or_default();
        self.require(owed.is_empty(), seq, HistoryRule::Undo, || format!("{owed} was not undone"));
    }
}

fn wanted(parallel: &ParallelNode) -> u32 {
    match parallel.join {
        Join::All => u32::try_from(parallel.branches.len()).unwrap_or(u32::MAX),
        Join::First => 1,
        Join::N(n) => n,
    }
}
