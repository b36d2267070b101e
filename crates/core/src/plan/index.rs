//! A plan with every node reachable by its path.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{BlockOrder, FunctionRef, Node, NodeKind, Plan, PlanBlock, PlanHash, StepNode, join};
use crate::path::Path;

/// A plan, flattened: nodes by number, numbers by path. Built once per plan and shared by its runs,
/// so that finding a node costs the same in a plan of 100,000 nodes as in one of ten.
#[derive(Debug)]
pub struct IndexedPlan {
    plan: Plan,
    hash: PlanHash,
    nodes: Vec<IndexEntry>,
    by_path: BTreeMap<Box<str>, usize>,
    /// Blocks by the path of the lane that runs them.
    blocks: BTreeMap<Box<str>, BlockEntry>,
    /// The named lanes of branches and parallels: their node, and their place among its lanes.
    lanes: BTreeMap<Box<str>, (usize, u32)>,
    /// Function names of each block, by the path of the block: which node calls this function?
    by_function: BTreeMap<Box<str>, BTreeMap<Box<str>, Vec<usize>>>,
}

#[derive(Debug)]
struct IndexEntry {
    node: Node,
    /// Path of the block that contains it: the parent's path, with the branch name where there is one.
    block: Box<str>,
    position: usize,
    previous: Option<usize>,
    next: Option<usize>,
    /// In a graph: what must end before it, in the order of the definition, and what waits for it.
    after: Vec<usize>,
    dependents: Vec<usize>,
    /// In a graph or in phases: nothing of its block comes after it.
    is_sink: bool,
}

/// The nodes of a block.
#[derive(Debug)]
struct BlockEntry {
    order: BlockOrder,
    nodes: Vec<usize>,
    /// In phases: the places of their nodes in the block, phase by phase.
    phases: Vec<Range<usize>>,
    /// In a graph the nodes without dependents, in phases those of the last; their results are the block's.
    sinks: Vec<usize>,
}

/// A node of an [`IndexedPlan`].
#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'a> {
    plan: &'a IndexedPlan,
    number: usize,
}

impl IndexedPlan {
    /// Indexes a plan.
    pub fn new(plan: Plan) -> Self {
        let hash = plan.hash();
        let mut index = Self {
            plan,
            hash,
            nodes: Vec::new(),
            by_path: BTreeMap::new(),
            blocks: BTreeMap::new(),
            lanes: BTreeMap::new(),
            by_function: BTreeMap::new(),
        };
        let block = index.plan.block.clone();
        index.add(&block, "");
        index
    }

    fn add(&mut self, block: &PlanBlock, at: &str) {
        let mut numbers: Vec<usize> = Vec::with_capacity(block.nodes.len());
        for (position, node) in block.nodes.iter().enumerate() {
            let number = self.nodes.len();
            let path = join(at, &node.id);
            // Elsewhere than in a sequence no one node is the one before.
            let previous = numbers.last().copied().filter(|_| block.order == BlockOrder::Sequence);
            if let Some(previous) = previous {
                self.nodes[previous].next = Some(number);
            }
            if let NodeKind::Step(StepNode { function: FunctionRef::Named(name), .. }) = &node.kind {
                let functions = self.by_function.entry(at.into()).or_default();
                functions.entry(name.as_str().into()).or_default().push(number);
            }
            self.by_path.insert(path.as_str().into(), number);
            let shallow = Node {
                id: node.id.clone(),
                after: node.after.clone(),
                phase: node.phase,
                kind: shallow(&node.kind),
            };
            self.nodes.push(IndexEntry {
                node: shallow,
                block: at.into(),
                position,
                previous,
                next: None,
                after: Vec::new(),
                dependents: Vec::new(),
                is_sink: false,
            });
            numbers.push(number);
            for (index, (lane, block)) in node.blocks().into_iter().enumerate() {
                match lane {
                    None => self.add(block, &path),
                    Some(lane) => {
                        let lane = join(&path, lane);
                        let index = u32::try_from(index).unwrap_or(u32::MAX);
                        self.lanes.insert(lane.as_str().into(), (number, index));
                        self.add(block, &lane);
                    }
                }
            }
        }
        let phases = if block.order == BlockOrder::Phases { phases(&block.nodes) } else { Vec::new() };
        let sinks = match block.order {
            BlockOrder::Sequence => Vec::new(),
            BlockOrder::Graph => self.connect(block, &numbers),
            BlockOrder::Phases => phases.last().map_or_else(Vec::new, |last| numbers[last.clone()].to_vec()),
        };
        sinks.iter().for_each(|&sink| self.nodes[sink].is_sink = true);
        self.blocks.insert(at.into(), BlockEntry { order: block.order, nodes: numbers, phases, sinks });
    }

