//! Recorded histories: what any version has written must load and fold to the same state forever.
//!
//! `tests/golden/v1-*.json` hold a plan, a history and the state it folds to. They are written once per
//! version of the event schema, with `UPDATE_GOLDEN=1 cargo test -p rival-core golden`, and never edited.
//! When the states fail to compare although the histories load, the fold has changed its meaning or its
//! shape: raise `FOLD_VERSION`, regenerate, and look at the difference. When a history fails to load, the
//! change breaks runs on disk: keep reading the old form instead.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use rival_core::durable::ChildOutcome;
use rival_core::event::{self, EventKind, ImportedStatus, LostReason, NotUndone, TriggerOrigin, VERSION};
use rival_core::failure::{FailureOrigin, FailureRecord, SourceLine, StepError};
use rival_core::fork::{ForkImport, NodeImport};
use rival_core::machine::{MachineInput, OnceRequest, OpRequest, RunStart, SentSignal};
use rival_core::plan::{Builtin, Join, PlanBlock, SleepLength, Trigger};
use rival_core::state::FOLD_VERSION;
use rival_core::{Event, IndexedPlan, Path, Plan, RunState, Time, Value, verify};
use serde::{Deserialize, Serialize};
use serde_json::json as j;
use serde_json::value::RawValue;

use crate::support::{
    Case, attempts, branch, fold, for_each, import, joining, json, list, nested, nested_with, node_import,
    parallel, plan, signal, sleep, step, step_with, undoable, until,
};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Golden {
    plan: Plan,
    fold_version: u32,
    /// The history as it is stored.
    events: Box<RawValue>,
    /// A snapshot after half of the events, as it is stored.
    snapshot: Box<RawValue>,
    /// The state after all of them.
    state: Box<RawValue>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn files() -> Vec<(String, Golden)> {
    let entries = fs::read_dir(folder()).expect("tests/golden is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a golden file can be read");
        let golden = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path.display().to_string(), golden)
    };
    paths.into_iter().map(read).collect()
}

fn events(golden: &Golden) -> Vec<Event> {
    event::decode(golden.events.get().as_bytes()).expect("a recorded history decodes")
}

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("it is JSON")
}

#[test]
fn recorded_histories_load_and_keep_the_rules() {
    for (file, golden) in files() {
        let events = events(&golden);
        let violations = verify::check_run(&IndexedPlan::new(golden.plan), &events);
        assert!(violations.is_empty(), "{file}\n{}", list(&violations));
    }
}

#[test]
fn recorded_histories_fold_to_their_recorded_states() {
    for (file, golden) in files() {
        let folded = fold(&events(&golden));
        if golden.fold_version == FOLD_VERSION {
            assert_eq!(raw(&folded).get(), golden.state.get(), "{file}: see the top of this test");
        }
    }
}

/// When this fails, bump `FOLD_VERSION` and regenerate: stored snapshots no longer mean what they meant.
#[test]
fn recorded_snapshots_are_the_folds_of_their_histories() {
    for (file, golden) in files() {
        if golden.fold_version != FOLD_VERSION {
            continue;
        }
        let events = events(&golden);
        let mut state: RunState = serde_json::from_str(golden.snapshot.get())
            .unwrap_or_else(|error| panic!("{file}: a stored snapshot no longer loads: {error}"));
        let (before, after) = events.split_at(events.len() / 2);
        assert_eq!(state, fold(before), "{file}");
        after.iter().for_each(|event| state.apply(event));
        assert_eq!(state, fold(&events), "{file}");
    }
}

#[test]
fn this_fold_version_has_recorded_snapshots() {
    assert!(files().iter().any(|(_, golden)| golden.fold_version == FOLD_VERSION));
}

#[test]
fn every_kind_of_event_is_in_a_recorded_history() {
    let found: BTreeSet<&str> =
        files().iter().flat_map(|(_, golden)| events(golden)).map(|event| word(&event.kind)).collect();
    let missing: Vec<&&str> =
        WORDS.iter().chain(&WAIT_WORDS).filter(|word| !found.contains(**word)).collect();
    assert!(missing.is_empty(), "no golden history has {missing:?}: add one and record it");
}

