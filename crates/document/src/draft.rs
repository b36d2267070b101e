//! A document as it was read: its shape is right where it is present, and nothing else is known of it.

use crate::json::{PlacedJson, PlacedText};
use crate::place::SourcePlace;

/// A whole document.
#[derive(Debug)]
pub(crate) struct DraftedDocument {
    pub(crate) name: Option<PlacedText>,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Option<PlacedJson>,
    /// All steps, in the order of their phases.
    pub(crate) steps: Vec<DraftedStep>,
    pub(crate) triggers: Vec<DraftedTrigger>,
}

/// A step. What is wrong in it was reported and is absent.
#[derive(Debug)]
pub(crate) struct DraftedStep {
    pub(crate) place: SourcePlace,
    pub(crate) name: Option<PlacedText>,
    /// From 0.
    pub(crate) phase: usize,
    pub(crate) action: Option<DraftedAction>,
    pub(crate) input: Option<PlacedJson>,
    pub(crate) for_each: Option<DraftedForEach>,
    pub(crate) retry: Option<RetrySettings>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) continue_on_error: bool,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum DraftedAction {
    Tool { connection: PlacedText, tool: PlacedText },
    Transform(PlacedText),
    SleepFor(u64),
    SleepUntil(PlacedText),
    WaitForSignal { name: PlacedText, schema: Option<PlacedJson> },
}

/// A step that is done for each item of a list.
#[derive(Debug)]
pub(crate) struct DraftedForEach {
    pub(crate) items: PlacedText,
    pub(crate) item_name: Option<PlacedText>,
    pub(crate) max_iterations: u32,
    pub(crate) concurrency: u32,
}

/// How often a tool is called before its step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetrySettings {
    /// Calls in all.
    pub max_attempts: u32,
    /// How long after the first failure.
    pub backoff_ms: u64,
}

/// What follows a completed run.
#[derive(Debug)]
pub(crate) struct DraftedTrigger {
    /// From 0.
    pub(crate) number: usize,
    pub(crate) place: SourcePlace,
    pub(crate) workflow: Option<PlacedText>,
    pub(crate) inputs: Option<PlacedJson>,
    pub(crate) for_each: Option<PlacedText>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_retries: Option<u32>,
}
