//! A checked document as it is kept and registered.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::Plan;
use rival_core::plan::PlanReadError;
use rival_document::{CheckedDocument, DocumentProblem, StepAction, StepSchemas};
use rival_engine::{Definition, WorkflowKind, WorkflowOrigin};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of a record: the document as it was written, and what was made of it when it was saved. Its runs have this plan also
/// when the text would not be accepted any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StoredDocument {
    /// As it was written.
    pub(crate) text: String,
    #[serde(flatten)]
    pub(crate) compiled: CompiledDocument,
    /// The schemas of each step.
    #[serde(rename = "_schemas")]
    pub(crate) schemas: BTreeMap<String, StepSchemas>,
    pub(crate) warnings: Vec<DocumentProblem>,
}

/// What new runs of a document take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CompiledDocument {
    /// JSON, as a text: numbers in it must stay as they are.
    pub(crate) plan: String,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Option<Value>,
    pub(crate) signal_schemas: BTreeMap<String, Value>,
    #[serde(flatten)]
    pub(crate) uses: DocumentUses,
}

/// What a document refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentUses {
    /// Connections whose tools it calls.
    pub(crate) connections: BTreeSet<String>,
    /// Workflows that it triggers.
    pub(crate) targets: BTreeSet<String>,
}

impl CompiledDocument {
    /// Makes the plan of a document.
    pub(crate) fn new(document: &CheckedDocument) -> Result<Self, String> {
        let plan = document.plan().map_err(|error| error.to_string())?;
        let tools = document.phases.iter().flatten().filter_map(|step| match &step.action {
            StepAction::Tool { connection, .. } => Some(connection.clone()),
            _ => None,
        });
        let targets = document.triggers.iter().map(|trigger| trigger.workflow.clone());
        Ok(Self {
            plan: plan.to_json(),
            description: document.description.clone(),
            input_schema: document.input_schema.clone(),
            signal_schemas: document.signal_schemas(),
            uses: DocumentUses { connections: tools.collect(), targets: targets.collect() },
        })
    }

    /// As the engine takes it; `file` is where it comes from, if it is not kept in the store.
    pub(crate) fn definition(&self, file: Option<String>) -> Result<Definition, PlanReadError> {
        let mut definition = Definition::new(Plan::from_json(&self.plan)?, BTreeMap::new());
        definition.description.clone_from(&self.description);
        definition.input_schema.clone_from(&self.input_schema);
        definition.signal_schemas.clone_from(&self.signal_schemas);
        definition.origin = WorkflowOrigin { kind: WorkflowKind::Document, file };
        Ok(definition)
    }
}

/// The workflows that the runs of a plan trigger.
pub(crate) fn targets_of(plan: &Plan) -> BTreeSet<String> {
    plan.triggers.iter().map(|trigger| trigger.workflow.clone()).collect()
}
