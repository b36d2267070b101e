//! What a tool gives, as the output of a step.
//!
//! | the answer has | the output is |
//! | --- | --- |
//! | `structuredContent` | that |
//! | only texts | their lines together: as JSON if they are JSON, else as text |
//! | other content, too (images, audio, resources, links) | `{"text": …, "content": […]}`, with everything as the protocol has it |
//! | nothing | `null` |

use std::borrow::Cow;

use rival_core::Value;
use rival_core::failure::code as core_code;
use rival_engine::encode;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::CallFault;
use crate::code;
use crate::redact::SecretRedactor;

/// So much of what a tool says of its failure is kept.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// Why a call of a tool gives no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// One of the codes of this crate, or of the core.
    pub code: &'static str,
    /// One sentence for people, without secrets.
    pub message: String,
    /// Whether the same call would fail again.
    pub is_final: bool,
}

impl ToolFailure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_final: false }
    }

    /// The same call would fail again.
    pub(crate) fn last(self) -> Self {
        Self { is_final: true, ..self }
    }
}

/// The result of a call, as it is sent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SentResult<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: bool,
    result_type: Option<String>,
}

#[derive(Deserialize)]
struct SentContent<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    text: Option<String>,
}

/// The output of a call.
pub(crate) fn output(tool: &str, raw: &str, redactor: &SecretRedactor) -> Result<Value, ToolFailure> {
    let raw = redactor.json(raw);
    let wrong = |why: String| bad_answer(tool, &why);
    let result: SentResult<'_> = serde_json::from_str(&raw).map_err(|error| wrong(error.to_string()))?;
    if result.result_type.as_deref().is_some_and(|kind| kind != "complete") {
        return Err(wrong("it asks for input, which a step has no way to give".to_owned()));
    }
    let content = result.content.iter().map(|item| serde_json::from_str::<SentContent<'_>>(item.get()));
    let content: Vec<SentContent<'_>> =
        content.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    let texts = content.iter().filter(|item| item.r#type == "text").filter_map(|item| item.text.as_deref());
    let text = texts.collect::<Vec<_>>().join("\n");
    if result.is_error {
        let said = match (text.trim(), result.structured_content) {
            ("", Some(structured)) => structured.get().to_owned(),
            ("", None) => "it does not say why".to_owned(),
            (text, _) => text.to_owned(),
        };
        return Err(ToolFailure::new(code::TOOL_FAILED, format!("tool `{tool}` failed: {}", cut(&said))));
    }
    if let Some(structured) = result.structured_content {
        return encode(structured).map_err(|error| wrong(error.to_string()));
    }
    if content.iter().all(|item| item.r#type == "text") {
        return Ok(if content.is_empty() { Value::null() } else { read_text(&text) });
    }
    let all: Vec<&str> = result.content.iter().map(|item| item.get()).collect();
    let text = serde_json::to_string(&text).expect("a text is JSON");
    let json = format!("{{\"text\":{text},\"content\":[{}]}}", all.join(","));
    let together = RawValue::from_string(json).map_err(|error| wrong(error.to_string()))?;
    encode(&together).map_err(|error| wrong(error.to_string()))
}

fn bad_answer(tool: &str, why: &str) -> ToolFailure {
    ToolFailure::new(code::BAD_TOOL_ANSWER, format!("what tool `{tool}` gave is no result: {}", cut(why)))
}

/// As much of what a server says as is kept.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text that is JSON is what it says.
fn read_text(text: &str) -> Value {
    let json = RawValue::from_string(text.trim().to_owned()).ok().and_then(|raw| encode(&raw).ok());
    json.unwrap_or_else(|| Value::from(serde_json::Value::from(text)))
}

/// The failure of a call that has no result.
pub(crate) fn failure(
    connection: &str,
    tool: &str,
    fault: &CallFault,
    redactor: &SecretRedactor,
) -> ToolFailure {
    let (code, message) = match fault {
        CallFault::NotSent(why) | CallFault::Refused(why) => {
            (code::CONNECTION_FAILED, format!("connection `{connection}` takes no call of `{tool}`: {why}"))
        }
        CallFault::Lost(why) => (
            code::CONNECTION_LOST,
            format!(
                "connection `{connection}` was lost during a call of `{tool}`, which may have acted: {why}"
            ),
        ),
        CallFault::TimedOut => (
            code::TOOL_TIMEOUT,
            format!("tool `{tool}` of connection `{connection}` did not answer in time; it may have acted"),
        ),
        CallFault::Answered(error) => {
            let data = error.data.as_ref().map(|data| match data {
                serde_json::Value::String(raw) => format!(" ({raw})"),
                other => format!(" ({other})"),
            });
            let data = data.unwrap_or_default();
            (code::TOOL_FAILED, format!("tool `{tool}` failed: {}{data}", error.message))
        }
        CallFault::TooLarge(why) => {
            return ToolFailure::new(core_code::TOO_LARGE, format!("tool `{tool}`: {why}")).last();
        }
    };
    ToolFailure::new(code, cut(&redactor.text(&message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(raw: &str) -> Result<String, String> {
        let output = output("t", raw, &SecretRedactor::new(["swordfish"]));
        output
            .map(|value| value.as_json().to_owned())
            .map_err(|failure| format!("{}: {failure}", failure.code))
    }

    #[test]
    fn outputs_are_what_tools_give() {
        let text = |text: &str| serde_json::json!({"content": [{"type": "text", "text": text}]}).to_string();
        assert_eq!(
            given(r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"n": 1.10}}"#).unwrap(),
            r#"{"n": 1.10}"#
        );
        assert_eq!(
            given(&text(r#" {"n": 123456789012345678901.10} "#)).unwrap(),
            r#"{"n": 123456789012345678901.10}"#
        );
        assert_eq!(given(&text("of swordfish")).unwrap(), r#""of [redacted]""#);
        assert_eq!(given(&text(r#"{"a":1,"a":2}"#)).unwrap(), r#""{\"a\":1,\"a\":2}""#);
        assert_eq!(given(r#"{"content":[]}"#).unwrap(), "null");
        assert_eq!(given(r#"{}"#).unwrap(), "null");
        assert_eq!(
            given(r#"{"content":[{"type":"text","text":"see"},{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#).unwrap(),
            r#"{"text":"see","content":[{"type":"text","text":"see"},{"type":"image","data":"QUJD","mimeType":"image/png"}]}"#
        );
    }

    #[test]
    fn failures_say_what_tools_say() {
        let error = |text: &str| {
            serde_json::json!({"content": [{"type": "text", "text": text}], "isError": true}).to_string()
        };
        assert_eq!(given(&error("no swordfish")).unwrap_err(), "tool_failed: tool `t` failed: no [redacted]");
        assert_eq!(
            given(r#"{"isError":true}"#).unwrap_err(),
            "tool_failed: tool `t` failed: it does not say why"
        );
        assert!(given(&error(&"x".repeat(10_000))).unwrap_err().len() < 2_100);
        assert!(given("[]").unwrap_err().starts_with("bad_tool_answer: "));
        assert!(
            given(r#"{"structuredContent":{"a":"\ud800"}}"#).unwrap_err().starts_with("bad_tool_answer: ")
        );
        assert!(given(r#"{"resultType":"input_required"}"#).unwrap_err().contains("asks for input"));
    }
}
