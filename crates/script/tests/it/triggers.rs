//! Triggers of TypeScript files: their refs are those of documents, and a test shows what was triggered.

use expect_test::{Expect, expect};
use rival_core::RunId;
use rival_core::view::TriggerStatus;
use serde_json::{Value, json};

use crate::support::{Lab, settings, write};

const SHIP: &str = "import { z } from 'zod'
export const input = z.object({ orderId: z.string(), note: z.string().optional(), number: z.number().optional() })
function ship({ input }) { return input }
export const steps = [ship]";

const ORDER: &str = "import { type Trigger } from 'rival'
function order({ input }: { input: any }) { return input }
export const steps = [order]
export const triggers: Trigger[] = [
    { workflow: 'ship', inputs: { orderId: '@output.id', note: 'for @{input.by}, @@{x} a@b.example' }, timeout: '1 minute', maxRetries: 2 },
    { workflow: 'ship', forEach: '@output.items', inputs: { orderId: '@item.id', number: '@index' } },
    { workflow: 'ship', inputs: { orderId: '@output.refund' } },
]";

/// Runs a workflow, and gives what each of its triggers came to, with what it has started.
async fn triggered(lab: &Lab, workflow: &str, input: Value) -> Vec<(TriggerStatus, Vec<Value>)> {
    let run = lab.start(workflow, input).await;
    lab.wait(&run).await;
    lab.wait(&run.triggers()).await;
    let view = lab.engine.triggers(&run).await.expect("it is read").expect("it has triggers");
    let mut all = Vec::new();
    for trigger in view.triggers {
        let mut started = Vec::new();
        for id in &trigger.runs {
            started.push(given(lab, id).await);
        }
        all.push((trigger.status, started));
    }
    all
}

async fn given(lab: &Lab, run: &RunId) -> Value {
    lab.engine.get(run).await.expect("it is there").input.to_json()
}

#[tokio::test]
async fn a_file_starts_others_when_its_runs_have_completed() {
    let lab = Lab::good(&[("order.ts", ORDER), ("ship.ts", SHIP)]).await;
    assert!(lab.loaded.warnings.is_empty(), "{:?}", lab.loaded.warnings);
    let plan = lab.engine.workflow("order").expect("it is there").plan;
    assert_eq!((plan.triggers[0].timeout_ms, plan.triggers[0].max_retries), (Some(60_000), Some(2)));
    let input = json!({ "id": "o-1", "by": "Ann", "items": [{ "id": "a" }, { "id": "b" }] });
    let expected = [
        (TriggerStatus::Triggered, vec![json!({ "orderId": "o-1", "note": "for Ann, @{x} a@b.example" })]),
        (
            TriggerStatus::Triggered,
            vec![json!({ "orderId": "a", "number": 0 }), json!({ "orderId": "b", "number": 1 })],
        ),
        (TriggerStatus::Skipped, vec![]),
    ];
    assert_eq!(triggered(&lab, "order", input).await, expected);
}

#[tokio::test]
async fn the_builder_has_triggers() {
    let file = "import { createWorkflow } from 'rival'
export const ship = createWorkflow('ship').step(function pack({ input }) { return input })
export const order = createWorkflow('order')
    .step(function take({ input }) { return input })
    .trigger(ship, { inputs: { id: '@output.id' } })
    .trigger('ship', { forEach: '@output.items', inputs: { id: '@item' } })
    .trigger('ship')";
    let lab = Lab::good(&[("shop.ts", file)]).await;
    let one = |id: &str| json!({ "id": id });
    let expected = [
        (TriggerStatus::Triggered, vec![one("o")]),
        (TriggerStatus::Triggered, vec![one("a"), one("b")]),
        (TriggerStatus::Triggered, vec![json!({})]),
    ];
    assert_eq!(triggered(&lab, "order", json!({ "id": "o", "items": ["a", "b"] })).await, expected);
}

