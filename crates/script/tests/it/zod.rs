//! Input that zod judges before a run exists.

use rival_engine::StartError;
use rival_engine::store::{Page, RunFilter};
use serde_json::json;

use crate::support::Lab;

const FILE: &str = "import { z } from 'zod'
export const input = z.object({
    orderId: z.uuid(),
    quantity: z.number().min(1),
    priority: z.enum(['low', 'medium', 'high']).default('low'),
    tags: z.array(z.string().trim()).optional(),
}).refine((order) => order.quantity < 100 || order.priority === 'high', { message: 'large orders are urgent', path: ['priority'] })
export const onError = ({ error, failedStep, workflowState }) => {
    console.log(failedStep.stepName, workflowState.runId, error.message)
}
function echo({ input }) { return input }
export const steps = [echo]
";

#[tokio::test]
async fn bad_input_is_refused_with_every_issue_and_no_run_exists() {
    let lab = Lab::good(&[("order.ts", FILE)]).await;
    let input = json!({"orderId": "7", "quantity": 0, "priority": "none"});
    let Err(StartError::InvalidInput { violations, .. }) = lab.engine.run("order", input).await else {
        panic!("it is refused");
    };
    let seen: Vec<_> = violations.iter().map(|it| (it.path.as_str(), it.message.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("/orderId", "Invalid UUID"),
            ("/quantity", "Too small: expected number to be >=1"),
            ("/priority", "Invalid option: expected one of \"low\"|\"medium\"|\"high\""),
        ]
    );
    let runs = lab.engine.runs(&RunFilter::default(), &Page::default()).await.expect("runs are listed");
    assert!(runs.is_empty());
}

#[tokio::test]
async fn refinements_count_and_defaults_are_filled_in() {
    let lab = Lab::good(&[("order.ts", FILE)]).await;
    let id = "0192f0c1-2345-7abc-8def-0123456789ab";
    let output = lab.output("order", json!({"orderId": id, "quantity": 3, "tags": [" a "]})).await;
    assert_eq!(output, json!({"orderId": id, "quantity": 3, "priority": "low", "tags": ["a"]}));
    let large = lab.engine.run("order", json!({"orderId": id, "quantity": 300})).await;
    let Err(StartError::InvalidInput { violations, .. }) = large else { panic!("it is refused") };
    assert_eq!(violations[0].to_string(), "/priority: large orders are urgent");
}

#[tokio::test]
async fn the_same_key_and_input_give_the_same_run() {
    let lab = Lab::good(&[("order.ts", FILE)]).await;
    let input = json!({"orderId": "0192f0c1-2345-7abc-8def-0123456789ab", "quantity": 3});
    let first = lab.engine.run("order", input.clone()).id("a").await.expect("it starts");
    let second = lab.engine.run("order", input).id("a").await.expect("it is the same");
    assert_eq!(first.id(), second.id());
}

#[tokio::test]
async fn the_schema_is_for_forms() {
    let lab = Lab::good(&[("order.ts", FILE)]).await;
    let schema = lab.engine.workflow("order").expect("it is there").input_schema.expect("it has one");
    assert_eq!(schema["properties"]["quantity"]["minimum"], 1);
    assert_eq!(schema["properties"]["priority"]["enum"], json!(["low", "medium", "high"]));
    assert_eq!(schema["required"], json!(["orderId", "quantity"]));
}

#[tokio::test]
async fn an_optional_input_may_be_left_out() {
    let file = "import { z } from 'zod'\nexport const input = z.object({ a: z.string() }).optional()\n\
                export const steps = [function a({ input }) { return input === undefined }]";
    let lab = Lab::good(&[("opt.ts", file)]).await;
    assert_eq!(lab.output("opt", json!(null)).await, json!(true));
}

#[tokio::test]
async fn a_schema_that_does_not_end_is_given_up() {
    let file = "import { z } from 'zod'\n\
                export const input = z.object({ a: z.string().refine((s) => { if (s === 'spin') for (;;); return true }) })\n\
                export const steps = [function a() { return 1 }]";
    let lab = Lab::good(&[("spin.ts", file)]).await;
    let stuck = lab.engine.run("spin", json!({"a": "spin"})).await;
    assert!(matches!(stuck, Err(StartError::CheckUnavailable { .. })));
    assert_eq!(lab.output("spin", json!({"a": "b"})).await, json!(1));
}

#[tokio::test]
async fn a_nested_workflow_judges_its_input_itself() {
    let lab = Lab::good(&[
        (
            "pay.ts",
            "import { z } from 'zod'\nexport const input = z.object({ amount: z.number().default(5) })\n\
             export const steps = [function pay({ input }) { return input.amount }]",
        ),
        (
            "outer.ts",
            "import { workflow } from 'rival'\nconst pay = workflow('./pay.ts')\nexport const steps = [pay]",
        ),
    ])
    .await;
    assert_eq!(lab.output("outer", json!({})).await, json!(5));
    let error = lab.run("outer", json!({"amount": "x"})).await.error.expect("it is refused");
    assert_eq!(error.code, "invalid_input");
}

/// A child is given what a run of its own would be given.
#[tokio::test]
async fn the_input_of_children_is_what_their_schema_makes_of_it() {
    let lab = Lab::good(&[
        (
            "child.ts",
            "import { z } from 'zod'
export const input = z.object({ n: z.number().default(7), name: z.string().trim().default('none') })
export const steps = [function give({ input }) { return input }]",
        ),
        (
            "parent.ts",
            "export const steps = [async function ask({ durable }) {
    const one = await durable.run('child', {})
    const all = await durable.map([{ n: 1 }, { name: ' a ' }], 'child')
    const wrong = await durable.run('child', { n: 'x' }).catch((error) => error.code)
    return [one, ...all, wrong]
}]",
        ),
    ])
    .await;
    let expected =
        json!([{"n": 7, "name": "none"}, {"n": 1, "name": "none"}, {"n": 7, "name": "a"}, "invalid_input"]);
    assert_eq!(lab.output("parent", json!(null)).await, expected);
}
