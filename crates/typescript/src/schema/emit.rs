//! Writing types as JSON Schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use oxc::ast::ast::{TSType, TSTypeName};
use oxc::span::GetSpan;
use serde_json::{Map, Value, json};

use super::declared::DeclaredTypes;
use super::nowhere;
use super::read::{TypeReader, is_of, span_of};
use super::types::{LazyType, ObjectShape, PropertyType, TupleType, TypeForm};
use crate::nearest::nearest;
use crate::place::LineIndex;
use crate::problem::Problem;

/// Types inside of types: more is a type that never ends.
const DEEPEST: usize = 150;

/// Writes schemas of types that a text declares.
pub(crate) struct SchemaEmitter<'a> {
    reader: TypeReader<'a>,
    declared: &'a DeclaredTypes<'a>,
    path: &'a Path,
    /// Named types that are being written.
    open: Vec<String>,
    /// Those of them that were met again.
    recursive: BTreeSet<String>,
    /// Names in `$defs`, by what they stand for.
    names: BTreeMap<String, String>,
    definitions: Map<String, Value>,
    depth: usize,
}

impl<'a> SchemaEmitter<'a> {
    pub(crate) fn new(declared: &'a DeclaredTypes<'a>, lines: &'a LineIndex<'a>, path: &'a Path) -> Self {
        SchemaEmitter {
            reader: TypeReader::new(declared, lines, path),
            declared,
            path,
            open: Vec::new(),
            recursive: BTreeSet::new(),
            names: BTreeMap::new(),
            definitions: Map::new(),
            depth: 0,
        }
    }

