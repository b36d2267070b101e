//! A value against a schema, with three answers: what is not understood makes an answer unclear, never wrong.

use serde_json::{Map, Number, Value};

use crate::kinds::KindSet;
use crate::node::{ArrayRules, NodeId, NumberBound, ObjectRules, SchemaNode, StringRules};
use crate::number::{compare, equal, is_multiple};
use crate::workspace::{NodeSet, Workspace};

/// Schemas inside of schemas, and `$ref`s that lead back to where they began.
const DEPTH_MAX: u32 = 100;

/// Whether a schema takes a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueJudgement {
    Accepted,
    Refused,
    Unclear,
}

use ValueJudgement::{Accepted, Refused, Unclear};

impl ValueJudgement {
    fn of(is_good: bool) -> Self {
        if is_good { Accepted } else { Refused }
    }

    fn of_known(is_good: Option<bool>) -> Self {
        is_good.map_or(Unclear, ValueJudgement::of)
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Accepted => Refused,
            Refused => Accepted,
            Unclear => Unclear,
        }
    }

    /// Accepted by all; a refusal is enough to be refused.
    fn all(each: impl IntoIterator<Item = ValueJudgement>) -> Self {
        let mut result = Accepted;
        for one in each {
            match one {
                Refused => return Refused,
                Unclear => result = Unclear,
                Accepted => {}
            }
        }
        result
    }

    fn any(each: impl IntoIterator<Item = ValueJudgement>) -> Self {
        Self::all(each.into_iter().map(ValueJudgement::negated)).negated()
    }
}

impl Workspace {
    pub(crate) fn judge(&self, id: NodeId, value: &Value) -> ValueJudgement {
        self.judge_at(id, value, 0)
    }

    pub(crate) fn judge_all(&self, set: &NodeSet, value: &Value) -> ValueJudgement {
        ValueJudgement::all(set.ids().iter().map(|id| self.judge(*id, value)))
    }

    fn judge_at(&self, id: NodeId, value: &Value, depth: u32) -> ValueJudgement {
        if depth > DEPTH_MAX || !self.spend() {
            return Unclear;
        }
        let node = self.node(id);
        if !KindSet::of_value(value).within(node.kinds) {
            return Refused;
        }
        if !self.spend_many(node.values.as_ref().map_or(0, Vec::len) / 64) {
            return Unclear;
        }
        let allowed = node.values.as_ref().is_none_or(|values| values.iter().any(|it| equal(it, value)));
        if !allowed {
            return Refused;
        }
        let own = match value {
            Value::Number(number) => judge_number(&node, number),
            Value::String(text) => self.judge_text(&node.string, text),
            Value::Array(items) => self.judge_items(&node.array, items, depth),
            Value::Object(map) => self.judge_properties(id, &node.object, map, value, depth),
            Value::Null | Value::Bool(_) => Accepted,
        };
        let opaque = if node.opaque.is_empty() { Accepted } else { Unclear };
        // From the cheapest to the dearest; the first refusal ends it.
        if own == Refused {
            return Refused;
        }
        ValueJudgement::all([own, opaque, self.judge_logic(&node, value, depth + 1)])
    }

    fn judge_logic(&self, node: &SchemaNode, value: &Value, depth: u32) -> ValueJudgement {
        let judge = |id: &NodeId| self.judge_at(*id, value, depth);
        let all = ValueJudgement::all(node.all_of.iter().map(judge));
        if all == Refused {
            return Refused;
        }
        let any = if node.any_of.is_empty() {
            Accepted
        } else {
            ValueJudgement::any(node.any_of.iter().map(judge))
        };
        let one = if node.one_of.is_empty() { Accepted } else { exactly_one(node.one_of.iter().map(judge)) };
        let not = node.not.as_ref().map_or(Accepted, |id| judge(id).negated());
        let condition = match &node.condition {
            Some(rule) => {
                let then = rule.then.as_ref().map_or(Accepted, judge);
                let otherwise = rule.otherwise.as_ref().map_or(Accepted, judge);
                match judge(&rule.test) {
                    Accepted => then,
                    Refused => otherwise,
                    Unclear if then == otherwise => then,
                    Unclear => Unclear,
                }
            }
            None => Accepted,
        };
        ValueJudgement::all([all, any, one, not, condition])
    }

    fn judge_text(&self, rules: &StringRules, text: &str) -> ValueJudgement {
        let length = text.chars().count() as u64;
        let pattern = match &rules.pattern {
            Some(pattern) => ValueJudgement::of_known(self.matches(pattern, text)),
            None => Accepted,
        };
        let format = match &rules.format {
            Some(format) => judge_format(format, text),
            None => Accepted,
        };
        let fits = rules.min <= length && rules.max.is_none_or(|max| length <= max);
        ValueJudgement::all([ValueJudgement::of(fits), pattern, format])
    }

