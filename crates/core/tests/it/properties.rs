//! Random plans, random functions and random trouble, against the reference.
//!
//! A driver plays the engine: it performs effects, feeds outcomes back as the script says, moves the
//! clock to the next timer, and in between pauses, crashes, stops, ticks and repeats itself at random.
//! Whatever it does, the run must come to what the reference says, and its history must keep the rules.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rival_core::event::{BlockedReason, CallRole, EventKind};
use rival_core::failure::StepError;
use rival_core::machine::{CallOutcome, Effect, MachineInput, NewCall, RunStart, StopReason};
use rival_core::plan::{
    BackoffKind, NestedNode, Node, NodeKind, OnTimeout, PlanBlock, RetryPolicy, SleepLength, SleepNode,
    StepNode,
};
use rival_core::state::StateIndex;
use rival_core::{NodeStatus, Path, Plan, RunState, RunStatus, Time, Value, verify};

use crate::golden::{WORDS, word};
use crate::reference::{Does, NodeSummary, Script, Summary, evaluate, result_of};
use crate::support::{Case, fold, history, list, reload};

/// 2,000 unless PROPTEST_CASES says otherwise.
fn config(cases: u32) -> ProptestConfig {
    let chosen = std::env::var_os("PROPTEST_CASES").is_some();
    let default = ProptestConfig::default();
    ProptestConfig { cases: if chosen { default.cases } else { cases }, ..default }
}

fn retry() -> impl Strategy<Value = RetryPolicy> {
    let backoff =
        prop_oneof![Just(None), Just(Some(BackoffKind::Linear)), Just(Some(BackoffKind::Exponential))];
    (proptest::option::of(1_u32..4), backoff, proptest::option::of(0_u64..5_000), any::<bool>()).prop_map(
        |(max_attempts, backoff, backoff_ms, jitter)| RetryPolicy {
            max_attempts,
            backoff,
            backoff_ms,
            jitter,
        },
    )
}

fn step() -> impl Strategy<Value = NodeKind> {
    let timeout = proptest::option::of(1_u64..10_000);
    let on_timeout = prop_oneof![Just(OnTimeout::Stop), Just(OnTimeout::Retry)];
    let flags = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (retry(), timeout, on_timeout, flags).prop_map(|(retry, timeout_ms, on_timeout, flags)| {
        let (handled, continue_on_error, at_most_once) = flags;
        NodeKind::Step(StepNode {
            function: "f".into(),
            retry,
            timeout_ms,
            on_timeout,
            on_error: handled.then(|| "h".into()),
            continue_on_error,
            at_most_once,
            compensate: None,
        })
    })
}

fn sleep() -> impl Strategy<Value = NodeKind> {
    let wait = prop_oneof![
        (0_u64..100_000).prop_map(SleepLength::ForMs),
        (-1_000_i64..100_000).prop_map(SleepLength::UntilMs),
        Just(SleepLength::Computed("w".into())),
    ];
    wait.prop_map(|wait| NodeKind::Sleep(SleepNode { wait }))
}

fn block(kinds: Vec<NodeKind>) -> PlanBlock {
    PlanBlock::sequence(
        kinds.into_iter().zip(0..).map(|(kind, n)| Node::new(format!("n{n}"), kind)).collect(),
    )
}

fn node() -> impl Strategy<Value = NodeKind> {
    let leaf = prop_oneof![4 => step(), 1 => sleep()];
    leaf.prop_recursive(4, 40, 5, |inner| {
        (vec(inner, 1..5), any::<bool>(), any::<bool>()).prop_map(|(kinds, mapped, handled)| {
            NodeKind::Workflow(NestedNode {
                workflow: "inner".into(),
                block: block(kinds),
                input: mapped.then(|| "m".into()),
                on_error: handled.then(|| "h".into()),
            })
        })
    })
}

prop_compose! {
    fn plan()(kinds in vec(node(), 1..8), handled in any::<bool>(), max_retries in 0_u32..2) -> Plan {
        Plan {
            workflow: "w".into(),
            block: block(kinds),
            on_error: handled.then(|| "h".into()),
            timeout_ms: None,
            max_retries,
            triggers: Vec::new(),
        }
    }
}

