//! Without a server, commands open the store file themselves.

use expect_test::expect;

use crate::lab::Lab;

const EXPENSE: &str = r#"{"who": "Ann", "amount": 3}"#;

#[test]
fn without_server_and_store_there_is_nothing_to_look_at() {
    let lab = Lab::offline();
    lab.rival(&["list"]).is(&expect![[r#"
        ! error: no server runs at <url>, and there is no store at data/rival.db
        ! hint: start a server with `rival dev`, or name another store with --store or another server with --url
        exit 1
    "#]]);
    assert!(!lab.path("data").exists());
    lab.rival(&["list", "--url", "http://127.0.0.1:1"]).is(&expect![[r#"
        ! error: cannot reach the server at <url>: Connection refused (os error 111)
        ! hint: start one with `rival serve`, or leave the address out to use the store file
        exit 1
    "#]]);
}

#[test]
fn a_run_is_recorded_and_goes_on_when_a_server_comes() {
    let mut lab = Lab::offline();
    lab.rival(&["run", "flaky", "--id", "f1"]).is(&expect![[r#"
        f1
        ! recorded; it is acted on when a server runs this store
    "#]]);
    lab.rival(&["run", "approval", "--id", "a1", "-i", EXPENSE]).ok();
    lab.rival(&["signal", "a1", "approval", r#"{"by": "Bo", "granted": false}"#]).is(&expect![[r#"
        a1  queued
        ! recorded; it is acted on when a server runs this store
    "#]]);
    lab.rival(&["list"]).is(&expect![[r#"
        RUN  WORKFLOW  STATUS  STARTED (UTC)  TOOK  NOTE
        a1  approval  queued  <time>  -
        f1  flaky  queued  <time>  -
        ! no server runs this store: runs that have not ended stand still until one does
    "#]]);
    lab.rival(&["show", "f1"]).is(&expect![[r#"
        run  f1
        workflow  flaky (plan <hash>…)
        status  queued
        started  <time> UTC
        age  <took>
        input  null
        ! no server runs this store: runs that have not ended stand still until one does
    "#]]);
    lab.rival(&["history", "f1"]).is(&expect![[r#"
        SEQ  TIME (UTC)  EVENT  NODE  WHAT IT MEANS
        1  <clock>  runStarted  started, workflow flaky (asked by ada)
        2  <clock>  nodeHeld  is next, and is held until the run goes on
    "#]]);
    lab.rival(&["logs", "-f", "f1"]).is(&expect![[r#"
        ! no server runs this store: nothing is added until one does
    "#]]);
    lab.rival(&["wait", "f1"]).is(&expect![[r#"
        ! error: run `f1` is queued, and no server runs this store
        ! hint: start one with `rival serve` or `rival dev`, and wait again
        exit 1
    "#]]);
    lab.rival(&["watch", "f1"]).is(&expect![[r#"
        <clock>  run: started, workflow flaky
        ! error: run `f1` is queued, and no server runs this store
        ! hint: start one with `rival serve` or `rival dev`, and it goes on
        exit 1
    "#]]);
    lab.rival(&["watch"]).is(&expect![[r#"
        ! error: no server runs this store: there is nothing to watch
        ! hint: start one with `rival serve` or `rival dev`; `rival list` shows what there is
        exit 1
    "#]]);
    lab.rival(&["explain", "f1"]).is(&expect![[r#"
        run `f1` has waited for room for <took>
        ! no server runs this store: it changes only when one does
    "#]]);
    lab.rival(&["graph", "f1"]).is(&expect![[r#"
        ◷ flaky  f1  queued  <took>
          · call_service
          · send_postcard
          · sum_up
    "#]]);
    lab.serve(&[]);
    assert_eq!(lab.rival(&["wait", "f1"]).ok(), "\"the answer is 42, without a postcard\"\n");
    assert_eq!(lab.rival(&["wait", "a1"]).ok(), "\"Ann is paid nothing, says Bo\"\n");
}

#[test]
fn requests_are_kept_for_the_next_server() {
    let mut lab = Lab::online();
    for run in ["a1", "a2", "a3"] {
        lab.rival(&["run", "approval", "--id", run, "-i", EXPENSE]).ok();
        lab.until(run, "waits for the signal");
    }
    lab.kill_server();
    lab.rival(&["cancel", "a1"]).is(&expect![[r#"
        a1  waiting
        ! recorded; it is acted on when a server runs this store
    "#]]);
    lab.rival(&["kill", "a2"]).is(&expect![[r#"
        a2  waiting
        ! recorded; it is acted on when a server runs this store
    "#]]);
    lab.rival(&["pause", "a3"]).is(&expect![[r#"
        a3  waiting
        ! recorded; it is acted on when a server runs this store
    "#]]);
    lab.serve(&[]);
    assert_eq!(lab.rival(&["wait", "a1"]).code, 1);
    assert_eq!(lab.rival(&["wait", "a2"]).code, 1);
    lab.until("a3", "run: paused");
    lab.kill_server();
    lab.rival(&["resume", "a3"]).is(&expect![[r#"
        a3  paused
        ! recorded; it is acted on when a server runs this store
    "#]]);
}

#[test]
fn a_run_that_is_waited_for_is_run_here() {
    let lab = Lab::offline();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).is(&expect![[r#"
        "the answer is 42, without a postcard"
        ! run f1
    "#]]);
    lab.rival(&["run", "saga", "--id", "s1", "-i", r#"{"to": "x", "budget": 1}"#, "--wait"]).is(&expect![[
        r#"
        ! run s1
        ! error: run `s1` failed at `pay`: 1 is not enough (too_poor)
        !    --> crates/cli/src/examples/saga.rs:41:20
        ! hint: `rival retry s1` tries again; steps that completed and were not undone are kept
        exit 1
    "#
    ]]);
    // What has ended can be waited for, watched and started again.
    lab.rival(&["wait", "f1"]).is(&expect![[r#"
        "the answer is 42, without a postcard"
    "#]]);
    assert_eq!(lab.rival(&["watch", "s1"]).code, 1);
    let rich = r#"{"to": "x", "budget": 900}"#;
    lab.rival(&["fork", "s1", "--id", "s2", "--from", "pay", "-i", rich]).is(&expect![[r#"
        s2
        ! recorded; it is acted on when a server runs this store
    "#]]);
    let again = lab.raw(&["retry", "s1"]);
    assert_eq!(lab.rival(&["show", again.trim(), "-o", "json"]).json()["status"], "queued");
}

#[test]
fn workflows_are_known_without_a_server() {
    let lab = Lab::offline();
    assert_eq!(lab.rival(&["workflows", "-o", "ids"]).ok().lines().count(), 8);
    lab.rival(&["validate", "saga", "-i", "{}"]).is(&expect![[r#"
        the input: "to" is a required property
        the input: "budget" is a required property
        ! error: the input does not fit workflow `saga`
        exit 1
    "#]]);
    assert!(lab.rival(&["graph", "saga"]).ok().contains("book_hotel"));
}

#[test]
fn a_store_that_a_server_holds_out_of_reach_is_explained() {
    let mut lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    let process = lab.server().child.id().to_string();
    let mut command = lab.command(&["list"]);
    command.env_remove("RIVAL_URL").env("RIVAL_LISTEN", "127.0.0.1:1");
    let printed = lab.execute(command);
    assert_eq!(printed.code, 1);
    assert!(printed.err.contains(&format!("is open in process {process}")), "{}", printed.err);
    assert!(printed.err.contains("name its address with --url"), "{}", printed.err);
}

/// As with git and cargo: any folder of a project will do.
#[test]
fn settings_are_found_in_the_folders_above() {
    let lab = Lab::offline();
    lab.rival(&["init", "shop"]).ok();
    let below = lab.path("shop/workflows/deep");
    std::fs::create_dir_all(&below).unwrap();
    let rival = |args: &[&str]| {
        let mut command = lab.command(args);
        command.current_dir(&below);
        lab.execute(command)
    };
    rival(&["workflows", "-o", "ids"]).is(&expect![[r#"
        hello
    "#]]);
    rival(&["run", "hello", "--id", "h1", "-i", r#"{"name": "Ada"}"#]).is(&expect![[r#"
        h1
        ! recorded; it is acted on when a server runs this store
    "#]]);
    assert!(lab.path("shop/data/rival.db").exists() && !below.join("data").exists());
    let config = rival(&["config", "print"]).ok();
    assert!(config.contains("workflows  ../../workflows  ../../rival.toml:2"), "{config}");
    // What is given here is meant from here.
    rival(&["list", "--store", "data/rival.db"]).is(&expect![[r#"
        ! error: no server runs at <url>, and there is no store at data/rival.db
        ! hint: start a server with `rival dev`, or name another store with --store or another server with --url
        exit 1
    "#]]);
}

#[test]
fn without_a_project_the_examples_are_said_to_be_examples() {
    let lab = Lab::offline();
    let listed = lab.rival(&["workflows"]);
    assert!(listed.out.contains("onboarding"), "{}", listed.out);
    expect![[r#"
        there is no rival.toml in this folder or above it, so these are the examples; go to your project's folder, or make one with `rival init`
    "#]]
    .assert_eq(&listed.err);
    lab.rival(&["run", "flakey", "--wait"]).is(&expect![[r#"
        ! error: no workflow is called `flakey`; registered are: approval, count_page, fan_out, flaky, nightly, onboarding, order, saga; did you mean `flaky`?
        ! hint: there is no rival.toml in this folder or above it, so these are the examples; go to your project's folder, or make one with `rival init`
        exit 4
    "#]]);
    lab.write("rival.toml", "log = \"warn\"\n");
    lab.rival(&["run", "hello"]).is(&expect![[r#"
        ! error: no workflow is called `hello`; registered are: approval, count_page, fan_out, flaky, nightly, onboarding, order, saga
        ! hint: rival.toml names no workflows, so these are the examples; add workflows = ["workflows"]
        exit 4
    "#]]);
}

/// A store that such a command made would look like one whose runs are lost.
#[test]
fn commands_that_look_or_fail_make_no_store() {
    let lab = Lab::offline();
    let fails: [&[&str]; 6] = [
        &["run", "nope"],
        &["run", "saga", "--wait"],
        &["retry", "r1"],
        &["fork", "r1", "--wait"],
        &["signal", "r1", "go"],
        &["import", "absent.json"],
    ];
    for args in fails {
        assert_ne!(lab.rival(args).code, 0, "{args:?}");
    }
    for args in [&["workflows"][..], &["workflows", "saga"], &["graph", "saga"]] {
        lab.rival(args).ok();
    }
    lab.rival(&["validate", "saga", "-i", r#"{"to": "x", "budget": 1}"#]).ok();
    assert!(!lab.path("data").exists());
}

#[test]
fn an_input_that_is_refused_is_answered_with_one_that_would_do() {
    let lab = Lab::offline();
    let flow = "
        import { z } from 'zod'
        export const input = z.object({ email: z.email(), note: z.string().min(6), count: z.number().int().positive() })
        export const steps = [function keep({ input }) { return input.note }]
    ";
    lab.write("flows/order.ts", flow);
    lab.write("rival.toml", "workflows = [\"flows\"]\n");
    let refused = lab.rival(&["run", "order"]);
    refused.is(&expect![[r#"
        ! error: the input of workflow `order` is not valid: Invalid input: expected object, received null
        ! hint: no input was given; try `rival run order --input '{"email":"ada@example.com","note":"text t","count":1}'`; `rival workflows order` shows what it takes
        exit 1
    "#]]);
    // It does.
    let input = refused.err.split("--input '").nth(1).unwrap().split('\'').next().unwrap();
    lab.rival(&["run", "order", "--wait", "--input", input]).is(&expect![[r#"
        "text t"
        ! run <id>
    "#]]);
}
