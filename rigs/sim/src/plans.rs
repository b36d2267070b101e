//! Random plans.

use rival_core::plan::{
    BackoffKind, BlockOrder, BranchNode, CompensationSpec, ForEachNode, Join, LoopNode, LoopTest, NamedBlock,
    NestedNode, Node, NodeKind, OnFailure, OnTimeout, ParallelNode, PlanBlock, RetryPolicy, SignalNode,
    SleepLength, SleepNode, StepNode,
};
use rival_core::{Plan, Time};

use crate::dice::SeededDice;
use crate::ops::CHILD;

/// How deep blocks nest.
const DEPTH_MAX: u32 = 6;
/// How many nodes a plan has.
const NODES_MAX: u64 = 60;

/// The kinds of nodes, as plans choose them; a kind that is there twice is chosen twice as often.
const KINDS: [Choice; 13] = [
    Choice::Step,
    Choice::Step,
    Choice::Step,
    Choice::Step,
    Choice::Step,
    Choice::Sleep,
    Choice::Signal,
    Choice::Workflow,
    Choice::Branch,
    Choice::Loop,
    Choice::ForEach,
    Choice::Parallel,
    Choice::Parallel,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Step,
    Sleep,
    Signal,
    Workflow,
    Branch,
    Loop,
    ForEach,
    Parallel,
}

/// The plan of a seed.
pub fn plan(seed: u64, began: Time) -> Plan {
    let mut dice = SeededDice::new(seed, "plan");
    // Small plans are common: what goes wrong in them is easy to see.
    let most = [4, 10, 25, NODES_MAX][usize::try_from(dice.below(4)).unwrap_or(0)];
    let budget = dice.range(1, most);
    let mut maker = Maker { dice, budget, made: 0, began };
    let block = maker.block(1, true);
    let dice = &mut maker.dice;
    Plan {
        workflow: "sim".to_owned(),
        block,
        on_error: dice.percent(50).then(|| "handler".into()),
        timeout_ms: dice.percent(10).then(|| dice.timeout() * 16),
        max_retries: 0,
        triggers: Vec::new(),
    }
}

/// The plan of the children of a seed: a few steps and sleeps, which nothing undoes.
pub fn child(seed: u64, began: Time) -> Plan {
    let mut plan = undoable_child(seed, began);
    for node in &mut plan.block.nodes {
        if let NodeKind::Step(step) = &mut node.kind {
            step.compensate = None;
        }
    }
    plan
}

/// The same plan with the compensations of its steps.
pub fn undoable_child(seed: u64, began: Time) -> Plan {
    let mut maker = Maker { dice: SeededDice::new(seed, "child"), budget: 0, made: 1_000, began };
    let nodes = (0..maker.dice.range(1, 3)).map(|_| {
        let mut node = if maker.dice.percent(70) { maker.step() } else { maker.sleep() };
        if let NodeKind::Step(step) = &mut node.kind {
            step.at_most_once = false;
            if step.function == "durable" {
                step.function = "step".into();
            }
        }
        node
    });
    let block = PlanBlock::sequence(nodes.collect());
    Plan {
        workflow: CHILD.to_owned(),
        block,
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers: Vec::new(),
    }
}

struct Maker {
    dice: SeededDice,
    budget: u64,
    made: u32,
    began: Time,
}

impl Maker {
    fn id(&mut self, letter: char) -> String {
        self.made += 1;
        format!("{letter}{}", self.made)
    }

    /// At least one node, and at most what is left.
    fn block(&mut self, depth: u32, outermost: bool) -> PlanBlock {
        let wish = if outermost { self.budget } else { self.dice.range(1, 4) };
        let mut nodes = vec![self.node(depth)];
        while (nodes.len() as u64) < wish && self.budget > 0 {
            nodes.push(self.node(depth));
        }
        if nodes.len() > 1 && self.dice.percent(12) {
            return if self.dice.percent(40) { self.phases(nodes) } else { self.graph(nodes) };
        }
        PlanBlock::sequence(nodes)
    }

    /// Each node comes after some of those before it.
    fn graph(&mut self, mut nodes: Vec<Node>) -> PlanBlock {
        let ids: Vec<String> = nodes.iter().map(|node| node.id.clone()).collect();
        for (n, node) in nodes.iter_mut().enumerate() {
            let earlier = ids[..n].iter().rev().take(4);
            node.after = earlier.filter(|_| self.dice.percent(40)).cloned().collect();
        }
        PlanBlock { order: BlockOrder::Graph, nodes }
    }

    /// Each node is in the phase of the one before it, or in the next.
    fn phases(&mut self, nodes: Vec<Node>) -> PlanBlock {
        let mut phases: Vec<Vec<Node>> = vec![Vec::new()];
        for node in nodes {
            match phases.last_mut() {
                Some(phase) if phase.is_empty() || self.dice.percent(60) => phase.push(node),
                _ => phases.push(vec![node]),
            }
        }
        PlanBlock::phases(phases)
    }

    fn node(&mut self, depth: u32) -> Node {
        self.budget = self.budget.saturating_sub(1);
        let mut choice = KINDS[usize::try_from(self.dice.below(KINDS.len() as u64)).unwrap_or(0)];
        let leaf = matches!(choice, Choice::Step | Choice::Sleep | Choice::Signal);
        if !leaf && (depth >= DEPTH_MAX || self.budget == 0) {
            choice = Choice::Step;
        }
        match choice {
            Choice::Step => self.step(),
            Choice::Sleep => self.sleep(),
            Choice::Signal => self.signal(),
            Choice::Workflow => self.nested(depth),
            Choice::Branch => self.branch(depth),
            Choice::Loop => self.repeat(depth),
            Choice::ForEach => self.for_each(depth),
            Choice::Parallel => self.parallel(depth),
        }
    }

