//! What makes a plan wrong, all of it at once. Nodes are named by their path.

use std::collections::BTreeSet;
use std::fmt;

use super::{
    BlockOrder, BranchNode, Join, NamedBlock, Node, NodeKind, OnFailure, ParallelNode, Plan, PlanBlock,
    RetryPolicy, StepNode,
};
use super::{DEFAULT_CASE, SYSTEM_PREFIX, TRIGGERS_MAX, Trigger, cycle, is_system_workflow, join};

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A block has nothing in it.
    #[error("{block} has no steps: add at least one")]
    Empty {
        /// The block.
        block: BlockName,
    },
    /// Two nodes of one block share an id.
    #[error("two nodes of {block} are called `{id}`: give one of them another name")]
    DuplicateId {
        /// The block.
        block: BlockName,
        /// The id.
        id: String,
    },
    /// A name that cannot be part of a path.
    #[error("`{name}` is not a name for {what}{}: {NAME_RULE}", inside(.block.as_ref()))]
    BadName {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// The block that has it; absent for the workflow itself.
        block: Option<BlockName>,
    },
    /// A number that must be at least one is zero.
    #[error("`{node}`: {field} must be at least 1")]
    Zero {
        /// The node, or the workflow's name.
        node: String,
        /// The setting.
        field: &'static str,
    },
    /// A parallel without branches, or a branch without cases.
    #[error("`{node}` has no {lanes}: add at least one")]
    NoLanes {
        /// The node.
        node: String,
        /// What it lacks.
        lanes: &'static str,
    },
    /// Two branches or cases of one node share a name.
    #[error("two {lanes} of `{node}` are called `{name}`: give one of them another name")]
    DuplicateLane {
        /// The node.
        node: String,
        /// What they are.
        lanes: &'static str,
        /// The name.
        name: String,
    },
    /// A join that can never be reached.
    #[error("`{node}` waits for {wanted} branches but has {branches}")]
    JoinTooLarge {
        /// The node.
        node: String,
        /// How many successes it wants.
        wanted: u32,
        /// How many branches it has.
        branches: usize,
    },
    /// Failures are collected, but not all branches are waited for.
    #[error("`{node}` collects failures, which needs the results of all branches: use join all")]
    CollectNeedsAll {
        /// The node.
        node: String,
    },
    /// Dependencies where the order already says what comes first.
    #[error("`{node}` has `after`, but its block is {order}: only the nodes of a graph have dependencies")]
    AfterOutsideOfGraph {
        /// The node.
        node: String,
        /// What its block is.
        order: &'static str,
    },
    /// A phase where there are none.
    #[error("`{node}` has a phase, but its block has none: only the nodes of phases are in one")]
    PhaseOutsideOfPhases {
        /// The node.
        node: String,
    },
    /// A phase that is not the one of the node before, nor the next.
    #[error(
        "`{node}` is in phase {phase}, where phase {expected} is expected: phases are numbered from 0 without gaps, and \
         their nodes are in that order"
    )]
    PhaseOutOfOrder {
        /// The node.
        node: String,
        /// Its phase.
        phase: u32,
        /// The highest that it could have.
        expected: u32,
    },
    /// A dependency that is not there.
    #[error("`{node}` comes after `{after}`, but {block} has no such node")]
    AfterUnknown {
        /// The node.
        node: String,
        /// What it comes after.
        after: String,
        /// The block.
        block: BlockName,
    },
    /// A name that begins as those of Rival's own workflows do.
    #[error(
        "`{name}` is a name of Rival's own: give the workflow one that does not begin with `{SYSTEM_PREFIX}`"
    )]
    Reserved {
        /// The name.
        name: String,
    },
    /// More triggers than a plan may have.
    #[error("the workflow has {count} triggers, and may have {TRIGGERS_MAX}")]
    TooManyTriggers {
        /// How many there are.
        count: usize,
    },
    /// Nodes that wait for each other.
    #[error("the nodes of {block} wait for each other: {}", arrows(.ids))]
    Cycle {
        /// The block.
        block: BlockName,
        /// Their ids, each waiting for the next; the last one is the first again.
        ids: Vec<String>,
    },
}

const NAME_RULE: &str = "use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside";

fn inside(block: Option<&BlockName>) -> String {
    match block {
        Some(BlockName::At(path)) => format!(" in `{path}`"),
        Some(BlockName::Workflow(_)) | None => String::new(),
    }
}

fn arrows(ids: &[String]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" -> ")
}

