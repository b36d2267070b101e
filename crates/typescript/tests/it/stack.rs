use expect_test::expect;

use crate::folder::Folder;

const SOURCE: &str = "interface Tree { id: string }

// A comment that goes.
type Gone = {
    a: number
}

export function chop(tree: Tree): never {
    const name: string = 'é🌳'; throw new Error(tree.id)
}
";

/// Where a piece of text is, as QuickJS counts: columns in bytes.
fn find(code: &str, text: &str) -> (u32, u32) {
    let at = code.find(text).unwrap();
    let line = code[..at].matches('\n').count() + 1;
    let column = at - code[..at].rfind('\n').map_or(0, |at| at + 1) + 1;
    (u32::try_from(line).unwrap(), u32::try_from(column).unwrap())
}

#[test]
fn places_in_code_are_places_in_typescript() {
    let folder = Folder::new(&[("a.ts", SOURCE)]);
    let program = folder.load(&["a.ts"]);
    let path = folder.path("a.ts");
    let code = &program.modules[&path].code;
    let (line, column) = find(code, "throw");
    assert_ne!(line, 9, "the types are gone, so lines differ");
    assert_eq!(program.origin(&path, line, column), Some((9, 33)));
    let (line, column) = find(code, "const name");
    assert_eq!(program.origin(&path, line, column), Some((9, 5)));
    assert_eq!(program.origin(&path, 1000, 1), None);
    assert_eq!(program.origin(&folder.path("gone.ts"), 1, 1), None);
}

#[test]
fn columns_count_what_editors_count() {
    let source = "export const f = (a: string) => 'é🌳' + g(a)\n";
    let folder = Folder::new(&[("a.ts", source)]);
    let program = folder.load(&["a.ts"]);
    let path = folder.path("a.ts");
    let (line, column) = find(&program.modules[&path].code, "g(a)");
    assert_eq!(program.origin(&path, line, column), Some((1, 41)));
}

#[test]
fn stacks_name_files_and_lines_of_the_author() {
    let folder = Folder::new(&[("flows/a.ts", SOURCE), ("flows/b.ts", "export const b = 1")]);
    let program = folder.load(&["flows/a.ts"]);
    let path = folder.path("flows/a.ts");
    let (line, column) = find(&program.modules[&path].code, "throw");
    let place = format!("{}:{line}:{column}", path.display());
    let stack = format!(
        "Error: oak (1)\n    at chop ({place})\n    at map (native)\n    at <anonymous> ({place})\n    at {place}\n    at call (rival:12:3)\n    at <eval> (prelude.js:1:1)\n    at parse (zod:7)\n"
    );
    expect![[r#"
        Error: oak (1)
            at chop (flows/a.ts:9:33)
            at map (native)
            at <anonymous> (flows/a.ts:9:33)
            at flows/a.ts:9:33"#]]
    .assert_eq(&program.map_stack(&stack, &folder.root()));
    assert_eq!(program.first_place(&stack), Some((path, 9, 33)));
    assert_eq!(program.first_place("    at call (rival:12:3)\n    at map (native)"), None);
}
