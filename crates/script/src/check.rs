//! Input that zod judges, before a run exists.

use std::sync::Arc;
use std::time::Duration;

use rival_core::Value;
use rival_engine::{CheckError, InputCheck, Violation, inexact_number};
use rival_script_host::frame::ToHost;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::HostCallError;
use crate::function::{ScriptTarget, unsafe_number};
use crate::host::CallLoss;
use crate::realm::name_of;

/// The zod schema of a workflow.
#[derive(Debug)]
pub(crate) struct ZodCheck(pub(crate) Arc<ScriptTarget>);

/// How long a schema may take: the caller that starts a run waits for it.
const LIMIT: Duration = Duration::from_secs(5);

/// What zod says: what it made of the input, or what is wrong with it.
#[derive(Deserialize)]
struct ZodVerdict {
    /// Absent if it made nothing of it, as of an optional input that was not given.
    value: Option<Box<RawValue>>,
    #[serde(default)]
    issues: Vec<Issue>,
}

#[derive(Deserialize)]
struct Issue {
    path: Vec<serde_json::Value>,
    message: String,
}

#[async_trait::async_trait]
impl InputCheck for ZodCheck {
    async fn check(&self, input: Value) -> Result<Value, CheckError> {
        if let Some(inexact) = inexact_number(input.as_json()) {
            let message = unsafe_number(&inexact, "the input").message;
            return Err(CheckError::Refused(vec![Violation { path: inexact.pointer, message }]));
        }
        // A host that dies meanwhile says nothing about the input.
        for _ in 0..3 {
            match self.ask(&input).await {
                Ok(judged) => return conclude(judged),
                Err(HostCallError::Lost(CallLoss::Stuck)) => {
                    let message = format!("the schema did not come to an end within {} s", LIMIT.as_secs());
                    return Err(CheckError::Unavailable(message));
                }
                Err(HostCallError::Lost(CallLoss::Crash | CallLoss::Bystander)) => {}
                Err(HostCallError::Failed(error)) => {
                    let message = format!("the schema of the input failed: {}", error.message);
                    return Err(CheckError::Refused(vec![Violation { path: String::new(), message }]));
                }
            }
        }
        Err(CheckError::Unavailable("its script host ended again and again".to_owned()))
    }
}

impl ZodCheck {
    async fn ask(&self, input: &Value) -> Result<ZodVerdict, HostCallError> {
        let target = &self.0;
        let input = RawValue::from_string(input.as_json().to_owned()).expect("a value is JSON");
        let frame = |id| ToHost::Parse {
            id,
            realm: target.realm.id(),
            file: name_of(&target.file),
            workflow: target.workflow.clone(),
            input,
        };
        let call = target.begin(frame).await;
        let call = call.map_err(|error| HostCallError::Failed(crate::ops::refusal(error.to_string())))?;
        let Ok(answer) = tokio::time::timeout(LIMIT, call.end()).await else {
            return Err(HostCallError::Lost(CallLoss::Stuck));
        };
        let answer = answer?;
        serde_json::from_str(answer.get())
            .map_err(|error| HostCallError::Failed(crate::ops::refusal(error.to_string())))
    }
}

fn conclude(ZodVerdict { value, issues }: ZodVerdict) -> Result<Value, CheckError> {
    if issues.is_empty() {
        return Ok(value.map_or_else(Value::null, Value::from));
    }
    let violation = |issue: Issue| Violation { path: pointer(&issue.path), message: issue.message };
    Err(CheckError::Refused(issues.into_iter().map(violation).collect()))
}

/// A path of zod as a JSON pointer.
fn pointer(path: &[serde_json::Value]) -> String {
    let segment = |at: &serde_json::Value| match at {
        serde_json::Value::String(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        other => format!("/{other}"),
    };
    path.iter().map(segment).collect()
}
