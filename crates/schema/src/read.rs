//! JSON Schema, any draft, to canonical nodes.
//!
//! Places are read from a list, not by recursion, and each place once: a `$ref` is an id, so a schema that contains
//! itself is a graph with a cycle.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Number, Value};

use crate::draft::SchemaDraft;
use crate::kinds::KindSet;
use crate::loops::void_loops;
use crate::node::{NodeId, NumberBound, OpaqueKeyword, SchemaNode};
use crate::number::{compare, whole};
use crate::refs::{RefIndex, RefTarget, SchemaBase, base_of, escape};
use crate::schema::SchemaError;

/// More places than any schema has that was written for people or tools.
const NODES_MAX: usize = 50_000;

/// Keywords that say nothing about which values are valid.
const ANNOTATIONS: [&str; 29] = [
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$comment",
    "$defs",
    "definitions",
    "$vocabulary",
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "deprecationMessage",
    "readOnly",
    "writeOnly",
    "contentSchema",
    "nullable",
    "discriminator",
    "xml",
    "externalDocs",
    "enumNames",
    "enumDescriptions",
    "markdownDescription",
    "errorMessage",
    "propertyOrdering",
];

/// Reads one schema.
pub(crate) struct SchemaReader<'a> {
    root: &'a Value,
    pub(crate) draft: SchemaDraft,
    index: RefIndex,
    nodes: Vec<SchemaNode>,
    ids: HashMap<String, NodeId>,
    queue: VecDeque<(NodeId, SchemaPlace<'a>)>,
}

/// A place in the schema that is to be read.
pub(crate) struct SchemaPlace<'a> {
    pub(crate) pointer: String,
    value: &'a Value,
    base: SchemaBase,
}

impl<'a> SchemaReader<'a> {
    /// All nodes that can be reached; the first is the root.
    pub(crate) fn read(root: &'a Value) -> Result<Vec<SchemaNode>, SchemaError> {
        if !root.is_object() && !root.is_boolean() {
            return Err(SchemaError::NotASchema);
        }
        let draft = SchemaDraft::of(root);
        let (index, base) = RefIndex::of(root, draft);
        let (nodes, ids, queue) = (Vec::new(), HashMap::new(), VecDeque::new());
        let mut reader = SchemaReader { root, draft, index, nodes, ids, queue };
        reader.place(String::new(), root, base);
        while let Some((id, place)) = reader.queue.pop_front() {
            if reader.nodes.len() > NODES_MAX {
                return Err(SchemaError::TooLarge { nodes_max: NODES_MAX });
            }
            let node = reader.node(&place);
            reader.nodes[id.0 as usize] = node;
        }
        void_loops(&mut reader.nodes);
        Ok(reader.nodes)
    }