/// And as they are stored again: nothing that was written is lost on the way.
#[test]
fn recorded_histories_are_written_as_they_were() {
    for (file, golden) in files() {
        let events = events(&golden);
        let back = event::decode(&event::encode(&events)).expect("what is written can be read");
        assert_eq!(back, events, "{file}");
        let hash = golden.plan.hash();
        let EventKind::RunStarted { plan, .. } = &events[0].kind else { panic!("{file}: no start") };
        assert_eq!(&hash, plan, "{file}: the plan has another hash");
    }
}

#[test]
fn a_history_of_a_later_version_is_refused_with_advice() {
    let mut event = Case::of(vec![step("a")]).start().events.remove(0);
    event.v = VERSION + 1;
    let error = event::decode(&event::encode(&[event])).expect_err("it is too new");
    assert_eq!(
        error.to_string(),
        "event 1 has schema version 8, but this build reads up to 7: use a newer rival"
    );
    let error = event::decode(b"[{").expect_err("it is damaged");
    assert!(error.to_string().starts_with("stored events are damaged: "), "{error}");
}

#[test]
fn golden_histories_are_recorded_on_request() {
    let cases = recordings();
    cases.iter().for_each(|(_, case)| case.check());
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return;
    }
    for (name, case) in cases {
        let golden = Golden {
            plan: case.plan.plan().clone(),
            fold_version: FOLD_VERSION,
            events: raw(&case.events),
            snapshot: raw(&fold(&case.events[..case.events.len() / 2])),
            state: raw(&case.state),
        };
        let text = serde_json::to_string_pretty(&golden).expect("it is JSON") + "\n";
        fs::write(folder().join(format!("v{VERSION}-{name}.json")), text).expect("it can be written");
    }
}

/// Every kind, by its word: an added kind does not compile here until it has a word, and the words must
/// all be found.
pub(crate) fn word(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::RunStarted { .. } => "runStarted",
        EventKind::NodeImported { .. } => "nodeImported",
        EventKind::DecisionImported { .. } => "decisionImported",
        EventKind::LaneImported { .. } => "laneImported",
        EventKind::CallStarted { .. } => "callStarted",
        EventKind::CallSucceeded { .. } => "callSucceeded",
        EventKind::CallFailed { .. } => "callFailed",
        EventKind::CallLost { .. } => "callLost",
        EventKind::CallCancelled { .. } => "callCancelled",
        EventKind::NodeStarted { .. } => "nodeStarted",
        EventKind::LaneEnded { .. } => "laneEnded",
        EventKind::BlockFailing { .. } => "blockFailing",
        EventKind::LaneStopping { .. } => "laneStopping",
        EventKind::Joined { .. } => "joined",
        EventKind::NodeCompleted { .. } => "nodeCompleted",
        EventKind::NodeFailed { .. } => "nodeFailed",
        EventKind::NodeCancelled { .. } => "nodeCancelled",
        EventKind::NodeHeld { .. } => "nodeHeld",
        EventKind::NodeBlocked { .. } => "nodeBlocked",
        EventKind::NodeUnblocked { .. } => "nodeUnblocked",
        EventKind::SleepStarted { .. } => "sleepStarted",
        EventKind::SleepEnded { .. } => "sleepEnded",
        EventKind::CancelRequested { .. } => "cancelRequested",
        EventKind::ClockSetBack { .. } => "clockSetBack",
        EventKind::RunPaused {} => "runPaused",
        EventKind::RunResumed {} => "runResumed",
        EventKind::RunFailing { .. } => "runFailing",
        EventKind::RunCompleted { .. } => "runCompleted",
        EventKind::RunFailed { .. } => "runFailed",
        EventKind::RunCancelled { .. } => "runCancelled",
        EventKind::SignalReceived { .. } => WAIT_WORDS[0],
        EventKind::SignalAwaited { .. } => WAIT_WORDS[1],
        EventKind::SignalTaken { .. } => WAIT_WORDS[2],
        EventKind::SignalTimedOut { .. } => WAIT_WORDS[3],
        EventKind::OpStarted { .. } => WAIT_WORDS[4],
        EventKind::OpEnded { .. } => WAIT_WORDS[5],
        EventKind::OpStopping { .. } => WAIT_WORDS[6],
        EventKind::ChildStarted { .. } => WAIT_WORDS[7],
        EventKind::ChildRetried { .. } => WAIT_WORDS[8],
        EventKind::ChildEnded { .. } => WAIT_WORDS[9],
        EventKind::CallSuspended { .. } => WAIT_WORDS[10],
        EventKind::ChildUndoing { .. } => WAIT_WORDS[11],
        EventKind::ChildUndone { .. } => WAIT_WORDS[12],
        EventKind::OpDropped { .. } => WAIT_WORDS[13],
    }
}

