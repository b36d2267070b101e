//! Workflows as documents: created, changed, deleted and checked by clients.

use axum::Json as Answer;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rival_api::{
    DocumentCheckReply, DocumentListReply, DocumentReply, DocumentSavedReply, DocumentVersionsReply,
    path_segment,
};
use rival_authoring::{DocumentError, Documents, SavedDocument, VersionCondition, document_schema};
use rival_core::Value;
use serde::Deserialize;
use utoipa::IntoParams;

use super::convert::document as convert;
use super::extract::{PathParams, QueryParams, bad_request};
use super::runs::limited;
use crate::app::{AppState, AskedApp};
use crate::problem::{HttpProblem, code};

impl AppState {
    /// The documents, or that the server has none.
    fn documents(&self) -> Result<&Documents, HttpProblem> {
        let none = || {
            let error = "this server keeps no documents";
            HttpProblem::new(StatusCode::NOT_FOUND, code::NOT_FOUND, error)
        };
        self.documents.as_ref().ok_or_else(none)
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentsQuery {
    /// Only those after this name: `next` of the page before.
    after: Option<String>,
    /// How many at most, up to 1,000. A page may have fewer although it is not the last.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List documents
///
/// The documents that the server keeps, by name. Documents in files are workflows, and not in this list.
#[utoipa::path(get, path = "/api/documents", operation_id = "listDocuments", tag = "documents", params(DocumentsQuery),
    responses((status = 200, description = "A page of documents", body = DocumentListReply), (status = 404, description = "The server keeps none")))]
pub(crate) async fn list(
    State(app): State<AppState>,
    QueryParams(query): QueryParams<DocumentsQuery>,
) -> Result<Answer<DocumentListReply>, HttpProblem> {
    let limit = limited(query.limit, 100, 1_000)?;
    let documents = app.documents()?;
    let page = documents.list(query.after.as_deref(), limit).await?;
    // A page that is shorter than its limit may be so because documents are large.
    let mut next = page.last().map(|last| last.name.clone());
    if next.is_some() && documents.list(next.as_deref(), 1).await?.is_empty() {
        next = None;
    }
    Ok(Answer(DocumentListReply { documents: page.into_iter().map(convert::summary).collect(), next }))
}

/// Create a document
///
/// Checks a document, keeps it, and registers it as a workflow. The body is the document itself; places in errors are places
/// in this text.
#[utoipa::path(post, path = "/api/documents", operation_id = "createDocument", tag = "documents",
    request_body(content = serde_json::Map<String, serde_json::Value>, description = "The document"),
    responses((status = 201, description = "It is kept, and can be run", body = DocumentSavedReply,
            headers(("ETag" = String, description = "Its version, for `If-Match`"), ("Location" = String, description = "Where it is"))),
        (status = 400, description = "It is wrong: `errors` says how (`invalid_document`)"),
        (status = 404, description = "The server keeps no documents"),
        (status = 409, description = "There is a document or a workflow of this name")))]
pub(crate) async fn create(AskedApp(app): AskedApp, body: Bytes) -> Result<Response, HttpProblem> {
    let saved = app.documents()?.create(&text_of(&body)).await?;
    Ok(saved_reply(saved))
}

/// Check a document
///
/// Says everything that is wrong with a document, and keeps nothing. The answer is 200 for any text.
#[utoipa::path(post, path = "/api/documents/validate", operation_id = "validateDocument", tag = "documents",
    request_body(content = serde_json::Map<String, serde_json::Value>, description = "The document"),
    responses((status = 200, description = "Whether it would be taken, and what is wrong", body = DocumentCheckReply),
        (status = 404, description = "The server keeps no documents")))]
pub(crate) async fn validate(
    State(app): State<AppState>,
    body: Bytes,
) -> Result<Answer<DocumentCheckReply>, HttpProblem> {
    Ok(Answer(convert::check(app.documents()?.validate(&text_of(&body)).await)))
}

