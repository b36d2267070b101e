//! Instances of schemas: the smallest ones, and some that use what is optional.

use serde_json::{Map, Value};

use super::{WitnessSearch, candidates};
use crate::flat::FlatView;
use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::workspace::NodeSet;

/// Schemas inside of schemas; a schema that needs more has no instance that is found.
const DEPTH_MAX: usize = 14;

/// Instances kept of each schema.
const KEPT_MAX: usize = 12;

/// Optional properties that are tried one by one.
const OPTIONAL_MAX: usize = 10;

impl WitnessSearch {
    /// Instances of all of these schemas at once; all of them are certain.
    pub(super) fn samples(&mut self, set: &NodeSet) -> Vec<Value> {
        if let Some(known) = self.samples.get(set) {
            return known.clone();
        }
        if self.sample_depth >= DEPTH_MAX || !self.comparison.space.spend_many(10) {
            return Vec::new();
        }
        self.sample_depth += 1;
        let mut found = Vec::new();
        let view = self.comparison.space.view(set);
        let space = &self.comparison.space;
        match view.few_values() {
            Some(values) => self.accept(set, values, &mut found, KEPT_MAX),
            None => {
                let bounds = [&view.low, &view.high].into_iter().flatten();
                let numbers = candidates::numbers(bounds, view.multiples.iter());
                let (patterns, formats) = (view.patterns.iter(), view.formats.iter());
                let texts = candidates::texts(space, &view, [].into_iter(), patterns, formats);
                let words = [Value::Null, Value::Bool(true), Value::Bool(false)].to_vec();
                for candidates in [texts, numbers, words] {
                    self.accept(set, candidates, &mut found, 3);
                }
                self.nested_samples(set, &view, &mut found);
            }
        }
        self.sample_depth -= 1;
        if !found.is_empty() {
            self.samples.insert(set.clone(), found.clone());
        }
        found
    }

    fn nested_samples(&mut self, set: &NodeSet, view: &FlatView, found: &mut Vec<Value>) {
        if view.kinds.meets(KindSet::OBJECT) {
            let objects = self.object_samples(view);
            self.accept(set, objects, found, KEPT_MAX);
        }
        if view.kinds.meets(KindSet::ARRAY) {
            let arrays = self.array_samples(view);
            self.accept(set, arrays, found, KEPT_MAX);
        }
        if let Some(group) = view.groups.iter().min_by_key(|group| group.len()) {
            for member in group {
                let chosen = self.comparison.space.with(set, *member);
                if chosen != *set {
                    let samples = self.samples(&chosen);
                    self.accept(set, samples, found, 3);
                }
            }
        }
        for id in &view.nodes {
            let node = self.comparison.space.node(*id);
            let Some(rule) = &node.condition else { continue };
            let refused = self.comparison.space.without(rule.test);
            for (test, branch) in [(rule.test, rule.then), (refused, rule.otherwise)] {
                let ids = set.ids().iter().copied().chain([test]).chain(branch);
                let chosen = self.comparison.space.set(ids.collect::<Vec<_>>());
                if chosen != *set {
                    let samples = self.samples(&chosen);
                    self.accept(set, samples, found, 3);
                }
            }
        }
    }

    /// Takes those that are certain, at most so many more.
    fn accept(&self, set: &NodeSet, candidates: Vec<Value>, found: &mut Vec<Value>, more: usize) {
        let limit = found.len() + more;
        for value in candidates {
            if found.len() >= limit {
                return;
            }
            let judged = self.comparison.space.judge_all(set, &value);
            if judged == ValueJudgement::Accepted && !found.contains(&value) {
                found.push(value);
            }
        }
    }

