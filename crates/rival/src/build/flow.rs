//! Whether every function gets the input and the outputs that it asks for.

use rival_core::plan::BlockOrder;

use super::draft::{HeadDraft, NodePart};
use super::outline::PlanOutline;
use super::uses::{FunctionUse, UseRole};
use crate::error::BuildError;
use crate::extract::{OutputAsk, TypeAsk};
use crate::function::FunctionIdentity;

/// A step whose output another node reads.
#[derive(Clone, Copy)]
pub(super) struct FlowEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Only the node's error handler does.
    pub(super) by_handler: bool,
}

/// Checks what every function asks for; gives the edges of the data flow, from producer to reader.
pub(super) fn check(
    draft: &HeadDraft,
    outline: &PlanOutline<'_>,
    uses: &[FunctionUse<'_>],
    problems: &mut Vec<BuildError>,
) -> Vec<FlowEdge> {
    let mut edges = Vec::new();
    for use_ in uses {
        let mut report = |message: String| problems.push(BuildError::new(message, use_.location));
        check_input(draft, use_, &mut report);
        for ask in &use_.draft.function.asks.outputs {
            match producer(draft, outline, use_, ask) {
                Ok(from) => edges.extend(from.zip(use_.node).map(|(from, to)| {
                    let by_handler = use_.is_handler();
                    FlowEdge { from, to, by_handler }
                })),
                Err(message) => report(message),
            }
        }
    }
    check_nested(draft, outline, problems);
    edges.extend(read_by_nested(outline));
    edges
}

fn check_input(draft: &HeadDraft, use_: &FunctionUse<'_>, report: &mut impl FnMut(String)) {
    let workflow = &draft.name;
    for ask in use_.draft.function.asks.inputs.iter().filter(|ask| !ask.is_json()) {
        let name = ask.name;
        match &draft.input {
            Some(input) if input.is(ask.id) => {}
            Some(input) => {
                report(format!(
                    "{use_} asks for Input<{name}>, but workflow `{workflow}` takes {}",
                    input.ty.name
                ));
            }
            None => report(format!(
                "{use_} asks for Input<{name}>, but workflow `{workflow}` takes no input: add `.input::<{name}>()`"
            )),
        }
    }
}

/// The node whose output is meant; `None` if there is none and there need not be.
fn producer(
    draft: &HeadDraft,
    outline: &PlanOutline<'_>,
    use_: &FunctionUse<'_>,
    ask: &OutputAsk,
) -> Result<Option<usize>, String> {
    let name = ask.name;
    let why = match visible(outline, use_, FunctionIdentity::Item(ask.step))[..] {
        [at] => match check_present(outline, use_, ask, at) {
            Ok(()) => return Ok(Some(at)),
            Err(why) => why,
        },
        [] => match outline.everywhere(FunctionIdentity::Item(ask.step)) {
            // A workflow around this one may have it.
            [] if ask.optional => return Ok(None),
            [] => format!("but `{name}` is not a step of workflow `{}`", draft.name),
            [first, ..] => not_visible(outline, use_, name, *first),
        },
        [_, _, ..] => {
            let times = visible(outline, use_, FunctionIdentity::Item(ask.step)).len();
            format!("but `{name}` is used {times} times here: ask for `Steps` and read it by its id")
        }
    };
    Err(format!("{use_} asks for Output<{name}>, {why}"))
}

/// The nodes of the nearest block that a function may mean by another one: earlier in its own block, or anywhere in
/// it if that is a graph, then in the blocks around it. A loop's test also sees the loop's body.
fn visible(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>, wanted: FunctionIdentity) -> Vec<usize> {
    let Some(node) = use_.node else {
        return outline.calls(0, wanted).to_vec();
    };
    if matches!(use_.role, UseRole::Until | UseRole::While) {
        let body = outline.calls(outline.nodes[node].inner[0], wanted);
        if !body.is_empty() {
            return body.to_vec();
        }
    }
    seen_from(outline, node, wanted)
}

fn seen_from(outline: &PlanOutline<'_>, node: usize, wanted: FunctionIdentity) -> Vec<usize> {
    let near = outline.outwards(node).map(|at| {
        let site = &outline.nodes[at];
        let calls = outline.calls(site.block, wanted);
        match outline.blocks[site.block].draft.order {
            BlockOrder::Sequence => {
                let earlier = calls.partition_point(|&it| outline.nodes[it].position < site.position);
                calls[..earlier].to_vec()
            }
            // The builders make no phases; those of a plan are seen as a graph's nodes are.
            BlockOrder::Graph | BlockOrder::Phases => calls.iter().copied().filter(|&it| it != at).collect(),
        }
    });
    near.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}

/// Why a step that is there cannot be read, and what can be.
fn not_visible(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>, name: &str, producer: usize) -> String {
    let Some(node) = use_.node else {
        return format!("but `{name}` is inside of a block, which shows only its own result");
    };
    if outline.outwards(producer).any(|at| at == node) {
        return match use_.role {
            UseRole::Compensation => "which is the step it undoes: ask for `Undo<T>`".to_owned(),
            UseRole::Finally => "which is inside of a branch: ask for `Joined`".to_owned(),
            _ => format!("but `{name}` does not come before it"),
        };
    }
    let container = outline
        .outwards(producer)
        .find(|&at| outline.ancestor_in(outline.nodes[at].block, node).is_some())
        .expect("the outermost block holds both");
    let (site, block) = (&outline.nodes[container], outline.nodes[producer].block);
    if container == producer {
        format!("but `{name}` does not come before it")
    } else if outline.ancestor_in(site.block, node) == Some(container) {
        let path = &outline.blocks[block].path;
        format!("but `{name}` is in `{path}`, beside it: one may run without the other")
    } else {
        let id = &site.id;
        format!("but `{name}` is inside of `{id}`, which shows only its own result: read that with `Steps`")
    }
}

fn check_present(
    outline: &PlanOutline<'_>,
    use_: &FunctionUse<'_>,
    ask: &OutputAsk,
    at: usize,
) -> Result<(), String> {
    let name = ask.name;
    if ask.optional {
        return Ok(());
    }
    let site = &outline.nodes[at];
    let why = if use_.role == UseRole::WorkflowHandler {
        "which may not have run when the handler is called"
    } else if use_.role == UseRole::While && outline.blocks[site.block].owner == use_.node {
        "which has not run before the first iteration"
    } else if site.part.part.step().is_some_and(|step| step.continue_on_error) {
        "which may have failed and gone on (continue_on_error)"
    } else {
        return Ok(());
    };
    Err(format!("{why}: use Option<Output<{name}>>"))
}

/// A nested workflow without an input function takes this one's input, so the types must be the same.
fn check_nested(draft: &HeadDraft, outline: &PlanOutline<'_>, problems: &mut Vec<BuildError>) {
    for site in &outline.nodes {
        let NodePart::Nested { nested, input: None } = &site.part.part else { continue };
        let Some(wanted) = &nested.built.input else { continue };
        let given = match &draft.input {
            Some(given) if given.is(wanted.ty.id) => continue,
            Some(given) => given.ty.name,
            None => "no input",
        };
        let message = format!(
            "workflow `{}` takes {}, but `{}` takes {given}: give it its input with `.workflow_with(..)`",
            site.path, wanted.ty.name, draft.name
        );
        problems.push(BuildError::new(message, site.part.location));
    }
}

/// What nested workflows read of the steps around them.
fn read_by_nested(outline: &PlanOutline<'_>) -> Vec<FlowEdge> {
    let mut edges = Vec::new();
    for (to, site) in outline.nodes.iter().enumerate() {
        let NodePart::Nested { nested, .. } = &site.part.part else { continue };
        for ask in nested.built.reads_around() {
            let seen = seen_from(outline, to, FunctionIdentity::Item(ask.step));
            edges.extend(seen.last().map(|&from| FlowEdge { from, to, by_handler: false }));
        }
    }
    edges
}

impl TypeAsk {
    /// Whether any JSON will do.
    pub(super) fn is_json(&self) -> bool {
        *self == Self::of::<serde_json::Value>()
    }
}
