//! Nodes with blocks inside.

use std::rc::Rc;

use rival_core::NodeStatus;
use rival_core::plan::{
    BranchNode, ForEachNode, Join, LoopNode, LoopTest, NestedNode, OnFailure, ParallelNode,
};
use serde_json::{Map, Value, json};

use super::block::path;
use super::call::failed;
use super::time::{ModelLanes, ModelScope, ModelTask, ScopeEnding};
use super::{ModelEnv, ModelFailure, ModelTie, NodeEnd, RunModel};
use crate::script::{ScriptPart, SeenByCall};

impl<'a> RunModel<'a> {
    /// A node that is no step has ended.
    pub(super) fn over(&self, node: &str, end: NodeEnd) -> NodeEnd {
        let status = match &end {
            NodeEnd::Good(_, status) => *status,
            NodeEnd::Hard(_) => NodeStatus::Failed,
            NodeEnd::Stopped => NodeStatus::Cancelled,
        };
        self.node_ended(node, status, 0, None);
        end
    }

    /// A node with blocks inside has ended; if everything around it is ending, it was cancelled, however far it got.
    fn closed(&self, node: &str, scope: &ModelScope, end: NodeEnd) -> NodeEnd {
        let end = match end {
            _ if scope.ending().is_some() => NodeEnd::Stopped,
            NodeEnd::Good(result, _) => NodeEnd::Good(result, NodeStatus::Completed),
            end => end,
        };
        self.over(node, end)
    }

    pub(super) async fn nested(
        self: &Rc<Self>,
        nested: &'a NestedNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        let mut env = env;
        if nested.input.is_some() {
            match self.ask(ScriptPart::Input, 0, node, scope, &env.seen()).await {
                Ok(input) => env.input = input,
                // The mapper is the outer workflow's function: the nested one has no part in its failure.
                Err(end) => return self.over(node, end),
            }
            // With a mapped input it is held as a whole, as any node is.
            if !self.clock.may_start(scope).await {
                return self.over(node, NodeEnd::Stopped);
            }
        }
        let end = self.block(&nested.block, node.to_owned(), Rc::clone(scope), env).await;
        let end = self.closed(node, scope, end);
        if matches!(end, NodeEnd::Hard(_)) && nested.on_error.is_some() {
            self.handler(node, scope).await;
        }
        end
    }

