//! Whether every instance of some schemas satisfies another: a proof, or the place where none was found.
//!
//! ```text
//! prove(left, to): each keyword of `to` must follow from `left`           scalar.rs, array.rs, object.rs, union.rs
//!   if not: is there no instance at all?                                   empty.rs
//!           does `left` say the very same?                                 same.rs
//!           else take `left` apart, and prove each part                    split.rs
//! ```
//!
//! The left side is a set of nodes that all hold, the right side one node. Proofs about schemas that contain themselves are
//! by induction over the size of values: what is being proven may be assumed one level deeper in the value, and there only.

mod array;
mod empty;
mod object;
mod same;
mod scalar;
mod split;
mod union;

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use crate::flat::FlatView;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::NodeId;
use crate::path::PathSegment;
use crate::text::TypeWriter;
use crate::workspace::{NodeSet, Workspace};

/// Proofs inside of proofs. It bounds the stack.
const DEPTH_MAX: usize = 90;

/// Characters of a type in a reason.
pub(crate) const TYPE_TEXT_MAX: usize = 120;

/// What is said when there is no work left to spend.
pub(crate) const TOO_LARGE: &str = "the schemas are too large to compare";

/// What could not be proven.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProofDoubt {
    pub(crate) path: Vec<PathSegment>,
    pub(crate) why: String,
    /// Whether it is because the left side says too little: then its parts have nothing to add.
    is_unstated: bool,
}

pub(crate) type ProofResult = Result<(), Box<ProofDoubt>>;

/// Doubt about the value itself, not about a part of it.
pub(crate) fn doubt(why: impl Into<String>) -> ProofResult {
    Err(Box::new(ProofDoubt { path: Vec::new(), why: why.into(), is_unstated: false }))
}

/// Doubt because too little is said.
fn unstated(why: String) -> ProofResult {
    Err(Box::new(ProofDoubt { path: Vec::new(), why, is_unstated: true }))
}

/// Two schemas that are being compared.
pub(crate) struct SchemaComparison {
    pub(crate) space: Workspace,
    /// Claims that are being proven: their position on the stack, and how deep in the value they are.
    open: HashMap<(NodeSet, NodeId), (usize, usize)>,
    settled: HashMap<(NodeSet, NodeId), ProofResult>,
    /// The lowest position on the stack of a claim that was assumed.
    assumed: usize,
    /// How deep in the value.
    level: usize,
    empties: HashMap<NodeSet, bool>,
    empty_depth: usize,
}

impl SchemaComparison {
    pub(crate) fn new(space: Workspace) -> Self {
        SchemaComparison {
            space,
            open: HashMap::new(),
            settled: HashMap::new(),
            assumed: usize::MAX,
            level: 0,
            empties: HashMap::new(),
            empty_depth: 0,
        }
    }

    /// Proves that all values that satisfy `left` satisfy `to`.
    pub(crate) fn prove(&mut self, left: &NodeSet, to: NodeId) -> ProofResult {
        if self.space.node(to).is_trivial() || left.has(to) {
            return Ok(());
        }
        let key = (left.clone(), to);
        if let Some(known) = self.settled.get(&key) {
            return known.clone();
        }
        if let Some((position, level)) = self.open.get(&key) {
            if *level == self.level {
                return doubt("a schema refers to itself with nothing in between");
            }
            self.assumed = self.assumed.min(*position);
            return Ok(());
        }
        let position = self.open.len();
        if !self.space.spend() || position >= DEPTH_MAX {
            return doubt(TOO_LARGE);
        }
        self.open.insert(key.clone(), (position, self.level));
        let outer = std::mem::replace(&mut self.assumed, usize::MAX);
        let result = self.attempt(left, to);
        self.open.remove(&key);
        // What rests on a claim that is still open may fall with it, and is not kept.
        if self.assumed >= position {
            self.settled.insert(key, result.clone());
            self.assumed = outer;
        } else {
            self.assumed = self.assumed.min(outer);
        }
        result
    }

    /// The same for a part of the value.
    fn prove_below(&mut self, segment: PathSegment, left: &NodeSet, to: NodeId) -> ProofResult {
        self.level += 1;
        let result = self.prove(left, to);
        self.level -= 1;
        result.map_err(|mut doubt| {
            doubt.path.insert(0, segment);
            doubt
        })
    }

