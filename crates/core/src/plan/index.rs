//! A plan with every node reachable by its path.

use std::collections::BTreeMap;

use super::{Block, Node, NodeKind, Plan, PlanHash, join};
use crate::path::Path;

/// A plan, flattened: nodes by number, numbers by path. Built once per plan and shared by its runs,
/// so that finding a node costs the same in a plan of 100,000 nodes as in one of ten.
#[derive(Debug)]
pub struct IndexedPlan {
    plan: Plan,
    hash: PlanHash,
    nodes: Vec<Entry>,
    by_path: BTreeMap<Box<str>, usize>,
    /// The first node of each block, by the path of the block.
    first: BTreeMap<Box<str>, usize>,
    /// Function names of each block, by the path of the block: which node calls this function?
    by_function: BTreeMap<Box<str>, BTreeMap<Box<str>, Vec<usize>>>,
}

#[derive(Debug)]
struct Entry {
    node: Node,
    /// Path of the block that contains it: the parent's path, with the branch name where there is one.
    block: Box<str>,
    position: usize,
    previous: Option<usize>,
    next: Option<usize>,
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
            first: BTreeMap::new(),
            by_function: BTreeMap::new(),
        };
        let block = index.plan.block.clone();
        index.add(&block, "");
        index
    }

    fn add(&mut self, block: &Block, at: &str) {
        let mut previous: Option<usize> = None;
        for (position, node) in block.nodes.iter().enumerate() {
            let number = self.nodes.len();
            let path = join(at, &node.id);
            match previous {
                Some(previous) => self.nodes[previous].next = Some(number),
                None => drop(self.first.insert(at.into(), number)),
            }
            if let NodeKind::Step(step) = &node.kind {
                let functions = self.by_function.entry(at.into()).or_default();
                functions.entry(step.function.as_str().into()).or_default().push(number);
            }
            self.by_path.insert(path.as_str().into(), number);
            let blocks = node.blocks();
            let inner: Vec<(String, Block)> = blocks
                .into_iter()
                .map(|(segment, block)| {
                    (segment.map_or_else(|| path.clone(), |segment| join(&path, segment)), block.clone())
                })
                .collect();
            let shallow = Node { id: node.id.clone(), after: node.after.clone(), kind: shallow(&node.kind) };
            self.nodes.push(Entry { node: shallow, block: at.into(), position, previous, next: None });
            previous = Some(number);
            for (path, block) in inner {
                self.add(&block, &path);
            }
        }
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

    /// The first node of the block that a path owns: of the run itself for the root, of one branch for a
    /// path such as `check/then`.
    pub fn first_in(&self, owner: &Path) -> Option<NodeRef<'_>> {
        let number = *self.first.get(owner.in_plan().as_ref())?;
        Some(NodeRef { plan: self, number })
    }

    /// The node that a function running at `from` means by another step's function name: the latest
    /// one before it in its own block, then in the enclosing blocks, nearest first.
    pub fn producer(&self, from: &Path, function: &str) -> Option<Path> {
        self.look_outwards(from, |block, before| {
            let numbers = self.by_function.get(block)?.get(function)?;
            let earlier = numbers.partition_point(|&number| self.nodes[number].position < before);
            earlier.checked_sub(1).map(|at| numbers[at])
        })
    }

    /// The node that a function running at `from` means by a node's id.
    pub fn visible(&self, from: &Path, id: &str) -> Option<Path> {
        self.look_outwards(from, |block, before| {
            let number = *self.by_path.get(join(block, id).as_str())?;
            (self.nodes[number].position < before).then_some(number)
        })
    }

    /// The node before this one in its block; the first node of an inner block inherits the block's own.
    pub fn before(&self, path: &Path) -> Option<Path> {
        let mut at = path.clone();
        while let Some(parent) = at.parent() {
            // A path such as `check/then` names a branch of a node, not a node: look further out.
            let previous = self.node(&at).and_then(|node| self.nodes[node.number].previous);
            if let Some(previous) = previous {
                return Some(parent.child(&self.nodes[previous].node.id));
            }
            at = parent;
        }
        None
    }

    fn look_outwards(&self, from: &Path, find: impl Fn(&str, usize) -> Option<usize>) -> Option<Path> {
        // A handler of the run itself runs at the root and sees every node of the outermost block.
        if from.is_root() {
            return find("", usize::MAX).map(|number| Path::root().child(&self.nodes[number].node.id));
        }
        let mut at = from.clone();
        while let Some(parent) = at.parent() {
            let entry = self.node(&at).map(|node| &self.nodes[node.number]);
            let found = entry.and_then(|entry| find(&entry.block, entry.position));
            if let Some(number) = found {
                return Some(parent.child(&self.nodes[number].node.id));
            }
            at = parent;
        }
        None
    }
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
            branch.cases.iter_mut().for_each(|case| case.block = Block::default());
            branch.default = branch.default.as_ref().map(|_| Block::default());
        }
        NodeKind::Loop(each) => each.body = Block::default(),
        NodeKind::ForEach(each) => each.body = Block::default(),
        NodeKind::Parallel(parallel) => {
            parallel.branches.iter_mut().for_each(|branch| branch.block = Block::default());
        }
        NodeKind::Workflow(nested) => nested.block = Block::default(),
    }
    kind
}
