//! What goes wrong, so that a model can act on it: the API's code and sentence, each error with its place, and what to do.

use std::fmt::Write as _;

use http::StatusCode;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::caller::UNREADABLE;

/// How many errors of a list are told; who has mended these is told the next.
const ERRORS_MAX: usize = 40;

/// Why a tool has no result.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFailure {
    /// A stable word: that of the API.
    pub(crate) code: String,
    pub(crate) message: String,
    /// What is wrong, one by one, as the API says it.
    pub(crate) errors: Vec<Value>,
    /// What else the API says, such as the id under which asking again is harmless.
    pub(crate) more: Map<String, Value>,
    /// What to do, if the code alone does not say it.
    pub(crate) hint: Option<String>,
}

impl ToolFailure {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), ..Self::default() }
    }

    /// Arguments that the tool does not take.
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        Self::new("bad_request", message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Reads a refusal: `application/problem+json`.
    pub(crate) fn of_answer(status: StatusCode, text: &str) -> Self {
        let problem: Value = serde_json::from_str(text).unwrap_or_default();
        let Some(code) = problem["code"].as_str() else {
            return Self::new(
                UNREADABLE,
                format!("the server answered {status}, and does not look like rival"),
            );
        };
        let message = problem["error"].as_str().or(problem["detail"].as_str()).unwrap_or_default();
        let errors = problem["errors"].as_array().cloned().unwrap_or_default();
        let mut more = Map::new();
        for key in ["runId", "signalId", "warnings", "version"] {
            if let Some(value) = problem.get(key).filter(|value| !value.is_null()) {
                more.insert(key.to_owned(), value.clone());
            }
        }
        Self { errors, more, ..Self::new(code, message) }
    }

    /// What to do now.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref().or_else(|| advice(&self.code))
    }

    /// As the result of a tool.
    pub(crate) fn result(&self) -> CallToolResult {
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.text())]);
        result.structured_content = Some(json!({ "error": self.json() }));
        result
    }

    fn json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if !self.errors.is_empty() {
            let told = self.errors.iter().take(ERRORS_MAX).map(with_advice);
            error["errors"] = told.collect();
            error["errorCount"] = self.errors.len().into();
        }
        for (key, value) in &self.more {
            error[key] = value.clone();
        }
        if let Some(advice) = self.advice() {
            error["whatToDo"] = advice.into();
        }
        error
    }

    /// For models that are shown the text only.
    fn text(&self) -> String {
        let mut text = format!("error {}: {}", self.code, self.message);
        for (number, error) in self.errors.iter().take(ERRORS_MAX).enumerate() {
            let _ = write!(text, "\n{}. {}", number + 1, told(error));
        }
        if self.errors.len() > ERRORS_MAX {
            let _ = write!(text, "\n… and {} more", self.errors.len() - ERRORS_MAX);
        }
        for (key, value) in &self.more {
            let _ = write!(text, "\n{key}: {}", plain(value));
        }
        if let Some(advice) = self.advice() {
            let _ = write!(text, "\nWhat to do: {advice}");
        }
        text
    }
}

/// An error of a list, with what to do about its kind.
fn with_advice(error: &Value) -> Value {
    let mut error = error.clone();
    if let (Some(advice), Value::Object(fields)) = (advice_for(&error), &mut error) {
        fields.insert("whatToDo".to_owned(), advice.into());
    }
    error
}

/// One error in a line: kind, owner, field, place, message, types.
pub(crate) fn told(error: &Value) -> String {
    let text = |key: &str| error[key].as_str().filter(|text| !text.is_empty());
    let mut at = Vec::new();
    at.extend(text("step").map(|step| format!("step `{step}`")));
    at.extend(error["trigger"].as_u64().map(|trigger| format!("trigger {trigger}")));
    at.extend(
        text("field").or(text("path").filter(|_| text("type").is_none())).map(|field| format!("`{field}`")),
    );
    if let (Some(line), Some(column)) = (error["line"].as_u64(), error["column"].as_u64()) {
        at.push(format!("line {line}, column {column}"));
    }
    let kind = text("type").map_or_else(String::new, |kind| format!("{kind} "));
    let at = if at.is_empty() { "in the whole".to_owned() } else { format!("at {}", at.join(", ")) };
    let mut line = format!("{kind}{at}: {}", text("message").unwrap_or_default());
    for (key, name) in [("ref", "ref"), ("expected", "expected"), ("actual", "actual")] {
        if let Some(value) = text(key) {
            let _ = write!(line, "; {name} {value}");
        }
    }
    if let Some(advice) = advice_for(error) {
        let _ = write!(line, " -> {advice}");
    }
    line
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What to do about one error of a document.
fn advice_for(error: &Value) -> Option<&'static str> {
    Some(match error["type"].as_str()? {
        "invalid_json" => "write JSON: no comments, no commas at ends, keys in double quotes",
        "unknown_field" => "leave the field out, or use the name that is suggested",
        "duplicate_name" => "give one of the steps another name",
        "missing_ref" => {
            "refer to a step of an earlier phase, to @input, or in a forEach to @item; spell its fields as they are declared"
        }
        "invalid_ref" => "write refs as @step.field, or @{step.field} inside of a text; write @@ for an @",
        "type_mismatch" => {
            "refer to another field, or put a transform step between that makes the expected type"
        }
        "missing_schema" => {
            "declare the type: inputSchema, a transform's Output, or an output schema of the tool"
        }
        "invalid_typescript" => {
            "write one default export function with interfaces Input and Output, without imports"
        }
        "unknown_tool" => "call list_tools for the tools of this connection",
        "unknown_connection" => "call list_connections for those that there are; only the operator adds one",
        "unknown_workflow" => "call list_workflows for the names that there are",
        _ => return None,
    })
}