/// What may happen to a run beside its own progress.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Nothing,
    Pause,
    Resume,
    Crash,
    /// A turn's events do not reach the store: the state is thrown away and the run loaded again.
    LostCommit,
    /// The process dies again and again, until the node is quarantined.
    CrashLoop,
    /// The engine admits nothing new for a turn; what is next is held until it is loaded again.
    Drain,
    /// The engine drains, lets go and starts again.
    Stop,
    /// Time passes and a wake-up comes, for nothing or not.
    Tick(u64),
    /// The clock was ahead by so much, and is right from now on.
    ClockSetBack(u64),
    /// A result of a call that is not the current one.
    Stale,
    /// The function is gone, and comes back.
    FunctionMissing,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        10 => Just(Trouble::Nothing),
        2 => Just(Trouble::Pause),
        2 => Just(Trouble::Resume),
        2 => Just(Trouble::Crash),
        1 => Just(Trouble::LostCommit),
        1 => Just(Trouble::CrashLoop),
        1 => Just(Trouble::Drain),
        1 => Just(Trouble::Stop),
        1 => (0_u64..3_000).prop_map(Trouble::Tick),
        1 => (0_u64..300_000).prop_map(Trouble::ClockSetBack),
        1 => Just(Trouble::Stale),
        1 => Just(Trouble::FunctionMissing),
    ]
}

prop_compose! {
    fn script()(seed in any::<u64>(), trouble in prop_oneof![Just(0_u64), Just(20), Just(60)]) -> Script {
        Script { seed, trouble, interrupted: Default::default() }
    }
}

/// How a run is cut short, and after how many turns.
#[derive(Clone, Copy, Debug)]
enum Cut {
    Cancel { turns: usize },
    Timeout { ms: u64 },
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        (0_usize..30).prop_map(|turns| Cut::Cancel { turns }),
        (1_u64..60_000).prop_map(|ms| Cut::Timeout { ms })
    ]
}

/// The engine's part, played by the script.
struct Driver {
    case: Case,
    script: Script,
    calls: BTreeMap<Path, NewCall>,
    told_to_stop: BTreeMap<Path, u32>,
    turns: u32,
}

impl Driver {
    fn new(plan: Plan, script: Script) -> Self {
        let case = Case::with(plan, |_| {});
        Self { case, script, calls: BTreeMap::new(), told_to_stop: BTreeMap::new(), turns: 0 }
    }

    fn state(&self) -> &RunState {
        &self.case.state
    }

    fn input(&mut self, input: MachineInput) {
        self.turns += 1;
        assert!(self.turns < 5_000, "the run does not end:\n{}", history(&self.case.events));
        for effect in self.case.decide(input).effects {
            match effect {
                Effect::Call(call) => {
                    self.told_to_stop.remove(&call.node);
                    self.calls.insert(call.node.clone(), call);
                }
                Effect::Stop { node, call, why: StopReason::Timeout } => {
                    self.calls.retain(|_, open| open.node != node || open.number != call);
                }
                Effect::Stop { node, call, why: StopReason::Ending } => {
                    self.told_to_stop.insert(node, call);
                }
                Effect::Answer { .. } => unreachable!("no function here asks for anything"),
            }
        }
    }

    /// Runs to the end, with trouble on the way.
    fn run(&mut self, trouble: &[Trouble], cut: Option<Cut>) -> Option<RunState> {
        let mut at_cut = None;
        // Some runs find no room at first.
        self.case.admit = !self.script.seed.is_multiple_of(4);
        self.input(MachineInput::Start(RunStart::new(Value::null())));
        let mut trouble = trouble.iter();
        let mut turn = 0;
        while !self.state().is_terminal() {
            if matches!(cut, Some(Cut::Cancel { turns }) if turns == turn) {
                at_cut = Some(self.state().clone());
                self.input(MachineInput::Cancel { reason: None, by: None });
            } else {
                self.suffer(trouble.next().copied().unwrap_or(Trouble::Nothing));
                self.progress();
            }
            turn += 1;
        }
        at_cut
    }

