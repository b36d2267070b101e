//! The plan: a workflow's structure as data.
//!
//! A plan holds no functions, only their names, and the data of built-in ones. It drives execution, validation,
//! versioning and the picture in the UI. Its JSON form is canonical, so that [`Plan::hash`] names a version.

mod check;
mod cycle;
mod diff;
mod draw;
mod function;
mod graph;
mod index;
mod read;
mod trigger;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use check::{BlockName, PlanError, check_id};
pub use diff::{NodeChange, NodeMove, NodeName, PlanDiff, SettingChange};
pub use function::{BadBuiltin, Builtin, FunctionRef, MOMENT_BUILTIN, VALUE_BUILTIN};
pub use graph::{Graph, GraphEdge, GraphNode, GraphTrigger};
pub use index::{BlockRef, IndexedPlan, NodeRef};
pub use read::{PLAN_VERSION, PlanReadError};
pub use trigger::{
    SYSTEM_PREFIX, TRIGGER_BUILTIN, TRIGGER_DEPTH_MAX, TRIGGER_ITEMS_MAX, TRIGGERS_MAX, TRIGGERS_WORKFLOW,
    Trigger, is_system_workflow,
};

use crate::event::CallRole;

/// Stands in function names between the words and a fingerprint of what has no name. No name of a node has it.
pub const TEXT_MARK: char = '~';

/// A short name for what has none: the same for the same text, wherever it stands.
pub fn fingerprint(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a function, or a node around it, has no name of its own and is known by what it is.
pub fn is_unnamed(function: &str) -> bool {
    function.contains(TEXT_MARK)
}

/// A workflow's structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The workflow's name.
    pub workflow: String,
    /// What runs.
    pub block: PlanBlock,
    /// Called once when a run fails, before its terminal event.
    pub on_error: Option<FunctionRef>,
    /// A run that is older fails with `run_timeout`.
    pub timeout_ms: Option<u64>,
    /// How often a failed run is retried by itself, as a new run from the failed node.
    pub max_retries: u32,
    /// What a completed run starts.
    pub triggers: Vec<Trigger>,
}

/// Nodes in order, as a graph, or in phases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanBlock {
    /// How the nodes follow each other.
    #[serde(default, skip_serializing_if = "BlockOrder::is_sequence")]
    pub order: BlockOrder,
    /// The nodes.
    pub nodes: Vec<Node>,
}

/// How the nodes of a block follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BlockOrder {
    /// One after the other.
    #[default]
    Sequence,
    /// Each as soon as its dependencies are done.
    Graph,
    /// All nodes of a phase side by side, as soon as all nodes of the phase before are done. A graph could say the same with
    /// as many dependencies as the product of both phases has.
    Phases,
}

impl BlockOrder {
    fn is_sequence(&self) -> bool {
        matches!(self, Self::Sequence)
    }
}

/// One element of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Unique within its block.
    pub id: String,
    /// In a graph: the nodes of the same block that come before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// In phases: which, from 0 and without gaps. The nodes of a block are in the order of their phases.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub phase: u32,
    /// What it is.
    #[serde(flatten)]
    pub kind: NodeKind,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum NodeKind {
    /// Calls a function.
    Step(StepNode),
    /// Waits for a time.
    Sleep(SleepNode),
    /// Waits for a message from outside.
    Signal(SignalNode),
    /// Runs one of several blocks.
    Branch(BranchNode),
    /// Runs a block again and again.
    Loop(LoopNode),
    /// Runs a block for each item of a list.
    ForEach(ForEachNode),
    /// Runs blocks side by side.
    Parallel(ParallelNode),
    /// Runs another workflow's block in place.
    Workflow(NestedNode),
}

/// What a node is, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = NodeKind))]
#[allow(missing_docs, reason = "see NodeKind")]
pub enum NodeKindName {
    Step,
    Sleep,
    Signal,
    Branch,
    Loop,
    ForEach,
    Parallel,
    Workflow,
    /// Only where a plan is drawn: a branch of a parallel, or a case of a branch.
    Lane,
}

impl NodeKindName {
    /// The glossary's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Sleep => "sleep",
            Self::Signal => "signal",
            Self::Branch => "branch",
            Self::Loop => "loop",
            Self::ForEach => "forEach",
            Self::Parallel => "parallel",
            Self::Workflow => "workflow",
            Self::Lane => "lane",
        }
    }
}

