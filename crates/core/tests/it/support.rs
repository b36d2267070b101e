//! Traces: a plan and inputs are given, the history they lead to is compared line by line.
//!
//! Each line of a trace is one event: its number, what caused it (`<3` an event, else a word), and what
//! happened. Every trace is also folded again, sent through its stored form, and judged by `verify`.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::Expect;
use rival_core::durable::{ChildOutcome, OpBody, OpOutcome};
use rival_core::event::{
    self, BlockedReason, CallRole, DueCall, Event, EventCause, EventKind, FailureVerdict, ImportedStatus,
    LaneOutcome, LostReason, NotUndone, ResultPart, ResultParts,
};
use rival_core::failure::StepError;
use rival_core::fork::{ForkImport, NodeImport};
use rival_core::machine::{
    self, AskedOp, CallOutcome, CommitExtra, Decision, DecisionEnv, Effect, LiveStates, MachineInput,
    OpRequest, RunStart, SentSignal, StopReason,
};
use rival_core::plan::{
    BlockOrder, BranchNode, CompensationSpec, ForEachNode, Join, LoopNode, LoopTest, NamedBlock, NestedNode,
    Node, NodeKind, OnFailure, ParallelNode, PlanBlock, RetryPolicy, SignalNode, SleepLength, SleepNode,
    StepNode,
};
use rival_core::state::StateIndex;
use rival_core::{
    FailureRecord, IndexedPlan, NodeStatus, Path, Plan, RunId, RunState, RunStatus, Time, Value, verify,
};

pub(crate) fn plan(nodes: Vec<Node>) -> Plan {
    Plan {
        workflow: "w".into(),
        block: PlanBlock::sequence(nodes),
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers: Vec::new(),
    }
}

pub(crate) fn step(id: &str) -> Node {
    step_with(id, |_| {})
}

pub(crate) fn step_with(id: &str, set: impl FnOnce(&mut StepNode)) -> Node {
    let mut step = StepNode { function: id.into(), ..StepNode::default() };
    set(&mut step);
    Node::new(id, NodeKind::Step(step))
}

pub(crate) fn tried(id: &str, max_attempts: u32) -> Node {
    step_with(id, |step| step.retry = attempts(max_attempts))
}

pub(crate) fn attempts(max: u32) -> RetryPolicy {
    RetryPolicy { max_attempts: Some(max), ..RetryPolicy::default() }
}

pub(crate) fn sleep(id: &str, wait: SleepLength) -> Node {
    Node::new(id, NodeKind::Sleep(SleepNode { wait }))
}

pub(crate) fn signal(id: &str, name: &str, timeout_ms: Option<u64>, timeout_is_value: bool) -> Node {
    Node::new(id, NodeKind::Signal(SignalNode { signal: name.into(), timeout_ms, timeout_is_value }))
}

pub(crate) fn nested(id: &str, nodes: Vec<Node>) -> Node {
    nested_with(id, nodes, |_| {})
}

pub(crate) fn nested_with(id: &str, nodes: Vec<Node>, set: impl FnOnce(&mut NestedNode)) -> Node {
    let mut nested =
        NestedNode { workflow: id.into(), block: PlanBlock::sequence(nodes), input: None, on_error: None };
    set(&mut nested);
    Node::new(id, NodeKind::Workflow(nested))
}

/// A branch whose function is called `choose`.
pub(crate) fn branch(id: &str, cases: Vec<(&str, Vec<Node>)>, default: Option<Vec<Node>>) -> Node {
    let cases = cases.into_iter().map(|(name, nodes)| named(name, nodes)).collect();
    let default = default.map(PlanBlock::sequence);
    Node::new(id, NodeKind::Branch(BranchNode { choose: "choose".into(), cases, default }))
}

pub(crate) fn named(name: &str, nodes: Vec<Node>) -> NamedBlock {
    NamedBlock { name: name.into(), block: PlanBlock::sequence(nodes) }
}

/// A loop of at most three iterations whose function is called `test`.
pub(crate) fn until(id: &str, body: Vec<Node>) -> Node {
    looping(id, body, LoopTest::Until("test".into()))
}

pub(crate) fn looping(id: &str, body: Vec<Node>, test: LoopTest) -> Node {
    Node::new(id, NodeKind::Loop(LoopNode { body: PlanBlock::sequence(body), test, max_iterations: 3 }))
}

