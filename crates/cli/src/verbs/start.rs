//! Starting runs and waiting for them: `run`, `wait`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use axum::http::StatusCode;
use rival::{RunId, RunStatus, Value};
use rival_api::{
    ExplanationReply, RunOutcome, RunStatusReply, RunView, StartRun, WorkflowDetail, duration, path_segment,
};
use uuid::Uuid;

use super::{VerbContext, each, expand, watch};
use crate::args;
use crate::client::{ApiAnswer, ApiClient, OfflineNeed};
use crate::exit::{self, ExitError, ServerSilence};
use crate::failure::below;
use crate::out::{DataOutput, OutputFormat, clean, note, pretty};
use crate::sample::sample;
use crate::screen::LiveScreen;
use crate::style::TextStyle;
use crate::workflow_files::note_stale;

/// How long one request waits; asked again, it waits on.
const LOOK: Duration = Duration::from_secs(60);
/// How long the request that starts a run waits for its end: a run that takes longer is named, so that it can be looked at
/// and sent signals meanwhile.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// What the command says when it has left a request in a store that no server runs yet.
pub(crate) const RECORDED: &str = "recorded; it is acted on when a server runs this store";

pub(crate) async fn run(context: &VerbContext, args: &args::RunArgs) -> Result<()> {
    let path = format!("/api/workflows/{}/runs", path_segment(&args.workflow));
    let input = match &args.input {
        Some(given) => super::json(given, "input").await?,
        None => Value::default(),
    };
    let body = StartRun {
        input,
        run_id: args.id.clone(),
        tags: args.tags.clone(),
        timeout_ms: args.timeout.map(|timeout| u64::try_from(timeout.as_millis())).transpose()?,
        max_retries: args.retries,
    };
    let Some(time) = args.wait else { return leave(context, &path, &body).await };
    let screen = live_screen(context);
    if time.is_none() && screen.is_none() {
        return run_to_its_end(context, &path, body).await;
    }
    let (client, answer) = post(context, OfflineNeed::NewRunHere, &path, &body).await?;
    let run = answer?.read::<RunStatusReply>()?.run_id;
    name_what_is_stale(context, &client, &path).await;
    wait_and_print(context, &client, &run, time, true).await
}

/// Sends the request that starts a run. A refusal says what to type instead.
async fn post(
    context: &VerbContext,
    need: OfflineNeed,
    path: &str,
    body: &StartRun,
) -> Result<(Arc<ApiClient>, Result<ApiAnswer>)> {
    let (client, answer) = context.first_post(need, path, body).await?;
    let answer = match answer {
        Err(error) => {
            let error = context.explain_unknown(&client, error);
            Err(explain_input(&client, path, body.input.is_null(), error).await)
        }
        answer => answer,
    };
    Ok((client, answer))
}

/// Adds to an error about an input one that would do.
async fn explain_input(
    client: &ApiClient,
    path: &str,
    is_absent: bool,
    error: anyhow::Error,
) -> anyhow::Error {
    let failed = match error.downcast::<ExitError>() {
        Ok(failed) if failed.code.as_deref() == Some("invalid_input") => failed,
        Ok(other) => return other.into(),
        Err(other) => return other,
    };
    // Without the schema, the hint of the refusal stays.
    let Some(WorkflowDetail { summary, .. }) = workflow_of(client, path).await else { return failed.into() };
    let Some(schema) = &summary.input_schema else { return failed.into() };
    let absent = if is_absent { "no input was given; " } else { "" };
    let name = clean(&summary.name);
    let hint = format!("{absent}try `rival run {name} --input '{}'`", clean(&sample(schema).to_string()));
    failed.hint(format!("{hint}; `rival workflows {name}` shows what it takes")).into()
}

/// The workflow whose runs a path is about.
async fn workflow_of(client: &ApiClient, path: &str) -> Option<WorkflowDetail> {
    let workflow = path.rsplit_once("/runs").map_or(path, |(workflow, _)| workflow);
    client.get(workflow).await.ok()?.read().ok()
}

/// Says so if the run has an older version of its workflow than the file: it is not what its author has just written.
async fn name_what_is_stale(context: &VerbContext, client: &ApiClient, path: &str) {
    // Without a server, files are read now, and one that is broken has no workflow.
    if context.out.format != OutputFormat::Table || !client.is_served() {
        return;
    }
    if let Some(WorkflowDetail { summary, problems, .. }) = workflow_of(client, path).await {
        note_stale(&summary.name, &problems, TextStyle::of_stderr());
    }
}

