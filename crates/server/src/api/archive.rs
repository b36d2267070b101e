//! Runs as documents: out of this store, and into it.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json as Answer};
use futures::StreamExt;
use rival_api::RunStatusReply;
use rival_core::{RunId, Value};
use rival_engine::{Archive, ImportError};

use super::extract::{JsonBody, PathParams};
use super::values::in_pieces;
use crate::app::AppState;
use crate::flight::ByteQuota;
use crate::problem::HttpProblem;

/// Export a run
///
/// Everything that is known of a run, as one document that `import` takes.
#[utoipa::path(get, path = "/api/runs/{id}/export", operation_id = "exportRun", tag = "runs", params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The archive", body = Object), (status = 404, description = "There is no such run")))]
pub(crate) async fn export(
    State(app): State<AppState>,
    Extension(room): Extension<ByteQuota>,
    PathParams(id): PathParams<String>,
) -> Result<Response, HttpProblem> {
    let pieces = app.engine.export_in_pieces(&RunId::from(id)).await?;
    Ok(in_pieces(pieces.map(|piece| piece.map(Bytes::from)).boxed(), room))
}

/// Import a run
///
/// Takes a run that has ended, as `export` gives it. Importing it again does nothing.
#[utoipa::path(post, path = "/api/runs/import", operation_id = "importRun", tag = "runs", request_body(content = Object, description = "The archive"),
    responses((status = 201, description = "It is here now", body = RunStatusReply),
        (status = 200, description = "It was here already", body = RunStatusReply),
        (status = 409, description = "Another run has its id")))]
pub(crate) async fn import(
    State(app): State<AppState>,
    JsonBody(archive): JsonBody<Value>,
) -> Result<(StatusCode, Answer<RunStatusReply>), HttpProblem> {
    let archive = Archive::from_json(archive.as_json())?;
    let imported = app.engine.import(&archive).await?;
    let status = if imported.new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((
        status,
        Answer(RunStatusReply { run_id: imported.run, status: imported.status, signal_id: None, hint: None }),
    ))
}

impl From<ImportError> for HttpProblem {
    fn from(error: ImportError) -> Self {
        let status = match &error {
            ImportError::Conflict(_) => StatusCode::CONFLICT,
            ImportError::Store(error) => super::errors::of_store(error),
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.code(), error.to_string())
    }
}
