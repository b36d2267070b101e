//! What documents may refer to, as it is in a running engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use rival_document::{
    CheckContext, DocumentCheck, ToolCatalog, ToolLookup, TypescriptTransforms, WorkflowCatalog,
    WorkflowLookup, check_document,
};
use rival_engine::{Engine, StartError};
use serde::Deserialize;
use serde_json::Value;

use crate::compiled::targets_of;

/// The tools that documents can call.
pub type Tools = Arc<dyn ToolCatalog + Send + Sync>;

/// No tools at all: there is no connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTools;

impl ToolCatalog for NoTools {
    fn tool(&self, _connection: &str, _tool: &str) -> ToolLookup {
        ToolLookup::UnknownConnection { known: Vec::new() }
    }
}

/// Everything that a document is checked against.
#[derive(Clone)]
pub(crate) struct DocumentChecks {
    pub(crate) engine: Engine,
    pub(crate) tools: Tools,
    /// Documents that are about to be registered together: they may trigger each other.
    pub(crate) pending: Arc<BTreeMap<String, PendingDocument>>,
}

impl DocumentChecks {
    /// Checks a text. It takes up to a second of work for a large document, so other tasks go on meanwhile.
    pub(crate) async fn check(&self, text: &str) -> DocumentCheck {
        let (checks, text) = (self.clone(), text.to_owned());
        let checking = tokio::task::spawn_blocking(move || checks.check_here(&text));
        match checking.await {
            Ok(check) => check,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends, and this task with it.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn check_here(&self, text: &str) -> DocumentCheck {
        let transforms = &TypescriptTransforms;
        check_document(text, CheckContext { tools: &*self.tools, transforms, workflows: self })
    }
}

impl WorkflowCatalog for DocumentChecks {
    fn workflow(&self, name: &str) -> WorkflowLookup {
        if let Some(PendingDocument { input_schema, triggers }) = self.pending.get(name) {
            let (input_schema, triggers) = (input_schema.clone(), triggers.clone());
            return WorkflowLookup::Known { input_schema, triggers };
        }
        match self.engine.workflow(name) {
            Ok(info) => {
                let triggers = targets_of(&info.plan).into_iter().collect();
                WorkflowLookup::Known { input_schema: info.input_schema, triggers }
            }
            Err(StartError::UnknownWorkflow { known, .. }) => WorkflowLookup::Unknown { known },
            Err(_) => WorkflowLookup::Unknown { known: Vec::new() },
        }
    }
}

/// A document that is read and not registered yet.
#[derive(Clone, Debug)]
pub(crate) struct PendingDocument {
    input_schema: Option<Value>,
    triggers: Vec<String>,
}

impl PendingDocument {
    /// Its name and what others have to know of it; nothing if the text is none. What is wrong with it is said when it is
    /// checked.
    pub(crate) fn read(text: &str) -> Option<(String, Self)> {
        let Outline { name, input_schema, triggers } = serde_json::from_str(text).ok()?;
        let triggers = triggers.into_iter().map(|trigger| trigger.workflow_id).collect();
        Some((name, Self { input_schema, triggers }))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    name: String,
    input_schema: Option<Value>,
    #[serde(default)]
    triggers: Vec<TriggerOutline>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TriggerOutline {
    workflow_id: String,
}
