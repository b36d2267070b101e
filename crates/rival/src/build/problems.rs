//! What the core finds wrong with a plan, in the words of the builder and with the line it comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use rival_core::Plan;
use rival_core::plan::{BlockName, PlanError};

use super::BuiltWorkflow;
use super::draft::{HeadDraft, NodePart, SourceLocation};
use super::outline::{PlanOutline, join};
use crate::error::BuildError;

/// Adds what is wrong with the plan.
pub(super) fn of_plan(
    draft: &HeadDraft,
    outline: &PlanOutline<'_>,
    plan: &Plan,
    problems: &mut Vec<BuildError>,
) {
    let errors = plan.check();
    if errors.is_empty() {
        return;
    }
    let places = places(outline);
    problems.extend(errors.iter().map(|error| {
        let place = places.get(path(error).as_str()).copied();
        BuildError::new(in_words(error), place.unwrap_or(draft.location))
    }));
}

/// Adds nested workflows of one name that are not the same one: which is which would follow from their order.
pub(super) fn of_nested(outline: &PlanOutline<'_>, problems: &mut Vec<BuildError>) {
    for scope in &outline.blocks {
        let mut known: BTreeMap<&str, &Arc<BuiltWorkflow>> = BTreeMap::new();
        for part in &scope.draft.parts {
            let NodePart::Nested { nested, .. } = &part.part else { continue };
            let name = nested.built.plan.workflow.as_str();
            if nested.named.is_none()
                && !Arc::ptr_eq(known.entry(name).or_insert(&nested.built), &nested.built)
            {
                let message = format!(
                    "two nested workflows are called `{name}`: give one another name with `.named(\"..\")`"
                );
                problems.push(BuildError::new(message, part.location));
            }
        }
    }
}

/// The lines of all nodes and lanes; of two with one path the second, which is the one too many.
fn places<'a>(outline: &'a PlanOutline<'_>) -> BTreeMap<&'a str, SourceLocation> {
    let blocks = outline.blocks.iter().map(|scope| (scope.path.as_str(), scope.draft.location));
    let nodes = outline.nodes.iter().map(|site| (site.path.as_str(), site.part.location));
    blocks.chain(nodes).collect()
}

/// The path of the node or lane that an error is about.
fn path(error: &PlanError) -> String {
    match error {
        PlanError::Empty { block } | PlanError::Cycle { block, .. } => block.path().to_owned(),
        PlanError::DuplicateId { block, id } => join(block.path(), id),
        PlanError::BadName { name, block, .. } => join(block.as_ref().map_or("", BlockName::path), name),
        PlanError::DuplicateLane { node, name, .. } => join(node, name),
        PlanError::Zero { node, .. }
        | PlanError::NoLanes { node, .. }
        | PlanError::JoinTooLarge { node, .. }
        | PlanError::CollectNeedsAll { node }
        | PlanError::AfterOutsideOfGraph { node, .. }
        | PlanError::AfterUnknown { node, .. } => node.clone(),
        // Whatever else the core finds is said with the workflow's own line.
        _ => String::new(),
    }
}

fn in_words(error: &PlanError) -> String {
    match error {
        PlanError::DuplicateId { block, id } => {
            let inside = match block {
                BlockName::Workflow(_) => String::new(),
                BlockName::At(path) => format!(" of `{path}`"),
            };
            format!("two steps{inside} are called `{id}`: give one another name with `.named(\"..\")`")
        }
        PlanError::Zero { node, field: "timeout" } => format!("`{node}`: a timeout must be at least 1 ms"),
        PlanError::Zero { node, field: "maxAttempts" } => {
            format!("`{node}`: retry(0) would never call it: write at least 1")
        }
        PlanError::Zero { node, field: "maxIterations" } => {
            format!("`{node}`: max_iterations must be at least 1")
        }
        PlanError::CollectNeedsAll { node } => {
            format!("`{node}` has `.collect()`, which needs the results of all branches: use Join::All")
        }
        PlanError::AfterOutsideOfGraph { node, .. } => {
            format!(
                "`{node}` has `.after(..)`, but its block is a sequence: use `Workflow::dag(..)` or `.as_graph()`"
            )
        }
        other => other.to_string(),
    }
}
