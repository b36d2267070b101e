//! The small types that name things: runs, events, moments.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names one run. Generated (UUIDv7) or chosen by the caller; cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Arc<str>);

impl RunId {
    /// A run id from any text; what is allowed in it is checked where runs are started.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the nth child of this run: `order-7~c1`.
    #[must_use]
    pub fn child(&self, n: u32) -> Self {
        Self::new(format!("{self}~c{n}"))
    }

    /// The id of the run that retries this one by itself: `order-7`, `order-7~1`, `order-7~2` …
    #[must_use]
    pub fn next_retry(&self) -> Self {
        let numbered = self.0.rsplit_once('~').and_then(|(id, n)| Some((id, n.parse::<u32>().ok()?)));
        let (id, n) = numbered.unwrap_or((&self.0, 0));
        Self::new(format!("{id}~{}", n.saturating_add(1)))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({})", self.0)
    }
}

impl From<&str> for RunId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for RunId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// The number of an event within its run: 1, 2, 3 … without gaps. Zero means "before the first".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const ZERO: Self = Self(0);

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A moment: milliseconds since the Unix epoch. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// This moment plus a number of milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to this moment; zero if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }
}
