//! Steps that functions read and that are not there: said when a file is loaded, and only if it is certain.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::{Lab, write};

/// What is told of a folder with these files.
async fn told(files: &[(&str, &str)], expected: Expect) {
    let lab = Lab::new(files).await;
    expected.assert_eq(&lab.problems().join("\n"));
}

#[tokio::test]
async fn a_slip_is_told_with_its_place_and_what_was_meant() {
    told(
        &[(
            "order.ts",
            "import { httpStep, type StepContext } from 'rival'

type Context = StepContext<{ id: string }>

function name({ input }: Context): string { return input.id }
function ship({ steps, log }: Context) {
    const größe: number = 1; log.info('x'); return steps.nmae.result + größe
}
async function bill({ steps: { name, shp } }: Context) {
    return [name.result, shp.result]
}
export const steps = [name, ship, bill, httpStep({ url: ({ steps }) => steps.bil.result, method: 'GET' })]
",
        )],
        expect![[r#"
            order.ts:7:58: `ship` reads `steps.nmae`, and no earlier step has that name
                did you mean `name`?
            order.ts:9:38: `bill` reads `steps.shp`, and no earlier step has that name
                did you mean `ship`?
            order.ts:12:78: `http` reads `steps.bil`, and no earlier step has that name
                did you mean `bill`?"#]],
    )
    .await;
}

#[tokio::test]
async fn steps_are_seen_as_the_engine_has_it() {
    let file = "import { branch, forEach, loop, parallel, sleep, createWorkflow } from 'rival'
function first() { return [1] }
function inner({ steps }) { return steps.first.result }
function ask({ steps }) { return steps.inner.result }
const inside = parallel({ name: 'both', branches: { a: [inner, ask], b: function aside({ steps }) { return steps.first.result } },
    finally: ({ steps }) => steps.first.result })
export const onError = ({ workflowState }) => workflowState.steps.last.result
function undo({ steps }) { return steps.first.result }
export const steps = [
    { fn: first, onError: ({ workflowState }) => workflowState.steps.last.status },
    branch({ name: 'way', if: ({ steps }) => steps.first.result, then: [function yes({ steps }) { return steps.first.result }, function more({ steps }) { return steps.yes.result }] }),
    loop({ name: 'until ready', body: [function again({ steps }) { return steps.way.result }], until: ({ steps }) => steps.again.result && steps.way.result }),
    forEach({ name: 'each', items: ({ steps }) => steps.first.result, body: [function one({ steps }) { return steps['until ready'].result }, function two({ steps }) { return steps.one.result }] }),
    inside,
    sleep(({ steps }) => steps.both.result),
    { fn: function last({ steps }) { return [steps.way.result, steps['until ready'].result, steps.each.result, steps.both.result] }, compensate: undo },
]";
    told(&[("good.ts", file)], expect![[""]]).await;
}

#[tokio::test]
async fn what_comes_later_or_lies_inside_is_not_there() {
    let file = "import { forEach, loop, parallel } from 'rival'
function first({ steps }) { return steps.last.result }
function pack({ steps }) { return steps.pack.result }
function end({ steps }) { return [steps.pack.result, steps.a.result, steps.gone.result] }
export const steps = [
    first,
    forEach({ name: 'packing', items: ({ steps }) => steps.packing.result, body: [pack] }),
    parallel({ name: 'both', branches: { a: function left() {}, b: function right({ steps }) { return steps.left.result } } }),
    loop({ name: 'again', body: [function turn() {}], while: ({ steps }) => steps.tun.result }),
    { fn: function last() {}, compensate: ({ steps }) => steps.last.result },
    end,
]";
    told(
        &[("bad.ts", file)],
        expect![[r#"
            bad.ts:2:42: `first` reads `steps.last`, and no earlier step has that name
                `last` does not come before it: no step is before it
            bad.ts:3:41: `packing/pack` reads `steps.pack`, and no earlier step has that name
                `packing/pack` is inside of a block, and only the block is seen from here: before it are `first`
            bad.ts:4:41: `end` reads `steps.pack`, and no earlier step has that name
                `packing/pack` is inside of a block, and only the block is seen from here: before it are `first`, `packing`, `both`, `again`, `last`
            bad.ts:4:60: `end` reads `steps.a`, and no earlier step has that name
                before it are `first`, `packing`, `both`, `again`, `last`
            bad.ts:4:76: `end` reads `steps.gone`, and no earlier step has that name
                before it are `first`, `packing`, `both`, `again`, `last`
            bad.ts:7:60: `items` of `packing` reads `steps.packing`, and no earlier step has that name
                `packing` does not come before it: before it are `first`
            bad.ts:8:109: `both/b/right` reads `steps.left`, and no earlier step has that name
                `both/a/left` is inside of a block, and only the block is seen from here: before it are `first`, `packing`
            bad.ts:9:83: the test of `again` reads `steps.tun`, and no earlier step has that name
                did you mean `turn`?
            bad.ts:10:64: `compensate` of `last` reads `steps.last`, and no earlier step has that name
                `last` does not come before it: before it are `first`, `packing`, `both`, `again`"#]],
    )
    .await;
}

/// A nested workflow reads the steps of the one around it, and says nothing of it by itself.
#[tokio::test]
async fn a_workflow_that_others_run_in_place_may_read_their_steps() {
    let payment = "function charge({ steps }) { return steps.order.result }\nexport const steps = [charge]";
    let parent = "import { workflow } from 'rival'\nconst payment = workflow('./payment.ts')
function order() { return 7 }\nexport const steps = [order, payment]";
    let lab = Lab::good(&[("payment.ts", payment), ("parent.ts", parent)]).await;
    assert_eq!(lab.output("parent", json!(null)).await, json!(7));
    // A parent without such a step is wrong, and so is the workflow alone.
    let other = "import { workflow } from 'rival'\nconst payment = workflow('./payment.ts')
function odrer() { return 7 }\nexport const steps = [odrer, payment]";
    told(
        &[("payment.ts", payment), ("other.ts", other)],
        expect![[r#"
            payment.ts:1:43: `payment/charge` reads `steps.order`, and no earlier step has that name
                did you mean `odrer`?
            payment.ts:1:43: `charge` reads `steps.order`, and no earlier step has that name
                no step is before it"#]],
    )
    .await;
    // While a file is broken that may have it, nothing is said; afterwards it is.
    let lab = Lab::new(&[("payment.ts", payment), ("parent.ts", "export const steps = [")]).await;
    assert_eq!(lab.loaded.workflows, ["payment"]);
    assert_eq!(lab.problems().len(), 1);
    write(lab.folder.path(), &[("parent.ts", other)]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is read");
    assert_eq!(loaded.problems.len(), 2, "{:?}", loaded.problems);
}

#[tokio::test]
async fn a_function_of_several_workflows_may_read_what_one_of_them_has() {
    let files = [
        (
            "_shared.ts",
            "export function tell({ run, steps }) { if (run.workflow === 'a') return steps.find.result }",
        ),
        (
            "a.ts",
            "import { tell } from './_shared'\nfunction find() { return 1 }\nexport const steps = [find, tell]",
        ),
        (
            "b.ts",
            "import { tell } from './_shared'\nfunction fin() { return 1 }\nexport const steps = [fin, tell]",
        ),
    ];
    let lab = Lab::good(&files).await;
    assert_eq!(lab.output("b", json!(null)).await, json!(null));
    // The function is told of in the file that has it.
    told(
        &[files[0], files[2]],
        expect![[r#"
            _shared.ts:1:79: `tell` reads `steps.find`, and no earlier step has that name
                did you mean `fin`?"#]],
    )
    .await;
}

/// A file with several workflows, of which one is wrong; and the version before it stays.
#[tokio::test]
async fn the_last_good_version_stays() {
    let file = |name: &str| {
        format!(
            "import {{ createWorkflow }} from 'rival'
function find() {{ return 1 }}
export const good = createWorkflow('good').step(find).step(function tell({{ steps }}) {{ return steps.find.result }})
export const other = createWorkflow('other').step(find).step(function tell({{ steps }}) {{ return steps.{name}.result + 1 }})"
        )
    };
    let lab = Lab::good(&[("two.ts", &file("find"))]).await;
    write(lab.folder.path(), &[("two.ts", &file("fnid"))]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is read");
    assert_eq!(loaded.problems.len(), 1);
    assert_eq!((loaded.problems[0].line, loaded.problems[0].column), (4, 102));
    assert_eq!(loaded.workflows, ["good", "other"]);
    assert_eq!(lab.engine.problems()[0].workflows, ["other"]);
    assert_eq!(lab.output("other", json!(null)).await, json!(2));
    // It is looked at again, as nothing of it was taken.
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is read");
    assert_eq!(loaded.problems.len(), 1);
    write(lab.folder.path(), &[("two.ts", &file("find").replace("+ 1", "+ 2"))]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is read");
    assert!(loaded.problems.is_empty());
    assert_eq!(lab.output("other", json!(null)).await, json!(3));
}