    /// The smallest object, the largest, and those between that differ in one property.
    fn object_samples(&mut self, view: &FlatView) -> Vec<Value> {
        let mut base = Map::new();
        for name in &view.required {
            let property = view.property(&self.comparison.space, name);
            let Some(value) = self.samples(&property).into_iter().next() else { return Vec::new() };
            base.insert(name.clone(), value);
        }
        let mut optional = Vec::new();
        for name in view.names.difference(&view.required).take(OPTIONAL_MAX) {
            let property = view.property(&self.comparison.space, name);
            optional.extend(self.samples(&property).into_iter().next().map(|value| (name.clone(), value)));
        }
        self.fill(view, &mut base, &optional);
        let mut found = vec![Value::Object(base.clone())];
        let mut full = base.clone();
        full.extend(optional.iter().cloned());
        found.push(Value::Object(full));
        for (name, value) in optional {
            let mut one = base.clone();
            one.insert(name, value);
            found.push(Value::Object(one));
        }
        for name in view.required.iter().take(OPTIONAL_MAX) {
            let property = view.property(&self.comparison.space, name);
            for value in self.samples(&property).into_iter().skip(1).take(2) {
                let mut other = base.clone();
                other.insert(name.clone(), value);
                found.push(Value::Object(other));
            }
        }
        found
    }

    /// Adds properties until there are enough.
    fn fill(&mut self, view: &FlatView, base: &mut Map<String, Value>, optional: &[(String, Value)]) {
        let listed = view.name_rules(&self.comparison.space);
        let listed = self.samples(&listed);
        let listed = listed.iter().filter_map(|name| name.as_str().map(str::to_owned));
        let patterns =
            view.nodes.iter().flat_map(|id| self.comparison.space.node(*id).object.patterns.clone());
        let patterns: Vec<String> = patterns.map(|(pattern, _)| pattern).collect();
        let matching = patterns.iter().filter_map(|pattern| self.comparison.space.pattern(pattern));
        let matching = matching.flat_map(|pattern| pattern.samples()).collect::<Vec<_>>();
        let fresh = (1..=8).map(|number| format!("more{number}"));
        let names: Vec<String> = listed.chain(matching).chain(fresh).collect();
        let mut optional = optional.iter();
        let mut names = names.into_iter();
        while (base.len() as u64) < view.min_properties {
            if let Some((name, value)) = optional.next() {
                base.insert(name.clone(), value.clone());
                continue;
            }
            let Some(name) = names.next() else { return };
            let property = view.property(&self.comparison.space, &name);
            if let Some(value) = self.samples(&property).into_iter().next() {
                base.entry(name).or_insert(value);
            }
        }
    }

    /// Lists of the least length, and somewhat longer ones.
    fn array_samples(&mut self, view: &FlatView) -> Vec<Value> {
        let least = usize::try_from(view.min_items.min(200)).unwrap_or_default();
        let mut found = Vec::new();
        for length in [least, least + 1, least + 2, view.prefix] {
            for variant in 0..2 {
                found.extend(self.list(view, length, variant));
            }
        }
        found.extend(self.mixed_list(view));
        found
    }

    /// Elements of all kinds side by side.
    fn mixed_list(&mut self, view: &FlatView) -> Option<Value> {
        let item = view.item(&self.comparison.space, view.prefix);
        let mut items: Vec<Value> = Vec::new();
        for sample in self.samples(&item) {
            let kind = KindSet::of_value(&sample);
            if items.iter().all(|it| KindSet::of_value(it) != kind) {
                items.push(sample);
            }
        }
        (view.prefix == 0 && items.len() > 1).then_some(Value::Array(items))
    }

    /// A list whose elements differ where there are enough samples for that.
    pub(super) fn list(&mut self, view: &FlatView, length: usize, variant: usize) -> Option<Value> {
        let mut items: Vec<Value> = Vec::new();
        for at in 0..length {
            let item = view.item(&self.comparison.space, at);
            let samples = self.samples(&item);
            let fresh = samples.iter().skip(variant).chain(&samples).find(|sample| !items.contains(sample));
            let last = samples.get(variant).or(samples.first());
            let wanted = self.contained(view, at).filter(|_| variant == 0);
            items.push(wanted.or_else(|| fresh.cloned()).or_else(|| last.cloned())?);
        }
        Some(Value::Array(items))
    }

    /// What `contains` asks for, among the first elements.
    fn contained(&mut self, view: &FlatView, at: usize) -> Option<Value> {
        let rules = view.nodes.iter().filter_map(|id| self.comparison.space.node(*id).array.contains.clone());
        let rule = rules.into_iter().next().filter(|rule| (at as u64) < rule.min)?;
        let item = view.item(&self.comparison.space, at);
        let both = self.comparison.space.with(&item, rule.node);
        let samples = self.samples(&both);
        samples.get(at).or(samples.first()).cloned()
    }
}
