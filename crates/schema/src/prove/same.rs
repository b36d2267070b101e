//! Schemas that say the same in the same words, apart from notes and from where `$ref`s are.

use std::collections::HashSet;

use super::SchemaComparison;
use crate::node::{ConditionRule, ContainsRule, NodeId};
use crate::number::equal;

/// Pairs of nodes that are looked at.
const PAIRS_MAX: usize = 2_000;

impl SchemaComparison {
    pub(super) fn is_same(&self, left: NodeId, right: NodeId) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![(left, right)];
        while let Some((left, right)) = open.pop() {
            if left == right || !seen.insert((left, right)) {
                continue;
            }
            if seen.len() > PAIRS_MAX || !self.space.spend() || !self.pair(left, right, &mut open) {
                return false;
            }
        }
        true
    }

    /// Compares two nodes but for their children, which are to be compared next.
    fn pair(&self, left: NodeId, right: NodeId, open: &mut Vec<(NodeId, NodeId)>) -> bool {
        let (left, right) = (self.space.node(left), self.space.node(right));
        let is_plain = |all: &[crate::node::OpaqueKeyword]| all.iter().all(|it| it.identity.is_some());
        let values = match (&left.values, &right.values) {
            (Some(left), Some(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
            }
            (left, right) => left.is_none() && right.is_none(),
        };
        let (array, other) = (&left.array, &right.array);
        let arrays = array.min == other.min && array.max == other.max && array.unique == other.unique;
        let (object, others) = (&left.object, &right.object);
        let objects = object.required == others.required
            && object.min == others.min
            && object.max == others.max
            && object.dependent_required == others.dependent_required
            && object.properties.keys().eq(others.properties.keys())
            && object.patterns.iter().map(|it| &it.0).eq(others.patterns.iter().map(|it| &it.0))
            && object.dependent_schemas.keys().eq(others.dependent_schemas.keys());
        let own = left.kinds == right.kinds
            && left.number == right.number
            && left.string == right.string
            && left.opaque == right.opaque
            && is_plain(&left.opaque);
        if !(own && values && arrays && objects) {
            return false;
        }
        open.extend(object.properties.values().copied().zip(others.properties.values().copied()));
        open.extend(object.patterns.iter().map(|it| it.1).zip(others.patterns.iter().map(|it| it.1)));
        let schemas = object.dependent_schemas.values().copied();
        open.extend(schemas.zip(others.dependent_schemas.values().copied()));
        let lists = [
            (&array.prefix, &other.prefix),
            (&left.all_of, &right.all_of),
            (&left.any_of, &right.any_of),
            (&left.one_of, &right.one_of),
        ];
        lists.into_iter().all(|(left, right)| both(left, right, open))
            && maybe(array.rest, other.rest, open)
            && maybe(object.additional, others.additional, open)
            && maybe(object.names, others.names, open)
            && maybe(left.not, right.not, open)
            && contains(array.contains.as_ref(), other.contains.as_ref(), open)
            && condition(left.condition.as_ref(), right.condition.as_ref(), open)
    }
}

type NodePairs = Vec<(NodeId, NodeId)>;

fn both(left: &[NodeId], right: &[NodeId], open: &mut NodePairs) -> bool {
    open.extend(left.iter().copied().zip(right.iter().copied()));
    left.len() == right.len()
}

fn maybe(left: Option<NodeId>, right: Option<NodeId>, open: &mut NodePairs) -> bool {
    open.extend(left.zip(right));
    left.is_some() == right.is_some()
}

fn contains(left: Option<&ContainsRule>, right: Option<&ContainsRule>, open: &mut NodePairs) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            open.push((left.node, right.node));
            left.min == right.min && left.max == right.max
        }
        (left, right) => left.is_none() && right.is_none(),
    }
}

fn condition(left: Option<&ConditionRule>, right: Option<&ConditionRule>, open: &mut NodePairs) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            open.push((left.test, right.test));
            maybe(left.then, right.then, open) && maybe(left.otherwise, right.otherwise, open)
        }
        (left, right) => left.is_none() && right.is_none(),
    }
}