/// A forEach whose function is called `items`.
pub(crate) fn for_each(id: &str, concurrency: u32, body: Vec<Node>) -> Node {
    let (items, body) = ("items".into(), PlanBlock::sequence(body));
    Node::new(id, NodeKind::ForEach(ForEachNode { items, body, concurrency, max_iterations: Some(20) }))
}

pub(crate) fn parallel(id: &str, branches: Vec<(&str, Vec<Node>)>) -> Node {
    parallel_with(id, branches, |_| {})
}

pub(crate) fn parallel_with(
    id: &str,
    branches: Vec<(&str, Vec<Node>)>,
    set: impl FnOnce(&mut ParallelNode),
) -> Node {
    let branches = branches.into_iter().map(|(name, nodes)| named(name, nodes)).collect();
    let mut parallel = ParallelNode { branches, join: Join::All, on_failure: OnFailure::Fail, finally: None };
    set(&mut parallel);
    Node::new(id, NodeKind::Parallel(parallel))
}

pub(crate) fn joining(id: &str, join: Join, branches: Vec<(&str, Vec<Node>)>) -> Node {
    parallel_with(id, branches, |parallel| parallel.join = join)
}

/// Steps as a graph: each with what it waits for.
pub(crate) fn graph(nodes: Vec<(Node, &[&str])>) -> PlanBlock {
    let after = |(node, after): (Node, &[&str])| Node {
        after: after.iter().map(ToString::to_string).collect(),
        ..node
    };
    PlanBlock { order: BlockOrder::Graph, nodes: nodes.into_iter().map(after).collect() }
}

/// A step that can be undone.
pub(crate) fn undoable(id: &str) -> Node {
    step_with(id, |step| {
        step.compensate =
            Some(CompensationSpec { function: format!("undo_{id}").into(), ..CompensationSpec::default() });
    })
}

pub(crate) fn json(value: serde_json::Value) -> Value {
    value.into()
}

pub(crate) fn success(value: serde_json::Value) -> CallOutcome {
    CallOutcome::Success { result: json(value), state: None, skipped: false }
}

pub(crate) fn import(node: &str, status: ImportedStatus, result: serde_json::Value) -> ForkImport {
    ForkImport::Node(node_import(node, status, result))
}

pub(crate) fn node_import(node: &str, status: ImportedStatus, result: serde_json::Value) -> NodeImport {
    NodeImport {
        node: Path::from(node),
        status,
        result: json(result),
        state: None,
        failure: None,
        started_at: Time(-20),
        ended_at: Time(-10),
        undoable: false,
    }
}

/// One run under test.
pub(crate) struct Case {
    pub(crate) plan: IndexedPlan,
    pub(crate) state: RunState,
    pub(crate) events: Vec<Event>,
    pub(crate) now: Time,
    pub(crate) admit: bool,
    run: RunId,
    trace: String,
    states: Written,
}

/// What the calls at work have put into their state.
#[derive(Debug, Default)]
struct Written(BTreeMap<(Path, u32), Value>);

impl LiveStates for Written {
    fn written(&self, node: &Path, call: u32) -> Option<Value> {
        self.0.get(&(node.clone(), call)).cloned()
    }
}

fn asked(
    node: &str,
    call: u32,
    (name, occurrence): (&str, u32),
    after: &[u32],
    request: OpRequest,
) -> AskedOp {
    AskedOp {
        node: Path::from(node),
        call,
        name: name.to_owned(),
        occurrence,
        hash: "h".into(),
        after: after.to_vec(),
        request,
        refused: None,
    }
}

impl Case {
    pub(crate) fn of(nodes: Vec<Node>) -> Self {
        Self::with(plan(nodes), |_| {})
    }

    pub(crate) fn with(mut plan: Plan, set: impl FnOnce(&mut Plan)) -> Self {
        set(&mut plan);
        assert_eq!(plan.check(), [], "the plan of a case is sound");
        Self {
            plan: IndexedPlan::new(plan),
            state: RunState::default(),
            events: Vec::new(),
            now: Time(0),
            admit: true,
            run: RunId::from("r"),
            trace: String::new(),
            states: Written::default(),
        }
    }

