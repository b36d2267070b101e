//! What several schemas say together, in one layer: `allOf` merged.
//!
//! It allows at least what the schemas allow (what is not understood is left out), so a proof about it is a proof about
//! them. Instances that are found with it are judged by the schemas themselves.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use crate::kinds::KindSet;
use crate::node::{NodeId, NumberBound, SchemaNode};
use crate::number::{compare, equal, whole};
use crate::workspace::{NodeSet, Workspace};

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct FlatView {
    /// All nodes that hold, with those of `allOf` and `$ref`. Sorted.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) kinds: KindSet,
    /// The kinds of which anything is said. Of others nothing is known, which is no proof that they occur.
    pub(crate) stated: KindSet,
    pub(crate) values: Option<Vec<Value>>,
    pub(crate) low: Option<NumberBound>,
    pub(crate) high: Option<NumberBound>,
    pub(crate) multiples: Vec<Number>,
    pub(crate) min_length: u64,
    pub(crate) max_length: Option<u64>,
    pub(crate) patterns: Vec<String>,
    pub(crate) formats: Vec<String>,
    pub(crate) min_items: u64,
    pub(crate) max_items: Option<u64>,
    pub(crate) unique: bool,
    /// Elements that have a schema of their own.
    pub(crate) prefix: usize,
    /// Names of properties that are declared.
    pub(crate) names: BTreeSet<String>,
    pub(crate) required: BTreeSet<String>,
    pub(crate) min_properties: u64,
    pub(crate) max_properties: Option<u64>,
    /// Unions of which no member has been chosen.
    pub(crate) groups: Vec<Vec<NodeId>>,
}

/// The schemas of one property, as one node has them.
#[derive(Debug, Default)]
pub(crate) struct PropertyRules {
    pub(crate) nodes: Vec<NodeId>,
    /// Whether the node names the property, or says what all others are.
    pub(crate) declared: bool,
    /// False where it cannot be decided whether a pattern matches the name.
    pub(crate) clear: bool,
}

impl FlatView {
    pub(crate) fn of(space: &Workspace, set: &NodeSet) -> FlatView {
        let mut view = FlatView::closed(space, set.ids().to_vec());
        // A property that is there makes others required, and schemas hold that depend on it.
        loop {
            let mut more: Vec<NodeId> = Vec::new();
            let mut names: Vec<String> = Vec::new();
            for id in &view.nodes {
                let node = space.node(*id);
                let is_there = |name: &String| view.required.contains(name);
                let depending = node.object.dependent_required.iter().filter(|(name, _)| is_there(name));
                names.extend(depending.flat_map(|(_, others)| others).filter(|it| !is_there(it)).cloned());
                if view.kinds == KindSet::OBJECT {
                    let schemas = node.object.dependent_schemas.iter().filter(|(name, _)| is_there(name));
                    more.extend(schemas.map(|(_, id)| *id).filter(|id| !view.nodes.contains(id)));
                }
            }
            if more.is_empty() && names.is_empty() {
                return view.finished(space);
            }
            names.extend(std::mem::take(&mut view.required));
            let nodes = view.nodes.iter().copied().chain(more).collect();
            view = FlatView::closed(space, nodes);
            view.required.extend(names);
        }
    }

    fn closed(space: &Workspace, mut open: Vec<NodeId>) -> FlatView {
        let mut nodes = BTreeSet::new();
        while let Some(id) = open.pop() {
            if nodes.insert(id) {
                open.extend(&space.node(id).all_of);
            }
        }
        let mut view = FlatView::default();
        for id in &nodes {
            view.add(&space.node(*id));
        }
        view.nodes = nodes.into_iter().collect();
        view
    }