pub(crate) const WORDS: &[&str] = &[
    "runStarted",
    "nodeImported",
    "decisionImported",
    "laneImported",
    "callStarted",
    "callSucceeded",
    "callFailed",
    "callLost",
    "callCancelled",
    "nodeStarted",
    "laneEnded",
    "blockFailing",
    "laneStopping",
    "joined",
    "nodeCompleted",
    "nodeFailed",
    "nodeCancelled",
    "nodeHeld",
    "nodeBlocked",
    "nodeUnblocked",
    "sleepStarted",
    "sleepEnded",
    "cancelRequested",
    "runPaused",
    "runResumed",
    "clockSetBack",
    "runFailing",
    "runCompleted",
    "runFailed",
    "runCancelled",
];

/// The events of signals, durable operations and children.
pub(crate) const WAIT_WORDS: [&str; 14] = [
    "signalReceived",
    "signalAwaited",
    "signalTaken",
    "signalTimedOut",
    "opStarted",
    "opEnded",
    "opStopping",
    "childStarted",
    "childRetried",
    "childEnded",
    "callSuspended",
    "childUndoing",
    "childUndone",
    "opDropped",
];

fn recordings() -> Vec<(&'static str, Case)> {
    vec![
        ("completed", completed()),
        ("failed", failed()),
        ("cancelled", cancelled()),
        ("timed-out", timed_out()),
        ("retried", retried()),
        ("recovered", recovered()),
        ("paused", paused()),
        ("asleep", asleep()),
        ("blocks", blocks()),
        ("forked", forked()),
        ("undone", undone()),
        ("waiting", waiting()),
        ("child-undone", child_undone()),
        ("bystander", bystander()),
        ("clock-set-back", clock_set_back()),
        ("told-to-stop", told_to_stop()),
        ("given-up", given_up()),
        ("with-origin", with_origin()),
        ("asked", asked()),
        ("phases", phases()),
        ("triggers", triggers()),
    ]
}

/// A run that a trigger started, and that triggers others itself.
fn triggers() -> Case {
    let origin = TriggerOrigin { run: "r0".into(), index: 1, item: Some(3), depth: 2 };
    let start = RunStart { trigger: Some(Box::new(origin)), ..RunStart::new(json(j!({"n": 1}))) };
    let each = Trigger::new("next", &json(j!({"id": {"$": ["item", "id"]}})))
        .and_then(|trigger| trigger.with_list(&json(j!({"$": ["output", "items"]}))))
        .expect("it is not too deep");
    let plan = Plan { triggers: vec![each], ..plan(vec![step("a"), step("b")]) };
    Case::with(plan, |_| {}).start_with(start).ok("a", 1).ok("b", 1)
}

/// Every request says who asked; what follows from it does not.
fn asked() -> Case {
    let by = |who: &str| Some(who.to_owned());
    let start = RunStart { by: by("ci"), ..RunStart::new(json(j!({"n": 1}))) };
    let sent = SentSignal {
        name: "go".into(),
        id: Some("s1".into()),
        payload: json(j!(true)),
        sent_at: Time(0),
        by: by("bob"),
    };
    Case::of(vec![signal("wait", "go", None, false), step("a")])
        .start_with(start)
        .asks_for("pause", MachineInput::Pause { by: by("ann") })
        .asks_for("resume", MachineInput::Resume { by: None })
        .asks_for("signal", MachineInput::Signal(sent))
        .asks_for("cancel", MachineInput::Cancel { reason: by("enough"), by: by("ann") })
        .asks_for("kill", MachineInput::Kill { reason: None, by: by("root") })
}

