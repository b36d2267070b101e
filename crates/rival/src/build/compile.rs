//! From the parts of a workflow to its plan.

use rival_core::Plan;
use rival_core::plan::{
    BranchNode, CompensationSpec, ForEachNode, FunctionRef, LoopNode, LoopTest, NamedBlock, NestedNode, Node,
    NodeKind, ParallelNode, PlanBlock, SignalNode, SleepLength, SleepNode, StepNode, Trigger,
};

use super::draft::{BranchDraft, EachDraft, HeadDraft, LoopDraft, NodePart, ParallelDraft, TestDraft};
use super::graph::{NodeDependencies, ids_after};
use super::keys::FunctionKeys;
use super::outline::{NodeSite, PlanOutline};
use super::rename::rename_nested;
use crate::delay::DelayWait;
use crate::nested::NestedDraft;
use crate::step::StepDraft;

/// The plan; functions of nested workflows are taken into `keys` on the way.
pub(super) fn plan(
    draft: &HeadDraft,
    outline: &PlanOutline<'_>,
    dependencies: &NodeDependencies,
    triggers: &[Trigger],
    keys: &mut FunctionKeys,
) -> Plan {
    let mut compiler = Compiler { outline, dependencies, keys };
    Plan {
        workflow: draft.name.clone(),
        block: compiler.block(0),
        on_error: draft.on_error.as_ref().map(|(handler, _)| compiler.keys.of(&handler.function).into()),
        timeout_ms: draft.timeout_ms,
        max_retries: draft.max_retries,
        triggers: triggers.to_vec(),
    }
}

struct Compiler<'a> {
    outline: &'a PlanOutline<'a>,
    dependencies: &'a NodeDependencies,
    keys: &'a mut FunctionKeys,
}

impl<'a> Compiler<'a> {
    fn block(&mut self, number: usize) -> PlanBlock {
        let scope = &self.outline.blocks[number];
        let nodes = scope.nodes.iter().map(|&number| self.node(number)).collect();
        PlanBlock { order: scope.draft.order, nodes }
    }

    fn node(&mut self, number: usize) -> Node {
        let site = &self.outline.nodes[number];
        Node { after: self.after(number), ..Node::new(site.id.clone(), self.kind(site)) }
    }

    /// In the order of the block, then whatever is only known by its id.
    fn after(&self, number: usize) -> Vec<String> {
        let found = self.dependencies.get(&number).into_iter().flatten();
        let mut after: Vec<String> = found.map(|&at| self.outline.nodes[at].id.clone()).collect();
        for id in ids_after(self.outline, number) {
            if !after.iter().any(|known| known == id) {
                after.push(id.to_owned());
            }
        }
        after
    }

    fn kind(&mut self, site: &'a NodeSite<'a>) -> NodeKind {
        match &site.part.part {
            NodePart::Step(draft) => NodeKind::Step(self.step(draft)),
            NodePart::Sleep(delay) => NodeKind::Sleep(SleepNode {
                wait: match &delay.wait {
                    DelayWait::Given(wait) => wait.clone(),
                    DelayWait::Computed(draft) => SleepLength::Computed(self.key(draft)),
                },
            }),
            NodePart::Signal(draft) => NodeKind::Signal(SignalNode {
                signal: draft.signal.clone(),
                timeout_ms: draft.timeout_ms,
                timeout_is_value: draft.timeout_is_value,
            }),
            NodePart::Nested { nested, input } => {
                NodeKind::Workflow(self.nested(nested, input.as_deref(), &site.path))
            }
            NodePart::Branch(branch) => NodeKind::Branch(self.branch(branch, site)),
            NodePart::Loop(each) => NodeKind::Loop(self.repeat(each, site)),
            NodePart::Each(each) => NodeKind::ForEach(self.each(each, site)),
            NodePart::Parallel(parallel) => NodeKind::Parallel(self.parallel(parallel, site)),
        }
    }

    fn key(&self, draft: &StepDraft) -> FunctionRef {
        self.keys.of(&draft.function).into()
    }

    fn step(&self, draft: &StepDraft) -> StepNode {
        StepNode {
            continue_on_error: draft.continue_on_error,
            on_error: draft.on_error.as_ref().map(|handler| self.key(handler)),
            compensate: draft.compensate.as_ref().map(|undo| self.compensation(undo)),
            ..draft.config.to_plan(self.key(draft))
        }
    }

    fn compensation(&self, draft: &StepDraft) -> CompensationSpec {
        let StepNode { function, retry, timeout_ms, .. } = draft.config.to_plan(self.key(draft));
        CompensationSpec { function, retry, timeout_ms }
    }

    fn nested(&mut self, draft: &NestedDraft, input: Option<&StepDraft>, path: &str) -> NestedNode {
        let plan = draft.built.plan_of(self.keys.scheme);
        let renamed = self.keys.merge(path, &draft.built);
        let mut nested = NestedNode {
            workflow: plan.workflow.clone(),
            block: plan.block.clone(),
            input: None,
            on_error: plan.on_error.clone(),
        };
        rename_nested(&mut nested, &renamed);
        nested.input = input.map(|input| self.key(input));
        nested
    }

    fn branch(&mut self, draft: &BranchDraft, site: &NodeSite<'_>) -> BranchNode {
        let (cases, default) = site.inner.split_at(draft.cases.len());
        let cases = draft
            .cases
            .iter()
            .zip(cases)
            .map(|(case, &block)| NamedBlock { name: case.name.clone(), block: self.block(block) });
        let cases = cases.collect();
        let default = default.first().map(|&block| self.block(block));
        BranchNode { choose: self.key(&draft.choose), cases, default }
    }

    fn repeat(&mut self, draft: &LoopDraft, site: &NodeSite<'_>) -> LoopNode {
        let test = match &draft.test {
            TestDraft::Until(test) => LoopTest::Until(self.key(test)),
            TestDraft::While(test) => LoopTest::While(self.key(test)),
        };
        LoopNode { body: self.block(site.inner[0]), test, max_iterations: draft.max_iterations }
    }

    fn each(&mut self, draft: &EachDraft, site: &NodeSite<'_>) -> ForEachNode {
        ForEachNode {
            items: self.key(&draft.items),
            body: self.block(site.inner[0]),
            concurrency: draft.concurrency,
            max_iterations: draft.max_iterations,
        }
    }

    fn parallel(&mut self, draft: &ParallelDraft, site: &NodeSite<'_>) -> ParallelNode {
        let branches = draft
            .branches
            .iter()
            .zip(&site.inner)
            .map(|(branch, &block)| NamedBlock { name: branch.name.clone(), block: self.block(block) });
        ParallelNode {
            branches: branches.collect(),
            join: draft.join,
            on_failure: draft.on_failure,
            finally: draft.finally.as_ref().map(|finally| self.key(finally)),
        }
    }
}
