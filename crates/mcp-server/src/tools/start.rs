//! Starting runs and waiting for their ends: `run_workflow`, `wait_for_run`.

use std::time::Duration;

use http::StatusCode;
use rival_api::{StartRun, path_segment};
use rival_core::Value as Recorded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use super::runs::{explanation, run_path, standing};
use super::{anything, text, truth, wait_of};
use crate::failure::ToolFailure;
use crate::progress::telling;
use crate::shown::shown;
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

/// How much of an output or an error is shown.
const OUTPUT_MAX_BYTES: usize = 24 << 10;
const ERROR_MAX_BYTES: usize = 6 << 10;
/// How long a wait is if the client does not say.
const WAIT_USUAL_SECONDS: u64 = 25;
/// How long one request waits; asked again, it waits on. Clients of the API give a silent server up after a while.
const REQUEST_MAX: Duration = Duration::from_secs(50);

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![run_workflow(), wait_for_run()]
}

/// What is said of a run that is started or waited for.
pub(crate) fn outcome_schema() -> Value {
    json!({
        "runId": text("the run"),
        "workflow": text("its workflow"),
        "status": text("where it stands: queued, running, waiting, paused, blocked, cancelling, compensating, completed, failed, cancelled"),
        "ended": truth("whether it has ended"),
        "output": anything("the result of its last step, if it completed"),
        "failure": anything("why it failed: code, message and where in the source"),
        "failedStep": anything("the step that failed"),
        "reason": text("why it was cancelled"),
        "retriedAs": text("the run that goes on in its place"),
        "waitingFor": text("what it waits for, if it has not ended"),
        "next": text("what to do next"),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunWorkflow {
    /// The workflow's name.
    workflow: String,
    /// Its input; describe_workflow shows its schema.
    input: Option<Value>,
    /// Makes starting safe to repeat: the same key with the same input is the same run, not another one.
    idempotency_key: Option<String>,
    /// Wait so many seconds for its end (at most 300). Without it the run's id comes back at once.
    wait_seconds: Option<u64>,
    /// Words to find the run by.
    #[serde(default)]
    tags: Vec<String>,
    /// Fail the run if it is older than this.
    timeout_ms: Option<u64>,
    /// Start it again this often if it fails.
    max_retries: Option<u32>,
}

fn run_workflow() -> ToolSpec {
    ToolSpec::new(
        ("run_workflow", "Run a workflow"),
        "Starts a run of a workflow and returns its runId; the run goes on by itself and survives crashes. Then wait_for_run \
         gives its result, watch_run what happens in it. Give an idempotencyKey if you may have to repeat this call.",
        ToolEffect::Runs,
        &outcome_schema(),
        |call, given: RunWorkflow| async move {
            let start = StartRun {
                input: Recorded::from(given.input.unwrap_or_default()),
                run_id: None,
                tags: given.tags,
                timeout_ms: given.timeout_ms,
                max_retries: given.max_retries,
            };
            let wait = wait_of(given.wait_seconds, 0);
            started(&call, &given.workflow, start, given.idempotency_key, wait).await
        },
    )
}

/// Starts a run, and waits for its end for a while.
pub(crate) async fn started(
    call: &ToolCall,
    workflow: &str,
    mut start: StartRun,
    key: Option<String>,
    wait: Duration,
) -> ToolAnswer {
    let mut path = format!("/api/workflows/{}/runs", path_segment(workflow));
    let deadline = Instant::now() + wait;
    if !wait.is_zero() {
        path += &format!("?wait={}ms", wait.min(REQUEST_MAX).as_millis());
    }
    // Known before the server tells: if its answer is lost, this is the run to look for.
    let id = key.clone().unwrap_or_else(|| Uuid::now_v7().to_string());
    if key.is_none() {
        start.run_id = Some(id.clone());
    }
    let asked = telling(call, &id, wait, call.api.post(&path, key, &start)).await;
    let answer = asked.map_err(|failure| if_lost(failure, &id))?;
    let run = answer.json()?;
    if answer.status == StatusCode::OK {
        return Ok(ended(&run));
    }
    match run["runId"].as_str() {
        Some(id) if wait > REQUEST_MAX => waited(call, id.to_owned(), deadline).await,
        _ => Ok(under_way(call, &run).await),
    }
}

/// What to do if it is not known whether the run was started.
fn if_lost(failure: ToolFailure, id: &str) -> ToolFailure {
    if failure.code != crate::caller::LOST {
        return failure;
    }
    failure.hint(format!(
        "it is not known whether the run was started: call run_workflow again with idempotencyKey `{id}`, which starts it if \
         it was not"
    ))
}

/// A run that has not ended.
async fn under_way(call: &ToolCall, run: &Value) -> Value {
    let id = run["runId"].as_str().unwrap_or_default();
    let mut answer = json!({
        "runId": run["runId"], "status": run["status"], "ended": false,
        "next": "call wait_for_run for its result, or watch_run to see what happens in it",
    });
    // It is a help, not what was asked for.
    if let Ok(sentence) = explanation(&call.api, id).await {
        answer["waitingFor"] = sentence.into();
    }
    answer
}

/// A run's outcome, as the API says it.
fn ended(outcome: &Value) -> Value {
    let id = outcome["runId"].as_str().unwrap_or_default();
    let mut answer = Map::new();
    for key in ["runId", "workflow", "status", "failedStep", "reason", "retriedAs"] {
        if !outcome[key].is_null() {
            answer.insert(key.to_owned(), outcome[key].clone());
        }
    }
    answer.insert("ended".to_owned(), true.into());
    if outcome["status"] == "completed" {
        let read_with = format!("read_value with runId `{id}` and what `output`");
        answer.insert("output".to_owned(), shown(&outcome["output"], OUTPUT_MAX_BYTES, &read_with));
    }
    if !outcome["error"].is_null() {
        let read_with = format!("read_value with runId `{id}` and what `error`");
        answer.insert("failure".to_owned(), shown(&outcome["error"], ERROR_MAX_BYTES, &read_with));
        let next =
            "show_run says which steps completed; mend the cause, then retry_run goes on where it failed";
        answer.insert("next".to_owned(), next.into());
    }
    answer.into()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WaitForRun {
    /// The run.
    run_id: String,
    /// How long to wait: 25 seconds if not said, at most 300. Clients often give up after 60.
    wait_seconds: Option<u64>,
}

fn wait_for_run() -> ToolSpec {
    ToolSpec::new(
        ("wait_for_run", "Wait for a run"),
        "Waits for the end of a run, for a bounded time, and returns its output or why it failed. If it has not ended in time, \
         `ended` is false and `waitingFor` says in a sentence what it waits for: call this again, or send the signal that it \
         waits for with signal_run.",
        ToolEffect::Reads,
        &outcome_schema(),
        |call, given: WaitForRun| async move {
            let wait = wait_of(given.wait_seconds, WAIT_USUAL_SECONDS);
            waited(&call, given.run_id, Instant::now() + wait).await
        },
    )
}

async fn waited(call: &ToolCall, mut run: String, deadline: Instant) -> ToolAnswer {
    let wait = deadline.saturating_duration_since(Instant::now());
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let path = run_path(&run, &format!("/wait?timeout={}ms", left.min(REQUEST_MAX).as_millis()));
        let outcome = match telling(call, &run, wait, call.api.get(&path)).await {
            Ok(outcome) => outcome,
            Err(failure) if failure.code == "wait_timeout" && left > REQUEST_MAX => continue,
            Err(failure) if failure.code == "wait_timeout" => {
                return Ok(under_way(call, &standing(&call.api, &run).await?).await);
            }
            Err(failure) => return Err(failure),
        };
        match outcome["retriedAs"].as_str() {
            // It failed and is retried by itself: that run's end is what is waited for.
            Some(next) => next.clone_into(&mut run),
            None => return Ok(ended(&outcome)),
        }
    }
}