    /// The schema of a declared type.
    pub(crate) fn root(mut self, name: &str) -> Result<Value, Vec<Problem>> {
        let Some((name, _)) = self.declared.types.get_key_value(name) else {
            return Err(vec![self.missing(name)]);
        };
        let schema = self.named(name, name.to_string(), |emitter| emitter.reader.declaration(name));
        if !self.reader.problems.is_empty() {
            self.reader.problems.sort();
            return Err(self.reader.problems);
        }
        let mut root = Map::new();
        root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.extend(schema.as_object().cloned().unwrap_or_default());
        if !self.definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(self.definitions));
        }
        Ok(Value::Object(root))
    }

    fn missing(&self, name: &str) -> Problem {
        let advice = match nearest(name, self.declared.types.keys().copied()) {
            Some(other) => format!("Is it `{other}`?"),
            None => format!("Write `interface {name} {{ … }}`."),
        };
        nowhere(self.path, format!("there is no interface or type `{name}`"), advice)
    }

    /// The schema of a type.
    fn ty(&mut self, ty: &LazyType<'a>) -> Value {
        if self.depth >= DEEPEST || self.reader.deeper(span_of(ty), |_| ()).is_none() {
            self.reader.refuse_endless(span_of(ty));
            return json!({});
        }
        self.depth += 1;
        let schema = match self.reference(ty) {
            Some((name, key)) => self.named(name, key, |emitter| emitter.reader.form(ty)),
            None => {
                let form = self.reader.form(ty);
                self.form(form)
            }
        };
        self.depth -= 1;
        schema
    }

    /// The name and the identity of a type that is written as a name.
    fn reference(&self, ty: &LazyType<'a>) -> Option<(&'a str, String)> {
        let LazyType::Written(TSType::TSTypeReference(reference), env) = ty else { return None };
        let TSTypeName::IdentifierReference(identifier) = &reference.type_name else { return None };
        let name = identifier.name.as_str();
        match env.get(name) {
            Some(argument) => self.reference(argument),
            None => Some((name, self.identity(ty))),
        }
    }

    /// The text of a type with that of the arguments in it: the same for types that are the same.
    fn identity(&self, ty: &LazyType<'a>) -> String {
        match ty {
            LazyType::Written(TSType::TSTypeReference(reference), env) => {
                let name = reference.type_name.span().source_text(self.declared.source);
                if let Some(argument) = env.get(name) {
                    return self.identity(argument);
                }
                let arguments = reference.type_arguments.iter().flat_map(|it| &it.params);
                let arguments = arguments.map(|it| self.identity(&LazyType::Written(it, env.clone())));
                let arguments: Vec<String> = arguments.collect();
                if arguments.is_empty() {
                    name.to_owned()
                } else {
                    format!("{name}<{}>", arguments.join(","))
                }
            }
            LazyType::Written(node, env) => {
                let text = node.span().source_text(self.declared.source);
                let known = env.iter().map(|(name, ty)| format!("{name}={}", self.identity(ty)));
                let known: Vec<String> = known.collect();
                if known.is_empty() { text.to_owned() } else { format!("{text} {{{}}}", known.join(",")) }
            }
            LazyType::Known(form) => match form.as_ref() {
                TypeForm::Literal(value) => value.to_string(),
                TypeForm::String => "string".to_owned(),
                TypeForm::Number => "number".to_owned(),
                _ => "_".to_owned(),
            },
            LazyType::All(all) => all.iter().map(|it| self.identity(it)).collect::<Vec<_>>().join("&"),
        }
    }

    /// A type that has a name: written where it stands, or in `$defs` if it contains itself.
    fn named(&mut self, name: &str, key: String, read: impl FnOnce(&mut Self) -> TypeForm<'a>) -> Value {
        if self.open.contains(&key) || self.recursive.contains(&key) {
            let reference = format!("#/$defs/{}", self.definition_name(&key));
            self.recursive.insert(key);
            return json!({ "$ref": reference });
        }
        self.open.push(key.clone());
        let form = read(self);
        let mut schema = self.form(form);
        self.open.pop();
        let doc = self.declared.types.get(name).and_then(|it| it.doc.as_deref());
        describe(&mut schema, doc, false);
        if !self.recursive.contains(&key) {
            return schema;
        }
        let name = self.definition_name(&key);
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        self.definitions.insert(name, schema);
        reference
    }

    /// A name for `$defs` that needs no escapes.
    fn definition_name(&mut self, key: &str) -> String {
        if let Some(name) = self.names.get(key) {
            return name.clone();
        }
        let words =
            key.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let base: String = words.collect::<Vec<_>>().join("_").chars().take(60).collect();
        let taken: BTreeSet<&String> = self.names.values().collect();
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names.find(|name| !taken.contains(name)).unwrap_or(base);
        self.names.insert(key.to_owned(), name.clone());
        name
    }

    fn form(&mut self, form: TypeForm<'a>) -> Value {
        match form {
            TypeForm::Any => json!({}),
            TypeForm::Never | TypeForm::Undefined => json!({ "not": {} }),
            TypeForm::Null => json!({ "type": "null" }),
            TypeForm::Boolean => json!({ "type": "boolean" }),
            TypeForm::Number => json!({ "type": "number" }),
            TypeForm::String => json!({ "type": "string" }),
            TypeForm::Object => json!({ "type": "object" }),
            TypeForm::Literal(value) => literals(vec![value]),
            TypeForm::Array(item) => json!({ "type": "array", "items": self.item(&item) }),
            TypeForm::Tuple(tuple) => self.tuple(tuple),
            TypeForm::Shape(shape) => self.shape(&shape),
            TypeForm::Union(members) => {
                let members = members.iter().flat_map(|it| self.reader.members_of(it)).collect::<Vec<_>>();
                self.union(&members)
            }
        }
    }

    /// An element of a list, where `undefined` is written as `null`.
    fn item(&mut self, ty: &LazyType<'a>) -> Value {
        match self.reader.defined(ty) {
            (_, false) => self.ty(ty),
            (mut members, true) => {
                members.push(LazyType::known(TypeForm::Null));
                self.union(&members)
            }
        }
    }

    fn tuple(&mut self, tuple: TupleType<'a>) -> Value {
        let required = tuple.items.iter().rposition(|(_, optional)| !optional).map_or(0, |last| last + 1);
        let items: Vec<Value> = tuple.items.iter().map(|(ty, _)| self.item(ty)).collect();
        let rest = tuple.rest.map_or(Value::Bool(false), |rest| self.item(&rest));
        let mut schema = json!({ "type": "array", "items": rest });
        if !items.is_empty() {
            schema["prefixItems"] = Value::from(items);
        }
        if required > 0 {
            schema["minItems"] = Value::from(required);
        }
        schema
    }

    fn shape(&mut self, shape: &ObjectShape<'a>) -> Value {
        let mut schema = json!({ "type": "object" });
        let mut required = Vec::new();
        let mut properties = Map::new();
        for property in &shape.properties {
            let (value, needed) = self.property(property);
            if needed {
                required.push(Value::from(property.name.as_str()));
            }
            properties.insert(property.name.clone(), value);
        }
        if !properties.is_empty() {
            schema["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            schema["required"] = Value::from(required);
        }
        if let Some(ty) = &shape.numbered {
            schema["patternProperties"] = json!({ "^-?[0-9]+([.][0-9]+)?$": self.optional(ty).0 });
        }
        if let Some(ty) = &shape.others {
            schema["additionalProperties"] = self.optional(ty).0;
        }
        schema
    }

    /// The schema of a property, and whether it must be there.
    fn property(&mut self, property: &PropertyType<'a>) -> (Value, bool) {
        let (mut schema, undefined) = self.optional(&property.ty);
        describe(&mut schema, property.doc.as_deref(), true);
        (schema, !property.optional && !undefined)
    }

    /// What a value is if it is there, and whether it may be absent.
    fn optional(&mut self, ty: &LazyType<'a>) -> (Value, bool) {
        match self.reader.defined(ty) {
            (_, false) => (self.ty(ty), false),
            (members, true) => (self.union(&members), true),
        }
    }

    /// Literals in one list, single words in another, the rest one by one.
    fn union(&mut self, members: &[LazyType<'a>]) -> Value {
        let mut values: Vec<Value> = Vec::new();
        let mut words: Vec<TypeForm<'a>> = Vec::new();
        let mut others: Vec<Value> = Vec::new();
        for member in members {
            match self.reader.form(member) {
                TypeForm::Any => return json!({}),
                TypeForm::Never | TypeForm::Undefined => {}
                TypeForm::Literal(value) => values.extend((!values.contains(&value)).then_some(value)),
                form @ (TypeForm::Null
                | TypeForm::Boolean
                | TypeForm::Number
                | TypeForm::String
                | TypeForm::Object) => {
                    words.push(form);
                }
                _ => {
                    let schema = self.ty(member);
                    others.extend((!others.contains(&schema)).then_some(schema));
                }
            }
        }
        values.retain(|value| !words.iter().any(|word| is_of(value, word)));
        if values.contains(&Value::Bool(true)) && values.contains(&Value::Bool(false)) {
            values.retain(|value| !value.is_boolean());
            words.push(TypeForm::Boolean);
        }
        alternatives(values, &words, others)
    }
}

fn alternatives(mut values: Vec<Value>, words: &[TypeForm<'_>], others: Vec<Value>) -> Value {
    let mut words: Vec<&str> = words.iter().filter_map(word).collect();
    words.sort_unstable();
    words.dedup();
    // `'a' | 'b' | null` is one list.
    if words == ["null"] && !values.is_empty() {
        values.push(Value::Null);
        words.clear();
    }
    let mut parts = Vec::new();
    if !values.is_empty() {
        parts.push(literals(values));
    }
    match words.as_slice() {
        [] => {}
        [word] => parts.push(json!({ "type": word })),
        words => parts.push(json!({ "type": words })),
    }
    parts.extend(others);
    match parts.len() {
        0 => json!({ "not": {} }),
        1 => parts.remove(0),
        _ => json!({ "anyOf": parts }),
    }
}

fn word(form: &TypeForm<'_>) -> Option<&'static str> {
    match form {
        TypeForm::Null => Some("null"),
        TypeForm::Boolean => Some("boolean"),
        TypeForm::Number => Some("number"),
        TypeForm::String => Some("string"),
        TypeForm::Object => Some("object"),
        _ => None,
    }
}

/// One of these values; their type helps forms.
fn literals(mut values: Vec<Value>) -> Value {
    let types: BTreeSet<&str> = values.iter().map(type_of).collect();
    let types: Vec<&str> = types.into_iter().collect();
    let mut schema = match values.len() {
        1 => json!({ "const": values.remove(0) }),
        _ => json!({ "enum": values }),
    };
    if let [only] = types.as_slice() {
        schema["type"] = json!(only);
    }
    schema
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Puts a description in; what is said of a property goes before what is said of its type.
fn describe(schema: &mut Value, doc: Option<&str>, first: bool) {
    if let (Some(doc), Some(schema)) = (doc, schema.as_object_mut())
        && (first || !schema.contains_key("description"))
    {
        schema.insert("description".to_owned(), Value::from(doc));
    }
}
