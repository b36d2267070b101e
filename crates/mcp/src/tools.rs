//! The tools of a server, with their schemas as they were when they were read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use rival_core::{Value, nests_deeper};
use rival_document::ToolSchemas;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::client::{CallFault, LiveClient};
use crate::redact::SecretRedactor;

/// A server has at most so many tools, on at most so many pages.
const TOOLS_MAX: usize = 2_000;
const PAGES_MAX: usize = 200;
/// A schema has at most so many bytes, and those of all tools together.
const SCHEMA_BYTES_MAX: usize = 1 << 20;
const SCHEMAS_BYTES_MAX: usize = 16 << 20;
/// Schemas of people are not nearly so deep.
const SCHEMA_LEVELS_MAX: usize = 64;
/// So much of a description is kept, and of a name.
const DESCRIPTION_CHARS_MAX: usize = 4_096;
const NAME_CHARS_MAX: usize = 256;
/// Of so many problems each is told.
const PROBLEMS_MAX: usize = 20;

/// A tool of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionTool {
    /// Its name.
    pub name: String,
    /// What it does, in the words of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    pub input_schema: serde_json::Value,
    /// What it gives, if it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<serde_json::Value>,
}

impl ConnectionTool {
    /// Its schemas, for those who check documents.
    pub fn schemas(&self) -> ToolSchemas {
        ToolSchemas { input: self.input_schema.clone(), output: self.output_schema.clone() }
    }
}

/// The tools of a connection, as they were at some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PinnedTools {
    /// By name.
    pub tools: BTreeMap<String, ConnectionTool>,
    /// A hash of their names and schemas.
    pub hash: String,
    /// When they were read.
    pub at: SystemTime,
    /// Tools that cannot be used, and why.
    pub problems: Vec<String>,
}

/// How the tools of a connection have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolsChange {
    /// New ones.
    pub added: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
    /// Those that take or give something else.
    pub changed: Vec<String>,
}

impl std::fmt::Display for ToolsChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [("new", &self.added), ("gone", &self.removed), ("changed", &self.changed)];
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let parts: Vec<String> = parts.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
        f.write_str(&parts.join("; "))
    }
}

impl PinnedTools {
    /// How these differ from earlier ones; `None` if they take and give the same.
    pub fn change_since(&self, earlier: &Self) -> Option<ToolsChange> {
        if self.hash == earlier.hash {
            return None;
        }
        let only = |of: &Self, not: &Self| -> Vec<String> {
            of.tools.keys().filter(|name| !not.tools.contains_key(*name)).cloned().collect()
        };
        let changed = self.tools.values().filter(|tool| {
            let before = earlier.tools.get(&tool.name);
            before.is_some_and(|before| {
                (&before.input_schema, &before.output_schema) != (&tool.input_schema, &tool.output_schema)
            })
        });
        let changed = changed.map(|tool| tool.name.clone()).collect();
        Some(ToolsChange { added: only(self, earlier), removed: only(earlier, self), changed })
    }
}

/// A page of tools, as it is sent.
#[derive(Deserialize)]
struct ToolsPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

/// A tool, as it is sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentTool<'a> {
    name: String,
    description: Option<String>,
    #[serde(borrow)]
    input_schema: &'a RawValue,
    #[serde(borrow)]
    output_schema: Option<&'a RawValue>,
}

/// Reads all tools of a server. `Err`: why that does not work.
pub(crate) async fn fetch(
    client: &LiveClient,
    redactor: &SecretRedactor,
    patience: Duration,
) -> Result<PinnedTools, String> {
    let mut collected = CollectedTools::default();
    let (mut cursor, mut seen) = (None, BTreeSet::new());
    for _ in 0..PAGES_MAX {
        let page = match client.list_tools(cursor.take(), patience).await {
            Ok(page) => page,
            Err(fault) => return refused(&fault).map(|()| collected.pinned()),
        };
        let page = redactor.json(&page);
        let page: ToolsPage<'_> = serde_json::from_str(&page)
            .map_err(|error| format!("the list of its tools is wrong: {error}"))?;
        for tool in page.tools {
            collected.add(tool)?;
        }
        match page.next_cursor.filter(|next| !next.is_empty()) {
            None => return Ok(collected.pinned()),
            Some(next) if !seen.insert(next.clone()) => {
                return Err("the list of its tools goes in a circle".to_owned());
            }
            Some(next) => cursor = Some(next),
        }
    }
    Err(format!("the list of its tools has more than {PAGES_MAX} pages"))
}

