//! Projects: `init`, and `test` of what it writes.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn a_new_project_is_tested_and_run_as_it_is() {
    let lab = Lab::offline();
    lab.rival(&["init"]).is(&expect![[r#""#]]);
    lab.rival(&["test"]).is(&expect![[r#""#]]);
    lab.rival(&["run", "hello", "-i", r#"{"name": "Ada", "guests": ["Grace"]}"#, "--wait"]).is(&expect![[r#""#]]);
}

#[test]
fn init_overwrites_nothing() {
    let lab = Lab::offline();
    lab.write("shop/rival.toml", "# mine\n");
    lab.rival(&["init", "shop"]).is(&expect![[r#""#]]);
    assert!(!lab.path("shop/workflows").exists());
    lab.rival(&["init", "other"]).ok();
    lab.rival(&["init", "other"]).is(&expect![[r#""#]]);
}

/// Editors say what the compiler says.
#[test]
fn a_new_project_compiles() {
    let lab = Lab::offline();
    lab.rival(&["init"]).ok();
    let tsc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/js/node_modules/typescript/lib/tsc.js");
    let project = lab.path("tsconfig.json");
    let output = Command::new("node").arg(tsc).arg("--project").arg(project).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_failed_test_says_where() {
    let lab = Lab::offline();
    lab.write("one.ts", "function one() { return 1 }\nexport const steps = [one]\n");
    let text = "
import { describe, expect, runWorkflow, test } from 'rival/test'
describe('one', () => {
    test('is one', async () => {
        console.log('counting')
        expect((await runWorkflow('./one.ts')).output).toBe(1)
    })
    test('is two', async () => {
        const run = await runWorkflow('./one.ts')
        expect(run.output).toBe(2)
    })
})
";
    lab.write("one.test.ts", text);
    lab.write("two.test.ts", "import { nobody } from './one'\n");
    lab.rival(&["test"]).is(&expect![[r#""#]]);
    lab.rival(&["test", "--only", "is one", "one.test.ts"]).is(&expect![[r#""#]]);
    lab.rival(&["test", "one.test.ts", "-o", "ids"]).is(&expect![[r#""#]]);
    let printed = lab.rival(&["test", "one.test.ts", "-o", "json"]);
    assert_eq!(printed.out.lines().count(), 2, "{}", printed.out);
    assert_eq!(printed.code, 1);
}

#[test]
fn where_there_are_no_tests_that_is_an_error() {
    let lab = Lab::offline();
    lab.rival(&["test"]).is(&expect![[r#""#]]);
    lab.rival(&["test", "nowhere"]).is(&expect![[r#""#]]);
}