    fn attempt(&mut self, left: &NodeSet, to: NodeId) -> ProofResult {
        let view = self.space.view(left);
        if view.possible_kinds().is_empty() {
            return Ok(());
        }
        if let Some(values) = view.few_values()
            && self.all_values(left, &values, to)
        {
            return Ok(());
        }
        let Err(doubt) = self.keywords(left, &view, to) else { return Ok(()) };
        let is_settled = self.is_empty(left) || view.nodes.iter().any(|id| self.is_same(*id, to));
        if is_settled {
            return Ok(());
        }
        let Some(parts) = self.split(left, &view, to) else { return Err(doubt) };
        let result = parts.iter().try_for_each(|part| self.prove(part, to));
        if doubt.is_unstated { result.map_err(|_| doubt) } else { result }
    }

    fn all_values(&self, left: &NodeSet, values: &[Value], to: NodeId) -> bool {
        values.iter().all(|value| {
            self.space.judge(to, value) == ValueJudgement::Accepted
                || self.space.judge_all(left, value) == ValueJudgement::Refused
        })
    }

    /// Each keyword of the node. A keyword that is not looked at here would make wrong proofs.
    fn keywords(&mut self, left: &NodeSet, view: &Rc<FlatView>, to: NodeId) -> ProofResult {
        let node = self.space.node(to);
        let kinds = view.possible_kinds();
        if !kinds.within(node.kinds) {
            let mut excess = kinds.parts().into_iter().filter(|kind| !kind.within(node.kinds));
            if view.groups.is_empty() && !excess.any(|kind| kind.meets(view.stated)) {
                return self.kind_unstated(view, to);
            }
            return self.expected(left, to);
        }
        if let Some(allowed) = &node.values {
            let listed = view.values.as_ref().map_or(0, Vec::len);
            if !self.space.spend_many(allowed.len().saturating_mul(listed) / 64) {
                return doubt(TOO_LARGE);
            }
            let is_within = |value| allowed.iter().any(|it| crate::number::equal(it, value));
            if !view.values.as_ref().is_some_and(|values| values.iter().all(is_within)) {
                return self.expected(left, to);
            }
        }
        if let Some(opaque) = node.opaque.iter().find(|it| !self.has_opaque(view, it)) {
            return doubt(opaque.why.clone());
        }
        if kinds.meets(KindSet::NUMBER) {
            scalar::prove_number(view, &node.number)?;
        }
        if kinds.meets(KindSet::STRING) {
            scalar::prove_string(view, &node.string)?;
        }
        if kinds.meets(KindSet::ARRAY) {
            self.prove_array(view, &node.array)?;
        }
        if kinds.meets(KindSet::OBJECT) {
            self.prove_object(left, view, to)?;
        }
        self.prove_logic(left, view, &node)
    }

    fn has_opaque(&self, view: &FlatView, wanted: &crate::node::OpaqueKeyword) -> bool {
        let mut known = view.nodes.iter().flat_map(|id| self.space.node(*id).opaque.clone());
        wanted.identity.is_some() && known.any(|it| it.identity == wanted.identity)
    }

    fn kind_unstated(&self, view: &FlatView, to: NodeId) -> ProofResult {
        let nodes = view.nodes.iter().map(|id| self.space.node(*id));
        if let Some(opaque) = nodes.into_iter().find_map(|node| node.opaque.first().cloned()) {
            return unstated(opaque.why);
        }
        let expected = self.text(&[to]);
        if view.stated.is_empty() {
            return unstated(format!("nothing is said about it, and `{expected}` is expected"));
        }
        unstated(format!("its `type` is not stated, and `{expected}` is expected"))
    }

    fn expected(&self, left: &NodeSet, to: NodeId) -> ProofResult {
        let (actual, expected) = (self.text(left.ids()), self.text(&[to]));
        if left.is_unconstrained() {
            return unstated(format!("nothing is said about it, and `{expected}` is expected"));
        }
        doubt(format!("it is `{actual}`, and `{expected}` is expected"))
    }

    /// A type for a message.
    pub(crate) fn text(&self, ids: &[NodeId]) -> String {
        // Wide types take their time.
        if !self.space.spend_many(10) {
            return "…".to_owned();
        }
        TypeWriter::new(self.space.nodes(), TYPE_TEXT_MAX).write(ids)
    }
}
