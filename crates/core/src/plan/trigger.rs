//! Triggers: the workflows that a completed run starts.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::BadBuiltin;
use crate::value::Value;

/// Names of workflows that begin so are Rival's own: no author's workflow has one.
pub const SYSTEM_PREFIX: &str = "rival:";
/// The workflow of the run that starts what a completed run triggers.
pub const TRIGGERS_WORKFLOW: &str = "rival:triggers";
/// The built-in function that starts what one trigger asks for.
pub const TRIGGER_BUILTIN: &str = "rival:trigger";

/// How many triggers a plan may have.
pub const TRIGGERS_MAX: usize = 1_000;
/// How many runs may be in a chain in which each triggers the next, not counting the first.
pub const TRIGGER_DEPTH_MAX: u32 = 10;
/// How many runs one trigger may start.
pub const TRIGGER_ITEMS_MAX: usize = 10_000;

/// Whether a workflow is Rival's own, and its runs are not what people look for in lists.
pub fn is_system_workflow(name: &str) -> bool {
    name.starts_with(SYSTEM_PREFIX)
}

/// A workflow that a completed run starts. Its templates know `output` and `input`, those of the completed run, and with
/// a list `item` and `index`; to the plan they mean nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// The workflow that it starts.
    pub workflow: String,
    inputs: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_each: Option<Value>,
    /// Overrides the timeout of the workflow that it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Overrides the automatic retries of the workflow that it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

impl Trigger {
    /// Starts a workflow with what a template becomes, which is kept in its canonical form.
    pub fn new(workflow: impl Into<String>, inputs: &Value) -> Result<Self, BadBuiltin> {
        let (workflow, inputs) = (workflow.into(), canonical(inputs)?);
        Ok(Self { workflow, inputs, for_each: None, timeout_ms: None, max_retries: None })
    }

    /// Starts a run for each item of the list that a template becomes.
    pub fn with_list(self, list: &Value) -> Result<Self, BadBuiltin> {
        Ok(Self { for_each: Some(canonical(list)?), ..self })
    }

    /// A template of what a run is given.
    pub fn inputs(&self) -> &Value {
        &self.inputs
    }

    /// A template of the list for whose items runs are started; absent for one run.
    pub fn for_each(&self) -> Option<&Value> {
        self.for_each.as_ref()
    }
}

fn canonical(template: &Value) -> Result<Value, BadBuiltin> {
    let bad = |message: String| BadBuiltin { name: TRIGGER_BUILTIN.to_owned(), message };
    template.sorted().map_err(|error| bad(error.to_string()))
}

impl<'de> Deserialize<'de> for Trigger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct Written {
            workflow: String,
            #[serde(default)]
            inputs: Value,
            #[serde(default, deserialize_with = "crate::value::present")]
            for_each: Option<Value>,
            #[serde(default)]
            timeout_ms: Option<u64>,
            #[serde(default)]
            max_retries: Option<u32>,
        }
        let Written { workflow, inputs, for_each, timeout_ms, max_retries } =
            Written::deserialize(deserializer)?;
        let trigger = Self::new(workflow, &inputs).map_err(D::Error::custom)?;
        let trigger = match for_each {
            Some(list) => trigger.with_list(&list).map_err(D::Error::custom)?,
            None => trigger,
        };
        Ok(Self { timeout_ms, max_retries, ..trigger })
    }
}
