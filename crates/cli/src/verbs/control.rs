//! Controlling runs: `cancel`, `kill`, `pause`, `resume`, `retry`, `fork`.

use std::time::Duration;

use anyhow::Result;
use rival_api::{EmptyBody, ForkBody, ReasonBody, RunStatusReply, path_segment};

use super::start::{self, RECORDED};
use super::{VerbContext, each};
use crate::args;
use crate::client::{ApiAnswer, ApiClient, OfflineNeed};
use crate::out::{DataOutput, OutputFormat, note};

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ControlRequest {
    Cancel,
    Kill,
    Pause,
    Resume,
}

impl ControlRequest {
    fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Resume => "resume",
        }
    }
}

/// Asks something of each run.
pub(crate) async fn ask(
    context: &VerbContext,
    ask: ControlRequest,
    runs: &[String],
    reason: Option<&str>,
) -> Result<()> {
    let client = context.client(OfflineNeed::Store).await?;
    let body = match reason {
        Some(reason) => serde_json::to_string(&ReasonBody { reason: reason.to_owned() })?,
        None => serde_json::to_string(&EmptyBody {})?,
    };
    each(&context.out, runs, async |run| {
        let answer = client
            .post_text(&format!("/api/runs/{}/{}", path_segment(run), ask.word()), body.clone())
            .await?;
        asked(&context.out, &client, &answer)
    })
    .await
}

/// Says where the run stands that was asked.
pub(crate) fn asked(out: &DataOutput, client: &ApiClient, answer: &ApiAnswer) -> Result<()> {
    let reply: RunStatusReply = answer.read()?;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Ids => out.line(&reply.run_id)?,
        OutputFormat::Table => {
            out.line(format_args!("{}  {}", reply.run_id, out.style.status(reply.status.word())))?;
        }
    }
    if client.is_passive() && !reply.status.is_terminal() {
        note(RECORDED);
    }
    Ok(())
}

pub(crate) async fn retry(context: &VerbContext, args: &args::RetryArgs) -> Result<()> {
    let client = context.client(need(args.wait)).await?;
    let alone = args.runs.runs.len() == 1;
    each(&context.out, &args.runs.runs, async |run| {
        let answer = client.post(&format!("/api/runs/{}/retry", path_segment(run)), &EmptyBody {}).await?;
        began(context, &client, &answer, args.wait, alone).await
    })
    .await
}

/// What is needed where no server runs: one that is waited for must be able to go on here.
fn need(wait: Option<Option<Duration>>) -> OfflineNeed {
    if wait.is_some() { OfflineNeed::Engine } else { OfflineNeed::Workflows }
}

pub(crate) async fn fork(context: &VerbContext, args: &args::ForkArgs) -> Result<()> {
    let input = super::optional_json(args.input.as_deref(), "input").await?;
    let body = ForkBody { from: args.from.clone(), input, run_id: args.id.clone() };
    let client = context.client(need(args.wait)).await?;
    let answer = client.post(&format!("/api/runs/{}/fork", path_segment(&args.run)), &body).await?;
    began(context, &client, &answer, args.wait, true).await
}

/// Says which run began, or how it ended if it is waited for.
async fn began(
    context: &VerbContext,
    client: &ApiClient,
    answer: &ApiAnswer,
    wait: Option<Option<Duration>>,
    alone: bool,
) -> Result<()> {
    let out = &context.out;
    let reply: RunStatusReply = answer.read()?;
    if let Some(time) = wait {
        return start::wait_and_print(context, client, &reply.run_id, time, alone).await;
    }
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Table | OutputFormat::Ids => out.line(&reply.run_id)?,
    }
    if client.is_passive() {
        note(RECORDED);
    } else if out.format == OutputFormat::Table {
        note(format_args!("{}; `rival watch {}` shows what it does", reply.status, reply.run_id));
    }
    Ok(())
}
