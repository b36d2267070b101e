//! Looking at runs: `show_run`, `explain_run`, `list_runs`.

use rival_api::path_segment;
use rival_core::Time;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{anything, list, number, text};
use crate::api::Api;
use crate::failure::ToolFailure;
use crate::shown::{RESULT_MAX_BYTES, fitting, shown};
use crate::spec::{ToolAnswer, ToolEffect, ToolSpec};

/// How much of one value of a run is shown beside all the others.
const VALUE_MAX_BYTES: usize = 6 << 10;
const STEP_VALUE_MAX_BYTES: usize = 1 << 10;
/// How much the steps of a run may take in all.
const STEPS_MAX_BYTES: usize = 24 << 10;
const RUNS_USUAL: u32 = 20;
const RUNS_MAX: u32 = 100;

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![show_run(), explain_run(), list_runs()]
}

/// The address of a run, or of what is below it.
pub(crate) fn run_path(run: &str, rest: &str) -> String {
    format!("/api/runs/{}{rest}", path_segment(run))
}

/// What a run waits for, in a sentence.
pub(crate) async fn explanation(api: &Api, run: &str) -> Result<String, ToolFailure> {
    let reply = api.get(&run_path(run, "/explain")).await?;
    Ok(reply["explanation"].as_str().unwrap_or_default().to_owned())
}

/// A run as lists show it.
pub(crate) async fn standing(api: &Api, run: &str) -> Result<Value, ToolFailure> {
    let found = api.get(&format!("/api/runs?limit=10&idPrefix={}", path_segment(run))).await?;
    let mut runs = found["items"].as_array().into_iter().flatten();
    let found = runs.find(|found| found["runId"] == run).cloned();
    found.ok_or_else(|| ToolFailure::new("run_not_found", format!("run `{run}` not found")))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OfRun {
    /// The run.
    pub(crate) run_id: String,
}

fn explain_run() -> ToolSpec {
    ToolSpec::new(
        ("explain_run", "Explain a run"),
        "Says in one sentence what a run is doing or waiting for, or how it ended.",
        ToolEffect::Reads,
        &json!({"runId": text("the run"), "explanation": text("in one sentence")}),
        |call, given: OfRun| async move {
            let explanation = explanation(&call.api, &given.run_id).await?;
            Ok(json!({"runId": given.run_id, "explanation": explanation}))
        },
    )
}

fn show_run() -> ToolSpec {
    let output = json!({
        "runId": text("the run"), "workflow": text("its workflow"), "status": text("where it stands"),
        "startedAt": text("when it was started"), "endedAt": text("when it ended"),
        "input": anything("what it was given"), "output": anything("the result of its last step"),
        "failure": anything("why it failed"), "failedStep": anything("where it failed"),
        "note": text("in one line why it failed or is blocked"), "reason": text("why it was cancelled"),
        "retriedAs": text("the run that goes on in its place"), "source": text("the run that it goes on from"),
        "parent": text("the run that started it as a child"), "triggers": anything("what its completion started, trigger by trigger"),
        "triggerStatus": text("what became of its triggers together"),
        "triggerRun": text("the run that starts what it triggers; retry_run tries again what failed"),
        "trigger": anything("the trigger that started it"),
        "tags": list("words to find it by"),
        "steps": list("the steps that have begun, in plan order: path, kind, status, result, error, attempts"),
        "omittedSteps": number("how many steps are left out; watch_run tells all of them"),
    });
    ToolSpec::new(
        ("show_run", "Show a run"),
        "Shows a run: its status, input, output, and each step with its result or error. Large values are cut: `$cut` says how \
         to read the rest with read_value.",
        ToolEffect::Reads,
        &output,
        |call, given: OfRun| async move {
            Ok(view(&call.api.get(&run_path(&given.run_id, "")).await?, &given.run_id))
        },
    )
}

fn view(run: &Value, id: &str) -> Value {
    let mut answer = Map::new();
    let mut say = |key: &str, value: Value| {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            answer.insert(key.to_owned(), value);
        }
    };
    let value = |what: &str| {
        shown(&run[what], VALUE_MAX_BYTES, &format!("read_value with runId `{id}` and what `{what}`"))
    };
    for key in [
        "runId",
        "workflow",
        "status",
        "failedStep",
        "note",
        "reason",
        "retriedAs",
        "source",
        "parent",
        "tags",
        "triggers",
        "triggerStatus",
        "triggerRun",
        "trigger",
    ] {
        say(key, run[key].clone());
    }
    say("startedAt", moment(&run["createdAt"]));
    say("endedAt", moment(&run["endedAt"]));
    say("input", value("input"));
    say("output", value("output"));
    say("failure", value("error"));
    let steps = run["steps"].as_array().into_iter().flatten().map(|each| step(each, id)).collect();
    let (steps, left) = fitting(first_those_that_matter(steps), STEPS_MAX_BYTES);
    let left = u64::try_from(left).unwrap_or(u64::MAX) + run["omittedSteps"].as_u64().unwrap_or(0);
    say("steps", steps.into());
    say("omittedSteps", if left == 0 { Value::Null } else { left.into() });
    answer.into()
}

