//! What functions are given, and what becomes of what they return.

use rival_core::LogLevel;
use rival_core::event::CallRole;
use rival_script_host::frame::{FromHost, ToHost};
use serde_json::{Value, json};

use crate::lab::{Lab, Place, file};

const FLOW: &str = "
    import { createWorkflow, sleep, StepError } from 'rival'
    const returns = (name, fn) => Object.defineProperty(fn, 'name', { value: name })
    class Point { constructor() { this.x = 1 } get y() { return 2 } }
    const round = {}
    round.me = { again: round }
    const values = {
        nothing: undefined, point: new Point(), date: new Date(0), holes: [1, undefined, , null], lost: { a: undefined, b: 1 },
        own: { toJSON: () => ({ mine: true }) }, half: '\\ud800',
        nan: { a: [1, NaN] }, inf: -Infinity, big: { n: 10n }, func: { a: { f() {} } }, symbol: [Symbol('s')], round,
        map: { m: new Map() }, set: new Set(), promise: { p: Promise.resolve() }, error: { error: new Error('x') },
        bytes: new Uint8Array(2), buffer: [new ArrayBuffer(2)],
    }
    const flow = createWorkflow('flow')
    for (const name of Object.keys(values)) flow.step(returns(name, () => values[name]))
    function all(context) { const { lastStep, steps, ...rest } = context; return { lastStep, keys: Object.keys(context), rest: Object.keys(rest), input: rest.input, loop: rest.loop, run: rest.run } }
    function earlier({ steps }) { return [steps.known.result, steps.asked.result, steps.asked.state.n, steps.absent, 'asked' in steps, 'absent' in steps, Object.keys(steps)] }
    function states({ state }) { state.description = 'did it'; state.n = { deep: [1] } }
    function badState({ state }) { state.f = () => 1 }
    function failing({ state }) { state.n = 1; state.bad = 2; throw new StepError('no', { behavior: 'retry', maxAttempts: 4, backoff: 'exponential', backoffMs: '2s', code: 'mine', details: { a: 1 }, cause: new Error('deep') }) }
    function stops() { throw new StepError('stop') }
    function plain() { throw Object.assign(new TypeError('odd'), { code: 'E7', details: { n: 1n } }) }
    function text() { throw 'just text' }
    function object() { throw { message: 'from an object', code: 'c', n: 1 } }
    function writes({ log }) { const { info } = log; info('one'); log.warn({ a: 1, f() {} }, 'two %d', 2); log.error(new Error('three')); log.debug({ only: true }); console.log('four') }
    function undoes({ result, outcome, input }) { return { result, outcome, input } }
    function finishes({ result, steps }) { return { result, hasSteps: typeof steps } }
    function handles({ error, failedStep, workflowState }) {
        return [error instanceof Error, error.message, error.code, error.details, failedStep, workflowState.runId, workflowState.workflowName, workflowState.input, workflowState.steps.known.result]
    }
    flow.steps([all, earlier, states, badState, failing, stops, plain, text, object, writes])
        .step({ fn: all, name: 'undone', compensate: undoes, onError: handles })
        .parallel({ name: 'p', steps: [all], finally: finishes })
        .step({ fn: sleep(({ input }) => input), name: 'sleep' })
        .branch({ name: 'b', if: ({ input }) => input, then: all })
        .branch({ name: 'c', on: async ({ input }) => input, cases: { a: all } })
        .loop({ name: 'l', body: all, until: ({ input }) => input })
        .forEach({ name: 'e', items: ({ input }) => (input === 'set' ? new Set([1, 2]) : input), body: all })
    export default flow";

fn lab() -> Lab {
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", FLOW)] });
    lab
}

fn cx(more: Value) -> Value {
    let run = json!({"runId": "r1", "workflow": "flow", "node": "n", "attempt": 2, "call": 3, "idempotencyKey": "r1/n"});
    let mut cx = json!({"input": {"a": 1}, "steps": {}, "last": null, "run": run});
    for (name, value) in more.as_object().unwrap() {
        cx[name] = value.clone();
    }
    cx
}

fn call(lab: &mut Lab, function: &str, role: CallRole, more: Value) -> Value {
    lab.begin_with(1, "/flow.js", "flow", function, role, &cx(more));
    lab.end().1.outcome.unwrap()
}

#[test]
fn a_context_can_be_taken_apart() {
    let mut lab = lab();
    let first = call(&mut lab, "all", CallRole::Step, json!({}));
    let keys = json!(["input", "state", "lastStep", "loop", "steps", "log", "run", "durable"]);
    assert_eq!(first["keys"], keys);
    assert_eq!(first["rest"], json!(["input", "state", "loop", "log", "run", "durable"]));
    assert_eq!(first["lastStep"], json!({"result": null, "state": {}, "stepName": null}));
    assert_eq!(first["input"], json!({"a": 1}));
    let last = json!({"result": 7, "state": {"n": 1}, "stepName": "before", "status": "completed"});
    let turn = json!({"index": 2, "item": "x", "items": ["x"], "last": null});
    let inside = call(&mut lab, "all", CallRole::Step, json!({"last": last, "loop": turn, "input": null}));
    assert_eq!((&inside["lastStep"], &inside["loop"], inside.get("input")), (&last, &turn, None));
}