    /// A call at work puts this into its state.
    pub(crate) fn writes(mut self, node: &str, call: u32, state: serde_json::Value) -> Self {
        self.states.0.insert((Path::from(node), call), json(state));
        self
    }

    /// Names the run.
    pub(crate) fn named(mut self, run: &str) -> Self {
        self.run = RunId::from(run);
        self
    }

    /// An engine that has no room, or is stopping.
    pub(crate) fn full(mut self) -> Self {
        self.admit = false;
        self
    }

    pub(crate) fn roomy(mut self) -> Self {
        self.admit = true;
        self
    }

    /// Moves the time forward without an input to the machine.
    pub(crate) fn after(mut self, ms: u64) -> Self {
        self.now = self.now.plus_ms(ms);
        self
    }

    pub(crate) fn decide(&mut self, input: MachineInput) -> Decision {
        let env = DecisionEnv { run: &self.run, now: self.now, admit: self.admit, states: &self.states };
        let turn = machine::decide(&self.plan, &mut self.state, input, env);
        self.events.extend(turn.events.iter().cloned());
        turn
    }

    fn when(mut self, what: &str, input: MachineInput) -> Self {
        let turn = self.decide(input);
        let line = format!("> {what}, at {}", self.now.0);
        writeln!(self.trace, "{line}").expect("a string takes any text");
        for event in &turn.events {
            writeln!(self.trace, "{}", render(event)).expect("a string takes any text");
        }
        for line in turn.extras.iter().map(errand).chain(turn.effects.iter().filter_map(effect)) {
            writeln!(self.trace, "    {line}").expect("a string takes any text");
        }
        if turn.refused {
            writeln!(self.trace, "    refused").expect("a string takes any text");
        }
        assert_calls_match_events(&turn);
        self
    }

    pub(crate) fn start(self) -> Self {
        self.start_with(RunStart::new(json(serde_json::json!({"n": 1}))))
    }

    pub(crate) fn start_with(self, start: RunStart) -> Self {
        self.when("start", MachineInput::Start(start))
    }

    pub(crate) fn finish(self, node: &str, call: u32, what: &str, outcome: CallOutcome) -> Self {
        let input = MachineInput::CallFinished { node: Path::from(node), call, outcome };
        self.when(&format!("{}#{call} {what}", at(&Path::from(node))), input)
    }

    pub(crate) fn ok(self, node: &str, call: u32) -> Self {
        self.gives(node, call, serde_json::json!(format!("{node}!")))
    }

    pub(crate) fn gives(self, node: &str, call: u32, result: serde_json::Value) -> Self {
        let what = format!("returns {result}");
        self.finish(node, call, &what, success(result))
    }

    pub(crate) fn skips(self, node: &str, call: u32) -> Self {
        let state = Some(json(serde_json::json!({"skipped": true})));
        self.finish(node, call, "skips", CallOutcome::Success { result: Value::null(), state, skipped: true })
    }

    pub(crate) fn fails(self, node: &str, call: u32, error: StepError) -> Self {
        let what = format!("fails ({:?})", error.behavior);
        self.finish(node, call, &what, CallOutcome::Failure { error, state: None })
    }

    pub(crate) fn stopped(self, node: &str, call: u32) -> Self {
        self.finish(node, call, "stopped", CallOutcome::Stopped { state: None })
    }

    pub(crate) fn lost(self, node: &str, call: u32, reason: LostReason) -> Self {
        self.finish(node, call, "lost", CallOutcome::Lost(reason))
    }

    pub(crate) fn function_missing(self, node: &str, call: u32) -> Self {
        let reason = BlockedReason::FunctionMissing { function: "f".into(), why: None };
        self.finish(node, call, "has no function", CallOutcome::Blocked(reason))
    }

    pub(crate) fn tick(self) -> Self {
        self.when("tick", MachineInput::Tick)
    }

    /// Lets time pass and says so.
    pub(crate) fn tick_after(self, ms: u64) -> Self {
        self.after(ms).tick()
    }

    /// The clock was ahead by so much, and is right from now on.
    pub(crate) fn clock_set_back(mut self, ms: u64) -> Self {
        self.now = self.now.minus_ms(ms);
        self.when("clock set back", MachineInput::ClockSetBack)
    }