/// A block as messages name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockName {
    /// The outermost one, by the workflow's name.
    Workflow(String),
    /// Any other, by its path.
    At(String),
}

impl BlockName {
    /// The path of the block; empty for the outermost one.
    pub fn path(&self) -> &str {
        match self {
            Self::Workflow(_) => "",
            Self::At(path) => path,
        }
    }
}

impl fmt::Display for BlockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workflow(name) => write!(f, "workflow `{name}`"),
            Self::At(path) => write!(f, "`{path}`"),
        }
    }
}

/// Whether a name can be part of a path and of a URL: not empty, not too long, no reserved characters.
pub fn check_id(what: &'static str, name: &str) -> Result<(), PlanError> {
    check_name(what, name, || None)
}

fn check_name(
    what: &'static str,
    name: &str,
    block: impl FnOnce() -> Option<BlockName>,
) -> Result<(), PlanError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | ' ');
    let good = !name.is_empty()
        && name.chars().count() <= 128
        && name.chars().all(allowed)
        && name.trim() == name
        && name != "."
        && name != "..";
    if good { Ok(()) } else { Err(PlanError::BadName { what, name: name.to_owned(), block: block() }) }
}

impl Plan {
    /// Everything that is wrong with the plan; empty if it can run.
    pub fn check(&self) -> Vec<PlanError> {
        let mut check = PlanCheck { workflow: &self.workflow, errors: Vec::new() };
        check.errors.extend(check_id("a workflow", &self.workflow).err());
        check.not_reserved(&self.workflow);
        check.at_least_one(&self.workflow, "timeout", self.timeout_ms);
        check.block(&self.block, "");
        check.triggers(&self.triggers);
        check.errors
    }
}

struct PlanCheck<'a> {
    workflow: &'a str,
    errors: Vec<PlanError>,
}