/// Phases, and functions that the plan has the data of.
fn phases() -> Case {
    let builtin = |id: &str, with: serde_json::Value| {
        let function = Builtin::new("tool", &json(with)).expect("it is not too deep").into();
        step_with(id, |step| step.function = function)
    };
    let first = vec![builtin("fetch", j!({"input": {"$": ["input", "n"]}})), step("b")];
    let block = PlanBlock::phases(vec![
        first,
        vec![builtin("sum", j!({"$": ["fetch"]}))],
        vec![step("x"), step("y")],
    ]);
    Case::with(Plan { block, ..plan(Vec::new()) }, |_| {})
        .start()
        .ok("b", 1)
        .ok("fetch", 1)
        .function_missing("sum", 1)
        .crash()
        .ok("sum", 2)
        .ok("x", 1)
        .ok("y", 1)
}

fn with_origin() -> Case {
    let mut error = StepError::stop("cannot read property 'length' of undefined");
    error.failure.origin = Some(Box::new(FailureOrigin {
        class: Some("TypeError".into()),
        file: Some("flows/etl.ts".into()),
        line: Some(2),
        column: Some(12),
        excerpt: vec![SourceLine { line: 2, text: "    return rows.length".into() }],
        stack: Some("    at parse (flows/etl.ts:2:12)".into()),
    }));
    Case::of(vec![step("parse")]).start().fails("parse", 1, error)
}

fn told_to_stop() -> Case {
    let race = joining("race", Join::First, vec![("x", vec![step("a")]), ("y", vec![undoable("b")])]);
    let state = Some(json(j!({"sent": 1})));
    Case::of(vec![race, undoable("c"), step("d")])
        .start()
        .ok("race/x/a", 1)
        .fails("race/y/b", 1, StepError::new("aborted"))
        .fails("race/y/b", 2, StepError::stop("stuck"))
        .ok("c", 1)
        .cancel()
        .finish("d", 1, "stopped", rival_core::machine::CallOutcome::Stopped { state })
        .ok("c", 2)
}

