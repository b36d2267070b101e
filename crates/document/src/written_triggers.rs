//! Triggers of workflows that are no documents: the same refs, checked in the same way, as far as anything is known of the
//! workflow's output.

use rival_core::plan::Trigger;
use serde_json::{Value, json};

use crate::catalog::{CheckContext, ToolCatalog, ToolLookup, TypescriptTransforms, WorkflowCatalog};
use crate::check::DocumentChecker;
use crate::checked::CheckedTrigger;
use crate::decode::decode_triggers;
use crate::draft::DraftedDocument;
use crate::flow::{FlowSources, StepOutput, TypeFlow};
use crate::json::{PlacedJson, PlacedText};
use crate::known_type::ValueType;
use crate::place::SourcePlace;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList};
use crate::triggers::check_triggers;

/// A trigger as its author wrote it, in whatever language.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenTrigger {
    /// The workflow that it starts.
    pub workflow: String,
    /// What it is given, with refs.
    pub inputs: Value,
    /// A ref to a list.
    pub for_each: Option<String>,
    /// The timeout of the runs that it starts.
    pub timeout_ms: Option<u64>,
    /// The retries of the runs that it starts.
    pub max_retries: Option<u32>,
}

/// What came of checking triggers.
#[derive(Clone, Debug, Default)]
pub struct TriggersCheck {
    /// The triggers as a plan has them; empty if there is an error.
    pub triggers: Vec<Trigger>,
    /// What is wrong. Problems know their trigger, and not their place.
    pub errors: Vec<DocumentProblem>,
    /// What is probably not meant.
    pub warnings: Vec<DocumentProblem>,
}

/// Reads the refs of a workflow's triggers, and compares what they build with what their targets take.
pub fn check_written_triggers(
    workflow: &str,
    triggers: &[WrittenTrigger],
    workflows: &dyn WorkflowCatalog,
) -> TriggersCheck {
    let mut problems = ProblemList::default();
    let checked = checked(workflow, triggers, workflows, &mut problems);
    let planned = checked.iter().map(CheckedTrigger::planned).collect::<Result<Vec<Trigger>, _>>();
    let planned = planned.unwrap_or_else(|error| {
        problems.error(DocumentProblem::new(
            ProblemCode::InvalidDocument,
            SourcePlace::START,
            error.to_string(),
        ));
        Vec::new()
    });
    let ProblemList { errors, mut warnings, .. } = problems;
    // Of others, more is not known than in any workflow that is no document.
    let is_told = |code| {
        matches!(code, ProblemCode::UnknownWorkflow | ProblemCode::TriggerCycle | ProblemCode::UnknownField)
    };
    warnings.retain(|problem| is_told(problem.code));
    let triggers = if errors.is_empty() { planned } else { Vec::new() };
    TriggersCheck { triggers, errors, warnings }
}

fn checked(
    workflow: &str,
    triggers: &[WrittenTrigger],
    workflows: &dyn WorkflowCatalog,
    problems: &mut ProblemList,
) -> Vec<CheckedTrigger> {
    let written: Vec<Value> = triggers.iter().map(WrittenTrigger::to_json).collect();
    let json = match PlacedJson::read(&Value::from(written).to_string()) {
        Ok(json) => json,
        Err(errors) => {
            for error in errors {
                let message = format!("the triggers: {}", error.fault);
                problems.error(DocumentProblem::new(ProblemCode::InvalidJson, error.place, message));
            }
            return Vec::new();
        }
    };
    let draft = DraftedDocument {
        name: Some(PlacedText::new(workflow.to_owned(), SourcePlace::START, None)),
        description: None,
        input_schema: None,
        steps: Vec::new(),
        triggers: decode_triggers(&json, problems),
    };
    let context = CheckContext { tools: &NoTools, transforms: &TypescriptTransforms, workflows };
    let unknown = StepOutput { value: ValueType::Broken, optional: false };
    let sources =
        FlowSources { input: ValueType::Broken, steps: Vec::new(), item: ValueType::Broken, output: unknown };
    check_triggers(
        &draft,
        workflows,
        &mut DocumentChecker::new(&draft, TypeFlow::new(sources), context, problems),
    )
}

impl WrittenTrigger {
    fn to_json(&self) -> Value {
        let mut trigger = json!({ "workflowId": self.workflow, "inputs": self.inputs });
        let fields = [
            ("forEach", self.for_each.as_ref().map(|list| json!(list))),
            ("workflow_timeout_ms", self.timeout_ms.map(|ms| json!(ms))),
            ("max_retries", self.max_retries.map(|count| json!(count))),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                trigger[name] = value;
            }
        }
        trigger
    }
}

/// Triggers call no tools.
struct NoTools;

impl ToolCatalog for NoTools {
    fn tool(&self, _: &str, _: &str) -> ToolLookup {
        ToolLookup::UnknownConnection { known: Vec::new() }
    }
}
