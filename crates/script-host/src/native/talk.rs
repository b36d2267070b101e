//! Frames that JavaScript writes.
//!
//! What the loop must know of them is at their beginning, as the prelude writes them: `{"done":{"id":7,` and
//! `{"op":{"id":7,"op":12,`.

use rival_core::LogLevel;
use rquickjs::{Ctx, Exception, Result, String as JsString};

use crate::frame::{CallId, FromHost};
use crate::logs::LogAdmission;
use crate::ops::HostOpOwner;
use crate::shared::HostShared;
use crate::text;

/// Writes a frame.
pub(super) fn send(host: &HostShared, realm: u32, frame: &JsString<'_>) -> Result<()> {
    let frame = text::well_formed(text::plain(frame)?);
    let call = about(&frame);
    if call.is_some_and(|call| host.is_of_another(call, realm)) {
        return Ok(());
    }
    if frame.starts_with(r#"{"log":"#) {
        log(host, call.unwrap_or_default(), &frame);
        return Ok(());
    }
    if let Some(call) = ended(&frame) {
        // Whatever it says itself, the loop answers when the turn is over.
        if host.is_cut(call) {
            return Ok(());
        }
        host.close(call);
    } else if let Some((call, op)) = asked(&frame) {
        host.asked(op, HostOpOwner { realm, call });
    }
    host.end_if_failed(host.out.put_parts(&[frame.as_bytes()]));
    Ok(())
}

/// Writes a line, unless there were too many.
fn log(host: &HostShared, call: CallId, frame: &str) {
    match host.admit_line(call, frame.len()) {
        LogAdmission::Yes => _ = host.end_if_failed(host.out.put_parts(&[frame.as_bytes()])),
        LogAdmission::No => {}
        LogAdmission::NoMore => {
            let message = "this is logged faster than it can be read: lines were dropped".to_owned();
            host.put(&FromHost::Log { id: call, level: LogLevel::Warn, message, fields: None });
        }
    }
}

/// Writes an `op` frame and waits for its answer, with everything else in this host.
pub(super) fn ask(ctx: &Ctx<'_>, host: &HostShared, frame: &JsString<'_>) -> Result<String> {
    let frame = text::well_formed(text::plain(frame)?);
    let (_, op) = asked(&frame).ok_or_else(|| Exception::throw_type(ctx, "not an operation"))?;
    let asked = host.out.put_parts(&[frame.as_bytes()]).and_then(|()| host.out.lock().flush());
    let answer =
        host.end_if_failed(asked).and_then(|()| host.end_if_failed(host.pipe.borrow_mut().wait_for(op)));
    match answer.flatten().and_then(|answer| String::from_utf8(answer.bytes).ok()) {
        Some(answer) => Ok(answer),
        None => {
            host.watch.close();
            Err(Exception::throw_internal(ctx, "nobody answers any more"))
        }
    }
}

/// The call that a frame is about: the first number in it.
fn about(frame: &str) -> Option<CallId> {
    let (_, rest) = frame.split_once(r#":{"id":"#)?;
    number(rest).map(|(call, _)| call)
}

/// The call that a frame answers.
fn ended(frame: &str) -> Option<CallId> {
    let rest = frame.strip_prefix(r#"{"done":{"id":"#);
    let rest = rest.or_else(|| frame.strip_prefix(r#"{"failed":{"id":"#))?;
    number(rest).map(|(call, _)| call)
}

/// The call and the operation of a frame that asks for something.
fn asked(frame: &str) -> Option<(CallId, u32)> {
    let (call, rest) = number(frame.strip_prefix(r#"{"op":{"id":"#)?)?;
    let (op, _) = number(rest.strip_prefix(r#","op":"#)?)?;
    Some((call, op.try_into().ok()?))
}

/// The number at the beginning, and what follows.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_known_by_how_they_begin() {
        assert_eq!(about(r#"{"log":{"id":7,"level":"info","message":"{\"done\":{\"id\":8}}"}}"#), Some(7));
        assert_eq!(ended(r#"{"done":{"id":12,"value":null}}"#), Some(12));
        assert_eq!(ended(r#"{"failed":{"id":7,"error":{}}}"#), Some(7));
        assert_eq!(ended(r#"{"log":{"id":7,"level":"info","message":"x"}}"#), None);
        assert_eq!(asked(r#"{"op":{"id":7,"op":12,"kind":"look","args":{}}}"#), Some((7, 12)));
        assert_eq!(asked(r#"{"log":{"id":7,"level":"info","message":"x"}}"#), None);
    }
}
