//! What scripts throw, as frames have it.

use rquickjs::{CaughtError, Ctx, Object, Value};

use crate::code;
use crate::frame::ScriptError;

/// An error's frames as they are. What `stack` gives is made by JavaScript, which may have no time or memory left.
const FRAMES: &str = "[[frames]]";

/// What was thrown out of JavaScript.
pub(crate) fn thrown<'js>(ctx: &Ctx<'js>, caught: CaughtError<'js>) -> ScriptError {
    match caught {
        CaughtError::Exception(exception) => of_value(ctx, &exception.into_value()),
        CaughtError::Value(value) => of_value(ctx, &value),
        CaughtError::Error(error) => plain(error.to_string()),
    }
}

/// An error that has nothing but a message.
pub(crate) fn plain(message: String) -> ScriptError {
    ScriptError { name: "Error".to_owned(), message, ..ScriptError::default() }
}

/// A value that was thrown or rejected with.
pub(crate) fn of_value<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> ScriptError {
    match value.as_object() {
        Some(object) if value.is_error() => of_error(ctx, object),
        _ => plain(format!("threw {}", shown(ctx, value))),
    }
}

fn of_error<'js>(ctx: &Ctx<'js>, error: &Object<'js>) -> ScriptError {
    ScriptError {
        name: text(ctx, error, "name").unwrap_or_else(|| "Error".to_owned()),
        message: text(ctx, error, "message").unwrap_or_default(),
        stack: text(ctx, error, FRAMES).or_else(|| text(ctx, error, "stack")),
        code: text(ctx, error, "code"),
        ..ScriptError::default()
    }
}

/// A property that is a string. A getter may throw; then there is none.
fn text<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str) -> Option<String> {
    let value: rquickjs::Result<Value<'js>> = object.get(name);
    let text = value.and_then(|value| value.as_string().map(rquickjs::String::to_string).transpose());
    quiet(ctx, text).flatten()
}

/// Anything can be thrown. Objects are not looked into: that can run code, and take for ever.
fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if value.is_object() || value.is_big_int() {
        return format!("what is no Error: {}", value.type_of());
    }
    let json = ctx.json_stringify(value.clone());
    let json = json.and_then(|json| json.map(|json| json.to_string()).transpose());
    quiet(ctx, json).flatten().unwrap_or_else(|| value.type_of().to_string())
}

/// Forgets an exception that is of no interest.
pub(crate) fn quiet<T>(ctx: &Ctx<'_>, result: rquickjs::Result<T>) -> Option<T> {
    result.inspect_err(|_| drop(ctx.catch())).ok()
}

/// The engine stopped it.
pub(crate) fn interrupted() -> ScriptError {
    ScriptError {
        name: "InterruptedError".to_owned(),
        message: "the script was stopped while it was running".to_owned(),
        code: Some(code::INTERRUPTED.to_owned()),
        ..ScriptError::default()
    }
}

/// It wanted too much.
pub(crate) fn out_of_memory() -> ScriptError {
    ScriptError {
        name: "OutOfMemoryError".to_owned(),
        message: "the script wanted more memory than it may hold".to_owned(),
        code: Some(code::MEMORY.to_owned()),
        ..ScriptError::default()
    }
}
