//! Objects and lists of which one part is refused.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::WitnessSearch;
use crate::flat::FlatView;
use crate::kinds::KindSet;
use crate::node::NodeId;
use crate::workspace::NodeSet;

/// Properties and elements that are tried.
const PARTS_MAX: usize = 60;

/// Longer lists are not made.
const LENGTH_MAX: u64 = 200;

impl WitnessSearch {
    /// An instance that both sides take, so that a change shows one mismatch only; or one of the left side.
    fn base(&mut self, left: &NodeSet, to: NodeId, kind: KindSet) -> Option<Value> {
        let kind = self.comparison.space.of_kinds(kind);
        let left = self.comparison.space.with(left, kind);
        let both = self.comparison.space.with(&left, to);
        let agreed = self.samples(&both).into_iter().next();
        agreed.or_else(|| self.samples(&left).into_iter().next())
    }

    pub(super) fn object_candidates(&mut self, left: &NodeSet, view: &FlatView, to: NodeId) -> Vec<Value> {
        let Some(Value::Object(base)) = self.base(left, to, KindSet::OBJECT) else { return Vec::new() };
        let node = self.comparison.space.node(to);
        let mut names: BTreeSet<String> = view.names.union(&view.required).cloned().collect();
        names.extend(node.object.properties.keys().chain(&node.object.required).cloned());
        let mut found = Vec::new();
        for name in names.iter().take(PARTS_MAX) {
            let property = view.property(&self.comparison.space, name);
            for to in self.comparison.space.property(to, name).nodes {
                let values = self.counterexamples(&property, to);
                found.extend(values.into_iter().take(4).map(|value| changed(&base, name, value)));
            }
            if !view.required.contains(name) {
                let mut without = base.clone();
                without.remove(name);
                found.push(Value::Object(without));
            }
        }
        for name in self.undeclared_names(view, to, &names) {
            let property = view.property(&self.comparison.space, &name);
            let values = self.samples(&property);
            found.extend(values.into_iter().take(2).map(|value| changed(&base, &name, value)));
            for to in self.comparison.space.property(to, &name).nodes {
                let values = self.counterexamples(&property, to);
                found.extend(values.into_iter().take(4).map(|value| changed(&base, &name, value)));
            }
        }
        found
    }

    /// Names for properties that the left side declares without naming them.
    fn undeclared_names(&mut self, view: &FlatView, to: NodeId, taken: &BTreeSet<String>) -> Vec<String> {
        let nodes: Vec<_> = view.nodes.iter().map(|id| self.comparison.space.node(*id)).collect();
        let declares = nodes.iter().any(|node| node.object.additional.is_some());
        let own: Vec<String> =
            nodes.iter().flat_map(|node| &node.object.patterns).map(|(pattern, _)| pattern.clone()).collect();
        if !declares && own.is_empty() {
            return Vec::new();
        }
        let wanted = self.comparison.space.node(to).object.patterns.clone();
        let patterns = own.into_iter().chain(wanted.into_iter().map(|(pattern, _)| pattern));
        let patterns = patterns.filter_map(|pattern| self.comparison.space.pattern(&pattern));
        let mut names: Vec<String> =
            patterns.flat_map(|pattern| pattern.samples().into_iter().take(3)).collect();
        let rules = view.name_rules(&self.comparison.space);
        let listed = self.samples(&rules);
        names.extend(listed.iter().filter_map(|name| name.as_str().map(str::to_owned)));
        names.extend(["more", "More", "1"].map(str::to_owned));
        names.retain(|name| !taken.contains(name));
        names
    }

    pub(super) fn array_candidates(&mut self, left: &NodeSet, view: &FlatView, to: NodeId) -> Vec<Value> {
        let node = self.comparison.space.node(to);
        let rules = &node.array;
        let mut found = Vec::new();
        let mut lengths = vec![view.min_items, rules.min.saturating_sub(1)];
        lengths.extend(rules.max.map(|max| max.saturating_add(1)).into_iter().chain(view.max_items));
        for length in lengths.into_iter().filter(|length| *length <= LENGTH_MAX) {
            let length = usize::try_from(length).unwrap_or_default();
            found.extend(self.list(view, length, 0));
        }
        let Some(Value::Array(base)) = self.base(left, to, KindSet::ARRAY) else { return found };
        let count = view.prefix.max(rules.prefix.len()).min(PARTS_MAX);
        for at in 0..=count {
            let item = view.item(&self.comparison.space, at);
            let Some(to) = rules.at(at) else { continue };
            for value in self.counterexamples(&item, to).into_iter().take(4) {
                found.extend(self.list_with(view, &base, at, value));
            }
        }
        if rules.unique {
            let length = base.len().max(1);
            if let Some(Value::Array(mut items)) = self.list(view, length, 0) {
                let twin = items.first().cloned().unwrap_or_default();
                items.push(twin);
                found.push(Value::Array(items));
            }
        }
        if let Some(rule) = &rules.contains {
            let item = view.item(&self.comparison.space, count);
            let other = self.comparison.space.without(rule.node);
            for chosen in [rule.node, other] {
                let both = self.comparison.space.with(&item, chosen);
                let long = rule.max.unwrap_or(0).saturating_add(1).min(LENGTH_MAX);
                let length = usize::try_from(view.min_items.min(LENGTH_MAX).max(long)).unwrap_or_default();
                let sample = self.samples(&both).into_iter().next();
                found.extend(sample.map(|sample| Value::Array(vec![sample; length])));
            }
        }
        found
    }

    /// The list with an element put in its place; elements before it are made if they are missing.
    fn list_with(&mut self, view: &FlatView, base: &[Value], at: usize, value: Value) -> Option<Value> {
        let mut items = base.to_vec();
        while items.len() < at {
            let item = view.item(&self.comparison.space, items.len());
            items.push(self.samples(&item).into_iter().next()?);
        }
        match items.get_mut(at) {
            Some(place) => *place = value,
            None => items.push(value),
        }
        Some(Value::Array(items))
    }
}

fn changed(base: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed.insert(name.to_owned(), value);
    Value::Object(changed)
}
