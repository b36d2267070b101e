//! Frames that JavaScript writes.

use rquickjs::{Ctx, Exception, Result, String as JsString};
use serde::Deserialize;

use super::text;
use crate::frame::CallId;
use crate::shared::Shared;

/// Writes a frame.
pub(super) fn send(host: &Shared, frame: &JsString<'_>) -> Result<()> {
    let frame = text::well_formed(text::plain(frame)?);
    if let Some(call) = ended(&frame) {
        // It ran out of memory, whatever it says itself: the loop answers when the turn is over.
        if host.meter.refused() {
            return Ok(());
        }
        host.close(call);
    }
    host.put_text(frame.as_bytes());
    Ok(())
}

/// The call that a frame answers: the prelude writes `t` first, then `id`.
fn ended(frame: &str) -> Option<CallId> {
    let rest = frame.strip_prefix(r#"{"t":"done","id":"#);
    let rest = rest.or_else(|| frame.strip_prefix(r#"{"t":"failed","id":"#))?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

#[derive(Deserialize)]
struct Asked {
    op: u32,
}

/// Writes an `op` frame and waits for its answer, with everything else in this host.
pub(super) fn ask(ctx: &Ctx<'_>, host: &Shared, frame: &JsString<'_>) -> Result<String> {
    let frame = text::well_formed(text::plain(frame)?);
    let asked: Asked = serde_json::from_str(&frame)
        .map_err(|error| Exception::throw_type(ctx, &format!("not an operation: {error}")))?;
    host.put_text(frame.as_bytes());
    let answer = host.heed(host.pipe.borrow_mut().wait_for(asked.op)).flatten();
    match answer.and_then(|answer| String::from_utf8(answer.bytes).ok()) {
        Some(answer) => Ok(answer),
        None => {
            host.watch.close();
            Err(Exception::throw_internal(ctx, "nobody answers any more"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ended;

    #[test]
    fn answers_are_known_by_how_they_begin() {
        assert_eq!(ended(r#"{"t":"done","id":12,"value":null}"#), Some(12));
        assert_eq!(ended(r#"{"t":"failed","id":7,"error":{}}"#), Some(7));
        assert_eq!(ended(r#"{"t":"log","id":7,"level":"info","message":"x"}"#), None);
    }
}
