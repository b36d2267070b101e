//! Graph blocks: which node waits for which, and what such a block gives.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::plan::BlockOrder;

use super::draft::BlockResult;
use super::flow::FlowEdge;
use super::outline::{BlockSite, PlanOutline};
use crate::after::{Dependency, PriorNode};
use crate::error::BuildError;
use crate::function::FunctionIdentity;

/// What each node waits for, by number: what it says itself, and whose output is read by it or inside of it.
pub(super) type NodeDependencies = BTreeMap<usize, BTreeSet<usize>>;

/// The dependencies of all nodes of graphs. One that is only known by its id stays in the plan for the core to check.
pub(super) fn dependencies(
    outline: &PlanOutline<'_>,
    edges: &[FlowEdge],
    problems: &mut Vec<BuildError>,
) -> NodeDependencies {
    let mut found = NodeDependencies::new();
    for edge in edges {
        let block = outline.nodes[edge.from].block;
        if outline.blocks[block].draft.order == BlockOrder::Graph
            && let Some(reader) = outline.ancestor_in(block, edge.to)
        {
            found.entry(reader).or_default().insert(edge.from);
        }
    }
    for (number, site) in outline.nodes.iter().enumerate() {
        for dependency in &site.part.after {
            let Dependency(PriorNode::Function { identity, name }) = dependency else { continue };
            match meant(outline, site.block, *identity) {
                Ok(at) => drop(found.entry(number).or_default().insert(at)),
                Err(why) => {
                    let message = format!("step `{}` comes after `{name}`, {why}", site.path);
                    problems.push(BuildError::new(message, site.part.location));
                }
            }
        }
    }
    found
}

fn meant(outline: &PlanOutline<'_>, block: usize, function: FunctionIdentity) -> Result<usize, String> {
    match outline.calls(block, function) {
        [at] => Ok(*at),
        [] => Err("but there is no such step beside it".to_owned()),
        [_, ..] => Err("which is used several times here: say which by its id, `.after(\"..\")`".to_owned()),
    }
}

/// Whether what the types say a graph gives is what it gives.
pub(super) fn check_results(
    outline: &PlanOutline<'_>,
    dependencies: &NodeDependencies,
    problems: &mut Vec<BuildError>,
) {
    let read: BTreeSet<usize> = dependencies.values().flatten().copied().collect();
    for scope in &outline.blocks {
        problems.extend(
            check_result(outline, scope, &read).map(|message| BuildError::new(message, scope.draft.location)),
        );
    }
}

fn check_result(outline: &PlanOutline<'_>, scope: &BlockSite<'_>, read: &BTreeSet<usize>) -> Option<String> {
    if scope.draft.order == BlockOrder::Sequence {
        let wrong = scope.draft.result == BlockResult::Joined;
        return wrong.then(|| "joined() is for graphs: a sequence gives what its last node gives".to_owned());
    }
    let named: BTreeSet<&str> = scope.nodes.iter().flat_map(|&at| ids_after(outline, at)).collect();
    let is_last = |at: &usize| !read.contains(at) && !named.contains(outline.nodes[*at].id.as_str());
    let ends: Vec<usize> = scope.nodes.iter().copied().filter(is_last).collect();
    let id = |at: usize| format!("`{}`", outline.nodes[at].id);
    match (scope.draft.result, &ends[..]) {
        // They wait for each other, which the plan's check says.
        (_, []) => None,
        (BlockResult::Last, [only]) if scope.nodes.last() == Some(only) => None,
        (BlockResult::Last, [only]) => Some(format!(
            "the graph gives what {} gives, because nothing comes after it: add it last, so that the type is right",
            id(*only)
        )),
        (BlockResult::Last, _) => Some(format!(
            "nothing comes after {}, so the graph gives a map: say so with `.joined()`, or let one step come after them",
            ends.iter().map(|&at| id(at)).collect::<Vec<_>>().join(" and ")
        )),
        (BlockResult::Joined, [only]) => {
            Some(format!("the graph gives what {} gives, not a map: leave out `.joined()`", id(*only)))
        }
        (BlockResult::Joined, _) => None,
    }
}

/// The ids that a node says it comes after.
pub(super) fn ids_after<'a>(outline: &PlanOutline<'a>, node: usize) -> impl Iterator<Item = &'a str> {
    outline.nodes[node].part.after.iter().filter_map(|Dependency(before)| match before {
        PriorNode::Id(id) => Some(id.as_str()),
        PriorNode::Function { .. } => None,
    })
}
