//! Input that zod judges, before a run exists.

use std::sync::Arc;

use rival_core::Value;
use rival_engine::{CheckError, InputCheck, Violation};
use rival_host::frame::ToHost;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::Unanswered;
use crate::function::Place;
use crate::realm::name_of;

/// The zod schema of a workflow.
#[derive(Debug)]
pub(crate) struct ZodCheck(pub(crate) Arc<Place>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Judged {
    Value(Box<RawValue>),
    Issues(Vec<Issue>),
}

#[derive(Deserialize)]
struct Issue {
    path: Vec<serde_json::Value>,
    message: String,
}

#[async_trait::async_trait]
impl InputCheck for ZodCheck {
    async fn check(&self, input: Value) -> Result<Value, CheckError> {
        // A host that dies meanwhile says nothing about the input.
        for _ in 0..3 {
            match self.ask(&input).await {
                Ok(judged) => return conclude(judged),
                Err(Unanswered::Lost(_)) => {}
                Err(Unanswered::Failed(error)) => {
                    let message = format!("the schema of the input failed: {}", error.message);
                    return Err(CheckError::Refused(vec![Violation { path: String::new(), message }]));
                }
            }
        }
        Err(CheckError::Unavailable("its script host ended again and again".to_owned()))
    }
}

impl ZodCheck {
    async fn ask(&self, input: &Value) -> Result<Judged, Unanswered> {
        let place = &self.0;
        let input = RawValue::from_string(input.as_json().to_owned()).expect("a value is JSON");
        let frame = |id| ToHost::Parse {
            id,
            realm: place.realm.id(),
            file: name_of(&place.file),
            workflow: place.workflow.clone(),
            input,
        };
        let talk = place.pool.begin(&place.realm, frame).await;
        let talk = talk.map_err(|error| Unanswered::Failed(crate::ops::refusal(error.to_string())))?;
        let answer = talk.end().await?;
        serde_json::from_str(answer.get())
            .map_err(|error| Unanswered::Failed(crate::ops::refusal(error.to_string())))
    }
}

fn conclude(judged: Judged) -> Result<Value, CheckError> {
    match judged {
        Judged::Value(value) => Ok(Value::from(value)),
        Judged::Issues(issues) => {
            let violation = |issue: Issue| Violation { path: pointer(&issue.path), message: issue.message };
            Err(CheckError::Refused(issues.into_iter().map(violation).collect()))
        }
    }
}

/// A path of zod as a JSON pointer.
fn pointer(path: &[serde_json::Value]) -> String {
    let segment = |at: &serde_json::Value| match at {
        serde_json::Value::String(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        other => format!("/{other}"),
    };
    path.iter().map(segment).collect()
}