/// `run` has a signal, which is not JSON; everything else is there.
#[test]
fn a_function_knows_its_run() {
    let mut lab = Lab::new(Place::Thread);
    let code = "export const name = 'flow'
        export const steps = [function go({ run }) { const { abortSignal, ...rest } = run; return { rest, aborted: abortSignal.aborted } }]";
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", code)] });
    let seen = call(&mut lab, "go", CallRole::Step, json!({}));
    let rest = json!({"runId": "r1", "workflow": "flow", "node": "n", "attempt": 2, "call": 3, "idempotencyKey": "r1/n"});
    assert_eq!(seen, json!({"rest": rest, "aborted": false}));
}

#[test]
fn earlier_steps_are_asked_for_once() {
    let mut lab = lab();
    let known = json!({"known": {"result": 1, "state": {}, "status": "completed"}, "absent": null});
    lab.begin_with(1, "/flow.js", "flow", "earlier", CallRole::Step, &cx(json!({"steps": known})));
    let (id, op, kind, args) = lab.op();
    assert_eq!((kind.as_str(), args), ("look", json!({"name": "asked"})));
    lab.answer(id, op, json!({"result": 2, "state": {"n": 3}, "status": "completed"}));
    let (id, op, kind, _) = lab.op();
    assert_eq!(kind, "names");
    lab.answer(id, op, json!(["known", "asked"]));
    assert_eq!(lab.end().1.outcome.unwrap(), json!([1, 2, 3, null, true, false, ["known", "asked"]]));
}

#[test]
fn results_are_json_or_refused_with_their_path() {
    let mut lab = lab();
    for (function, expected) in [
        ("nothing", json!(null)),
        ("point", json!({"x": 1})),
        ("date", json!("1970-01-01T00:00:00.000Z")),
        ("holes", json!([1, null, null, null])),
        ("lost", json!({"b": 1})),
        ("own", json!({"mine": true})),
    ] {
        assert_eq!(lab.call(function, json!(null)).unwrap(), expected, "{function}");
    }
    for (function, problem) in [
        ("half", "it is a text with half of a character"),
        ("nan", "`a[1]` is NaN"),
        ("inf", "it is -Infinity"),
        ("big", "`n` is the BigInt 10n"),
        ("func", "`a.f` is the function `f`"),
        ("symbol", "`[0]` is a symbol"),
        ("round", "is nested deeper than 120 levels, or contains itself"),
        ("map", "`m` is a Map: use Object.fromEntries(map)"),
        ("set", "it is a Set"),
        ("promise", "`p` is a promise: await it"),
        ("error", "`error` is an Error"),
        ("bytes", "it is a typed array"),
        ("buffer", "`[0]` is an ArrayBuffer"),
    ] {
        let error = lab.call(function, json!(null)).unwrap_err();
        assert_eq!(error.code.as_deref(), Some("not_json"), "{function}");
        assert!(
            error.message.starts_with("the result is not JSON: ") && error.message.contains(problem),
            "{}",
            error.message
        );
    }
}

#[test]
fn state_is_recorded_with_every_outcome() {
    let mut lab = lab();
    lab.begin("states", json!(null));
    assert_eq!(lab.end().1.state, Some(json!({"description": "did it", "n": {"deep": [1]}})));
    lab.begin("failing", json!(null));
    let (_, end) = lab.end();
    assert_eq!(end.state, Some(json!({"n": 1, "bad": 2})));
    let error = end.outcome.unwrap_err();
    assert_eq!(
        (error.name.as_str(), error.message.as_str(), error.code.as_deref()),
        ("StepError", "no", Some("mine"))
    );
    assert_eq!((error.behavior.as_deref(), error.max_attempts), (Some("retry"), Some(4)));
    assert_eq!(
        (error.backoff.as_deref(), error.backoff_ms, error.details),
        (Some("exponential"), Some(2000), Some(json!({"a": 1})))
    );
    assert!(error.stack.unwrap().contains("Caused by: Error: deep\n"));
    lab.begin("badState", json!(null));
    let error = lab.end().1.outcome.unwrap_err();
    assert!(error.message.starts_with("the state is not JSON: `f` is the function"), "{}", error.message);
}