    fn add(&mut self, node: &SchemaNode) {
        self.kinds = self.kinds.both(node.kinds);
        self.stated = self.stated.either(node.stated());
        if let Some(values) = &node.values {
            let mut values = values.clone();
            if let Some(before) = &self.values {
                values.retain(|value| before.iter().any(|other| equal(value, other)));
            }
            self.values = Some(values);
        }
        tighten(&mut self.low, node.number.low.as_ref(), true);
        tighten(&mut self.high, node.number.high.as_ref(), false);
        self.multiples.extend(node.number.multiple.clone());
        self.min_length = self.min_length.max(node.string.min);
        self.max_length = smaller(self.max_length, node.string.max);
        self.patterns.extend(node.string.pattern.clone());
        self.formats.extend(node.string.format.clone());
        self.min_items = self.min_items.max(node.array.min);
        if node.array.contains.as_ref().is_some_and(|rule| rule.min > 0) {
            self.min_items = self.min_items.max(node.array.contains.as_ref().map_or(0, |rule| rule.min));
        }
        self.max_items = smaller(self.max_items, node.array.max);
        self.unique |= node.array.unique;
        self.prefix = self.prefix.max(node.array.prefix.len());
        self.names.extend(node.object.properties.keys().cloned());
        self.required.extend(node.object.required.iter().cloned());
        self.min_properties = self.min_properties.max(node.object.min);
        self.max_properties = smaller(self.max_properties, node.object.max);
    }

    /// What follows from the parts together.
    fn finished(mut self, space: &Workspace) -> FlatView {
        self.min_properties = self.min_properties.max(self.required.len() as u64);
        if self.kinds.both(KindSet::NUMBER) == KindSet::INTEGER {
            self.low = self.low.map(|bound| whole_bound(bound, true));
            self.high = self.high.map(|bound| whole_bound(bound, false));
        }
        for id in &self.nodes {
            let node = space.node(*id);
            for group in [&node.any_of, &node.one_of] {
                let is_chosen = group.iter().any(|id| {
                    let member = space.set([*id]);
                    !member.is_unconstrained()
                        && member.ids().iter().all(|id| self.nodes.binary_search(id).is_ok())
                });
                if !group.is_empty() && !is_chosen {
                    self.groups.push(group.clone());
                }
            }
            if node.array.rest.is_some_and(|rest| space.node(rest).kinds.is_empty()) {
                self.max_items = smaller(self.max_items, Some(node.array.prefix.len() as u64));
            }
            let others = node.object.additional.is_some_and(|it| space.node(it).kinds.is_empty());
            if others && node.object.patterns.is_empty() {
                let named = node.object.properties.len() as u64;
                self.max_properties = smaller(self.max_properties, Some(named));
            }
        }
        self
    }

    /// All values, where there are few.
    pub(crate) fn few_values(&self) -> Option<Vec<Value>> {
        const FEW: i128 = 16;
        if let Some(values) = &self.values {
            return Some(values.clone());
        }
        if self.kinds.within(KindSet::NULL.either(KindSet::BOOLEAN)) {
            let nulls = self.kinds.meets(KindSet::NULL).then_some(vec![Value::Null]);
            let booleans = [Value::Bool(true), Value::Bool(false)].to_vec();
            let booleans = self.kinds.meets(KindSet::BOOLEAN).then_some(booleans);
            return Some([nulls, booleans].into_iter().flatten().flatten().collect());
        }
        if self.kinds == KindSet::INTEGER
            && let (Some(low), Some(high)) = (&self.low, &self.high)
            && let (Some(low), Some(high)) = (whole(&low.value), whole(&high.value))
            && high - low < FEW
        {
            return (low..=high).map(crate::number::from_whole).collect();
        }
        None
    }

    /// The schemas that a property must satisfy, as far as they are known.
    pub(crate) fn property(&self, space: &Workspace, name: &str) -> NodeSet {
        space.set(self.nodes.iter().flat_map(|id| space.property(*id, name).nodes))
    }

    /// The schemas of an element.
    pub(crate) fn item(&self, space: &Workspace, index: usize) -> NodeSet {
        space.set(self.nodes.iter().filter_map(|id| space.node(*id).array.at(index)))
    }