    fn place(&mut self, pointer: String, value: &'a Value, base: SchemaBase) -> NodeId {
        if let Some(id) = self.ids.get(&pointer) {
            return *id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(SchemaNode::default());
        self.ids.insert(pointer.clone(), id);
        self.queue.push_back((id, SchemaPlace { pointer, value, base }));
        id
    }

    /// The schema at a place below another.
    pub(crate) fn child(&mut self, place: &SchemaPlace<'a>, below: &[&str], value: &'a Value) -> NodeId {
        let mut pointer = place.pointer.clone();
        for key in below {
            pointer.push('/');
            pointer.push_str(&escape(key));
        }
        let base = base_of(value, &pointer, &place.base, self.draft);
        self.place(pointer, value, base)
    }

    fn node(&mut self, place: &SchemaPlace<'a>) -> SchemaNode {
        let mut node = match place.value {
            Value::Bool(true) => SchemaNode::default(),
            Value::Bool(false) => SchemaNode::never(),
            Value::Object(map) => self.object_node(place, map),
            _ => {
                let mut node = SchemaNode::default();
                node.puzzle("it is neither an object nor a boolean".to_owned());
                node
            }
        };
        node.name = definition_name(&place.pointer);
        node
    }

    fn object_node(&mut self, place: &SchemaPlace<'a>, map: &'a Map<String, Value>) -> SchemaNode {
        let mut node = SchemaNode::default();
        if let Some(reference) = map.get("$ref") {
            self.reference(&mut node, place, reference);
            if self.draft.refs_stand_alone() {
                return node;
            }
        }
        if !place.pointer.is_empty() && map.contains_key("$schema") {
            let own = SchemaDraft::of(place.value);
            if own != self.draft && own != SchemaDraft::Unstated {
                node.puzzle("a part of it is of another draft".to_owned());
            }
        }
        for (keyword, value) in map {
            self.keyword(&mut node, place, map, keyword, value);
        }
        node
    }

    fn keyword(
        &mut self,
        node: &mut SchemaNode,
        place: &SchemaPlace<'a>,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
    ) {
        let is_annotation = ANNOTATIONS.contains(&keyword) || keyword.starts_with("x-");
        if keyword == "$ref" || is_annotation || self.is_other_drafts(node, map, keyword) {
            return;
        }
        let read = assertion(node, map, keyword, value, self.draft)
            .or_else(|| self.array_keyword(node, place, map, keyword, value))
            .or_else(|| self.object_keyword(node, place, keyword, value))
            .or_else(|| self.unevaluated(node, place, map, keyword, value))
            .or_else(|| self.logic_keyword(node, place, map, keyword, value));
        match read {
            Some(true) => {}
            Some(false) => node.puzzle(format!("its `{keyword}` is not as JSON Schema has it")),
            None => node.puzzle(format!("the keyword `{keyword}` is not known")),
        }
    }

    /// Keywords that the schema's draft does not have are void there. `dependencies` outlived its draft in validators, and
    /// some check contents as draft-07 had it: whether those hold is left open.
    fn is_other_drafts(&self, node: &mut SchemaNode, map: &Map<String, Value>, keyword: &str) -> bool {
        let is_content = matches!(keyword, "contentEncoding" | "contentMediaType");
        if is_content && self.draft.asserts_content() {
            let why = format!("whether `{keyword}` is checked depends on the validator");
            let identity = map.get(keyword).map(|value| format!("{keyword} {value}"));
            node.opaque.push(OpaqueKeyword { why, identity });
        }
        if is_content || self.draft.has(keyword) {
            return is_content;
        }
        if keyword == "dependencies" && !map.get(keyword).is_some_and(is_empty_object) {
            node.puzzle("`dependencies` is of an older draft, and validators differ on it".to_owned());
        }
        true
    }

    fn reference(&mut self, node: &mut SchemaNode, place: &SchemaPlace<'a>, reference: &Value) {
        let Some(reference) = reference.as_str() else {
            return node.puzzle("its `$ref` is not a text".to_owned());
        };
        match self.index.resolve(self.root, self.draft, &place.base, reference) {
            RefTarget::Inside { pointer, value, base } => {
                let id = self.place(pointer, value, base);
                node.all_of.push(id);
            }
            RefTarget::Outside { uri } => {
                let why = format!("`$ref` leads outside of the schema: {uri}");
                let identity = uri.contains("://").then(|| format!("$ref {uri}"));
                node.opaque.push(OpaqueKeyword { why, identity });
            }
            RefTarget::Nowhere => node.puzzle(format!("`$ref` leads nowhere: {reference}")),
        }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

impl SchemaNode {
    /// Says of a keyword that what it demands is not known.
    pub(crate) fn puzzle(&mut self, why: String) {
        self.opaque.push(OpaqueKeyword { why, identity: None });
    }
}

/// Keywords without schemas in them; `None` for others, false for those that are malformed.
fn assertion(
    node: &mut SchemaNode,
    map: &Map<String, Value>,
    keyword: &str,
    value: &Value,
    draft: SchemaDraft,
) -> Option<bool> {
    Some(match keyword {
        "type" => read_type(value).map(|kinds| (node.kinds, node.kinds_stated) = (kinds, true)).is_some(),
        "enum" => value.as_array().map(|values| allow(node, values)).is_some(),
        "const" => {
            allow(node, std::slice::from_ref(value));
            true
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            bound(node, map, keyword, value, draft)
        }
        "multipleOf" => {
            let number = value.as_number().filter(|it| compare(it, &Number::from(0)).is_gt());
            node.number.multiple = number.cloned();
            number.is_some()
        }
        "minLength" => count(value).map(|it| node.string.min = it).is_some(),
        "maxLength" => count(value).map(|it| node.string.max = Some(it)).is_some(),
        "pattern" => value.as_str().map(|it| node.string.pattern = Some(it.to_owned())).is_some(),
        "format" => value.as_str().map(|it| node.string.format = Some(it.to_owned())).is_some(),
        "minItems" => count(value).map(|it| node.array.min = it).is_some(),
        "maxItems" => count(value).map(|it| node.array.max = Some(it)).is_some(),
        "uniqueItems" => value.as_bool().map(|it| node.array.unique = it).is_some(),
        "minProperties" => count(value).map(|it| node.object.min = it).is_some(),
        "maxProperties" => count(value).map(|it| node.object.max = Some(it)).is_some(),
        "required" => texts(value).map(|names| node.object.required.extend(names)).is_some(),
        _ => return None,
    })
}

fn read_type(value: &Value) -> Option<KindSet> {
    match value {
        Value::String(word) => KindSet::of_word(word),
        Value::Array(words) if !words.is_empty() => {
            let mut kinds = words.iter().map(|word| KindSet::of_word(word.as_str()?));
            kinds.try_fold(KindSet::NONE, |all, kind| Some(all.either(kind?)))
        }
        _ => None,
    }
}

/// `enum` and `const` beside each other leave what is in both.
fn allow(node: &mut SchemaNode, values: &[Value]) {
    let before = node.values.take();
    let both = values.iter().filter(|value| match &before {
        Some(before) => before.iter().any(|it| crate::number::equal(it, value)),
        None => true,
    });
    node.values = Some(both.cloned().collect());
}

fn bound(
    node: &mut SchemaNode,
    map: &Map<String, Value>,
    keyword: &str,
    value: &Value,
    draft: SchemaDraft,
) -> bool {
    let is_low = keyword.ends_with("inimum");
    let flag = if is_low { "exclusiveMinimum" } else { "exclusiveMaximum" };
    let exclusive = keyword == flag;
    if exclusive && draft.has_exclusive_flags() && value.is_boolean() {
        return true;
    }
    let Value::Number(number) = value else { return false };
    if exclusive && draft == SchemaDraft::Draft4 {
        return false;
    }
    let exclusive = exclusive || (draft.has_exclusive_flags() && map.get(flag) == Some(&Value::Bool(true)));
    let bound = NumberBound { value: number.clone(), exclusive };
    let place = if is_low { &mut node.number.low } else { &mut node.number.high };
    *place = Some(match place.take() {
        Some(other) => bound.tighter(other, is_low),
        None => bound,
    });
    true
}

impl NumberBound {
    /// The one of two bounds that allows less.
    pub(crate) fn tighter(self, other: NumberBound, is_low: bool) -> NumberBound {
        let order = compare(&self.value, &other.value);
        let order = if is_low { order } else { order.reverse() };
        match order {
            std::cmp::Ordering::Greater => self,
            std::cmp::Ordering::Less => other,
            std::cmp::Ordering::Equal if self.exclusive => self,
            std::cmp::Ordering::Equal => other,
        }
    }
}

/// A number of things.
pub(crate) fn count(value: &Value) -> Option<u64> {
    u64::try_from(whole(value.as_number()?)?).ok()
}

/// A list of texts.
pub(crate) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned)).collect()
}

/// What the author calls a schema: its key among the definitions.
fn definition_name(pointer: &str) -> Option<String> {
    let (before, name) = pointer.rsplit_once('/')?;
    let is_definition = before.ends_with("/$defs") || before.ends_with("/definitions");
    is_definition.then(|| name.replace("~1", "/").replace("~0", "~"))
}
