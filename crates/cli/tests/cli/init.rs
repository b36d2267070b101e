//! Projects: `init`, and `test` of what it writes.

use std::path::Path;
use std::process::Command;

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn a_new_project_is_tested_and_run_as_it_is() {
    let lab = Lab::offline();
    lab.rival(&["init"]).is(&expect![[r#"
          workflows/hello.ts
          tests/hello.test.ts
          rival.toml
          tsconfig.json
          .gitignore
          README.md
          .rival/types

        Next:
          rival test  # run its test
          rival dev  # a server that loads files again when you save them
          rival run hello --input '{"name": "Ada"}' --wait  # in a second terminal
    "#]]);
    lab.rival(&["test"]).is(&expect![[r#"
        tests/hello.test.ts
          pass  hello > greets by name, in the second attempt  <took>
          pass  hello > does not need the address book  <took>
          pass  hello > has ten chairs  <took>

        3 passed in <took>
    "#]]);
    lab.rival(&["run", "hello", "-i", r#"{"name": "Ada", "guests": ["Grace"]}"#, "--wait"]).is(&expect![[
        r#"
            "Hello, Ada! And you, Grace."
            ! run <id>
        "#
    ]]);
}

#[test]
fn init_overwrites_nothing() {
    let lab = Lab::offline();
    lab.write("shop/rival.toml", "# mine\n");
    lab.rival(&["init", "shop"]).is(&expect![[r#"
        ! error: shop has rival.toml already: nothing was written
        ! hint: name another folder: `rival init my-workflows`
        exit 1
    "#]]);
    assert!(!lab.path("shop/workflows").exists());
    lab.rival(&["init", "other"]).ok();
    lab.rival(&["init", "other"]).is(&expect![[r#"
        ! error: other has workflows/hello.ts and 7 more of its files already: nothing was written
        ! hint: name another folder: `rival init my-workflows`
        exit 1
    "#]]);
}

/// Where there is a project already, its own files stay, and what they need is said.
#[test]
fn init_joins_a_project() {
    let lab = Lab::offline();
    lab.write("tsconfig.json", "{}\n");
    lab.write("README.md", "# Mine\n");
    lab.rival(&["init"]).is(&expect![[r#"
          workflows/hello.ts
          tests/hello.test.ts
          rival.toml
          .gitignore
          .rival/types

        Next:
          rival test  # run its test
          rival dev  # a server that loads files again when you save them
          rival run hello --input '{"name": "Ada"}' --wait  # in a second terminal
        ! tsconfig.json was there and is left as it was: for the types of your editor, give its compilerOptions these paths:
        !       "paths": { "rival": ["./.rival/types/rival.d.ts"], "rival/*": ["./.rival/types/rival-*.d.ts"] }
        !     and include ".rival/types/*.d.ts"; "moduleResolution" is "Bundler"
        ! README.md was there and is left as it was
    "#]]);
    assert_eq!(std::fs::read_to_string(lab.path("tsconfig.json")).unwrap(), "{}\n");
    assert!(lab.path("workflows/hello.ts").exists() && lab.path(".gitignore").exists());
}

/// Editors say what the compiler says.
#[test]
fn a_new_project_compiles() {
    let lab = Lab::offline();
    lab.rival(&["init"]).ok();
    let tsc =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/rival/node_modules/typescript/lib/tsc.js");
    let project = lab.path("tsconfig.json");
    let output = Command::new("node").arg(tsc).arg("--project").arg(project).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_test_says_what_is_never_answered() {
    let lab = Lab::offline();
    lab.write("rate.ts", "async function rate() { return (await fetch('https://rates.example/eur')).json() }\nexport const steps = [rate]\n");
    lab.write(
        "never.ts",
        "function never() { return new Promise(() => {}) }\nexport const steps = [never]\n",
    );
    let text = "
import { expect, runWorkflow, test } from 'rival/test'
test('a request', async () => {
    expect((await runWorkflow('./rate.ts')).error).toBe(null)
})
test('a promise', async () => {
    await runWorkflow('./never.ts')
})
test('a request that the test answers', async () => {
    expect((await runWorkflow('./rate.ts', { fetch: { 'https://rates.example/*': 2 } })).output).toBe(2)
})
";
    lab.write("a.test.ts", text);
    lab.rival(&["test"]).is(&expect![[r#"
        a.test.ts
          FAIL  a request  <took>
                no mock takes the request GET https://rates.example/eur; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests
          FAIL  a promise  <took>
          pass  a request that the test answers  <took>

        1 passed, 2 failed in <took>
        ! 
        ! FAIL a.test.ts: a request
        !     expect(..).toBe(..) failed
        !       expected: null
        !       received: {
        !       code: 'error',
        !       message: "no mock takes the request GET https://rates.example/eur; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests",
        !       origin: { class: 'TypeError' }
        !     }
        !         at <anonymous> (a.test.ts:4:57)
        !     its run of `rate` failed at `rate`: TypeError: no mock takes the request GET https://rates.example/eur; add one to `fetch` in the options of the run, or write `fetch: 'real'` to send its requests (error)
        ! 
        ! FAIL a.test.ts: a promise
        !     the run waits for `never`, attempt 1, called <took> ago, and no amount of time will change that
        !         at <anonymous> (a.test.ts:7:11)
        exit 1
    "#]]);
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
    lab.write("two.test.ts", "import { nobody } from './one'\nnobody()\n");
    lab.rival(&["test"]).is(&expect![[r#"
        one.test.ts
          pass  one > is one  <took>
                counting
          FAIL  one > is two  <took>

        1 passed, 1 failed, 1 problem in the files in <took>
        ! 
        ! FAIL one.test.ts: one > is two
        !     expect(..).toBe(..) failed
        !       expected: 2
        !       received: 1
        !         at <anonymous> (one.test.ts:10:28)
        ! 
        ! problem: two.test.ts:1:10: './one' does not export `nobody`
        !     It exports `steps`.
        exit 1
    "#]]);
    lab.rival(&["test", "--only", "is one", "one.test.ts"]).is(&expect![[r#"
        one.test.ts
          pass  one > is one  <took>
                counting

        1 passed in <took>
    "#]]);
    lab.rival(&["test", "one.test.ts", "-o", "ids"]).is(&expect![[r#"
        one > is one
        one > is two
        ! 
        ! FAIL one.test.ts: one > is two
        !     expect(..).toBe(..) failed
        !       expected: 2
        !       received: 1
        !         at <anonymous> (one.test.ts:10:28)
        exit 1
    "#]]);
    let printed = lab.rival(&["test", "one.test.ts", "-o", "json"]);
    assert_eq!(printed.out.lines().count(), 2, "{}", printed.out);
    assert_eq!(printed.code, 1);
}

#[test]
fn where_there_are_no_tests_that_is_an_error() {
    let lab = Lab::offline();
    lab.rival(&["test"]).is(&expect![[r#"
        ! error: there are no tests in .
        ! hint: tests are in files that end in .test.ts
        exit 4
    "#]]);
    lab.rival(&["test", "nowhere"]).is(&expect![[r#"
        ! error: nowhere cannot be read: No such file or directory (os error 2)
        exit 4
    "#]]);
}

/// A slip in the name would be green otherwise, in CI for instance.
#[test]
fn a_test_that_is_not_there_is_not_found() {
    let lab = Lab::offline();
    lab.rival(&["init"]).ok();
    lab.rival(&["test", "--only", "greats"]).is(&expect![[r#"
        ! error: no test has `greats` in its name
        ! hint: `rival test` without --only shows their names
        exit 4
    "#]]);
}

/// `tsc` alone is another package of npm.
#[test]
fn the_readme_of_a_project_installs_the_compiler_that_it_names() {
    let lab = Lab::offline();
    lab.rival(&["init"]).ok();
    let readme = std::fs::read_to_string(lab.path("README.md")).unwrap();
    let install = readme.find("npm install -D typescript").expect("it says how to install the compiler");
    assert!(readme.find("npx tsc").is_some_and(|check| install < check), "{readme}");
}

#[test]
fn the_settings_of_a_project_show_how_scripts_see_a_variable() {
    let lab = Lab::offline();
    lab.rival(&["init"]).ok();
    let settings = std::fs::read_to_string(lab.path("rival.toml")).unwrap();
    lab.write("rival.toml", &settings.replace("# script_env", "script_env"));
    assert!(lab.rival(&["config", "print"]).ok().contains("script_env  API_KEY  rival.toml:"));
}

#[test]
fn a_failed_test_shows_why_its_run_failed() {
    let lab = Lab::offline();
    lab.write(
        "order.ts",
        "function charge({ input }) {\n    return input.card.number\n}\nexport const steps = [charge]\n",
    );
    lab.write(
        "order.test.ts",
        "import { expect, runWorkflow, test } from 'rival/test'
test('is paid', async () => {
    const run = await runWorkflow('./order.ts', { input: {} })
    expect(run.status).toBe('completed')
})
",
    );
    lab.rival(&["test"]).is(&expect![[r#"
        order.test.ts
          FAIL  is paid  <took>

        0 passed, 1 failed in <took>
        ! 
        ! FAIL order.test.ts: is paid
        !     expect(..).toBe(..) failed
        !       expected: 'completed'
        !       received: 'failed'
        !         at <anonymous> (order.test.ts:4:24)
        !     its run of `order` failed at `charge`: TypeError: cannot read property 'number' of undefined (error)
        !        --> order.ts:2:12
        !       1 | function charge({ input }) {
        !       2 |  return input.card.number
        !         |  ^
        !       3 | }
        exit 1
    "#]]);
    let told = lab.raw(&["test", "-o", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["failure"]["runs"][0]["failedStep"]["stepName"], "charge");
}

/// Only what a test names is there for its runs.
#[test]
fn a_child_that_a_test_does_not_bring_is_told_how_to_come() {
    let lab = Lab::offline();
    lab.write("child.ts", "export const steps = [function one() { return 1 }]\n");
    lab.write(
        "parent.ts",
        "async function asks({ durable }) { return await durable.run('child', {}) }\nexport const steps = [asks]\n",
    );
    let test = |more: &str| {
        format!(
            "import {{ expect, runWorkflow, test }} from 'rival/test'
test('asks', async () => {{
    const run = await runWorkflow('./parent.ts', {{ {more} }})
    expect(run.status).toBe('completed')
}})
"
        )
    };
    lab.write("parent.test.ts", &test(""));
    let told = lab.rival(&["test"]).all();
    assert!(told.contains("no workflow is called `child`; registered are: parent"), "{told}");
    assert!(told.contains("add the child's file, `workflows: ['../workflows/…ts']`"), "{told}");
    lab.write("parent.test.ts", &test("workflows: ['./child.ts']"));
    lab.rival(&["test"]).ok();
}