async fn told(files: &[(&str, &str)], problems: Expect, warnings: Expect) {
    let lab = Lab::new(files).await;
    problems.assert_eq(&lab.problems().join("\n"));
    let folder = format!("{}/", lab.folder.path().canonicalize().expect("it is there").display());
    let told: Vec<String> =
        lab.loaded.warnings.iter().map(|warning| warning.to_string().replace(&folder, "")).collect();
    warnings.assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn what_is_wrong_is_told_where_it_is_written() {
    let file = |triggers: &str| {
        format!("function a() {{}}\nexport const steps = [a]\nexport const triggers = [\n{triggers}\n]")
    };
    let refs = file(
        "    { workflow: 'ship', inputs: { orderId: '@outptu.id', note: '@item', number: 'x' } },
    { workflow: 'ship', inputs: { orderId: 'o', nubmer: '@input.' } },
    { workflow: 'ship', inputs: {}, forEach: 'items' },",
    );
    let shapes = [
        ("b.ts", file("{ workflow: 'ship', input: {} }")),
        ("c.ts", file("{ workflow: 7 }")),
        ("d.ts", file("{ workflow: 'ship', inputs: { a: () => 1 } }")),
        ("e.ts", file("{ workflow: 'ship', timeout: 'soon' }")),
        (
            "f.ts",
            "function a() {}\nexport const steps = [a]\nexport const triggers = { workflow: 'ship' }"
                .to_owned(),
        ),
    ];
    let mut files: Vec<(&str, &str)> = shapes.iter().map(|(name, text)| (*name, text.as_str())).collect();
    files.extend([("a.ts", refs.as_str()), ("ship.ts", SHIP)]);
    told(&files, expect![[r#"
        a.ts:4:17: the trigger of `ship`: expected `number`, but the value is `"x"`
        a.ts:4:45: the trigger of `ship`: at `orderId`, a trigger sees `@output` and `@input`; `outptu` is none of them: let the last phase give it on
        a.ts:4:65: the trigger of `ship`: at `note`, `@item` is there only in a forEach
        a.ts:5:58: the trigger of `ship`: at `nubmer`, a name is missing: here is the end
        a.ts:6:17: the trigger of `ship`: `forEach` is a ref to a list, as `@input.users`
        a.ts:6:17: the trigger of `ship`: `orderId` is not there, and is required: `string`
        b.ts:3:14: triggers[0] has no option `input`
            did you mean `inputs`?
        c.ts:3:14: triggers[0] starts a workflow by its name, and this is the number 7
            write { workflow: 'ship', inputs: { orderId: '@output.id' } }
        d.ts:3:14: triggers[0]: `inputs`.a must be JSON, and this is the function `a`
            values of the run are refs, such as '@output.id'
        e.ts:3:14: triggers[0]: `timeout`: 'soon' is not a duration; write '500ms', '5s', '2 minutes' or '1h 30m'
        f.ts:3:14: `triggers` must be a list, not an object with workflow
            write [{ workflow: 'ship', inputs: { orderId: '@output.id' } }]"#]], expect![[""]]).await;
}

#[tokio::test]
async fn doubts_are_told_and_keep_nothing_from_being_loaded() {
    let file = "function a() {}\nexport const steps = [a]
export const triggers = [{ workflow: 'shp' }, { workflow: 'ship', inputs: { orderId: 'o', extra: 1 } }, { workflow: 'a' }]";
    told(&[("a.ts", file), ("ship.ts", SHIP)], expect![[""]], expect![[r#"
        a.ts:3:38: the trigger of `shp`: there is no workflow `shp` yet; did you mean `ship`?
        a.ts:3:59: the trigger of `ship`: `extra` is not a field that is expected: the value declares no property `extra`
        a.ts:3:117: the trigger of `a`: workflows trigger each other in a circle: `a` -> `a`; a chain ends after 10"#]]).await;
    // They go when the workflow comes.
    let lab = Lab::new(&[("a.ts", &file.replace("extra: 1", "").replace(", { workflow: 'a' }", ""))]).await;
    assert_eq!(lab.loaded.warnings.len(), 2);
    write(lab.folder.path(), &[("shp.ts", "function b() {}\nexport const steps = [b]"), ("ship.ts", SHIP)]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is read");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[tokio::test]
async fn tests_see_what_was_triggered() {
    let test = "import { expect, runWorkflow, test } from 'rival/test'
const input = { id: 'o-1', by: 'Ann', items: [{ id: 'a' }] }
test('stand-ins', async () => {
    const run = await runWorkflow('./order.ts', { input })
    expect(run.triggered).toMatchObject([
        { workflow: 'ship', input: { orderId: 'o-1' } },
        { workflow: 'ship', input: { orderId: 'a', number: 0 } },
    ])
    expect(run.triggers.map((it) => it.status)).toEqual(['triggered', 'triggered', 'skipped'])
    expect(run.triggers[2].error.code).toBe('missing_ref')
})
test('mocks', async () => {
    const given: any[] = []
    const run = await runWorkflow('./order.ts', { input, children: { ship: ({ input }) => void given.push(input.orderId) } })
    expect(run.triggered).toHaveLength(2)
})
test('the real one', async () => {
    const run = await runWorkflow('./order.ts', { input: { ...input, items: [{}, { id: 7 }] }, workflows: ['./ship.ts'] })
    expect(run.triggers.map((it) => it.status)).toEqual(['triggered', 'failed', 'skipped'])
    expect(run.triggered).toHaveLength(1)
})
";
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), &[("order.ts", ORDER), ("ship.ts", SHIP), ("order.test.ts", test)]);
    let found = rival_script::testing::find(&[dir.path().join("order.test.ts")]).expect("it is found");
    let mut failures = Vec::new();
    let mut passed = 0;
    rival_script::testing::run(settings(), &found, "", |news| match news {
        rival_script::testing::TestNews::Tested(test) => match &test.failure {
            Some(failure) => failures.push(format!("{failure:?}")),
            None => passed += 1,
        },
        rival_script::testing::TestNews::Problem(problem) => failures.push(problem.to_string()),
    })
    .await
    .expect("the tests run");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(passed, 3);
}
