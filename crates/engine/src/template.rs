//! Templates: JSON with places for values that are known when a step is called.
//!
//! In a plan a template is data, so its meaning does not depend on how authors write references:
//!
//! | in the plan | becomes |
//! | --- | --- |
//! | `{"$": ["fetch", "users", 0]}` | the value at `users[0]` of what `fetch` gave; without one the step fails with `missing_ref` |
//! | `{"$": ["input", "name"], "missing": "omit"}` | the value, or nothing: a field is left out, an item of a list is `null`, a part of a text is empty |
//! | `{"$text": ["Hello ", {"$": ["input", "name"]}]}` | a text; what is no text itself is written as JSON |
//! | `{"$quote": {"$": 1}}` | the object itself, whose keys would mean something else |
//! | anything else | itself, with what is inside by the same rules |
//!
//! The first segment of a reference is a root: `input`, `item` and `index` of the nearest forEach, or a step. Values are
//! taken over as they are written where they come from: no digit is lost.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::failure::code;
use rival_core::{FailureRecord, Segment, StepError, VALUE_DEPTH_MAX, Value, nests_deeper};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::context::CallContext;
use crate::call::function::FunctionNeeds;

/// The input of the workflow.
const INPUT: &str = "input";
/// The item of the nearest forEach, and its number.
const ITEM: &str = "item";
const INDEX: &str = "index";

const REF: &str = "$";
const TEXT: &str = "$text";
const QUOTE: &str = "$quote";
/// How many times as much as a value may have is read to fill a template: each reference reads from the beginning.
const READS_MAX: usize = 64;

/// JSON with places for values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// Itself.
    Literal(Value),
    /// A value.
    Ref(TemplateRef),
    /// A text, put together.
    Text(Vec<TextPart>),
    /// A list.
    List(Vec<Template>),
    /// An object.
    Object(BTreeMap<String, Template>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Itself.
    Words(String),
    /// A value.
    Ref(TemplateRef),
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateRef {
    /// `input`, `item`, `index`, or the id of an earlier step.
    pub root: String,
    /// The way into it.
    pub way: Vec<Segment>,
    /// What to do without a value.
    pub missing: MissingValue,
}

/// What a template does without a value that it refers to. `null` is a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MissingValue {
    /// The step fails with `missing_ref`.
    #[default]
    Fail,
    /// It leaves its place out.
    Omit,
}

/// The data is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadTemplate(String);

/// Why a template cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// A value is not there.
    #[error("`{0}` is not there")]
    Missing(TemplateRef),
    /// It becomes larger than a value may be, or more would have to be read for it.
    #[error("what a template becomes is larger than the {0} bytes that a value may have")]
    TooLarge(usize),
    /// It becomes what could not be read back.
    #[error("what a template becomes has more than {VALUE_DEPTH_MAX} levels")]
    TooDeep,
}

impl FillError {
    /// The failure of a step. The same template and the same values give the same again: no attempt would help.
    pub fn into_step_error(self) -> StepError {
        let code = match self {
            Self::Missing(_) => code::MISSING_REF,
            Self::TooLarge(_) => code::TOO_LARGE,
            Self::TooDeep => code::NOT_JSON,
        };
        FailureRecord::new(code, self.to_string()).stop()
    }
}

impl std::fmt::Display for TemplateRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.root)?;
        self.way.iter().try_for_each(|segment| write!(f, "{segment}"))
    }
}

/// A reference as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRef {
    #[serde(rename = "$")]
    way: Vec<Segment>,
    #[serde(default, skip_serializing_if = "is_fail")]
    missing: MissingValue,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_fail(missing: &MissingValue) -> bool {
    *missing == MissingValue::Fail
}

impl Template {
    /// Reads a template from the data of a plan.
    pub fn parse(data: &Value) -> Result<Self, BadTemplate> {
        if nests_deeper(data.as_json(), VALUE_DEPTH_MAX) {
            return Err(BadTemplate(format!("it has more than {VALUE_DEPTH_MAX} levels")));
        }
        Ok(read(data.as_json())?.unwrap_or_else(|| Self::Literal(data.clone())))
    }