    fn suffer(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Nothing => {}
            Trouble::Pause => self.input(MachineInput::Pause { by: None }),
            Trouble::Resume => self.input(MachineInput::Resume { by: None }),
            Trouble::Crash => self.crash(),
            Trouble::LostCommit => {
                let stored = self.case.events.len();
                self.progress();
                self.case.events.truncate(stored);
                self.load();
                self.crash();
            }
            Trouble::CrashLoop => (0..6).for_each(|_| self.crash()),
            Trouble::Drain => {
                self.case.admit = false;
                self.progress();
                self.stop_in_order();
            }
            Trouble::Stop => self.stop_in_order(),
            Trouble::Tick(ms) => {
                // Functions that do not hang return before their timeout.
                let latest = self.state().next_timer().map_or(Time(i64::MAX), |at| Time(at.0 - 1));
                self.case.now = self.case.now.plus_ms(ms).min(latest).max(self.case.now);
                self.input(MachineInput::Tick);
            }
            Trouble::ClockSetBack(ms) => {
                self.case.now = self.case.now.minus_ms(ms);
                self.input(MachineInput::ClockSetBack);
            }
            Trouble::Stale => {
                let calls: Vec<NewCall> = self.calls.values().cloned().collect();
                for call in calls {
                    for number in [call.number - 1, call.number + 1] {
                        let outcome = crate::support::success(serde_json::json!("stale"));
                        self.input(MachineInput::CallFinished {
                            node: call.node.clone(),
                            call: number,
                            outcome,
                        });
                    }
                }
            }
            Trouble::FunctionMissing => {
                if let Some(call) = self.calls.pop_first().map(|(_, call)| call) {
                    let function = call.function.to_string();
                    let reason = BlockedReason::FunctionMissing { function, why: None };
                    let outcome = CallOutcome::Blocked(reason);
                    self.input(MachineInput::CallFinished { node: call.node, call: call.number, outcome });
                }
            }
        }
    }

    fn stop_in_order(&mut self) {
        self.case.admit = false;
        self.note_interrupted();
        self.input(MachineInput::ReleaseNow);
        self.load();
        self.case.admit = true;
        let loaded = self.state().seq;
        self.input(MachineInput::Activate { loaded });
    }

    fn crash(&mut self) {
        self.note_interrupted();
        self.load();
        let loaded = self.state().seq;
        self.input(MachineInput::Activate { loaded });
    }

    fn load(&mut self) {
        self.case.state = fold(&reload(&self.case.events));
        self.calls.clear();
        self.told_to_stop.clear();
    }

    /// At-most-once calls at work now will not be made again.
    fn note_interrupted(&mut self) {
        for node in &self.case.state.index().calls {
            let open = self.case.state.node(node).and_then(|node| node.open_call());
            let step = self.case.plan.node(node).map(|node| &node.node().kind);
            if let (Some(open), Some(NodeKind::Step(step))) = (open, step)
                && open.role == CallRole::Step
                && step.at_most_once
            {
                self.script.interrupted.insert((node.clone(), open.attempt));
            }
        }
    }

    fn progress(&mut self) {
        if self.state().is_terminal() {
            return;
        }
        if let Some(call) = self.calls.values().next().cloned() {
            self.perform(&call);
        } else if let Some(at) = self.state().next_timer() {
            self.case.now = self.case.now.max(at);
            self.input(MachineInput::Tick);
        } else if self.state().paused || !self.state().index().blocked.is_empty() {
            self.input(MachineInput::Resume { by: None });
        } else if !self.case.admit {
            self.case.admit = true;
            self.load();
            let loaded = self.state().seq;
            self.input(MachineInput::Activate { loaded });
        } else {
            panic!("nothing is left to do:\n{}", history(&self.case.events));
        }
    }

    fn perform(&mut self, call: &NewCall) {
        let does = self.does(call);
        let stopped = self.told_to_stop.get(&call.node) == Some(&call.number);
        // A call that is told to stop may stop, finish all the same, or hang until it is left behind.
        let does = match self.script.roll(&call.node, "stop", call.number, 3) {
            0 if stopped => None,
            1 if stopped => Some(Does::Hang),
            _ => Some(does),
        };
        if does == Some(Does::Hang) {
            let at = self.state().next_timer().expect("a call that hangs has a deadline");
            self.case.now = self.case.now.max(at);
            if stopped {
                self.calls.remove(&call.node);
            }
            return self.input(MachineInput::Tick);
        }
        self.calls.remove(&call.node);
        let outcome = does.map_or(CallOutcome::Stopped { state: None }, |does| self.outcome(call, does));
        self.input(MachineInput::CallFinished { node: call.node.clone(), call: call.number, outcome });
    }

    fn does(&self, call: &NewCall) -> Does {
        match call.role {
            CallRole::Step => {
                let open = self.state().node(&call.node).and_then(|node| node.open_call());
                let can_hang = open.is_some_and(|open| open.deadline.is_some());
                self.script.step(&call.node, call.attempt, can_hang)
            }
            CallRole::OnError => self.script.handler(&call.node),
            _ => self.script.helper(&call.node),
        }
    }

    fn outcome(&self, call: &NewCall, does: Does) -> CallOutcome {
        let error = match does {
            Does::FailPlain => StepError::new("plain"),
            Does::FailStop => StepError::stop("stop"),
            Does::FailContinue => StepError::proceed("continue").details(Value::null()),
            Does::FailRetry { wanted } => StepError { max_attempts: wanted, ..StepError::retry("retry") },
            Does::Hang | Does::Return | Does::Skip => {
                let result = match (call.role, self.script.wait_ms(&call.node)) {
                    (CallRole::Wait, None) => serde_json::json!("soon"),
                    (CallRole::Wait, Some(ms)) => serde_json::json!({ "forMs": ms }),
                    _ => result_of(&call.node, call.attempt).into(),
                };
                let state = (does == Does::Skip).then(Value::null);
                return CallOutcome::Success { result: result.into(), state, skipped: does == Does::Skip };
            }
        };
        CallOutcome::Failure { error, state: Some(Value::null()) }
    }

    fn value_at(&self, seq: Option<rival_core::Seq>) -> Option<String> {
        let at = usize::try_from(seq?.0).expect("a history fits into memory") - 1;
        let value = self.case.events[at].kind.value().expect("a result names an event with a value");
        Some(value.decode().expect("results are text"))
    }

    /// What the run came to.
    fn summary(&self) -> Summary {
        let end = self.state().end.as_ref();
        let nodes = self.state().nodes.iter().filter(|(path, _)| !path.is_root());
        let nodes = nodes.map(|(path, node)| {
            let result = self.value_at(node.result);
            (path.clone(), NodeSummary { status: node.status(), attempts: node.attempts, result })
        });
        let mut handlers = Vec::new();
        for event in &self.case.events {
            if let EventKind::CallStarted { node, role: CallRole::OnError, .. } = &event.kind
                && !handlers.contains(node)
            {
                handlers.push(node.clone());
            }
        }
        Summary {
            status: end.map(|end| end.status),
            output: self.value_at(end.and_then(|end| end.output)),
            failed: end.and_then(|end| end.failed.clone()),
            nodes: nodes.collect(),
            handlers,
        }
    }

    fn history(&self) -> String {
        history(&self.case.events)
    }

    /// The rules, also for every way to cut the history in two and go on from a snapshot.
    fn check(&self) -> Result<(), TestCaseError> {
        let events = &self.case.events;
        let violations = verify::check_run(&self.case.plan, events);
        prop_assert!(violations.is_empty(), "{}\nviolates\n{}", self.history(), list(&violations));
        prop_assert_eq!(&reload(events), events);
        let whole = fold(events);
        prop_assert_eq!(&whole, self.state());
        let middle = events.len() / 2;
        prop_assert_eq!(&through_snapshot(events, middle)?, &whole);
        Ok(())
    }
}

