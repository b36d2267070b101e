//! Trace context, as the W3C writes it: which trace a run belongs to, and which span is its parent.
//!
//! Nothing of it is remembered but what came from outside. The ids of runs and calls are functions of what they name,
//! so that every process that ever works on a run, and every service that is told of it, gets the same.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::event::CallRole;
use crate::ids::RunId;
use crate::path::Path;

/// A place in a trace: the value of the header `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The trace.
    pub trace_id: [u8; 16],
    /// The span in it.
    pub span_id: [u8; 8],
    /// Whether the trace is recorded.
    pub sampled: bool,
}

impl TraceParent {
    /// Reads a header. One that is not as the standard says counts as none.
    pub fn parse(header: &str) -> Option<Self> {
        let (head, rest) = header.split_at_checked(55)?;
        let mut parts = head.split('-');
        let [version] = hex(parts.next()?)?;
        // A later version may add something after another dash.
        let more = version != 0 && rest.starts_with('-');
        if version == 0xff || !(rest.is_empty() || more) {
            return None;
        }
        let (trace_id, span_id, [flags]) = (hex(parts.next()?)?, hex(parts.next()?)?, hex(parts.next()?)?);
        let good = parts.next().is_none() && trace_id != [0; 16] && span_id != [0; 8];
        good.then_some(Self { trace_id, span_id, sampled: flags & 1 == 1 })
    }

    /// The span of a run. It is in the trace of the caller that started it, if that is known, and else in one of its own.
    #[must_use]
    pub fn of_run(run: &RunId, starter: Option<Self>) -> Self {
        let trace_id = starter.map_or_else(|| id("trace", [run.as_str()]), |starter| starter.trace_id);
        let span_id = id("run", [run.as_str()]);
        Self { trace_id, span_id, sampled: starter.is_none_or(|starter| starter.sampled) }
    }

    /// The span of a call of a function, in the trace of its run.
    #[must_use]
    pub fn of_call(self, run: &RunId, node: &Path, role: CallRole, call: u32) -> Self {
        let call = call.to_string();
        Self { span_id: id("call", [run.as_str(), node.as_str(), role.name(), &call]), ..self }
    }
}

/// The first bytes of a hash. Must never change: spans of one run are written by builds of years.
fn id<const N: usize, const P: usize>(kind: &str, parts: [&str; P]) -> [u8; N] {
    let mut hash = Sha256::new();
    hash.update(kind);
    for part in parts {
        hash.update([0]);
        hash.update(part);
    }
    let hash = hash.finalize();
    let mut id: [u8; N] = std::array::from_fn(|at| hash[at]);
    // Zero stands for no id.
    if id == [0; N] {
        id[N - 1] = 1;
    }
    id
}

/// Bytes in lower-case hexadecimal, exactly as many.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |c: u8| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("00-")?;
        self.trace_id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("-")?;
        self.span_id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(if self.sampled { "-01" } else { "-00" })
    }
}

impl fmt::Debug for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceParent({self})")
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceParent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format!("`{text}` is no trace parent")))
    }
}
