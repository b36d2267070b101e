//! Files that cannot be loaded: each is told where and what to do, and the others are not affected.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::support::Lab;

/// Loads a folder with these files and one that is good; the good one must run.
async fn check(files: &[(&str, &str)], told: Expect) {
    let good = ("good.ts", "function fine() { return 'fine' }\nexport const steps = [fine]");
    let files: Vec<_> = files.iter().copied().chain([good]).collect();
    let lab = Lab::new(&files).await;
    told.assert_eq(&lab.problems().join("\n"));
    assert_eq!(lab.output("good", json!(null)).await, json!("fine"));
    assert_eq!(lab.engine.problems().len(), lab.loaded.problems.len());
}

#[tokio::test]
async fn a_syntax_error() {
    check(
        &[("bad.ts", "function a() {\n  return 1 +\n}\nexport const steps = [a]")],
        expect![[r#"
        bad.ts:3:1: Unexpected token
            The line is: }"#]],
    )
    .await;
}

#[tokio::test]
async fn no_steps() {
    check(
        &[("bad.ts", "export function a() {}")],
        expect![[r#"
        bad.ts:1:1: the file has no `steps`, and exports and registers no workflow
            write export const steps = [ … ], or export a workflow made with createWorkflow(..)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_missing_export() {
    let files = [
        ("bad.ts", "import { charge } from './_steps'\nexport const steps = [charge]"),
        ("_steps.ts", "export function change() {}"),
    ];
    check(
        &files,
        expect![[r#"
        bad.ts:1:10: './_steps' does not export `charge`
            Did you mean `change`?"#]],
    )
    .await;
}

#[tokio::test]
async fn a_circular_import() {
    let files = [
        ("bad.ts", "import { b } from './_b'\nexport function a() {}\nexport const steps = [a, b]"),
        ("_b.ts", "import { a } from './bad'\nexport function b() { return a() }"),
    ];
    check(
        &files,
        expect![[r#"
        _b.ts:1:19: files import each other in a circle: _b.ts -> bad.ts -> _b.ts
            Move what both need into a file of its own. For types alone, write `import type`."#]],
    )
    .await;
}

#[tokio::test]
async fn a_throw_while_loading() {
    let text = "type Shape = { a: number }\nfunction config(): Shape {\n  throw new TypeError('no settings')\n}\nconst it = config()\nexport const steps = [function a() { return it }]";
    check(
        &[("bad.ts", text)],
        expect![[r#"
        bad.ts:3:13: TypeError: no settings
            it was thrown while the file was loaded: catch it, or do this inside of a step"#]],
    )
    .await;
}

#[tokio::test]
async fn something_that_is_not_a_function() {
    check(
        &[("bad.ts", "function a() {}\nexport const steps = [a, 'b']")],
        expect![[r#"
            bad.ts:2:26: steps[1] is not a step: it is the text 'b'
                give the function itself, or workflow('./file.ts') for a file"#]],
    )
    .await;
}

#[tokio::test]
async fn a_duplicate_step() {
    let text =
        "function a() {}\nfunction b() {}\nexport const steps = [{ fn: a, name: 'x' }, { fn: b, name: 'x' }]";
    check(
        &[("bad.ts", text)],
        expect![[r#"
            bad.ts:3:45: two steps of workflow `bad` are called `x`
                give one of them another name"#]],
    )
    .await;
}

#[tokio::test]
async fn an_unsupported_package() {
    let files = [
        ("node.ts", "import fs from 'node:fs'\nexport const steps = [function a() { return fs }]"),
        ("missing.ts", "import _ from 'lodash'\nexport const steps = [function a() { return _ }]"),
        ("common.ts", "import c from './common.cjs'\nexport const steps = [function a() { return c }]"),
        ("common.cjs", "module.exports = 1"),
    ];
    check(&files, expect![[r#"
        common.ts:1:15: './common.cjs' is a CommonJS module
            Packages may be CommonJS modules; files of your own are ES modules: write `import` and `export`.
        missing.ts:1:15: cannot find the package 'lodash'
            Run `npm install lodash`; for a file of your own, write './lodash'.
        node.ts:1:16: 'node:fs' is part of Node.js, which is not here
            Workflow files do not reach files and processes. Do it in a service, or in a step written in Rust."#]]).await;
}

#[tokio::test]
async fn a_file_that_never_ends_loading() {
    let mut settings = crate::support::settings();
    settings.load_limit = std::time::Duration::from_secs(1);
    let files = [
        ("bad.ts", "for (;;) {}\nexport const steps = [function a() {}]"),
        ("waits.ts", "await new Promise(() => {})\nexport const steps = [function a() {}]"),
        ("good.ts", "export const steps = [function fine() { return 'fine' }]"),
    ];
    let lab = Lab::with(settings, &files).await;
    expect![[r#"
        bad.ts:1:1: it did not load within 1000 ms
            code outside of functions must come to an end quickly
        waits.ts:1:1: it did not load within 1000 ms
            code outside of functions must come to an end quickly"#]]
    .assert_eq(&lab.problems().join("\n"));
    assert_eq!(lab.output("good", json!(null)).await, json!("fine"));
}

#[tokio::test]
async fn two_workflows_of_one_name() {
    let text = "export const name = 'same'\nexport const steps = [function a() {}]";
    check(
        &[("one.ts", text), ("two.ts", text)],
        expect![[r#"
            two.ts:2:14: a workflow `same` is defined by one.ts already
                give one of them another name: `export const name = '…'`"#]],
    )
    .await;
}

#[tokio::test]
async fn a_workflow_that_contains_itself() {
    let files = [
        ("a.ts", "import { workflow } from 'rival'\nconst b = workflow('./b.ts')\nexport const steps = [b]"),
        ("b.ts", "import { workflow } from 'rival'\nconst a = workflow('./a.ts')\nexport const steps = [a]"),
    ];
    check(
        &files,
        expect![[r#"
            a.ts:3:23: workflow `a` contains itself: a -> b -> a
                start a child instead: durable.run(..)
            b.ts:3:23: workflow `b` contains itself: b -> a -> b
                start a child instead: durable.run(..)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_schema_that_has_no_json_form() {
    let text = "import { z } from 'zod'\nexport const input = z.object({ at: z.date() })\nexport const steps = [function a() {}]";
    check(
        &[("bad.ts", text)],
        expect![[r#"
            bad.ts:2:14: input.at: z.date() has no JSON form
                use z.iso.datetime()"#]],
    )
    .await;
}

#[tokio::test]
async fn options_that_are_wrong() {
    let text = "function a() {}\nexport const steps = [{ fn: a, timout: 5 }]";
    let zero = "function a() {}\nexport const steps = [{ fn: a, timeout: 0 }]";
    check(
        &[("option.ts", text), ("zero.ts", zero)],
        expect![[r#"
            option.ts:2:23: steps[0] (a) has no option `timout`
                did you mean `timeout`?
            zero.ts:2:23: steps[0] (a): `timeout` must be at least 1 ms"#]],
    )
    .await;
}

#[tokio::test]
async fn a_misspelt_name_of_the_rival_module() {
    let text = "import { z } from 'zod'\nimport { createWorkflw } from 'rival'\nexport default createWorkflw('a').step(function a() {})";
    check(
        &[("bad.ts", text)],
        expect![[r#"
        bad.ts:2:10: 'rival' does not export `createWorkflw`
            Did you mean `createWorkflow`?"#]],
    )
    .await;
}

#[tokio::test]
async fn functions_that_are_none() {
    let files = [
        ("gen.ts", "export const steps = [function* a() { yield 1 }]"),
        ("class.ts", "class A {}\nexport const steps = [A]"),
    ];
    check(
        &files,
        expect![[r#"
        class.ts:2:23: steps[0] (A) is a class
            give a function: (context) => new It().work(context)
        gen.ts:1:23: steps[0] (a) is a generator, which does nothing when it is called
            write function, or async function"#]],
    )
    .await;
}

#[tokio::test]
async fn functions_that_could_be_taken_for_each_other() {
    let files = [
        ("anonymous.ts", "export const steps = [() => 1, () => 2]"),
        (
            "names.ts",
            "const a = { f() { return 1 } }, b = { f() { return 2 } }\nexport const steps = [a.f, b.f]",
        ),
    ];
    check(
        &files,
        expect![[r#"
            anonymous.ts:1:32: two steps of workflow `anonymous` are functions without a name
                write function charge(..) { .. }, or { name: 'charge', fn: (..) => .. }
            names.ts:2:28: two steps of workflow `names` are called `f`
                give one of them another name"#]],
    )
    .await;
    // The same one twice is the same whichever is meant.
    let lab =
        Lab::good(&[("twice.ts", "function f() { return 1 }\nexport const steps = [f, f, () => 3]")]).await;
    let plan = lab.engine.workflow("twice").expect("it is there").plan;
    let ids: Vec<_> = plan.block.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(ids, ["f", "f_2", "step"]);
}

#[tokio::test]
async fn a_function_that_builds_where_steps_are_wanted() {
    let text = "import { createWorkflow } from 'rival'
const decide = () => true
export const order = createWorkflow('order')
    .branch({ name: 'large', if: decide, then: (b) => b.signal('approved') })
";
    check(&[("bad.ts", text)], expect![[r#"
        bad.ts:1:1: branch 'large': then (then) is a function that builds steps with .signal(..), where steps themselves are wanted
            write a list, such as [first, signal('approved')]; only .branch('name', (b) => ..) of .parallel(..) takes a function"#]]).await;
    let text = "import { loop } from 'rival'
export const steps = [loop({ body: async function build(block) { block.sleep('1s').step(x) }, until: () => true })]
";
    check(&[("bad.ts", text)], expect![[r#"
        bad.ts:2:23: loop: body (build) is a function that builds steps with .sleep(..), where steps themselves are wanted
            write a list, such as [first, signal('approved')]; only .branch('name', (b) => ..) of .parallel(..) takes a function"#]]).await;
}

/// A step's own parameter may well be called like a builder's.
#[tokio::test]
async fn a_step_with_methods_of_its_own_is_no_builder() {
    let text = "function sum(b) { return b.input.list.step(1) + [1].forEach.name.length + b.steps.toString().length * 0 }
function other({ input }) { const b = { step: () => 1 }; return b.step() }
export const steps = [sum, other]";
    check(&[("w.ts", text)], expect![[r#""#]]).await;
}

#[tokio::test]
async fn misspelt_exports() {
    let text = "function a() {}\nexport const step = [a]";
    check(
        &[("bad.ts", text)],
        expect![[r#"
        bad.ts:1:1: the file has no `steps`, and exports and registers no workflow
            it exports `step`: did you mean `steps`?"#]],
    )
    .await;
    let text = "function a() {}\nexport const onEror = a\nexport const names = 1\nexport const steps = [a]";
    check(
        &[("bad.ts", text)],
        expect![[r#"
        bad.ts:2:14: the file exports `onEror`
            did you mean `onError`?"#]],
    )
    .await;
}

#[tokio::test]
async fn a_built_workflow_with_the_name_of_another() {
    let built = "import { createWorkflow } from 'rival'
function a() {}
export const second = createWorkflow('first').step(a)
";
    let files =
        [("a.ts", "function a() {}\nexport const name = 'first'\nexport const steps = [a]"), ("b.ts", built)];
    check(
        &files,
        expect![[r#"
        b.ts:3:14: a workflow `first` is defined by a.ts already
            give one of them another name: createWorkflow('…')"#]],
    )
    .await;
}
