//! Where `$ref`s lead inside of one schema.

use std::collections::HashMap;

use serde_json::Value;

use crate::draft::SchemaDraft;

/// A part of the schema with a name of its own, which its `#` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaBase {
    /// Where it is.
    pub(crate) pointer: String,
    /// What `$id` says, made absolute as far as that is possible.
    pub(crate) uri: String,
}

/// All that has a name in a schema.
#[derive(Debug, Default)]
pub(crate) struct RefIndex {
    /// Parts by their `$id`.
    resources: HashMap<String, SchemaBase>,
    /// Pointers by the part's pointer and the name in it.
    anchors: HashMap<(String, String), String>,
}

/// Where a reference leads.
pub(crate) enum RefTarget<'a> {
    Inside { pointer: String, value: &'a Value, base: SchemaBase },
    Outside { uri: String },
    Nowhere,
}

impl RefIndex {
    /// Looks at all places where a schema can be; a list instead of recursion, because schemas may be deep.
    pub(crate) fn of(root: &Value, draft: SchemaDraft) -> (RefIndex, SchemaBase) {
        let mut index = RefIndex::default();
        let start = SchemaBase { pointer: String::new(), uri: String::new() };
        let root_base = base_of(root, "", &start, draft);
        let mut open = vec![(String::new(), root, start)];
        while let Some((pointer, value, around)) = open.pop() {
            let base = base_of(value, &pointer, &around, draft);
            if base != around {
                index.resources.entry(base.uri.clone()).or_insert_with(|| base.clone());
            }
            for name in anchor_names(value, draft) {
                index.anchors.entry((base.pointer.clone(), name)).or_insert_with(|| pointer.clone());
            }
            open.extend(children(value).into_iter().map(|(below, child)| {
                let pointer = format!("{pointer}{below}");
                (pointer, child, base.clone())
            }));
        }
        (index, root_base)
    }

    /// Resolves the text of a `$ref` that stands in a part of the schema.
    pub(crate) fn resolve<'a>(
        &self,
        root: &'a Value,
        draft: SchemaDraft,
        base: &SchemaBase,
        reference: &str,
    ) -> RefTarget<'a> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if uri.is_empty() {
            Some(base)
        } else {
            self.resources.get(uri).or_else(|| self.resources.get(&join(&base.uri, uri)))
        };
        let Some(resource) = resource else { return RefTarget::Outside { uri: join(&base.uri, reference) } };
        let fragment = decode(fragment);
        let pointer = if fragment.is_empty() || fragment.starts_with('/') {
            format!("{}{fragment}", resource.pointer)
        } else {
            match self.anchors.get(&(resource.pointer.clone(), fragment)) {
                Some(pointer) => pointer.clone(),
                None => return RefTarget::Nowhere,
            }
        };
        match root.pointer(&pointer) {
            Some(value) => {
                let base = base_at(root, &pointer, draft);
                RefTarget::Inside { pointer, value, base }
            }
            None => RefTarget::Nowhere,
        }
    }
}

/// The part that the place of a schema belongs to.
pub(crate) fn base_of(value: &Value, pointer: &str, around: &SchemaBase, draft: SchemaDraft) -> SchemaBase {
    let hidden = draft.refs_stand_alone() && value.get("$ref").is_some();
    let id = value.get(draft.id_keyword()).and_then(Value::as_str).filter(|_| !hidden);
    match id.map(|id| id.trim_end_matches('#')) {
        Some(id) if !id.is_empty() && !id.contains('#') => {
            SchemaBase { pointer: pointer.to_owned(), uri: join(&around.uri, id) }
        }
        _ => around.clone(),
    }
}

/// The part around a place that is known by its pointer only.
fn base_at(root: &Value, pointer: &str, draft: SchemaDraft) -> SchemaBase {
    let mut base = SchemaBase { pointer: String::new(), uri: String::new() };
    let ends = pointer.match_indices('/').map(|(at, _)| at).chain([pointer.len()]);
    for end in ends {
        if let Some(value) = root.pointer(&pointer[..end]) {
            base = base_of(value, &pointer[..end], &base, draft);
        }
    }
    base
}

fn anchor_names(value: &Value, draft: SchemaDraft) -> Vec<String> {
    let mut names = Vec::new();
    if draft.has("$anchor") {
        let keywords = ["$anchor", "$dynamicAnchor"];
        let found = keywords.iter().filter_map(|keyword| value.get(keyword)?.as_str());
        names.extend(found.map(str::to_owned));
    }
    let id = value.get(draft.id_keyword()).and_then(Value::as_str);
    names.extend(id.and_then(|id| id.strip_prefix('#')).filter(|name| !name.is_empty()).map(str::to_owned));
    names
}

/// The schemas directly inside of a schema, by what follows its pointer.
fn children(value: &Value) -> Vec<(String, &Value)> {
    let Value::Object(map) = value else { return Vec::new() };
    let mut found = Vec::new();
    for (keyword, part) in map {
        let at = format!("/{}", escape(keyword));
        match (keyword.as_str(), part) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
                Value::Object(schemas),
            ) => found.extend(schemas.iter().map(|(key, it)| (format!("{at}/{}", escape(key)), it))),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                found.extend(schemas.iter().enumerate().map(|(index, it)| (format!("{at}/{index}"), it)));
            }
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "propertyNames"
                | "contains"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                it,
            ) => found.push((at, it)),
            _ => {}
        }
    }
    found
}

/// A key as a part of a pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Percent signs in fragments.
fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A relative address seen from another: enough for the names that schemas give their parts.
fn join(base: &str, uri: &str) -> String {
    if uri.contains("://") || uri.starts_with("urn:") || base.is_empty() {
        return uri.to_owned();
    }
    let host_end = base.find("://").and_then(|at| base[at + 3..].find('/').map(|slash| at + 3 + slash));
    match host_end {
        Some(end) if uri.starts_with('/') => format!("{}{uri}", &base[..end]),
        _ => match base.rfind('/') {
            Some(slash) if !uri.starts_with('/') => format!("{}/{uri}", &base[..slash]),
            _ => uri.to_owned(),
        },
    }
}