/// Folds up to `at`, stores the state and reads it back, and folds the rest.
fn through_snapshot(events: &[rival_core::Event], at: usize) -> Result<RunState, TestCaseError> {
    let snapshot = serde_json::to_vec(&fold(&events[..at])).expect("a state is JSON");
    let mut state: RunState = serde_json::from_slice(&snapshot).expect("a stored state is read back");
    events[at..].iter().for_each(|event| state.apply(event));
    Ok(state)
}

#[test]
fn a_run_comes_to_what_the_reference_says_whatever_happens_to_it() {
    let cases = (plan(), script(), vec(trouble(), 0..80));
    TestRunner::new(config(2_000))
        .run(&cases, |(plan, script, trouble)| {
            let mut driver = Driver::new(plan.clone(), script);
            driver.run(&trouble, None);
            let expected = evaluate(&plan, &driver.script);
            prop_assert_eq!(driver.summary(), expected, "after\n{}", driver.history());
            driver.check()
        })
        .expect("every run comes to what the reference says");
}

#[test]
fn a_run_that_is_cut_short_keeps_what_it_had() {
    let cases = (plan(), script(), vec(trouble(), 0..40), cut());
    TestRunner::new(config(1_000))
        .run(&cases, |(mut plan, script, trouble, cut)| {
            if let Cut::Timeout { ms } = cut {
                plan.timeout_ms = Some(ms);
            }
            let mut driver = Driver::new(plan.clone(), script);
            let at_cut = driver.run(&trouble, Some(cut));
            let expected = evaluate(&plan, &driver.script);
            let found = driver.summary();
            let timed_out = found.status == Some(RunStatus::Failed) && found.failed.is_none();
            if found.status == Some(RunStatus::Cancelled) || timed_out {
                let ended = |node: &NodeStatus| node.is_terminal() && *node != NodeStatus::Cancelled;
                for (path, node) in at_cut.iter().flat_map(|state| &state.nodes) {
                    if ended(&node.status()) && !path.is_root() {
                        prop_assert_eq!(found.nodes.get(path), expected.nodes.get(path));
                    }
                }
                prop_assert!(found.nodes.values().all(|node| node.status.is_terminal()));
            } else {
                prop_assert_eq!(found, expected, "after\n{}", driver.history());
            }
            driver.check()
        })
        .expect("every run that is cut short keeps what it had");
}