    pub(super) async fn branch(
        self: &Rc<Self>,
        branch: &'a BranchNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        let chosen = match self.ask(ScriptPart::Choose, 0, node, scope, &env.seen()).await {
            Ok(Value::Bool(true)) => "then".to_owned(),
            Ok(Value::Bool(false)) => "else".to_owned(),
            Ok(Value::String(case)) => case,
            Ok(_) => return self.over(node, failed("bad_answer", node)),
            Err(end) => return self.over(node, end),
        };
        let case = branch.cases.iter().find(|case| case.name == chosen);
        let (name, block) = match (case, &branch.default) {
            (Some(case), _) => (case.name.as_str(), &case.block),
            (None, Some(default)) => ("default", default),
            (None, None) if chosen == "else" => {
                return self.closed(node, scope, NodeEnd::Good(Some(Value::Null), NodeStatus::Completed));
            }
            (None, None) => return self.over(node, failed("no_such_case", node)),
        };
        let end = self.block(block, path(node, name), Rc::clone(scope), env).await;
        self.closed(node, scope, end)
    }

    pub(super) async fn repeat(
        self: &Rc<Self>,
        repeat: &'a LoopNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        let mut last = Some(Value::Null);
        let mut turn = 0;
        loop {
            let goes_on = match (&repeat.test, turn) {
                (LoopTest::Until(_), 0) => Ok(true),
                (LoopTest::Until(_), _) => self.test(node, turn, scope, &env).await.map(|ends| !ends),
                (LoopTest::While(_), _) => self.test(node, turn, scope, &env).await,
            };
            match goes_on {
                Ok(true) if turn < repeat.max_iterations => {}
                Ok(true) => return self.over(node, failed("max_iterations", node)),
                Ok(false) => return self.closed(node, scope, NodeEnd::Good(last, NodeStatus::Completed)),
                Err(end) => return self.over(node, end),
            }
            let inside = env.in_loop(turn);
            let lane = format!("{node}[{turn}]");
            match self.block(&repeat.body, lane, Rc::clone(scope), inside).await {
                NodeEnd::Good(result, _) => last = Some(result.unwrap_or(Value::Null)),
                end => return self.closed(node, scope, end),
            }
            turn += 1;
        }
    }

    async fn test(&self, node: &str, turn: u32, scope: &ModelScope, env: &ModelEnv) -> Result<bool, NodeEnd> {
        let seen = env.in_loop(turn).seen();
        let answer = self.ask(ScriptPart::Test, turn, node, scope, &seen).await?;
        answer.as_bool().ok_or_else(|| failed("bad_answer", node))
    }

    pub(super) async fn for_each(
        self: &Rc<Self>,
        each: &'a ForEachNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        let items = match self.ask(ScriptPart::Items, 0, node, scope, &env.seen()).await {
            Ok(Value::Array(items)) => items,
            Ok(_) => return self.over(node, failed("bad_answer", node)),
            Err(end) => return self.over(node, end),
        };
        if each.max_iterations.is_some_and(|most| items.len() > most as usize) {
            return self.over(node, failed("max_iterations", node));
        }
        if each.concurrency > 1 {
            self.side_by_side(node);
        }
        let inner = scope.inside();
        let mut lanes: ModelLanes<'a, NodeEnd> = ModelLanes::new();
        let mut results = vec![Value::Null; items.len()];
        let (mut begun, mut ended, mut failure) = (0, 0, None);
        loop {
            while begun < items.len() && begun < ended + each.concurrency as usize && inner.ending().is_none()
            {
                let index = u32::try_from(begun).unwrap_or(u32::MAX);
                let inside = ModelEnv { iteration: Some((index, Some(items[begun].clone()))), ..env.clone() };
                lanes.push(self.block(&each.body, format!("{node}[{begun}]"), Rc::clone(&inner), inside));
                begun += 1;
            }
            if lanes.open() == 0 {
                break;
            }
            match lanes.next(&self.clock).await {
                (n, NodeEnd::Good(result, _)) => {
                    results[n] = result.unwrap_or(Value::Null);
                    ended += 1;
                }
                (_, NodeEnd::Hard(failed)) => {
                    failure.get_or_insert(failed);
                    inner.end(ScopeEnding::Settle, &self.clock);
                }
                (_, NodeEnd::Stopped) => {}
            }
        }
        if failure.is_some() {
            self.clock.alone(self.number, node).await;
        }
        let end = match failure {
            Some(failed) => NodeEnd::Hard(failed),
            None if ended == items.len() => NodeEnd::Good(Some(Value::Array(results)), NodeStatus::Completed),
            None => NodeEnd::Stopped,
        };
        self.closed(node, scope, end)
    }

    pub(super) async fn parallel(
        self: &Rc<Self>,
        parallel: &'a ParallelNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: ModelEnv,
    ) -> NodeEnd {
        self.side_by_side(node);
        let joined = match self.join(parallel, node, scope, &env).await {
            Ok(joined) => joined,
            Err(end) => return self.closed(node, scope, end),
        };
        if parallel.finally.is_none() {
            return self.closed(node, scope, NodeEnd::Good(Some(joined), NodeStatus::Completed));
        }
        let seen = SeenByCall { joined: Some(joined), ..env.seen() };
        match self.ask(ScriptPart::Finally, 0, node, scope, &seen).await {
            Ok(mapped) => self.closed(node, scope, NodeEnd::Good(Some(mapped), NodeStatus::Completed)),
            Err(end) => self.over(node, end),
        }
    }

    async fn join(
        self: &Rc<Self>,
        parallel: &'a ParallelNode,
        node: &str,
        scope: &Rc<ModelScope>,
        env: &ModelEnv,
    ) -> Result<Value, NodeEnd> {
        let count = parallel.branches.len();
        let wanted = match parallel.join {
            Join::All => count,
            Join::First => 1,
            Join::N(n) => n as usize,
        };
        let race = parallel.join != Join::All;
        let began = self.clock.now();
        let inner = scope.inside();
        let scopes: Vec<Rc<ModelScope>> = parallel.branches.iter().map(|_| inner.inside()).collect();
        let mut lanes: ModelLanes<'a, NodeEnd> = ModelLanes::new();
        for (branch, lane) in parallel.branches.iter().zip(&scopes) {
            lanes.push(self.block(&branch.block, path(node, &branch.name), Rc::clone(lane), env.clone()));
        }
        let mut shown: Vec<Option<Value>> = vec![None; count];
        let (mut good, mut lost, mut failure) = (0, Vec::new(), None);
        // No branch wins any more in a scope that is ending.
        while lanes.open() > 0 && !(race && good == wanted && scope.ending().is_none()) {
            match lanes.next(&self.clock).await {
                (n, NodeEnd::Good(result, _)) => {
                    // Too late if the block fails already.
                    if failure.is_none() {
                        shown[n] = Some(result.unwrap_or(Value::Null));
                        good += 1;
                    }
                }
                (n, NodeEnd::Hard(failed)) if parallel.on_failure == OnFailure::Collect => {
                    shown[n] = Some(failed.shown());
                    good += 1;
                }
                (n, NodeEnd::Hard(failed)) => {
                    lost.push(n);
                    if count - lost.len() < wanted && failure.is_none() {
                        failure = Some(if race { failed.unreachable(node) } else { failed });
                        inner.end(ScopeEnding::Settle, &self.clock);
                    }
                }
                (_, NodeEnd::Stopped) => {}
            }
        }
        if let Some(failed) = failure {
            self.clock.alone(self.number, node).await;
            return Err(NodeEnd::Hard(failed));
        }
        if good < wanted || scope.ending().is_some() {
            return Err(NodeEnd::Stopped);
        }
        if race {
            // All at one moment: who was first?
            if began == self.clock.now() && lanes.open() > 0 {
                self.tie(ModelTie::Race);
            }
            self.lose(parallel, node, &lost, &scopes, lanes);
        }
        let named = parallel.branches.iter().zip(shown);
        let joined = named.filter_map(|(branch, shown)| Some((branch.name.clone(), shown?)));
        Ok(Value::Object(joined.collect::<Map<_, _>>()))
    }

    /// Enough branches have won: the others are stopped and undone, beside what follows.
    fn lose(
        self: &Rc<Self>,
        parallel: &'a ParallelNode,
        node: &str,
        lost: &[usize],
        scopes: &[Rc<ModelScope>],
        mut lanes: ModelLanes<'a, NodeEnd>,
    ) {
        let open = lanes.take_open();
        let losers = open.into_iter().map(|(n, task)| (n, Some(task)));
        for (n, task) in losers.chain(lost.iter().map(|n| (*n, None))) {
            scopes[n].end(ScopeEnding::Stop, &self.clock);
            let lane = path(node, &parallel.branches[n].name);
            self.notes.borrow_mut().lost.push(lane.clone());
            self.clock.spawn(self.number, &lane, self.settle(lane.clone(), task));
        }
    }

    fn settle(self: &Rc<Self>, lane: String, task: Option<ModelTask<'a, NodeEnd>>) -> ModelTask<'a, ()> {
        let this = Rc::clone(self);
        Box::pin(async move {
            if let Some(task) = task {
                task.await;
            }
            // Lanes inside that lost before are undone first.
            this.clock.alone(this.number, &lane).await;
            this.undo_within(&lane).await;
        })
    }
}

impl ModelFailure {
    /// A failure as a collecting block shows it.
    fn shown(&self) -> Value {
        json!({ "$failed": { "code": self.code, "step": self.by } })
    }

    /// So many branches failed that not enough can complete; this was the last of them.
    fn unreachable(self, block: &str) -> Self {
        Self { code: "join_unreachable".to_owned(), by: block.to_owned(), ..self }
    }
}
