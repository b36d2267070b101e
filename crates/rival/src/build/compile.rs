//! From the parts of a workflow to its plan.

use std::collections::BTreeMap;

use rival_core::Plan;
use rival_core::plan::{Block, LoopTest, Nested, Node, NodeKind, Sleep, Step, Wait};

use super::keys::Keys;
use super::{Draft, NodePart};
use crate::delay::DelayWait;
use crate::nested::NestedDraft;
use crate::step::StepDraft;

/// The plan; functions of nested workflows are taken into `keys` on the way.
pub(super) fn plan(draft: &Draft, ids: &[String], keys: &mut Keys) -> Plan {
    let nodes = draft.parts.iter().zip(ids).map(|(part, id)| Node::new(id, kind(&part.part, id, keys)));
    Plan {
        workflow: draft.name.clone(),
        block: Block::sequence(nodes.collect()),
        on_error: draft.on_error.as_ref().map(|(handler, _)| keys.of(&handler.function)),
        timeout_ms: draft.timeout_ms,
        max_retries: draft.max_retries,
    }
}

fn kind(part: &NodePart, id: &str, keys: &mut Keys) -> NodeKind {
    match part {
        NodePart::Step(draft) => NodeKind::Step(step(draft, keys)),
        NodePart::Sleep(delay) => NodeKind::Sleep(Sleep {
            wait: match &delay.wait {
                DelayWait::Given(wait) => wait.clone(),
                DelayWait::Computed(draft) => Wait::Computed(keys.of(&draft.function)),
            },
        }),
        NodePart::Nested { nested, input } => {
            NodeKind::Workflow(self::nested(nested, input.as_ref(), id, keys))
        }
    }
}

fn step(draft: &StepDraft, keys: &Keys) -> Step {
    Step {
        continue_on_error: draft.continue_on_error,
        on_error: draft.on_error.as_ref().map(|handler| keys.of(&handler.function)),
        ..draft.config.to_plan(keys.of(&draft.function))
    }
}

fn nested(draft: &NestedDraft, input: Option<&StepDraft>, id: &str, keys: &mut Keys) -> Nested {
    let plan = &draft.built.plan;
    let renamed = keys.merge(id, &draft.built);
    let mut nested = Nested {
        workflow: plan.workflow.clone(),
        block: plan.block.clone(),
        input: None,
        on_error: plan.on_error.clone(),
    };
    rename_nested(&mut nested, &renamed);
    nested.input = input.map(|input| keys.of(&input.function));
    nested
}

type Renamed = BTreeMap<String, String>;

fn rename(key: &mut String, renamed: &Renamed) {
    if let Some(new) = renamed.get(key) {
        key.clone_from(new);
    }
}

fn rename_all<'a>(keys: impl IntoIterator<Item = &'a mut String>, renamed: &Renamed) {
    keys.into_iter().for_each(|key| rename(key, renamed));
}

fn rename_nested(nested: &mut Nested, renamed: &Renamed) {
    rename_all(nested.input.iter_mut().chain(&mut nested.on_error), renamed);
    rename_block(&mut nested.block, renamed);
}

fn rename_block(block: &mut Block, renamed: &Renamed) {
    block.nodes.iter_mut().for_each(|node| rename_kind(&mut node.kind, renamed));
}

/// Every function that a node names, in every kind there is: a forgotten one would call another function.
fn rename_kind(kind: &mut NodeKind, renamed: &Renamed) {
    match kind {
        NodeKind::Step(step) => {
            let undo = step.compensate.as_mut().map(|undo| &mut undo.function);
            rename_all([&mut step.function].into_iter().chain(&mut step.on_error).chain(undo), renamed);
        }
        NodeKind::Sleep(sleep) => match &mut sleep.wait {
            Wait::ForMs(_) | Wait::UntilMs(_) => {}
            Wait::Computed(function) => rename(function, renamed),
        },
        NodeKind::Signal(_) => {}
        NodeKind::Branch(branch) => {
            rename(&mut branch.choose, renamed);
            branch.cases.iter_mut().for_each(|case| rename_block(&mut case.block, renamed));
            branch.default.iter_mut().for_each(|block| rename_block(block, renamed));
        }
        NodeKind::Loop(each) => {
            match &mut each.test {
                LoopTest::Until(function) | LoopTest::While(function) => rename(function, renamed),
            }
            rename_block(&mut each.body, renamed);
        }
        NodeKind::ForEach(each) => {
            rename(&mut each.items, renamed);
            rename_block(&mut each.body, renamed);
        }
        NodeKind::Parallel(parallel) => {
            rename_all(&mut parallel.finally, renamed);
            parallel.branches.iter_mut().for_each(|branch| rename_block(&mut branch.block, renamed));
        }
        NodeKind::Workflow(nested) => rename_nested(nested, renamed),
    }
}
