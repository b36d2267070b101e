//! Triggers: their targets, what they give them, and circles of them.

use std::collections::{HashSet, VecDeque};

use crate::catalog::{WorkflowCatalog, WorkflowLookup};
use crate::check::DocumentChecker;
use crate::checked::CheckedTrigger;
use crate::draft::{DraftedDocument, DraftedTrigger};
use crate::json::PlacedText;
use crate::known_type::ValueType;
use crate::problem::{DocumentProblem, ProblemCode, ProblemList, ProblemOwner};
use crate::read_json::shortened;
use crate::scope::RefScope;
use crate::step_schemas::{read_schema, suggestion};
use crate::template::{FieldPath, InputTemplate};

/// How many workflows are looked at for circles.
const WORKFLOWS_MAX: usize = 1_000;

pub(crate) fn check_triggers(
    draft: &DraftedDocument,
    workflows: &dyn WorkflowCatalog,
    check: &mut DocumentChecker<'_>,
) -> Vec<CheckedTrigger> {
    let own_name = draft.name.as_ref().map(|name| name.as_str());
    let mut targets = HashSet::new();
    let mut checked = Vec::with_capacity(draft.triggers.len());
    for trigger in &draft.triggers {
        check.problems.owner = ProblemOwner::Trigger(trigger.number);
        let target = match &trigger.workflow {
            Some(name) if own_name == Some(name.as_str()) => check.flow.sources.input.clone(),
            Some(name) => target_type(name, workflows, check.problems),
            None => ValueType::Broken,
        };
        if let (Some(name), Some(own_name)) = (&trigger.workflow, own_name)
            && targets.insert(name.as_str())
        {
            warn_of_cycle(name, own_name, workflows, check.problems);
        }
        checked.push(check_trigger(trigger, &target, check));
    }
    check.problems.owner = ProblemOwner::Document;
    checked
}

fn check_trigger(
    trigger: &DraftedTrigger,
    target: &ValueType,
    check: &mut DocumentChecker<'_>,
) -> CheckedTrigger {
    let outside = RefScope { phase: None, has_item: false, item_name: None };
    let for_each = trigger.for_each.as_ref().map(|list| check.list(list, outside));
    let scope = RefScope { has_item: for_each.is_some(), ..outside };
    let template = match &trigger.inputs {
        Some(json) => InputTemplate::read(json, &mut FieldPath::of("inputs"), check.problems),
        None => InputTemplate::empty(trigger.place),
    };
    let mut template = check.template(template, "inputs", scope);
    let is_given = trigger.inputs.is_some();
    check.feed(&mut template, "inputs", if is_given { target } else { &ValueType::Broken }, true);
    CheckedTrigger {
        workflow: trigger.workflow.as_ref().map(|name| name.as_str().to_owned()).unwrap_or_default(),
        inputs: check.data(&template),
        for_each,
        workflow_timeout_ms: trigger.timeout_ms,
        max_retries: trigger.max_retries,
    }
}

/// What the target takes. One that is not there is no error: two documents that trigger each other could never be made.
fn target_type(name: &PlacedText, workflows: &dyn WorkflowCatalog, problems: &mut ProblemList) -> ValueType {
    let shown = shortened(name.as_str());
    let (code, message) = match workflows.workflow(name.as_str()) {
        WorkflowLookup::Known { input_schema: Some(schema), .. } => match read_schema(&schema) {
            Ok(schema) => return schema,
            Err(why) => {
                (ProblemCode::MissingSchema, format!("the input schema of workflow `{shown}`: {why}"))
            }
        },
        WorkflowLookup::Known { input_schema: None, .. } => {
            let message =
                format!("workflow `{shown}` does not say what it takes: what it is given is not checked");
            (ProblemCode::MissingSchema, message)
        }
        WorkflowLookup::Unknown { known } => {
            let help = suggestion(name.as_str(), &known);
            (ProblemCode::UnknownWorkflow, format!("there is no workflow `{shown}` yet; {help}"))
        }
    };
    problems.warn(DocumentProblem::new(code, name.place(), message).field("workflowId"));
    ValueType::Broken
}

/// Follows triggers from a target back to this document, by the shortest way.
fn warn_of_cycle(
    target: &PlacedText,
    own_name: &str,
    workflows: &dyn WorkflowCatalog,
    problems: &mut ProblemList,
) {
    let mut seen = HashSet::from([target.as_str().to_owned()]);
    let mut open = VecDeque::from([vec![target.as_str().to_owned()]]);
    while let Some(way) = open.pop_front() {
        let Some(last) = way.last() else { continue };
        if last == own_name {
            let names = std::iter::once(own_name).chain(way.iter().map(String::as_str));
            let chain: Vec<String> = names.map(|name| format!("`{}`", shortened(name))).collect();
            let message = format!(
                "workflows trigger each other in a circle: {}; a chain ends after 10",
                chain.join(" -> ")
            );
            let problem = DocumentProblem::new(ProblemCode::TriggerCycle, target.place(), message);
            problems.warn(problem.field("workflowId"));
            return;
        }
        let WorkflowLookup::Known { triggers, .. } = workflows.workflow(last) else { continue };
        for next in triggers {
            if seen.len() < WORKFLOWS_MAX && seen.insert(next.clone()) {
                open.push_back(way.iter().cloned().chain([next]).collect());
            }
        }
    }
}
