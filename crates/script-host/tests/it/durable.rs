//! Durable operations, and when a call does nothing but wait for them.

use rival_script_host::frame::{FromHost, ScriptError, ToHost};
use serde_json::{Value, json};

use crate::lab::{Lab, Place, file};

const FLOW: &str = "
    import { createWorkflow } from 'rival'
    export const child = createWorkflow('child').step(function go() {})
    export const name = 'flow'
    async function asks({ durable }) {
        const { run } = durable
        return [
            await durable.run(child, { a: 1 }), await durable.run('other'), await durable.map(new Set([1, 2]), 'other', { concurrency: 3 }),
            await durable.signal('go', { timeout: '5s', timeoutIsValue: true }), await durable.sleep({ seconds: 2 }), await durable.sleep('1m'),
        ]
    }
    async function collects({ durable }) {
        const all = await durable.map([1, 2], 'other', { collect: true })
        return all.map(({ status, value, reason }) => [status, value ?? null, reason?.code ?? null, reason instanceof Error])
    }
    async function catches({ durable }) { try { await durable.run('x') } catch (error) { return [error.message, error.code, error.details] } }
    async function onceIs({ durable }) { return durable.once('a', async () => { await new Promise((ok) => setTimeout(ok, 1)); return 7 }) }
    async function onceFails({ durable }) { return durable.once('a', () => { throw Object.assign(new Error('no'), { code: 'c' }) }) }
    async function races({ durable }) {
        const signal = durable.signal('go')
        await new Promise((ok) => setTimeout(ok, 1))
        return signal
    }
    async function racesDurably({ durable }) {
        const won = await durable.race([durable.signal('go'), durable.sleep(5)])
        return [won ?? null, await durable.signal('go')]
    }
    async function racesTwice({ durable }) {
        const first = durable.signal('go')
        await Promise.race([first, durable.sleep(5)])
        const again = await Promise.race([first, durable.sleep(6)])
        const second = await durable.signal('go')
        return [again ?? null, second, await first.catch((error) => error.code)]
    }
    async function aborts({ durable }) {
        const controller = new AbortController()
        const wait = durable.run('other', null, { abort: controller.signal })
        controller.abort(new Error('enough'))
        return wait.catch((error) => error.message)
    }
    async function badly({ durable }) { await durable.run({}) }
    async function unJson({ durable }) { await durable.run('x', { n: NaN }) }
    export const steps = [
        asks, collects, catches, onceIs, onceFails, races, racesDurably, racesTwice, aborts, badly, unJson,
    ]";

fn lab() -> Lab {
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", FLOW)] });
    lab
}

/// The next frame, which says that the call waits, after so many answers.
fn waits(lab: &mut Lab, call: u64, after: u32) {
    match lab.hear() {
        FromHost::Idle { id, answers } => assert_eq!((id, answers), (call, after)),
        other => panic!("{other:?}"),
    }
}

/// The next frame, which says that the answer of a wait for a signal is used.
fn is_used(lab: &mut Lab, wait: u32) {
    let (_, _, kind, args) = lab.op();
    assert_eq!((kind.as_str(), args), ("durable.used", json!({ "op": wait })));
}

#[test]
fn operations_are_asked_for_in_order() {
    let mut lab = lab();
    let call = lab.begin("asks", json!(null));
    for (answers, (kind, args, answer)) in [
        ("durable.run", json!({"workflow": "child", "input": {"a": 1}}), json!("ran")),
        ("durable.run", json!({"workflow": "other", "input": null}), json!(null)),
        (
            "durable.map",
            json!({"workflow": "other", "items": [1, 2], "concurrency": 3}),
            json!([{"value": 1}, {"value": null}]),
        ),
        (
            "durable.signal",
            json!({"name": "go", "timeoutMs": 5000, "timeoutIsValue": true}),
            json!({"by": "Ada"}),
        ),
        ("durable.sleep", json!({"ms": 2000}), json!(null)),
        ("durable.sleep", json!({"ms": 60_000}), json!(null)),
    ]
    .into_iter()
    .enumerate()
    {
        let (id, op, asked, with) = lab.op();
        assert_eq!((id, asked.as_str(), with), (call, kind, args));
        waits(&mut lab, call, u32::try_from(answers).unwrap());
        lab.answer(id, op, answer);
        if kind == "durable.signal" {
            is_used(&mut lab, op);
        }
    }
    assert_eq!(lab.end().1.outcome.unwrap(), json!(["ran", null, [1, null], {"by": "Ada"}, null, null]));
}

#[test]
fn failures_are_errors_that_can_be_caught() {
    let mut lab = lab();
    let call = lab.begin("catches", json!(null));
    let (id, op, ..) = lab.op();
    waits(&mut lab, call, 0);
    let error = ScriptError {
        message: "it failed".to_owned(),
        code: Some("child_failed".to_owned()),
        details: Some(json!({"step": "a"})),
        ..ScriptError::default()
    };
    lab.tell(&ToHost::Answer { id, op, value: None, error: Some(error) });
    assert_eq!(lab.end().1.outcome.unwrap(), json!(["it failed", "child_failed", {"step": "a"}]));

    let call = lab.begin("collects", json!(null));
    let (id, op, _, args) = lab.op();
    assert_eq!(args["collect"], true);
    waits(&mut lab, call, 0);
    lab.answer(id, op, json!([{"value": 5}, {"error": {"name": "Error", "message": "no", "code": "c"}}]));
    assert_eq!(
        lab.end().1.outcome.unwrap(),
        json!([["fulfilled", 5, null, false], ["rejected", null, "c", true]])
    );
}