#[test]
fn after_each_event_the_index_is_that_of_the_nodes() {
    let cases = (plan(), script(), vec(trouble(), 0..40), cut());
    TestRunner::new(config(300))
        .run(&cases, |(plan, script, trouble, cut)| {
            let mut driver = Driver::new(plan, script);
            driver.run(&trouble, Some(cut));
            let mut state = RunState::default();
            for event in &driver.case.events {
                state.apply(event);
                prop_assert_eq!(state.index(), &StateIndex::of(&state), "after\n{}", driver.history());
            }
            Ok(())
        })
        .expect("what is kept beside the nodes follows from them");
}

#[test]
fn a_fold_may_go_on_from_a_snapshot_at_any_event() {
    let cases = (plan(), script(), vec(trouble(), 0..30), cut());
    TestRunner::new(config(100))
        .run(&cases, |(plan, script, trouble, cut)| {
            let mut driver = Driver::new(plan, script);
            driver.run(&trouble, Some(cut));
            let events = &driver.case.events;
            for at in 0..=events.len() {
                prop_assert_eq!(&through_snapshot(events, at)?, driver.state());
                let violations = verify::check_run(&driver.case.plan, &events[..at]);
                prop_assert!(violations.is_empty(), "a prefix violates\n{}", list(&violations));
            }
            Ok(())
        })
        .expect("every split folds to the same state");
}

/// A property over runs that never fail, sleep or block would say little.
#[test]
fn random_runs_reach_every_kind_of_event_except_imports() {
    let mut runner = TestRunner::deterministic();
    let cases = (plan(), script(), vec(trouble(), 0..40), cut());
    let mut found = BTreeMap::<&str, u32>::new();
    for _ in 0..200 {
        let (mut plan, script, trouble, cut) =
            cases.new_tree(&mut runner).expect("a case can be made").current();
        if let Cut::Timeout { ms } = cut {
            plan.timeout_ms = Some(ms);
        }
        let mut driver = Driver::new(plan, script);
        driver.run(&trouble, Some(cut));
        for event in &driver.case.events {
            *found.entry(word(&event.kind)).or_default() += 1;
        }
    }
    let rare: Vec<&&str> = WORDS.iter().filter(|word| found.get(**word).is_none_or(|n| *n < 10)).collect();
    // These plans have no blocks but nested ones; the simulator's have all.
    let blocks = ["decisionImported", "laneImported", "laneEnded", "blockFailing", "laneStopping", "joined"];
    let rare: Vec<&str> = rare.into_iter().copied().filter(|word| !blocks.contains(word)).collect();
    assert_eq!(rare, ["nodeImported"], "{found:#?}");
}