    fn retry(&mut self) -> RetryPolicy {
        let dice = &mut self.dice;
        RetryPolicy {
            max_attempts: dice.percent(50).then(|| u32::try_from(dice.range(1, 4)).unwrap_or(1)),
            backoff: dice
                .percent(30)
                .then(|| if dice.percent(50) { BackoffKind::Linear } else { BackoffKind::Exponential }),
            backoff_ms: dice.percent(70).then(|| dice.duration()),
            jitter: false,
        }
    }

    fn step(&mut self) -> Node {
        let retry = self.retry();
        let undo = self.retry();
        let id = self.id('s');
        let dice = &mut self.dice;
        let function = match dice.below(100) {
            0..15 => "listening",
            15..30 => "durable",
            _ => "step",
        };
        let mut step = StepNode {
            function: function.into(),
            retry,
            timeout_ms: dice.percent(40).then(|| dice.timeout()),
            on_timeout: if dice.percent(50) { OnTimeout::Retry } else { OnTimeout::Stop },
            on_error: dice.percent(30).then(|| "handler".into()),
            continue_on_error: dice.percent(15),
            at_most_once: dice.percent(5),
            compensate: dice.percent(35).then(|| CompensationSpec {
                function: "undo".into(),
                retry: undo,
                timeout_ms: dice.percent(50).then(|| dice.timeout()),
            }),
        };
        if function == "durable" {
            // How much of its time is spent waiting depends on when it is suspended.
            step.timeout_ms = None;
            step.at_most_once = false;
        }
        Node::new(id, NodeKind::Step(step))
    }

    fn sleep(&mut self) -> Node {
        let id = self.id('z');
        let wait = match self.dice.below(4) {
            0 => SleepLength::ForMs(self.dice.duration()),
            1 => SleepLength::UntilMs(self.began.plus_ms(self.dice.duration()).0),
            _ => SleepLength::Computed("wait".into()),
        };
        Node::new(id, NodeKind::Sleep(SleepNode { wait }))
    }

    fn signal(&mut self) -> Node {
        let id = self.id('g');
        let signal = SignalNode {
            signal: format!("signal{}", self.dice.below(3)),
            timeout_ms: Some(self.dice.duration() * 8),
            timeout_is_value: self.dice.percent(60),
        };
        Node::new(id, NodeKind::Signal(signal))
    }

    fn nested(&mut self, depth: u32) -> Node {
        let id = self.id('w');
        let nested = NestedNode {
            workflow: format!("inner-{id}"),
            block: self.block(depth + 1, false),
            input: self.dice.percent(40).then(|| "input".into()),
            on_error: self.dice.percent(40).then(|| "handler".into()),
        };
        Node::new(id, NodeKind::Workflow(nested))
    }

    fn branch(&mut self, depth: u32) -> Node {
        let id = self.id('b');
        let names: &[&str] = match self.dice.below(4) {
            0 => &["then"],
            1 => &["then", "else"],
            2 => &["red", "green"],
            _ => &["red", "green", "blue"],
        };
        let by_case = names[0] == "red";
        let branch = BranchNode {
            choose: "choose".into(),
            cases: self.named(names, depth),
            default: (by_case && self.dice.percent(50)).then(|| self.block(depth + 1, false)),
        };
        Node::new(id, NodeKind::Branch(branch))
    }

    fn repeat(&mut self, depth: u32) -> Node {
        let id = self.id('l');
        let test = if self.dice.percent(50) {
            LoopTest::Until("until".into())
        } else {
            LoopTest::While("while".into())
        };
        let body = self.block(depth + 1, false);
        let max_iterations = u32::try_from(self.dice.range(1, 6)).unwrap_or(1);
        Node::new(id, NodeKind::Loop(LoopNode { body, test, max_iterations }))
    }

    fn for_each(&mut self, depth: u32) -> Node {
        let id = self.id('e');
        let each = ForEachNode {
            items: "items".into(),
            body: self.block(depth + 1, false),
            concurrency: u32::try_from(self.dice.range(1, 4)).unwrap_or(1),
            max_iterations: self.dice.percent(20).then_some(5),
        };
        Node::new(id, NodeKind::ForEach(each))
    }

    fn parallel(&mut self, depth: u32) -> Node {
        let id = self.id('p');
        let most = self.budget.clamp(1, 5);
        let names = &["x", "y", "z", "u", "v"][..usize::try_from(self.dice.range(1, most)).unwrap_or(1)];
        let most = names.len() as u64;
        let join = match self.dice.below(4) {
            0 => Join::First,
            1 => Join::N(u32::try_from(self.dice.range(1, most)).unwrap_or(1)),
            _ => Join::All,
        };
        let collect = join == Join::All && self.dice.percent(30);
        let parallel = ParallelNode {
            branches: self.named(names, depth),
            join,
            on_failure: if collect { OnFailure::Collect } else { OnFailure::Fail },
            finally: self.dice.percent(30).then(|| "finally".into()),
        };
        Node::new(id, NodeKind::Parallel(parallel))
    }

    fn named(&mut self, names: &[&str], depth: u32) -> Vec<NamedBlock> {
        let block =
            |name: &&str| NamedBlock { name: (*name).to_owned(), block: self.block(depth + 1, false) };
        names.iter().map(block).collect()
    }
}

/// How many nodes a block has, with those inside.
pub fn size(block: &PlanBlock) -> usize {
    block.nodes.iter().map(|node| 1 + node.blocks().iter().map(|(_, inner)| size(inner)).sum::<usize>()).sum()
}
