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
    "#]]);
    lab.rival(&["show", "f1"]).is(&expect![[r#"
        run  f1
        workflow  flaky (plan <hash>…)
        status  queued
        started  <time> UTC
        age  <took>
        input  null
    "#]]);
    lab.rival(&["history", "f1"]).is(&expect![[r#"
        SEQ  TIME (UTC)  EVENT  NODE  WHAT IT MEANS
        1  <clock>  runStarted  started, workflow flaky
        2  <clock>  nodeHeld
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