    pub(crate) fn cancel(self) -> Self {
        self.when("cancel", MachineInput::Cancel { reason: Some("enough".into()), by: None })
    }

    pub(crate) fn kill(self) -> Self {
        self.when("kill", MachineInput::Kill { reason: Some("now".into()), by: None })
    }

    pub(crate) fn asks_for(self, what: &str, input: MachineInput) -> Self {
        self.when(what, input)
    }

    pub(crate) fn pause(self) -> Self {
        self.when("pause", MachineInput::Pause { by: None })
    }

    pub(crate) fn resume(self) -> Self {
        self.when("resume", MachineInput::Resume { by: None })
    }

    pub(crate) fn let_go(self) -> Self {
        self.when("let go", MachineInput::ReleaseNow)
    }

    pub(crate) fn signal(self, name: &str) -> Self {
        let now = self.now;
        self.signal_sent(name, serde_json::Value::Null, now)
    }

    /// A signal that was sent at some moment, and is seen now.
    pub(crate) fn signal_sent(self, name: &str, payload: serde_json::Value, sent_at: Time) -> Self {
        let what = format!("signal {name} sent at {}", sent_at.0);
        let (name, payload) = (name.to_owned(), json(payload));
        self.when(&what, MachineInput::Signal(SentSignal { name, id: None, payload, sent_at, by: None }))
    }

    /// A function asks for an operation: the first of its kind and name, with nothing used before.
    pub(crate) fn asks(self, node: &str, call: u32, name: &str, what: OpRequest) -> Self {
        self.asks_after(node, call, (name, 1), &[], what)
    }

    /// A function asks for a child that cannot be started.
    pub(crate) fn asks_refused(
        self,
        node: &str,
        call: u32,
        name: &str,
        request: OpRequest,
        refused: FailureRecord,
    ) -> Self {
        let refused = Some(refused);
        self.asks_op(AskedOp { refused, ..asked(node, call, (name, 1), &[], request) })
    }

    pub(crate) fn asks_after(
        self,
        node: &str,
        call: u32,
        (name, occurrence): (&str, u32),
        after: &[u32],
        what: OpRequest,
    ) -> Self {
        self.asks_op(asked(node, call, (name, occurrence), after, what))
    }

    fn asks_op(self, asked: AskedOp) -> Self {
        self.when(&format!("{}#{} asks", asked.node, asked.call), MachineInput::Op(asked))
    }

    pub(crate) fn suspend(self, node: &str, call: u32) -> Self {
        self.suspend_after(node, call, &[])
    }

    /// Lets go of a function that has used these answers.
    pub(crate) fn suspend_after(self, node: &str, call: u32, used: &[u32]) -> Self {
        self.when(
            "suspend",
            MachineInput::Suspend { node: Path::from(node), call, used: used.to_vec(), told: Vec::new() },
        )
    }

    /// A function gives an operation up.
    pub(crate) fn drops(self, node: &str, call: u32, op: u32) -> Self {
        self.when(
            &format!("{node}#{call} drops"),
            MachineInput::OpDropped { node: Path::from(node), call, op },
        )
    }

    pub(crate) fn child_completes(self, child: &str, output: serde_json::Value) -> Self {
        self.child_ends(child, ChildOutcome::Completed(json(output)))
    }

    pub(crate) fn child_ends(self, child: &str, outcome: ChildOutcome) -> Self {
        let child = RunId::from(child);
        self.when(
            "child ended",
            MachineInput::ChildEnded { child, outcome, undoable: false, not_undone: Vec::new() },
        )
    }

    /// A child completes that has done what can be undone.
    pub(crate) fn undoable_child_completes(self, child: &str, output: serde_json::Value) -> Self {
        let (child, outcome) = (RunId::from(child), ChildOutcome::Completed(json(output)));
        self.when(
            "child ended",
            MachineInput::ChildEnded { child, outcome, undoable: true, not_undone: Vec::new() },
        )
    }

    pub(crate) fn child_retried(self, child: &str, next: &str) -> Self {
        let (child, next) = (RunId::from(child), RunId::from(next));
        self.when("child retried", MachineInput::ChildRetried { child, next })
    }

