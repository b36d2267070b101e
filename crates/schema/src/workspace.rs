//! The nodes of one comparison: both schemas in one arena, nodes made on the way, and how much work is left.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use crate::flat::FlatView;
use crate::kinds::KindSet;
use crate::node::{NodeId, SchemaNode};
use crate::pattern::TextPattern;
use crate::schema::JsonSchema;

/// Schemas that must hold all at once: `allOf`, and what different nodes say of one property. Sorted.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct NodeSet(Vec<NodeId>);

/// A node that no schema has, by what it says.
#[derive(Clone, PartialEq, Eq, Hash)]
enum MadeNode {
    Kinds(KindSet),
    Required(String),
    Not(NodeId),
    Property(String, String),
}

/// See the head of this file.
pub(crate) struct Workspace {
    nodes: Vec<Arc<SchemaNode>>,
    made: HashMap<MadeNode, NodeId>,
    views: HashMap<NodeSet, Rc<FlatView>>,
    patterns: RefCell<HashMap<String, Option<TextPattern>>>,
    work: Cell<u64>,
}

impl NodeSet {
    pub(crate) fn ids(&self) -> &[NodeId] {
        &self.0
    }

    pub(crate) fn has(&self, id: NodeId) -> bool {
        self.0.binary_search(&id).is_ok()
    }

    /// Whether nothing is said.
    pub(crate) fn is_unconstrained(&self) -> bool {
        self.0.is_empty()
    }
}

impl Workspace {
    pub(crate) fn new(work: u64) -> Self {
        Workspace {
            nodes: Vec::new(),
            made: HashMap::new(),
            views: HashMap::new(),
            patterns: RefCell::default(),
            work: Cell::new(work),
        }
    }

    /// Takes over all nodes that a schema leads to.
    pub(crate) fn import(&mut self, schema: &JsonSchema) -> NodeId {
        let ids = schema.reachable();
        let start = self.nodes.len();
        let new_id = |at: usize| NodeId(u32::try_from(start + at).unwrap_or(u32::MAX));
        let places: HashMap<NodeId, NodeId> =
            ids.iter().enumerate().map(|(at, id)| (*id, new_id(at))).collect();
        for id in &ids {
            let mut node = schema.nodes()[id.0 as usize].clone();
            node.map_children(&mut |child| places[&child]);
            self.nodes.push(Arc::new(node));
        }
        places[&schema.root()]
    }

    pub(crate) fn node(&self, id: NodeId) -> Arc<SchemaNode> {
        self.nodes[id.0 as usize].clone()
    }

    pub(crate) fn nodes(&self) -> &[Arc<SchemaNode>] {
        &self.nodes
    }

    /// Takes a unit of work; false when there is none left.
    pub(crate) fn spend(&self) -> bool {
        let left = self.work.get();
        self.work.set(left.saturating_sub(1));
        left > 0
    }

    /// Takes many units of work at once, for what takes as long.
    pub(crate) fn spend_many(&self, units: usize) -> bool {
        let left = self.work.get();
        self.work.set(left.saturating_sub(units as u64));
        left > 0
    }

    /// How many units of work are left.
    pub(crate) fn work_left(&self) -> u64 {
        self.work.get()
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.work.get() == 0
    }

    pub(crate) fn refill(&self, work: u64) {
        self.work.set(work);
    }

    /// The set of these nodes. Those that say nothing are left out, and those that only refer to others stand for them, so that
    /// one schema is one set wherever it is named.
    pub(crate) fn set(&self, ids: impl IntoIterator<Item = NodeId>) -> NodeSet {
        let mut open: Vec<NodeId> = ids.into_iter().collect();
        let mut ids = Vec::new();
        while let Some(id) = open.pop() {
            let node = &self.nodes[id.0 as usize];
            if node.only_refers() {
                open.extend(&node.all_of);
            } else if !node.is_trivial() {
                ids.push(id);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        NodeSet(ids)
    }

    pub(crate) fn with(&self, set: &NodeSet, id: NodeId) -> NodeSet {
        self.set(set.ids().iter().copied().chain([id]))
    }

    pub(crate) fn view(&mut self, set: &NodeSet) -> Rc<FlatView> {
        if let Some(view) = self.views.get(set) {
            return view.clone();
        }
        let view = Rc::new(FlatView::of(self, set));
        let listed = view.values.as_ref().map_or(0, Vec::len);
        self.spend_many(view.nodes.len() + (view.names.len() + listed) / 8);
        self.views.insert(set.clone(), view.clone());
        view
    }

    /// Whether a pattern matches; `None` where that cannot be decided.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        if !self.spend() {
            return None;
        }
        let (is_match, steps) = self.pattern(pattern)?.matches(text);
        self.spend_many(steps / 64);
        is_match
    }

    pub(crate) fn pattern(&self, pattern: &str) -> Option<TextPattern> {
        let mut patterns = self.patterns.borrow_mut();
        if let Some(known) = patterns.get(pattern) {
            return known.clone();
        }
        let parsed = TextPattern::parse(pattern);
        patterns.insert(pattern.to_owned(), parsed.clone());
        parsed
    }

    fn make(&mut self, key: MadeNode, node: impl FnOnce(&mut Self) -> SchemaNode) -> NodeId {
        if let Some(id) = self.made.get(&key) {
            return *id;
        }
        let node = node(self);
        let id = self.add(node);
        self.made.insert(key, id);
        id
    }

    pub(crate) fn add(&mut self, node: SchemaNode) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Arc::new(node));
        id
    }

    /// Values of these kinds.
    pub(crate) fn of_kinds(&mut self, kinds: KindSet) -> NodeId {
        let node = SchemaNode { kinds, kinds_stated: true, ..SchemaNode::default() };
        self.make(MadeNode::Kinds(kinds), |_| node)
    }

    /// Objects that have a property.
    pub(crate) fn with_required(&mut self, name: &str) -> NodeId {
        let mut node = object_node();
        node.object.required.insert(name.to_owned());
        self.make(MadeNode::Required(name.to_owned()), |_| node)
    }

    /// Objects of which a property has this value.
    pub(crate) fn with_property(&mut self, name: &str, value: &Value) -> NodeId {
        let key = MadeNode::Property(name.to_owned(), value.to_string());
        self.make(key, |space| {
            let constant = SchemaNode { values: Some(vec![value.clone()]), ..SchemaNode::default() };
            let constant = space.add(constant);
            let mut node = object_node();
            node.object.required.insert(name.to_owned());
            node.object.properties.insert(name.to_owned(), constant);
            node
        })
    }

    /// What does not satisfy a node.
    pub(crate) fn without(&mut self, id: NodeId) -> NodeId {
        self.make(MadeNode::Not(id), |_| SchemaNode { not: Some(id), ..SchemaNode::default() })
    }
}

fn object_node() -> SchemaNode {
    SchemaNode { kinds: KindSet::OBJECT, kinds_stated: true, ..SchemaNode::default() }
}
