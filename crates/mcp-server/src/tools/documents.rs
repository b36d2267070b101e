//! Workflows that are written here: `validate_document`, `create_document`, `update_document`, …

use rival_api::path_segment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{anything, list, number, text, truth};
use crate::api::Api;
use crate::failure::{ToolFailure, told};
use crate::shown::{RESULT_MAX_BYTES, fitting};
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

/// How many problems are said one by one.
const PROBLEMS_MAX: usize = 40;

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![
        validate_document(),
        create_document(),
        update_document(),
        get_document(),
        list_documents(),
        delete_document(),
    ]
}

/// The text of a document as it is sent: as it was written, or one field or value to a line, so that places mean something.
fn written(document: &Value) -> String {
    match document {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GivenDocument {
    /// The document: a JSON object {name, steps, …}, or its text, whose lines and columns errors then name. The resource
    /// rival://llms.txt teaches the format.
    document: Value,
}

fn problems_schema(mut fields: Value) -> Value {
    fields["warnings"] =
        list("what could not be proven or is probably not meant; it can be saved all the same");
    fields["note"] = text("what to do next");
    fields
}

fn validate_document() -> ToolSpec {
    let output = problems_schema(json!({
        "valid": truth("whether it can be saved"),
        "errors": list("what is wrong, each with type, step, field, ref, expected, actual, message and place"),
        "errorCount": number("how many errors there are"),
        "inWords": list("the same, a line each, with what to do"),
        "stepTypes": anything("the JSON Schemas of what each step takes and gives, by its name"),
    }));
    ToolSpec::new(
        ("validate_document", "Check a workflow document"),
        "Checks a workflow document without saving it: its shape, its @refs, and the types between its steps. Says everything \
         that is wrong at once, with place, expected and actual type. Mend all of it, and check again until `valid` is true.",
        ToolEffect::Reads,
        &output,
        |call, given: GivenDocument| async move { validated(&call.api, &given.document).await },
    )
}

async fn validated(api: &Api, document: &Value) -> ToolAnswer {
    let checked = api.post_text("/api/documents/validate", written(document)).await?.json()?;
    let errors = checked["errors"].as_array().cloned().unwrap_or_default();
    let mut answer = Map::new();
    answer.insert("valid".to_owned(), checked["valid"].clone());
    answer.insert("errorCount".to_owned(), errors.len().into());
    if !errors.is_empty() {
        let words: Vec<Value> = errors.iter().take(PROBLEMS_MAX).map(|error| told(error).into()).collect();
        answer.insert("inWords".to_owned(), words.into());
        answer.insert("errors".to_owned(), errors.into_iter().take(PROBLEMS_MAX).collect());
    }
    insert_warnings(&mut answer, &checked);
    if checked["_schemas"].is_object() {
        answer.insert("stepTypes".to_owned(), checked["_schemas"].clone());
    }
    let note = match checked["valid"] == true {
        true => "it can be saved: create_document, or update_document if it is there already",
        false => "mend each error, and check again",
    };
    answer.insert("note".to_owned(), note.into());
    Ok(answer.into())
}

fn insert_warnings(answer: &mut Map<String, Value>, of: &Value) {
    let warnings = of["warnings"].as_array().filter(|warnings| !warnings.is_empty());
    if let Some(warnings) = warnings {
        answer.insert("warnings".to_owned(), warnings.iter().take(PROBLEMS_MAX).cloned().collect());
    }
}

fn saved_schema() -> Value {
    problems_schema(json!({
        "name": text("the document's name, which is the workflow's"),
        "version": number("its version: 1, 2, 3 …"),
    }))
}

/// What the API says of a document that was saved.
fn saved(reply: &Value, note: &str) -> Value {
    let mut answer = Map::new();
    answer.insert("name".to_owned(), reply["name"].clone());
    answer.insert("version".to_owned(), reply["version"].clone());
    insert_warnings(&mut answer, reply);
    answer.insert("note".to_owned(), note.into());
    answer.into()
}

fn create_document() -> ToolSpec {
    ToolSpec::new(
        ("create_document", "Create a workflow from a document"),
        "Saves a new workflow document; it can be run at once, under its `name`. Refused with all its errors if it is not \
         valid, or if there is one of this name (use update_document then). Needs a token with the scope admin.",
        ToolEffect::Adds,
        &saved_schema(),
        |call, given: GivenDocument| async move {
            let reply = call.api.post_text("/api/documents", written(&given.document)).await?.json()?;
            Ok(saved(&reply, "it can be run: run_workflow with this name"))
        },
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateDocument {
    /// The document's name.
    name: String,
    /// The whole new document, as an object or as text.
    document: Value,
    /// The version that you changed, as get_document said it: refused if another client has changed it since. Without it the
    /// newest is replaced, whatever it is.
    version: Option<u64>,
}

fn update_document() -> ToolSpec {
    ToolSpec::new(
        ("update_document", "Change a workflow document"),
        "Saves a new version of a workflow document. Runs under way go on with the version that they began with; earlier \
         versions are kept. Needs a token with the scope admin.",
        ToolEffect::Changes,
        &saved_schema(),
        |call, given: UpdateDocument| async move {
            let path = format!("/api/documents/{}", path_segment(&given.name));
            let reply = call.api.put(&path, given.version, written(&given.document)).await?.json()?;
            Ok(saved(&reply, "new runs have this version"))
        },
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetDocument {
    /// The document's name.
    name: String,
    /// A version; the newest if not said.
    version: Option<u64>,
}

fn get_document() -> ToolSpec {
    let output = problems_schema(json!({
        "name": text("its name"), "version": number("which version this is; give it to update_document"),
        "document": anything("the document"), "errors": list("what is wrong with it now"),
        "stale": truth("whether tools that it calls have other types than when it was saved"),
    }));
    ToolSpec::new(
        ("get_document", "Read a workflow document"),
        "Reads a workflow document that was created here: the newest version, or an earlier one.",
        ToolEffect::Reads,
        &output,
        |call, given: GetDocument| async move { got(&call, given).await },
    )
}

async fn got(call: &ToolCall, given: GetDocument) -> ToolAnswer {
    let query = given.version.map_or_else(String::new, |version| format!("?version={version}"));
    let path = format!("/api/documents/{}{query}", path_segment(&given.name));
    let found = call.api.get(&path).await?;
    let mut answer = Map::new();
    for key in ["name", "version", "document", "errors", "stale", "shadowedBy"] {
        let value = &found[key];
        if !value.is_null() && *value != json!([]) {
            answer.insert(key.to_owned(), value.clone());
        }
    }
    let bytes = found["document"].to_string().len();
    if bytes > RESULT_MAX_BYTES * 3 / 4 {
        let message = format!("the document has {bytes} bytes, which is more than a result holds");
        return Err(ToolFailure::new("payload_too_large", message)
            .hint(format!("read it with GET {path}, outside of this conversation")));
    }
    insert_warnings(&mut answer, &found);
    Ok(answer.into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListDocuments {
    /// Go on where the last answer ended: what `next` said.
    after: Option<String>,
}

fn list_documents() -> ToolSpec {
    let output = json!({
        "documents": list("name, version, description, when and by whom it was changed, how many problems it has"),
        "next": anything("there are more: ask again with this as `after`"),
    });
    ToolSpec::new(
        ("list_documents", "List workflow documents"),
        "Lists the workflow documents that were created here, with problems that they have by now.",
        ToolEffect::Reads,
        &output,
        |call, given: ListDocuments| async move {
            let query =
                given.after.map_or_else(String::new, |after| format!("?after={}", path_segment(&after)));
            let page = call.api.get(&format!("/api/documents{query}")).await?;
            let found = page["documents"].as_array().cloned().unwrap_or_default();
            let (documents, left) = fitting(found, RESULT_MAX_BYTES * 3 / 4);
            let next = match documents.last() {
                Some(last) if left > 0 => last["name"].clone(),
                _ => page["next"].clone(),
            };
            let mut answer = json!({ "documents": documents });
            if !next.is_null() {
                answer["next"] = next;
            }
            Ok(answer)
        },
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteDocument {
    /// The document's name.
    name: String,
    /// Only if this is the newest version.
    version: Option<u64>,
}

fn delete_document() -> ToolSpec {
    ToolSpec::new(
        ("delete_document", "Delete a workflow document"),
        "Deletes a workflow document, so that no new runs of it start. Runs under way go on; versions are kept. Needs a token \
         with the scope admin.",
        ToolEffect::Changes,
        &json!({"name": text("its name"), "deleted": truth("that it is")}),
        |call, given: DeleteDocument| async move {
            let path = format!("/api/documents/{}", path_segment(&given.name));
            call.api.delete(&path, given.version).await?;
            Ok(json!({"name": given.name, "deleted": true}))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_sent_as_it_was_written() {
        assert_eq!(written(&json!("{ \"name\": 1 } // x")), "{ \"name\": 1 } // x");
        assert_eq!(written(&json!({"name": "a"})), "{\n  \"name\": \"a\"\n}");
    }
}
