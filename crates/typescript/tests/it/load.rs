use std::sync::Arc;

use expect_test::expect;

use crate::folder::Folder;

const TREE: &str = "
import { z } from 'zod'
import { findTree, type Tree } from './steps/tree-steps'
import type { Saw } from './saw'

export const input = z.object({ treeType: z.string() })
enum Size { Small = 1, Large }

function chopTree({ steps }: { steps: Record<string, Tree> }, saw?: Saw): Size {
    return Size.Large as Size
}

export const steps = [findTree, chopTree, { fn: chopTree, timeout: 10 }] satisfies unknown[]
";

#[test]
fn types_vanish_and_values_stay() {
    let folder = Folder::new(&[
        ("tree.ts", TREE),
        (
            "steps/tree-steps.ts",
            "export interface Tree { id: string }\nexport const findTree = () => ({ id: 'oak' }) as Tree",
        ),
    ]);
    let program = folder.load(&["tree.ts"]);
    expect![""].assert_eq(&folder.shown(&program, "tree.ts"));
    expect![[r#"
        import { z } from "zod";
        import { findTree } from "./steps/tree-steps";
        export const input = z.object({ treeType: z.string() });
        var Size = function(Size) {
        	Size[Size["Small"] = 1] = "Small";
        	Size[Size["Large"] = 2] = "Large";
        	return Size;
        }(Size || {});
        function chopTree({ steps }, saw) {
        	return Size.Large;
        }
        export const steps = [
        	findTree,
        	chopTree,
        	{
        		fn: chopTree,
        		timeout: 10
        	}
        ];
    "#]]
    .assert_eq(&program.modules[&folder.path("tree.ts")].code);
}

#[test]
fn an_entry_needs_what_it_imports_and_nothing_else() {
    let folder = Folder::new(&[
        ("a.ts", "import { b } from './lib/b'\nexport const steps = [b]"),
        ("lib/b.ts", "export { c as b } from '../c.js'"),
        ("c.ts", "export function c() {}"),
        ("d.ts", "export const steps = []"),
    ]);
    let program = folder.load(&["a.ts", "d.ts"]);
    assert_eq!(folder.names(&program.closure(&folder.path("a.ts"))), ["a.ts", "c.ts", "lib/b.ts"]);
    assert_eq!(folder.names(&program.closure(&folder.path("d.ts"))), ["d.ts"]);
    assert_eq!(folder.names(program.modules.keys()), ["a.ts", "c.ts", "d.ts", "lib/b.ts"]);
}

#[test]
fn a_broken_file_does_not_keep_others_from_loading() {
    let folder = Folder::new(&[
        ("good.ts", "export const steps = [() => 1]"),
        ("bad.ts", "export const steps = [() => ]"),
        ("uses.ts", "import { steps as bad } from './bad'\nexport const steps = [...bad]"),
    ]);
    let program = folder.load(&["good.ts", "bad.ts", "uses.ts"]);
    expect![""].assert_eq(&folder.shown(&program, "good.ts"));
    expect![[r#"
        bad.ts:1:29: Unexpected token
            The line is: export const steps = [() => ]
    "#]]
    .assert_eq(&folder.shown(&program, "bad.ts"));
    assert_eq!(folder.shown(&program, "uses.ts"), folder.shown(&program, "bad.ts"));
    assert_eq!(program.modules[&folder.path("bad.ts")].code, "");
}

#[test]
fn only_what_changed_is_compiled_again() {
    let folder = Folder::new(&[
        ("a.ts", "import { b } from './b'\nexport const steps = [b]"),
        ("b.ts", "export const b = () => 1"),
        ("c.ts", "import { d } from './d'\nexport const steps = [d]"),
        ("d.ts", "export const d = () => 1"),
    ]);
    let before = folder.load(&["a.ts", "c.ts"]);
    folder.write("b.ts", "export const b = () => 2");
    folder.remove("d.ts");
    folder.write("d.js", "export const d = () => 3");
    let after = folder.load_after(&["a.ts", "c.ts"], Some(&before));
    let same = |name: &str| {
        let path = folder.path(name);
        Arc::ptr_eq(&before.modules[&path], &after.modules[&path])
    };
    assert!(same("a.ts"));
    assert!(!same("b.ts"));
    assert!(!same("c.ts"), "its text is the same, but './d' is another file now");
    assert_eq!(folder.names(&after.closure(&folder.path("c.ts"))), ["c.ts", "d.js"]);
    expect![""].assert_eq(&folder.shown(&after, "c.ts"));
}

#[test]
fn problems_go_when_their_cause_is_gone() {
    let folder = Folder::new(&[("a.ts", "import { b } from './b'\nexport const steps = [b]")]);
    let before = folder.load(&["a.ts"]);
    expect![[r#"
        a.ts:1:19: cannot find './b'
            Did you mean './a.ts'?
    "#]]
    .assert_eq(&folder.shown(&before, "a.ts"));
    folder.write("b.ts", "export const b = () => 1");
    expect![""].assert_eq(&folder.shown(&folder.load_after(&["a.ts"], Some(&before)), "a.ts"));
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem_of_its_own() {
    let folder = Folder::new(&[]);
    expect![[r#"
        gone.ts:1:1: the file cannot be read: No such file or directory (os error 2)
            Check that it exists and that you may read it.
    "#]]
    .assert_eq(&folder.problems("gone.ts"));
    folder.write("latin.ts", b"// fine\nconst name = 'Jos\xe9'\n");
    expect![[r#"
        latin.ts:2:18: the file is not text in UTF-8
            Save it in UTF-8.
    "#]]
    .assert_eq(&folder.problems("latin.ts"));
}

#[test]
fn a_byte_order_mark_is_not_code() {
    let folder = Folder::new(&[("a.ts", "\u{feff}export const steps = [1 as number]")]);
    let program = folder.load(&["a.ts"]);
    assert_eq!(program.modules[&folder.path("a.ts")].code, "export const steps = [1];\n");
}

#[test]
fn two_ways_to_one_file_are_one_module() {
    let folder = Folder::new(&[("real/a.ts", "export const steps = []")]);
    std::os::unix::fs::symlink(folder.path("real"), folder.path("link")).unwrap();
    let program = folder.load(&["real/a.ts", "link/a.ts", "real/../real/a.ts"]);
    assert_eq!(folder.names(program.modules.keys()), ["real/a.ts"]);
    for entry in ["real/a.ts", "link/a.ts", "real/../real/a.ts"] {
        assert_eq!(program.path(&folder.path(entry)), folder.path("real/a.ts"));
        assert_eq!(program.closure(&folder.path(entry)).len(), 1);
    }
}