#[test]
fn something_is_done_once() {
    let mut lab = lab();
    let call = lab.begin("onceIs", json!(null));
    let (id, once, kind, args) = lab.op();
    assert_eq!((kind.as_str(), args), ("durable.once", json!({"name": "a"})));
    waits(&mut lab, call, 0);
    lab.answer(id, once, json!({"do": true}));
    // It waits for a timer in there, which is work.
    let (id, op, kind, args) = lab.op();
    assert_eq!((kind.as_str(), args), ("durable.onceDone", json!({"once": once, "value": 7})));
    waits(&mut lab, call, 1);
    lab.answer(id, op, json!({"value": 7}));
    assert_eq!(lab.end().1.outcome.unwrap(), json!(7));

    let call = lab.begin("onceIs", json!(null));
    let (id, op, ..) = lab.op();
    waits(&mut lab, call, 0);
    lab.answer(id, op, json!({"value": "before"}));
    assert_eq!(lab.end().1.outcome.unwrap(), json!("before"));

    let call = lab.begin("onceFails", json!(null));
    let (id, once, ..) = lab.op();
    waits(&mut lab, call, 0);
    lab.answer(id, once, json!({"do": true}));
    let (id, op, _, args) = lab.op();
    assert_eq!((&args["once"], &args["error"]["code"]), (&json!(once), &json!("c")));
    waits(&mut lab, call, 1);
    let error =
        ScriptError { message: "no".to_owned(), code: Some("c".to_owned()), ..ScriptError::default() };
    lab.tell(&ToHost::Answer { id, op, value: None, error: Some(error) });
    let error = lab.end().1.outcome.unwrap_err();
    assert_eq!((error.message.as_str(), error.code.as_deref()), ("no", Some("c")));
    assert!(error.stack.unwrap().contains("/flow.js:"));
}

#[test]
fn a_call_with_a_timer_is_not_waiting() {
    let mut lab = lab();
    let call = lab.begin("races", json!(null));
    let (id, op, ..) = lab.op();
    // Said only when the timer is over.
    waits(&mut lab, call, 0);
    lab.answer(id, op, json!("x"));
    is_used(&mut lab, op);
    assert_eq!(lab.end().1.outcome.unwrap(), json!("x"));
}

#[test]
fn wrong_questions_are_refused_where_they_are_asked() {
    let mut lab = lab();
    assert!(lab.call("badly", json!(null)).unwrap_err().message.contains("a workflow or the name of one"));
    let error = lab.call("unJson", json!(null)).unwrap_err();
    assert_eq!((error.code.as_deref(), error.message.contains("`input.n` is NaN")), (Some("not_json"), true));
}

#[test]
fn a_call_that_is_let_go_never_goes_on() {
    let mut lab = lab();
    let gone = lab.begin("races", json!(null));
    let (id, op, ..) = lab.op();
    waits(&mut lab, gone, 0);
    lab.tell(&ToHost::Forget { id: gone });
    lab.answer(id, op, json!("late"));
    let call = lab.begin("catches", json!(null));
    let (id, op, ..) = lab.op();
    waits(&mut lab, call, 0);
    lab.answer(id, op, Value::Null);
    let (ended, end) = lab.end();
    assert_eq!((ended, end.outcome.unwrap()), (call, json!(null)));
}

/// The next frame, which says that an operation is given up.
fn is_dropped(lab: &mut Lab, given_up: u32) {
    let (_, _, kind, args) = lab.op();
    assert_eq!((kind.as_str(), args), ("durable.drop", json!({ "op": given_up })));
}

#[test]
fn the_losers_of_a_durable_race_are_given_up_before_anything_else_is_asked() {
    let mut lab = lab();
    let call = lab.begin("racesDurably", json!(null));
    let (id, signal, ..) = lab.op();
    let (_, sleep, ..) = lab.op();
    waits(&mut lab, call, 0);
    lab.answer(id, sleep, json!(null));
    is_dropped(&mut lab, signal);
    let (_, again, kind, _) = lab.op();
    assert_eq!(kind, "durable.signal");
    waits(&mut lab, call, 1);
    lab.answer(id, again, json!("x"));
    is_used(&mut lab, again);
    assert_eq!(lab.end().1.outcome.unwrap(), json!([null, "x"]));
}

