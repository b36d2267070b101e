//! A schema in canonical form: one node per place, in the meaning of 2020-12.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Number, Value};

use crate::kinds::KindSet;

/// A node of an arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NodeId(pub(crate) u32);

/// What one schema object says. All of it must hold.
#[derive(Clone, Debug)]
pub(crate) struct SchemaNode {
    pub(crate) kinds: KindSet,
    /// Whether `type` is written, even if it names all kinds.
    pub(crate) kinds_stated: bool,
    /// `enum` and `const`.
    pub(crate) values: Option<Vec<Value>>,
    pub(crate) number: NumberRules,
    pub(crate) string: StringRules,
    pub(crate) array: ArrayRules,
    pub(crate) object: ObjectRules,
    /// `allOf` and `$ref`.
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) any_of: Vec<NodeId>,
    pub(crate) one_of: Vec<NodeId>,
    pub(crate) not: Option<NodeId>,
    pub(crate) condition: Option<ConditionRule>,
    /// Keywords whose meaning is not known here.
    pub(crate) opaque: Vec<OpaqueKeyword>,
    /// What the schema is called where it is defined.
    pub(crate) name: Option<String>,
}

/// One end of a range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NumberBound {
    pub(crate) value: Number,
    pub(crate) exclusive: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NumberRules {
    pub(crate) low: Option<NumberBound>,
    pub(crate) high: Option<NumberBound>,
    pub(crate) multiple: Option<Number>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StringRules {
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) pattern: Option<String>,
    pub(crate) format: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) prefix: Vec<NodeId>,
    /// All elements behind the prefix.
    pub(crate) rest: Option<NodeId>,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) unique: bool,
    pub(crate) contains: Option<ContainsRule>,
}

#[derive(Clone, Debug)]
pub(crate) struct ContainsRule {
    pub(crate) node: NodeId,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectRules {
    pub(crate) properties: BTreeMap<String, NodeId>,
    pub(crate) patterns: Vec<(String, NodeId)>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) required: BTreeSet<String>,
    pub(crate) min: u64,
    pub(crate) max: Option<u64>,
    pub(crate) names: Option<NodeId>,
    pub(crate) dependent_required: BTreeMap<String, Vec<String>>,
    pub(crate) dependent_schemas: BTreeMap<String, NodeId>,
}

/// `if`, `then`, `else`.
#[derive(Clone, Debug)]
pub(crate) struct ConditionRule {
    pub(crate) test: NodeId,
    pub(crate) then: Option<NodeId>,
    pub(crate) otherwise: Option<NodeId>,
}

/// A keyword that may constrain values in a way that is not understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpaqueKeyword {
    pub(crate) why: String,
    /// Two keywords with this same text mean the same.
    pub(crate) identity: Option<String>,
}

impl Default for SchemaNode {
    fn default() -> Self {
        SchemaNode {
            kinds: KindSet::ALL,
            kinds_stated: false,
            values: None,
            number: NumberRules::default(),
            string: StringRules::default(),
            array: ArrayRules::default(),
            object: ObjectRules::default(),
            all_of: Vec::new(),
            any_of: Vec::new(),
            one_of: Vec::new(),
            not: None,
            condition: None,
            opaque: Vec::new(),
            name: None,
        }
    }
}

impl SchemaNode {
    /// The schema that no value satisfies.
    pub(crate) fn never() -> Self {
        SchemaNode { kinds: KindSet::NONE, kinds_stated: true, ..SchemaNode::default() }
    }

    /// Whether every value satisfies it.
    pub(crate) fn is_trivial(&self) -> bool {
        self.all_of.is_empty() && self.says_nothing_itself()
    }

    /// Whether it says what others say, and nothing else.
    pub(crate) fn only_refers(&self) -> bool {
        !self.all_of.is_empty() && self.says_nothing_itself()
    }

    fn says_nothing_itself(&self) -> bool {
        self.kinds == KindSet::ALL
            && self.values.is_none()
            && self.number == NumberRules::default()
            && self.string == StringRules::default()
            && self.array.is_trivial()
            && self.object.is_trivial()
            && !self.has_choices()
            && self.not.is_none()
            && self.opaque.is_empty()
    }

    fn has_choices(&self) -> bool {
        !self.any_of.is_empty() || !self.one_of.is_empty() || self.condition.is_some()
    }

    /// The kinds of which this node says anything.
    pub(crate) fn stated(&self) -> KindSet {
        if self.kinds_stated || self.values.is_some() || self.not.is_some() || self.condition.is_some() {
            return KindSet::ALL;
        }
        let of_numbers = (self.number != NumberRules::default()).then_some(KindSet::NUMBER);
        let of_strings = (self.string != StringRules::default()).then_some(KindSet::STRING);
        let of_arrays = (!self.array.is_trivial()).then_some(KindSet::ARRAY);
        let of_objects = (!self.object.is_trivial()).then_some(KindSet::OBJECT);
        let all = [of_numbers, of_strings, of_arrays, of_objects].into_iter().flatten();
        all.fold(KindSet::NONE, KindSet::either)
    }

    /// Gives each child another id.
    pub(crate) fn map_children(&mut self, map: &mut impl FnMut(NodeId) -> NodeId) {
        let array = &mut self.array;
        array.prefix.iter_mut().chain(&mut array.rest).for_each(|id| *id = map(*id));
        array.contains.iter_mut().for_each(|rule| rule.node = map(rule.node));
        let object = &mut self.object;
        object.properties.values_mut().for_each(|id| *id = map(*id));
        object.patterns.iter_mut().for_each(|(_, id)| *id = map(*id));
        object.additional.iter_mut().chain(&mut object.names).for_each(|id| *id = map(*id));
        object.dependent_schemas.values_mut().for_each(|id| *id = map(*id));
        let choices = self.any_of.iter_mut().chain(&mut self.one_of);
        choices.chain(&mut self.all_of).chain(&mut self.not).for_each(|id| *id = map(*id));
        if let Some(rule) = &mut self.condition {
            rule.test = map(rule.test);
            rule.then.iter_mut().chain(&mut rule.otherwise).for_each(|id| *id = map(*id));
        }
    }
}

impl ArrayRules {
    pub(crate) fn is_trivial(&self) -> bool {
        self.prefix.is_empty()
            && self.rest.is_none()
            && self.min == 0
            && self.max.is_none()
            && !self.unique
            && self.contains.is_none()
    }

    /// The schema of an element, if there is one.
    pub(crate) fn at(&self, index: usize) -> Option<NodeId> {
        self.prefix.get(index).copied().or(self.rest)
    }
}

impl ObjectRules {
    pub(crate) fn is_trivial(&self) -> bool {
        self.properties.is_empty()
            && self.patterns.is_empty()
            && self.additional.is_none()
            && self.required.is_empty()
            && self.min == 0
            && self.max.is_none()
            && self.names.is_none()
            && self.dependent_required.is_empty()
            && self.dependent_schemas.is_empty()
    }
}
