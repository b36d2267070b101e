//! Keywords that have schemas in them.
//!
//! All answer `None` for a keyword of another family, false for one that is malformed.

use serde_json::{Map, Value};

use crate::node::{ConditionRule, ContainsRule, NodeId, SchemaNode};
use crate::read::{SchemaPlace, SchemaReader, count, texts};

impl<'a> SchemaReader<'a> {
    pub(crate) fn array_keyword(
        &mut self,
        node: &mut SchemaNode,
        place: &SchemaPlace<'a>,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        Some(match (keyword, value) {
            ("prefixItems", _) => {
                self.list(place, keyword, value).map(|prefix| node.array.prefix = prefix).is_some()
            }
            ("items", Value::Array(_)) => {
                if !self.draft.has_item_lists() {
                    return Some(false);
                }
                let Some(prefix) = self.list(place, keyword, value) else { return Some(false) };
                node.array.prefix = prefix;
                if let Some(rest) = map.get("additionalItems") {
                    node.array.rest = Some(self.child(place, &["additionalItems"], rest));
                }
                true
            }
            ("items", _) => {
                node.array.rest = Some(self.child(place, &["items"], value));
                true
            }
            // Read with the list that it is behind; without one it means nothing.
            ("additionalItems", _) => true,
            ("contains", _) => {
                let limit = |keyword: &str, draft: crate::draft::SchemaDraft| {
                    map.get(keyword).filter(|_| draft.has(keyword)).and_then(count)
                };
                let min = limit("minContains", self.draft).unwrap_or(1);
                let max = limit("maxContains", self.draft);
                let rule = ContainsRule { node: self.child(place, &["contains"], value), min, max };
                node.array.contains = (rule.min > 0 || rule.max.is_some()).then_some(rule);
                true
            }
            ("minContains" | "maxContains", _) => count(value).is_some(),
            _ => return None,
        })
    }

    pub(crate) fn object_keyword(
        &mut self,
        node: &mut SchemaNode,
        place: &SchemaPlace<'a>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        Some(match keyword {
            "properties" => {
                let found = self.map(place, keyword, value);
                found.map(|found| node.object.properties = found.into_iter().collect()).is_some()
            }
            "patternProperties" => {
                self.map(place, keyword, value).map(|found| node.object.patterns = found).is_some()
            }
            "additionalProperties" => {
                node.object.additional = Some(self.child(place, &[keyword], value));
                true
            }
            "propertyNames" => {
                node.object.names = Some(self.child(place, &[keyword], value));
                true
            }
            "dependentRequired" => {
                let Value::Object(lists) = value else { return Some(false) };
                lists.iter().all(|(key, names)| depend(node, key, names))
            }
            "dependentSchemas" => {
                let found = self.map(place, keyword, value);
                found.map(|found| node.object.dependent_schemas.extend(found)).is_some()
            }
            "dependencies" => {
                let Value::Object(parts) = value else { return Some(false) };
                parts.iter().all(|(key, part)| {
                    if part.is_array() {
                        return depend(node, key, part);
                    }
                    let id = self.child(place, &[keyword, key], part);
                    node.object.dependent_schemas.insert(key.clone(), id);
                    true
                })
            }
            _ => return None,
        })
    }

    /// `unevaluated…` beside keywords that evaluate nothing elsewhere is `additional…`; else it is not understood.
    pub(crate) fn unevaluated(
        &mut self,
        node: &mut SchemaNode,
        place: &SchemaPlace<'a>,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        let is_properties = keyword == "unevaluatedProperties";
        if !is_properties && keyword != "unevaluatedItems" {
            return None;
        }
        let taken = if is_properties { "additionalProperties" } else { "items" };
        if map.get(taken).is_some_and(|it| !it.is_array()) {
            return Some(true);
        }
        let elsewhere = [
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "dependentSchemas",
            "contains",
            "additionalItems",
        ];
        let dynamic = ["$dynamicRef", "$recursiveRef"];
        if elsewhere.iter().chain(&dynamic).any(|it| map.contains_key(*it)) {
            node.puzzle(format!("`{keyword}` is beside keywords whose effect on it is not followed"));
            return Some(true);
        }
        let id = self.child(place, &[keyword], value);
        if is_properties {
            node.object.additional = Some(id);
        } else {
            node.array.rest = Some(id);
        }
        Some(true)
    }

    pub(crate) fn logic_keyword(
        &mut self,
        node: &mut SchemaNode,
        place: &SchemaPlace<'a>,
        map: &'a Map<String, Value>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<bool> {
        Some(match keyword {
            "allOf" => self.list(place, keyword, value).map(|all| node.all_of.extend(all)).is_some(),
            "anyOf" => self.list(place, keyword, value).map(|any| node.any_of = any).is_some(),
            "oneOf" => self.list(place, keyword, value).map(|one| node.one_of = one).is_some(),
            "not" => {
                node.not = Some(self.child(place, &["not"], value));
                true
            }
            "if" => {
                let mut part = |keyword| map.get(keyword).map(|part| self.child(place, &[keyword], part));
                let (then, otherwise) = (part("then"), part("else"));
                if then.is_some() || otherwise.is_some() {
                    let test = self.child(place, &["if"], value);
                    node.condition = Some(ConditionRule { test, then, otherwise });
                }
                true
            }
            "then" | "else" => true,
            "$dynamicRef" | "$recursiveRef" => {
                node.puzzle(format!("`{keyword}` depends on where the schema is used"));
                true
            }
            _ => return None,
        })
    }

    fn list(&mut self, place: &SchemaPlace<'a>, keyword: &str, value: &'a Value) -> Option<Vec<NodeId>> {
        let schemas = value.as_array().filter(|schemas| !schemas.is_empty())?;
        let ids = schemas.iter().enumerate();
        Some(ids.map(|(index, it)| self.child(place, &[keyword, &index.to_string()], it)).collect())
    }

    fn map(
        &mut self,
        place: &SchemaPlace<'a>,
        keyword: &str,
        value: &'a Value,
    ) -> Option<Vec<(String, NodeId)>> {
        let schemas = value.as_object()?;
        Some(schemas.iter().map(|(key, it)| (key.clone(), self.child(place, &[keyword, key], it))).collect())
    }
}

fn depend(node: &mut SchemaNode, key: &str, names: &Value) -> bool {
    texts(names).map(|names| node.object.dependent_required.insert(key.to_owned(), names)).is_some()
}
