//! A document in which nothing is wrong, with its refs as data: what a plan is made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::draft::RetrySettings;
use crate::problem::DocumentProblem;

/// What came of checking a document.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentCheck {
    /// The document; absent if there is an error.
    #[serde(skip)]
    pub document: Option<CheckedDocument>,
    /// Everything that is wrong, in the order of the text.
    pub errors: Vec<DocumentProblem>,
    /// What could not be proven or is probably not meant, in the order of the text.
    pub warnings: Vec<DocumentProblem>,
    /// How many more there are.
    pub left_out: usize,
}

/// A document that can be run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedDocument {
    /// The workflow's name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it takes, if it says.
    pub input_schema: Option<Value>,
    /// Phase after phase; the steps of one run side by side.
    pub phases: Vec<Vec<CheckedStep>>,
    /// What follows a completed run.
    pub triggers: Vec<CheckedTrigger>,
    /// The schemas of each step, by its name; with forEach, those of one call.
    #[serde(rename = "_schemas")]
    pub schemas: BTreeMap<String, StepSchemas>,
}

/// The schemas of a step; `{}` where nothing is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepSchemas {
    /// What it takes.
    pub input: Value,
    /// What it gives.
    pub output: Value,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedStep {
    /// Its name.
    pub name: String,
    /// What it does.
    pub action: StepAction,
    /// The list that it is done for.
    pub for_each: Option<CheckedForEach>,
    /// How often a tool is called.
    pub retry: Option<RetrySettings>,
    /// How long one attempt takes at most; how long a signal is waited for.
    pub timeout_ms: Option<u64>,
    /// Whether the run goes on when it fails; with forEach, when one item fails.
    pub continue_on_error: bool,
}

/// What a step does. Inputs, lists and moments are templates: JSON in which `{"$": ["fetch", "users", 0]}` stands for a value,
/// `{"$text": [..]}` for a text with values in it, and `{"$quote": {..}}` for an object with such keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StepAction {
    /// Calls a tool.
    Tool {
        /// The connection.
        connection: String,
        /// The tool.
        tool: String,
        /// A template of what it is given.
        input: Value,
    },
    /// Calls a pure function.
    Transform {
        /// TypeScript.
        source: String,
        /// A template of what it is given.
        input: Value,
    },
    /// Sleeps.
    SleepFor {
        /// How long.
        ms: u64,
    },
    /// Sleeps until a moment that the document says.
    SleepUntil {
        /// Milliseconds since 1970.
        at_ms: i64,
    },
    /// Sleeps until a moment that is known when it begins.
    SleepUntilComputed {
        /// A template of milliseconds since 1970, or of a text as RFC 3339 writes it.
        moment: Value,
    },
    /// Waits for a signal.
    WaitForSignal {
        /// Its name.
        signal: String,
        /// What it carries, if the document says.
        schema: Option<Value>,
    },
}

/// A list whose items a step is done for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedForEach {
    /// A template of the list.
    pub items: Value,
    /// The most items.
    pub max_iterations: u32,
    /// How many at a time.
    pub concurrency: u32,
}

/// A trigger. Templates know `output`, `input`, and with `for_each` also `item` and `index`; a value that is not there skips it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckedTrigger {
    /// The workflow that it starts.
    pub workflow: String,
    /// A template of what it is given.
    pub inputs: Value,
    /// A template of a list: one run for each item.
    pub for_each: Option<Value>,
    /// The timeout of the runs that it starts.
    pub workflow_timeout_ms: Option<u64>,
    /// The retries of the runs that it starts.
    pub max_retries: Option<u32>,
}
