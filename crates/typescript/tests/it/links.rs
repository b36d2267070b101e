use expect_test::{Expect, expect};
use rival_typescript::ModuleLink;

use crate::folder::Folder;

/// The links of `a.ts`, beside `b.ts` and `c.ts`.
fn links(source: &str, expected: &Expect) {
    let folder =
        Folder::new(&[("a.ts", source), ("b.ts", "export const b = 1"), ("sub/c.ts", "export const c = 1")]);
    let program = folder.load(&["a.ts"]);
    let links = program.modules[&folder.path("a.ts")].links.iter().map(|(specifier, link)| match link {
        ModuleLink::File(path) => format!("{specifier} -> {}\n", folder.names([path])[0]),
        ModuleLink::Builtin(name) => format!("{specifier} => {name}\n"),
        ModuleLink::Empty(names) => format!("{specifier} => nothing {names:?}\n"),
        ModuleLink::Refused(why) => format!("{specifier} => refused: {why}\n"),
    });
    let problems = folder.shown(&program, "a.ts");
    expected.assert_eq(&(links.collect::<String>() + &problems));
}

#[test]
fn modules_that_rival_brings_have_one_name() {
    links(
        "import { z } from 'zod'; import { z as z4 } from 'zod/v4'; import * as rival from 'rival'; import { run } from 'rival/test'
         export const used = [z, z4, rival, run]",
        &expect![[r#"
            rival => rival
            rival/test => rival/test
            zod => zod
            zod/v4 => zod
        "#]],
    );
    links(
        "import 'rival/tests'",
        &expect![[r#"
            a.ts:1:8: there is no module 'rival/tests'
                There are 'rival', 'rival/document' and, for tests, 'rival/test'.
        "#]],
    );
}

#[test]
fn imports_for_types_are_no_links() {
    links(
        "import type { A } from './gone'; import { type B } from './gone'; import { C } from './gone'; export type { D } from './gone'
         export const x = (a: A, b: B): C => 1 as C",
        &expect![""],
    );
}

#[test]
fn every_way_to_mention_a_file_is_a_link() {
    links(
        "import './b'; export * from './sub/c'
         export const later = () => import('./b.ts')",
        &expect![[r#"
            ./b -> b.ts
            ./b.ts -> b.ts
            ./sub/c -> sub/c.ts
        "#]],
    );
    links(
        "import { workflow as nested, registerWorkflowFile, createWorkflow } from 'rival'
         const b = nested('./b.ts')
         registerWorkflowFile(`./sub/c`)
         export default createWorkflow('x').workflow('./sub/c.ts', { name: 'c' }).build()",
        &expect![[r#"
            ./b.ts -> b.ts
            ./sub/c -> sub/c.ts
            ./sub/c.ts -> sub/c.ts
            rival => rival
        "#]],
    );
    links(
        "import * as rival from 'rival'
         export const steps = [rival.workflow('./b.ts')]",
        &expect![[r#"
            ./b.ts -> b.ts
            rival => rival
        "#]],
    );
}

#[test]
fn a_function_of_the_same_name_is_another_function() {
    links(
        "import { createWorkflow } from 'rival'
         const workflow = (name: string) => name
         export const x = [workflow('./gone.ts'), createWorkflow('x')]
         export function f(registerWorkflowFile: (path: string) => void, path: string) { registerWorkflowFile(path) }",
        &expect![[r#"
            rival => rival
        "#]],
    );
}

#[test]
fn a_path_that_is_computed_is_refused() {
    links(
        "import { workflow } from 'rival'
         const file = './b.ts'
         export const steps = [workflow(file), workflow('b.ts'), workflow()]",
        &expect![[r#"
            rival => rival
            a.ts:3:41: `workflow()` takes the path of a file, written out
                Files are found before anything runs. Write `workflow('./file.ts')`; to use a workflow that is a value, put the value itself into `steps`.
            a.ts:3:57: `workflow('b.ts')` does not name a file
                Write the path from this file: `workflow('./b.ts')`.
            a.ts:3:66: `workflow()` takes the path of a file, written out
                Files are found before anything runs. Write `workflow('./file.ts')`; to use a workflow that is a value, put the value itself into `steps`.
        "#]],
    );
    links(
        "export const load = (name: string) => import('./' + name)",
        &expect![[r#"
            a.ts:1:39: `import()` takes the name of a module, written out
                Files are found before anything runs. Import each of them: `await import('./file.ts')`.
        "#]],
    );
}

#[test]
fn a_registered_file_has_problems_of_its_own() {
    let folder = Folder::new(&[
        (
            "main.ts",
            "import { registerWorkflowFile, workflow } from 'rival'\nregisterWorkflowFile('./bad.ts')",
        ),
        ("uses.ts", "import { workflow } from 'rival'\nexport const steps = [workflow('./bad.ts')]"),
        ("bad.ts", "export const steps = ["),
    ]);
    let program = folder.load(&["main.ts", "uses.ts"]);
    expect![""].assert_eq(&folder.shown(&program, "main.ts"));
    assert_eq!(folder.names(&program.closure(&folder.path("main.ts"))), ["main.ts"]);
    assert_ne!(folder.shown(&program, "bad.ts"), "");
    assert_eq!(folder.shown(&program, "uses.ts"), folder.shown(&program, "bad.ts"));
}

#[test]
fn step_names_are_the_identifiers_of_the_list() {
    let names = |source: &str| {
        let folder = Folder::new(&[("a.ts", source)]);
        let program = folder.load(&["a.ts"]);
        let names = &program.modules[&folder.path("a.ts")].step_names;
        names.iter().map(|name| name.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("export const steps = [a, { fn: b }, () => 1, c as any, d!, , e]"), "a - - c d - e");
    assert_eq!(names("export const steps: Step[] = [a, b] as const"), "a b");
    assert_eq!(names("const list = [a, b]; export { list as steps }"), "a b");
    assert_eq!(names("export const steps = [a, ...more, b]"), "a");
    assert_eq!(names("export const steps = make()"), "");
    assert_eq!(names("const steps = [a]; export const other = [b]"), "");
}

#[test]
fn exports_and_steps_have_places() {
    let source = "import { z } from 'zod'
type Gone = { a: 1 }
export const input = z.object({}), name = 'x'
const list = [
    first,
    { fn: first },
    ...more,
]
export { list as steps }
export default function first(gone: Gone) {}
export enum Size { S }
";
    let folder = Folder::new(&[("a.ts", source)]);
    let program = folder.load(&["a.ts"]);
    let module = &program.modules[&folder.path("a.ts")];
    let places = ["input", "name", "steps", "default", "Size", "none"].map(|name| module.export_place(name));
    assert_eq!(places, [Some((3, 14)), Some((3, 36)), Some((9, 18)), Some((10, 1)), Some((11, 13)), None]);
    assert_eq!([0, 1, 2].map(|at| module.step_place(at)), [Some((5, 5)), Some((6, 5)), None]);
}
