use expect_test::{Expect, expect};

use crate::folder::Folder;

fn check(files: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&Folder::new(files).problems(files[0].0));
}

#[test]
fn syntax_errors_have_a_place() {
    check(
        &[("a.ts", "export const steps = [\n  first,\n  second\n\nfunction first() {}")],
        &expect![[r#"
        a.ts:5:1: Expected `,` or `]` but found `function`
            The line is: function first() {}
    "#]],
    );
    check(
        &[("a.ts", "const x = 1\nconst x = 2")],
        &expect![[r#"
        a.ts:2:7: Identifier `x` has already been declared
            The line is: const x = 2
    "#]],
    );
    check(
        &[("a.ts", "const ü = '🌳'; const = 2")],
        &expect![[r#"
        a.ts:1:23: Unexpected token
            The line is: const ü = '🌳'; const = 2
    "#]],
    );
    check(
        &[("a.ts", "const r = /(/")],
        &expect![[r#"
        a.ts:1:12: Invalid regular expression: Unterminated capturing group
            Add the missing closing delimiter
    "#]],
    );
    check(
        &[("a.js", "const x: number = 1")],
        &expect![[r#"
        a.js:1:7: Missing initializer in const declaration
            Add an initializer (e.g. ` = undefined`) here
        a.js:1:8: Expected a semicolon or an implicit semicolon after a statement, but found none
            Try inserting a semicolon here
    "#]],
    );
}

#[test]
fn a_name_that_is_not_exported_is_found_at_the_import() {
    check(
        &[
            (
                "a.ts",
                "import { findTrees, chop, Tree, findTree, bark } from './steps/tree-steps'\nimport it from './steps/tree-steps'\nexport const steps = [findTrees, chop, Tree, findTree, it, bark]",
            ),
            (
                "steps/tree-steps.ts",
                "export const findTree = 1; export type Tree = 1; export * from './bark'",
            ),
            ("steps/bark.ts", "export const bark = 1"),
        ],
        &expect![[r#"
            a.ts:1:10: './steps/tree-steps' does not export `findTrees`
                Did you mean `findTree`?
            a.ts:1:21: './steps/tree-steps' does not export `chop`
                It exports `bark`, `findTree`.
            a.ts:1:27: './steps/tree-steps' does not export `Tree`
                `Tree` is a type: write `import type` or `export type`.
            a.ts:2:8: './steps/tree-steps' has no default export
                It exports `bark`, `findTree`.
        "#]],
    );
    check(
        &[("a.ts", "export { x } from './b'"), ("b.ts", "const x = 1")],
        &expect![[r#"
        a.ts:1:10: './b' does not export `x`
            It exports nothing; put `export` before what others need.
    "#]],
    );
    check(&[("a.ts", "export { x } from './b'"), ("b.ts", "export * from 'zod'")], &expect![""]);
}

#[test]
fn a_name_that_rival_does_not_export_is_found_when_its_names_are_known() {
    let source = "import { creatWorkflow, StepError, type Step } from 'rival'\nexport const x = [creatWorkflow, StepError]";
    let folder = Folder::new(&[("a.ts", source)]);
    let mut program = folder.load(&["a.ts"]);
    assert_eq!(folder.shown(&program, "a.ts"), "");
    program.check_builtin("rival", &["createWorkflow", "StepError"].into());
    expect![[r#"
        a.ts:1:10: 'rival' does not export `creatWorkflow`
            Did you mean `createWorkflow`?
    "#]]
    .assert_eq(&folder.shown(&program, "a.ts"));
}

#[test]
fn a_circle_is_named_once() {
    let files = [
        ("a.ts", "import { b } from './lib/b'\nexport const a = () => b"),
        ("lib/b.ts", "import { c } from '../c'\nexport const b = () => c"),
        ("c.ts", "\nimport { a } from './a'\nexport const c = () => a"),
        ("d.ts", "import { a } from './a'\nexport const steps = [a]"),
        ("e.ts", "export const steps = []"),
    ];
    let folder = Folder::new(&files);
    let program = folder.load(&["a.ts", "c.ts", "d.ts", "e.ts"]);
    expect![[r#"
        a.ts:1:19: files import each other in a circle: a.ts -> lib/b.ts -> c.ts -> a.ts
            Move what both need into a file of its own. For types alone, write `import type`.
    "#]]
    .assert_eq(&folder.shown(&program, "a.ts"));
    for entry in ["c.ts", "d.ts"] {
        assert_eq!(folder.shown(&program, entry), folder.shown(&program, "a.ts"));
    }
    assert_eq!(folder.shown(&program, "e.ts"), "");
    check(
        &[("a.ts", "import * as me from './a'\nexport const steps = [me]")],
        &expect![[r#"
        a.ts:1:21: files import each other in a circle: a.ts -> a.ts
            Move what both need into a file of its own. For types alone, write `import type`.
    "#]],
    );
}

#[test]
fn types_may_go_in_circles() {
    check(
        &[
            ("a.ts", "import { B } from './b'\nexport interface A { b?: B }\nexport const a = 1"),
            ("b.ts", "import { a, type A } from './a'\nexport interface B { a?: A }\nexport const b = a"),
        ],
        &expect![""],
    );
}

#[test]
fn workflows_of_later_and_functions_may_mention_each_other() {
    check(
        &[
            ("a.ts", "export const a = async () => (await import('./b')).b"),
            ("b.ts", "import { a } from './a'\nexport const b = a"),
        ],
        &expect![""],
    );
}

#[test]
fn a_file_that_is_not_there_is_guessed() {
    check(
        &[("a.ts", "import './steps/treesteps'"), ("steps/tree-steps.ts", "")],
        &expect![[r#"
        a.ts:1:8: cannot find './steps/treesteps'
            Did you mean './steps/tree-steps.ts'?
    "#]],
    );
    check(
        &[("a.ts", "import './Steps'"), ("steps.ts", "")],
        &expect![[r#"
        a.ts:1:8: cannot find './Steps'
            Did you mean './steps.ts'?
    "#]],
    );
    check(
        &[("a.ts", "import './picture.png'"), ("picture.png", "")],
        &expect![[r#"
        a.ts:1:8: './picture.png' is no module: picture.png
            Import .ts, .mts, .js, .mjs or .json files.
    "#]],
    );
    check(
        &[("a.ts", "import 'https://esm.example/x'")],
        &expect![[r#"
        a.ts:1:8: 'https://esm.example/x' is an address, not a module
            Install the package with npm and import it by its name.
    "#]],
    );
}

#[test]
fn what_no_script_host_runs_is_refused() {
    check(
        &[("a.ts", "const fs = require('fs')\nmodule.exports = { steps: [] }\nexports.x = 1")],
        &expect![[r#"
            a.ts:1:12: there is no `require` here
                Write `import x from 'fs'`.
            a.ts:2:1: this file is a CommonJS module
                Write `export` instead.
            a.ts:3:1: this file is a CommonJS module
                Write `export` instead.
        "#]],
    );
    check(
        &[("a.ts", "@sealed class A { accessor x = 1 }\nexport function f() { using x = open() }")],
        &expect![[r#"
            a.ts:1:1: decorators are not supported
                Call the decorator as a function instead.
            a.ts:1:19: `accessor` is not supported
                Write `get` and `set`, or a plain field.
            a.ts:2:23: `using` is not supported
                Write `try { … } finally { … }`.
        "#]],
    );
    check(
        &[("a.ts", "import x = require('y')\nexport = x")],
        &expect![[r#"
        a.ts:1:1: there is no `require` here
            Write `import x from '…'`.
        a.ts:2:1: `export =` is for CommonJS modules
            Write `export default` instead.
    "#]],
    );
}

#[test]
fn json_is_data_with_a_default_export() {
    let folder = Folder::new(&[
        ("a.ts", "import data from './data.json' with { type: 'json' }\nexport const steps = [data]"),
        ("data.json", "{\"__proto__\": \"it\u{2028}s\"}\n"),
    ]);
    let program = folder.load(&["a.ts"]);
    assert_eq!(folder.shown(&program, "a.ts"), "");
    expect![[r#"
        import data from "./data.json";
        export const steps = [data];
    "#]]
    .assert_eq(&program.modules[&folder.path("a.ts")].code);
    expect![[r#"
        export default JSON.parse("{\"__proto__\": \"it\u2028s\"}\n");
    "#]]
    .assert_eq(&program.modules[&folder.path("data.json")].code);
    check(
        &[
            ("a.ts", "import { one } from './data.json'\nexport const steps = [one]"),
            ("data.json", "{\"one\": 1}"),
        ],
        &expect![[r#"
            a.ts:1:10: './data.json' does not export `one`
                A JSON file has a default export only: `import data from './data.json'`.
        "#]],
    );
    check(
        &[("a.ts", "import data from './data.json'\nexport const x = data"), ("data.json", "{\n  one: 1}")],
        &expect![[r#"
            data.json:2:3: this is not JSON: key must be a string at line 2 column 3
                JSON has no comments, and its keys are in double quotes.
        "#]],
    );
}