/// The schema of documents
///
/// The JSON Schema (2020-12) of documents, for editors. It says of the shape what a JSON Schema can say.
#[utoipa::path(get, path = "/api/documents/schema", operation_id = "getDocumentSchema", tag = "documents",
    responses((status = 200, description = "The schema", body = serde_json::Map<String, serde_json::Value>)))]
pub(crate) async fn schema() -> Answer<serde_json::Value> {
    Answer(document_schema())
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DocumentQuery {
    /// This version; the newest if it is left out.
    #[param(minimum = 1)]
    version: Option<i64>,
}

/// Show a document
///
/// A document as it was written, with its schemas, and with what is wrong with it now.
#[utoipa::path(get, path = "/api/documents/{name}", operation_id = "getDocument", tag = "documents",
    params(("name" = String, Path, description = "The document"), DocumentQuery),
    responses((status = 200, description = "The document", body = DocumentReply,
            headers(("ETag" = String, description = "Its version, for `If-Match`"))),
        (status = 404, description = "There is no such document, or no such version")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    QueryParams(query): QueryParams<DocumentQuery>,
) -> Result<Response, HttpProblem> {
    let documents = app.documents()?;
    let shown = documents.get(&name, numbered("version", query.version)?).await?;
    let tag = tag_of(shown.version);
    let document = Value::from_json(shown.text.clone()).unwrap_or_default();
    let reply: DocumentReply = convert::view(shown, document);
    let mut response = app.answer_with(async { Ok(reply) }).await?;
    response.headers_mut().insert(header::ETAG, tag);
    Ok(response)
}

/// Save a document
///
/// Checks a document and keeps it as the next version; new runs have its plan, and those under way go on as they began. With
/// `If-Match` only if that version is the newest, with `If-None-Match: *` only if there is none, without either whatever is
/// there.
#[utoipa::path(put, path = "/api/documents/{name}", operation_id = "saveDocument", tag = "documents",
    params(("name" = String, Path, description = "The document; also the `name` in it"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is changed"),
        ("If-None-Match" = Option<String>, Header, description = "`*`: it must be new")),
    request_body(content = serde_json::Map<String, serde_json::Value>, description = "The document"),
    responses((status = 200, description = "The version is kept", body = DocumentSavedReply,
            headers(("ETag" = String, description = "Its version, for `If-Match`"))),
        (status = 201, description = "It is new, and kept", body = DocumentSavedReply,
            headers(("ETag" = String, description = "Its version, for `If-Match`"), ("Location" = String, description = "Where it is"))),
        (status = 400, description = "It is wrong: `errors` says how (`invalid_document`)"),
        (status = 404, description = "The server keeps no documents"),
        (status = 409, description = "A workflow that is no document has this name"),
        (status = 412, description = "Another version is there (`version_conflict`), or it is there already (`document_exists`)")))]
pub(crate) async fn save(
    AskedApp(app): AskedApp,
    PathParams(name): PathParams<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, HttpProblem> {
    let condition = condition_of(&headers)?;
    let saved = app.documents()?.update(&name, &text_of(&body), condition).await;
    let saved = saved.map_err(|error| match error {
        // What the client made a condition was not so.
        DocumentError::Exists(_) => {
            HttpProblem { status: StatusCode::PRECONDITION_FAILED, ..HttpProblem::from(error) }
        }
        other => other.into(),
    })?;
    Ok(saved_reply(saved))
}

/// Delete a document
///
/// Takes the workflow away. Runs under way go on, and the versions of the document stay.
#[utoipa::path(delete, path = "/api/documents/{name}", operation_id = "deleteDocument", tag = "documents",
    params(("name" = String, Path, description = "The document"),
        ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is deleted")),
    responses((status = 204, description = "It is deleted"),
        (status = 404, description = "There is no such document"),
        (status = 412, description = "Another version is there (`version_conflict`)")))]