fn completed() -> Case {
    let inner = vec![step("a"), sleep("z", SleepLength::Computed("f".into()))];
    let n = nested_with("n", inner, |nested| nested.input = Some("m".into()));
    let outcome = rival_core::machine::CallOutcome::Success {
        result: Value::from_json(r#"{"big": 12345678901234567890, "text": "ü\n"}"#.into())
            .expect("it is JSON"),
        state: Some(json(j!({"description": "done"}))),
        skipped: false,
    };
    Case::of(vec![n, step("b"), step("c")])
        .full()
        .start()
        .roomy()
        .activate()
        .gives("n", 1, j!({"own": 1}))
        .ok("n/a", 1)
        .gives("n/z", 1, j!({"forMs": 50}))
        .tick_after(50)
        .skips("b", 1)
        .finish("c", 1, "returns", outcome)
}

fn blocks() -> Case {
    let race =
        joining("race", Join::First, vec![("x", vec![step("a")]), ("y", vec![undoable("b"), step("c")])]);
    let each = for_each("all", 2, vec![step("d")]);
    let check = branch("check", vec![("then", vec![each])], None);
    Case::of(vec![race, until("poll", vec![step("e")]), check])
        .start()
        .ok("race/y/b", 1)
        .ok("race/x/a", 1)
        .stopped("race/y/c", 1)
        .ok("race/y/b", 2)
        .ok("poll[0]/e", 1)
        .gives("poll", 1, j!(true))
        .gives("check", 1, j!(true))
        .gives("check/then/all", 1, j!([1, 2, 3]))
        .ok("check/then/all[1]/d", 1)
        .ok("check/then/all[0]/d", 1)
        .ok("check/then/all[2]/d", 1)
}

fn undone() -> Case {
    let p = parallel("p", vec![("x", vec![undoable("a"), step("b")]), ("y", vec![step("c")])]);
    Case::of(vec![p]).start().ok("p/x/a", 1).fails("p/x/b", 1, StepError::new("no")).ok("p/y/c", 1).fails(
        "p/x/a",
        2,
        StepError::stop("stuck"),
    )
}

fn bystander() -> Case {
    let run = |nodes| Case::of(nodes).start();
    run(vec![step("a")]).lost("a", 1, LostReason::Bystander).lost("a", 2, LostReason::Crash).ok("a", 3)
}

/// A race of a signal and a sleep that the sleep wins, the signal that the loser had taken, and a call with the time of
/// two stretches of work.
fn given_up() -> Case {
    let wait = || OpRequest::Signal { timeout_ms: None, timeout_is_value: false };
    Case::of(vec![step_with("a", |step| step.timeout_ms = Some(100))])
        .start()
        .asks("a", 1, "m", wait())
        .asks("a", 1, "", OpRequest::Sleep(50))
        .tick_after(50)
        .signal("m")
        .drops("a", 1, 1)
        .asks_after("a", 1, ("m", 2), &[2], wait())
        .asks_after("a", 1, ("n", 1), &[3], wait())
        .suspend("a", 1)
        .signal("n")
        .ok("a", 2)
}

fn clock_set_back() -> Case {
    let each = parallel(
        "p",
        vec![
            ("x", vec![sleep("for", SleepLength::ForMs(500))]),
            ("y", vec![sleep("until", SleepLength::UntilMs(2_000))]),
            ("z", vec![step_with("t", |step| step.timeout_ms = Some(100))]),
        ],
    );
    Case::with(plan(vec![each]), |plan| plan.timeout_ms = Some(10_000))
        .after(1_000_000)
        .start()
        .clock_set_back(999_000)
        .ok("p/z/t", 1)
        .tick_after(500)
        .tick_after(500)
}

fn child_undone() -> Case {
    let run = || OpRequest::Run { input: json(j!(1)) };
    let stuck = NotUndone { node: "x".into(), failure: FailureRecord::new("error", "stuck") };
    Case::of(vec![undoable("a"), step("b"), step("c")])
        .start()
        .ok("a", 1)
        .asks("b", 1, "work", run())
        .undoable_child_completes("r~c1", j!(2))
        .asks_after("b", 1, ("work", 2), &[1], run())
        .undoable_child_completes("r~c2", j!(3))
        .ok("b", 1)
        .fails("c", 1, StepError::new("no"))
        .child_ends("r~c2~undo", ChildOutcome::Cancelled { reason: None, not_undone: Vec::new() })
        .child_ends("r~c1~undo", ChildOutcome::Cancelled { reason: None, not_undone: vec![stuck] })
        .ok("a", 2)
}

fn failed() -> Case {
    let a = step_with("a", |step| {
        step.retry = attempts(2);
        step.timeout_ms = Some(100);
        step.on_error = Some("h".into());
    });
    let n = nested_with("n", vec![a], |nested| nested.on_error = Some("h".into()));
    let error = StepError::new("no").code("mine").details(j!({"n": [1, 2]}));
    Case::with(Plan { on_error: Some("h".into()), max_retries: 2, ..plan(vec![n]) }, |_| {})
        .start()
        .fails("n/a", 1, error)
        .tick_after(1_000)
        .tick_after(100)
        .ok("n/a", 3)
        .fails("n", 1, StepError::new("a broken handler"))
        .ok("", 1)
}

fn cancelled() -> Case {
    Case::of(vec![nested("n", vec![step("a"), step("b")])]).start().ok("n/a", 1).cancel().tick_after(30_000)
}

fn timed_out() -> Case {
    Case::with(plan(vec![nested("n", vec![sleep("z", SleepLength::ForMs(5_000))])]), |plan| {
        plan.timeout_ms = Some(1_000);
    })
    .start()
    .tick_after(1_000)
}

fn retried() -> Case {
    let soft = ForkImport::Node(NodeImport {
        failure: Some(FailureRecord::new("error", "meh")),
        state: Some(json(j!({"tries": 2}))),
        ..node_import("b", ImportedStatus::Failed, j!(null))
    });
    let imports = vec![
        import("a", ImportedStatus::Completed, j!(1)),
        soft,
        import("c", ImportedStatus::Skipped, j!(null)),
    ];
    let start = RunStart { source: Some("r0".into()), imports, ..RunStart::new(json(j!({"n": 1}))) };
    Case::of(vec![step("a"), step("b"), step("c"), step("d")]).named("r0~1").start_with(start).ok("d", 1)
}

fn forked() -> Case {
    let lane = Path::from("poll[1]");
    let imports = vec![
        ForkImport::Iteration { lane, index: 1, result: json(j!("second")), tested: true },
        ForkImport::Decision {
            node: Path::from("check"),
            result: Value::null(),
            case: Some("then".into()),
            count: None,
        },
    ];
    let start = RunStart { source: Some("r0".into()), imports, ..RunStart::new(json(j!({"n": 1}))) };
    let check = branch("check", vec![("then", vec![step("b")])], None);
    Case::of(vec![until("poll", vec![step("a")]), check])
        .start_with(start)
        .ok("poll[2]/a", 1)
        .gives("poll", 1, j!(true))
        .ok("check/then/b", 1)
}

fn recovered() -> Case {
    let once = step_with("b", |step| {
        step.at_most_once = true;
        step.continue_on_error = true;
    });
    Case::of(vec![step("a"), once, step("c")])
        .start()
        .crashes(5)
        .resume()
        .ok("a", 6)
        .crash()
        .function_missing("c", 1)
        .activate()
        .full()
        .let_go()
        .roomy()
        .activate()
        .ok("c", 3)
}

fn paused() -> Case {
    Case::of(vec![step("a"), step("b"), step("c")])
        .start()
        .pause()
        .fails("a", 1, StepError::proceed("meh"))
        .resume()
        .pause()
        .ok("b", 1)
}

fn asleep() -> Case {
    let a = step_with("a", |step| step.retry = attempts(3));
    Case::with(plan(vec![sleep("z", SleepLength::UntilMs(10)), a]), |plan| plan.timeout_ms = Some(60_000))
        .start()
        .tick_after(10)
        .fails("a", 1, StepError::new("no"))
}

fn waiting() -> Case {
    let map =
        OpRequest::Map { items: vec![json(j!(1)), json(j!(2)), json(j!(3))], concurrency: 2, collect: false };
    let sleep = |ms| OpRequest::Sleep(ms);
    let signal = OpRequest::Signal { timeout_ms: Some(500), timeout_is_value: true };
    let failed = ChildOutcome::Failed { failure: FailureRecord::new("error", "no"), step: Some("x".into()) };
    let a = step_with("a", |step| step.timeout_ms = Some(60_000));
    Case::of(vec![super::support::signal("s", "go", Some(100), true), a, step("b")])
        .start()
        .tick_after(100)
        .asks("a", 1, "key", OpRequest::Once(OnceRequest::Record(Ok(json(j!("k"))))))
        .asks_after("a", 1, ("go", 1), &[1], signal)
        .signal("go")
        .signal("later")
        .asks_after("a", 1, ("", 1), &[2], sleep(50))
        .suspend("a", 1)
        .tick_after(50)
        .asks_after("a", 2, ("work", 1), &[3], map)
        .child_retried("r~c1", "r~c1~1")
        .child_completes("r~c2", j!(4))
        .child_ends("r~c1~1", failed)
        .child_ends("r~c3", ChildOutcome::Cancelled { reason: Some("enough".into()), not_undone: Vec::new() })
        .ok("a", 2)
        .asks("b", 1, "long", OpRequest::Run { input: json(j!({"x": 1})) })
        .asks("b", 1, "", sleep(5_000))
}
