//! The nodes and blocks of a workflow in the making, flat, with their ids and paths.

use std::collections::BTreeMap;

use super::draft::{BlockDraft, DraftNode, NodePart};
use super::names;
use crate::function::FunctionIdentity;

/// Every node and block by number, so that each is found without a walk.
pub(super) struct PlanOutline<'a> {
    pub(super) nodes: Vec<NodeSite<'a>>,
    pub(super) blocks: Vec<BlockSite<'a>>,
    /// The nodes of each block that call a function, in order.
    calls: BTreeMap<(usize, FunctionIdentity), Vec<usize>>,
    /// All nodes that call a function.
    everywhere: BTreeMap<FunctionIdentity, Vec<usize>>,
}

/// A node in its place.
pub(super) struct NodeSite<'a> {
    pub(super) part: &'a DraftNode,
    pub(super) id: String,
    pub(super) path: String,
    /// The block that it is in.
    pub(super) block: usize,
    pub(super) position: usize,
    /// The blocks inside it, in the order of the plan.
    pub(super) inner: Vec<usize>,
}

/// A block in its place.
pub(super) struct BlockSite<'a> {
    pub(super) draft: &'a BlockDraft,
    /// Of the node that it belongs to, with the lane where it has a name; empty for the outermost.
    pub(super) path: String,
    /// The node that it belongs to; none for the outermost.
    pub(super) owner: Option<usize>,
    pub(super) nodes: Vec<usize>,
}

impl<'a> PlanOutline<'a> {
    pub(super) fn of(block: &'a BlockDraft) -> Self {
        let (calls, everywhere) = (BTreeMap::new(), BTreeMap::new());
        let mut outline = Self { nodes: Vec::new(), blocks: Vec::new(), calls, everywhere };
        outline.add(block, "", None);
        outline
    }

    fn add(&mut self, draft: &'a BlockDraft, path: &str, owner: Option<usize>) -> usize {
        let block = self.blocks.len();
        self.blocks.push(BlockSite { draft, path: path.to_owned(), owner, nodes: Vec::new() });
        for (position, (part, id)) in draft.parts.iter().zip(names::ids(&draft.parts)).enumerate() {
            let number = self.nodes.len();
            let path = join(path, &id);
            self.nodes.push(NodeSite { part, id, path: path.clone(), block, position, inner: Vec::new() });
            self.blocks[block].nodes.push(number);
            if let Some(step) = part.part.step() {
                let identity = step.function.identity;
                self.calls.entry((block, identity)).or_default().push(number);
                self.everywhere.entry(identity).or_default().push(number);
            }
            for (segment, inner) in part.part.blocks() {
                let path = segment.map_or_else(|| path.clone(), |segment| join(&path, segment));
                let inner = self.add(inner, &path, Some(number));
                self.nodes[number].inner.push(inner);
            }
        }
        block
    }

    /// The nodes of a block that call a function, in order.
    pub(super) fn calls(&self, block: usize, function: FunctionIdentity) -> &[usize] {
        self.calls.get(&(block, function)).map_or(&[], Vec::as_slice)
    }

    /// All nodes that call a function, in whichever block.
    pub(super) fn everywhere(&self, function: FunctionIdentity) -> &[usize] {
        self.everywhere.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The node itself, then the ones around it, from the inside out.
    pub(super) fn outwards(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| self.blocks[self.nodes[node].block].owner)
    }

    /// The node of a block that a node is, or is inside of.
    pub(super) fn ancestor_in(&self, block: usize, node: usize) -> Option<usize> {
        self.outwards(node).find(|&at| self.nodes[at].block == block)
    }

    /// The nearest forEach around a node.
    pub(super) fn each_around(&self, node: usize) -> Option<usize> {
        self.around(node).find(|&at| matches!(self.nodes[at].part.part, NodePart::Each(_)))
    }

    /// The nearest loop around a node.
    pub(super) fn loop_around(&self, node: usize) -> Option<usize> {
        self.around(node).find(|&at| matches!(self.nodes[at].part.part, NodePart::Loop(_)))
    }

    fn around(&self, node: usize) -> impl Iterator<Item = usize> {
        self.outwards(node).skip(1)
    }
}

/// The path of a node or lane in the block at a path.
pub(super) fn join(at: &str, id: &str) -> String {
    if at.is_empty() { id.to_owned() } else { format!("{at}/{id}") }
}
