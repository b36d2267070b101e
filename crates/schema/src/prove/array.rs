//! Lists.

use super::{ProofResult, SchemaComparison, doubt};
use crate::flat::FlatView;
use crate::node::{ArrayRules, ContainsRule};
use crate::path::PathSegment;

/// Elements that are looked at one by one.
const ITEMS_MAX: usize = 64;

impl SchemaComparison {
    pub(super) fn prove_array(&mut self, view: &FlatView, rules: &ArrayRules) -> ProofResult {
        if rules.min > view.min_items {
            return doubt(format!("it may have fewer than {} elements", rules.min));
        }
        if let Some(max) = rules.max
            && view.max_items.is_none_or(|known| known > max)
        {
            return doubt(format!("it may have more than {max} elements"));
        }
        if rules.unique && !view.unique && view.max_items.is_none_or(|max| max > 1) {
            return doubt("two of its elements may be the same");
        }
        self.prove_items(view, rules)?;
        match &rules.contains {
            Some(rule) => self.prove_contains(view, rule),
            None => Ok(()),
        }
    }

    fn prove_items(&mut self, view: &FlatView, rules: &ArrayRules) -> ProofResult {
        if rules.prefix.is_empty() && rules.rest.is_none() {
            return Ok(());
        }
        let count = view.prefix.max(rules.prefix.len());
        if count > ITEMS_MAX {
            return doubt("its tuple is too long to compare");
        }
        // The last round stands for all elements behind the prefixes.
        for at in 0..=count {
            if view.max_items.is_some_and(|max| max <= at as u64) {
                return Ok(());
            }
            let left = view.item(&self.space, at);
            if self.is_empty(&left) {
                return Ok(());
            }
            if let Some(to) = rules.at(at) {
                let segment = if at == count { PathSegment::AnyIndex } else { PathSegment::Index(at) };
                self.prove_below(segment, &left, to)?;
            }
        }
        Ok(())
    }

    fn prove_contains(&mut self, view: &FlatView, rule: &ContainsRule) -> ProofResult {
        let known: Vec<ContainsRule> =
            view.nodes.iter().filter_map(|id| self.space.node(*id).array.contains.clone()).collect();
        let is_enough = rule.min <= view.min_items && self.certain_matches(view, rule) >= rule.min;
        let is_known = |comparison: &mut Self, it: &ContainsRule| {
            let left = comparison.space.set([it.node]);
            it.min >= rule.min && comparison.prove_below(PathSegment::AnyIndex, &left, rule.node).is_ok()
        };
        if !is_enough && !known.iter().any(|it| is_known(self, it)) {
            return doubt("it is not known to contain an element that `contains` asks for");
        }
        let Some(max) = rule.max else { return Ok(()) };
        let is_below = |comparison: &mut Self, it: &ContainsRule| {
            let left = comparison.space.set([rule.node]);
            it.max.is_some_and(|known| known <= max)
                && comparison.prove_below(PathSegment::AnyIndex, &left, it.node).is_ok()
        };
        let is_short = view.max_items.is_some_and(|known| known <= max);
        if !is_short && !known.iter().any(|it| is_below(self, it)) {
            return doubt("it may contain too many of the elements that `maxContains` counts");
        }
        Ok(())
    }

    /// How many elements match for certain, counted as far as it matters.
    fn certain_matches(&mut self, view: &FlatView, rule: &ContainsRule) -> u64 {
        let mut found = 0;
        for at in 0..view.min_items.min(ITEMS_MAX as u64) {
            let left = view.item(&self.space, usize::try_from(at).unwrap_or(usize::MAX));
            found += u64::from(self.prove_below(PathSegment::AnyIndex, &left, rule.node).is_ok());
            if found >= rule.min {
                break;
            }
        }
        found
    }
}