    fn judge_items(&self, rules: &ArrayRules, items: &[Value], depth: u32) -> ValueJudgement {
        let length = items.len() as u64;
        let fits = rules.min <= length && rules.max.is_none_or(|max| length <= max);
        let is_unique = !rules.unique || !has_twins(items);
        if !fits || !is_unique {
            return Refused;
        }
        let each = items.iter().enumerate().filter_map(|(at, item)| Some((rules.at(at)?, item)));
        let each = ValueJudgement::all(each.map(|(id, item)| self.judge_at(id, item, depth + 1)));
        let contains = match &rules.contains {
            Some(rule) => {
                let judged = items.iter().map(|item| self.judge_at(rule.node, item, depth + 1));
                let judged: Vec<_> = judged.collect();
                let sure = judged.iter().filter(|it| **it == Accepted).count() as u64;
                let most = judged.iter().filter(|it| **it != Refused).count() as u64;
                let max = rule.max.unwrap_or(u64::MAX);
                match () {
                    () if sure >= rule.min && most <= max => Accepted,
                    () if most < rule.min || sure > max => Refused,
                    () => Unclear,
                }
            }
            None => Accepted,
        };
        ValueJudgement::all([each, contains])
    }

    fn judge_properties(
        &self,
        id: NodeId,
        rules: &ObjectRules,
        map: &Map<String, Value>,
        value: &Value,
        depth: u32,
    ) -> ValueJudgement {
        let count = map.len() as u64;
        let fits = rules.min <= count && rules.max.is_none_or(|max| count <= max);
        let is_complete = rules.required.iter().all(|name| map.contains_key(name));
        let depending = rules.dependent_required.iter().filter(|(name, _)| map.contains_key(*name));
        let has_depending =
            depending.into_iter().all(|(_, names)| names.iter().all(|it| map.contains_key(it)));
        if !fits || !is_complete || !has_depending {
            return Refused;
        }
        let each = map.iter().map(|(name, value)| {
            let found = self.property(id, name);
            let judged = found.nodes.iter().map(|id| self.judge_at(*id, value, depth + 1));
            let unclear = (!found.clear).then_some(Unclear);
            ValueJudgement::all(judged.chain(unclear))
        });
        let names = rules
            .names
            .iter()
            .flat_map(|id| map.keys().map(|name| self.judge_at(*id, &Value::from(name.as_str()), depth + 1)));
        let schemas = rules.dependent_schemas.iter().filter(|(name, _)| map.contains_key(*name));
        let schemas = schemas.map(|(_, id)| self.judge_at(*id, value, depth + 1));
        ValueJudgement::all(each.chain(names).chain(schemas))
    }
}

fn judge_number(node: &SchemaNode, number: &Number) -> ValueJudgement {
    let rules = &node.number;
    let is_above = rules.low.as_ref().is_none_or(|bound| bound.allows(number, true));
    let is_below = rules.high.as_ref().is_none_or(|bound| bound.allows(number, false));
    let multiple =
        rules.multiple.as_ref().map_or(Accepted, |of| ValueJudgement::of_known(is_multiple(number, of)));
    ValueJudgement::all([ValueJudgement::of(is_above && is_below), multiple])
}

impl NumberBound {
    pub(crate) fn allows(&self, number: &Number, is_low: bool) -> bool {
        let order = compare(number, &self.value);
        let order = if is_low { order } else { order.reverse() };
        order.is_gt() || (order.is_eq() && !self.exclusive)
    }
}

fn exactly_one(each: impl Iterator<Item = ValueJudgement>) -> ValueJudgement {
    let each: Vec<_> = each.collect();
    let sure = each.iter().filter(|it| **it == Accepted).count();
    let open = each.iter().filter(|it| **it == Unclear).count();
    match (sure, open) {
        (2.., _) | (0, 0) => Refused,
        (1, 0) => Accepted,
        _ => Unclear,
    }
}

pub(crate) fn has_twins(items: &[Value]) -> bool {
    items.iter().enumerate().any(|(at, item)| items[..at].iter().any(|other| equal(item, other)))
}

/// A text of each format that is in the specification. Other formats mean nothing to a validator.
const FORMATS: [(&str, &str); 19] = [
    ("date-time", "2024-02-03T04:05:06Z"),
    ("date", "2024-02-03"),
    ("time", "04:05:06Z"),
    ("duration", "P1D"),
    ("email", "someone@example.com"),
    ("idn-email", "someone@example.com"),
    ("hostname", "example.com"),
    ("idn-hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("uri", "https://example.com/"),
    ("uri-reference", "https://example.com/"),
    ("iri", "https://example.com/"),
    ("iri-reference", "https://example.com/"),
    ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
    ("uri-template", "https://example.com/"),
    ("json-pointer", "/a"),
    ("relative-json-pointer", "0"),
    ("regex", "a"),
];

/// A text that has a format.
pub(crate) fn format_sample(format: &str) -> Option<&'static str> {
    FORMATS.iter().find(|(name, _)| *name == format).map(|(_, sample)| *sample)
}

/// Formats are notes unless a validator is told otherwise. So a text is refused for none, and accepted only if it would be
/// with validation of formats, too.
fn judge_format(format: &str, text: &str) -> ValueJudgement {
    match format_sample(format) {
        Some(sample) if sample != text => Unclear,
        _ => Accepted,
    }
}
