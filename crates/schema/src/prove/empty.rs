//! Schemas that no value satisfies.

use super::SchemaComparison;
use crate::flat::FlatView;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::NodeId;
use crate::workspace::NodeSet;

/// Questions inside of questions; beyond, a schema counts as one that some value satisfies.
const DEPTH_MAX: usize = 8;

/// Elements that are looked at.
const ITEMS_MAX: u64 = 16;

impl SchemaComparison {
    /// Whether it is proven that no value satisfies all of these. False is no proof of the opposite.
    pub(crate) fn is_empty(&mut self, set: &NodeSet) -> bool {
        if set.is_unconstrained() {
            return false;
        }
        if let Some(known) = self.empties.get(set) {
            return *known;
        }
        if self.empty_depth >= DEPTH_MAX || !self.space.spend() {
            return false;
        }
        self.empties.insert(set.clone(), false);
        self.empty_depth += 1;
        let outer = std::mem::replace(&mut self.assumed, usize::MAX);
        let is_empty = self.find_empty(set);
        self.empty_depth -= 1;
        // What rests on a claim that is still open may fall with it, and is not kept.
        if self.assumed == usize::MAX {
            self.empties.insert(set.clone(), is_empty);
        } else {
            self.empties.remove(set);
        }
        self.assumed = self.assumed.min(outer);
        is_empty
    }

    fn find_empty(&mut self, set: &NodeSet) -> bool {
        let view = self.space.view(set);
        if let Some(values) = view.few_values() {
            let is_refused = |value| self.space.judge_all(set, value) == ValueJudgement::Refused;
            return values.iter().all(is_refused);
        }
        let kinds = view.possible_kinds().parts();
        if kinds.into_iter().all(|kind| self.is_kind_empty(&view, kind)) {
            return true;
        }
        let mut groups = view.groups.iter();
        if groups.any(|group| group.iter().all(|member| self.is_empty_with(set, *member))) {
            return true;
        }
        let excluded: Vec<NodeId> = view.nodes.iter().filter_map(|id| self.space.node(*id).not).collect();
        excluded.into_iter().any(|to| self.prove(set, to).is_ok())
    }

    fn is_empty_with(&mut self, set: &NodeSet, member: NodeId) -> bool {
        let both = self.space.with(set, member);
        both != *set && self.is_empty(&both)
    }

    fn is_kind_empty(&mut self, view: &FlatView, kind: KindSet) -> bool {
        match kind {
            KindSet::OBJECT => {
                let rules = view.name_rules(&self.space);
                view.required.iter().any(|name| {
                    let property = view.property(&self.space, name);
                    let name = serde_json::Value::from(name.as_str());
                    self.space.judge_all(&rules, &name) == ValueJudgement::Refused || self.is_empty(&property)
                })
            }
            KindSet::ARRAY => (0..view.min_items.min(ITEMS_MAX)).any(|at| {
                let item = view.item(&self.space, usize::try_from(at).unwrap_or(usize::MAX));
                self.is_empty(&item)
            }),
            _ => false,
        }
    }
}
