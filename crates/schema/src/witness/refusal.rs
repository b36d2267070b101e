//! Why a schema refuses a value: the innermost place that says so.

use serde_json::Value;

use crate::judge::ValueJudgement;
use crate::kinds::KindSet;
use crate::node::{ArrayRules, NodeId, SchemaNode};
use crate::path::PathSegment;
use crate::workspace::{NodeSet, Workspace};

/// `$ref`s and parts that are followed.
const DEPTH_MAX: usize = 60;

/// Where a value is refused, and by what.
#[derive(Debug)]
pub(crate) struct ValueRefusal {
    pub(crate) path: Vec<PathSegment>,
    /// The schema that refuses it; for a property that is absent, the schema of the object.
    pub(crate) node: NodeId,
    pub(crate) reason: RefusalReason,
}

#[derive(Debug, PartialEq)]
pub(crate) enum RefusalReason {
    /// It is of another type.
    Type,
    /// A required property is absent.
    Missing(String),
    /// The property itself is not allowed.
    Extra,
    /// What this keyword says does not hold.
    Keyword(&'static str),
}

impl ValueRefusal {
    pub(crate) fn find(space: &Workspace, id: NodeId, value: &Value) -> ValueRefusal {
        let mut path = Vec::new();
        let (node, reason) = find(space, id, value, &mut path, 0);
        ValueRefusal { path, node, reason }
    }

