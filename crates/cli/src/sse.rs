//! Server-sent events, as a client reads them.

use anyhow::{Context, Result};
use axum::body::Body;
use http_body_util::BodyExt;
use rival_api::{SseMessage, SseReader};

/// A stream of events.
#[derive(Debug)]
pub(crate) struct SseStream {
    body: Body,
    reader: SseReader,
}

impl SseStream {
    pub(crate) fn new(body: Body) -> Self {
        Self { body, reader: SseReader::default() }
    }

    /// The next event; `None` when the server has ended the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<SseMessage>> {
        loop {
            if let Some(message) = self.reader.take() {
                return Ok(Some(message));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            if let Ok(data) = frame.context("the stream broke off")?.into_data() {
                self.reader.push(&data);
            }
        }
    }
}
