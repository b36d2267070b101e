//! Instances that prove a mismatch: the left side has them, and the right side refuses them.
//!
//! Candidates are made from what both sides say; what is kept is judged by the schemas themselves. So a mistake here can
//! hide a mismatch, but not invent one.
//!
//! Only what the left side states is used. A schema that says nothing about a value allows everything, and that is no proof
//! that the value will be wrong.

mod candidates;
mod object;
mod refusal;
mod sample;
mod stated;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::flat::FlatView;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::{NodeId, SchemaNode};
use crate::prove::SchemaComparison;
use crate::workspace::NodeSet;

pub(crate) use refusal::{RefusalReason, ValueRefusal};
pub(crate) use stated::part_at;

/// Searches inside of searches.
const DEPTH_MAX: usize = 40;

/// Instances kept of each search: alternatives for the union around it.
const KEPT_MAX: usize = 10;

/// Looks for instances of one side that the other refuses.
pub(crate) struct WitnessSearch {
    pub(crate) comparison: SchemaComparison,
    open: HashSet<(NodeSet, NodeId)>,
    found: HashMap<(NodeSet, NodeId), Vec<Value>>,
    samples: HashMap<NodeSet, Vec<Value>>,
    sample_depth: usize,
}

impl WitnessSearch {
    pub(crate) fn new(comparison: SchemaComparison) -> Self {
        WitnessSearch {
            comparison,
            open: HashSet::new(),
            found: HashMap::new(),
            samples: HashMap::new(),
            sample_depth: 0,
        }
    }

    /// Instances of `left` that `to` refuses.
    pub(crate) fn counterexamples(&mut self, left: &NodeSet, to: NodeId) -> Vec<Value> {
        let key = (left.clone(), to);
        if let Some(found) = self.found.get(&key) {
            return found.clone();
        }
        let is_hopeless = left.is_unconstrained() || self.comparison.space.node(to).is_trivial();
        let is_too_deep = self.open.len() >= DEPTH_MAX || !self.comparison.space.spend_many(10);
        if is_hopeless || is_too_deep || !self.open.insert(key.clone()) {
            return Vec::new();
        }
        let found = self.search(left, to);
        self.open.remove(&key);
        if !found.is_empty() {
            self.found.insert(key, found.clone());
        }
        found
    }

    fn search(&mut self, left: &NodeSet, to: NodeId) -> Vec<Value> {
        let view = self.comparison.space.view(left);
        let mut kept = Vec::new();
        if let Some(values) = view.few_values() {
            self.keep(left, to, values, &mut kept);
            return kept;
        }
        let node = self.comparison.space.node(to);
        let plain = self.samples(left);
        self.keep(left, to, plain, &mut kept);
        let scalars = candidates::scalars(&self.comparison.space, &view, &node);
        self.keep(left, to, scalars, &mut kept);
        let parts = self.parts(left, &view, to);
        for part in parts {
            let found = self.counterexamples(&part, to);
            self.keep(left, to, found, &mut kept);
        }
        if view.kinds.meets(KindSet::OBJECT.both(view.stated)) {
            let found = self.object_candidates(left, &view, to);
            self.keep(left, to, found, &mut kept);
        }
        if view.kinds.meets(KindSet::ARRAY.both(view.stated)) {
            let found = self.array_candidates(left, &view, to);
            self.keep(left, to, found, &mut kept);
        }
        let found = self.logic_candidates(left, &node);
        self.keep(left, to, found, &mut kept);
        kept
    }

    /// Keeps those that are certain.
    fn keep(&mut self, left: &NodeSet, to: NodeId, candidates: Vec<Value>, kept: &mut Vec<Value>) {
        for value in candidates {
            if kept.len() >= KEPT_MAX {
                return;
            }
            let space = &self.comparison.space;
            if !kept.contains(&value)
                && space.judge(to, &value) == ValueJudgement::Refused
                && space.judge_all(left, &value) == ValueJudgement::Accepted
                && self.is_refused_for_what_is_stated(left, to, &value)
            {
                kept.push(value);
            }
        }
    }

    /// The left side taken apart, without kinds of which it says nothing.
    fn parts(&mut self, left: &NodeSet, view: &FlatView, to: NodeId) -> Vec<NodeSet> {
        let kinds = view.possible_kinds().parts();
        if kinds.len() > 1 && view.groups.is_empty() {
            let stated = kinds.into_iter().filter(|kind| kind.within(view.stated));
            let stated: Vec<KindSet> = stated.collect();
            let space = &mut self.comparison.space;
            let parts = stated.into_iter().map(|kind| {
                let kind = space.of_kinds(kind);
                space.with(left, kind)
            });
            return parts.collect();
        }
        if let Some(group) = view.groups.iter().min_by_key(|group| group.len()) {
            let parts = group.iter().map(|member| self.comparison.space.with(left, *member));
            return parts.filter(|part| part != left).collect();
        }
        self.comparison.split(left, view, to).unwrap_or_default()
    }

    /// What the keywords of the right side that combine schemas suggest.
    fn logic_candidates(&mut self, left: &NodeSet, node: &SchemaNode) -> Vec<Value> {
        let mut found = Vec::new();
        let members = node.all_of.iter().chain(&node.any_of).chain(&node.one_of);
        for member in members {
            found.extend(self.counterexamples(left, *member));
        }
        let overlaps = node.one_of.iter().chain(&node.not);
        for member in overlaps {
            let both = self.comparison.space.with(left, *member);
            found.extend(self.samples(&both));
        }
        if let Some(rule) = &node.condition {
            let tested = self.comparison.space.with(left, rule.test);
            let refused = self.comparison.space.without(rule.test);
            let refused = self.comparison.space.with(left, refused);
            let branches = [(tested, rule.then), (refused, rule.otherwise)];
            for (left, to) in branches {
                found.extend(to.map(|to| self.counterexamples(&left, to)).unwrap_or_default());
            }
        }
        for (name, to) in &node.object.dependent_schemas {
            let required = self.comparison.space.with_required(name);
            let present = self.comparison.space.with(left, required);
            found.extend(self.counterexamples(&present, *to));
        }
        for name in node.object.dependent_required.keys() {
            let required = self.comparison.space.with_required(name);
            let present = self.comparison.space.with(left, required);
            found.extend(self.samples(&present));
        }
        found
    }
}
