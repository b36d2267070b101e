//! `cancel`, `kill`, `pause`, `resume`, `retry`, `fork`, `signal`.

use expect_test::expect;

use crate::lab::Lab;

const EXPENSE: &str = r#"{"who": "Ann", "amount": 3}"#;

/// Runs that wait for a signal.
fn waiting(lab: &Lab, runs: &[&str]) {
    for run in runs {
        lab.rival(&["run", "approval", "--id", run, "-i", EXPENSE]).ok();
        lab.until(run, "waits for the signal");
    }
}

#[test]
fn runs_are_stopped_and_held() {
    let lab = Lab::online();
    waiting(&lab, &["a1", "a2", "a3"]);
    lab.rival(&["explain", "a1"]).is(&expect![[r#"
        run `a1` waits at `approval` for the signal `approval`, for another <took>
    "#]]);
    lab.rival(&["cancel", "a1", "--reason", "too dear"]).is(&expect![[r#"
        a1  cancelled
    "#]]);
    lab.rival(&["wait", "a1"]).is(&expect![[r#"
        ! error: run `a1` was cancelled: too dear
        ! hint: `rival retry a1` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
    assert_eq!(lab.rival(&["show", "a1"]).ok().matches("too dear").count(), 1);
    lab.rival(&["kill", "a2", "-o", "json"]).is(&expect![[r#"
        {
          "runId": "a2",
          "status": "cancelled"
        }
    "#]]);
    lab.rival(&["pause", "a3"]).is(&expect![[r#"
        a3  paused
    "#]]);
    lab.rival(&["explain", "a3"]).is(&expect![[r#"
        run `a3` has been paused for <took>; `resume` lets it go on
    "#]]);
    lab.rival(&["resume", "a3"]).is(&expect![[r#"
        a3  waiting
    "#]]);
    // One that does not work does not keep the others from it.
    lab.rival_with(&["cancel", "nope", "-", "a2"], "a3\n").is(&expect![[r#"
        a3  cancelled
        a2  cancelled
        ! error: run `nope` not found
        exit 4
    "#]]);
}

#[test]
fn signals_are_sent() {
    let lab = Lab::online();
    waiting(&lab, &["a1"]);
    lab.rival(&["signal", "a1", "approval", r#"{"by": "Bo"}"#]).is(&expect![[r#"
        ! error: the payload of signal `approval` is not valid: "granted" is a required property
        exit 1
    "#]]);
    let sent =
        lab.rival(&["signal", "a1", "approval", r#"{"by": "Bo", "granted": true}"#, "--id", "m1"]).ok();
    assert!(sent.starts_with("a1  "), "{sent}");
    waiting(&lab, &["a2"]);
    lab.rival(&["signal", "a2", "aproval", "1"]).is(&expect![[r#"
        a2  waiting
        ! nothing in this run has waited for a signal `aproval` so far; it is kept. Did you mean `approval`?
    "#]]);
    lab.rival(&["signal", "a2", "xyz", "1"]).is(&expect![[r#"
        a2  waiting
        ! nothing in this run has waited for a signal `xyz` so far; it is kept. Known are `approval`
    "#]]);
    lab.rival(&["signal", "a1", "approval", "null"]).is(&expect![[r#"
        ! error: the payload of signal `approval` is not valid: null is not of type "object"
        exit 1
    "#]]);
}

#[test]
fn runs_are_started_again() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "--id", "s1", "-i", r#"{"to": "Lisbon", "budget": 100}"#, "--wait"]);
    let again = lab.raw(&["retry", "s1"]);
    let printed = lab.rival(&["wait", again.trim()]);
    assert!(printed.err.contains("failed at `pay`: 100 is not enough"), "{}", printed.all());
    let rich = r#"{"to": "Lisbon", "budget": 900}"#;
    lab.rival(&["fork", "s1", "--from", "book_hotel", "-i", rich, "--id", "s2"]).is(&expect![[r#"
        s2
        ! running; `rival watch s2` shows what it does
    "#]]);
    lab.rival(&["wait", "s2"]).is(&expect![[r#"
        500
    "#]]);
    lab.rival(&["history", "s2"]).is(&expect![[r#"
        SEQ  TIME (UTC)  EVENT  NODE  WHAT IT MEANS
        1  <clock>  runStarted  started, workflow saga, goes on from s1 (asked by ada)
        2  <clock>  callStarted  book_flight  started
        3  <clock>  callSucceeded  book_flight  completed, a flight to Lisbon
        4  <clock>  callStarted  book_hotel  started
        5  <clock>  callSucceeded  book_hotel  completed, a room in Lisbon
        6  <clock>  callStarted  pay  started
        7  <clock>  callSucceeded  pay  completed
        8  <clock>  runCompleted  completed
    "#]]);
    lab.rival(&["retry", "s2"]).is(&expect![[r#"
        ! error: run `s2` is completed: only a failed or cancelled run can be retried
        exit 1
    "#]]);
    lab.rival(&["fork", "s2", "--from", "nowhere"]).is(&expect![[r#"
        ! error: workflow `saga` has no node `nowhere` to go on from
        exit 1
    "#]]);
}
