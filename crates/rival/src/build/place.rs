//! What only some functions are given: the item of a forEach, the result of a step that is undone.

use super::draft::NodePart;
use super::outline::PlanOutline;
use super::uses::{FunctionUse, UseRole};
use crate::error::BuildError;
use crate::extract::TypeAsk;

/// Checks that every function stands where it is given what it asks for.
pub(super) fn check(outline: &PlanOutline<'_>, uses: &[FunctionUse<'_>], problems: &mut Vec<BuildError>) {
    for use_ in uses {
        let wrong = idle_options(use_)
            .into_iter()
            .chain(failure(use_))
            .chain(joined(use_))
            .chain(durable(use_))
            .chain(undo(outline, use_))
            .chain(item(outline, use_))
            .chain(last_iteration(outline, use_))
            .chain(iteration(outline, use_))
            .chain(choice(outline, use_));
        problems.extend(wrong.map(|message| BuildError::new(message, use_.location)));
    }
}

fn idle_options(use_: &FunctionUse<'_>) -> Option<String> {
    let allowed = match use_.role {
        UseRole::Compensation => {
            "only `.named(\"..\")`, `.retry(..)`, `.backoff(..)`, `.jitter()` and `.timeout(..)` mean"
        }
        _ => "only `.named(\"..\")` means",
    };
    use_.has_idle_options().then(|| format!("{use_} has options of a step: {allowed} something there"))
}

fn failure(use_: &FunctionUse<'_>) -> Option<String> {
    let wrong = use_.draft.function.asks.failure && !use_.is_handler();
    wrong.then(|| format!("{use_} asks for Failure, which only error handlers are given"))
}

fn joined(use_: &FunctionUse<'_>) -> Option<String> {
    let wrong = use_.draft.function.asks.joined && use_.role != UseRole::Finally;
    wrong.then(|| {
        format!("{use_} asks for Joined, which only the `finally` of a parallel block is given: read the block's result with `Steps`")
    })
}

fn durable(use_: &FunctionUse<'_>) -> Option<String> {
    let wrong = use_.draft.function.asks.durable && use_.role != UseRole::Step;
    wrong.then(|| format!("{use_} asks for Durable, which only steps are given"))
}

fn undo(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<String> {
    let asked = use_.draft.function.asks.undo.first()?;
    let step = use_.node.and_then(|node| outline.nodes[node].part.part.step());
    let (UseRole::Compensation, Some(step)) = (use_.role, step) else {
        return Some(format!("{use_} asks for Undo, which only compensations are given"));
    };
    let wrong = use_.draft.function.asks.undo.iter().find(|ask| !fits(ask, &step.out));
    let (asked, given) = (wrong.map_or(asked.name, |ask| ask.name), step.out.name);
    wrong.map(|_| format!("{use_} asks for Undo<{asked}>, but the step returns {given}"))
}

fn item(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<String> {
    let asks = &use_.draft.function.asks;
    let asked = asks.items.first()?;
    let each = use_.node.and_then(|node| outline.each_around(node)).map(|at| &outline.nodes[at]);
    let Some((NodePart::Each(each), path)) = each.map(|site| (&site.part.part, &site.path)) else {
        let name = asked.name;
        return Some(format!("{use_} asks for an item of type {name}, but there is no forEach around it"));
    };
    let wrong = asks.items.iter().find(|ask| !fits(ask, &each.item))?;
    let (asked, given) = (wrong.name, each.item.name);
    Some(format!("{use_} asks for an item of type {asked}, but the items of `{path}` are {given}"))
}

fn last_iteration(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<String> {
    let asks = &use_.draft.function.asks;
    let asked = asks.last_iterations.first()?;
    let around = loop_of(outline, use_).map(|at| &outline.nodes[at]);
    let Some((NodePart::Loop(each), path)) = around.map(|site| (&site.part.part, &site.path)) else {
        let name = asked.name;
        return Some(format!("{use_} asks for LastIteration<{name}>, but there is no loop around it"));
    };
    let wrong = asks.last_iterations.iter().find(|ask| !fits(ask, &each.gives))?;
    let (asked, given) = (wrong.name, each.gives.name);
    Some(format!("{use_} asks for LastIteration<{asked}>, but an iteration of `{path}` gives {given}"))
}

fn iteration(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<String> {
    let inside =
        loop_of(outline, use_).is_some() || use_.node.is_some_and(|node| outline.each_around(node).is_some());
    let wrong = use_.draft.function.asks.iteration && !inside;
    wrong.then(|| format!("{use_} asks for Iteration, but there is no loop or forEach around it"))
}

fn choice(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<String> {
    let NodePart::Branch(branch) = &outline.nodes[use_.node?].part.part else { return None };
    let by_name = branch.cases.iter().any(|case| !matches!(case.name.as_str(), "then" | "else"));
    let wrong = branch.choose.out == TypeAsk::of::<bool>() && (by_name || branch.default.is_some());
    wrong.then(|| format!("{use_} returns true or false: use `.then(..)` and `.otherwise(..)`, not cases"))
}

/// The nearest loop around a function; a loop's own test is inside of it.
fn loop_of(outline: &PlanOutline<'_>, use_: &FunctionUse<'_>) -> Option<usize> {
    match use_.role {
        UseRole::Until | UseRole::While => use_.node,
        _ => outline.loop_around(use_.node?),
    }
}

/// Any JSON can be read as JSON, and JSON may be anything.
fn fits(asked: &TypeAsk, given: &TypeAsk) -> bool {
    asked == given || asked.is_json() || given.is_json()
}
