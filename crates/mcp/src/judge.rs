//! Outputs against the schemas that tools declare: documents were checked against these, so what does not fit is no output.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use rival_core::Value;

use crate::code;
use crate::result::ToolFailure;
use crate::tools::PinnedTools;

/// So many violations are named.
const VIOLATIONS_SHOWN: usize = 3;
/// So much of each is shown.
const VIOLATION_CHARS: usize = 300;

/// Judges outputs of the tools of a connection. Schemas are read once, as long as they stay the same.
#[derive(Default)]
pub(crate) struct OutputJudge(Mutex<KnownValidators>);

#[derive(Default)]
struct KnownValidators {
    /// Of the tools that they are for.
    hash: String,
    /// By tool; `None` for a schema that cannot be used.
    by_tool: BTreeMap<String, Option<Arc<Validator>>>,
}

impl OutputJudge {
    /// Whether an output is what its tool declares.
    pub(crate) fn check(&self, tools: &PinnedTools, tool: &str, output: &Value) -> Result<(), ToolFailure> {
        let Some(validator) = self.validator(tools, tool) else { return Ok(()) };
        let json = output.to_json();
        let violations = validator.iter_errors(&json).take(VIOLATIONS_SHOWN).map(|error| {
            let at = error.instance_path().to_string();
            let text = if at.is_empty() { error.to_string() } else { format!("{at}: {error}") };
            text.chars().take(VIOLATION_CHARS).collect::<String>()
        });
        let violations: Vec<String> = violations.collect();
        if violations.is_empty() {
            return Ok(());
        }
        let message = format!("what tool `{tool}` gave is not what it declares: {}", violations.join("; "));
        Err(ToolFailure::new(code::BAD_TOOL_ANSWER, message))
    }

    fn validator(&self, tools: &PinnedTools, tool: &str) -> Option<Arc<Validator>> {
        let schema = tools.tools.get(tool)?.output_schema.as_ref()?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.hash != tools.hash {
            *known = KnownValidators { hash: tools.hash.clone(), by_tool: BTreeMap::new() };
        }
        let read = || {
            let built = jsonschema::validator_for(schema);
            built.inspect_err(|error| {
                tracing::warn!(tool, "the schema of a tool's output cannot be used: {error}");
            })
        };
        known.by_tool.entry(tool.to_owned()).or_insert_with(|| read().ok().map(Arc::new)).clone()
    }
}
