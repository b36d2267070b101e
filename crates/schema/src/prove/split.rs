//! A schema taken apart into schemas that together allow at least the same values.

use super::SchemaComparison;
use crate::flat::FlatView;
use crate::kinds::KindSet;
use crate::node::NodeId;
use crate::workspace::NodeSet;

/// Values of a property by which an object is taken apart.
const TAGS_MAX: usize = 16;

impl SchemaComparison {
    /// By kinds, by unions, by conditions, by a property with few values; one of them at a time.
    pub(crate) fn split(&mut self, left: &NodeSet, view: &FlatView, to: NodeId) -> Option<Vec<NodeSet>> {
        let kinds = view.possible_kinds().parts();
        if kinds.len() > 1 {
            let parts = kinds.into_iter().map(|kind| {
                let kind = self.space.of_kinds(kind);
                self.space.with(left, kind)
            });
            return Some(parts.collect());
        }
        if let Some(group) = view.groups.iter().min_by_key(|group| group.len()) {
            // A member that says nothing leaves the whole; it cannot be taken apart by this union.
            let parts: Vec<NodeSet> = group.iter().map(|member| self.space.with(left, *member)).collect();
            return (!parts.contains(left)).then_some(parts);
        }
        self.split_by_condition(left, view).or_else(|| self.split_by_tag(left, view, to))
    }

    fn split_by_condition(&mut self, left: &NodeSet, view: &FlatView) -> Option<Vec<NodeSet>> {
        for id in &view.nodes {
            let node = self.space.node(*id);
            let Some(rule) = &node.condition else { continue };
            let refused = self.space.without(rule.test);
            if view.nodes.contains(&rule.test) || left.has(refused) {
                continue;
            }
            let ids =
                |more: [Option<NodeId>; 2]| left.ids().iter().copied().chain(more.into_iter().flatten());
            let then = self.space.set(ids([Some(rule.test), rule.then]));
            let otherwise = self.space.set(ids([Some(refused), rule.otherwise]));
            if then != *left && otherwise != *left {
                return Some(vec![then, otherwise]);
            }
        }
        None
    }

    /// Only where the right side is a union: nothing else depends on the value of one property. The parts are objects, so the
    /// left side must be.
    fn split_by_tag(&mut self, left: &NodeSet, view: &FlatView, to: NodeId) -> Option<Vec<NodeSet>> {
        let wanted = self.space.set([to]);
        if view.possible_kinds() != KindSet::OBJECT || self.space.view(&wanted).groups.is_empty() {
            return None;
        }
        for name in view.required.iter().filter(|name| view.names.contains(*name)) {
            let property = view.property(&self.space, name);
            let Some(values) = self.space.view(&property).few_values() else { continue };
            if (2..=TAGS_MAX).contains(&values.len()) {
                let parts = values.iter().map(|value| {
                    let tagged = self.space.with_property(name, value);
                    self.space.with(left, tagged)
                });
                return Some(parts.collect());
            }
        }
        None
    }
}
