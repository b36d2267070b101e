//! Objects.
//!
//! Properties that one of the sides names are compared one by one. All others are in classes: those whose names match a
//! pattern of either side, and those whose names match none.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::{ProofResult, SchemaComparison, doubt};
use crate::flat::FlatView;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::{NodeId, ObjectRules};
use crate::path::PathSegment;
use crate::workspace::NodeSet;

impl SchemaComparison {
    pub(super) fn prove_object(&mut self, left: &NodeSet, view: &Rc<FlatView>, to: NodeId) -> ProofResult {
        let node = self.space.node(to);
        let rules = &node.object;
        if rules.is_trivial() {
            return Ok(());
        }
        if let Some(name) = rules.required.iter().find(|name| !view.required.contains(*name)) {
            return doubt(format!("`{name}` is required, and may be absent"));
        }
        if rules.min > view.min_properties {
            return doubt(format!("it may have fewer than {} properties", rules.min));
        }
        let (names, has_others) = self.known_names(view, rules);
        if let Some(max) = rules.max
            && view.max_properties.is_none_or(|known| known > max)
            && (has_others || names.len() as u64 > max)
        {
            return doubt(format!("it may have more than {max} properties"));
        }
        for name in &names {
            self.prove_property(view, to, name)?;
        }
        if has_others {
            self.prove_others(view, rules)?;
        }
        self.prove_names(view, rules, &names, has_others)?;
        self.prove_dependent(left, view, rules)
    }

    /// The names that either side knows, and whether the left side may have others.
    fn known_names(&mut self, view: &FlatView, rules: &ObjectRules) -> (BTreeSet<String>, bool) {
        self.space.spend_many((view.names.len() + rules.properties.len()) / 8);
        let mut names: BTreeSet<String> = view.names.union(&view.required).cloned().collect();
        let is_full = view.max_properties.is_some_and(|max| max <= view.required.len() as u64);
        let name_rules = view.name_rules(&self.space);
        let listed = self.space.view(&name_rules).values.clone();
        names.extend(rules.properties.keys().cloned());
        match listed {
            Some(values) if !is_full => {
                names.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
                (names, false)
            }
            _ => (names, !is_full),
        }
    }

    fn prove_property(&mut self, view: &FlatView, to: NodeId, name: &str) -> ProofResult {
        let wanted = self.space.property(to, name);
        if wanted.clear && wanted.nodes.iter().all(|id| self.space.node(*id).is_trivial()) {
            return Ok(());
        }
        let left = view.property(&self.space, name);
        if self.is_never_there(view, name, &left) {
            return Ok(());
        }
        if !wanted.clear {
            return doubt(format!("it cannot be decided whether a pattern matches the name `{name}`"));
        }
        let segment = PathSegment::Key(name.to_owned());
        let result = wanted.nodes.into_iter().try_for_each(|id| self.prove_below(segment.clone(), &left, id));
        if result.is_err() && left.is_unconstrained() && !view.names.contains(name) {
            return doubt(format!("it may have a property `{name}`, about which nothing is said"));
        }
        result
    }

    fn is_never_there(&mut self, view: &FlatView, name: &str, left: &NodeSet) -> bool {
        let name_rules = view.name_rules(&self.space);
        let judged = self.space.judge_all(&name_rules, &Value::from(name));
        judged == ValueJudgement::Refused || self.is_empty(left)
    }

    /// Properties that neither side names.
    fn prove_others(&mut self, view: &FlatView, rules: &ObjectRules) -> ProofResult {
        if rules.patterns.is_empty() && rules.additional.is_none() {
            return Ok(());
        }
        for (pattern, to) in &rules.patterns {
            let left = self.others(view, Some(pattern));
            self.prove_other(&left, *to)?;
        }
        let Some(additional) = rules.additional else { return Ok(()) };
        let own: BTreeSet<&String> = rules.patterns.iter().map(|(pattern, _)| pattern).collect();
        let nodes = view.nodes.iter().map(|id| self.space.node(*id));
        let known: BTreeSet<String> =
            nodes.flat_map(|node| node.object.patterns.clone()).map(|(pattern, _)| pattern).collect();
        for pattern in known.iter().filter(|pattern| !own.contains(pattern)) {
            let left = self.others(view, Some(pattern));
            self.prove_other(&left, additional)?;
        }
        let left = self.others(view, None);
        self.prove_other(&left, additional)
    }