/// Waits for a run that has just begun, and prints how it ended.
pub(super) async fn wait_and_print(
    context: &VerbContext,
    client: &ApiClient,
    run: &RunId,
    time: Option<Duration>,
    alone: bool,
) -> Result<()> {
    announce(&context.out, run);
    let outcome = wait_for(client, run.as_str(), time, live_screen(context)).await?;
    print_last(context, client, outcome, time, alone).await
}

/// Prints how a run ended. One that failed and is retried by itself goes on as that run.
async fn print_last(
    context: &VerbContext,
    client: &ApiClient,
    mut text: String,
    time: Option<Duration>,
    alone: bool,
) -> Result<()> {
    while let Some(next) = serde_json::from_str::<RunOutcome>(&text)?.retried_as {
        note(format_args!("it failed; run {next} goes on in its place"));
        text = wait_for(client, next.as_str(), time, live_screen(context)).await?;
    }
    print(&context.out, &text, alone)
}

/// Starts a run, and says how to see what becomes of it.
async fn leave(context: &VerbContext, path: &str, body: &StartRun) -> Result<()> {
    let (client, answer) = post(context, OfflineNeed::NewRun, path, body).await?;
    let answer = answer?;
    let started: RunStatusReply = answer.read()?;
    name_what_is_stale(context, &client, path).await;
    let out = &context.out;
    match out.format {
        OutputFormat::Json => out.json(&answer.text)?,
        OutputFormat::Table | OutputFormat::Ids => out.line(&started.run_id)?,
    }
    if client.is_passive() {
        note(RECORDED);
    } else if out.format == OutputFormat::Table {
        note(format_args!("{}; `rival watch {}` shows what it does", started.status, started.run_id));
    }
    Ok(())
}

/// Starts a run and waits for its end, with one request if that is soon enough.
async fn run_to_its_end(context: &VerbContext, path: &str, body: StartRun) -> Result<()> {
    // Known before the server tells: should the connection break off, this is the run to wait for.
    let id = body.run_id.unwrap_or_else(|| Uuid::now_v7().to_string());
    let body = StartRun { run_id: Some(id.clone()), ..body };
    let path = format!("{path}?wait={}", duration::show(FIRST_LOOK));
    let (client, answer) = post(context, OfflineNeed::NewRunHere, &path, &body).await?;
    let answer = match answer {
        Ok(answer) => Some(answer),
        Err(error) if exit::silence(&error) == Some(ServerSilence::Lost) => None,
        Err(error) => return Err(error),
    };
    if answer.is_some() {
        name_what_is_stale(context, &client, &path).await;
    }
    announce(&context.out, &RunId::from(id.as_str()));
    let outcome = match answer {
        Some(ended) if ended.status == StatusCode::OK => ended.text,
        Some(_) => {
            name_awaited_signal(context, &client, &id).await;
            outcome_of(&client, &id, None).await?
        }
        None => outcome_of(&client, &id, None).await?,
    };
    print_last(context, &client, outcome, None, true).await
}

/// Says so if a run that has not ended soon waits for a signal: without one it may never end.
async fn name_awaited_signal(context: &VerbContext, client: &ApiClient, run: &str) {
    // It is a help, not what was asked for.
    let explained = client.get(&format!("/api/runs/{}/explain", path_segment(run))).await;
    let Ok(Ok(reply)) = explained.map(|answer| answer.read::<ExplanationReply>()) else { return };
    if context.out.format == OutputFormat::Table && reply.explanation.contains(" for the signal ") {
        note(clean(&reply.explanation));
    }
}

fn announce(out: &DataOutput, run: &RunId) {
    if out.format == OutputFormat::Table {
        note(format_args!("run {run}"));
    }
}

/// Beside the data, if a person looks at it.
fn live_screen(context: &VerbContext) -> Option<LiveScreen> {
    LiveScreen::on_stderr().filter(|_| context.out.format == OutputFormat::Table)
}

pub(crate) async fn wait(context: &VerbContext, args: &args::WaitArgs) -> Result<()> {
    let client = context.client(OfflineNeed::Store).await?;
    let runs = expand(&args.runs.runs).await?;
    let alone = runs.len() == 1;
    each(&context.out, &runs, async |run| {
        if client.is_passive() {
            ended(&client, run).await?;
        }
        let outcome = wait_for(&client, run, args.timeout, live_screen(context)).await?;
        print_last(context, &client, outcome, args.timeout, alone).await
    })
    .await
}

/// Without a server nothing ends: only a run that has can be waited for.
async fn ended(client: &ApiClient, run: &str) -> Result<()> {
    let run: RunView = client.get(&format!("/api/runs/{}", path_segment(run))).await?.read()?;
    if run.status.is_terminal() {
        return Ok(());
    }
    let message = format!("run `{}` is {}, and no server runs this store", run.run_id, run.status);
    Err(ExitError::error(message).hint("start one with `rival serve` or `rival dev`, and wait again").into())
}

