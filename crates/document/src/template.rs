//! Inputs with refs in them, and the data that plans hold of them.

use rival_schema::PathSegment;
use serde_json::{Map, Value, json};

use crate::json::{JsonNode, PlacedJson, PlacedText};
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::refs::{DocumentRef, RefText, TextPiece};

/// Keys that mean something in the data of a template.
const SPECIAL: [&str; 3] = ["$", "$text", "$quote"];

/// JSON with places for values.
#[derive(Clone, Debug)]
pub(crate) struct InputTemplate {
    pub(crate) place: SourcePlace,
    pub(crate) node: TemplateNode,
}

#[derive(Clone, Debug)]
pub(crate) enum TemplateNode {
    /// A value without anything inside.
    Scalar(Value),
    Ref(RefSlot),
    Text(Vec<TemplatePart>),
    List(Vec<InputTemplate>),
    Object(Vec<(PlacedText, InputTemplate)>),
    /// A ref that is wrong, which was reported.
    Broken,
}

#[derive(Clone, Debug)]
pub(crate) enum TemplatePart {
    Words(String),
    Ref(RefSlot),
}

/// A place for a value.
#[derive(Clone, Debug)]
pub(crate) struct RefSlot {
    pub(crate) place: SourcePlace,
    pub(crate) reference: DocumentRef,
    /// What the ref begins with; absent if it is wrong, which was reported.
    pub(crate) root: Option<RefRoot>,
    /// Whether its place is left out where there is no value. Otherwise that is a failure.
    pub(crate) omit: bool,
}

/// What a ref begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RefRoot {
    Input,
    Item,
    Index,
    Output,
    /// A step by its number.
    Step(usize),
}

impl InputTemplate {
    /// An input that has no fields.
    pub(crate) fn empty(place: SourcePlace) -> Self {
        InputTemplate { place, node: TemplateNode::Object(Vec::new()) }
    }

    /// Reads refs in all texts; keys are never refs.
    pub(crate) fn read(json: &PlacedJson, field: &mut FieldPath, problems: &mut ProblemList) -> Self {
        let node = match &json.node {
            JsonNode::Text(text) => return Self::read_text(text, &field.text(), problems),
            JsonNode::List(items) => {
                let mut read = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    read.push(
                        field.inside(PathSegment::Index(index), |field| Self::read(item, field, problems)),
                    );
                }
                TemplateNode::List(read)
            }
            JsonNode::Object(members) => {
                let mut read = Vec::with_capacity(members.len());
                for member in members {
                    let key = PathSegment::Key(member.key.as_str().to_owned());
                    let value = field.inside(key, |field| Self::read(&member.value, field, problems));
                    read.push((member.key.clone(), value));
                }
                TemplateNode::Object(read)
            }
            JsonNode::Number { number, exact } => {
                if !exact {
                    let message =
                        format!("the number is kept as {number}: digits are lost; a text keeps them");
                    let problem = DocumentProblem::new(ProblemCode::RoundedNumber, json.place, message);
                    problems.warn(problem.field(field.text()));
                }
                TemplateNode::Scalar(json.to_value())
            }
            JsonNode::Null | JsonNode::Bool(_) => TemplateNode::Scalar(json.to_value()),
        };
        InputTemplate { place: json.place, node }
    }

    /// Reads one text.
    pub(crate) fn read_text(text: &PlacedText, field: &str, problems: &mut ProblemList) -> Self {
        let mut places = text.places();
        let mut slot = |reference: DocumentRef| {
            let place = places.place(reference.at);
            RefSlot { place, reference, root: None, omit: false }
        };
        let node = match RefText::parse(text.as_str()) {
            Ok(RefText::Literal(text)) => TemplateNode::Scalar(Value::String(text)),
            Ok(RefText::Ref(reference)) => TemplateNode::Ref(slot(reference)),
            Ok(RefText::Text(pieces)) => {
                let part = |piece| match piece {
                    TextPiece::Words(words) => TemplatePart::Words(words),
                    TextPiece::Ref(reference) => TemplatePart::Ref(slot(reference)),
                };
                TemplateNode::Text(pieces.into_iter().map(part).collect())
            }
            Err(errors) => {
                for error in errors {
                    let place = places.place(error.at);
                    let problem = DocumentProblem::new(ProblemCode::InvalidRef, place, error.message);
                    problems.error(problem.field(field).reference(error.written));
                }
                TemplateNode::Broken
            }
        };
        InputTemplate { place: text.place(), node }
    }

    /// Does something with every ref.
    pub(crate) fn for_each_ref(
        &mut self,
        field: &mut FieldPath,
        found: &mut impl FnMut(&mut RefSlot, &FieldPath),
    ) {
        match &mut self.node {
            TemplateNode::Scalar(_) | TemplateNode::Broken => {}
            TemplateNode::Ref(slot) => found(slot, field),
            TemplateNode::Text(parts) => {
                for part in parts {
                    if let TemplatePart::Ref(slot) = part {
                        found(slot, field);
                    }
                }
            }
            TemplateNode::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    field.inside(PathSegment::Index(index), |field| item.for_each_ref(field, found));
                }
            }
            TemplateNode::Object(fields) => {
                for (key, value) in fields {
                    let key = PathSegment::Key(key.as_str().to_owned());
                    field.inside(key, |field| value.for_each_ref(field, found));
                }
            }
        }
    }

    /// The template as the data of a plan. `name` gives the names of steps.
    pub(crate) fn to_data(&self, name: &impl Fn(usize) -> String) -> Value {
        match &self.node {
            TemplateNode::Scalar(value) => value.clone(),
            TemplateNode::Broken => Value::Null,
            TemplateNode::Ref(slot) => slot.to_data(name),
            TemplateNode::Text(parts) => {
                let part = |part: &TemplatePart| match part {
                    TemplatePart::Words(words) => Value::String(words.clone()),
                    TemplatePart::Ref(slot) => slot.to_data(name),
                };
                json!({ "$text": parts.iter().map(part).collect::<Vec<Value>>() })
            }
            TemplateNode::List(items) => items.iter().map(|item| item.to_data(name)).collect(),
            TemplateNode::Object(fields) => {
                let is_special = fields.iter().any(|(key, _)| SPECIAL.contains(&key.as_str()));
                let data = fields.iter().map(|(key, value)| (key.as_str().to_owned(), value.to_data(name)));
                let data = Value::Object(data.collect::<Map<String, Value>>());
                if is_special { json!({ "$quote": data }) } else { data }
            }
        }
    }
}

