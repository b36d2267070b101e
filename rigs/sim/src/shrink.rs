//! Makes a failing case smaller, as long as it fails in the same way.

use std::time::{Duration, Instant};

use rival_core::plan::{BlockOrder, Node, NodeKind, PlanBlock};

use crate::crash::CrashFate;
use crate::lab::{SimCase, StoreKind};
use crate::trial::{TrialResult, attempt};

/// How long to look for a smaller case.
const PATIENCE: Duration = Duration::from_secs(40);

/// The smallest case that was found, with its crashes and what came of it.
pub fn shrink(
    case: &SimCase,
    fate: &CrashFate,
    kind: StoreKind,
    about: &str,
) -> (SimCase, CrashFate, TrialResult) {
    let began = Instant::now();
    let fails = |case: &SimCase, fate: &CrashFate| {
        if began.elapsed() > PATIENCE {
            return None;
        }
        let trial = attempt(case, fate.clone(), kind);
        trial.problems.iter().any(|problem| problem.about == about).then_some(trial)
    };
    let (mut case, mut fate) = (case.clone(), fate.clone());
    let mut trial = fails(&case, &fate).unwrap_or_else(|| attempt(&case, fate.clone(), kind));
    if let Some(without) = fails(&case, &CrashFate::Spared) {
        (fate, trial) = (CrashFate::Spared, without);
    }
    while let Some((smaller, smaller_trial)) = smaller(&case)
        .into_iter()
        .find_map(|smaller| Some((fails(&smaller, &fate)?, smaller)))
        .map(|(t, c)| (c, t))
    {
        (case, trial) = (smaller, smaller_trial);
    }
    (case, fate, trial)
}

/// The case with one thing less, in every way. What functions do depends on their paths, so the rest stays as it is.
fn smaller(case: &SimCase) -> Vec<SimCase> {
    let mut cases = Vec::new();
    for n in 0..case.actions.len() {
        let mut smaller = case.clone();
        smaller.actions.remove(n);
        cases.push(smaller);
    }
    for block in smaller_blocks(&case.plan.block) {
        let mut smaller = case.clone();
        smaller.plan.block = block;
        cases.push(smaller);
    }
    for n in 0..case.triggers.len() {
        let mut smaller = case.clone();
        smaller.triggers.remove(n);
        smaller.plan.triggers.remove(n);
        cases.push(smaller);
    }
    for n in 0..case.child_triggers.len() {
        let mut smaller = case.clone();
        smaller.child_triggers.remove(n);
        smaller.child.triggers.remove(n);
        cases.push(smaller);
    }
    if case.plan.on_error.is_some() {
        let mut smaller = case.clone();
        smaller.plan.on_error = None;
        cases.push(smaller);
    }
    if case.plan.timeout_ms.is_some() {
        let mut smaller = case.clone();
        smaller.plan.timeout_ms = None;
        cases.push(smaller);
    }
    cases
}

fn smaller_blocks(block: &PlanBlock) -> Vec<PlanBlock> {
    let mut blocks = Vec::new();
    if block.nodes.len() > 1 {
        for n in 0..block.nodes.len() {
            blocks.push(without(block, n));
        }
    }
    for (n, node) in block.nodes.iter().enumerate() {
        for smaller in smaller_nodes(node) {
            let mut block = block.clone();
            block.nodes[n] = smaller;
            blocks.push(block);
        }
    }
    blocks
}

fn without(block: &PlanBlock, n: usize) -> PlanBlock {
    let mut block = block.clone();
    let gone = block.nodes.remove(n);
    for node in &mut block.nodes {
        node.after.retain(|before| *before != gone.id);
    }
    if block.order == BlockOrder::Phases {
        let phases = block.nodes.chunk_by(|one, next| one.phase == next.phase);
        return PlanBlock::phases(phases.map(<[Node]>::to_vec).collect());
    }
    block
}

fn smaller_nodes(node: &Node) -> Vec<Node> {
    let with = |kind: NodeKind| Node { kind, ..node.clone() };
    match &node.kind {
        NodeKind::Step(step) => {
            let mut steps = Vec::new();
            let mut plainer = |change: &dyn Fn(&mut rival_core::plan::StepNode)| {
                let mut plainer = step.clone();
                change(&mut plainer);
                if plainer != *step {
                    steps.push(with(NodeKind::Step(plainer)));
                }
            };
            plainer(&|step| step.on_error = None);
            plainer(&|step| step.compensate = None);
            plainer(&|step| step.continue_on_error = false);
            plainer(&|step| step.at_most_once = false);
            plainer(&|step| step.retry = rival_core::plan::RetryPolicy::default());
            plainer(&|step| step.function = "step".into());
            steps
        }
        NodeKind::Sleep(_) | NodeKind::Signal(_) => Vec::new(),
        NodeKind::Workflow(nested) => smaller_blocks(&nested.block)
            .into_iter()
            .map(|block| with(NodeKind::Workflow(rival_core::plan::NestedNode { block, ..nested.clone() })))
            .collect(),
        NodeKind::Loop(each) => smaller_blocks(&each.body)
            .into_iter()
            .map(|body| with(NodeKind::Loop(rival_core::plan::LoopNode { body, ..each.clone() })))
            .collect(),
        NodeKind::ForEach(each) => smaller_blocks(&each.body)
            .into_iter()
            .map(|body| with(NodeKind::ForEach(rival_core::plan::ForEachNode { body, ..each.clone() })))
            .collect(),
        NodeKind::Branch(branch) => {
            let mut nodes = Vec::new();
            for (n, case) in branch.cases.iter().enumerate() {
                for block in smaller_blocks(&case.block) {
                    let mut branch = branch.clone();
                    branch.cases[n].block = block;
                    nodes.push(with(NodeKind::Branch(branch)));
                }
            }
            for block in branch.default.iter().flat_map(smaller_blocks) {
                let mut branch = branch.clone();
                branch.default = Some(block);
                nodes.push(with(NodeKind::Branch(branch)));
            }
            nodes
        }
        NodeKind::Parallel(parallel) => {
            let mut nodes = Vec::new();
            for (n, branch) in parallel.branches.iter().enumerate() {
                if parallel.branches.len() > 1 {
                    let mut parallel = parallel.clone();
                    parallel.branches.remove(n);
                    nodes.push(with(NodeKind::Parallel(parallel)));
                }
                for block in smaller_blocks(&branch.block) {
                    let mut parallel = parallel.clone();
                    parallel.branches[n].block = block;
                    nodes.push(with(NodeKind::Parallel(parallel)));
                }
            }
            if parallel.finally.is_some() {
                let mut parallel = parallel.clone();
                parallel.finally = None;
                nodes.push(with(NodeKind::Parallel(parallel)));
            }
            nodes
        }
    }
}