    /// Notes the dependents of each node in a graph; gives the nodes without any.
    fn connect(&mut self, block: &PlanBlock, numbers: &[usize]) -> Vec<usize> {
        let by_id: BTreeMap<&str, usize> =
            block.nodes.iter().zip(numbers).map(|(node, &number)| (node.id.as_str(), number)).collect();
        for (node, &number) in block.nodes.iter().zip(numbers) {
            let mut after: Vec<usize> =
                node.after.iter().filter_map(|id| by_id.get(id.as_str()).copied()).collect();
            after.sort_unstable();
            after.dedup();
            for &before in &after {
                self.nodes[before].dependents.push(number);
            }
            self.nodes[number].after = after;
        }
        numbers.iter().copied().filter(|&number| self.nodes[number].dependents.is_empty()).collect()
    }

    /// The plan itself.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan's hash.
    pub fn hash(&self) -> &PlanHash {
        &self.hash
    }

    /// The node at a path; iterations in the path are ignored.
    pub fn node(&self, path: &Path) -> Option<NodeRef<'_>> {
        let number = *self.by_path.get(path.in_plan().as_ref())?;
        Some(NodeRef { plan: self, number })
    }

    /// The block that a lane runs: the run's own for the root, one branch's for a path such as `check/then`, the
    /// body for an iteration.
    pub fn block(&self, lane: &Path) -> Option<BlockRef<'_>> {
        let block = self.blocks.get(lane.in_plan().as_ref())?;
        Some(BlockRef { plan: self, block })
    }

    /// The node that a named lane such as `check/then` belongs to, and the lane's place among its lanes.
    pub fn named_lane(&self, lane: &Path) -> Option<(NodeRef<'_>, u32)> {
        let &(number, index) = self.lanes.get(lane.in_plan().as_ref())?;
        Some((NodeRef { plan: self, number }, index))
    }

    /// The node that a function running at `from` means by another step's function name: the latest
    /// one before it in its own block, then in the enclosing blocks, nearest first.
    pub fn producer(&self, from: &Path, function: &str) -> Option<Path> {
        self.look_outwards(from, |block, reader| {
            let numbers = self.by_function.get(block)?.get(function)?;
            // Numbers grow with positions, so but for a graph nothing from the reader, or its phase, on can be meant.
            let earlier = match reader {
                Some(reader) if self.order_of(reader) != BlockOrder::Graph => {
                    numbers.partition_point(|&number| self.is_before(number, Some(reader)))
                }
                Some(_) | None => numbers.len(),
            };
            numbers[..earlier].iter().rev().copied().find(|&number| self.is_before(number, reader))
        })
    }

    /// The node that a function running at `from` means by a node's id.
    pub fn visible(&self, from: &Path, id: &str) -> Option<Path> {
        self.look_outwards(from, |block, reader| {
            let number = *self.by_path.get(join(block, id).as_str())?;
            self.is_before(number, reader).then_some(number)
        })
    }

    /// The ids that a function running at `from` can mean, see [`Self::visible`]: those before it in its own block, in
    /// their order, then those of the enclosing blocks, nearest first.
    pub fn visible_ids(&self, from: &Path) -> Vec<&str> {
        let (mut ids, mut seen) = (Vec::new(), BTreeSet::new());
        // Nothing is found, so that all are asked.
        self.look_outwards(from, |block, reader| {
            for number in self.all_before(block, reader) {
                let id = self.nodes[number].node.id.as_str();
                if seen.insert(id) {
                    ids.push(id);
                }
            }
            None
        });
        ids
    }

    /// All nodes of a block that come before one of them.
    fn all_before(&self, block: &str, reader: Option<usize>) -> Vec<usize> {
        let all = self.blocks.get(block).map_or(&[][..], |block| &block.nodes);
        match reader {
            None => all.to_vec(),
            Some(reader) => match self.order_of(reader) {
                BlockOrder::Sequence => all[..self.nodes[reader].position].to_vec(),
                BlockOrder::Graph => self.ancestors(reader).into_iter().collect(),
                BlockOrder::Phases => {
                    let earlier = all.partition_point(|&number| self.is_before(number, Some(reader)));
                    all[..earlier].to_vec()
                }
            },
        }
    }

    /// The node before this one in its block; the first node of an inner block inherits the block's own. In a graph and
    /// in phases there is none.
    pub fn before(&self, path: &Path) -> Option<Path> {
        let mut at = path.clone();
        while let Some(parent) = at.parent() {
            // A path such as `check/then` names a branch of a node, not a node: look further out.
            if let Some(node) = self.node(&at) {
                match self.order_of(node.number) {
                    BlockOrder::Sequence => {}
                    BlockOrder::Graph | BlockOrder::Phases => return None,
                }
                if let Some(previous) = self.nodes[node.number].previous {
                    return Some(parent.child(&self.nodes[previous].node.id));
                }
            }
            at = parent;
        }
        None
    }

    /// Whether a node comes before another of its block; before none in particular if the reader sees the block
    /// as a whole.
    fn is_before(&self, number: usize, reader: Option<usize>) -> bool {
        let Some(reader) = reader else { return true };
        let (node, from) = (&self.nodes[number], &self.nodes[reader]);
        match self.order_of(reader) {
            BlockOrder::Sequence => node.position < from.position,
            BlockOrder::Graph => self.leads_to(number, reader),
            BlockOrder::Phases => node.node.phase < from.node.phase,
        }
    }

    /// How the nodes of a node's block follow each other.
    fn order_of(&self, number: usize) -> BlockOrder {
        self.blocks.get(&self.nodes[number].block).map_or(BlockOrder::Sequence, |block| block.order)
    }

    /// Whether, in a graph, one node must end before the other starts.
    fn leads_to(&self, number: usize, reader: usize) -> bool {
        self.nodes[reader].after.binary_search(&number).is_ok() || self.ancestors(reader).contains(&number)
    }

    /// In a graph: all nodes that must end before this one starts.
    fn ancestors(&self, reader: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut todo = self.nodes[reader].after.clone();
        while let Some(at) = todo.pop() {
            if seen.insert(at) {
                todo.extend(&self.nodes[at].after);
            }
        }
        seen
    }

    /// Asks block after block, from the inside out, with the node from which each is seen. A lane (the run itself
    /// for its handler, an iteration for a loop's test) sees its own block as a whole.
    fn look_outwards(
        &self,
        from: &Path,
        mut find: impl FnMut(&str, Option<usize>) -> Option<usize>,
    ) -> Option<Path> {
        let whole = from.is_root() || from.as_iteration().is_some();
        if whole && let Some(number) = find(&from.in_plan(), None) {
            return Some(from.child(&self.nodes[number].node.id));
        }
        let mut at = from.clone();
        while let Some(parent) = at.parent() {
            // A path such as `check/then` names a lane of a node, not a node: look further out.
            let reader = self.node(&at).map(|node| node.number);
            let found = reader.and_then(|reader| find(&self.nodes[reader].block, Some(reader)));
            if let Some(number) = found {
                return Some(parent.child(&self.nodes[number].node.id));
            }
            at = parent;
        }
        None
    }
}