    /// Loads the run from its history, as after an orderly stop, or to look at it again.
    pub(crate) fn activate(mut self) -> Self {
        self.state = fold(&reload(&self.events));
        let loaded = self.state.seq;
        self.when("activate", MachineInput::Activate { loaded })
    }

    /// The process dies and the run is loaded again.
    pub(crate) fn crash(self) -> Self {
        self.activate()
    }

    pub(crate) fn crashes(self, times: u32) -> Self {
        (0..times).fold(self, |case, _| case.crash())
    }

    pub(crate) fn status(self, status: RunStatus) -> Self {
        assert_eq!(self.state.status(), status, "the run's status after\n{}", self.trace);
        self
    }

    pub(crate) fn node(self, node: &str, status: NodeStatus) -> Self {
        let found = self.state.node(&Path::from(node)).map(|node| node.status()).unwrap_or_default();
        assert_eq!(found, status, "the status of {node} after\n{}", self.trace);
        self
    }

    pub(crate) fn next_timer(self, at: Option<i64>) -> Self {
        assert_eq!(self.state.next_timer(), at.map(Time), "the next timer after\n{}", self.trace);
        self
    }

    /// Forgets the trace so far, so that the interesting part stands alone.
    pub(crate) fn quietly(mut self) -> Self {
        self.trace.clear();
        self
    }

    #[expect(clippy::needless_pass_by_value, reason = "`then(expect![..])` reads best")]
    pub(crate) fn then(self, trace: Expect) {
        trace.assert_eq(&self.trace);
        self.check();
    }

    /// What must hold for every history.
    pub(crate) fn check(&self) {
        let stored = reload(&self.events);
        assert_eq!(stored, self.events, "the stored form loses nothing");
        assert_eq!(fold_indexed(&stored), self.state, "the fold of the stored history is the live state");
        let violations = verify::check_run(&self.plan, &self.events);
        assert!(violations.is_empty(), "{}\nviolates\n{}", history(&self.events), list(&violations));
    }
}

/// Each started call is asked of the engine, and nothing else is.
fn assert_calls_match_events(turn: &Decision) {
    let started = turn.events.iter().filter_map(|event| match &event.kind {
        EventKind::CallStarted { node, call, role, attempt, .. } => Some((node, *call, *role, *attempt)),
        _ => None,
    });
    let asked = turn.effects.iter().filter_map(|effect| match effect {
        Effect::Call(call) => Some((&call.node, call.number, call.role, call.attempt)),
        Effect::Stop { .. } | Effect::Answer { .. } => None,
    });
    assert!(started.eq(asked), "calls are asked for as they are recorded");
}

fn effect(effect: &Effect) -> Option<String> {
    match effect {
        Effect::Stop { node, call, why } => {
            let why = match why {
                StopReason::Ending => "ending",
                StopReason::Timeout => "timeout",
            };
            Some(format!("stop {}#{call}: {why}", at(node)))
        }
        Effect::Answer { node, call, op } => Some(format!("answer {node}#{call}: operation {op}")),
        Effect::Call(_) => None,
    }
}

fn errand(errand: &CommitExtra) -> String {
    match errand {
        CommitExtra::Start(new) => {
            let item = new.index.map(|index| format!(", item {index}")).unwrap_or_default();
            format!("start {} of {}, input in {}{item}", new.child, new.workflow, new.asked)
        }
        CommitExtra::Cancel(child) => format!("cancel {child}"),
        CommitExtra::Undo { child, undo } => format!("start {undo} to undo {child}"),
        CommitExtra::Triggers(run) => format!("start {run}"),
    }
}

pub(crate) fn fold(events: &[Event]) -> RunState {
    let mut state = RunState::default();
    events.iter().for_each(|event| state.apply(event));
    state
}

/// The same, and after each event the index is that of the nodes. In a long history not each event is looked at.
pub(crate) fn fold_indexed(events: &[Event]) -> RunState {
    let mut state = RunState::default();
    let every = (events.len() / 1_000).max(1);
    for (at, event) in events.iter().enumerate() {
        state.apply(event);
        if at % every == 0 || at + 1 == events.len() {
            assert_eq!(*state.index(), StateIndex::of(&state), "after\n{}", history(&events[..=at]));
        }
    }
    state
}

