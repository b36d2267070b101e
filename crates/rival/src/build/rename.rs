//! New names for the functions of a nested workflow.

use std::collections::BTreeMap;

use rival_core::plan::{FunctionRef, LoopTest, NestedNode, NodeKind, PlanBlock, SleepLength};

type Renamed = BTreeMap<String, String>;

fn rename(function: &mut FunctionRef, renamed: &Renamed) {
    if let Some(new) = function.named().and_then(|name| renamed.get(name)) {
        *function = FunctionRef::Named(new.clone());
    }
}

fn rename_all<'a>(keys: impl IntoIterator<Item = &'a mut FunctionRef>, renamed: &Renamed) {
    keys.into_iter().for_each(|key| rename(key, renamed));
}

pub(super) fn rename_nested(nested: &mut NestedNode, renamed: &Renamed) {
    rename_all(nested.input.iter_mut().chain(&mut nested.on_error), renamed);
    rename_block(&mut nested.block, renamed);
}

fn rename_block(block: &mut PlanBlock, renamed: &Renamed) {
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
            SleepLength::ForMs(_) | SleepLength::UntilMs(_) => {}
            SleepLength::Computed(function) => rename(function, renamed),
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
