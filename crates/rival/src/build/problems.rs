//! What the core finds wrong with a plan, in the words of the builder and with the line it comes from.

use rival_core::Plan;
use rival_core::plan::PlanError;

use super::{Draft, Place};
use crate::error::BuildError;

/// Adds what is wrong with the plan.
pub(super) fn of_plan(draft: &Draft, ids: &[String], plan: &Plan, problems: &mut Vec<BuildError>) {
    problems.extend(plan.check().iter().map(|error| {
        let (message, node) = in_words(error);
        BuildError::new(message, place(draft, ids, node))
    }));
}

/// The message, and the node it is about.
fn in_words(error: &PlanError) -> (String, Option<&str>) {
    match error {
        PlanError::DuplicateId { id, .. } => {
            (format!("two steps are called `{id}`: give one another name with `.named(\"..\")`"), Some(id))
        }
        PlanError::Zero { node, field: "timeout" } => {
            (format!("`{node}`: a timeout must be at least 1 ms"), Some(node))
        }
        PlanError::Zero { node, field: "maxAttempts" } => {
            (format!("`{node}`: retry(0) would never call it: write at least 1"), Some(node))
        }
        PlanError::BadName { name, .. } => (error.to_string(), Some(name)),
        other => (other.to_string(), None),
    }
}

/// The line of the last node with this id: of two, the second is the one too many.
fn place(draft: &Draft, ids: &[String], node: Option<&str>) -> Place {
    let at = node.and_then(|node| ids.iter().rposition(|id| id == node));
    at.map_or(draft.location, |at| draft.parts[at].location)
}
