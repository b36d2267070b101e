//! Tickets for live streams.

use axum::http::StatusCode;
use axum::{Extension, Json as Answer};
use rival_api::{EmptyBody, StreamTicketReply};
use rival_engine::Clock;

use super::extract::JsonBody;
use crate::problem::HttpProblem;
use crate::tickets::{TICKET_LIFE, TicketDesk};

/// Get a ticket for a stream
///
/// For browsers, whose `EventSource` sends no headers: `?ticket=` in the address of a stream stands for the token that this
/// request has. A ticket opens one stream, within 30 seconds. To open it again, get another one, and say with `lastEventId`
/// where to go on.
#[utoipa::path(post, path = "/api/stream/tickets", operation_id = "createStreamTicket", tag = "live",
    request_body = Option<EmptyBody>,
    responses((status = 201, description = "The ticket", body = StreamTicketReply)))]
pub(crate) async fn create(
    Extension(desk): Extension<TicketDesk>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<(StatusCode, Answer<StreamTicketReply>), HttpProblem> {
    let life = u64::try_from(TICKET_LIFE.as_millis()).expect("it is short");
    let expires_at = Clock::System.now().plus_ms(life);
    Ok((StatusCode::CREATED, Answer(StreamTicketReply { ticket: desk.issue()?, expires_at })))
}