    /// What the left side says of the place, following the members of unions that take this value.
    pub(crate) fn left_at(&self, space: &mut Workspace, left: &NodeSet, value: &Value) -> NodeSet {
        let mut set = left.clone();
        let mut value = value;
        for segment in &self.path {
            set = chosen(space, &set, value);
            let view = space.view(&set);
            let (next, below) = match (segment, value) {
                (PathSegment::Key(key), Value::Object(map)) => (view.property(space, key), map.get(key)),
                (PathSegment::Index(at), Value::Array(items)) => (view.item(space, *at), items.get(*at)),
                _ => return set,
            };
            set = next;
            value = below.unwrap_or(&Value::Null);
        }
        set
    }
}

/// The set with the first member of each union that takes the value.
pub(crate) fn chosen(space: &mut Workspace, set: &NodeSet, value: &Value) -> NodeSet {
    let mut set = set.clone();
    for _ in 0..DEPTH_MAX {
        let view = space.view(&set);
        let takes = |id: &&NodeId| space.judge(**id, value) == ValueJudgement::Accepted;
        let Some(member) = view.groups.first().and_then(|group| group.iter().find(takes)) else { break };
        set = space.with(&set, *member);
    }
    set
}

fn find(
    space: &Workspace,
    id: NodeId,
    value: &Value,
    path: &mut Vec<PathSegment>,
    depth: usize,
) -> (NodeId, RefusalReason) {
    let node = space.node(id);
    if !KindSet::of_value(value).within(node.kinds) {
        let is_never = node.kinds.is_empty() && !path.is_empty();
        return (id, if is_never { RefusalReason::Extra } else { RefusalReason::Type });
    }
    let is_listed = |values: &Vec<Value>| values.iter().any(|it| crate::number::equal(it, value));
    if depth > DEPTH_MAX || !node.values.as_ref().is_none_or(is_listed) {
        return (id, RefusalReason::Type);
    }
    let nested = match value {
        Value::Object(_) => in_object(space, id, value, path, depth),
        Value::Array(items) => in_array(space, &node.array, items, path, depth),
        _ => None,
    };
    if let Some(found) = nested {
        return found;
    }
    if let Some(keyword) = broken_keyword(space, &node, value) {
        return (id, RefusalReason::Keyword(keyword));
    }
    let is_refused = |id: &&NodeId| space.judge(**id, value) == ValueJudgement::Refused;
    if let Some(part) = node.all_of.iter().find(is_refused) {
        return find(space, *part, value, path, depth + 1);
    }
    for members in [&node.any_of, &node.one_of] {
        if members.is_empty() || !members.iter().all(|id| is_refused(&id)) {
            continue;
        }
        return match near(space, members, value).as_slice() {
            [only] => find(space, *only, value, path, depth + 1),
            _ => (id, RefusalReason::Type),
        };
    }
    (id, RefusalReason::Keyword(last_keyword(&node)))
}

/// The members of a union that are meant: those of the value's kind, whose tags are the value's.
fn near(space: &Workspace, members: &[NodeId], value: &Value) -> Vec<NodeId> {
    let near = members.iter().filter(|member| {
        let mut path = Vec::new();
        let (_, reason) = find(space, **member, value, &mut path, DEPTH_MAX / 2);
        let is_kind = path.is_empty() && reason == RefusalReason::Type;
        !is_kind && !has_other_tag(space, **member, value, 0)
    });
    near.copied().collect()
}

fn has_other_tag(space: &Workspace, member: NodeId, value: &Value, depth: usize) -> bool {
    let node = space.node(member);
    let is_other = |(name, part): (&String, &Value)| {
        space
            .property(member, name)
            .nodes
            .into_iter()
            .any(|id| space.node(id).values.is_some() && space.judge(id, part) == ValueJudgement::Refused)
    };
    let is_own = value.as_object().is_some_and(|map| map.iter().any(is_other));
    is_own || depth < 8 && node.all_of.iter().any(|id| has_other_tag(space, *id, value, depth + 1))
}

fn in_object(
    space: &Workspace,
    id: NodeId,
    value: &Value,
    path: &mut Vec<PathSegment>,
    depth: usize,
) -> Option<(NodeId, RefusalReason)> {
    let node = space.node(id);
    let map = value.as_object()?;
    for (name, part) in map {
        let rules = space.property(id, name).nodes;
        let refused = rules.into_iter().find(|id| space.judge(*id, part) == ValueJudgement::Refused);
        if let Some(refused) = refused {
            path.push(PathSegment::Key(name.clone()));
            return Some(find(space, refused, part, path, depth + 1));
        }
    }
    if let Some(name) = node.object.required.iter().find(|name| !map.contains_key(*name)) {
        path.push(PathSegment::Key(name.clone()));
        return Some((id, RefusalReason::Missing(name.clone())));
    }
    None
}

fn in_array(
    space: &Workspace,
    rules: &ArrayRules,
    items: &[Value],
    path: &mut Vec<PathSegment>,
    depth: usize,
) -> Option<(NodeId, RefusalReason)> {
    for (at, item) in items.iter().enumerate() {
        let refused = rules.at(at).filter(|id| space.judge(*id, item) == ValueJudgement::Refused);
        if let Some(refused) = refused {
            path.push(PathSegment::Index(at));
            return Some(find(space, refused, item, path, depth + 1));
        }
    }
    None
}

/// The keyword without schemas in it that does not hold.
fn broken_keyword(space: &Workspace, node: &SchemaNode, value: &Value) -> Option<&'static str> {
    let too_many = |max: Option<u64>, count: u64| max.is_some_and(|max| count > max);
    match value {
        Value::Number(number) => {
            let rules = &node.number;
            let is_low = rules.low.as_ref().is_some_and(|bound| !bound.allows(number, true));
            let is_high = rules.high.as_ref().is_some_and(|bound| !bound.allows(number, false));
            let is_multiple = rules.multiple.as_ref().and_then(|of| crate::number::is_multiple(number, of));
            let found =
                [(is_low, "minimum"), (is_high, "maximum"), (is_multiple == Some(false), "multipleOf")];
            first(found)
        }
        Value::String(text) => {
            let (rules, count) = (&node.string, text.chars().count() as u64);
            let matches = rules.pattern.as_ref().and_then(|pattern| space.matches(pattern, text));
            first([
                (count < rules.min, "minLength"),
                (too_many(rules.max, count), "maxLength"),
                (matches == Some(false), "pattern"),
            ])
        }
        Value::Array(items) => {
            let (rules, count) = (&node.array, items.len() as u64);
            first([
                (count < rules.min, "minItems"),
                (too_many(rules.max, count), "maxItems"),
                (rules.unique && crate::judge::has_twins(items), "uniqueItems"),
            ])
        }
        Value::Object(map) => {
            let (rules, count) = (&node.object, map.len() as u64);
            first([
                (count < rules.min, "minProperties"),
                (too_many(rules.max, count), "maxProperties"),
                (false, ""),
            ])
        }
        Value::Null | Value::Bool(_) => None,
    }
}

fn first(found: [(bool, &'static str); 3]) -> Option<&'static str> {
    found.into_iter().find(|(is_broken, _)| *is_broken).map(|(_, keyword)| keyword)
}

/// What is left when all else holds.
fn last_keyword(node: &SchemaNode) -> &'static str {
    let object = &node.object;
    let candidates = [
        (!node.one_of.is_empty(), "oneOf"),
        (node.not.is_some(), "not"),
        (node.condition.is_some(), "if"),
        (node.array.contains.is_some(), "contains"),
        (object.names.is_some(), "propertyNames"),
        (!object.dependent_required.is_empty(), "dependentRequired"),
        (!object.dependent_schemas.is_empty(), "dependentSchemas"),
    ];
    candidates.into_iter().find(|(is_there, _)| *is_there).map_or("anyOf", |(_, keyword)| keyword)
}