/// How a run ended, as the API answers it. Meanwhile draws the run's steps, if there is a screen.
async fn wait_for(
    client: &ApiClient,
    run: &str,
    time: Option<Duration>,
    screen: Option<LiveScreen>,
) -> Result<String> {
    let deadline = time.map(|time| Instant::now() + time);
    let waiting = outcome_of(client, run, deadline);
    let Some(screen) = screen else { return waiting.await };
    let watching = watch::watch_screen(client, run, screen);
    if time.is_none() {
        // The picture is complete, or could not be drawn: the outcome tells.
        let _ = watching.await;
        return waiting.await;
    }
    // Only a wait can say, when the time is up, what the run waits for.
    tokio::pin!(waiting, watching);
    tokio::select! {
        // The picture is complete, or could not be drawn: the outcome tells.
        _ = &mut watching => waiting.await,
        outcome = &mut waiting => {
            if outcome.is_ok() {
                // The run has ended: the last picture shows it.
                let _ = watching.await;
            }
            outcome
        }
    }
}

/// Also when the server is started again meanwhile: a run outlives it.
async fn outcome_of(client: &ApiClient, run: &str, deadline: Option<Instant>) -> Result<String> {
    let mut tries = 0;
    loop {
        let left = deadline.map_or(LOOK, |deadline| deadline.saturating_duration_since(Instant::now()));
        let ms = left.min(LOOK).as_millis();
        match client.get(&format!("/api/runs/{}/wait?timeout={ms}ms", path_segment(run))).await {
            Ok(answer) => return Ok(answer.text),
            Err(error) if is_timeout(&error) && (left > LOOK || deadline.is_none()) => tries = 0,
            Err(error) if watch::refused(&error) || client.is_passive() || left.is_zero() => {
                return Err(error);
            }
            Err(_) => watch::try_again(&mut tries).await?,
        }
    }
}

fn is_timeout(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ExitError>().is_some_and(|failed| failed.code.as_deref() == Some("wait_timeout"))
}

/// Prints how a run ended. One that did not complete is an error.
fn print(out: &DataOutput, text: &str, alone: bool) -> Result<()> {
    let outcome: RunOutcome = serde_json::from_str(text)?;
    let output = outcome.output.as_ref().map(|output| output.as_json());
    match out.format {
        OutputFormat::Json => out.json(text)?,
        OutputFormat::Ids => out.line(&outcome.run_id)?,
        OutputFormat::Table if alone => output.map_or(Ok(()), |output| out.line(pretty(output)))?,
        OutputFormat::Table => {
            let status = out.style.status(outcome.status.word());
            out.line(
                format_args!("{}  {status}  {}", outcome.run_id, output.unwrap_or_default())
                    .to_string()
                    .trim_end(),
            )?;
        }
    }
    if outcome.status == RunStatus::Completed { Ok(()) } else { Err(not_completed(&outcome).into()) }
}

/// Tells how a run that has ended did so: one that did not complete is an error.
pub(crate) async fn conclude(client: &ApiClient, run: &str) -> Result<()> {
    let outcome: RunOutcome =
        client.get(&format!("/api/runs/{}/wait?timeout=10s", path_segment(run))).await?.read()?;
    if outcome.status == RunStatus::Completed { Ok(()) } else { Err(not_completed(&outcome).into()) }
}

/// What a failed run is answered with. Where it goes on depends on what was undone.
pub(super) fn retry_hint(run: &RunId) -> String {
    format!("`rival retry {run}` tries again; steps that completed and were not undone are kept")
}

fn not_completed(outcome: &RunOutcome) -> ExitError {
    let RunOutcome { run_id, status, error, failed_step, reason, retried_as, .. } = outcome;
    let at = failed_step.as_ref().map_or_else(String::new, |at| format!(" at `{}`", at.path));
    let why = match (error, reason) {
        (Some(error), _) => format!(": {} ({})", error.sentence(), error.code),
        (None, Some(reason)) => format!(": {reason}"),
        (None, None) => String::new(),
    };
    let was = if error.is_some() { "" } else { "was " };
    let source = error.as_ref().map_or_else(String::new, |error| below(error, TextStyle::of_stderr()));
    let failed = ExitError::error(clean(&format!("run `{run_id}` {was}{status}{at}{why}")) + &source);
    match retried_as {
        Some(next) => failed.hint(format!("run `{next}` goes on in its place")),
        None => failed.hint(retry_hint(run_id)),
    }
}
