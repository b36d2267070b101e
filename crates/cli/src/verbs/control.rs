//! Controlling runs: `cancel`, `kill`, `pause`, `resume`, `retry`, `fork`, `signal`.

use anyhow::Result;
use rival_api::{EmptyBody, ForkBody, ReasonBody, RunStatusReply, SignalBody, path_segment};

use super::start::RECORDED;
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
fn asked(out: &DataOutput, client: &ApiClient, answer: &ApiAnswer) -> Result<()> {
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

pub(crate) async fn retry(context: &VerbContext, args: &args::RunsArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Workflows).await?;
    each(&context.out, &args.runs, async |run| {
        let answer = client.post(&format!("/api/runs/{}/retry", path_segment(run)), &EmptyBody {}).await?;
        began(&context.out, &client, &answer)
    })
    .await
}

pub(crate) async fn fork(context: &VerbContext, args: &args::ForkArgs) -> Result<()> {
    let input = super::optional_json(args.input.as_deref(), "input").await?;
    let body = ForkBody { from: args.from.clone(), input, run_id: args.id.clone() };
    let client = context.client(OfflineNeed::Workflows).await?;
    let answer = client.post(&format!("/api/runs/{}/fork", path_segment(&args.run)), &body).await?;
    began(&context.out, &client, &answer)
}

/// Says which run began.
fn began(out: &DataOutput, client: &ApiClient, answer: &ApiAnswer) -> Result<()> {
    let reply: RunStatusReply = answer.read()?;
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

pub(crate) async fn signal(context: &VerbContext, args: &args::SignalArgs) -> Result<()> {
    let payload = super::optional_json(args.payload.as_deref(), "payload").await?.unwrap_or_default();
    let body = SignalBody { payload, id: args.id.clone() };
    // Loads the workflows too, so that the payload is checked even if no server runs this store.
    let client = context.client(OfflineNeed::Workflows).await?;
    let path = format!("/api/runs/{}/signals/{}", path_segment(&args.run), path_segment(&args.name));
    let answer = client.post(&path, &body).await?;
    asked(&context.out, &client, &answer)
}
