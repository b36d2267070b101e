//! Blocks: nodes in order, graphs of them, and phases.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rival_core::NodeStatus;
use rival_core::plan::{BlockOrder, Node, NodeKind, PlanBlock};
use serde_json::Value;

use super::time::{ModelLanes, ModelScope, ModelTask, ScopeEnding};
use super::{ModelEnv, NodeEnd, RunModel};
use crate::script::NodeBefore;

impl<'a> RunModel<'a> {
    /// Runs a block; `owner` is the path of the lane that it is.
    pub(super) fn block(
        self: &Rc<Self>,
        block: &'a PlanBlock,
        owner: String,
        scope: Rc<ModelScope>,
        env: ModelEnv,
    ) -> ModelTask<'a, NodeEnd> {
        let this = Rc::clone(self);
        Box::pin(async move {
            match block.order {
                BlockOrder::Sequence => this.sequence(block, &owner, &scope, env).await,
                BlockOrder::Graph | BlockOrder::Phases => this.graph(block, &owner, &scope, env).await,
            }
        })
    }

    async fn sequence(
        self: &Rc<Self>,
        block: &'a PlanBlock,
        owner: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        let mut env = env;
        let mut last = NodeEnd::Good(None, NodeStatus::Completed);
        for node in &block.nodes {
            last = self.node(node, path(owner, &node.id), Rc::clone(scope), env.clone()).await;
            let NodeEnd::Good(result, status) = &last else { return last };
            env.last = Some(NodeBefore::new(&node.id, result.clone(), status.word()));
        }
        last
    }

    async fn graph(
        self: &Rc<Self>,
        block: &'a PlanBlock,
        owner: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        self.side_by_side(owner);
        let env = ModelEnv { last: None, ..env };
        let inner = scope.inside();
        let mut lanes = ModelLanes::new();
        let mut begun: Vec<&'a Node> = Vec::new();
        let mut done: BTreeMap<&str, Option<Value>> = BTreeMap::new();
        let mut failure = None;
        loop {
            for node in &block.nodes {
                let ready = waits_for(block, node).iter().all(|before| done.contains_key(before));
                let fresh = !begun.iter().any(|other| other.id == node.id);
                if ready && fresh && inner.ending().is_none() {
                    lanes.push(self.node(node, path(owner, &node.id), Rc::clone(&inner), env.clone()));
                    begun.push(node);
                }
            }
            if lanes.open() == 0 {
                break;
            }
            match lanes.next(&self.clock).await {
                (n, NodeEnd::Good(result, _)) => {
                    done.insert(&begun[n].id, result);
                }
                (_, NodeEnd::Hard(failed)) => {
                    failure.get_or_insert(failed);
                    inner.end(ScopeEnding::Settle, &self.clock);
                }
                (_, NodeEnd::Stopped) => {}
            }
        }
        if failure.is_some() {
            self.clock.alone(self.number, owner).await;
        }
        match failure {
            Some(failed) => NodeEnd::Hard(failed),
            None if done.len() == block.nodes.len() => sinks(block, &done),
            None => NodeEnd::Stopped,
        }
    }

    fn node(
        self: &Rc<Self>,
        node: &'a Node,
        path: String,
        scope: Rc<ModelScope>,
        env: ModelEnv,
    ) -> ModelTask<'a, NodeEnd> {
        let this = Rc::clone(self);
        Box::pin(async move {
            let held = this.clock.paused.get() && scope.ending().is_none();
            // What only has nodes inside starts also in a paused run; they are held. A nested workflow is held itself.
            let inner = match node.kind {
                NodeKind::Parallel(_) | NodeKind::Loop(_) => true,
                NodeKind::Step(_)
                | NodeKind::Sleep(_)
                | NodeKind::Signal(_)
                | NodeKind::Branch(_)
                | NodeKind::ForEach(_)
                | NodeKind::Workflow(_) => false,
            };
            let may_start = if inner { scope.ending().is_none() } else { this.clock.may_start(&scope).await };
            if !may_start {
                // A node whose turn had come is shown as cancelled, others not at all.
                return if held { this.over(&path, NodeEnd::Stopped) } else { NodeEnd::Stopped };
            }
            let end = match &node.kind {
                NodeKind::Step(step) => this.step(step, &path, &scope, &env).await,
                NodeKind::Sleep(sleep) => this.sleep(sleep, &path, &scope, &env).await,
                NodeKind::Signal(signal) => this.signal(signal, &path, &scope).await,
                NodeKind::Workflow(nested) => this.nested(nested, &path, &scope, env).await,
                NodeKind::Branch(branch) => this.branch(branch, &path, &scope, env).await,
                NodeKind::Loop(repeat) => this.repeat(repeat, &path, &scope, env).await,
                NodeKind::ForEach(each) => this.for_each(each, &path, &scope, env).await,
                NodeKind::Parallel(parallel) => this.parallel(parallel, &path, &scope, env).await,
            };
            if let (NodeEnd::Good(Some(result), _), false) = (&end, path.contains('/'))
                && !result.is_null()
            {
                this.notes.borrow_mut().summary.results.insert(path, result.clone());
            }
            end
        })
    }
}

/// The nodes that must have ended before this one starts.
fn waits_for<'a>(block: &'a PlanBlock, node: &'a Node) -> Vec<&'a str> {
    match block.order {
        BlockOrder::Phases => {
            let earlier = block.nodes.iter().filter(|other| other.phase < node.phase);
            earlier.map(|other| other.id.as_str()).collect()
        }
        BlockOrder::Sequence | BlockOrder::Graph => node.after.iter().map(String::as_str).collect(),
    }
}

/// The result of a graph or of phases: that of the only node without another after it, or a map of them.
fn sinks(block: &PlanBlock, done: &BTreeMap<&str, Option<Value>>) -> NodeEnd {
    let used: BTreeSet<&str> = block.nodes.iter().flat_map(|node| waits_for(block, node)).collect();
    let sinks: Vec<&Node> = block.nodes.iter().filter(|node| !used.contains(node.id.as_str())).collect();
    let result = |node: &&Node| done.get(node.id.as_str()).cloned().flatten();
    let result = match sinks.as_slice() {
        [only] => result(only),
        many => Some(Value::Object(
            many.iter().map(|node| (node.id.clone(), result(node).unwrap_or(Value::Null))).collect(),
        )),
    };
    NodeEnd::Good(result, NodeStatus::Completed)
}

pub(super) fn path(owner: &str, id: &str) -> String {
    if owner.is_empty() { id.to_owned() } else { format!("{owner}/{id}") }
}
