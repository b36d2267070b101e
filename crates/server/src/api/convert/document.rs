//! What documents are, as the API shows it.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rival_api::{
    DocumentCheckReply, DocumentReply, DocumentSavedReply, DocumentSummary, DocumentVersion, ViolationReply,
};
use rival_authoring::{
    DocumentCheck, DocumentError, DocumentProblem, DocumentSummary as Summary, DocumentVersion as Version,
    DocumentView, SavedDocument,
};
use rival_core::Value;
use rival_engine::RegisterError;
use serde::Serialize;

use crate::api::errors::of_store;
use crate::problem::HttpProblem;

/// The strong tag of a version.
pub(crate) fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

pub(crate) fn saved(saved: SavedDocument) -> DocumentSavedReply {
    DocumentSavedReply {
        name: saved.name,
        version: saved.version,
        etag: etag(saved.version),
        warnings: problems(&saved.warnings),
        schemas: schemas(&saved.schemas),
        shadowed_by: saved.shadowed_by,
    }
}

pub(crate) fn summary(document: Summary) -> DocumentSummary {
    DocumentSummary {
        name: document.name,
        version: document.version,
        description: document.description,
        updated_at: document.updated_at,
        updated_by: document.updated_by,
        problems: document.problems,
        stale: document.is_stale,
        shadowed_by: document.shadowed_by,
    }
}

pub(crate) fn view(shown: DocumentView, document: Value) -> DocumentReply {
    DocumentReply {
        name: shown.name,
        version: shown.version,
        document,
        text: shown.text,
        schemas: schemas(&shown.schemas),
        warnings: problems(&shown.warnings),
        stale: !shown.errors.is_empty(),
        errors: problems(&shown.errors),
        updated_at: shown.updated_at,
        updated_by: shown.updated_by,
        shadowed_by: shown.shadowed_by,
    }
}

pub(crate) fn version(version: Version) -> DocumentVersion {
    DocumentVersion { version: version.version, at: version.at, by: version.by, deleted: version.is_deleted }
}

pub(crate) fn check(check: DocumentCheck) -> DocumentCheckReply {
    DocumentCheckReply {
        valid: check.document.is_some(),
        errors: problems(&check.errors),
        warnings: problems(&check.warnings),
        left_out: check.left_out,
        schemas: check.document.map(|document| schemas(&document.schemas)),
    }
}

fn schemas<S: Serialize>(schemas: &BTreeMap<String, S>) -> BTreeMap<String, serde_json::Value> {
    let json = |schema| serde_json::to_value(schema).expect("schemas have only string keys");
    schemas.iter().map(|(step, schema)| (step.clone(), json(schema))).collect()
}

fn problems(problems: &[DocumentProblem]) -> Vec<ViolationReply> {
    problems.iter().map(problem).collect()
}

fn problem(problem: &DocumentProblem) -> ViolationReply {
    let word = serde_json::to_value(problem.code).ok().and_then(|word| Some(word.as_str()?.to_owned()));
    let owner = problem.step.clone().or_else(|| problem.trigger.map(|number| format!("triggers[{number}]")));
    let path: Vec<String> = [owner, problem.field.clone()].into_iter().flatten().collect();
    ViolationReply {
        path: path.join("/"),
        message: problem.message.clone(),
        r#type: word,
        step: problem.step.clone(),
        trigger: problem.trigger.map(|number| number as u64),
        field: problem.field.clone(),
        r#ref: problem.reference.clone(),
        expected: problem.expected.clone(),
        actual: problem.actual.clone(),
        line: Some(problem.place.line),
        column: Some(problem.place.column),
    }
}

impl From<DocumentError> for HttpProblem {
    fn from(error: DocumentError) -> Self {
        let status = match &error {
            DocumentError::Invalid(_) => StatusCode::BAD_REQUEST,
            DocumentError::Exists(_) | DocumentError::NameTaken { .. } => StatusCode::CONFLICT,
            DocumentError::NotFound(_) | DocumentError::NoSuchVersion { .. } => StatusCode::NOT_FOUND,
            DocumentError::VersionConflict { .. } => StatusCode::PRECONDITION_FAILED,
            DocumentError::Store(error) | DocumentError::Register(RegisterError::Store(error)) => {
                of_store(error)
            }
            DocumentError::Register(RegisterError::Duplicate(_)) => StatusCode::CONFLICT,
            DocumentError::Register(_) => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Self::new(status, error.code(), error.to_string());
        match error {
            DocumentError::Invalid(check) => Self {
                errors: problems(&check.errors),
                warnings: problems(&check.warnings).into(),
                ..problem
            },
            _ => problem,
        }
    }
}
