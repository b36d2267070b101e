//! Workflows in TypeScript files: served, loaded again, and what is wrong with them.

use expect_test::expect;

use crate::lab::Lab;

const HELLO: &str = "
import { z } from 'zod'
export const input = z.object({ name: z.string().min(2) })
function greet({ input }) { return `Hello, ${input.name}` }
export const steps = [greet]
";

const BROKEN: &str = "function step() { return 1 }\nexport const steps = [step, nobody]\n";

/// A server for files of a folder.
fn serving(files: &[(&str, &str)], args: &[&str]) -> Lab {
    let mut lab = Lab::offline();
    for (name, text) in files {
        lab.write(&format!("flows/{name}"), text);
    }
    lab.start(args);
    lab
}

#[test]
fn files_of_a_folder_are_served() {
    let lab = serving(&[("hello.ts", HELLO)], &["serve", "flows"]);
    lab.rival(&["workflows"]).is(&expect![[r#"
        WORKFLOW  STEPS  PLAN  ABOUT
        hello  1  <hash>…
    "#]]);
    lab.rival(&["run", "hello", "-i", r#"{"name": "Ada"}"#, "--wait"]).is(&expect![[r#"
        "Hello, Ada"
        ! run <id>
    "#]]);
    // As zod says it.
    lab.rival(&["run", "hello", "-i", r#"{"name": "A"}"#]).is(&expect![[r#"
        ! error: the input of workflow `hello` is not valid: /name: Too small: expected string to have >=2 characters
        ! hint: try `rival run hello --input '{"name":"text"}'`; `rival workflows hello` shows what it takes
        exit 1
    "#]]);
    lab.rival(&["validate", "hello", "-i", "{}"]).is(&expect![[r#"
        /name: Invalid input: expected string, received undefined
        ! error: the input does not fit workflow `hello`
        exit 1
    "#]]);
}

#[test]
fn a_broken_file_is_shown_and_the_others_are_served() {
    let mut lab = serving(&[("hello.ts", HELLO), ("broken.ts", BROKEN)], &["serve", "flows"]);
    lab.rival(&["workflows", "-o", "ids"]).is(&expect![[r#"
        hello
        ! problem: flows/broken.ts:2:29: ReferenceError: nobody is not defined
        !     nothing in this file is called `nobody`: declare it, import it, or mend its spelling
    "#]]);
    assert_eq!(problems(&lab).len(), 1);
    let log = lab.server().log.lock().unwrap().clone();
    assert!(log.contains("flows/broken.ts:2:"), "{log}");
}

/// What is wrong with files, as the doctor says it.
fn problems(lab: &Lab) -> Vec<String> {
    let findings = lab.rival(&["doctor", "-o", "json"]).json();
    let found = findings.as_array().unwrap().iter().filter(|found| found["about"] == "workflows");
    let found = found.filter(|found| found["result"] == "problem");
    found.map(|found| found["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let lab = Lab::offline();
    lab.rival(&["serve", "nowhere", "--listen", "127.0.0.1:0"]).is(&expect![[r#"
        ! error: nowhere cannot be read: No such file or directory (os error 2)
        ! hint: name a file, or a folder of workflow files
        exit 4
    "#]]);
}

/// Asks until the answer is as it should be. A run that never ends fails the test by its own limit.
fn until(lab: &Lab, args: &[&str], says: &str) {
    while !lab.rival(args).all().contains(says) {}
}

#[test]
fn dev_loads_changed_files() {
    let waits = "
        import { createWorkflow } from 'rival'
        export default createWorkflow('w').signal('go').step(function last() { return 'first' })
    ";
    let lab = serving(&[("w.ts", waits)], &["dev", "flows"]);
    lab.rival(&["run", "w", "--id", "old"]).ok();
    lab.until("old", "waits for the signal");
    // New runs take the new function, and so does the next call of one that is under way.
    lab.write("flows/w.ts", &waits.replace("'first'", "'second'"));
    lab.write("flows/new.ts", HELLO);
    until(&lab, &["workflows", "-o", "ids"], "new");
    lab.rival(&["run", "w", "--id", "new"]).ok();
    for run in ["old", "new"] {
        lab.rival(&["signal", run, "go"]).ok();
    }
    lab.rival(&["wait", "old", "new"]).is(&expect![[r#"
        old  completed  "second"
        new  completed  "second"
    "#]]);
    // A broken edit leaves what was good, and says what is wrong.
    lab.write("flows/w.ts", BROKEN);
    until(&lab, &["workflows"], "problem: flows/w.ts:2:");
    let stale = "its file cannot be loaded as it is now: `w` runs as it was before";
    let started = lab.rival(&["run", "w", "--id", "third"]);
    assert_eq!(started.code, 0);
    assert!(started.err.contains("ReferenceError: nobody is not defined"), "{}", started.err);
    assert!(started.err.contains(stale), "{}", started.err);
    assert!(lab.rival(&["workflows", "w"]).err.contains(stale));
    // Not what is wrong elsewhere, and nothing beside what programs read.
    assert_eq!(lab.rival(&["run", "new", "-i", r#"{"name": "Ada"}"#]).err.matches("problem").count(), 0);
    assert_eq!(lab.rival(&["run", "w", "-o", "ids"]).err, "");
    lab.rival(&["signal", "third", "go"]).ok();
    lab.rival(&["wait", "third"]).is(&expect![[r#"
        "second"
    "#]]);
    // A file that is gone takes its workflow with it.
    std::fs::remove_file(lab.path("flows/new.ts")).unwrap();
    lab.write("flows/w.ts", waits);
    until(&lab, &["run", "new"], "no workflow is called `new`; registered are: w");
}

#[test]
fn a_mended_file_is_what_the_next_attempt_under_dev_calls() {
    let broken = "
        function fails() { throw new Error('not yet') }
        export const steps = [{ fn: fails, maxAttempts: 1000, backoffMs: 20 }]
    ";
    let mut lab = serving(&[("w.ts", broken)], &["dev", "flows"]);
    lab.rival(&["run", "w", "--id", "r1"]).ok();
    lab.until("r1", "failed, not yet");
    lab.write("flows/w.ts", &broken.replace("throw new Error('not yet')", "return 'mended'"));
    lab.rival(&["wait", "r1"]).is(&expect![[r#"
        "mended"
    "#]]);
    let log = lab.server().log.lock().unwrap().clone();
    let told =
        "loaded w; runs under way call the new functions from their next attempt on, and keep their plan";
    assert!(log.contains(told), "{log}");
}

#[test]
fn a_workflow_whose_file_is_broken_is_refused_with_what_is_wrong() {
    let lab = serving(&[("hello.ts", HELLO), ("third.ts", BROKEN)], &["serve", "flows"]);
    let told = lab.rival(&["run", "third"]).all();
    assert!(told.contains("no workflow is called `third`; registered are: hello"), "{told}");
    assert!(told.contains("it may be in a file that cannot be loaded:"), "{told}");
    assert!(told.contains("third.ts:2:29: ReferenceError: nobody is not defined"), "{told}");
}

#[test]
fn a_workflow_of_which_every_field_has_a_default_needs_no_input() {
    let text = "
        import { z } from 'zod'
        export const input = z.object({ rows: z.number().default(3), name: z.string().optional() })
        function load({ input }) { return input }
        export const steps = [load]
    ";
    let lab = serving(&[("etl.ts", text), ("hello.ts", HELLO)], &["serve", "flows"]);
    lab.rival(&["run", "etl", "--wait"]).is(&expect![[r#"
        {
          "rows": 3
        }
        ! run <id>
    "#]]);
    assert!(lab.rival(&["run", "hello"]).all().contains("is not valid"));
}

#[test]
fn dev_tells_type_errors_beside_the_others() {
    let typed = "export const steps = [function one(): number { return 'two' }]\n";
    let mut lab = Lab::offline();
    lab.rival(&["init"]).ok();
    lab.write("workflows/typed.ts", typed);
    let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packages/rival/node_modules");
    std::os::unix::fs::symlink(packages, lab.path("node_modules")).unwrap();
    lab.start(&["dev"]);
    // It is loaded all the same.
    lab.rival(&["run", "typed", "--wait"]).is(&expect![[r#"
        "two"
        ! run <id>
    "#]]);
    let log = std::sync::Arc::clone(&lab.server().log);
    let told = "workflows/typed.ts:1:48: Type 'string' is not assignable to type 'number'. (TS2322)";
    while !log.lock().unwrap().contains(told) {
        std::thread::yield_now();
    }
    lab.write("workflows/typed.ts", &typed.replace("'two'", "2"));
    while !log.lock().unwrap().contains("all types are good") {
        std::thread::yield_now();
    }
    // What is wrong with types is not forgotten beside a file that loads again.
    let until = |told: &str| {
        while !log.lock().unwrap().contains(told) {
            std::thread::yield_now();
        }
    };
    lab.write("workflows/typed.ts", "export const step = []\n");
    until("did you mean `steps`?");
    lab.write("workflows/typed.ts", typed);
    until("all files can be loaded");
    while log.lock().unwrap().matches(told).count() < 2 {
        std::thread::yield_now();
    }
    lab.write("workflows/typed.ts", &typed.replace("one", "uno"));
    until("types: still 1 of the same errors");
}

#[test]
fn a_failure_is_shown_with_its_class_its_line_and_the_source_around_it() {
    let text = "interface Row {\n    id: number\n}\n\nfunction load({ input }) {\n    return input.rows.length\n}\nexport const steps = [load]\n";
    let mut lab = serving(&[("etl.ts", text)], &["dev", "flows"]);
    lab.rival(&["run", "etl", "-i", "{}", "--id", "r1", "--wait"]).is(&expect![[r#"
        ! run r1
        ! error: run `r1` failed at `load`: TypeError: cannot read property 'length' of undefined (error)
        !    --> flows/etl.ts:6:12
        !   4 |
        !   5 | function load({ input }) {
        !   6 |  return input.rows.length
        !     |  ^
        !   7 | }
        ! hint: `rival retry r1` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
    lab.rival(&["show", "r1"]).is(&expect![[r#"
        run  r1
        workflow  etl (plan <hash>…)
        status  failed
        started  <time> UTC
        took  <took>
        input  {}
        error  TypeError: cannot read property 'length' of undefined (error) at `load`
           --> flows/etl.ts:6:12
          4 |
          5 | function load({ input }) {
          6 |  return input.rows.length
            |  ^
          7 | }

        STEP  STATUS  TOOK  ATTEMPTS  DETAIL
        load  failed  <took>  1  TypeError: cannot read property 'length' of undefined (flows/etl.ts:6:12)
        ! `rival retry r1` tries again; steps that completed and were not undone are kept
    "#]]);
    lab.rival(&["history", "r1"]).is(&expect![[r#"
        SEQ  TIME (UTC)  EVENT  NODE  WHAT IT MEANS
        1  <clock>  runStarted  started, workflow etl (asked by ada)
        2  <clock>  callStarted  load  started
        3  <clock>  callFailed  load  failed, TypeError: cannot read property 'length' of undefined (flows/etl.ts:6:12)
        4  <clock>  runFailed  load  failed, TypeError: cannot read property 'length' of undefined (flows/etl.ts:6:12)

        3: TypeError: cannot read property 'length' of undefined
           --> flows/etl.ts:6:12
          4 |
          5 | function load({ input }) {
          6 |  return input.rows.length
            |  ^
          7 | }
    "#]]);
    lab.rival(&["logs", "r1"]).is(&expect![[r#"
        <clock>  error  load: failed, TypeError: cannot read property 'length' of undefined
           --> flows/etl.ts:6:12
          4 |
          5 | function load({ input }) {
          6 |  return input.rows.length
            |  ^
          7 | }
    "#]]);
    lab.rival(&["logs", "r1", "--step", "other"]).is(&expect![[r#""#]]);
    let explained = lab.rival(&["explain", "r1"]).all();
    let source = " --> flows/etl.ts:6:12";
    assert!(
        explained.contains("TypeError: cannot read property") && explained.contains(source),
        "{explained}"
    );
    let page = lab.rival(&["export", "r1", "--format", "html"]).ok();
    for part in ["flows/etl.ts:6:12", "\n6 | "] {
        assert!(page.contains(part), "{page}");
    }
    let log = lab.server().log.lock().unwrap().clone();
    assert!(log.contains("6 |     return input.rows.length"), "{log}");
    let error = &lab.rival(&["show", "r1", "-o", "json"]).json()["error"]["origin"];
    assert_eq!((&error["class"], &error["line"]), (&"TypeError".into(), &6.into()), "{error}");
    assert_eq!(error["excerpt"][2]["text"], "    return input.rows.length");
}

#[test]
fn a_server_loads_files_again_at_a_hangup() {
    let mut lab = serving(&[("hello.ts", HELLO)], &["serve", "flows"]);
    lab.write("flows/other.ts", HELLO);
    crate::lab::signal(&lab.server().child, "HUP");
    until(&lab, &["workflows", "-o", "ids"], "other");
    lab.rival(&["run", "other", "-i", r#"{"name": "Ada"}"#, "--wait"]).ok();
}

#[test]
fn a_call_at_work_goes_on_after_a_crash() {
    let hangs = "
        function hangsOnce({ run }) {
            return run.call > 1 ? `call ${run.call}` : new Promise((go) => setTimeout(go, 3_600_000))
        }
        export const steps = [hangsOnce]
    ";
    let mut lab = serving(&[("w.ts", hangs)], &["serve", "flows"]);
    lab.rival(&["run", "w", "--id", "r1"]).ok();
    lab.until("r1", "hangsOnce: started");
    lab.kill_server();
    lab.start(&["serve", "flows"]);
    lab.rival(&["wait", "r1"]).is(&expect![[r#"
        "call 2"
    "#]]);
    // Files are loaded before runs are looked for.
    let log = lab.server().log.lock().unwrap().clone();
    assert!(!log.contains("cannot go on"), "{log}");
}

#[test]
fn scripts_see_the_variables_that_are_allowed() {
    let mut lab = Lab::offline();
    let text = "
        function see() { return [process.env.SEEN, process.env.UNSEEN ?? null, Object.keys(process.env)] }
        export const steps = [see]
    ";
    lab.write("see.ts", text);
    lab.write(
        "rival.toml",
        "workflows = [\"see.ts\"]\nscript_env = [\"SEEN\", \"UNSET\"]\nscript_hosts = 1\n",
    );
    let mut command = lab.command(&["run", "see", "--wait"]);
    command.env("SEEN", "yes").env("UNSEEN", "no");
    lab.execute(command).is(&expect![[r#"
        [
          "yes",
          null,
          [
            "SEEN"
          ]
        ]
        ! run <id>
    "#]]);
    // With a server the same, which was given no paths.
    lab.start(&["serve"]);
    lab.rival(&["workflows", "-o", "ids"]).is(&expect![[r#"
        see
    "#]]);
}

#[test]
fn without_a_server_files_of_the_settings_are_run_here() {
    let lab = Lab::offline();
    lab.write("flows/hello.ts", HELLO);
    lab.write("flows/broken.ts", BROKEN);
    lab.write("rival.toml", "workflows = [\"flows\"]\n");
    lab.rival(&["run", "hello", "-i", r#"{"name": "Ada"}"#, "--id", "r1", "--wait"]).is(&expect![[r#"
        "Hello, Ada"
        ! problem: flows/broken.ts:2:29: ReferenceError: nobody is not defined
        !     nothing in this file is called `nobody`: declare it, import it, or mend its spelling
        ! run r1
    "#]]);
    let found = problems(&lab);
    assert!(
        found[0].starts_with("flows/broken.ts:2:29: ReferenceError: nobody is not defined; "),
        "{found:?}"
    );
}

#[test]
fn a_variable_that_a_file_reads_and_does_not_see_is_told() {
    let mut lab = Lab::offline();
    lab.write(
        "flows/ask.ts",
        "export const steps = [function ask() { return process.env.SHOP_KEY ?? process.env.SHOP_UNSET ?? null }]\n",
    );
    lab.set_server_env("SHOP_KEY", "secret".into());
    lab.start(&["dev", "flows"]);
    let log = lab.server().log.lock().unwrap().clone();
    let told = "flows/ask.ts reads process.env.SHOP_KEY, which is set here, but scripts do not see it: add SHOP_KEY to `script_env`";
    assert!(log.contains(told) && !log.contains("SHOP_UNSET") && !log.contains("secret"), "{log}");
    lab.kill_server();
    lab.start(&["dev", "flows", "--script-env", "SHOP_KEY"]);
    let log = lab.server().log.lock().unwrap().clone();
    assert!(!log.contains("do not see it"), "{log}");
}

/// The compiler may be installed while the server runs.
#[cfg(unix)]
#[test]
fn types_are_checked_as_soon_as_there_is_a_compiler() {
    use std::os::unix::fs::PermissionsExt;
    let mut lab = serving(&[("hello.ts", HELLO)], &["dev", "flows"]);
    lab.write("tsconfig.json", "{}");
    let tsc = lab
        .write("node_modules/.bin/tsc", "#!/bin/sh\necho \"flows/hello.ts(3,1): error TS1: a wrong type\"\n");
    std::fs::set_permissions(tsc, std::fs::Permissions::from_mode(0o755)).unwrap();
    lab.write("flows/hello.ts", &HELLO.replace("Hello", "Hi"));
    while !lab.server().log.lock().unwrap().contains("a wrong type (TS1)") {
        std::thread::yield_now();
    }
}

/// Silence would mean that the file was not loaded.
#[test]
fn an_edit_that_leaves_the_same_problem_is_told() {
    let mut lab = serving(&[("a.ts", "export const step = []\n")], &["dev", "flows"]);
    lab.write("flows/a.ts", "\n\nexport const step = []\n");
    // The problem follows the line that announces it.
    let log = |lab: &mut Lab| lab.server().log.lock().unwrap().clone();
    while log(&mut lab).matches("it exports `step`: did you mean `steps`?").count() < 2 {
        std::thread::yield_now();
    }
    assert!(log(&mut lab).contains("the same is wrong"));
}

/// An edit takes nothing away from what is under way: its plan names the function, and this process has it.
#[test]
fn a_function_that_a_run_under_way_needs_is_missed_with_a_word() {
    let before = "
        import { signal } from 'rival'
        function kept() { return 'as it was' }
        export const steps = [signal('go'), kept]
    ";
    let mut lab = serving(&[("w.ts", before)], &["dev", "flows"]);
    let log = |lab: &mut Lab| lab.server().log.lock().unwrap().clone();
    // Nothing is under way: there is nothing to say.
    lab.write("flows/w.ts", &before.replace("kept", "first"));
    while !log(&mut lab).contains("loaded w") {
        std::thread::yield_now();
    }
    assert!(!log(&mut lab).contains("still call"));
    lab.rival(&["run", "w", "--id", "r1"]).ok();
    lab.until("r1", "waits for the signal");
    lab.write("flows/w.ts", &before.replace("kept", "renamed").replace("as it was", "as it is"));
    let told = "w: runs under way still call `first` as it was, which the file has no more";
    while !log(&mut lab).contains(told) {
        std::thread::yield_now();
    }
    lab.rival(&["signal", "r1", "go"]).ok();
    assert_eq!(lab.rival(&["wait", "r1"]).ok(), "\"as it was\"\n");
    // The next process has only what is in the file.
    lab.rival(&["run", "w", "--id", "r2"]).ok();
    lab.until("r2", "waits for the signal");
    lab.kill_server();
    lab.write("flows/w.ts", &before.replace("kept", "last"));
    lab.start(&["dev", "flows"]);
    lab.rival(&["signal", "r2", "go"]).ok();
    lab.until("r2", "cannot go on, there is no function `renamed` any more");
}