    /// The template as data of a plan.
    pub fn to_value(&self) -> Value {
        let mut text = String::new();
        self.write(&mut text);
        Value::from_json(text).expect("parts that are JSON are put together as JSON")
    }

    fn write(&self, text: &mut String) {
        match self {
            // What is too deep is no template either, and `parse` says so.
            Self::Literal(value) if nests_deeper(value.as_json(), VALUE_DEPTH_MAX) => {
                text.push_str(value.as_json());
            }
            Self::Literal(value) => write_quoted(value.as_json(), text),
            Self::Ref(reference) => text.push_str(&reference.to_json()),
            Self::Text(parts) => {
                let part = |part: &TextPart| match part {
                    TextPart::Words(words) => quoted(words),
                    TextPart::Ref(reference) => reference.to_json(),
                };
                let parts: Vec<String> = parts.iter().map(part).collect();
                text.push_str(&format!("{{{}:[{}]}}", quoted(TEXT), parts.join(",")));
            }
            Self::List(items) => write_list(items, text, |item, text| item.write(text)),
            Self::Object(fields) => write_object(fields, text, |field, text| field.write(text)),
        }
    }

    /// The roots of all references.
    pub fn roots(&self) -> BTreeSet<&str> {
        let mut roots = BTreeSet::new();
        self.for_each_ref(&mut |reference| _ = roots.insert(reference.root.as_str()));
        roots
    }

    fn for_each_ref<'a>(&'a self, found: &mut impl FnMut(&'a TemplateRef)) {
        match self {
            Self::Literal(_) => {}
            Self::Ref(reference) => found(reference),
            Self::Text(parts) => {
                for part in parts {
                    if let TextPart::Ref(reference) = part {
                        found(reference);
                    }
                }
            }
            Self::List(items) => items.iter().for_each(|item| item.for_each_ref(found)),
            Self::Object(fields) => fields.values().for_each(|field| field.for_each_ref(found)),
        }
    }

    /// What a function that fills it has to be given.
    pub fn needs(&self) -> FunctionNeeds {
        let roots = self.roots();
        let iteration = roots.contains(ITEM) || roots.contains(INDEX);
        let steps = roots.into_iter().filter(|root| ![INPUT, ITEM, INDEX].contains(root));
        FunctionNeeds { steps: steps.map(str::to_owned).collect(), iteration, ..FunctionNeeds::default() }
    }

    /// Fills it with what a function was given that has asked for `needs`; these have what [`Self::needs`] says. `None` if
    /// it is nothing but a reference to a value that is not there and may be left out.
    pub fn fill_in_call(
        &self,
        context: &CallContext,
        needs: &FunctionNeeds,
    ) -> Result<Option<Value>, FillError> {
        let values = |root: &str| match root {
            INPUT => Some(context.input.clone()),
            ITEM => context.iteration.as_ref()?.item.clone(),
            INDEX => Some(serde_json::Value::from(context.iteration.as_ref()?.index).into()),
            step => {
                let number = needs.steps.iter().position(|id| id == step)?;
                context.seen.get(number)?.as_ref()?.result.clone()
            }
        };
        self.fill(&values, context.payload_max())
    }

    /// Fills it with the values of its roots, up to so many bytes.
    pub fn fill(
        &self,
        values: &dyn Fn(&str) -> Option<Value>,
        max_bytes: usize,
    ) -> Result<Option<Value>, FillError> {
        let roots = self.roots().into_iter().filter_map(|root| Some((root, values(root)?))).collect();
        let mut filling = Filling { roots, max_bytes, read: 0, text: String::new() };
        if !filling.add(self)? {
            return Ok(None);
        }
        if nests_deeper(&filling.text, VALUE_DEPTH_MAX) {
            return Err(FillError::TooDeep);
        }
        Ok(Some(Value::from_json(filling.text).expect("parts that are JSON are put together as JSON")))
    }
}

impl TemplateRef {
    fn to_json(&self) -> String {
        let root = std::iter::once(Segment::Key(self.root.clone()));
        let written =
            WrittenRef { way: root.chain(self.way.iter().cloned()).collect(), missing: self.missing };
        serde_json::to_string(&written).expect("texts and numbers are JSON")
    }

