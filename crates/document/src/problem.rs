//! What is wrong with a document.

use std::fmt;

use rival_core::text::is_hidden;
use serde::{Deserialize, Serialize};

use crate::place::SourcePlace;

/// The most problems that are kept of each kind: a document with more of them is not mended one by one.
const PROBLEMS_MAX: usize = 1_000;

/// What kind of problem it is; programs may depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemCode {
    /// The text is no JSON.
    InvalidJson,
    /// The JSON is no document.
    InvalidDocument,
    /// A field that documents do not have, or that a schema does not declare.
    UnknownField,
    /// Two steps have one name.
    DuplicateName,
    /// A text that begins as a ref and is none.
    InvalidRef,
    /// A ref to what is not there.
    MissingRef,
    /// A value of another type than expected.
    TypeMismatch,
    /// What a type would have to be known for has no schema.
    MissingSchema,
    /// A schema that is none.
    InvalidSchema,
    /// A transform that is no pure function with `Input` and `Output`.
    InvalidTypescript,
    /// The connection has no such tool.
    UnknownTool,
    /// There is no such connection.
    UnknownConnection,
    /// A trigger's target that is not there.
    UnknownWorkflow,
    /// Workflows that trigger each other in a circle.
    TriggerCycle,
    /// What could be neither proven nor refuted.
    Unproven,
    /// A number that loses digits.
    RoundedNumber,
}

/// Something wrong in a document, or worth a second look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{place}: {}{message}", owner(self))]
pub struct DocumentProblem {
    /// What kind of problem it is.
    #[serde(rename = "type")]
    pub code: ProblemCode,
    /// The step that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The trigger that it is in, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<usize>,
    /// The field: of an input the path inside of it (`recipients`, `users[0].name`), else the name in the step
    /// (`retry.maxAttempts`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The ref as it is written.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The type that is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The type that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// One sentence.
    pub message: String,
    /// Where it is in the document's text.
    pub place: SourcePlace,
}

fn owner(problem: &DocumentProblem) -> String {
    match (&problem.step, problem.trigger) {
        (Some(step), _) => format!("step `{step}`: "),
        (None, Some(trigger)) => format!("trigger {trigger}: "),
        (None, None) => String::new(),
    }
}

impl DocumentProblem {
    pub(crate) fn new(code: ProblemCode, place: SourcePlace, message: impl Into<String>) -> Self {
        DocumentProblem {
            code,
            step: None,
            trigger: None,
            field: None,
            reference: None,
            expected: None,
            actual: None,
            message: message.into(),
            place,
        }
    }

    pub(crate) fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into()).filter(|field| !field.is_empty());
        self
    }

    pub(crate) fn reference(mut self, reference: impl Into<String>) -> Self {
        self.reference = Some(reference.into());
        self
    }

    pub(crate) fn types(mut self, expected: impl fmt::Display, actual: impl fmt::Display) -> Self {
        self.expected = Some(expected.to_string());
        self.actual = Some(actual.to_string());
        self
    }
}

/// The part of a document that is looked at.
#[derive(Clone, Debug, Default)]
pub(crate) enum ProblemOwner {
    #[default]
    Document,
    Step(String),
    Trigger(usize),
}

/// All problems so far.
#[derive(Debug, Default)]
pub(crate) struct ProblemList {
    pub(crate) owner: ProblemOwner,
    pub(crate) errors: Vec<DocumentProblem>,
    pub(crate) warnings: Vec<DocumentProblem>,
    /// Problems that were found and not kept.
    pub(crate) left_out: usize,
}

impl ProblemList {
    pub(crate) fn error(&mut self, problem: DocumentProblem) {
        let problem = self.owned(problem);
        keep(&mut self.errors, &mut self.left_out, problem);
    }

    pub(crate) fn warn(&mut self, problem: DocumentProblem) {
        let problem = self.owned(problem);
        keep(&mut self.warnings, &mut self.left_out, problem);
    }

    /// How many there are in all, to see whether something was added.
    pub(crate) fn count(&self) -> usize {
        self.errors.len() + self.warnings.len() + self.left_out
    }

    fn owned(&self, mut problem: DocumentProblem) -> DocumentProblem {
        match &self.owner {
            ProblemOwner::Document => {}
            ProblemOwner::Step(name) => problem.step = Some(name.clone()),
            ProblemOwner::Trigger(number) => problem.trigger = Some(*number),
        }
        let texts = [
            &mut problem.step,
            &mut problem.field,
            &mut problem.reference,
            &mut problem.expected,
            &mut problem.actual,
        ];
        texts.into_iter().flatten().chain([&mut problem.message]).for_each(show_hidden);
        problem
    }
}

/// Names come from anywhere, and messages go to terminals: what cannot be seen is written out.
fn show_hidden(text: &mut String) {
    if text.contains(is_hidden) {
        let shown = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
        *text = text.chars().map(shown).collect();
    }
}

fn keep(list: &mut Vec<DocumentProblem>, left_out: &mut usize, problem: DocumentProblem) {
    if list.len() < PROBLEMS_MAX {
        list.push(problem);
    } else {
        *left_out += 1;
    }
}
