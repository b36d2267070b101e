//! A workflow in the making, without its types: what the builders collect until `build()`.

use std::any::TypeId;
use std::panic::Location;

use rival_core::plan::{BlockOrder, Join, OnFailure};

use crate::after::Dependency;
use crate::data::InputData;
use crate::delay::Delay;
use crate::extract::TypeAsk;
use crate::nested::NestedDraft;
use crate::signal::SignalDraft;
use crate::step::{NodeDraft, StepDraft};
use crate::trigger::Trigger;

/// Where a part of a workflow was written.
pub(crate) type SourceLocation = &'static Location<'static>;

/// A workflow in the making.
#[derive(Debug)]
pub(crate) struct WorkflowDraft {
    pub(crate) head: HeadDraft,
    pub(crate) block: BlockDraft,
}

/// What is the workflow's own, beside its block.
#[derive(Debug)]
pub(crate) struct HeadDraft {
    pub(crate) name: String,
    pub(crate) location: SourceLocation,
    pub(crate) description: Option<String>,
    pub(crate) input: Option<InputType>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_retries: u32,
    pub(crate) on_error: Option<(StepDraft, SourceLocation)>,
    pub(crate) triggers: Vec<Trigger>,
}

impl HeadDraft {
    pub(crate) fn new(name: String, location: SourceLocation) -> Self {
        let (description, input, timeout_ms, on_error) = (None, None, None, None);
        let triggers = Vec::new();
        Self { name, location, description, input, timeout_ms, max_retries: 0, on_error, triggers }
    }
}

/// The declared input.
#[derive(Clone, Debug)]
pub(crate) struct InputType {
    pub(super) ty: TypeAsk,
    pub(super) schema: serde_json::Value,
}

impl InputType {
    pub(crate) fn of<T: InputData>() -> Self {
        Self { ty: TypeAsk::of::<T>(), schema: schemars::schema_for!(T).to_value() }
    }

    pub(super) fn is(&self, id: TypeId) -> bool {
        self.ty.id == id
    }
}

/// A block in the making.
#[derive(Debug)]
pub(crate) struct BlockDraft {
    pub(crate) order: BlockOrder,
    pub(crate) result: BlockResult,
    pub(crate) parts: Vec<DraftNode>,
    pub(crate) location: SourceLocation,
}

/// What a block says that it gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockResult {
    /// What the node added last gives.
    Last,
    /// A map of what its last nodes give.
    Joined,
}

impl BlockDraft {
    pub(crate) fn new(order: BlockOrder, location: SourceLocation) -> Self {
        Self { order, result: BlockResult::Last, parts: Vec::new(), location }
    }

    pub(crate) fn push(&mut self, draft: NodeDraft, location: SourceLocation) {
        let (part, after) = match draft {
            NodeDraft::Step(mut step) => {
                let after = std::mem::take(&mut step.after);
                (NodePart::Step(Box::new(step)), after)
            }
            NodeDraft::Sleep(mut delay) => {
                let after = std::mem::take(&mut delay.after);
                (NodePart::Sleep(Box::new(delay)), after)
            }
            NodeDraft::Signal(mut signal) => {
                let after = std::mem::take(&mut signal.after);
                (NodePart::Signal(Box::new(signal)), after)
            }
        };
        self.parts.push(DraftNode { part, after, location });
    }
}

/// A node in the making.
#[derive(Debug)]
pub(crate) struct DraftNode {
    pub(crate) part: NodePart,
    pub(crate) after: Vec<Dependency>,
    pub(crate) location: SourceLocation,
}

/// What a node in the making is.
#[derive(Debug)]
pub(crate) enum NodePart {
    Step(Box<StepDraft>),
    Sleep(Box<Delay>),
    Signal(Box<SignalDraft>),
    Nested { nested: NestedDraft, input: Option<Box<StepDraft>> },
    Branch(Box<BranchDraft>),
    Loop(Box<LoopDraft>),
    Each(Box<EachDraft>),
    Parallel(Box<ParallelDraft>),
}

/// A named block in the making: a branch or a case.
#[derive(Debug)]
pub(crate) struct LaneDraft {
    pub(crate) name: String,
    pub(crate) block: BlockDraft,
}

impl LaneDraft {
    fn named(&self) -> (Option<&str>, &BlockDraft) {
        (Some(&self.name), &self.block)
    }
}

/// A choice in the making.
#[derive(Debug)]
pub(crate) struct BranchDraft {
    pub(crate) name: String,
    pub(crate) choose: StepDraft,
    pub(crate) cases: Vec<LaneDraft>,
    pub(crate) default: Option<BlockDraft>,
}

/// A loop in the making.
#[derive(Debug)]
pub(crate) struct LoopDraft {
    pub(crate) name: String,
    pub(crate) body: BlockDraft,
    /// What an iteration gives.
    pub(crate) gives: TypeAsk,
    pub(crate) test: TestDraft,
    pub(crate) max_iterations: u32,
}

/// A loop's test in the making.
#[derive(Debug)]
pub(crate) enum TestDraft {
    Until(StepDraft),
    While(StepDraft),
}

/// A forEach in the making.
#[derive(Debug)]
pub(crate) struct EachDraft {
    pub(crate) name: String,
    pub(crate) items: StepDraft,
    /// What one item is.
    pub(crate) item: TypeAsk,
    pub(crate) body: BlockDraft,
    pub(crate) concurrency: u32,
    pub(crate) max_iterations: Option<u32>,
}

/// A parallel block in the making.
#[derive(Debug)]
pub(crate) struct ParallelDraft {
    pub(crate) name: String,
    pub(crate) branches: Vec<LaneDraft>,
    pub(crate) join: Join,
    pub(crate) on_failure: OnFailure,
    pub(crate) finally: Option<StepDraft>,
}

impl NodePart {
    /// The blocks inside, each with the path segment that it adds, in the order of the plan.
    pub(super) fn blocks(&self) -> Vec<(Option<&str>, &BlockDraft)> {
        match self {
            Self::Step(_) | Self::Sleep(_) | Self::Signal(_) | Self::Nested { .. } => Vec::new(),
            Self::Branch(branch) => {
                let default = branch.default.as_ref().map(|block| (Some("default"), block));
                branch.cases.iter().map(LaneDraft::named).chain(default).collect()
            }
            Self::Loop(each) => vec![(None, &each.body)],
            Self::Each(each) => vec![(None, &each.body)],
            Self::Parallel(parallel) => parallel.branches.iter().map(LaneDraft::named).collect(),
        }
    }

    /// The step, if it is one.
    pub(super) fn step(&self) -> Option<&StepDraft> {
        match self {
            Self::Step(step) => Some(step),
            Self::Sleep(_)
            | Self::Signal(_)
            | Self::Nested { .. }
            | Self::Branch(_)
            | Self::Loop(_)
            | Self::Each(_)
            | Self::Parallel(_) => None,
        }
    }
}
