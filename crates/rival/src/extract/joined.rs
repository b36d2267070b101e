//! What a parallel block joined: a map of its branches' results.

use std::fmt;

use rival_core::{FailureRecord, StepError, Value};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::output::MISSING_OUTPUT;
use super::{Asks, Call, FromStep, decode};
use crate::data::Data;

/// What the branches of a parallel block gave, by name, in the order in which the branches were added.
///
/// It is the block's result, which later steps read with `steps.get::<Joined>("setup")`, and what its `finally` may
/// ask for. Under `Join::First` and `Join::N` it holds the
/// branches that counted. With `.collect()` a branch that failed is in it with its failure. A graph with several last
/// nodes gives one too, by the nodes' ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    entries: Vec<(String, Value)>,
}

/// Why a branch failed, where failures are collected.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BranchFailure {
    /// The failure's code.
    pub code: String,
    /// The failure's message.
    pub message: String,
    /// The path of the step that failed.
    pub step: String,
}

/// How a failed branch is recorded: `{"$failed": {"code": .., "message": .., "step": ..}}`.
#[derive(Deserialize)]
struct FailedBranch {
    #[serde(rename = "$failed")]
    failed: BranchFailure,
}

impl Joined {
    /// What a branch gave. It is an error if there is no such branch, or it failed.
    pub fn get<T: Data>(&self, branch: &str) -> Result<T, StepError> {
        let Some(value) = self.value(branch) else {
            let known = self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = format!("no branch `{branch}` was joined; there are: {known}");
            return Err(FailureRecord::new(MISSING_OUTPUT, message).stop());
        };
        read(branch, value)
    }

    /// What each branch gave, in order; an error for one that failed.
    pub fn iter<T: Data>(&self) -> impl Iterator<Item = (&str, Result<T, StepError>)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), read(name, value)))
    }

    /// Why a branch failed; `None` if it did not.
    pub fn failure(&self, branch: &str) -> Option<BranchFailure> {
        failure(self.value(branch)?)
    }

    /// Whether the branch was joined, failed or not.
    pub fn contains(&self, branch: &str) -> bool {
        self.value(branch).is_some()
    }

    /// The branches that were joined, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// How many branches were joined.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no branch was joined.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What this branch gave, for calling a `finally` in a unit test. It panics if the result is not JSON.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "tests write the result in place")]
    pub fn with(mut self, branch: impl Into<String>, result: impl Serialize) -> Self {
        let result = rival_engine::encode(&result).expect("a result in a test is JSON");
        self.entries.push((branch.into(), result));
        self
    }

    fn value(&self, branch: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name == branch).map(|(_, value)| value)
    }
}

fn read<T: Data>(branch: &str, value: &Value) -> Result<T, StepError> {
    if let Some(failure) = failure(value) {
        let message = format!("branch `{branch}` failed: {}", failure.message);
        return Err(FailureRecord::new(failure.code, message).stop());
    }
    decode(value, || format!("the result of branch `{branch}`"))
}

fn failure(value: &Value) -> Option<BranchFailure> {
    let failed: FailedBranch = value.decode().ok()?;
    Some(failed.failed)
}

#[diagnostic::do_not_recommend]
impl FromStep for Joined {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let Some(joined) = &call.context.joined else {
            let message = format!("`{}` asks for Joined, but nothing was joined", call.step());
            return Err(FailureRecord::new("missing_joined", message).stop());
        };
        call.decode("the joined result", joined)
    }

    fn asks(asks: &mut Asks) {
        asks.joined = true;
    }
}

// By hand: a map type of the standard library would not keep the order.
impl Serialize for Joined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len()))?;
        self.entries.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Joined {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Joined;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of what branches gave")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Joined, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0));
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Joined { entries })
            }
        }

        deserializer.deserialize_map(Entries)
    }
}