/// A server that does not know how to list tools has none.
fn refused(fault: &CallFault) -> Result<(), String> {
    let why = match fault {
        CallFault::Answered(error) if error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND => return Ok(()),
        CallFault::Answered(error) => error.message.to_string(),
        CallFault::TimedOut => "it does not answer".to_owned(),
        CallFault::NotSent(why)
        | CallFault::Refused(why)
        | CallFault::Lost(why)
        | CallFault::TooLarge(why) => why.clone(),
    };
    Err(format!("its tools cannot be listed: {why}"))
}

/// Tools as they are read.
#[derive(Default)]
struct CollectedTools {
    tools: BTreeMap<String, ConnectionTool>,
    problems: Vec<String>,
    bytes: usize,
}

impl CollectedTools {
    fn add(&mut self, tool: &RawValue) -> Result<(), String> {
        self.bytes += tool.get().len();
        if self.bytes > SCHEMAS_BYTES_MAX {
            return Err(format!("its tools have more than {SCHEMAS_BYTES_MAX} bytes of schemas"));
        }
        if self.tools.len() >= TOOLS_MAX {
            return Err(format!("it has more than {TOOLS_MAX} tools"));
        }
        match read(tool.get()) {
            Ok(tool) => match self.tools.contains_key(&tool.name) {
                true => self.problem(format!("there are two tools `{}`: the first one counts", tool.name)),
                false => _ = self.tools.insert(tool.name.clone(), tool),
            },
            Err(problem) => self.problem(problem),
        }
        Ok(())
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        }
    }

    fn pinned(self) -> PinnedTools {
        let Self { tools, problems, .. } = self;
        PinnedTools { hash: hash(&tools), tools, at: SystemTime::now(), problems }
    }
}

fn read(json: &str) -> Result<ConnectionTool, String> {
    let tool: SentTool<'_> =
        serde_json::from_str(json).map_err(|error| format!("a tool cannot be read: {error}"))?;
    let name = tool.name;
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(format!("a tool has a name of {} characters", name.chars().count()));
    }
    let schema = |what: &str, schema: &RawValue| {
        let wrong = |why: String| format!("tool `{name}` cannot be used: its {what} schema {why}");
        if schema.get().len() > SCHEMA_BYTES_MAX {
            return Err(wrong(format!("has more than {SCHEMA_BYTES_MAX} bytes")));
        }
        if nests_deeper(schema.get(), SCHEMA_LEVELS_MAX) {
            return Err(wrong(format!("has more than {SCHEMA_LEVELS_MAX} levels")));
        }
        let read: Result<serde_json::Value, _> = serde_json::from_str(schema.get());
        read.map_err(|error| wrong(format!("cannot be read: {error}")))
    };
    let input_schema = schema("input", tool.input_schema)?;
    let output_schema = tool.output_schema.map(|output| schema("output", output)).transpose()?;
    let description = tool.description.map(|text| text.chars().take(DESCRIPTION_CHARS_MAX).collect());
    Ok(ConnectionTool { description, input_schema, output_schema, name })
}

/// Of what documents are checked against, whatever the order of keys.
fn hash(tools: &BTreeMap<String, ConnectionTool>) -> String {
    let of: Vec<_> =
        tools.values().map(|tool| (&tool.name, &tool.input_schema, &tool.output_schema)).collect();
    let text = Value::from(serde_json::json!(of));
    let digest = Sha256::digest(text.canonical().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(tools: &[(&str, &str)]) -> PinnedTools {
        let mut collected = CollectedTools::default();
        for (name, schema) in tools {
            let json = format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#);
            collected.add(&RawValue::from_string(json).unwrap()).unwrap();
        }
        collected.pinned()
    }

    #[test]
    fn changes_of_tools_are_told_one_by_one() {
        let before = pinned(&[("a", r#"{"type":"object","title":"x"}"#), ("b", "{}"), ("c", "{}")]);
        let same = pinned(&[("c", "{}"), ("b", "{}"), ("a", r#"{"title":"x","type":"object"}"#)]);
        assert_eq!(same.change_since(&before), None);
        let after = pinned(&[("a", r#"{"type":"string"}"#), ("c", "{}"), ("d", "{}")]);
        assert_eq!(after.change_since(&before).unwrap().to_string(), "new: d; gone: b; changed: a");
    }

    #[test]
    fn a_schema_that_is_too_deep_costs_its_tool_and_no_other() {
        let deep = format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
        let tools = pinned(&[("deep", &deep), ("good", "{}"), ("good", "{}")]);
        assert_eq!(tools.tools.keys().collect::<Vec<_>>(), ["good"]);
        assert_eq!(
            tools.problems,
            [
                "tool `deep` cannot be used: its input schema has more than 64 levels",
                "there are two tools `good`: the first one counts"
            ]
        );
    }
}