#[test]
fn a_wait_that_lost_every_race_yields_to_a_newer_one() {
    let mut lab = lab();
    let call = lab.begin("racesTwice", json!(null));
    let (id, first, ..) = lab.op();
    for answers in 0..2 {
        let (_, sleep, kind, _) = lab.op();
        assert_eq!(kind, "durable.sleep");
        waits(&mut lab, call, answers);
        lab.answer(id, sleep, json!(null));
    }
    is_dropped(&mut lab, first);
    let (_, second, ..) = lab.op();
    waits(&mut lab, call, 2);
    lab.answer(id, second, json!("x"));
    is_used(&mut lab, second);
    assert_eq!(lab.end().1.outcome.unwrap(), json!([null, "x", "operation_dropped"]));
}

#[test]
fn an_abort_signal_gives_an_operation_up() {
    let mut lab = lab();
    lab.begin("aborts", json!(null));
    let (_, op, ..) = lab.op();
    is_dropped(&mut lab, op);
    assert_eq!(lab.end().1.outcome.unwrap(), json!("enough"));
}

/// A call with one line of code in it, and how it ends before anything is answered.
fn refused(line: &str) -> ScriptError {
    let code = format!("export const steps = [async function one({{ durable }}) {{ {line} }}]");
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", &code)] });
    lab.begin("one", json!(null));
    loop {
        match lab.hear() {
            FromHost::Failed { error, .. } => return error,
            FromHost::Done { value, .. } => panic!("{line}: {value}"),
            _ => {}
        }
    }
}

#[test]
fn arguments_that_cannot_be_meant_are_refused_by_name() {
    let cases = [
        ("durable.map(5, 'x')", "durable.map takes a list, not the number 5"),
        ("durable.map('abc', 'x')", "durable.map takes a list, not the text 'abc'"),
        (
            "durable.map([1], 'x', { concurency: 1 })",
            "durable.map has no option `concurency`; did you mean `concurrency`?",
        ),
        (
            "durable.map([1], 'x', { concurrency: 0 })",
            "durable.map: `concurrency` must be a whole number of at least 1, not the number 0",
        ),
        ("durable.signal()", "durable.signal: the name must be a text, not undefined"),
        (
            "durable.signal('go', { timeoutMs: 5 })",
            "durable.signal has no option `timeoutMs`; did you mean `timeout`?",
        ),
        (
            "durable.signal('go', { timeout: -1 })",
            "durable.signal: `timeout` must be zero or more milliseconds, not -1",
        ),
        ("durable.sleep()", "durable.sleep must be milliseconds or a text such as '5s' or '2 minutes'"),
        (
            "durable.sleep(1e18)",
            "durable.sleep is too long: 1000000000000000000 ms; the longest is 285,000 years",
        ),
        (
            "durable.sleep(5, { abort: true })",
            "durable.sleep: `abort` must be an AbortSignal, not the boolean true; write `abort: controller.signal`",
        ),
        ("durable.once('a')", "durable.once: what is to be done must be a function, not undefined"),
        ("durable.run({})", "durable.run takes a workflow or the name of one, not an empty object"),
        ("durable.race(durable.sleep(5))", "durable.race takes a list, not a promise"),
    ];
    for (line, expected) in cases {
        let error = refused(&format!("return {line}"));
        assert_eq!(error.message, expected);
        let facts = (error.name.as_str(), error.code.as_deref(), error.behavior.as_deref());
        assert_eq!(facts, ("TypeError", Some("invalid_argument"), Some("stop")));
    }
}

/// What a call with one line of code in it writes until it ends; its operations are answered with nothing.
fn written(line: &str) -> Vec<String> {
    let code = format!("export const steps = [async function one({{ durable }}) {{ {line} }}]");
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", &code)] });
    lab.begin("one", json!(null));
    let mut lines = Vec::new();
    loop {
        match lab.hear() {
            FromHost::Op { id, op, kind, .. } if kind != "durable.drop" => lab.answer(id, op, json!(null)),
            FromHost::Log { message, .. } => lines.push(message),
            FromHost::Failed { error, .. } => panic!("{line}: {}", error.message),
            FromHost::Done { .. } => return lines,
            _ => {}
        }
    }
}

#[test]
fn a_step_that_does_not_await_an_operation_says_so_with_the_line_that_asked() {
    for (line, kind) in [
        ("durable.sleep('1h')", "durable.sleep"),
        ("void durable.once('a', () => 1); return 7", "durable.once"),
        ("const forgotten = durable.run('x')", "durable.run"),
    ] {
        let lines = written(line);
        let told = format!(
            "`{kind}` was not awaited, and ends with the step: write `await {kind}(…)`\n    at one (/flow.js:1:"
        );
        assert!(lines.len() == 1 && lines[0].starts_with(&told), "{lines:?}");
    }
}

#[test]
fn operations_that_something_waits_for_or_gives_up_are_awaited() {
    for line in [
        "return durable.sleep(1)",
        "await Promise.all([durable.sleep(1), durable.sleep(2)])",
        "await durable.race([durable.sleep(1), durable.sleep(2)])",
        "durable.sleep(1).then(() => 1); await durable.sleep(2)",
        "const stop = new AbortController(); durable.sleep(1, { abort: stop.signal }); stop.abort()",
    ] {
        assert_eq!(written(line), Vec::<String>::new(), "{line}");
    }
}
