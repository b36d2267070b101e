//! Values that are too large to be shown whole: `read_value`.

use rival_core::Value as Recorded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::run_path;
use super::{number, text};
use crate::api::Api;
use crate::caller::{ApiRequest, UNREADABLE};
use crate::failure::ToolFailure;
use crate::shown::{omitted, part};
use crate::spec::{ToolAnswer, ToolEffect, ToolSpec};

/// How much of a value one call gives, if the client does not say, and at most.
const PART_USUAL: usize = 16_000;
const PART_MAX: usize = 40_000;

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![read_value()]
}

/// A value of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum ValueOf {
    Input,
    Output,
    Error,
    Result,
    State,
}

impl ValueOf {
    fn key(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Error => "error",
            Self::Result => "result",
            Self::State => "state",
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadValue {
    /// The run.
    run_id: String,
    /// Which value: input, output or error of the run; or result, state or error of a step.
    what: ValueOf,
    /// The step's path, as show_run says it. Needed for result and state.
    step: Option<String>,
    /// From which character of its JSON on.
    #[serde(default)]
    offset: usize,
    /// How many characters at most: 16,000 if not said, up to 40,000.
    max_chars: Option<usize>,
}

fn read_value() -> ToolSpec {
    let output = json!({
        "json": text("the part of the value's JSON that was asked for"),
        "offset": number("where it begins"),
        "nextOffset": number("there is more: ask again with this as `offset`"),
        "chars": number("how many characters the whole has"),
    });
    ToolSpec::new(
        ("read_value", "Read a value of a run"),
        "Reads an input, an output, a result, a state or an error whole, in parts: for values that other tools show as `$cut`.",
        ToolEffect::Reads,
        &output,
        |call, given: ReadValue| async move { read(&call.api, given).await },
    )
}

async fn read(api: &Api, given: ReadValue) -> ToolAnswer {
    let run = api.get(&run_path(&given.run_id, "")).await?;
    let holder = match &given.step {
        None => &run,
        Some(path) => {
            let mut steps = run["steps"].as_array().into_iter().flatten();
            let found = steps.find(|step| step["path"] == **path);
            found.ok_or_else(|| {
                ToolFailure::arguments(format!("the run has no step `{path}` that has begun"))
                    .hint("call show_run for the paths of its steps")
            })?
        }
    };
    let value = &holder[given.what.key()];
    let text = match omitted(value) {
        Some(left_out) => whole(api, &given, left_out).await?,
        None => value.to_string(),
    };
    let max = given.max_chars.unwrap_or(PART_USUAL).clamp(1, PART_MAX);
    let (json, next) = part(&text, given.offset, max);
    let mut answer = json!({"json": json, "offset": given.offset, "chars": text.chars().count()});
    if let Some(next) = next {
        answer["nextOffset"] = next.into();
    }
    Ok(answer)
}

/// A value that the API left out of its answer.
async fn whole(api: &Api, given: &ReadValue, left_out: &Value) -> Result<String, ToolFailure> {
    let event = left_out["event"].as_u64().ok_or_else(|| {
        let why = left_out["error"].as_str().unwrap_or("it is not at hand");
        ToolFailure::new(UNREADABLE, format!("this value cannot be read: {why}"))
    })?;
    let query = if given.what == ValueOf::State { "?field=state" } else { "" };
    let path = run_path(&given.run_id, &format!("/values/{event}{query}"));
    let request = ApiRequest::new(http::Method::GET, path);
    let value: Recorded = api.send(request).await?.read()?;
    Ok(value.as_json().to_owned())
}
