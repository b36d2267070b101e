//! `workflows`, `validate`, `graph`.

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn workflows_are_listed_and_shown() {
    let lab = Lab::online();
    lab.rival(&["workflows"]).is(&expect![[r#"
        WORKFLOW  STEPS  PLAN  ABOUT
        approval  2  <hash>…  An expense that waits for a signal: somebody's approval
        count_page  1  <hash>…  One page of a book; fan_out starts these
        fan_out  1  <hash>…  A run for every page of a book, four at a time
        flaky  3  <hash>…  A service that fails twice, and a step that is done without
        nightly  5  <hash>…  A batch in pages: a loop, a forEach and a branch
        onboarding  4  <hash>…  Three things at a time, one of them a nested workflow
        order  6  <hash>…  From the shelf to the postman
        saga  3  <hash>…  A trip; with a budget below 500 it fails, and its bookings are undone
    "#]]);
    lab.rival(&["workflows", "-o", "ids"]).is(&expect![[r#"
        approval
        count_page
        fan_out
        flaky
        nightly
        onboarding
        order
        saga
    "#]]);
    lab.rival(&["workflows", "approval"]).is(&expect![[r#"
        workflow  approval
        about  An expense that waits for a signal: somebody's approval
        plan  <hash>…
        input  {who: string, amount: integer}
        signal  approval: {by: string, granted: boolean}
        try  rival run approval --input '{"who":"Ann","amount":30}'

          ask  step
          approval: signal approval  signal
          decide  step
    "#]]);
    assert_eq!(lab.rival(&["workflows", "approval", "-o", "json"]).json()["stepCount"], 2);
    assert_eq!(lab.rival(&["workflows", "-o", "json"]).json().as_array().unwrap().len(), 8);
    lab.rival(&["workflows", "nope"]).is(&expect![[r#"
        ! error: no workflow is called `nope`; registered are: approval, count_page, fan_out, flaky, nightly, onboarding, order, saga
        exit 4
    "#]]);
}

#[test]
fn inputs_are_checked_without_starting_anything() {
    let lab = Lab::online();
    lab.rival(&["validate", "saga", "-i", r#"{"to": "Lisbon", "budget": 1}"#]).is(&expect![[r#"
        valid
    "#]]);
    lab.rival(&["validate", "saga", "-i", r#"{"to": 7}"#]).is(&expect![[r#"
        the input: "budget" is a required property
        /to: 7 is not of type "string"
        ! error: the input does not fit workflow `saga`
        exit 1
    "#]]);
    assert_eq!(lab.rival(&["validate", "saga", "-i", "{}", "-o", "json"]).json()["valid"], false);
    assert_eq!(lab.rival(&["list", "-o", "ids"]).ok(), "");
}

#[test]
fn workflows_are_drawn() {
    let lab = Lab::online();
    lab.rival(&["graph", "nightly"]).is(&expect![[r#"
        nightly
          pages: until is_last_page  loop
            breathe: for <took>  sleep
            fetch_page  step
            send_all: for each of invoices, 2 at a time  forEach
              send  step
            add_up  step
          report  step
          size: is_large?  branch
            then
              tell_the_boss  step
    "#]]);
    lab.rival(&["graph", "saga", "--format", "mermaid"]).is(&expect![[r#"
        flowchart TD
        n0["book_flight"]
        n1["book_hotel"]
        n2["pay"]
        n0 --> n1
        n1 --> n2
    "#]]);
    lab.rival(&["graph", "saga", "--format", "dot"]).is(&expect![[r#"
        digraph "saga" {
          compound=true;
          node [shape=box];
          n0 [label="book_flight"];
          n1 [label="book_hotel"];
          n2 [label="pay"];
          n0 -> n1;
          n1 -> n2;
        }
    "#]]);
    assert_eq!(lab.rival(&["graph", "saga", "--format", "json"]).json()["nodes"][0]["id"], "book_flight");
    lab.rival(&["graph", "nope"]).is(&expect![[r#"
        ! error: no workflow and no run is called `nope`
        exit 4
    "#]]);
}