/// What to do about a refusal, in words of the tools.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "bad_request" => "correct the arguments; the tool's input schema says what it takes",
        "forbidden" => {
            "ask the person whose token this is for one with a wider scope; trying again does not help"
        }
        "unauthorized" => "ask the person who set this server up for a valid token",
        "unknown_workflow" => "call list_workflows for the names that there are",
        "invalid_input" => {
            "call describe_workflow for the input's schema, correct the input, and start again"
        }
        "invalid_signal" => {
            "call describe_workflow for the signal's schema, correct the payload, and send it again"
        }
        "invalid_document" => "mend each error, try the result with validate_document, and save it again",
        "document_exists" => "use update_document to change it, or give the new document another name",
        "document_not_found" => "call list_documents for the names that there are",
        "version_conflict" => {
            "another client has changed it: call get_document, make your change to that, and update with its version"
        }
        "run_not_found" => "call list_runs for the ids that there are",
        "unknown_connection" => {
            "call list_connections for the names that there are; only the operator adds one"
        }
        "run_conflict" => "this idempotencyKey belongs to a run with another input: use another key",
        "signal_conflict" => "this idempotencyKey belongs to another signal: use another key",
        "run_finished" => "the run has ended and takes nothing more: call show_run for how, or start another",
        "not_retryable" => {
            "only runs that failed or were cancelled are retried: call show_run for this one's status"
        }
        "payload_too_large" => "send less: put large data where the workflow can fetch it",
        "rate_limited"
        | "too_many_waits"
        | "too_many_streams"
        | "too_many_answers"
        | "too_many_connections" => "wait some seconds, then ask again",
        "store_full" | "store_io" | "shutting_down" => {
            "the server cannot do this now: wait some seconds, then ask again with the same idempotencyKey"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_with_places_types_and_what_to_do() {
        let problem = json!({
            "code": "invalid_document", "error": "2 errors", "warnings": [],
            "errors": [
                {"type": "type_mismatch", "step": "mail", "field": "to", "ref": "@users.items", "expected": "string",
                 "actual": "{name: string}[]", "message": "a list is no text", "line": 7, "column": 12},
                {"path": "/name", "message": "is missing"},
            ],
        });
        let failure = ToolFailure::of_answer(StatusCode::BAD_REQUEST, &problem.to_string());
        assert_eq!(
            failure.text(),
            "error invalid_document: 2 errors\n\
             1. type_mismatch at step `mail`, `to`, line 7, column 12: a list is no text; ref @users.items; expected \
             string; actual {name: string}[] -> refer to another field, or put a transform step between that makes the \
             expected type\n\
             2. at `/name`: is missing\n\
             warnings: []\n\
             What to do: mend each error, try the result with validate_document, and save it again"
        );
        let json = failure.json();
        assert_eq!(json["errors"][0]["expected"], "string");
        assert!(json["errors"][0]["whatToDo"].is_string());
    }

    #[test]
    fn an_answer_of_something_else_is_no_refusal_of_ours() {
        let failure = ToolFailure::of_answer(StatusCode::BAD_GATEWAY, "<html>");
        assert_eq!(failure.code, UNREADABLE);
    }

    #[test]
    fn a_thousand_errors_are_cut() {
        let errors = vec![json!({"path": "/x", "message": "wrong"}); 1_000];
        let failure = ToolFailure { errors, ..ToolFailure::new("invalid_input", "wrong") };
        assert!(failure.text().contains("and 960 more"));
        assert_eq!(failure.json()["errors"].as_array().unwrap().len(), ERRORS_MAX);
    }
}