pub(crate) fn reload(events: &[Event]) -> Vec<Event> {
    event::decode(&event::encode(events)).expect("what was encoded decodes")
}

pub(crate) fn history(events: &[Event]) -> String {
    events.iter().map(|event| render(event) + "\n").collect()
}

pub(crate) fn list(violations: &[verify::RuleViolation]) -> String {
    violations.iter().map(|violation| format!("{violation}\n")).collect()
}

fn at(node: &Path) -> &str {
    if node.is_root() { "(run)" } else { node.as_str() }
}

fn role(role: CallRole) -> &'static str {
    match role {
        CallRole::Step => "step",
        CallRole::OnError => "onError",
        CallRole::Input => "input",
        CallRole::Wait => "wait",
        CallRole::Choose => "choose",
        CallRole::Test => "test",
        CallRole::Items => "items",
        CallRole::Finally => "finally",
        CallRole::Compensate => "compensate",
    }
}

fn due(due: Option<DueCall>) -> String {
    due.map(|due| format!(", due: {} attempt {}", role(due.role), due.attempt)).unwrap_or_default()
}

fn numbered(op: Option<u32>) -> String {
    op.map(|op| format!(".{op}")).unwrap_or_default()
}

/// One event on one line.
pub(crate) fn render(event: &Event) -> String {
    let cause = match &event.cause {
        EventCause::Event(seq) => format!("<{seq}"),
        EventCause::Outside(outside) => format!("{outside:?}").to_lowercase(),
    };
    format!("  {:>2} {cause:<9} {}", event.seq, what(&event.kind))
}

