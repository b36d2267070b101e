//! `list`, `show`, `history`, `logs`, `explain`.

use std::io::{BufRead, BufReader};

use expect_test::expect;

use crate::lab::{Lab, rest};

const TRIP: &str = r#"{"to": "Lisbon", "budget": 100}"#;

#[test]
fn runs_are_listed() {
    let lab = Lab::online();
    lab.rival(&["list"]).is(&expect![[r#"
        ! no runs; --all looks for children too
    "#]]);
    lab.rival(&["run", "flaky", "--id", "f1", "--tag", "blue", "--wait"]).ok();
    lab.rival(&["run", "saga", "--id", "s1", "--input", TRIP, "--wait"]);
    lab.rival(&["run", "saga", "--id", "s2", "--input", r#"{"to": "Oslo", "budget": 900}"#, "--wait"]).ok();
    lab.rival(&["list"]).is(&expect![[r#"
        RUN  WORKFLOW  STATUS  STARTED (UTC)  TOOK  NOTE
        s2  saga  completed  <time>  <took>
        s1  saga  failed  <time>  <took>  100 is not enough
        f1  flaky  completed  <time>  <took>
    "#]]);
    lab.rival(&["list", "-n", "1"]).is(&expect![[r#"
        RUN  WORKFLOW  STATUS  STARTED (UTC)  TOOK  NOTE
        s2  saga  completed  <time>  <took>
        ! there are more: --limit shows more of them, --all shows all, with children
    "#]]);
    let ids = |args: &[&str]| lab.rival(&[&["list", "-o", "ids"], args].concat()).ok();
    assert_eq!(ids(&["--all"]), "s2\ns1\nf1\n");
    assert_eq!(ids(&["--workflow", "saga"]), "s2\ns1\n");
    assert_eq!(ids(&["--status", "completed"]), "s2\nf1\n");
    assert_eq!(ids(&["--status", "failed,cancelled"]), "s1\n");
    assert_eq!(ids(&["--tag", "blue"]), "f1\n");
    assert_eq!(ids(&["--input", "to=Oslo"]), "s2\n");
    assert_eq!(ids(&["--from", "2100-01-01T00:00:00Z"]), "");
    assert_eq!(lab.rival(&["list", "-o", "json"]).json()[1]["runId"], "s1");
    lab.rival(&["list", "--status", "happy"]).is(&expect![[r#"
        ! error: invalid value 'happy' for '--status <STATUS,…>': `happy` is not a run status; the statuses are queued, running, waiting, paused, blocked, cancelling, compensating, completed, failed, cancelled
        ! 
        ! For more information, try '--help'.
        exit 2
    "#]]);
}

#[test]
fn a_run_is_shown() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "--id", "s1", "--tag", "blue", "--input", TRIP, "--wait"]);
    lab.rival(&["show", "s1"]).is(&expect![[r#"
        run  s1
        workflow  saga (plan <hash>…)
        status  failed
        started  <time> UTC
        took  <took>
        input  {"to":"Lisbon","budget":100}
        tags  blue
        error  100 is not enough (too_poor) at `pay`
           --> crates/cli/src/examples/saga.rs:41:20

        STEP  STATUS  TOOK  ATTEMPTS  DETAIL
        book_flight  undone  <took>  1  a flight to Lisbon
        book_hotel  undone  <took>  1  a room in Lisbon
        pay  failed  <took>  1  100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        ! `rival retry s1` tries again; steps that completed and were not undone are kept
    "#]]);
    assert_eq!(lab.rival(&["get", "s1", "-o", "json"]).json()["steps"][2]["name"], "pay");
    lab.rival(&["describe", "s1", "-o", "ids"]).is(&expect![[r#"
        s1
    "#]]);
    lab.rival(&["history", "s1"]).is(&expect![[r#"
        SEQ  TIME (UTC)  EVENT  NODE  WHAT IT MEANS
        1  <clock>  runStarted  started, workflow saga (asked by ada)
        2  <clock>  callStarted  book_flight  started
        3  <clock>  callSucceeded  book_flight  completed, a flight to Lisbon
        4  <clock>  callStarted  book_hotel  started
        5  <clock>  callSucceeded  book_hotel  completed, a room in Lisbon
        6  <clock>  callStarted  pay  started
        7  <clock>  callFailed  pay  failed, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        8  <clock>  runFailing  pay  is failing, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        9  <clock>  callStarted  book_hotel  being undone
        10  <clock>  callSucceeded  book_hotel  undone
        11  <clock>  callStarted  book_flight  being undone
        12  <clock>  callSucceeded  book_flight  undone
        13  <clock>  runFailed  pay  failed, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)

        7: 100 is not enough
           --> crates/cli/src/examples/saga.rs:41:20
    "#]]);
    assert_eq!(lab.rival(&["events", "s1", "--after", "12", "-o", "json"]).json()[0]["type"], "runFailed");
    lab.rival(&["logs", "s1"]).is(&expect![[r#"
        <clock>  error  pay: failed, 100 is not enough
           --> crates/cli/src/examples/saga.rs:41:20
        <clock>  info  book_hotel: giving back room H-2
        <clock>  info  book_flight: giving back flight F-1
    "#]]);
    lab.rival(&["logs", "s1", "--step", "book_flight", "--follow"]).is(&expect![[r#"
        <clock>  info  book_flight: giving back flight F-1
    "#]]);
    lab.rival(&["logs", "s1", "--level", "warn"]).is(&expect![[r#"
        <clock>  error  pay: failed, 100 is not enough
           --> crates/cli/src/examples/saga.rs:41:20
    "#]]);
    lab.rival(&["explain", "s1"]).is(&expect![[r#"
        run `s1` failed <took> ago: 100 is not enough
           --> crates/cli/src/examples/saga.rs:41:20
    "#]]);
    lab.rival(&["show", "nope"]).is(&expect![[r#"
        ! error: run `nope` not found
        ! hint: an id may be cut after 6 characters or more, if no other begins so
        exit 4
    "#]]);
    // Too little of an id means none.
    assert_eq!(lab.rival(&["show", "s"]).code, 4);
}

#[test]
fn a_run_with_blocks_is_shown_and_drawn() {
    let lab = Lab::online();
    lab.rival(&["run", "nightly", "--id", "n1", "--wait"]).is(&expect![[r#"
        "dear boss: 6 invoices, 650 in all"
        ! run n1
    "#]]);
    lab.rival(&["graph", "n1"]).is(&expect![[r#"
        ✔ nightly  n1  completed  <took>
          ✔ pages  <took>
            ▸ [0]
              ✔ breathe  <took>
              ✔ fetch_page  <took>
              ✔ send_all  <took>
                ▸ [0]
                  ✔ send  <took>
                ▸ [1]
                  ✔ send  <took>
                ▸ [2]
                  ✘ send  <took>  an empty invoice (crates/cli/src/examples/nightly.rs:40:20)
              ✔ add_up  <took>
            ▸ [1]
              ✔ breathe  <took>
              ✔ fetch_page  <took>
              ✔ send_all  <took>
                ▸ [0]
                  ✔ send  <took>
                ▸ [1]
                  ✔ send  <took>
                ▸ [2]
                  ✔ send  <took>
              ✔ add_up  <took>
            ▸ [2]
              ✔ breathe  <took>
              ✔ fetch_page  <took>
              ✔ send_all  <took>
                ▸ [0]
                  ✔ send  <took>
              ✔ add_up  <took>
          ✔ report  <took>
          ✔ size  <took>
            ▸ then
              ✔ tell_the_boss  <took>
    "#]]);
    lab.rival(&["run", "onboarding", "--id", "o1", "-i", r#"{"name": "Cy"}"#, "--wait"]).is(&expect![[r#"
        "cy has a laptop and desk 17"
        ! run o1
    "#]]);
    lab.rival(&["show", "o1"]).is(&expect![[r#"
        run  o1
        workflow  onboarding (plan <hash>…)
        status  completed
        started  <time> UTC
        took  <took>
        input  {"name":"Cy"}
        output  "cy has a laptop and desk 17"

        STEP  STATUS  TOOK  ATTEMPTS  DETAIL
        prepare  completed  <took>
        prepare/account/create_account  completed  <took>  1
        prepare/laptop/order_laptop  completed  <took>  1
        prepare/desk/desk  completed  <took>
        prepare/desk/desk/reserve_desk  completed  <took>  1
        prepare/desk/desk/put_up_sign  completed  <took>  1
    "#]]);
    lab.rival(&["run", "fan_out", "--id", "p1", "-i", r#"{"title": "W", "pages": 3}"#, "--wait"]).is(
        &expect![[r#"
            303
            ! run p1
        "#]],
    );
    lab.rival(&["show", "p1"]).is(&expect![[r#"
        run  p1
        workflow  fan_out (plan <hash>…)
        status  completed
        started  <time> UTC
        took  <took>
        input  {"title":"W","pages":3}
        output  303

        STEP  STATUS  TOOK  ATTEMPTS  DETAIL
        count_all  completed  <took>  1  W has 303 words
          map(`count_page`)  completed  <took>  3 of 3 runs ended
    "#]]);
    assert_eq!(lab.rival(&["list", "--parent", "p1", "-o", "ids"]).ok().lines().count(), 3);
    lab.rival(&["list", "-w", "fan_out"]).is(&expect![[r#"
        RUN  WORKFLOW  STATUS  STARTED (UTC)  TOOK  NOTE
        p1  fan_out  completed  <time>  <took>  3 children
    "#]]);
    lab.rival(&["list", "-w", "count_page"]).is(&expect![[r#"
        ! no runs; --all looks for children too
    "#]]);
    assert_eq!(lab.rival(&["list", "--all", "-w", "count_page", "-o", "ids"]).ok().lines().count(), 3);
    assert_eq!(lab.rival(&["list", "--all", "-n", "2", "-o", "ids"]).ok().lines().count(), 2);
    let history = lab.rival(&["history", "p1"]).ok();
    for told in [
        "opStarted  count_all  starts map(`count_page`), 3 runs",
        "child p1~c1 completed, 101",
        "opEnded  count_all  map(`count_page`) completed",
    ] {
        assert!(history.contains(told), "{history}");
    }
}

#[test]
fn logs_have_every_failed_attempt() {
    let lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    lab.rival(&["logs", "f1"]).is(&expect![[r#"
        <clock>  info  call_service: attempt 1
        <clock>  error  call_service: failed, the service is busy
           --> crates/cli/src/examples/flaky.rs:12:20
        <clock>  info  call_service (attempt 2): attempt 2
        <clock>  error  call_service (attempt 2): failed, the service is busy
           --> crates/cli/src/examples/flaky.rs:12:20
        <clock>  info  call_service (attempt 3): attempt 3
        <clock>  error  send_postcard: failed, out of stamps
           --> crates/cli/src/examples/flaky.rs:20:9
    "#]]);
    let followed = lab.rival(&["logs", "f1", "--follow"]).ok();
    assert!(followed.contains("error  call_service (attempt 2): failed, the service is busy"), "{followed}");
    let lines = lab.raw(&["logs", "f1", "-o", "json", "--level", "error"]);
    let lines: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!((&lines[1]["attempt"], &lines[1]["stepName"]), (&2.into(), &"call_service".into()));
    assert_eq!(lines[1]["failure"]["message"], "the service is busy");
}

#[test]
fn times_are_written_as_people_write_them() {
    let lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--wait"]).ok();
    for from in ["2026-01-01", "yesterday", "today", "1h", "2026-01-01T00:00:00Z", "0"] {
        assert_eq!(lab.rival(&["list", "-o", "ids", "--from", from]).ok(), "f1\n", "{from}");
    }
    assert_eq!(lab.rival(&["list", "-o", "ids", "--to", "1h"]).ok(), "");
    assert_eq!(lab.rival(&["list", "--from", "soon"]).code, 1);
}

#[test]
fn logs_are_followed_to_the_end_of_the_run() {
    let lab = Lab::online();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    let mut child = lab.command(&["logs", "-f", "a1"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("Ann asks for 3"), "{line}");
    lab.rival(&["signal", "a1", "approval", r#"{"by": "Bo", "granted": true}"#]).ok();
    assert_eq!(rest(out), "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_has_heard_enough_ends_a_command_quietly() {
    let lab = Lab::online();
    lab.rival(&["run", "nightly", "--id", "n1", "--wait"]).ok();
    let mut child = lab.command(&["history", "n1", "-o", "json"]).spawn().unwrap();
    // Gone before the first line.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn the_beginning_of_an_id_is_enough_if_it_is_the_only_one() {
    let lab = Lab::online();
    for id in ["order-2031-a", "order-2031-b", "trip-77"] {
        lab.rival(&["run", "flaky", "--id", id, "--wait"]).ok();
    }
    assert!(lab.rival(&["show", "order-2031-a"]).ok().contains("order-2031-a"));
    for args in [&["wait", "trip-7"][..], &["logs", "trip-7"], &["watch", "trip-7"], &["explain", "trip-7"]] {
        lab.rival(args).ok();
    }
    assert_eq!(lab.rival(&["history", "trip-7"]).code, 0);
    lab.rival(&["show", "order-20"]).is(&expect![[r#"
        ! error: several runs begin with `order-20`: order-2031-b, order-2031-a
        ! hint: write more of the one that you mean
        exit 4
    "#]]);
    lab.rival(&["show", "trip-"]).is(&expect![[r#"
        ! error: run `trip-` not found
        ! hint: an id may be cut after 6 characters or more, if no other begins so
        exit 4
    "#]]);
    lab.rival(&["cancel", "order-2031-c"]).is(&expect![[r#"
        ! error: run `order-2031-c` not found
        ! hint: did you mean `order-2031-a`?
        exit 4
    "#]]);
    lab.rival(&["show", "something else"]).is(&expect![[r#"
        ! error: run `something else` not found
        exit 4
    "#]]);
}

#[test]
fn a_run_that_was_retried_says_as_what() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "--id", "s1", "--input", TRIP, "--wait"]);
    let before = lab.rival(&["show", "s1"]);
    assert!(
        before
            .err
            .contains("`rival retry s1` tries again; steps that completed and were not undone are kept"),
        "{}",
        before.err
    );
    lab.rival(&["fork", "s1", "--id", "s2", "-i", r#"{"to": "Oslo", "budget": 900}"#, "--wait"]).ok();
    let after = lab.rival(&["show", "s1"]);
    assert!(after.out.contains("retried as s2") && after.err.is_empty(), "{}", after.all());
    assert!(lab.rival(&["list"]).ok().contains("retried as s2; 100 is not enough"));
}

/// A program that reads a pipe wants all of it.
#[test]
fn nothing_is_cut_where_no_terminal_is() {
    let lab = Lab::offline();
    let text = "
        const long = 'word '.repeat(60) + 'end'
        async function asks({ durable, state }) {
            state.description = long
            await durable.once('long', () => long)
            throw new Error(long)
        }
        export const steps = [asks]
    ";
    lab.write("w.ts", text);
    lab.write("rival.toml", "workflows = [\"w.ts\"]\n");
    lab.rival(&["run", "w", "--id", "r1", "--wait"]);
    for args in [&["history", "r1"][..], &["show", "r1"], &["list"]] {
        let shown = lab.rival(args).all();
        assert!(shown.contains("word end") && !shown.contains("word…") && !shown.contains(" …"), "{shown}");
    }
}

#[test]
fn a_history_says_who_asked() {
    let mut lab = Lab::offline();
    let secret = lab.raw(&["token", "create", "ada"]);
    lab.serve(&["--require-token"]);
    lab.show_token(secret.trim());
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    lab.until("a1", "waits for the signal");
    lab.rival(&["cancel", "a1"]).ok();
    let history = lab.rival(&["history", "a1"]).ok();
    assert!(history.contains("started, workflow approval (asked by ada)"), "{history}");
    assert!(history.contains("is being cancelled (asked by ada)"), "{history}");
}