    fn read(json: &str) -> Result<Self, BadTemplate> {
        let bad = |why: &str| BadTemplate(format!("`{json}` is no reference: {why}"));
        let WrittenRef { way, missing } =
            serde_json::from_str(json).map_err(|error| bad(&error.to_string()))?;
        let mut way = way.into_iter();
        match way.next() {
            Some(Segment::Key(root)) => Ok(Self { root, way: way.collect(), missing }),
            Some(Segment::Index(_)) | None => Err(bad("it begins with the name of what it refers to")),
        }
    }
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

fn is_special(key: &str) -> bool {
    [REF, TEXT, QUOTE].contains(&key)
}

fn first(json: &str) -> Option<u8> {
    json.as_bytes().first().copied()
}

fn unreadable(error: &serde_json::Error) -> BadTemplate {
    BadTemplate(error.to_string())
}

/// Reads a template; `None` if it is nothing but itself.
fn read(json: &str) -> Result<Option<Template>, BadTemplate> {
    match first(json) {
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
            let read: Vec<Option<Template>> =
                items.iter().map(|item| read(item.get())).collect::<Result<_, _>>()?;
            let is_plain = read.iter().all(Option::is_none);
            let items = items.into_iter().zip(read).map(|(item, read)| read.unwrap_or_else(|| literal(item)));
            Ok((!is_plain).then(|| Template::List(items.collect())))
        }
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> =
                serde_json::from_str(json).map_err(|error| unreadable(&error))?;
            if fields.contains_key(REF) {
                return TemplateRef::read(json).map(|reference| Some(Template::Ref(reference)));
            }
            let special = fields.keys().find(|key| is_special(key)).map(String::as_str);
            match (special, fields.len()) {
                (None, _) => read_fields(&fields, false),
                (Some(TEXT), 1) => read_text(fields[TEXT].get()).map(Some),
                (Some(QUOTE), 1) => {
                    let inside = fields[QUOTE].get();
                    let fields = serde_json::from_str(inside);
                    read_fields(&fields.map_err(|_| BadTemplate(format!("`{inside}` is no object")))?, true)
                }
                (Some(key), _) => Err(BadTemplate(format!(
                    "an object with the key `{key}` and others is to be quoted: {{\"{QUOTE}\": {{..}}}}"
                ))),
            }
        }
        Some(_) | None => Ok(None),
    }
}

fn literal(raw: &RawValue) -> Template {
    Template::Literal(Value::from(raw.to_owned()))
}

fn read_fields(
    fields: &BTreeMap<String, &RawValue>,
    is_quoted: bool,
) -> Result<Option<Template>, BadTemplate> {
    let mut is_plain = !is_quoted;
    let mut read_fields = BTreeMap::new();
    for (key, &raw) in fields {
        let field = read(raw.get())?;
        is_plain &= field.is_none();
        read_fields.insert(key.clone(), field.unwrap_or_else(|| literal(raw)));
    }
    Ok((!is_plain).then_some(Template::Object(read_fields)))
}

fn read_text(json: &str) -> Result<Template, BadTemplate> {
    let parts: Vec<&RawValue> = serde_json::from_str(json)
        .map_err(|error| BadTemplate(format!("`{TEXT}` is a list of texts and references: {error}")))?;
    let part = |part: &&RawValue| match first(part.get()) {
        Some(b'"') => {
            serde_json::from_str(part.get()).map(TextPart::Words).map_err(|error| unreadable(&error))
        }
        _ => TemplateRef::read(part.get()).map(TextPart::Ref),
    };
    parts.iter().map(part).collect::<Result<_, _>>().map(Template::Text)
}

/// Writes JSON as a template that becomes it.
fn write_quoted(json: &str, text: &mut String) {
    let list: Result<Vec<&RawValue>, _> = serde_json::from_str(json);
    let object: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_str(json);
    match (list, object) {
        (Ok(items), _) => write_list(&items, text, |item, text| write_quoted(item.get(), text)),
        (_, Ok(fields)) => write_object(&fields, text, |field, text| write_quoted(field.get(), text)),
        _ => text.push_str(json),
    }
}

