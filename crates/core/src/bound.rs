//! How long the texts are that functions and people put into a history: a message of 40 MiB would be read again with
//! every look at the run, and shown in every list.
//!
//! Texts are cut where events are made, in `EventKind::bound`, so that nothing else has to. What is cut says how long it
//! was. Cutting what was cut changes nothing.

use crate::event::{BlockedReason, EventKind};
use crate::failure::{FailureOrigin, FailureRecord};
use crate::value::Value;

/// The longest message or reason that is recorded, in bytes.
pub const MESSAGE_MAX: usize = 64 * 1024;
/// The longest name of a caller that is recorded, in bytes.
pub const CALLER_MAX: usize = 256;
/// The largest details of a failure that are recorded, in bytes of JSON.
pub const DETAILS_MAX: usize = 64 * 1024;
/// The longest note of a run, in bytes: lists show it.
pub const NOTE_MAX: usize = 8 * 1024;
/// The longest stack trace of a failure, in bytes.
pub const STACK_MAX: usize = 8 * 1024;
/// The longest class or path of a failure, in bytes.
pub const ORIGIN_NAME_MAX: usize = 1024;
/// How many lines of the source are recorded with a failure.
pub const EXCERPT_LINES_MAX: usize = 7;
/// The longest of these lines, in bytes.
pub const EXCERPT_LINE_MAX: usize = 512;
/// How much of details that are too large is shown.
const EXCERPT: usize = 4 * 1024;

/// The text, or its beginning and how long it was; never more than `max` bytes.
pub fn cut(mut text: String, max: usize) -> String {
    if text.len() > max {
        let note = format!(" … ({} bytes in all)", text.len());
        let kept = text.floor_char_boundary(max.saturating_sub(note.len()));
        text.truncate(kept);
        text.push_str(&note);
    }
    text
}

impl FailureRecord {
    fn bound(&mut self) {
        bound(&mut self.message, MESSAGE_MAX);
        if let Some(details) = &self.details
            && details.len_bytes() > DETAILS_MAX
        {
            let text = details.as_json();
            let excerpt = &text[..text.floor_char_boundary(EXCERPT)];
            let cut = serde_json::json!({ "truncated": excerpt, "bytes": text.len() });
            self.details = Some(Value::from(cut));
        }
        if let Some(origin) = &mut self.origin {
            origin.bound();
        }
    }
}

impl FailureOrigin {
    fn bound(&mut self) {
        for name in [&mut self.class, &mut self.file].into_iter().flatten() {
            bound(name, ORIGIN_NAME_MAX);
        }
        self.excerpt.truncate(EXCERPT_LINES_MAX);
        for line in &mut self.excerpt {
            bound(&mut line.text, EXCERPT_LINE_MAX);
        }
        if let Some(stack) = &mut self.stack {
            bound(stack, STACK_MAX);
        }
    }
}

impl BlockedReason {
    fn bound(&mut self) {
        match self {
            Self::Undecodable { message } | Self::Nondeterminism { message } => bound(message, MESSAGE_MAX),
            Self::FunctionMissing { function, why } => {
                bound(function, MESSAGE_MAX);
                why.iter_mut().for_each(|why| bound(why, MESSAGE_MAX));
            }
            Self::Quarantined { .. } => {}
        }
    }
}

impl EventKind {
    /// Cuts what is too long to be recorded.
    pub(crate) fn bound(&mut self) {
        if let Some(failure) = self.failure_mut() {
            failure.bound();
        }
        if let Self::NodeBlocked { reason, .. } = self {
            reason.bound();
        }
        if let Self::CancelRequested { reason: Some(reason), .. } = self {
            bound(reason, MESSAGE_MAX);
        }
    }
}

fn bound(text: &mut String, max: usize) {
    if text.len() > max {
        *text = cut(std::mem::take(text), max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::SourceLine;

    #[test]
    fn what_is_cut_says_how_long_it_was_and_is_not_cut_again() {
        let long = cut("ä".repeat(50_000), MESSAGE_MAX);
        assert!(long.len() <= MESSAGE_MAX && long.ends_with("ä … (100000 bytes in all)"), "{}", long.len());
        assert_eq!(cut(long.clone(), MESSAGE_MAX), long);
        assert_eq!(cut("short".to_owned(), 5), "short");
        let mut failure = FailureRecord::new("error", "x".repeat(1 << 20));
        failure.details = Some(Value::from(serde_json::json!("\u{1}".repeat(1 << 20))));
        let line = SourceLine { line: 1, text: "y".repeat(1 << 20) };
        failure.origin = Some(Box::new(FailureOrigin {
            class: Some("C".repeat(1 << 20)),
            excerpt: vec![line; 100],
            stack: Some("s".repeat(1 << 20)),
            ..FailureOrigin::default()
        }));
        failure.bound();
        let bounded = failure.clone();
        failure.bound();
        assert_eq!(failure, bounded);
        let details = bounded.details.unwrap();
        assert!(details.len_bytes() <= DETAILS_MAX);
        assert_eq!(details.to_json()["bytes"], 6 * (1 << 20) + 2);
        let origin = serde_json::to_string(&bounded.origin).unwrap();
        assert!(origin.len() < 2 * STACK_MAX, "{}", origin.len());
    }
}
