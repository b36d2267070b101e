//! Schemas put together from others: what a program builds of parts whose schemas it knows.

use crate::kinds::KindSet;
use crate::lookup::{SchemaLookup, schema_at};
use crate::node::{NodeId, SchemaNode};
use crate::path::PathSegment;
use crate::schema::JsonSchema;
use crate::workspace::Workspace;

/// The most elements with schemas of their own that [`JsonSchema::element`] looks at.
const PREFIX_MAX: usize = 64;

/// A property of an object that is put together.
#[derive(Clone, Debug)]
pub struct ObjectField {
    /// Its name.
    pub name: String,
    /// What it is.
    pub schema: JsonSchema,
    /// Whether it is always there.
    pub required: bool,
}

/// A property that a schema names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredProperty {
    /// Its name.
    pub name: String,
    /// Whether every instance that is an object has it.
    pub required: bool,
}

impl JsonSchema {
    /// Objects that have these fields and no others.
    pub fn closed_object(fields: impl IntoIterator<Item = ObjectField>) -> JsonSchema {
        let mut space = Workspace::new(0);
        let mut node = of_kind(KindSet::OBJECT);
        for field in fields {
            let id = space.import(&field.schema);
            if field.required {
                node.object.required.insert(field.name.clone());
            }
            node.object.properties.insert(field.name, id);
        }
        node.object.additional = Some(space.add(SchemaNode::never()));
        finish(&mut space, node)
    }

    /// Lists that have exactly these elements.
    pub fn tuple<'a>(elements: impl IntoIterator<Item = &'a JsonSchema>) -> JsonSchema {
        let mut space = Workspace::new(0);
        let mut node = of_kind(KindSet::ARRAY);
        node.array.prefix = elements.into_iter().map(|element| space.import(element)).collect();
        node.array.min = node.array.prefix.len() as u64;
        node.array.rest = Some(space.add(SchemaNode::never()));
        finish(&mut space, node)
    }

    /// Lists of elements that this schema describes.
    pub fn list_of(&self) -> JsonSchema {
        let mut space = Workspace::new(0);
        let mut node = of_kind(KindSet::ARRAY);
        node.array.rest = Some(space.import(self));
        finish(&mut space, node)
    }

    /// What this schema describes, or `null`.
    pub fn or_null(&self) -> JsonSchema {
        let mut space = Workspace::new(0);
        let null = space.of_kinds(KindSet::NULL);
        let any_of = vec![space.import(self), null];
        finish(&mut space, SchemaNode { any_of, ..SchemaNode::default() })
    }

    /// What any element of a list is, if the values are lists.
    pub fn element(&self) -> SchemaLookup {
        let prefix = self.nodes().iter().map(|node| node.array.prefix.len()).max().unwrap_or(0);
        if prefix > PREFIX_MAX {
            let why = format!("the list has more than {PREFIX_MAX} elements with types of their own");
            return SchemaLookup::Unknown { why };
        }
        let mut found: Vec<JsonSchema> = Vec::new();
        for index in 0..=prefix {
            match schema_at(self, &[PathSegment::Index(index)]) {
                SchemaLookup::Found { schema, .. } => found.push(schema),
                SchemaLookup::Missing { .. } if index > 0 => break,
                other => return other,
            }
        }
        if let [only] = found.as_slice() {
            return SchemaLookup::Found { schema: only.clone(), optional: true };
        }
        let mut space = Workspace::new(0);
        let any_of = found.iter().map(|schema| space.import(schema)).collect();
        let schema = finish(&mut space, SchemaNode { any_of, ..SchemaNode::default() });
        SchemaLookup::Found { schema, optional: true }
    }

    /// How large the schema is: a measure of what it costs to work with it.
    pub fn size(&self) -> usize {
        self.reachable().len()
    }

    /// The properties that hold for all alternatives of the schema; those that only some members of a union name are not
    /// among them.
    pub fn properties(&self) -> Vec<DeclaredProperty> {
        let (mut space, root) = self.in_workspace();
        let set = space.set([root]);
        let view = space.view(&set);
        let names = view.names.union(&view.required);
        names
            .map(|name| DeclaredProperty { name: name.clone(), required: view.required.contains(name) })
            .collect()
    }

    /// Whether the schema's own keywords allow objects; members of unions are not looked at.
    pub fn allows_objects(&self) -> bool {
        self.allows(KindSet::OBJECT)
    }

    /// Whether the schema's own keywords allow lists; members of unions are not looked at.
    pub fn allows_lists(&self) -> bool {
        self.allows(KindSet::ARRAY)
    }

    fn allows(&self, kind: KindSet) -> bool {
        let (mut space, root) = self.in_workspace();
        let set = space.set([root]);
        let view = space.view(&set);
        view.possible_kinds().meets(kind)
    }

    fn in_workspace(&self) -> (Workspace, NodeId) {
        let mut space = Workspace::new(0);
        let root = space.import(self);
        (space, root)
    }
}

fn of_kind(kinds: KindSet) -> SchemaNode {
    SchemaNode { kinds, kinds_stated: true, ..SchemaNode::default() }
}

fn finish(space: &mut Workspace, node: SchemaNode) -> JsonSchema {
    let root = space.add(node);
    JsonSchema::of_nodes(space.nodes().iter().map(|node| node.as_ref().clone()).collect(), root)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{AssignVerdict, assignable};

    fn schema(value: &serde_json::Value) -> JsonSchema {
        JsonSchema::read(value).unwrap()
    }

    #[test]
    fn what_is_put_together_is_compared_as_if_it_had_been_written() {
        let (text, number) = (schema(&json!({"type": "string"})), schema(&json!({"type": "number"})));
        let field = |name: &str, schema: &JsonSchema, required| ObjectField {
            name: name.to_owned(),
            schema: schema.clone(),
            required,
        };
        let object =
            JsonSchema::closed_object([field("a", &text, true), field("b", &number.or_null(), false)]);
        let written = schema(&json!({
            "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": ["number", "null"]}},
            "required": ["a"], "additionalProperties": false
        }));
        assert_eq!(assignable(&object, &written), AssignVerdict::Yes);
        assert_eq!(assignable(&written, &object), AssignVerdict::Yes);
        let list = JsonSchema::tuple([&text, &number]);
        let written = schema(&json!({
            "type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false, "minItems": 2
        }));
        assert_eq!(assignable(&list, &written), AssignVerdict::Yes);
        assert_eq!(assignable(&written, &list), AssignVerdict::Yes);
        assert_eq!(text.list_of().to_string(), "string[]");
        for (list, element) in [(list, "string | number"), (text.list_of(), "string")] {
            let SchemaLookup::Found { schema, .. } = list.element() else { panic!("{list}") };
            assert_eq!(schema.to_string(), element);
        }
        assert!(matches!(text.element(), SchemaLookup::Missing { .. }));
    }

    #[test]
    fn properties_are_those_of_all_alternatives() {
        let both = schema(&json!({
            "allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}],
            "anyOf": [{"properties": {"c": {}}}, {"properties": {"d": {}}}]
        }));
        let names: Vec<_> = both.properties().into_iter().map(|it| (it.name, it.required)).collect();
        assert_eq!(names, [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert!(both.allows_objects());
        assert!(!schema(&json!({"type": "string"})).allows_objects());
        assert!(schema(&json!({"type": ["array", "null"]})).allows_lists());
    }
}
