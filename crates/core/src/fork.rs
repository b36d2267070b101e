//! What a new run takes over from an old one.
//!
//! A run that goes on from another begins with what was recorded there up to a point. Only what the rest could not have
//! changed is taken: a node whose predecessors are all taken, too. So a step that was undone runs again, and so does
//! everything after it.
//!
//! | in the old run | is taken over as |
//! | --- | --- |
//! | a node that ended well, before the point | its outcome |
//! | a supervisor that ended well | its result; what is inside of it is not looked at |
//! | a supervisor that did not, or that the point lies in | its decision, and what is inside by the same rules |
//! | a loop | its last finished iteration before the point; what is inside of the next, if it had begun |
//! | a step that was undone, or failed, or was at work | nothing |

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::event::{EventKind, ImportedStatus};
use crate::failure::FailureRecord;
use crate::ids::{Seq, Time};
use crate::path::{self, Path};
use crate::plan::{
    BlockOrder, ForEachNode, FunctionRef, IndexedPlan, LoopNode, Node, NodeKind, Plan, PlanBlock, is_unnamed,
};
use crate::state::{LaneSlot, NodeState, RunState};
use crate::status::{NodeStatus, RunStatus};
use crate::value::Value;

/// Something taken over from another run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkImport {
    /// A node's outcome.
    Node(NodeImport),
    /// What a supervisor had decided.
    Decision {
        /// The supervisor.
        node: Path,
        /// The mapped input or the items.
        result: Value,
        /// The case of a branch.
        case: Option<String>,
        /// How many items there are.
        count: Option<u32>,
    },
    /// The iterations of a loop up to this one.
    Iteration {
        /// The iteration.
        lane: Path,
        /// Its number.
        index: u32,
        /// Its result.
        result: Value,
        /// The test has said that the loop goes on after it.
        tested: bool,
    },
}

/// A node's outcome taken over from another run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeImport {
    /// The node.
    pub node: Path,
    /// How it ended.
    pub status: ImportedStatus,
    /// Its result.
    pub result: Value,
    /// Its recorded state.
    pub state: Option<Value>,
    /// Its failure, if it was a soft one.
    pub failure: Option<FailureRecord>,
    /// When it began.
    pub started_at: Time,
    /// When it ended.
    pub ended_at: Time,
    /// Its run did not undo it: if the new one fails, it does.
    pub undoable: bool,
}

impl ForkImport {
    pub(crate) fn into_event(self) -> EventKind {
        match self {
            Self::Node(import) => import.into_event(),
            Self::Decision { node, result, case, count } => {
                EventKind::DecisionImported { node, result, case, count }
            }
            Self::Iteration { lane, index, result, tested } => {
                EventKind::LaneImported { lane, index, result, tested }
            }
        }
    }
}

impl NodeImport {
    fn into_event(self) -> EventKind {
        let Self { node, status, result, state, failure, started_at, ended_at, undoable } = self;
        EventKind::NodeImported { node, status, result, state, failure, started_at, ended_at, undoable }
    }
}

/// Reads what the events of the old run hold.
pub trait HistoryReader {
    /// The value that an event holds, or puts together.
    fn value(&self, seq: Seq) -> Option<Value>;
    /// The step state that it holds.
    fn state(&self, seq: Seq) -> Option<Value>;
    /// The failure that it holds.
    fn failure(&self, seq: Seq) -> Option<FailureRecord>;
}

/// What a run of `plan` takes over from a run whose whole state this is. Nothing is taken from each of the nodes at
/// `points` on.
pub fn imports(
    plan: &IndexedPlan,
    state: &RunState,
    points: &[Path],
    recorded: &dyn HistoryReader,
) -> Vec<ForkImport> {
    let mut fork = ForkBuilder { plan, state, points, recorded, taken: Vec::new() };
    fork.block(&plan.plan().block, &Path::root());
    fork.taken
}

/// The first node that is to be taken over and is another one now: one without a name of its own, which is found by its
/// place in the old plan and is something else at that place in the new one.
pub fn mistaken(old: &Plan, new: &Plan, imports: &[ForkImport]) -> Option<Path> {
    let (old, new) = (unnamed_functions(old), unnamed_functions(new));
    let is_changed = |import: &&Path, whole: bool| {
        let at = import.in_plan();
        let inside = format!("{at}/");
        let of = |all: &BTreeMap<String, Vec<String>>| -> Vec<(String, Vec<String>)> {
            let range = all.iter().filter(|(path, _)| **path == *at || (whole && path.starts_with(&inside)));
            range.map(|(path, functions)| (path.clone(), functions.clone())).collect()
        };
        of(&old) != of(&new)
    };
    imports.iter().find_map(|import| match import {
        ForkImport::Node(import) => Some(&import.node).filter(|node| is_changed(node, true)).cloned(),
        ForkImport::Decision { node: at, .. } | ForkImport::Iteration { lane: at, .. } => {
            Some(at).filter(|at| is_changed(at, false)).cloned()
        }
    })
}