impl RefSlot {
    fn to_data(&self, name: &impl Fn(usize) -> String) -> Value {
        let (root, path) = match self.root {
            Some(RefRoot::Input) => ("input".to_owned(), self.path()),
            Some(RefRoot::Item) => ("item".to_owned(), self.path()),
            Some(RefRoot::Index) => ("index".to_owned(), self.path()),
            Some(RefRoot::Output) => ("output".to_owned(), self.path()),
            Some(RefRoot::Step(step)) => (name(step), self.path()),
            None => return Value::Null,
        };
        let path = path.iter().map(|segment| match segment {
            PathSegment::Index(index) => json!(index),
            PathSegment::Key(key) => json!(key),
            // Refs have neither of them.
            PathSegment::AnyKey | PathSegment::AnyIndex => Value::Null,
        });
        let way: Vec<Value> = std::iter::once(Value::String(root)).chain(path).collect();
        if self.omit { json!({ "$": way, "missing": "omit" }) } else { json!({ "$": way }) }
    }

    /// The way into the value of the root: without the `output` of a step.
    pub(crate) fn path(&self) -> &[PathSegment] {
        match self.root {
            Some(RefRoot::Step(_)) => self.reference.path.get(1..).unwrap_or_default(),
            _ => &self.reference.path,
        }
    }
}

/// Where in an input something is.
#[derive(Debug, Default)]
pub(crate) struct FieldPath {
    /// The name of the field of the step that holds the template, where that is not its input.
    pub(crate) base: &'static str,
    segments: Vec<PathSegment>,
}

impl FieldPath {
    pub(crate) fn of(base: &'static str) -> Self {
        FieldPath { base, segments: Vec::new() }
    }

    pub(crate) fn enter(&mut self, segment: PathSegment) {
        self.segments.push(segment);
    }

    pub(crate) fn leave(&mut self) {
        self.segments.pop();
    }

    pub(crate) fn inside<T>(&mut self, segment: PathSegment, work: impl FnOnce(&mut Self) -> T) -> T {
        self.segments.push(segment);
        let result = work(self);
        self.segments.pop();
        result
    }

    /// The text of a part that is inside.
    pub(crate) fn text_inside(&mut self, segment: PathSegment) -> String {
        self.inside(segment, |path| path.text())
    }

    /// As messages have it: a path in the input, or the name of the field.
    pub(crate) fn text(&self) -> String {
        if self.segments.is_empty() {
            return self.base.to_owned();
        }
        rival_schema::path_text(&self.segments)
    }
}
