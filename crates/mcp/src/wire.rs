//! Messages as text: results go past the library of the protocol as they are written, so that no digit of a number is
//! lost and no depth is too much for it.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, CustomResult, ErrorCode, ErrorData, JsonObject, JsonRpcError,
    JsonRpcMessage, JsonRpcResponse, JsonRpcVersion2_0, RequestId, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The key under which the arguments of a call are a text.
const RAW: &str = "rival/raw";
/// The error that stands for an answer that was too large to be read.
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode(-32_098);

/// The arguments of a call, as they are written.
pub(crate) fn raw_arguments(json: &str) -> JsonObject {
    let mut object = JsonObject::new();
    object.insert(RAW.to_owned(), json.into());
    object
}

/// A message as it is sent.
pub(crate) fn write(message: &ClientJsonRpcMessage) -> serde_json::Result<String> {
    let text = serde_json::to_string(message)?;
    let Some(arguments) = arguments(message) else { return Ok(text) };
    let Some(serde_json::Value::String(raw)) = arguments.get(RAW) else { return Ok(text) };
    // Inside of a string its quotes would be escaped: it is found where it stands for the arguments, and nowhere else.
    Ok(text.replacen(&serde_json::to_string(arguments)?, raw, 1))
}

fn arguments(message: &ClientJsonRpcMessage) -> Option<&JsonObject> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CallToolRequest(call) = &request.request else { return None };
    call.params.arguments.as_ref()
}

/// Reads what a server sends.
#[derive(Debug, Default)]
pub(crate) struct WireReader {
    /// The server has answered the first request, which the library reads itself.
    is_begun: AtomicBool,
}

/// What any message has, as far as it is needed. What is not read may be as deep as it likes.
#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<RequestId>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<WireError<'a>>,
    method: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct WireError<'a> {
    #[serde(default)]
    code: i32,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl WireReader {
    /// The message that a text is; `None` if it is none.
    pub(crate) fn read(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        match self.answer(text) {
            Some(answer) => Some(answer),
            None => serde_json::from_str(text).ok(),
        }
    }

    /// The same for those who read the text themselves.
    pub(crate) fn rewrite(&self, text: &str) -> Option<String> {
        self.answer(text).and_then(|answer| serde_json::to_string(&answer).ok())
    }

    /// The answer to a request, with its result as a text.
    fn answer(&self, text: &str) -> Option<ServerJsonRpcMessage> {
        let Envelope { id, result, error, method } = serde_json::from_str(text).ok()?;
        match (id, result, error, method) {
            (Some(id), Some(result), None, None) => {
                // `initialize` is read by the library.
                if !self.is_begun.swap(true, Ordering::AcqRel) {
                    return None;
                }
                let result = ServerResult::CustomResult(CustomResult::new(result.get().into()));
                Some(JsonRpcMessage::Response(JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result }))
            }
            (Some(id), None, Some(WireError { code, message, data }), None) => {
                let data = data.map(|data| data.get().into());
                Some(failed(Some(id), ErrorData::new(ErrorCode(code), message.into_owned(), data)))
            }
            _ => None,
        }
    }
}

fn failed(id: Option<RequestId>, error: ErrorData) -> ServerJsonRpcMessage {
    JsonRpcMessage::Error(JsonRpcError::new(id, error))
}

/// The answer to a request whose answer was too large, if its ends say which request that was.
pub(crate) fn too_large(head: &[u8], tail: &[u8], bytes_max: usize) -> Option<ServerJsonRpcMessage> {
    let id = id_at_head(head).or_else(|| id_at_tail(tail))?;
    let message = format!("the answer has more than {bytes_max} bytes");
    Some(failed(Some(RequestId::Number(id)), ErrorData::new(TOO_LARGE, message, None)))
}

const ID: &str = "\"id\":";

/// `{"jsonrpc":"2.0","id":7,"result":…`
fn id_at_head(head: &[u8]) -> Option<i64> {
    let head = String::from_utf8_lossy(head);
    let (before, after) = head.split_once(ID)?;
    (!before.contains("\"result\"")).then(|| number(after)).flatten()
}

/// `…},"jsonrpc":"2.0","id":7}`
fn id_at_tail(tail: &[u8]) -> Option<i64> {
    let tail = String::from_utf8_lossy(tail);
    let (_, after) = tail.rsplit_once(ID)?;
    let rest = after.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    let is_end = rest == "}" || rest == ",\"jsonrpc\":\"2.0\"}";
    is_end.then(|| number(after)).flatten()
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams};

    use super::*;

    #[test]
    fn arguments_are_sent_as_they_are_written() {
        let raw = r#"{"n": 123456789012345678901234567890.10, "rival/raw": "x"}"#;
        let params = CallToolRequestParams::new("a\"rival/raw\"").with_arguments(raw_arguments(raw));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let text = write(&ClientJsonRpcMessage::request(request, RequestId::Number(7))).unwrap();
        assert!(text.contains(&format!("\"arguments\":{raw}")), "{text}");
    }

    fn result_of(reader: &WireReader, text: &str) -> serde_json::Value {
        match reader.read(text) {
            Some(JsonRpcMessage::Response(JsonRpcResponse {
                result: ServerResult::CustomResult(result),
                ..
            })) => result.0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn results_are_read_as_they_are_written_after_the_first() {
        let reader = WireReader::default();
        let first = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}"#;
        let Some(JsonRpcMessage::Response(first)) = reader.read(first) else { panic!("it is an answer") };
        assert!(matches!(first.result, ServerResult::InitializeResult(_)));
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let text = format!(r#"{{"result":{{"a":1.10,"deep":{deep}}},"jsonrpc":"2.0","id":1}}"#);
        assert_eq!(result_of(&reader, &text), format!(r#"{{"a":1.10,"deep":{deep}}}"#));
        assert_eq!(
            result_of(&reader, &reader.rewrite(&text).unwrap().replace("\"id\":1", "\"id\":2")),
            serde_json::to_string(&format!(r#"{{"a":1.10,"deep":{deep}}}"#)).unwrap()
        );
        let error = reader
            .read(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no","data":{"a":1.10}}}"#);
        let Some(JsonRpcMessage::Error(error)) = error else { panic!("it is an error") };
        assert_eq!(error.error, ErrorData::new(ErrorCode(-32602), "no", Some(r#"{"a":1.10}"#.into())));
        assert!(reader.read("garbage").is_none() && reader.read("{}").is_none());
    }

    #[test]
    fn an_answer_that_is_too_large_is_known_by_its_ends() {
        let of = |head: &str, tail: &str| match too_large(head.as_bytes(), tail.as_bytes(), 10) {
            Some(JsonRpcMessage::Error(error)) => error.id,
            _ => None,
        };
        let id = Some(RequestId::Number(7));
        assert_eq!(of(r#"{"jsonrpc":"2.0","id":7,"result":{"#, "}}"), id);
        assert_eq!(of(r#"{"result":{"a":"#, r#""},"jsonrpc":"2.0","id":7}"#), id);
        assert_eq!(of(r#"{"result":{"id":5,"#, r#""}}"#), None);
        assert_eq!(of("garbage", "garbage"), None);
    }
}
