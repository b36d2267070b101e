//! Engines over one store, tools that a test changes, and a folder of files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use rival::{Engine, SqliteStore, Value};
use rival_authoring::Documents;
use rival_document::{ToolCatalog, ToolLookup, ToolSchemas};
use rival_engine::{BindError, Builtins, CallContext, CallError, FunctionNeeds, UserFunction};
use serde_json::json;

/// One tool of one connection, whose input a test changes.
#[derive(Default)]
pub(crate) struct FakeTools {
    input: Mutex<Option<serde_json::Value>>,
}

impl FakeTools {
    /// The tool takes this from now on; nothing: it cannot be asked.
    pub(crate) fn set(&self, input: Option<serde_json::Value>) {
        *self.input.lock().unwrap() = input;
    }
}

impl ToolCatalog for FakeTools {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        match (connection, tool, self.input.lock().unwrap().clone()) {
            ("mail", _, None) => ToolLookup::Unavailable { why: "it does not answer".to_owned() },
            ("mail", "send", Some(input)) => ToolLookup::Known(ToolSchemas { input, output: None }),
            ("mail", ..) => ToolLookup::UnknownTool { known: vec!["send".to_owned()] },
            _ => ToolLookup::UnknownConnection { known: vec!["mail".to_owned()] },
        }
    }
}

/// Brings `tool` along, which does nothing.
struct NoToolCalls;

struct DoesNothing(FunctionNeeds);

impl Builtins for NoToolCalls {
    fn names(&self) -> Vec<String> {
        vec!["tool".to_owned()]
    }

    fn bind(&self, _name: &str, _with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        Ok(Arc::new(DoesNothing(FunctionNeeds::default())))
    }
}

impl UserFunction for DoesNothing {
    fn needs(&self) -> &FunctionNeeds {
        &self.0
    }

    fn call(&self, _context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        std::future::ready(Ok(Value::null())).boxed()
    }
}

/// A store, tools and a folder, over the lives of engines.
pub(crate) struct Lab {
    pub(crate) tools: Arc<FakeTools>,
    folder: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let tools = Arc::new(FakeTools::default());
        tools.set(Some(address()));
        Self { tools, folder: tempfile::tempdir().unwrap() }
    }

    /// An engine on the store with the documents of before.
    pub(crate) async fn start(&self) -> (Engine, Documents) {
        let engine = Engine::builder()
            .store(SqliteStore::open(self.folder.path().join("rival.db")).unwrap())
            .builtins(Arc::new(NoToolCalls))
            .build()
            .await
            .unwrap();
        let documents = Documents::new(engine.clone(), self.tools.clone());
        documents.load().await.unwrap();
        documents.recheck().await;
        (engine, documents)
    }

    /// Where files are.
    pub(crate) fn flows(&self) -> PathBuf {
        let flows = self.folder.path().canonicalize().unwrap().join("flows");
        std::fs::create_dir_all(&flows).unwrap();
        flows
    }

    pub(crate) fn write(&self, name: &str, document: &serde_json::Value) -> PathBuf {
        self.write_text(name, &serde_json::to_string_pretty(document).unwrap())
    }

    pub(crate) fn write_text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.flows().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// What the tool takes at first.
pub(crate) fn address() -> serde_json::Value {
    json!({ "type": "object", "properties": { "to": { "type": "string" } }, "required": ["to"] })
}

/// Sends a mail to whom the input says.
pub(crate) fn mail(name: &str) -> serde_json::Value {
    let input = json!({ "type": "object", "properties": { "to": { "type": "string" } }, "required": ["to"] });
    let tool = json!({ "connectionId": "mail", "toolName": "send" });
    json!({
        "name": name,
        "inputSchema": input,
        "steps": [[{ "name": "send", "tool": tool, "input": { "to": "@input.to" } }]],
    })
}

/// Sleeps for a moment; what it takes is said.
pub(crate) fn nap(name: &str, input: &serde_json::Value) -> serde_json::Value {
    json!({ "name": name, "inputSchema": input, "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]] })
}

/// Triggers another one with a number.
pub(crate) fn starter(name: &str, target: &str) -> serde_json::Value {
    json!({
        "name": name,
        "inputSchema": { "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] },
        "steps": [[{ "name": "rest", "sleep": { "ms": 1 } }]],
        "triggers": [{ "workflowId": target, "inputs": { "n": "@input.n" } }],
    })
}

/// What takes a number, or a text.
pub(crate) fn takes(kind: &str) -> serde_json::Value {
    json!({ "type": "object", "properties": { "n": { "type": kind } }, "required": ["n"] })
}
