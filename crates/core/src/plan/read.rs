//! Plans as they are stored: their version, and how they are read.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{FunctionRef, Node, NodeKind, NodeKindName, Plan, PlanBlock, Trigger, is_zero};
use crate::value::nests_deeper;

/// The newest version of plans that this build writes and reads.
///
/// | version | since then a plan may have |
/// | --- | --- |
/// | 1 | named functions, sequences and graphs; it does not write its version |
/// | 2 | built-in functions, phases |
/// | 3 | triggers |
///
/// A plan has the oldest version that has all of what it uses, so that its JSON and its hash stay as they are.
pub const PLAN_VERSION: u32 = 3;

/// The version of plans that do not say which they have.
const OLDEST: u32 = 1;
/// The first version with built-in functions and phases.
const WITH_BUILTINS: u32 = 2;
/// The first version with triggers.
const WITH_TRIGGERS: u32 = 3;
/// As deep as `serde_json` reads: nodes are read one by one, and each of them would begin to count anew.
const DEPTH_MAX: usize = 128;

/// Why a stored plan cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    /// It is not damaged: this build is too old for it.
    #[error(
        "the plan was made by a newer version of Rival: it has version {version}, and this one reads up to {PLAN_VERSION}"
    )]
    Newer {
        /// The plan's version.
        version: u32,
    },
    /// It is no plan.
    #[error(transparent)]
    Damaged(#[from] serde_json::Error),
}

/// A plan as it is written.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenPlan<W, B, F, T> {
    #[serde(default = "oldest", skip_serializing_if = "is_oldest")]
    version: u32,
    workflow: W,
    block: B,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on_error: Option<F>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    max_retries: u32,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    triggers: Option<T>,
}

fn oldest() -> u32 {
    OLDEST
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_oldest(version: &u32) -> bool {
    *version == OLDEST
}

impl Plan {
    /// The oldest version of plans that has all of what this one uses.
    pub fn version(&self) -> u32 {
        let uses_builtins = || self.functions().iter().any(|function| function.builtin().is_some());
        if !self.triggers.is_empty() {
            WITH_TRIGGERS
        } else if self.block.is_in_phases() || uses_builtins() {
            WITH_BUILTINS
        } else {
            OLDEST
        }
    }

    /// Reads a stored plan.
    pub fn from_json(text: &str) -> Result<Self, PlanReadError> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(default = "oldest")]
            version: u32,
        }
        if nests_deeper(text, DEPTH_MAX) {
            let message = format!("a plan has at most {DEPTH_MAX} levels");
            return Err(serde_json::Error::custom(message).into());
        }
        // First of all: of a newer one nothing else can be expected to read.
        let Versioned { version } = serde_json::from_str(text)?;
        if version > PLAN_VERSION {
            return Err(PlanReadError::Newer { version });
        }
        let written: WrittenPlan<String, PlanBlock, FunctionRef, Vec<Trigger>> = serde_json::from_str(text)?;
        let WrittenPlan { version: _, workflow, block, on_error, timeout_ms, max_retries, triggers } =
            written;
        let triggers = triggers.unwrap_or_default();
        Ok(Self { workflow, block, on_error, timeout_ms, max_retries, triggers })
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { workflow, block, on_error, timeout_ms, max_retries, triggers } = self;
        let triggers = Some(triggers).filter(|triggers| !triggers.is_empty());
        let (on_error, timeout_ms, max_retries) = (on_error.as_ref(), *timeout_ms, *max_retries);
        let version = self.version();
        WrittenPlan { version, workflow, block, on_error, timeout_ms, max_retries, triggers }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(D::Error::custom)
    }
}

/// Not derived: what a node has beside its head would be read through a buffer, in which the long numbers of built-in
/// functions lose digits.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Head {
            id: String,
            #[serde(default)]
            after: Vec<String>,
            #[serde(default)]
            phase: u32,
            kind: NodeKindName,
        }
        fn read<T: DeserializeOwned, E: serde::de::Error>(raw: &RawValue) -> Result<T, E> {
            serde_json::from_str(raw.get()).map_err(E::custom)
        }
        let raw = &*Box::<RawValue>::deserialize(deserializer)?;
        let Head { id, after, phase, kind } = read::<_, D::Error>(raw)?;
        let kind = match kind {
            NodeKindName::Step => NodeKind::Step(read(raw)?),
            NodeKindName::Sleep => NodeKind::Sleep(read(raw)?),
            NodeKindName::Signal => NodeKind::Signal(read(raw)?),
            NodeKindName::Branch => NodeKind::Branch(read(raw)?),
            NodeKindName::Loop => NodeKind::Loop(read(raw)?),
            NodeKindName::ForEach => NodeKind::ForEach(read(raw)?),
            NodeKindName::Parallel => NodeKind::Parallel(read(raw)?),
            NodeKindName::Workflow => NodeKind::Workflow(read(raw)?),
            NodeKindName::Lane => return Err(D::Error::custom("a lane is no node")),
        };
        Ok(Self { id, after, phase, kind })
    }
}