    /// The schemas of names.
    pub(crate) fn name_rules(&self, space: &Workspace) -> NodeSet {
        space.set(self.nodes.iter().filter_map(|id| space.node(*id).object.names))
    }

    /// Whether no value has a number of properties that is allowed, or of elements, and so on.
    pub(crate) fn possible_kinds(&self) -> KindSet {
        let mut kinds = self.kinds;
        let mut exclude = |kind: KindSet, is_empty: bool| {
            if is_empty {
                kinds = kinds
                    .parts()
                    .into_iter()
                    .filter(|it| !it.within(kind))
                    .fold(KindSet::NONE, KindSet::either);
            }
        };
        exclude(KindSet::NUMBER, is_empty_range(self.low.as_ref(), self.high.as_ref()));
        exclude(KindSet::STRING, self.max_length.is_some_and(|max| max < self.min_length));
        exclude(KindSet::ARRAY, self.max_items.is_some_and(|max| max < self.min_items));
        exclude(KindSet::OBJECT, self.max_properties.is_some_and(|max| max < self.min_properties));
        kinds
    }
}

impl Default for FlatView {
    fn default() -> Self {
        FlatView {
            nodes: Vec::new(),
            kinds: KindSet::ALL,
            stated: KindSet::NONE,
            values: None,
            low: None,
            high: None,
            multiples: Vec::new(),
            min_length: 0,
            max_length: None,
            patterns: Vec::new(),
            formats: Vec::new(),
            min_items: 0,
            max_items: None,
            unique: false,
            prefix: 0,
            names: BTreeSet::new(),
            required: BTreeSet::new(),
            min_properties: 0,
            max_properties: None,
            groups: Vec::new(),
        }
    }
}

impl Workspace {
    /// What one node says of a property.
    pub(crate) fn property(&self, id: NodeId, name: &str) -> PropertyRules {
        let node = self.node(id);
        let object = &node.object;
        let mut rules = PropertyRules { clear: true, ..PropertyRules::default() };
        rules.nodes.extend(object.properties.get(name));
        for (pattern, id) in &object.patterns {
            match self.matches(pattern, name) {
                Some(true) => rules.nodes.push(*id),
                Some(false) => {}
                None => rules.clear = false,
            }
        }
        if rules.nodes.is_empty() && rules.clear {
            rules.nodes.extend(object.additional);
        }
        rules.declared = !rules.nodes.is_empty();
        rules
    }
}

fn smaller(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

fn tighten(place: &mut Option<NumberBound>, other: Option<&NumberBound>, is_low: bool) {
    if let Some(other) = other.cloned() {
        *place = Some(match place.take() {
            Some(bound) => bound.tighter(other, is_low),
            None => other,
        });
    }
}

/// The whole number that is the bound of whole numbers.
fn whole_bound(bound: NumberBound, is_low: bool) -> NumberBound {
    let float = bound.value.as_f64().unwrap_or_default();
    let inward = if is_low { 1 } else { -1 };
    let moved = match whole(&bound.value) {
        Some(number) if bound.exclusive => number.checked_add(inward),
        Some(number) => Some(number),
        #[expect(clippy::cast_possible_truncation, reason = "whole, and inside of the range")]
        None if float.abs() < 1e30 => Some(if is_low { float.ceil() } else { float.floor() } as i128),
        None => None,
    };
    match moved.and_then(crate::number::from_whole) {
        Some(Value::Number(value)) => NumberBound { value, exclusive: false },
        _ => bound,
    }
}

fn is_empty_range(low: Option<&NumberBound>, high: Option<&NumberBound>) -> bool {
    let (Some(low), Some(high)) = (low, high) else { return false };
    match compare(&low.value, &high.value) {
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => low.exclusive || high.exclusive,
        std::cmp::Ordering::Less => false,
    }
}