/// In plan order if all of them fit; else those that failed or are not through come first.
fn first_those_that_matter(mut steps: Vec<Value>) -> Vec<Value> {
    let bytes: usize = steps.iter().map(|step| step.to_string().len()).sum();
    if bytes > STEPS_MAX_BYTES {
        steps.sort_by_key(|step| matches!(step["status"].as_str(), Some("completed" | "skipped")));
    }
    steps
}

fn step(step: &Value, run: &str) -> Value {
    let path = step["path"].as_str().unwrap_or_default();
    let value = |key: &str, what: &str| {
        let read_with = format!("read_value with runId `{run}`, step `{path}` and what `{what}`");
        shown(&step[key], STEP_VALUE_MAX_BYTES, &read_with)
    };
    let mut answer = json!({"path": path, "kind": step["kind"], "status": step["status"]});
    let mut say = |key: &str, value: Value| {
        if !value.is_null() {
            answer[key] = value;
        }
    };
    say("result", value("result", "result"));
    say("state", Some(value("state", "state")).filter(|state| *state != json!({})).unwrap_or_default());
    say("error", value("error", "error"));
    say("undo", step["undo"].clone());
    say("wakesAt", moment(&step["wakeAt"]));
    say("durationMs", step["duration"].clone());
    say("retries", Some(step["retryCount"].clone()).filter(|count| *count != 0).unwrap_or_default());
    answer
}

/// A time as people write it.
pub(crate) fn moment(ms: &Value) -> Value {
    ms.as_i64().map_or(Value::Null, |ms| Time(ms).to_string().into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ListRuns {
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only with one of these statuses: queued, running, waiting, paused, blocked, cancelling, compensating, completed,
    /// failed, cancelled.
    #[serde(default)]
    status: Vec<String>,
    /// Only with this tag.
    tag: Option<String>,
    /// Only started at or after this time: RFC 3339.
    from: Option<String>,
    /// Only started before this time.
    to: Option<String>,
    /// Only where a field of the input has this value: `customer.id=42`.
    input: Option<String>,
    /// Only children of this run.
    parent: Option<String>,
    /// Only retries and forks of this run.
    source: Option<String>,
    /// How many at most: 20 if not said, up to 100.
    limit: Option<u32>,
    /// Where the last page ended: what `cursor` of the last answer said.
    cursor: Option<String>,
}

fn list_runs() -> ToolSpec {
    let output = json!({
        "runs": list("the newest first: runId, workflow, status, startedAt, endedAt, note"),
        "cursor": text("there may be more: ask again with this"),
    });
    ToolSpec::new(
        ("list_runs", "List runs"),
        "Lists runs that match every filter, the newest first.",
        ToolEffect::Reads,
        &output,
        |call, given: ListRuns| async move { listed(&call.api, &given).await },
    )
}

async fn listed(api: &Api, given: &ListRuns) -> ToolAnswer {
    let limit = given.limit.unwrap_or(RUNS_USUAL).clamp(1, RUNS_MAX);
    let status = (!given.status.is_empty()).then(|| given.status.join(","));
    let filters = [
        ("workflow", &given.workflow),
        ("status", &status),
        ("tag", &given.tag),
        ("from", &given.from),
        ("to", &given.to),
        ("input", &given.input),
        ("parent", &given.parent),
        ("source", &given.source),
        ("cursor", &given.cursor),
    ];
    let set = filters.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
    let query: String = set.map(|(key, value)| format!("&{key}={}", path_segment(value))).collect();
    let page = api.get(&format!("/api/runs?limit={limit}{query}")).await?;
    let runs = page["items"].as_array().into_iter().flatten().map(summary).collect();
    let (runs, left) = fitting(runs, RESULT_MAX_BYTES * 3 / 4);
    if left > 0 {
        let hint = format!("their tags and notes are large: ask for {} at most", runs.len());
        return Err(ToolFailure::arguments("so many runs do not fit into a result").hint(hint));
    }
    let mut answer = json!({ "runs": runs });
    if !page["cursor"].is_null() {
        answer["cursor"] = page["cursor"].clone();
    }
    Ok(answer)
}

fn summary(run: &Value) -> Value {
    let mut answer = json!({
        "runId": run["runId"], "workflow": run["workflow"], "status": run["status"], "startedAt": moment(&run["createdAt"]),
    });
    let others = [
        ("endedAt", moment(&run["endedAt"])),
        ("wakesAt", moment(&run["wakeAt"])),
        ("note", run["note"].clone()),
        ("parent", run["parent"].clone()),
        ("source", run["source"].clone()),
        ("tags", Some(run["tags"].clone()).filter(|tags| *tags != json!([])).unwrap_or_default()),
    ];
    for (key, value) in others {
        if !value.is_null() {
            answer[key] = value;
        }
    }
    answer
}