pub(crate) async fn delete(
    AskedApp(app): AskedApp,
    PathParams(name): PathParams<String>,
    headers: HeaderMap,
) -> Result<StatusCode, HttpProblem> {
    app.documents()?.delete(&name, condition_of(&headers)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionsQuery {
    /// Only those before this version: `next` of the page before.
    #[param(minimum = 1)]
    before: Option<i64>,
    /// How many at most, up to 1,000. A page may have fewer although it is not the last.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// List the versions of a document
///
/// When it was saved and deleted, and by whom, the newest first. Also of a document that is deleted.
#[utoipa::path(get, path = "/api/documents/{name}/versions", operation_id = "listDocumentVersions", tag = "documents",
    params(("name" = String, Path, description = "The document"), VersionsQuery),
    responses((status = 200, description = "A page of versions", body = DocumentVersionsReply),
        (status = 404, description = "There is no such document")))]
pub(crate) async fn versions(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    QueryParams(query): QueryParams<VersionsQuery>,
) -> Result<Answer<DocumentVersionsReply>, HttpProblem> {
    let limit = limited(query.limit, 100, 1_000)?;
    let before = numbered("before", query.before)?;
    let page = app.documents()?.versions(&name, before, limit).await?;
    let next = page.last().map(|last| last.version).filter(|version| *version > 1);
    Ok(Answer(DocumentVersionsReply { versions: page.into_iter().map(convert::version).collect(), next }))
}

/// The number of a version.
fn numbered(name: &str, asked: Option<i64>) -> Result<Option<u64>, HttpProblem> {
    match asked {
        None => Ok(None),
        Some(number) if number > 0 => Ok(Some(number.cast_unsigned())),
        Some(number) => Err(bad_request(format!("`{name}` is {number}: versions count from 1"))),
    }
}

/// The text of a document. What is no UTF-8 is no JSON either, and the check says where.
fn text_of(body: &Bytes) -> String {
    String::from_utf8_lossy(body).into_owned()
}

fn tag_of(version: u64) -> HeaderValue {
    HeaderValue::try_from(convert::etag(version)).expect("digits are a header")
}

fn saved_reply(saved: SavedDocument) -> Response {
    let (is_new, version) = (saved.is_new, saved.version);
    let place = format!("/api/documents/{}", path_segment(&saved.name));
    let mut response = Answer(convert::saved(saved)).into_response();
    if is_new {
        *response.status_mut() = StatusCode::CREATED;
        let place = HeaderValue::try_from(place).expect("an escaped path is a header");
        response.headers_mut().insert(header::LOCATION, place);
    }
    response.headers_mut().insert(header::ETAG, tag_of(version));
    response
}

/// What the headers of a request say must be there.
fn condition_of(headers: &HeaderMap) -> Result<VersionCondition, HttpProblem> {
    let value = |name: HeaderName| {
        let values: Vec<&str> =
            headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).collect();
        (!values.is_empty()).then(|| values.join(","))
    };
    match (value(header::IF_MATCH), value(header::IF_NONE_MATCH)) {
        (None, None) => Ok(VersionCondition::Any),
        (Some(tags), None) if tags.trim() == "*" => Ok(VersionCondition::Present),
        (Some(tags), None) => Ok(VersionCondition::OneOf(tags.split(',').filter_map(version_of).collect())),
        (None, Some(tags)) if tags.trim() == "*" => Ok(VersionCondition::Absent),
        (None, Some(_)) => Err(bad_request("`If-None-Match` is `*` here: the document must be new")),
        (Some(_), Some(_)) => {
            Err(bad_request("`If-Match` and `If-None-Match` exclude each other: send one of them"))
        }
    }
}

/// The version that a tag stands for. Proxies that compress make tags weak: these are taken, too.
fn version_of(tag: &str) -> Option<u64> {
    let tag = tag.trim();
    let opaque = tag.strip_prefix("W/").unwrap_or(tag);
    opaque.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}