impl NodeKind {
    /// The name of the kind.
    pub fn name(&self) -> NodeKindName {
        match self {
            Self::Step(_) => NodeKindName::Step,
            Self::Sleep(_) => NodeKindName::Sleep,
            Self::Signal(_) => NodeKindName::Signal,
            Self::Branch(_) => NodeKindName::Branch,
            Self::Loop(_) => NodeKindName::Loop,
            Self::ForEach(_) => NodeKindName::ForEach,
            Self::Parallel(_) => NodeKindName::Parallel,
            Self::Workflow(_) => NodeKindName::Workflow,
        }
    }

    /// The glossary's word for the kind.
    pub fn word(&self) -> &'static str {
        self.name().word()
    }

    /// Whether it has no blocks inside.
    pub fn is_leaf(&self) -> bool {
        match self {
            Self::Step(_) | Self::Sleep(_) | Self::Signal(_) => true,
            Self::Branch(_) | Self::Loop(_) | Self::ForEach(_) | Self::Parallel(_) | Self::Workflow(_) => {
                false
            }
        }
    }

    /// The function that such a node calls in this role, if it has one.
    pub fn function(&self, role: CallRole) -> Option<&FunctionRef> {
        match self {
            Self::Step(step) => match role {
                CallRole::Step => Some(&step.function),
                CallRole::OnError => step.on_error.as_ref(),
                CallRole::Compensate => step.compensate.as_ref().map(|undo| &undo.function),
                _ => None,
            },
            Self::Sleep(sleep) => match &sleep.wait {
                SleepLength::Computed(function) => (role == CallRole::Wait).then_some(function),
                SleepLength::ForMs(_) | SleepLength::UntilMs(_) => None,
            },
            Self::Signal(_) => None,
            Self::Branch(branch) => (role == CallRole::Choose).then_some(&branch.choose),
            Self::Loop(each) => match &each.test {
                LoopTest::Until(test) | LoopTest::While(test) => (role == CallRole::Test).then_some(test),
            },
            Self::ForEach(each) => (role == CallRole::Items).then_some(&each.items),
            Self::Parallel(parallel) => parallel.finally.as_ref().filter(|_| role == CallRole::Finally),
            Self::Workflow(nested) => match role {
                CallRole::Input => nested.input.as_ref(),
                CallRole::OnError => nested.on_error.as_ref(),
                _ => None,
            },
        }
    }
}

/// A leaf that calls a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StepNode {
    /// The function.
    pub function: FunctionRef,
    /// When and how often it is tried.
    #[serde(flatten)]
    pub retry: RetryPolicy,
    /// Longest time one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What a timeout does.
    #[serde(skip_serializing_if = "is_default")]
    pub on_timeout: OnTimeout,
    /// Called at the step's terminal failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<FunctionRef>,
    /// A failure is recorded and the run goes on.
    #[serde(skip_serializing_if = "is_default")]
    pub continue_on_error: bool,
    /// A call cut short by a crash fails the step instead of being made again.
    #[serde(skip_serializing_if = "is_default")]
    pub at_most_once: bool,
    /// Undoes the step when the run fails or is cancelled later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensate: Option<CompensationSpec>,
}

/// How a step is undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompensationSpec {
    /// The function.
    pub function: FunctionRef,
    /// When and how often it is tried.
    #[serde(flatten)]
    pub retry: RetryPolicy,
    /// Longest time one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// When and how often a function is tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RetryPolicy {
    /// Total attempts; absent means one, and lets an error's own wish decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<u32>,
    /// How the delay between attempts grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<BackoffKind>,
    /// The base delay; absent means one second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// Shortens each delay by up to half, so that failures do not return in step.
    #[serde(skip_serializing_if = "is_default")]
    pub jitter: bool,
}

/// How the delay between attempts grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BackoffKind {
    /// Base × n.
    #[default]
    Linear,
    /// Base × 2ⁿ⁻¹.
    Exponential,
}

/// What a timeout does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnTimeout {
    /// The step fails.
    #[default]
    Stop,
    /// The step is tried again while attempts remain.
    Retry,
}

