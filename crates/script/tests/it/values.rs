//! Values between scripts, the record and the outside: never changed, and missing in one way only.

use rival_core::Value;
use serde_json::json;

use crate::support::{Lab, result};

#[tokio::test]
async fn what_json_cannot_say_fails_its_step_with_the_place() {
    let lab = Lab::good(&[(
        "odd.ts",
        r"export const steps = [function odd({ input }) {
            const odd = { half: '\ud800', key: { 'a\udc00': 1 }, deep: [{ text: 'x\udfff' }], fine: '\ud83d\ude00' }
            return { value: odd[input as keyof typeof odd] }
        }]",
    )])
    .await;
    for (what, place) in [("half", "`value`"), ("key", "`value.a\u{fffd}`"), ("deep", "`value[0].text`")] {
        let error = lab.run("odd", json!(what)).await.error.expect("it is no JSON");
        assert_eq!(error.code, "not_json");
        assert!(
            error.message.contains(place) && error.message.contains("lone surrogate"),
            "{}",
            error.message
        );
    }
    assert_eq!(lab.output("odd", json!("fine")).await, json!({"value": "\u{1f600}"}));
}

#[tokio::test]
async fn minus_zero_stays_what_it_is() {
    let lab = Lab::good(&[(
        "zero.ts",
        "export const steps = [
            function give({ input, state }) { state.zero = -0; return { deep: [-0, 0, input.zero], date: new Date(0), gone: undefined } },
            function look({ steps }) { return steps.give.result.deep.map((n: number) => 1 / n) .map(String) },
            function again({ steps }) { return steps.give.result },
        ]",
    )])
    .await;
    let outcome = lab.run("zero", json!({"zero": -0.0})).await;
    assert_eq!(result(&outcome, "look"), json!(["-Infinity", "Infinity", "-Infinity"]));
    let again = outcome.result("again").and_then(|step| step.result.clone()).expect("it completed");
    assert_eq!(again.as_json(), r#"{"deep":[-0,0,-0],"date":"1970-01-01T00:00:00.000Z"}"#);
}

#[tokio::test]
async fn a_number_that_would_be_rounded_is_refused() {
    let lab = Lab::good(&[
        (
            "plain.ts",
            "export const steps = [
                function big({ input }) { return input },
                function own() { return [2 ** 60, 1e20, 9007199254740991] },
                function reads({ steps }) { return steps.own.result },
            ]",
        ),
        ("checked.ts", "import { z } from 'zod'\nexport const input = z.any()\nexport const steps = [function big({ input }) { return input }]"),
        (
            "waits.ts",
            "export const steps = [async function wait({ durable }) { return durable.signal('id').catch((error) => error.code) }]",
        ),
    ])
    .await;
    let id = || Value::from_json(r#"{"order":{"ids":[1,9007199254740993]}}"#.to_owned()).expect("it is JSON");
    let run = lab.engine.run("plain", id()).await.expect("it starts").id().clone();
    let error = lab.wait(&run).await.error.expect("it would be rounded");
    assert_eq!(error.code, "unsafe_number");
    assert_eq!(
        error.message,
        "`input.order.ids[1]` is 9007199254740993, which a number of JavaScript cannot hold: it would be \
         9007199254740992; record it as a string"
    );
    // What was recorded is what was sent.
    assert_eq!(lab.engine.input(&run).await.expect("it is there"), id());
    let refused = lab.engine.run("checked", id()).await.expect_err("zod cannot judge it");
    assert_eq!(refused.code(), "invalid_input");
    assert!(refused.to_string().contains("/order/ids/1"), "{refused}");
    // What JavaScript writes, it can read.
    let own = lab.run("plain", json!({})).await.output.expect("it completed");
    assert_eq!(own.as_json(), "[1152921504606847000,100000000000000000000,9007199254740991]");
    let run = lab.start("waits", json!(null)).await;
    lab.engine.signal(&run, "id", 9_007_199_254_740_993_u64).await.expect("it is sent");
    assert_eq!(lab.wait(&run).await.output.expect("it completed").to_json(), json!("unsafe_number"));
}

#[tokio::test]
async fn a_key_that_is_there_twice_is_refused() {
    let lab = Lab::good(&[("a.ts", "import { z } from 'zod'\nexport const input = z.any()\nexport const steps = [function a({ input }) { return input }]")]).await;
    let twice = Value::from_json(r#"{"a":{"b":1,"b":2}}"#.to_owned()).expect("it is JSON");
    let refused = lab.engine.run("a", twice).await.expect_err("one of them would be lost");
    assert_eq!(refused.code(), "not_json");
    assert!(refused.to_string().contains("`a` in it has the key `b` twice"), "{refused}");
}

#[tokio::test]
async fn what_is_missing_is_null_everywhere() {
    let lab = Lab::good(&[(
        "missing.ts",
        "import { forEach, loop } from 'rival'
function soft() { throw new Error('no') }
function body({ lastStep }) { return lastStep.result }
export const steps = [
    function first({ lastStep }) { return [lastStep.result === null] },
    { fn: soft, continueOnError: true },
    function after({ steps, lastStep }) { return [steps.soft.result, lastStep.result].map((it) => it === null) },
    loop({ name: 'never', body: [body], while: () => false }),
    function afterLoop({ steps, lastStep }) { return [steps.never.result, lastStep.result].map((it) => it === null) },
    forEach({ name: 'each', items: [1], body: [{ fn: soft, continueOnError: true }] }),
    loop({ name: 'once', body: [function inside({ loop }) { return loop.last === null }], until: () => true }),
    function end({ steps }) {
        return [steps.first.result, steps.after.result, steps.afterLoop.result, steps.each.result, steps.once.result]
    },
]",
    )])
    .await;
    let expected = json!([[true], [true, true], [true, true], [null], true]);
    assert_eq!(lab.output("missing", json!(null)).await, expected);
}
