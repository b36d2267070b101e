//! Steering runs: `signal_run`, `cancel_run`, `retry_run`.

use rival_api::{EmptyBody, ReasonBody, SignalBody, path_segment};
use rival_core::Value as Recorded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::run_path;
use super::text;
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![signal_run(), cancel_run(), retry_run()]
}

fn acted_schema() -> Value {
    json!({
        "runId": text("the run; for retry_run the new one"), "status": text("where it stands"),
        "signalId": text("the signal's id: sending it again under this idempotencyKey is harmless"),
        "next": text("what to do next"),
    })
}

/// What the API says of a run that acted on a request, and what to do next.
fn acted(mut reply: Value, next: &str) -> Value {
    reply["next"] = next.into();
    reply
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignalRun {
    /// The run.
    run_id: String,
    /// The signal's name: explain_run says which one the run waits for.
    signal: String,
    /// What it says; describe_workflow shows its schema.
    payload: Option<Value>,
    /// Makes sending safe to repeat: the run takes a signal with this key once.
    idempotency_key: Option<String>,
}

fn signal_run() -> ToolSpec {
    ToolSpec::new(
        ("signal_run", "Send a signal to a run"),
        "Sends a named message to a run that waits for it, such as an approval. One that the run does not wait for yet is kept.",
        ToolEffect::Adds,
        &acted_schema(),
        |call, given: SignalRun| async move { signalled(&call, given).await },
    )
}

async fn signalled(call: &ToolCall, given: SignalRun) -> ToolAnswer {
    let path = run_path(&given.run_id, &format!("/signals/{}", path_segment(&given.signal)));
    let body = SignalBody { payload: Recorded::from(given.payload.unwrap_or_default()), id: None };
    let reply = call.api.post(&path, given.idempotency_key, &body).await?.json()?;
    Ok(acted(reply, "call wait_for_run or watch_run to see what comes of it"))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CancelRun {
    /// The run.
    run_id: String,
    /// Why, for those who look at the run later.
    reason: Option<String>,
}

fn cancel_run() -> ToolSpec {
    ToolSpec::new(
        ("cancel_run", "Cancel a run"),
        "Asks a run to stop. What it did is undone where the workflow says how, so it may be `cancelling` for a while.",
        ToolEffect::Changes,
        &acted_schema(),
        |call, given: CancelRun| async move {
            let body = ReasonBody { reason: given.reason.unwrap_or_default() };
            let reply = call.api.post(&run_path(&given.run_id, "/cancel"), None, &body).await?.json()?;
            Ok(acted(reply, "call wait_for_run to know that it has ended"))
        },
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RetryRun {
    /// A run that failed or was cancelled.
    run_id: String,
    /// Makes retrying safe to repeat: the same key is the same new run.
    idempotency_key: Option<String>,
}

fn retry_run() -> ToolSpec {
    ToolSpec::new(
        ("retry_run", "Retry a run"),
        "Starts a new run from where a failed or cancelled one stopped: steps that completed and were not undone are kept. \
         Returns the new run's id.",
        ToolEffect::Runs,
        &acted_schema(),
        |call, given: RetryRun| async move {
            let path = run_path(&given.run_id, "/retry");
            let reply = call.api.post(&path, given.idempotency_key, &EmptyBody {}).await?.json()?;
            Ok(acted(reply, "call wait_for_run with this new runId"))
        },
    )
}