fn what(kind: &EventKind) -> String {
    match kind {
        EventKind::RunStarted { deadline, retries_left, source, trigger, .. } => {
            let deadline = deadline.map(|at| format!(", until {}", at.0)).unwrap_or_default();
            let source = source.as_ref().map(|run| format!(", retries {run}")).unwrap_or_default();
            let left =
                if *retries_left > 0 { format!(", {retries_left} retries left") } else { String::new() };
            let trigger = trigger.as_ref().map(|trigger| format!(", triggered by {trigger:?}"));
            format!("run started{deadline}{left}{source}{}", trigger.unwrap_or_default())
        }
        EventKind::NodeImported { node, status, result, .. } => {
            format!("{node} imported: {status:?} {result:?}")
        }
        EventKind::DecisionImported { node, result, case, count } => {
            format!("{node} decided before: {result:?} {case:?} {count:?}")
        }
        EventKind::LaneImported { lane, result, .. } => format!("{lane} imported: {result:?}"),
        EventKind::CallStarted { node, call, role: what, attempt, deadline, .. } => {
            let deadline = deadline.map(|at| format!(", until {}", at.0)).unwrap_or_default();
            format!("{}#{call} called: {} attempt {attempt}{deadline}", at(node), role(*what))
        }
        EventKind::CallSucceeded { node, call, result, skipped, .. } => {
            let skipped = if *skipped { ", skipped" } else { "" };
            format!("{}#{call} succeeded: {result:?}{skipped}", at(node))
        }
        EventKind::CallFailed { node, call, failure, verdict, told, state } => {
            let verdict = match verdict {
                FailureVerdict::RetryAt(at) => format!("retry at {}", at.0),
                FailureVerdict::Fail => "fail".into(),
                FailureVerdict::Continue => "continue".into(),
            };
            let told = if *told { ", told to stop" } else { "" };
            let state = state.as_ref().map(|state| format!(", state {state:?}")).unwrap_or_default();
            format!(
                "{}#{call} failed: {} `{}`, {verdict}{told}{state}",
                at(node),
                failure.code,
                failure.message
            )
        }
        EventKind::CallLost { node, call, reason } => {
            let reason = match reason {
                LostReason::Crash => "crash",
                LostReason::Shutdown => "shutdown",
                LostReason::Bystander => "bystander",
            };
            format!("{}#{call} lost: {reason}", at(node))
        }
        EventKind::CallCancelled { node, call, forced, state } => {
            let forced = if *forced { ", forced" } else { "" };
            let state = state.as_ref().map(|state| format!(", state {state:?}")).unwrap_or_default();
            format!("{}#{call} cancelled{forced}{state}", at(node))
        }
        EventKind::NodeStarted { node, case, count, window } => {
            let case = case.as_ref().map(|case| format!(", case {case}")).unwrap_or_default();
            let count = count.map(|count| format!(", {count} lanes")).unwrap_or_default();
            let window = window.map(|window| format!(", {window} at a time")).unwrap_or_default();
            format!("{} started{case}{count}{window}", at(node))
        }
        EventKind::LaneEnded { lane, outcome, result, .. } => {
            let result = result.map(|seq| format!(", result in {seq}")).unwrap_or_default();
            let outcome = match outcome {
                LaneOutcome::Completed => "through".into(),
                LaneOutcome::Failed(node) => format!("failed in {node}"),
                LaneOutcome::Cancelled => "stopped".into(),
            };
            format!("{lane} {outcome}{result}")
        }
        EventKind::BlockFailing { node, child, failure } => {
            let own = failure.as_ref().map(|failure| format!(": {}", failure.code)).unwrap_or_default();
            format!("{} failing because of {child}{own}", at(node))
        }
        EventKind::LaneStopping { lane, force_at, .. } => format!("{lane} lost, forced at {}", force_at.0),
        EventKind::Joined { node, parts } => {
            let part = |part: &ResultPart| match part {
                ResultPart::Absent => "-".into(),
                ResultPart::Value(seq) => seq.to_string(),
                ResultPart::Failure { failure } => format!("failure {failure}"),
            };
            let parts: Vec<String> = match parts {
                ResultParts::List(parts) => parts.iter().map(part).collect(),
                ResultParts::Map(parts) => {
                    parts.iter().map(|(name, it)| format!("{name} {}", part(it))).collect()
                }
            };
            format!("{} joined: [{}]", at(node), parts.join(", "))
        }
        EventKind::NodeCompleted { node, result } => {
            format!("{node} completed{}", result.map(|seq| format!(", result in {seq}")).unwrap_or_default())
        }
        EventKind::NodeFailed { node, child, failure } => {
            let own = failure.as_ref().map(|failure| format!(": {} `{}`", failure.code, failure.message));
            format!("{node} failed because of {child}{}", own.unwrap_or_default())
        }
        EventKind::NodeCancelled { node } => format!("{node} cancelled"),
        EventKind::NodeHeld { node, due: what } => format!("{} held{}", at(node), due(*what)),
        EventKind::NodeBlocked { node, reason } => match reason {
            BlockedReason::FunctionMissing { function, .. } => {
                format!("{} blocked: no `{function}`", at(node))
            }
            BlockedReason::Quarantined { interruptions } => {
                format!("{} blocked: quarantined after {interruptions}", at(node))
            }
            BlockedReason::Undecodable { message } | BlockedReason::Nondeterminism { message } => {
                format!("{} blocked: {message}", at(node))
            }
        },
        EventKind::NodeUnblocked { node } => format!("{} unblocked", at(node)),
        EventKind::SleepStarted { node, until, .. } => format!("{node} sleeps until {}", until.0),
        EventKind::SleepEnded { node } => format!("{node} slept"),
        EventKind::SignalReceived { name, payload, sent_at, .. } => {
            format!("signal {name} received: {payload:?}, sent at {}", sent_at.0)
        }
        EventKind::SignalAwaited { node, name, until } => {
            let until = until.map(|at| format!(", until {}", at.0)).unwrap_or_default();
            format!("{node} waits for {name}{until}")
        }
        EventKind::SignalTaken { node, op, signal } => format!("{node}{} takes {signal}", numbered(*op)),
        EventKind::SignalTimedOut { node, op, failure } => {
            let what = failure.as_ref().map_or("null", |failure| failure.code.as_str());
            format!("{node}{} waited in vain: {what}", numbered(*op))
        }
        EventKind::OpStarted { node, op, call, name, occurrence, after, what, .. } => {
            let which = if *occurrence == 1 { String::new() } else { format!(" no. {occurrence}") };
            let after = if after.is_empty() { String::new() } else { format!(", after {after:?}") };
            let what = match what {
                OpBody::Once {} => format!("once {name}"),
                OpBody::Sleep { until } => format!("sleep until {}", until.0),
                OpBody::Signal { until: None, .. } => format!("signal {name}"),
                OpBody::Signal { until: Some(until), .. } => format!("signal {name} until {}", until.0),
                OpBody::Run { input } => format!("run {name} with {input:?}"),
                OpBody::Map { items, concurrency, .. } => {
                    format!("map {name} over {}, {concurrency} at a time", items.len())
                }
            };
            format!("{node}#{call}.{op} {what}{which}{after}")
        }
        EventKind::OpEnded { node, op, outcome } => {
            let outcome = match outcome {
                OpOutcome::Done {} => "done".to_owned(),
                OpOutcome::Value(value) => format!("{value:?}"),
                OpOutcome::Failed(failure) => format!("{} `{}`", failure.code, failure.message),
                OpOutcome::Cancelled {} => "stopped".to_owned(),
                OpOutcome::Left {} => "left behind".to_owned(),
            };
            format!("{node}.{op} ended: {outcome}")
        }
        EventKind::OpDropped { node, op, call } => format!("{node}#{call}.{op} given up"),
        EventKind::OpStopping { node, op } => format!("{node}.{op} stopping"),
        EventKind::ChildStarted { node, op, index, child } => format!("{node}.{op}[{index}] started {child}"),
        EventKind::ChildRetried { node, op, index, child, next } => {
            format!("{node}.{op}[{index}] {child} is retried as {next}")
        }
        EventKind::ChildUndoing { node, child, undo } => format!("{node}: {child} is undone by {undo}"),
        EventKind::ChildUndone { node, child, failure, .. } => {
            let failure =
                failure.as_ref().map_or_else(String::new, |it| format!(": {} `{}`", it.code, it.message));
            format!("{node}: {child} undone{failure}")
        }
        EventKind::ChildEnded { node, op, index, child, outcome, undoable, not_undone } => {
            let outcome = match outcome {
                ChildOutcome::Completed(value) => format!("completed {value:?}"),
                ChildOutcome::Failed { failure, .. } => format!("failed {}", failure.code),
                ChildOutcome::Cancelled { .. } => "cancelled".to_owned(),
            };
            let undoable = if *undoable { ", undoable" } else { "" };
            format!("{node}.{op}[{index}] {child} {outcome}{undoable}{}", left(not_undone))
        }
        EventKind::CallSuspended { node, call, used, .. } if used.is_empty() => {
            format!("{node}#{call} let go")
        }
        EventKind::CallSuspended { node, call, used, .. } => format!("{node}#{call} let go, after {used:?}"),
        EventKind::CancelRequested { reason, force_at, kill } => {
            let what = if *kill { "kill" } else { "cancel" };
            format!("{what} requested: {}, forced at {}", reason.as_deref().unwrap_or("-"), force_at.0)
        }
        EventKind::ClockSetBack { by_ms } => format!("clock set back by {by_ms}"),
        EventKind::RunPaused {} => "run paused".into(),
        EventKind::RunResumed {} => "run resumed".into(),
        EventKind::RunFailing { failure, node, force_at } => {
            let node = node.as_ref().map(|node| format!(" in {node}")).unwrap_or_default();
            format!("run failing{node}: {} `{}`, forced at {}", failure.code, failure.message, force_at.0)
        }
        EventKind::RunCompleted { output, not_undone, triggers } => {
            let output = output.map(|seq| format!(", output in {seq}")).unwrap_or_default();
            let triggers = triggers.as_ref().map(|run| format!(", triggers in {run}")).unwrap_or_default();
            format!("run completed{output}{}{triggers}", left(not_undone))
        }
        EventKind::RunFailed { failure, node, retried_as, not_undone } => {
            let node = node.as_ref().map(|node| format!(" in {node}")).unwrap_or_default();
            let retried = retried_as.as_ref().map(|run| format!(", retried as {run}")).unwrap_or_default();
            let left = left(not_undone);
            format!("run failed{node}: {} `{}`{retried}{left}", failure.code, failure.message)
        }
        EventKind::RunCancelled { reason, not_undone } => {
            format!("run cancelled: {}{}", reason.as_deref().unwrap_or("-"), left(not_undone))
        }
    }
}

fn left(not_undone: &[NotUndone]) -> String {
    let each = not_undone.iter().map(|left| format!(", {} not undone: `{}`", left.node, left.failure));
    each.collect()
}
