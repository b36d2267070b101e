//! Reading frames.
//!
//! By hand, because serde buffers the fields of an internally tagged enum, and a `RawValue` cannot be read from such a
//! buffer. All fields of all frames are in one struct, and the tag says which of them are meant.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{CallId, FromHost, Level, ModuleSource, Role, ScriptError, ToHost};

/// The value of a field that this kind of frame must have.
fn need<T, E: serde::de::Error>(field: Option<T>, name: &'static str) -> Result<T, E> {
    field.ok_or_else(|| E::missing_field(name))
}

/// A value that is there, also if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    t: String,
    id: Option<CallId>,
    realm: Option<u32>,
    memory_limit: Option<usize>,
    env: Option<BTreeMap<String, String>>,
    modules: Option<Vec<ModuleSource>>,
    file: Option<String>,
    entry: Option<bool>,
    workflow: Option<String>,
    function: Option<String>,
    role: Option<Role>,
    #[serde(default, deserialize_with = "present")]
    cx: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    input: Option<Box<RawValue>>,
    reason: Option<String>,
    keep: Option<bool>,
    op: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
    error: Option<ScriptError>,
    code: Option<String>,
    limit_ms: Option<u64>,
}

impl<'de> Deserialize<'de> for ToHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let told = Told::deserialize(deserializer)?;
        let id = || need(told.id, "id");
        let realm = || need(told.realm, "realm");
        Ok(match told.t.as_str() {
            "setup" => Self::Setup {
                memory_limit: need(told.memory_limit, "memoryLimit")?,
                env: need(told.env, "env")?,
            },
            "realm" => Self::Realm { realm: realm()?, modules: need(told.modules, "modules")? },
            "describe" => Self::Describe {
                id: id()?,
                realm: realm()?,
                file: need(told.file, "file")?,
                entry: need(told.entry, "entry")?,
            },
            "call" => Self::Call {
                id: id()?,
                realm: realm()?,
                file: need(told.file, "file")?,
                workflow: need(told.workflow, "workflow")?,
                function: need(told.function, "function")?,
                role: need(told.role, "role")?,
                cx: need(told.cx, "cx")?,
            },
            "parse" => Self::Parse {
                id: id()?,
                realm: realm()?,
                file: need(told.file, "file")?,
                workflow: need(told.workflow, "workflow")?,
                input: need(told.input, "input")?,
            },
            "abort" => Self::Abort {
                id: id()?,
                reason: need(told.reason, "reason")?,
                keep: need(told.keep, "keep")?,
            },
            "forget" => Self::Forget { id: id()? },
            "answer" => {
                Self::Answer { id: id()?, op: need(told.op, "op")?, value: told.value, error: told.error }
            }
            "drop" => Self::Drop { realm: realm()? },
            "transform" => Self::Transform {
                id: id()?,
                code: need(told.code, "code")?,
                input: need(told.input, "input")?,
                limit_ms: need(told.limit_ms, "limitMs")?,
                memory_limit: need(told.memory_limit, "memoryLimit")?,
            },
            other => return Err(D::Error::custom(format!("unknown frame `{other}`"))),
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said {
    t: String,
    id: Option<CallId>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    state: Option<Box<RawValue>>,
    error: Option<ScriptError>,
    level: Option<Level>,
    message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    fields: Option<Box<RawValue>>,
    op: Option<u32>,
    kind: Option<String>,
    #[serde(default, deserialize_with = "present")]
    args: Option<Box<RawValue>>,
}

impl<'de> Deserialize<'de> for FromHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let said = Said::deserialize(deserializer)?;
        let id = || need(said.id, "id");
        Ok(match said.t.as_str() {
            "ready" => Self::Ready {},
            "done" => Self::Done { id: id()?, value: need(said.value, "value")?, state: said.state },
            "failed" => Self::Failed { id: id()?, error: need(said.error, "error")?, state: said.state },
            "aborted" => Self::Aborted { id: id()? },
            "log" => Self::Log {
                id: id()?,
                level: need(said.level, "level")?,
                message: need(said.message, "message")?,
                fields: said.fields,
            },
            "op" => Self::Op {
                id: id()?,
                op: need(said.op, "op")?,
                kind: need(said.kind, "kind")?,
                args: need(said.args, "args")?,
            },
            "waiting" => Self::Waiting { id: id()? },
            "busy" => Self::Busy { id: id()? },
            other => return Err(D::Error::custom(format!("unknown frame `{other}`"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_as_the_text_that_they_are() {
        let text = r#"{"t":"done","id":7,"value":{"b": 1.0, "a":[ ]},"state":{}}"#;
        let FromHost::Done { id, value, state } = serde_json::from_str(text).unwrap() else { panic!() };
        assert_eq!((id, value.get(), state.unwrap().get()), (7, r#"{"b": 1.0, "a":[ ]}"#, "{}"));
    }

    #[test]
    fn null_is_a_value() {
        let FromHost::Done { value, .. } =
            serde_json::from_str(r#"{"t":"done","id":7,"value":null}"#).unwrap()
        else {
            panic!()
        };
        assert_eq!(value.get(), "null");
    }

    #[test]
    fn what_is_written_can_be_read() {
        let input = RawValue::from_string("[1]".to_owned()).unwrap();
        let frame =
            ToHost::Transform { id: 3, code: "c".to_owned(), input, limit_ms: 100, memory_limit: 1 << 20 };
        let text = serde_json::to_string(&frame).unwrap();
        let again: ToHost = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }

    #[test]
    fn a_missing_field_is_named() {
        let error = serde_json::from_str::<FromHost>(r#"{"t":"failed","id":7}"#).unwrap_err();
        assert!(error.to_string().contains("error"), "{error}");
    }
}
