//! The drafts of JSON Schema.

use serde_json::Value;

/// What `$schema` says. Later drafts are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum SchemaDraft {
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
    /// Nothing that is known: 2020-12, where keywords of older drafts that would be invalid there keep their old meaning.
    Unstated,
}

impl SchemaDraft {
    pub(crate) fn of(schema: &Value) -> SchemaDraft {
        let uri = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let uri = uri.trim_end_matches('#').trim_end_matches('/');
        let Some((_, path)) = uri.split_once("://json-schema.org/") else { return SchemaDraft::Unstated };
        match path {
            "draft-04/schema" => SchemaDraft::Draft4,
            "draft-06/schema" => SchemaDraft::Draft6,
            "draft-07/schema" => SchemaDraft::Draft7,
            "draft/2019-09/schema" => SchemaDraft::Draft2019,
            "draft/2020-12/schema" => SchemaDraft::Draft2020,
            _ => SchemaDraft::Unstated,
        }
    }

    /// Whether `$ref` makes all keywords beside it void.
    pub(crate) fn refs_stand_alone(self) -> bool {
        self <= SchemaDraft::Draft7
    }

    /// Whether `items` may be a list, with `additionalItems` behind it.
    pub(crate) fn has_item_lists(self) -> bool {
        self != SchemaDraft::Draft2020
    }

    /// Whether `exclusiveMinimum` may be a flag of `minimum`.
    pub(crate) fn has_exclusive_flags(self) -> bool {
        matches!(self, SchemaDraft::Draft4 | SchemaDraft::Unstated)
    }

    /// Whether `contentEncoding` and `contentMediaType` may be more than notes.
    pub(crate) fn asserts_content(self) -> bool {
        matches!(self, SchemaDraft::Draft6 | SchemaDraft::Draft7)
    }

    /// The keyword that names a schema.
    pub(crate) fn id_keyword(self) -> &'static str {
        if self == SchemaDraft::Draft4 { "id" } else { "$id" }
    }

    /// Whether this draft has a keyword that came later than draft-04, or has gone since.
    pub(crate) fn has(self, keyword: &str) -> bool {
        match keyword {
            "const" | "contains" | "propertyNames" => self >= SchemaDraft::Draft6,
            "if" | "then" | "else" => self >= SchemaDraft::Draft7,
            "dependentRequired"
            | "dependentSchemas"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "minContains"
            | "maxContains"
            | "$anchor" => self >= SchemaDraft::Draft2019,
            "$recursiveRef" => self == SchemaDraft::Draft2019,
            "prefixItems" | "$dynamicRef" => self >= SchemaDraft::Draft2020,
            "dependencies" => self <= SchemaDraft::Draft7,
            "additionalItems" => self != SchemaDraft::Draft2020,
            _ => true,
        }
    }
}
