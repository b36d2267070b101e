//! What makes a plan wrong, all of it at once.

use std::collections::BTreeSet;

use super::{Block, Join, Node, NodeKind, Plan, Retry, Step};

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A block has nothing in it.
    #[error("{0} has no steps: add at least one")]
    Empty(String),
    /// Two nodes of one block share an id.
    #[error("two nodes of {block} are called `{id}`: give one of them another name")]
    DuplicateId {
        /// The block.
        block: String,
        /// The id.
        id: String,
    },
    /// A name that cannot be part of a path.
    #[error(
        "`{name}` is not a name for {what}: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside"
    )]
    BadName {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A number that must be at least one is zero.
    #[error("`{node}`: {field} must be at least 1")]
    Zero {
        /// The node, or the workflow.
        node: String,
        /// The setting.
        field: &'static str,
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
}

/// Whether a name can be part of a path and of a URL: not empty, not too long, no reserved characters.
pub fn check_id(what: &'static str, name: &str) -> Result<(), PlanError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | ' ');
    let good = !name.is_empty()
        && name.chars().count() <= 128
        && name.chars().all(allowed)
        && name.trim() == name
        && name != "."
        && name != "..";
    if good { Ok(()) } else { Err(PlanError::BadName { what, name: name.to_owned() }) }
}

impl Plan {
    /// Everything that is wrong with the plan; empty if it can run.
    pub fn check(&self) -> Vec<PlanError> {
        let mut errors = Vec::new();
        errors.extend(check_id("a workflow", &self.workflow).err());
        if self.timeout_ms == Some(0) {
            errors.push(PlanError::Zero { node: self.workflow.clone(), field: "timeout" });
        }
        check_block(&self.block, &format!("workflow `{}`", self.workflow), &mut errors);
        errors
    }
}

fn check_block(block: &Block, name: &str, errors: &mut Vec<PlanError>) {
    if block.nodes.is_empty() {
        errors.push(PlanError::Empty(name.to_owned()));
    }
    let mut seen = BTreeSet::new();
    for node in &block.nodes {
        errors.extend(check_id("a node", &node.id).err());
        if !seen.insert(&node.id) {
            errors.push(PlanError::DuplicateId { block: name.to_owned(), id: node.id.clone() });
        }
        check_node(node, errors);
    }
}

fn check_node(node: &Node, errors: &mut Vec<PlanError>) {
    let mut at_least_one = |value: Option<u64>, field: &'static str| {
        if value == Some(0) {
            errors.push(PlanError::Zero { node: node.id.clone(), field });
        }
    };
    match &node.kind {
        NodeKind::Step(step) => check_step(step, &mut at_least_one),
        NodeKind::Sleep(_) => {}
        NodeKind::Signal(signal) => {
            at_least_one(signal.timeout_ms, "timeout");
            errors.extend(check_id("a signal", &signal.signal).err());
        }
        NodeKind::Loop(each) => at_least_one(Some(each.max_iterations.into()), "maxIterations"),
        NodeKind::ForEach(each) => {
            at_least_one(Some(each.concurrency.into()), "concurrency");
            at_least_one(each.max_iterations.map(u64::from), "maxIterations");
        }
        NodeKind::Parallel(parallel) => check_join(node, parallel.join, parallel.branches.len(), errors),
        NodeKind::Branch(_) | NodeKind::Workflow(_) => {}
    }
    for (segment, block) in node.blocks() {
        let name = segment.map_or_else(|| node.id.clone(), |segment| format!("{}/{segment}", node.id));
        check_block(block, &format!("`{name}`"), errors);
    }
}

fn check_step(step: &Step, at_least_one: &mut impl FnMut(Option<u64>, &'static str)) {
    at_least_one(step.timeout_ms, "timeout");
    check_retry(&step.retry, at_least_one);
    if let Some(compensation) = &step.compensate {
        at_least_one(compensation.timeout_ms, "timeout");
        check_retry(&compensation.retry, at_least_one);
    }
}

fn check_retry(retry: &Retry, at_least_one: &mut impl FnMut(Option<u64>, &'static str)) {
    at_least_one(retry.max_attempts.map(u64::from), "maxAttempts");
}

fn check_join(node: &Node, join: Join, branches: usize, errors: &mut Vec<PlanError>) {
    let wanted = match join {
        Join::All => return,
        Join::First => 1,
        Join::N(n) => n,
    };
    if wanted == 0 {
        errors.push(PlanError::Zero { node: node.id.clone(), field: "join" });
    }
    if wanted as usize > branches {
        errors.push(PlanError::JoinTooLarge { node: node.id.clone(), wanted, branches });
    }
}