/// A wait for a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SleepNode {
    /// How long, or until when.
    pub wait: SleepLength,
}

/// How long a sleep lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SleepLength {
    /// This many milliseconds.
    ForMs(u64),
    /// Until this moment, in milliseconds since the Unix epoch.
    UntilMs(i64),
    /// What this function says: `{"forMs": n}` or `{"untilMs": n}`.
    Computed(FunctionRef),
}

/// A wait for a message from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignalNode {
    /// The signal's name.
    pub signal: String,
    /// How long to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether a timeout is a value (`null`) rather than a failure.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeout_is_value: bool,
}

/// The name of the lane that a branch's default runs in.
pub const DEFAULT_CASE: &str = "default";

/// A choice between blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchNode {
    /// Says which case applies; `true` and `false` mean the cases `then` and `else`.
    pub choose: FunctionRef,
    /// The cases in the order they were written.
    pub cases: Vec<NamedBlock>,
    /// Runs when no case applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<PlanBlock>,
}

/// A block with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedBlock {
    /// The branch's or case's name.
    pub name: String,
    /// What it runs.
    pub block: PlanBlock,
}

/// A block that runs again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopNode {
    /// What is repeated.
    pub body: PlanBlock,
    /// When to stop.
    pub test: LoopTest,
    /// More iterations than this are an error.
    pub max_iterations: u32,
}

/// When a loop stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LoopTest {
    /// Checked after each iteration; true ends the loop.
    Until(FunctionRef),
    /// Checked before each iteration; false ends the loop.
    While(FunctionRef),
}

/// A block that runs for each item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForEachNode {
    /// Gives the list.
    pub items: FunctionRef,
    /// What runs for each.
    pub body: PlanBlock,
    /// How many items run at a time; one means in order.
    pub concurrency: u32,
    /// More items than this are an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
}

/// Blocks that run side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParallelNode {
    /// The branches, in definition order.
    pub branches: Vec<NamedBlock>,
    /// What it waits for.
    #[serde(default)]
    pub join: Join,
    /// Whether a hard failure fails the block, or all branches finish and show their failures.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_failure: OnFailure,
    /// Maps the joined result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finally: Option<FunctionRef>,
}

/// What a parallel block waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Join {
    /// Every branch.
    #[default]
    All,
    /// The first success.
    First,
    /// This many successes.
    N(u32),
}

/// What a hard failure in a branch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnFailure {
    /// The block fails.
    #[default]
    Fail,
    /// All branches finish; failures are shown per branch.
    Collect,
}

/// Another workflow's block, run in place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NestedNode {
    /// The nested workflow's name.
    pub workflow: String,
    /// What it runs.
    pub block: PlanBlock,
    /// Gives the nested input; absent means the parent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<FunctionRef>,
    /// The nested workflow's own error handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_error: Option<FunctionRef>,
}

/// Names a version of a plan: the SHA-256 of its canonical JSON.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct PlanHash(std::sync::Arc<str>);

impl PlanHash {
    /// A hash as it was stored.
    pub fn new(hex: impl Into<std::sync::Arc<str>>) -> Self {
        Self(hex.into())
    }

    /// The hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanHash({})", self.0)
    }
}

impl Plan {
    /// The canonical JSON: field order is fixed, defaults are left out.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan has only string keys and finite numbers")
    }

    /// Names this version of the plan.
    pub fn hash(&self) -> PlanHash {
        let digest = Sha256::digest(self.to_json().as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        PlanHash::new(hex)
    }

    /// All functions that it names, in its blocks and as its handler.
    pub fn functions(&self) -> Vec<&FunctionRef> {
        let mut functions = self.on_error.iter().collect();
        self.block.add_functions(&mut functions);
        functions
    }

    /// The names of the signals that its nodes wait for.
    pub fn signals(&self) -> BTreeSet<&str> {
        let mut signals = BTreeSet::new();
        self.block.add_signals(&mut signals);
        signals
    }

    /// How many steps it has, in all blocks.
    pub fn step_count(&self) -> usize {
        self.block.step_count()
    }
}

impl PlanBlock {
    /// A sequence of nodes.
    pub fn sequence(nodes: Vec<Node>) -> Self {
        Self { order: BlockOrder::Sequence, nodes }
    }