    fn prove_other(&mut self, left: &NodeSet, to: NodeId) -> ProofResult {
        if self.is_empty(left) {
            return Ok(());
        }
        let result = self.prove_below(PathSegment::AnyKey, left, to);
        if result.is_err() && left.is_unconstrained() {
            return doubt("it may have more properties than are declared, and those may be anything");
        }
        result
    }

    /// What the left side says of unnamed properties whose names match a pattern, or none of either side.
    fn others(&self, view: &FlatView, pattern: Option<&str>) -> NodeSet {
        let mut found = Vec::new();
        for id in &view.nodes {
            let node = self.space.node(*id);
            let object = &node.object;
            let matching = object.patterns.iter().filter(|(it, _)| Some(it.as_str()) == pattern);
            let matching: Vec<NodeId> = matching.map(|(_, id)| *id).collect();
            // Such a name may match other patterns of the node, too, and then `additionalProperties` is not for it.
            let is_additional = pattern.is_none() || object.patterns.is_empty();
            found.extend(object.additional.filter(|_| is_additional));
            found.extend(matching);
        }
        self.space.set(found)
    }

    fn prove_names(
        &mut self,
        view: &FlatView,
        rules: &ObjectRules,
        names: &BTreeSet<String>,
        has_others: bool,
    ) -> ProofResult {
        let Some(to) = rules.names else { return Ok(()) };
        for name in names {
            let is_good = self.space.judge(to, &Value::from(name.as_str())) == ValueJudgement::Accepted;
            let left = view.property(&self.space, name);
            if !is_good && !self.is_never_there(view, name, &left) {
                return doubt(format!("`{name}` is not known to be a name that `propertyNames` allows"));
            }
        }
        let unnamed = view.property_beyond_names(&self.space);
        if !has_others || self.is_empty(&unnamed) {
            return Ok(());
        }
        let texts = self.space.of_kinds(KindSet::STRING);
        let left = self.space.with(&view.name_rules(&self.space), texts);
        self.prove_below(PathSegment::AnyKey, &left, to)
    }

    /// What must be there, or hold, if a property is there.
    fn prove_dependent(&mut self, left: &NodeSet, view: &FlatView, rules: &ObjectRules) -> ProofResult {
        for (name, others) in &rules.dependent_required {
            let present = self.present(left, name);
            let known = self.space.view(&present);
            let missing = others.iter().find(|other| !known.required.contains(*other));
            if let Some(missing) = missing
                && !self.is_absent(view, name, &present)
            {
                return doubt(format!("`{missing}` is required with `{name}`, and may be absent"));
            }
        }
        for (name, to) in &rules.dependent_schemas {
            let present = self.present(left, name);
            if !self.is_absent(view, name, &present) {
                self.prove(&present, *to)?;
            }
        }
        Ok(())
    }

    fn is_absent(&mut self, view: &FlatView, name: &str, present: &NodeSet) -> bool {
        let property = view.property(&self.space, name);
        self.is_never_there(view, name, &property) || self.is_empty(present)
    }

    /// The left side, where a property is there.
    fn present(&mut self, left: &NodeSet, name: &str) -> NodeSet {
        let required = self.space.with_required(name);
        self.space.with(left, required)
    }
}

impl FlatView {
    /// What properties are that no schema names: nothing is known of them where there are patterns.
    fn property_beyond_names(&self, space: &crate::workspace::Workspace) -> NodeSet {
        let nodes = self.nodes.iter().map(|id| space.node(*id));
        let plain = nodes.filter(|node| node.object.patterns.is_empty());
        space.set(plain.filter_map(|node| node.object.additional).collect::<Vec<_>>())
    }
}
