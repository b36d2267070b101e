//! Triggers of TypeScript files: their refs are those of documents, and what they build is compared with what their targets
//! take.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rival_document::{
    DocumentProblem, WorkflowCatalog, WorkflowLookup, WrittenTrigger, check_written_triggers,
};
use rival_engine::Engine;
use rival_typescript::{Problem, ScriptProgram};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::definition::DescribedWorkflow;

/// A trigger, as the host tells it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DescribedTrigger {
    workflow: String,
    inputs: Json,
    for_each: Option<String>,
    timeout_ms: Option<u64>,
    max_retries: Option<u32>,
}

/// The triggers of a workflow, and where they are written.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowTriggers {
    workflow: String,
    module: PathBuf,
    /// The export behind which they stand.
    export: String,
    written: Vec<WrittenTrigger>,
}

impl WorkflowTriggers {
    pub(crate) fn workflow(&self) -> &str {
        &self.workflow
    }

    /// None if there are none.
    pub(crate) fn of(workflow: &DescribedWorkflow) -> Option<Self> {
        let written = workflow.triggers.iter().map(|trigger| WrittenTrigger {
            workflow: trigger.workflow.clone(),
            inputs: trigger.inputs.clone(),
            for_each: trigger.for_each.clone(),
            timeout_ms: trigger.timeout_ms,
            max_retries: trigger.max_retries,
        });
        (!workflow.triggers.is_empty()).then(|| Self {
            workflow: workflow.name.clone(),
            module: workflow.module.clone(),
            export: workflow.exported.clone().unwrap_or_else(|| "triggers".to_owned()),
            written: written.collect(),
        })
    }

    /// Puts them into the workflow's plan, or says what is wrong with them.
    pub(crate) fn plan(
        &self,
        workflow: &mut DescribedWorkflow,
        targets: &TriggerTargets<'_>,
        program: &ScriptProgram,
    ) -> Vec<Problem> {
        let check = check_written_triggers(&self.workflow, &self.written, targets);
        workflow.plan.triggers = check.triggers;
        check.errors.iter().map(|error| self.problem(error, program)).collect()
    }

    /// What is wrong with them now, and what is probably not meant: other workflows come and change.
    pub(crate) fn doubts(&self, targets: &TriggerTargets<'_>, program: &ScriptProgram) -> Vec<Problem> {
        let check = check_written_triggers(&self.workflow, &self.written, targets);
        check.errors.iter().chain(&check.warnings).map(|problem| self.problem(problem, program)).collect()
    }

    fn problem(&self, problem: &DocumentProblem, program: &ScriptProgram) -> Problem {
        let trigger = problem.trigger.and_then(|number| self.written.get(number));
        let target = trigger.map(|trigger| trigger.workflow.as_str()).unwrap_or_default();
        let (texts, skip) = match &problem.reference {
            Some(reference) => (vec![reference.clone()], 0),
            None => {
                let before = self.written.iter().take(problem.trigger.unwrap_or_default());
                let same = before.filter(|trigger| trigger.workflow == target).count();
                (vec![format!("'{target}'"), format!("\"{target}\"")], same)
            }
        };
        let place = program.place_behind(&self.module, &self.export, &texts, skip);
        let (line, column) = place.unwrap_or((1, 1));
        let is_told = |field: &str| field == "workflowId" || problem.message.contains(&format!("`{field}`"));
        let field = problem.field.as_ref().filter(|field| !is_told(field));
        let at = field.map(|field| format!("at `{field}`, ")).unwrap_or_default();
        let message = format!("the trigger of `{target}`: {at}{}", problem.message);
        Problem { file: self.module.clone(), line, column, message, advice: None }
    }
}

/// What is known of a workflow that is about to be registered.
#[derive(Clone, Debug)]
pub(crate) struct ComingWorkflow {
    input_schema: Option<Json>,
    triggers: Vec<String>,
}

impl ComingWorkflow {
    pub(crate) fn of(workflow: &DescribedWorkflow) -> Self {
        let triggers = workflow.triggers.iter().map(|trigger| trigger.workflow.clone());
        Self { input_schema: workflow.input_schema.clone(), triggers: triggers.collect() }
    }
}

/// The workflows that triggers can start.
pub(crate) struct TriggerTargets<'a> {
    pub(crate) engine: &'a Engine,
    /// Those that are registered in a moment, by name.
    pub(crate) coming: &'a BTreeMap<String, ComingWorkflow>,
}

impl WorkflowCatalog for TriggerTargets<'_> {
    fn workflow(&self, name: &str) -> WorkflowLookup {
        if let Some(ComingWorkflow { input_schema, triggers }) = self.coming.get(name).cloned() {
            return WorkflowLookup::Known { input_schema, triggers };
        }
        match self.engine.workflow(name) {
            Ok(known) => WorkflowLookup::Known {
                input_schema: known.input_schema,
                triggers: known.plan.triggers.into_iter().map(|trigger| trigger.workflow).collect(),
            },
            Err(_) => {
                let known = self.engine.list().into_iter().map(|known| known.name);
                WorkflowLookup::Unknown { known: known.chain(self.coming.keys().cloned()).collect() }
            }
        }
    }
}
