//! Types of values, as far as they are known.
//!
//! TypeScript has one type for all numbers. A `number` in the `Output` of a transform says nothing of fractions, so it is no proof
//! that `integer` is violated: the type is kept a second time, with whole numbers, and what fits then is only unproven.

use rival_schema::{JsonSchema, ObjectField, SchemaLookup};
use serde_json::Value;

/// What is known of the type of a value.
#[derive(Clone, Debug)]
pub(crate) enum ValueType {
    Known(KnownType),
    /// Nothing, and why: worth a warning where it is used.
    Unsaid(String),
    /// Nothing, because of an error that was reported.
    Broken,
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct KnownType {
    pub(crate) schema: JsonSchema,
    /// The same with whole numbers in place of TypeScript's; none if it has none of them.
    pub(crate) whole: Option<JsonSchema>,
}

impl From<JsonSchema> for KnownType {
    fn from(schema: JsonSchema) -> Self {
        KnownType { schema, whole: None }
    }
}

impl KnownType {
    /// A type that was made of TypeScript.
    pub(crate) fn of_script(written: &Value) -> Result<Self, String> {
        let read = |value: &Value| JsonSchema::read(value).map_err(|error| error.to_string());
        let mut whole = written.clone();
        let whole = if with_whole_numbers(&mut whole) { Some(read(&whole)?) } else { None };
        Ok(KnownType { schema: read(written)?, whole })
    }

    /// The type of something that is made of it.
    pub(crate) fn map(&self, made: impl Fn(&JsonSchema) -> JsonSchema) -> Self {
        KnownType { schema: made(&self.schema), whole: self.whole.as_ref().map(made) }
    }

    /// The items of lists.
    pub(crate) fn element(&self) -> Result<Self, String> {
        match self.schema.element() {
            SchemaLookup::Found { schema, .. } => {
                let whole = self.whole.as_ref().and_then(|whole| found(whole.element()));
                Ok(KnownType { schema, whole })
            }
            SchemaLookup::Missing { why, .. } | SchemaLookup::Unknown { why } => Err(why),
        }
    }

    /// Objects that have these fields and no others; the last says whether a field is always there.
    pub(crate) fn closed_object(fields: &[(String, KnownType, bool)]) -> Self {
        let object = |of: &dyn Fn(&KnownType) -> JsonSchema| {
            JsonSchema::closed_object(fields.iter().map(|(name, known, required)| ObjectField {
                name: name.clone(),
                schema: of(known),
                required: *required,
            }))
        };
        let is_script = fields.iter().any(|(_, known, _)| known.whole.is_some());
        let whole = |known: &KnownType| known.whole.as_ref().unwrap_or(&known.schema).clone();
        KnownType { schema: object(&|known| known.schema.clone()), whole: is_script.then(|| object(&whole)) }
    }
}

/// What was found, if it was.
pub(crate) fn found(lookup: SchemaLookup) -> Option<JsonSchema> {
    match lookup {
        SchemaLookup::Found { schema, .. } => Some(schema),
        SchemaLookup::Missing { .. } | SchemaLookup::Unknown { .. } => None,
    }
}

/// Makes whole numbers of all numbers; false if there are none. It is for schemas of TypeScript, in which `type` with a text is
/// never anything but the keyword.
fn with_whole_numbers(schema: &mut Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let mut is_changed = false;
            for (key, value) in fields {
                is_changed |= match value {
                    Value::String(word) if key == "type" && word == "number" => {
                        *word = "integer".to_owned();
                        true
                    }
                    Value::Array(words) if key == "type" => {
                        words.iter_mut().fold(false, |is_changed, word| {
                            let is_number = *word == "number";
                            if is_number {
                                *word = Value::from("integer");
                            }
                            is_changed | is_number
                        })
                    }
                    value => with_whole_numbers(value),
                };
            }
            is_changed
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |is_changed, item| with_whole_numbers(item) | is_changed)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
