//! A client that follows a run, over as many servers as the run lives through.

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use reqwest::Response;
use rival::RunId;

use crate::http::ServerApi;
use crate::ledger::{ClientAck, LedgerFile, LedgerFrame};

/// Follows a run until the server says that there is nothing more to come. Gives how often it came back for more.
pub(crate) async fn follow(
    api: &ServerApi,
    acks: &LedgerFile<ClientAck>,
    run: RunId,
    follower: u64,
) -> Result<u64> {
    let path = format!("/api/runs/{run}/stream");
    let (mut last, mut returned) = (0, 0);
    loop {
        let Some(response) = api.open(&path, last).await? else { continue };
        match response.status().as_u16() {
            200 => {
                returned += u64::from(last > 0);
                read(response, |frame| {
                    last = frame.seq.0;
                    Ok(acks.write(&ClientAck::Streamed { run: run.clone(), follower, frame })?)
                })
                .await?;
            }
            204 => {
                acks.write(&ClientAck::StreamEnded { run, follower })?;
                return Ok(returned);
            }
            other => bail!("following `{run}` was answered with {other}"),
        }
    }
}

/// Reads whole frames until the stream ends, in whatever way.
async fn read(response: Response, mut heard: impl FnMut(LedgerFrame) -> Result<()>) -> Result<()> {
    let mut chunks = response.bytes_stream();
    let mut text = Vec::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        text.extend_from_slice(&chunk);
        while let Some(end) = text.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = text.drain(..end + 2).collect();
            if let Some(frame) = parse(std::str::from_utf8(&frame)?)? {
                heard(frame)?;
            }
        }
    }
    Ok(())
}

/// A frame, unless it is only a comment.
fn parse(text: &str) -> Result<Option<LedgerFrame>> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let Some(data) = field("data") else { return Ok(None) };
    let frame: LedgerFrame = serde_json::from_str(data)?;
    let id = field("id").context("a frame without an id")?;
    let agrees = id == frame.seq.0.to_string() && field("event") == Some(frame.r#type.as_str());
    if agrees { Ok(Some(frame)) } else { bail!("a frame says two things: {text}") }
}