impl PlanCheck<'_> {
    fn name_of(&self, path: &str) -> BlockName {
        if path.is_empty() {
            BlockName::Workflow(self.workflow.to_owned())
        } else {
            BlockName::At(path.to_owned())
        }
    }

    fn at_least_one(&mut self, node: &str, field: &'static str, value: Option<u64>) {
        if value == Some(0) {
            self.errors.push(PlanError::Zero { node: node.to_owned(), field });
        }
    }

    fn not_reserved(&mut self, name: &str) {
        if is_system_workflow(name) {
            self.errors.push(PlanError::Reserved { name: name.to_owned() });
        }
    }

    /// What their templates say is for those who fill them to check.
    fn triggers(&mut self, triggers: &[Trigger]) {
        if triggers.len() > TRIGGERS_MAX {
            self.errors.push(PlanError::TooManyTriggers { count: triggers.len() });
        }
        for (number, trigger) in triggers.iter().enumerate() {
            self.errors.extend(check_id("the workflow of a trigger", &trigger.workflow).err());
            self.not_reserved(&trigger.workflow);
            self.at_least_one(&format!("trigger {}", number + 1), "timeout", trigger.timeout_ms);
        }
    }

    fn block(&mut self, block: &PlanBlock, path: &str) {
        if block.nodes.is_empty() {
            self.errors.push(PlanError::Empty { block: self.name_of(path) });
        }
        let mut seen = BTreeSet::new();
        for node in &block.nodes {
            let bad = check_name("a node", &node.id, || Some(self.name_of(path))).err();
            self.errors.extend(bad);
            if !seen.insert(node.id.as_str()) {
                self.errors.push(PlanError::DuplicateId { block: self.name_of(path), id: node.id.clone() });
            }
            self.node(node, &join(path, &node.id));
        }
        self.order(block, path, &seen);
    }

    /// In a graph, dependencies are there and do not go round; phases follow each other. Elsewhere there are none.
    fn order(&mut self, block: &PlanBlock, path: &str, ids: &BTreeSet<&str>) {
        if block.order == BlockOrder::Phases {
            self.phases(block, path);
        }
        for node in &block.nodes {
            let at = || join(path, &node.id);
            if block.order != BlockOrder::Phases && node.phase != 0 {
                self.errors.push(PlanError::PhaseOutsideOfPhases { node: at() });
            }
            let is_free = node.after.is_empty();
            let outside = |order| PlanError::AfterOutsideOfGraph { node: at(), order };
            match block.order {
                BlockOrder::Sequence if !is_free => self.errors.push(outside("a sequence")),
                BlockOrder::Phases if !is_free => self.errors.push(outside("in phases")),
                BlockOrder::Sequence | BlockOrder::Phases => {}
                BlockOrder::Graph => {
                    for after in node.after.iter().filter(|after| !ids.contains(after.as_str())) {
                        let block = self.name_of(path);
                        self.errors.push(PlanError::AfterUnknown { node: at(), after: after.clone(), block });
                    }
                }
            }
        }
        if block.order == BlockOrder::Graph
            && let Some(ids) = cycle::find(&block.nodes)
        {
            self.errors.push(PlanError::Cycle { block: self.name_of(path), ids });
        }
    }

    fn phases(&mut self, block: &PlanBlock, path: &str) {
        let (mut current, mut next) = (0, 0);
        for node in &block.nodes {
            if (current..=next).contains(&node.phase) {
                (current, next) = (node.phase, node.phase.saturating_add(1));
            } else {
                let (node, phase) = (join(path, &node.id), node.phase);
                self.errors.push(PlanError::PhaseOutOfOrder { node, phase, expected: next });
            }
        }
    }

    fn node(&mut self, node: &Node, path: &str) {
        match &node.kind {
            NodeKind::Step(step) => self.step(step, path),
            NodeKind::Sleep(_) | NodeKind::Workflow(_) => {}
            NodeKind::Signal(signal) => {
                self.at_least_one(path, "timeout", signal.timeout_ms);
                let bad = check_name("a signal", &signal.signal, || Some(BlockName::At(path.to_owned())));
                self.errors.extend(bad.err());
            }
            NodeKind::Loop(each) => {
                self.at_least_one(path, "maxIterations", Some(each.max_iterations.into()));
            }
            NodeKind::ForEach(each) => {
                self.at_least_one(path, "concurrency", Some(each.concurrency.into()));
                self.at_least_one(path, "maxIterations", each.max_iterations.map(u64::from));
            }
            NodeKind::Parallel(parallel) => self.parallel(parallel, path),
            NodeKind::Branch(branch) => self.branch(branch, path),
        }
        for (segment, block) in node.blocks() {
            match segment {
                Some(segment) => self.block(block, &join(path, segment)),
                None => self.block(block, path),
            }
        }
    }

    fn step(&mut self, step: &StepNode, path: &str) {
        self.at_least_one(path, "timeout", step.timeout_ms);
        self.retry(&step.retry, path);
        if let Some(compensation) = &step.compensate {
            self.at_least_one(path, "timeout", compensation.timeout_ms);
            self.retry(&compensation.retry, path);
        }
    }

    fn retry(&mut self, retry: &RetryPolicy, path: &str) {
        self.at_least_one(path, "maxAttempts", retry.max_attempts.map(u64::from));
    }

    fn parallel(&mut self, parallel: &ParallelNode, path: &str) {
        self.lanes(path, ["a branch", "branches"], &parallel.branches);
        let wanted = match parallel.join {
            Join::All => return,
            Join::First => 1,
            Join::N(n) => n,
        };
        self.at_least_one(path, "join", Some(wanted.into()));
        let branches = parallel.branches.len();
        if branches > 0 && wanted as usize > branches {
            self.errors.push(PlanError::JoinTooLarge { node: path.to_owned(), wanted, branches });
        }
        if parallel.on_failure == OnFailure::Collect {
            self.errors.push(PlanError::CollectNeedsAll { node: path.to_owned() });
        }
    }

    fn branch(&mut self, branch: &BranchNode, path: &str) {
        self.lanes(path, ["a case", "cases"], &branch.cases);
        // Both would have the path `…/default`.
        if branch.default.is_some() && branch.cases.iter().any(|case| case.name == DEFAULT_CASE) {
            let (node, name) = (path.to_owned(), DEFAULT_CASE.to_owned());
            self.errors.push(PlanError::DuplicateLane { node, lanes: "cases", name });
        }
    }

    fn lanes(&mut self, path: &str, [one, many]: [&'static str; 2], lanes: &[NamedBlock]) {
        if lanes.is_empty() {
            self.errors.push(PlanError::NoLanes { node: path.to_owned(), lanes: many });
        }
        let mut seen = BTreeSet::new();
        for NamedBlock { name, .. } in lanes {
            self.errors.extend(check_name(one, name, || Some(BlockName::At(path.to_owned()))).err());
            if !seen.insert(name) {
                let (node, name) = (path.to_owned(), name.clone());
                self.errors.push(PlanError::DuplicateLane { node, lanes: many, name });
            }
        }
    }
}