/// The functions that have no name of their own, by the path of their node.
fn unnamed_functions(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    fn add(block: &PlanBlock, at: &Path, found: &mut BTreeMap<String, Vec<String>>) {
        for node in &block.nodes {
            let path = at.child(&node.id);
            // A built-in function has no name of its own either, but its node has: the author gave it one.
            let named = node.functions().into_iter().filter_map(FunctionRef::named);
            let unnamed: Vec<String> = named.filter(|name| is_unnamed(name)).map(str::to_owned).collect();
            if !unnamed.is_empty() {
                found.insert(path.to_string(), unnamed);
            }
            for (lane, block) in node.blocks() {
                let path = lane.map_or_else(|| path.clone(), |lane| path.child(lane));
                add(block, &path, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    add(&plan.block, &Path::root(), &mut found);
    found
}

struct ForkBuilder<'a> {
    plan: &'a IndexedPlan,
    state: &'a RunState,
    points: &'a [Path],
    recorded: &'a dyn HistoryReader,
    taken: Vec<ForkImport>,
}

impl ForkBuilder<'_> {
    /// Gives whether all of the block is taken.
    fn block(&mut self, block: &PlanBlock, lane: &Path) -> bool {
        match block.order {
            BlockOrder::Sequence => block.nodes.iter().all(|node| self.node(node, &lane.child(&node.id))),
            BlockOrder::Graph => self.graph(block, lane),
            BlockOrder::Phases => {
                let mut phases = block.nodes.chunk_by(|one, next| one.phase == next.phase);
                phases.all(|phase| self.phase(phase, lane))
            }
        }
    }

    /// Gives whether all of a phase is taken. What is taken of one that is not does not depend on the others of it.
    fn phase(&mut self, phase: &[Node], lane: &Path) -> bool {
        let mut taken = true;
        for node in phase {
            taken &= self.node(node, &lane.child(&node.id));
        }
        taken
    }

    fn graph(&mut self, block: &PlanBlock, lane: &Path) -> bool {
        let mut waits: BTreeMap<&str, usize> = BTreeMap::new();
        let mut dependents: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
        for node in &block.nodes {
            let after: BTreeSet<&str> = node.after.iter().map(String::as_str).collect();
            waits.insert(&node.id, after.len());
            after.into_iter().for_each(|before| dependents.entry(before).or_default().push(node));
        }
        let mut ready: VecDeque<&Node> = block.nodes.iter().filter(|node| node.after.is_empty()).collect();
        let mut taken = 0;
        while let Some(node) = ready.pop_front() {
            if !self.node(node, &lane.child(&node.id)) {
                continue;
            }
            taken += 1;
            for next in dependents.get(node.id.as_str()).into_iter().flatten() {
                let left = waits.entry(&next.id).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    ready.push_back(next);
                }
            }
        }
        taken == block.nodes.len()
    }

    /// Gives whether the node is taken, whole.
    fn node(&mut self, node: &Node, path: &Path) -> bool {
        if self.points.contains(path) {
            return false;
        }
        let Some(state) = self.state.node(path) else { return false };
        let pierced = self.points.iter().any(|point| point.is_within(path));
        if !pierced && let Some(import) = self.outcome(node, path, state) {
            self.taken.push(ForkImport::Node(import));
            return true;
        }
        self.inside(node, path, state);
        false
    }

    fn outcome(&self, node: &Node, path: &Path, state: &NodeState) -> Option<NodeImport> {
        let status = match state.status() {
            NodeStatus::Completed => ImportedStatus::Completed,
            NodeStatus::Skipped => ImportedStatus::Skipped,
            NodeStatus::Failed if state.soft => ImportedStatus::Failed,
            _ => return None,
        };
        // What became another kind of node since then is another node.
        let was_leaf = state.lanes.is_none() && state.case.is_none();
        if (node.kind.is_leaf() && !was_leaf) || state.undone || self.undone_within(path) {
            return None;
        }
        Some(NodeImport {
            node: path.clone(),
            status,
            result: state.result.and_then(|seq| self.recorded.value(seq)).unwrap_or_default(),
            state: state.state.and_then(|seq| self.recorded.state(seq)),
            failure: state.failure.filter(|_| state.soft).and_then(|seq| self.recorded.failure(seq)),
            started_at: state.started_at?,
            ended_at: state.ended_at()?,
            undoable: self.is_taken_to_be_undone(node, state),
        })
    }

    /// A run that completed keeps what it did. One that was killed left it to the run that continues it.
    fn is_taken_to_be_undone(&self, node: &Node, state: &NodeState) -> bool {
        let kept = self.state.end.as_ref().is_none_or(|end| end.status == RunStatus::Completed);
        let undoable = matches!(&node.kind, NodeKind::Step(step) if step.compensate.is_some());
        !kept && undoable && state.status() == NodeStatus::Completed
    }

    fn undone_within(&self, path: &Path) -> bool {
        path::keys_within(&self.state.nodes, path)
            .any(|(inside, node)| node.undone && !self.is_in_lost_lane(inside))
    }

    /// Whether a node is in a branch that lost a race: what it did is undone, and the race is won all the same.
    fn is_in_lost_lane(&self, node: &Path) -> bool {
        node.around().any(|lane| {
            let Some((_, index)) = self.plan.named_lane(&lane) else { return false };
            let parallel = lane.parent().and_then(|parallel| self.state.node(&parallel));
            parallel.filter(|node| node.status() == NodeStatus::Completed).is_some_and(|node| {
                let slot = node.lanes.as_ref().map(|lanes| lanes.slot(index));
                matches!(slot, Some(LaneSlot::Open | LaneSlot::Cancelled | LaneSlot::Failure(_)))
            })
        })
    }

    /// What is inside of a supervisor that is not taken whole.
    fn inside(&mut self, node: &Node, path: &Path, state: &NodeState) {
        match &node.kind {
            NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => {}
            NodeKind::Workflow(nested) => {
                if nested.input.is_some() && !self.decision(path, state.input, None, None) {
                    return;
                }
                self.block(&nested.block, path);
            }
            NodeKind::Branch(_) => {
                let Some(case) = state.case.clone() else { return };
                let lane = path.child(&case);
                let blocks = node.blocks();
                let block = blocks.iter().find(|(name, _)| *name == Some(case.as_str()));
                let Some((_, block)) = block else { return };
                self.decision(path, None, Some(case.clone()), None);
                self.block(block, &lane);
            }
            NodeKind::Loop(each) => self.iterations(each, path, state),
            NodeKind::ForEach(each) => self.items(each, path, state),
            NodeKind::Parallel(parallel) => {
                for branch in &parallel.branches {
                    self.block(&branch.block, &path.child(&branch.name));
                }
            }
        }
    }

    fn decision(
        &mut self,
        path: &Path,
        holder: Option<Seq>,
        case: Option<String>,
        count: Option<u32>,
    ) -> bool {
        let result = holder.and_then(|seq| self.recorded.value(seq));
        if result.is_none() && case.is_none() {
            return false;
        }
        self.taken.push(ForkImport::Decision {
            node: path.clone(),
            result: result.unwrap_or_default(),
            case,
            count,
        });
        true
    }

    fn items(&mut self, each: &ForEachNode, path: &Path, state: &NodeState) {
        let Some(count) = state.lanes.as_ref().map(|lanes| lanes.count) else { return };
        if !self.decision(path, state.items, None, Some(count)) {
            return;
        }
        let until = self.iteration_of_point(path).filter(|_| each.concurrency == 1);
        for index in 0..count.min(until.map_or(count, |index| index + 1)) {
            let whole = self.block(&each.body, &path.iteration(index));
            // One after the other: what comes after one that runs again runs again.
            if !whole && each.concurrency == 1 {
                return;
            }
        }
    }

    fn iterations(&mut self, each: &LoopNode, path: &Path, state: &NodeState) {
        let Some(lanes) = state.lanes.as_ref() else { return };
        let done = lanes.next.min(self.iteration_of_point(path).unwrap_or(lanes.next));
        let intact = (0..done).take_while(|&index| !self.undone_within(&path.iteration(index))).count();
        let next = u32::try_from(intact).unwrap_or(u32::MAX);
        let result = match next.checked_sub(1).map(|last| lanes.slot(last)) {
            Some(LaneSlot::Value(seq)) => self.recorded.value(seq).unwrap_or_default(),
            Some(LaneSlot::Nothing) => Value::null(),
            // There is none, or the old run had taken it over itself and knows only a later one.
            Some(LaneSlot::Open | LaneSlot::Cancelled | LaneSlot::Failure(_)) | None => {
                self.block(&each.body, &path.iteration(0));
                return;
            }
        };
        let (lane, index) = (path.iteration(next - 1), next - 1);
        let begun = path::keys_within(&self.state.nodes, &path.iteration(next)).next().is_some();
        self.taken.push(ForkImport::Iteration { lane, index, result, tested: begun });
        if begun {
            self.block(&each.body, &path.iteration(next));
        }
    }

    /// The first iteration of a loop or forEach that a point lies in.
    fn iteration_of_point(&self, path: &Path) -> Option<u32> {
        let of = |point: &Path| {
            let mut lanes = point.around().filter_map(|around| around.as_iteration());
            lanes.find(|(node, _)| node == path).map(|(_, index)| index)
        };
        self.points.iter().filter_map(of).min()
    }
}