#[test]
fn anything_can_be_thrown() {
    let mut lab = lab();
    let error = lab.call("stops", json!(null)).unwrap_err();
    assert_eq!((error.behavior.as_deref(), error.code), (Some("stop"), None));
    let error = lab.call("plain", json!(null)).unwrap_err();
    assert_eq!((error.name.as_str(), error.behavior, error.code.as_deref()), ("TypeError", None, Some("E7")));
    assert_eq!(error.details, Some(json!({"n": "1n"})));
    let error = lab.call("text", json!(null)).unwrap_err();
    assert_eq!((error.name.as_str(), error.message.as_str()), ("Error", "just text"));
    let error = lab.call("object", json!(null)).unwrap_err();
    assert_eq!((error.message.as_str(), error.code.as_deref()), ("from an object", Some("c")));
}

#[test]
fn lines_have_a_level_and_fields() {
    let mut lab = lab();
    let call = lab.begin("writes", json!(null));
    let mut lines = Vec::new();
    loop {
        match lab.hear() {
            FromHost::Log { id, level, message, fields } => {
                assert_eq!(id, call);
                let fields = fields.map(|fields| serde_json::from_str::<Value>(fields.get()).unwrap());
                lines.push((level, message, fields));
            }
            FromHost::Done { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    let error = lines[2].2.take().unwrap();
    assert_eq!((&error["err"]["name"], &error["err"]["message"]), (&json!("Error"), &json!("three")));
    let line = |level, message: &str, fields| (level, message.to_owned(), fields);
    assert_eq!(
        lines,
        [
            line(LogLevel::Info, "one", None),
            line(LogLevel::Warn, "two 2", Some(json!({"a": 1, "f": "[function f]"}))),
            line(LogLevel::Error, "three", None),
            line(LogLevel::Debug, "", Some(json!({"only": true}))),
            line(LogLevel::Info, "four", None),
        ]
    );
}

#[test]
fn roles_have_contexts_of_their_own() {
    let mut lab = lab();
    let undone = call(
        &mut lab,
        "undone#compensate",
        CallRole::Compensate,
        json!({"undo": {"result": 5, "outcome": "completed"}}),
    );
    assert_eq!(undone, json!({"result": 5, "outcome": "completed", "input": {"a": 1}}));
    let unknown =
        call(&mut lab, "undone#compensate", CallRole::Compensate, json!({"undo": {"outcome": "unknown"}}));
    assert_eq!(unknown, json!({"result": null, "outcome": "unknown", "input": {"a": 1}}));
    let finished = call(&mut lab, "p#finally", CallRole::Finally, json!({"joined": {"all": 1}}));
    assert_eq!(finished, json!({"result": {"all": 1}, "hasSteps": "object"}));
    let failed_step = json!({"stepName": "undone", "path": "undone", "state": {}, "status": "failed"});
    let failure = json!({
        "error": {"code": "mine", "message": "no", "details": {"n": 1}},
        "failedStep": failed_step,
        "workflowState": {"runId": null, "workflowName": "flow", "input": [1], "status": "running"},
    });
    let steps = json!({"known": {"result": 9, "state": {}, "status": "completed"}});
    let handled =
        call(&mut lab, "undone#onError", CallRole::OnError, json!({"failure": failure, "steps": steps}));
    assert_eq!(handled, json!([true, "no", "mine", {"n": 1}, failed_step, null, "flow", [1], 9]));
}

#[test]
fn answers_to_blocks_are_what_the_engine_expects() {
    let mut lab = lab();
    for (function, role, input, expected) in [
        ("sleep#sleep", CallRole::Wait, json!(1500), json!({"forMs": 1500})),
        ("sleep#sleep", CallRole::Wait, json!("2 minutes"), json!({"forMs": 120_000})),
        ("sleep#sleep", CallRole::Wait, json!({"hours": 1.5}), json!({"forMs": 5_400_000})),
        ("sleep#sleep", CallRole::Wait, json!({"until": "1970-01-01T00:00:01Z"}), json!({"untilMs": 1000})),
        ("b#if", CallRole::Choose, json!("yes"), json!(true)),
        ("b#if", CallRole::Choose, json!(0), json!(false)),
        ("c#on", CallRole::Choose, json!("a"), json!("a")),
        ("c#on", CallRole::Choose, json!(7), json!("7")),
        ("l#until", CallRole::Test, json!(""), json!(false)),
        ("e#items", CallRole::Items, json!("set"), json!([1, 2])),
        ("e#items", CallRole::Items, json!([3]), json!([3])),
        ("e#items", CallRole::Items, json!({"no": "list"}), json!({"no": "list"})),
    ] {
        assert_eq!(call(&mut lab, function, role, json!({"input": input})), expected, "{function} {input}");
    }
    lab.begin_with(1, "/flow.js", "flow", "sleep#sleep", CallRole::Wait, &cx(json!({"input": "soon"})));
    assert!(lab.end().1.outcome.unwrap_err().message.contains("'soon' is not a duration"));
}

#[test]
fn a_function_that_is_gone_is_missed() {
    let error = lab().call("nobody", json!(null)).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("function_missing"));
}