fn write_list<T>(items: &[T], text: &mut String, mut write: impl FnMut(&T, &mut String)) {
    text.push('[');
    for (number, item) in items.iter().enumerate() {
        text.push_str(if number > 0 { "," } else { "" });
        write(item, text);
    }
    text.push(']');
}

fn write_object<T>(fields: &BTreeMap<String, T>, text: &mut String, mut write: impl FnMut(&T, &mut String)) {
    let is_quoted = fields.keys().any(|key| is_special(key));
    if is_quoted {
        text.push_str(&format!("{{{}:", quoted(QUOTE)));
    }
    text.push('{');
    for (number, (key, field)) in fields.iter().enumerate() {
        text.push_str(if number > 0 { "," } else { "" });
        text.push_str(&quoted(key));
        text.push(':');
        write(field, text);
    }
    text.push_str(if is_quoted { "}}" } else { "}" });
}

/// A template that is being filled.
struct Filling<'a> {
    roots: BTreeMap<&'a str, Value>,
    max_bytes: usize,
    /// How many bytes were read to find values.
    read: usize,
    text: String,
}

impl Filling<'_> {
    /// Adds what a template becomes. Gives whether there is something.
    fn add(&mut self, template: &Template) -> Result<bool, FillError> {
        match template {
            Template::Literal(value) => self.push(value.as_json())?,
            Template::Ref(reference) => {
                let Some(value) = self.find(reference)? else { return Ok(false) };
                self.push(value.as_json())?;
            }
            Template::Text(parts) => {
                let words = self.words(parts)?;
                self.push(&quoted(&words))?;
            }
            Template::List(items) => {
                self.push("[")?;
                for (number, item) in items.iter().enumerate() {
                    self.push(if number > 0 { "," } else { "" })?;
                    if !self.add(item)? {
                        self.push("null")?;
                    }
                }
                self.push("]")?;
            }
            Template::Object(fields) => self.add_fields(fields)?,
        }
        Ok(true)
    }

    fn add_fields(&mut self, fields: &BTreeMap<String, Template>) -> Result<(), FillError> {
        self.push("{")?;
        let begin = self.text.len();
        for (key, field) in fields {
            let before = self.text.len();
            self.push(if before > begin { "," } else { "" })?;
            self.push(&quoted(key))?;
            self.push(":")?;
            if !self.add(field)? {
                self.text.truncate(before);
            }
        }
        self.push("}")
    }

    fn words(&mut self, parts: &[TextPart]) -> Result<String, FillError> {
        let mut words = String::new();
        for part in parts {
            match part {
                TextPart::Words(text) => words.push_str(text),
                TextPart::Ref(reference) => {
                    let Some(value) = self.find(reference)? else { continue };
                    match value.decode::<String>() {
                        Ok(text) => words.push_str(&text),
                        Err(_) => words.push_str(value.as_json()),
                    }
                }
            }
            self.check_size(words.len())?;
        }
        Ok(words)
    }

    /// The value of a reference; `None` if it is to be left out.
    fn find(&mut self, reference: &TemplateRef) -> Result<Option<Value>, FillError> {
        let root = self.roots.get(reference.root.as_str());
        let length = root.map_or(0, Value::len_bytes).saturating_mul(reference.way.len());
        self.read = self.read.saturating_add(length);
        if self.read > self.max_bytes.saturating_mul(READS_MAX) {
            return Err(FillError::TooLarge(self.max_bytes));
        }
        match (root.and_then(|root| root.at(&reference.way)), reference.missing) {
            (Some(value), _) => Ok(Some(value)),
            (None, MissingValue::Omit) => Ok(None),
            (None, MissingValue::Fail) => Err(FillError::Missing(reference.clone())),
        }
    }

    fn push(&mut self, text: &str) -> Result<(), FillError> {
        self.text.push_str(text);
        self.check_size(self.text.len())
    }

    fn check_size(&self, bytes: usize) -> Result<(), FillError> {
        if bytes > self.max_bytes { Err(FillError::TooLarge(self.max_bytes)) } else { Ok(()) }
    }
}
