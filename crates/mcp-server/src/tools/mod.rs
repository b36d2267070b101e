//! The tools that are always there.

mod connections;
pub(crate) mod control;
mod documents;
pub(crate) mod runs;
pub(crate) mod start;
pub(crate) mod values;
pub(crate) mod watch;
pub(crate) mod workflows;

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::{Value, json};

use crate::spec::ToolSpec;

/// All of them, in the order in which an agent meets them.
pub(crate) static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let groups = [
        workflows::tools(),
        start::tools(),
        runs::tools(),
        watch::tools(),
        values::tools(),
        control::tools(),
        documents::tools(),
        connections::tools(),
    ];
    groups.into_iter().flatten().collect()
});

/// The longest that one call waits: clients give up after a minute, unless told otherwise.
const WAIT_MAX_SECONDS: u64 = 300;

/// How long to wait, from what the client asked for.
fn wait_of(seconds: Option<u64>, usual: u64) -> Duration {
    Duration::from_secs(seconds.unwrap_or(usual).min(WAIT_MAX_SECONDS))
}

/// The schema of a text in a result.
fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn number(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

fn truth(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn list(description: &str) -> Value {
    json!({"type": "array", "description": description})
}

fn anything(description: &str) -> Value {
    json!({ "description": description })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_in_the_docs_and_says_what_it_is_for() {
        let page = include_str!("../../../../docs/mcp.md");
        for spec in TOOLS.iter() {
            let tool = &spec.tool;
            assert!(page.contains(&format!("`{}`", tool.name)), "docs/mcp.md: {}", tool.name);
            assert!(tool.description.as_ref().is_some_and(|text| text.len() > 40), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            for (name, schema) in tool.input_schema["properties"].as_object().into_iter().flatten() {
                assert!(schema["description"].is_string(), "{}: {name}", tool.name);
            }
        }
    }
}