/// A block of an [`IndexedPlan`].
#[derive(Clone, Copy, Debug)]
pub struct BlockRef<'a> {
    plan: &'a IndexedPlan,
    block: &'a BlockEntry,
}

impl<'a> BlockRef<'a> {
    /// How its nodes follow each other.
    pub fn order(&self) -> BlockOrder {
        self.block.order
    }

    /// The nodes that start with the block: the first of a sequence, those of a graph that wait for none, the first
    /// phase.
    pub fn first(&self) -> impl Iterator<Item = &'a Node> + use<'a> {
        let (plan, order) = (self.plan, self.block.order);
        let starts = move |at: usize, number: usize| match order {
            BlockOrder::Sequence => at == 0,
            BlockOrder::Graph => plan.nodes[number].after.is_empty(),
            BlockOrder::Phases => plan.nodes[number].node.phase == 0,
        };
        let numbers = self.block.nodes.iter().enumerate();
        numbers.filter(move |&(at, &number)| starts(at, number)).map(move |(_, &n)| &plan.nodes[n].node)
    }

    /// The last node of a sequence.
    pub fn last(&self) -> Option<&'a Node> {
        self.block.nodes.last().map(|&number| &self.plan.nodes[number].node)
    }

    /// The nodes of a graph without dependents, or of the last phase.
    pub fn sinks(&self) -> impl ExactSizeIterator<Item = &'a Node> + use<'a> {
        let plan = self.plan;
        self.block.sinks.iter().map(move |&number| &plan.nodes[number].node)
    }

    /// Whether all sinks have ended, when `just` has. Asked from that sink outwards: the one that has not ended is most
    /// likely near, so that asking for each of many sinks does not walk over all of them each time.
    pub fn sinks_ended(&self, just: NodeRef<'_>, ended: impl Fn(&Node) -> bool) -> bool {
        outwards(&self.block.sinks, just.number).all(|number| ended(&self.plan.nodes[number].node))
    }
}