    /// Nodes in phases: each inner list runs side by side.
    pub fn phases(phases: Vec<Vec<Node>>) -> Self {
        let numbered = (0..)
            .zip(phases)
            .flat_map(|(phase, nodes)| nodes.into_iter().map(move |node| Node { phase, ..node }));
        Self { order: BlockOrder::Phases, nodes: numbered.collect() }
    }

    fn is_in_phases(&self) -> bool {
        let inside = |node: &Node| node.blocks().into_iter().any(|(_, block)| block.is_in_phases());
        self.order == BlockOrder::Phases || self.nodes.iter().any(inside)
    }

    fn add_functions<'a>(&'a self, functions: &mut Vec<&'a FunctionRef>) {
        for node in &self.nodes {
            functions.extend(node.functions());
            node.blocks().into_iter().for_each(|(_, block)| block.add_functions(functions));
        }
    }

    fn step_count(&self) -> usize {
        self.nodes.iter().map(Node::step_count).sum()
    }

    fn add_signals<'a>(&'a self, signals: &mut BTreeSet<&'a str>) {
        for node in &self.nodes {
            if let NodeKind::Signal(signal) = &node.kind {
                signals.insert(&signal.signal);
            }
            node.blocks().iter().for_each(|(_, block)| block.add_signals(signals));
        }
    }
}

impl Node {
    /// A node without explicit dependencies.
    pub fn new(id: impl Into<String>, kind: NodeKind) -> Self {
        Self { id: id.into(), after: Vec::new(), phase: 0, kind }
    }

    /// The blocks inside this node, each with the path segment it adds (none for a plain body).
    pub fn blocks(&self) -> Vec<(Option<&str>, &PlanBlock)> {
        match &self.kind {
            NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => Vec::new(),
            NodeKind::Branch(branch) => {
                let cases = branch.cases.iter().map(|case| (Some(case.name.as_str()), &case.block));
                cases.chain(branch.default.as_ref().map(|block| (Some(DEFAULT_CASE), block))).collect()
            }
            NodeKind::Loop(each) => vec![(None, &each.body)],
            NodeKind::ForEach(each) => vec![(None, &each.body)],
            NodeKind::Parallel(parallel) => {
                parallel.branches.iter().map(|branch| (Some(branch.name.as_str()), &branch.block)).collect()
            }
            NodeKind::Workflow(nested) => vec![(None, &nested.block)],
        }
    }

    /// The functions that the node itself names, without those of nodes inside it.
    pub fn functions(&self) -> Vec<&FunctionRef> {
        match &self.kind {
            NodeKind::Step(step) => {
                let undo = step.compensate.as_ref().map(|compensation| &compensation.function);
                std::iter::once(&step.function).chain(&step.on_error).chain(undo).collect()
            }
            NodeKind::Sleep(sleep) => match &sleep.wait {
                SleepLength::ForMs(_) | SleepLength::UntilMs(_) => Vec::new(),
                SleepLength::Computed(function) => vec![function],
            },
            NodeKind::Signal(_) => Vec::new(),
            NodeKind::Branch(branch) => vec![&branch.choose],
            NodeKind::Loop(each) => match &each.test {
                LoopTest::Until(function) | LoopTest::While(function) => vec![function],
            },
            NodeKind::ForEach(each) => vec![&each.items],
            NodeKind::Parallel(parallel) => parallel.finally.iter().collect(),
            NodeKind::Workflow(nested) => nested.input.iter().chain(&nested.on_error).collect(),
        }
    }

    fn step_count(&self) -> usize {
        match &self.kind {
            NodeKind::Step(_) => 1,
            NodeKind::Sleep(_)
            | NodeKind::Signal(_)
            | NodeKind::Branch(_)
            | NodeKind::Loop(_)
            | NodeKind::ForEach(_)
            | NodeKind::Parallel(_)
            | NodeKind::Workflow(_) => self.blocks().iter().map(|(_, block)| block.step_count()).sum(),
        }
    }
}

/// The path of a node or lane in the block at a path.
fn join(at: &str, id: &str) -> String {
    if at.is_empty() { id.to_owned() } else { format!("{at}/{id}") }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
