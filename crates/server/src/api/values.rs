//! Recorded values: how much of them answers hold, and each by itself.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream::{BoxStream, StreamExt};
use rival_api::path_segment;
use rival_core::{RunId, Seq};
use rival_engine::{RunError, ValueField, ValueLimits};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::extract::{PathParams, QueryParams};
use crate::app::AppState;
use crate::base_path::BasePath;
use crate::flight::{BytePermit, ByteQuota};
use crate::problem::HttpProblem;

/// What answers hold of recorded values, and where clients find the others.
pub(crate) fn limits(base: &BasePath) -> ValueLimits {
    let base = base.clone();
    let link = move |run: &RunId, event: Seq, field: ValueField| {
        let query = match field {
            ValueField::Value => "",
            ValueField::State => "?field=state",
        };
        base.join(&format!("/api/runs/{}/values/{event}{query}", path_segment(run.as_str())))
    };
    ValueLimits { value_max_bytes: 1 << 20, total_max_bytes: 8 << 20, link: Arc::new(link) }
}

/// Which value of an event.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ValueField)]
enum FieldParam {
    #[default]
    Value,
    State,
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ValueQuery {
    /// `value` (if not said): what was given, returned or sent; `state`: what the step put into its state.
    #[serde(default)]
    #[param(inline, required = false)]
    field: FieldParam,
}

/// Read a value
///
/// One recorded value, whole, however large it is: the one that an event holds, or a block's result, put together from
/// its parts. Answers that leave a value out (`$omitted`) name this address as `href`.
#[utoipa::path(get, path = "/api/runs/{id}/values/{event}", operation_id = "getRunValue", tag = "runs",
    params(("id" = String, Path, description = "The run"), ("event" = u64, Path, description = "The event that holds it"), ValueQuery),
    responses((status = 200, description = "The value", body = rival_core::Value),
        (status = 404, description = "There is no such run, or the event holds no value")))]
pub(crate) async fn read(
    State(app): State<AppState>,
    Extension(room): Extension<ByteQuota>,
    PathParams((id, event)): PathParams<(String, u64)>,
    QueryParams(query): QueryParams<ValueQuery>,
) -> Result<Response, HttpProblem> {
    let field = match query.field {
        FieldParam::Value => ValueField::Value,
        FieldParam::State => ValueField::State,
    };
    let pieces = app.engine.value_in_pieces(&RunId::from(id), Seq(event), field).await?;
    let pieces = pieces.map(|piece| piece.map(|piece| Bytes::copy_from_slice(piece.as_str().as_bytes())));
    Ok(in_pieces(pieces.boxed(), room))
}

/// An answer that is sent as it is read, a piece at a time. A client that does not read holds one piece.
pub(crate) fn in_pieces(pieces: BoxStream<'static, Result<Bytes, RunError>>, room: ByteQuota) -> Response {
    let sending = (pieces, room, None::<BytePermit>);
    let sent = futures::stream::unfold(sending, |(mut pieces, room, before)| async move {
        // It is asked for when the one before has been sent.
        drop(before);
        let piece = pieces.next().await?;
        let cargo = match &piece {
            Ok(piece) => room.take(piece.len()).await,
            Err(error) => {
                tracing::warn!(%error, "an answer breaks off");
                None
            }
        };
        Some((piece, (pieces, room, cargo)))
    });
    // What compresses it asks once more after its end.
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(sent.fuse())).into_response()
}
