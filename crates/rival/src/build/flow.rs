//! Whether every function gets what it asks for.

use std::any::TypeId;

use super::uses::{Role, Use};
use super::{Draft, NodePart};
use crate::error::BuildError;
use crate::extract::OutputAsk;
use crate::function::Identity;
use crate::step::StepDraft;

/// Checks what every function asks for; gives the edges of the data flow, from producer to reader.
pub(super) fn check(
    draft: &Draft,
    ids: &[String],
    uses: &[Use<'_>],
    problems: &mut Vec<BuildError>,
) -> Vec<(String, String)> {
    let mut edges = Vec::new();
    for use_ in uses {
        let mut report = |message: String| problems.push(BuildError::new(message, use_.location));
        if use_.has_idle_options() {
            report(format!("{use_} has options of a step: only `.named(\"..\")` means something there"));
        }
        if use_.draft.function.asks.failure && !use_.is_handler() {
            report(format!("{use_} asks for Failure, which only error handlers are given"));
        }
        check_input(draft, use_, &mut report);
        for ask in &use_.draft.function.asks.outputs {
            match producer(draft, use_, ask) {
                Ok(Some(at)) if !use_.is_handler() => edges.push((ids[at].clone(), use_.node.to_owned())),
                Ok(_) => {}
                Err(message) => report(message),
            }
        }
    }
    check_nested(draft, ids, problems);
    edges
}

fn check_input(draft: &Draft, use_: &Use<'_>, report: &mut impl FnMut(String)) {
    let workflow = &draft.name;
    for ask in &use_.draft.function.asks.inputs {
        // Any input is JSON.
        if ask.id == TypeId::of::<serde_json::Value>() {
            continue;
        }
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
fn producer(draft: &Draft, use_: &Use<'_>, ask: &OutputAsk) -> Result<Option<usize>, String> {
    let name = ask.name;
    let all = uses_of(draft, ask);
    let earlier: Vec<usize> = all.iter().copied().filter(|&at| at < use_.position).collect();
    let why = match earlier[..] {
        [at] => match check_present(draft, use_, ask, at) {
            Ok(()) => return Ok(Some(at)),
            Err(why) => why,
        },
        // A workflow around this one may have it.
        [] if all.is_empty() && ask.optional => return Ok(None),
        [] if all.is_empty() => format!("but `{name}` is not a step of workflow `{}`", draft.name),
        [] => format!("but `{name}` does not come before it"),
        [_, ..] => {
            let times = earlier.len();
            format!("but `{name}` is used {times} times here: ask for `Steps` and read it by its id")
        }
    };
    Err(format!("{use_} asks for Output<{name}>, {why}"))
}

/// The nodes that call this function, in order.
fn uses_of(draft: &Draft, ask: &OutputAsk) -> Vec<usize> {
    let wanted = Identity::Item(ask.step);
    let calls_it = |part: &NodePart| step_of(part).is_some_and(|step| step.function.identity == wanted);
    (0..draft.parts.len()).filter(|&at| calls_it(&draft.parts[at].part)).collect()
}

fn check_present(draft: &Draft, use_: &Use<'_>, ask: &OutputAsk, at: usize) -> Result<(), String> {
    let name = ask.name;
    if ask.optional {
        return Ok(());
    }
    if use_.role == Role::WorkflowHandler {
        return Err(format!("which may not have run when the handler is called: use Option<Output<{name}>>"));
    }
    if step_of(&draft.parts[at].part).is_some_and(|step| step.continue_on_error) {
        return Err(format!(
            "which may have failed and gone on (continue_on_error): use Option<Output<{name}>>"
        ));
    }
    Ok(())
}

fn step_of(part: &NodePart) -> Option<&StepDraft> {
    match part {
        NodePart::Step(step) => Some(step),
        NodePart::Sleep(_) | NodePart::Nested { .. } => None,
    }
}

/// A nested workflow without an input function takes this one's input, so the types must be the same.
fn check_nested(draft: &Draft, ids: &[String], problems: &mut Vec<BuildError>) {
    for (part, id) in draft.parts.iter().zip(ids) {
        let NodePart::Nested { nested, input: None } = &part.part else { continue };
        let Some(wanted) = &nested.built.input else { continue };
        let given = match &draft.input {
            Some(given) if given.is(wanted.ty.id) => continue,
            Some(given) => given.ty.name,
            None => "no input",
        };
        let message = format!(
            "workflow `{id}` takes {}, but `{}` takes {given}: give it its input with `.workflow_with(..)`",
            wanted.ty.name, draft.name
        );
        problems.push(BuildError::new(message, part.location));
    }
}