/// The places of the nodes of each phase, in the order of the block.
fn phases(nodes: &[Node]) -> Vec<Range<usize>> {
    let mut phases: Vec<Range<usize>> = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        match phases.last_mut() {
            Some(last) if nodes[last.start].phase == node.phase => last.end = position + 1,
            Some(_) | None => phases.push(position..position + 1),
        }
    }
    phases
}

/// The others of a sorted list, the nearest to `from` first, on both sides in turn.
fn outwards(numbers: &[usize], from: usize) -> impl Iterator<Item = usize> {
    let at = numbers.partition_point(|&number| number < from);
    let (left, right) = numbers.split_at(at);
    let mut left = left.iter().rev();
    let mut right = right.iter().skip_while(move |&&number| number == from);
    let mut turn = false;
    std::iter::from_fn(move || {
        turn = !turn;
        let next =
            if turn { right.next().or_else(|| left.next()) } else { left.next().or_else(|| right.next()) };
        next.copied()
    })
}

impl<'a> NodeRef<'a> {
    /// The node. Blocks inside it are empty here: ask the index for their nodes.
    pub fn node(&self) -> &'a Node {
        &self.plan.nodes[self.number].node
    }

    /// The node's place in the plan, counted through all blocks.
    pub fn place(&self) -> usize {
        self.number
    }

    /// Whether, in a graph or in phases, nothing of its block comes after it.
    pub fn is_sink(&self) -> bool {
        self.plan.nodes[self.number].is_sink
    }

    /// In a graph and in phases: the nodes that wait for this one, and now for none other. What has `ended` is asked from
    /// this node outwards, as in [`BlockRef::sinks_ended`].
    pub fn released(&self, ended: impl Fn(&Node) -> bool) -> Vec<&'a Node> {
        let plan = self.plan;
        if plan.order_of(self.number) == BlockOrder::Phases {
            return self.released_phase(ended);
        }
        let dependents = plan.nodes[self.number].dependents.iter();
        let free = dependents.filter(|&&dependent| {
            outwards(&plan.nodes[dependent].after, self.number).all(|number| ended(&plan.nodes[number].node))
        });
        free.map(|&number| &plan.nodes[number].node).collect()
    }

    /// The nodes of the next phase, if all others of this one have ended.
    fn released_phase(&self, ended: impl Fn(&Node) -> bool) -> Vec<&'a Node> {
        let (plan, entry) = (self.plan, &self.plan.nodes[self.number]);
        let Some(block) = plan.blocks.get(&entry.block) else { return Vec::new() };
        let this = block.phases.partition_point(|phase| phase.end <= entry.position);
        let (Some(phase), Some(next)) = (block.phases.get(this), block.phases.get(this + 1)) else {
            return Vec::new();
        };
        let node = |number: usize| &plan.nodes[number].node;
        let others = &block.nodes[phase.clone()];
        if outwards(others, self.number).all(|number| ended(node(number))) {
            block.nodes[next.clone()].iter().map(|&number| node(number)).collect()
        } else {
            Vec::new()
        }
    }

    /// The next node of a sequence.
    pub fn next(&self) -> Option<&'a Node> {
        self.plan.nodes[self.number].next.map(|number| &self.plan.nodes[number].node)
    }
}

/// The node's own data without the blocks inside it, which the index holds flat.
fn shallow(kind: &NodeKind) -> NodeKind {
    let mut kind = kind.clone();
    match &mut kind {
        NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => {}
        NodeKind::Branch(branch) => {
            branch.cases.iter_mut().for_each(|case| case.block = PlanBlock::default());
            branch.default = branch.default.as_ref().map(|_| PlanBlock::default());
        }
        NodeKind::Loop(each) => each.body = PlanBlock::default(),
        NodeKind::ForEach(each) => each.body = PlanBlock::default(),
        NodeKind::Parallel(parallel) => {
            parallel.branches.iter_mut().for_each(|branch| branch.block = PlanBlock::default());
        }
        NodeKind::Workflow(nested) => nested.block = PlanBlock::default(),
    }
    kind
}
