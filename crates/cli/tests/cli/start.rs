//! `run`, `wait`, `watch`.

use std::io::{BufRead, Read, Write};

use expect_test::expect;

use crate::lab::Lab;

#[test]
fn a_run_is_started_and_waited_for() {
    let lab = Lab::online();
    lab.rival(&["run", "flaky", "--id", "f1", "--tag", "blue", "--wait"]).is(&expect![[r#"
        "the answer is 42, without a postcard"
        ! run f1
    "#]]);
    // The same again is the same run; another input is not.
    lab.rival(&["run", "flaky", "--id", "f1", "-o", "json"]).is(&expect![[r#"
        {
          "runId": "f1",
          "status": "completed"
        }
    "#]]);
    lab.rival(&["run", "flaky", "--id", "f1", "--input", "7"]).is(&expect![[r#"
        ! error: run `f1` exists, and another request began it: with another workflow or input, or from another run or node; use another id, or ask for the same
        exit 1
    "#]]);
    lab.rival(&["wait", "f1"]).is(&expect![[r#"
        "the answer is 42, without a postcard"
    "#]]);
    assert_eq!(lab.rival(&["wait", "f1", "-o", "json"]).json()["results"]["sum_up"]["status"], "completed");
    lab.rival(&["watch", "f1"]).is(&expect![[r#"
        <clock>  run: started, workflow flaky
        <clock>  call_service: started
        <clock>  info  call_service: attempt 1
        <clock>  call_service: failed, the service is busy (crates/cli/src/examples/flaky.rs:12:20); trying again in <took>
        <clock>  call_service: started, attempt 2 (call 2)
        <clock>  info  call_service (attempt 2): attempt 2
        <clock>  call_service: failed, the service is busy (crates/cli/src/examples/flaky.rs:12:20); trying again in <took>
        <clock>  call_service: started, attempt 3 (call 3)
        <clock>  info  call_service (attempt 3): attempt 3
        <clock>  call_service: completed, answered at attempt 3
        <clock>  send_postcard: started
        <clock>  send_postcard: failed, out of stamps (crates/cli/src/examples/flaky.rs:20:9); the run goes on without it
        <clock>  sum_up: started
        <clock>  sum_up: completed
        <clock>  run: completed
    "#]]);
    let events = lab.raw(&["watch", "f1", "-o", "json"]);
    let events: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["type"], "runStarted");
}

#[test]
fn a_failed_run_is_an_error_where_it_is_waited_for() {
    let lab = Lab::online();
    let trip = r#"{"to": "Lisbon", "budget": 100}"#;
    lab.rival(&["run", "saga", "--id", "s1", "--input", trip, "--wait"]).is(&expect![[r#"
        ! run s1
        ! error: run `s1` failed at `pay`: 100 is not enough (too_poor)
        !    --> crates/cli/src/examples/saga.rs:41:20
        ! hint: `rival retry s1` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
    lab.rival(&["wait", "s1"]).is(&expect![[r#"
        ! error: run `s1` failed at `pay`: 100 is not enough (too_poor)
        !    --> crates/cli/src/examples/saga.rs:41:20
        ! hint: `rival retry s1` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
    lab.rival(&["watch", "s1"]).is(&expect![[r#"
        <clock>  run: started, workflow saga
        <clock>  book_flight: started
        <clock>  book_flight: completed, a flight to Lisbon
        <clock>  book_hotel: started
        <clock>  book_hotel: completed, a room in Lisbon
        <clock>  pay: started
        <clock>  pay: failed, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        <clock>  run: is failing, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        <clock>  book_hotel: being undone
        <clock>  info  book_hotel: giving back room H-2
        <clock>  book_hotel: undone
        <clock>  book_flight: being undone
        <clock>  info  book_flight: giving back flight F-1
        <clock>  book_flight: undone
        <clock>  run: failed, 100 is not enough (crates/cli/src/examples/saga.rs:41:20)
        ! error: run `s1` failed at `pay`: 100 is not enough (too_poor)
        !    --> crates/cli/src/examples/saga.rs:41:20
        ! hint: `rival retry s1` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
    lab.rival(&["run", "saga", "--id", "s2", "--input", trip, "--wait", "-o", "json"]).is(&expect![[r#"
        {
          "runId": "s2",
          "workflow": "saga",
          "status": "failed",
          "output": null,
          "results": {
            "book_flight": {
              "result": "F-1",
              "state": {
                "description": "a flight to Lisbon"
              },
              "status": "completed"
            },
            "book_hotel": {
              "result": "H-2",
              "state": {
                "description": "a room in Lisbon"
              },
              "status": "completed"
            },
            "pay": {
              "result": null,
              "state": {},
              "status": "failed"
            }
          },
          "error": {
            "code": "too_poor",
            "message": "100 is not enough",
            "origin": {
              "file": "crates/cli/src/examples/saga.rs",
              "line": 41,
              "column": 20
            }
          },
          "failedStep": {
            "stepName": "pay",
            "path": "pay"
          },
          "reason": null,
          "retriedAs": null,
          "notUndone": []
        }
        ! error: run `s2` failed at `pay`: 100 is not enough (too_poor)
        !    --> crates/cli/src/examples/saga.rs:41:20
        ! hint: `rival retry s2` tries again; steps that completed and were not undone are kept
        exit 1
    "#]]);
}

#[test]
fn a_run_that_takes_longer_goes_on() {
    let lab = Lab::online();
    let expense = r#"{"who": "Ann", "amount": 3}"#;
    let printed = lab.rival(&["run", "approval", "--id", "a1", "--input", expense, "--wait=50ms"]);
    assert_eq!(printed.code, 1);
    assert!(
        printed.err.contains("run `a1` of workflow `approval` is still waiting after"),
        "{}",
        printed.err
    );
    let printed = lab.rival(&["wait", "a1", "--timeout", "50ms"]);
    assert_eq!(printed.code, 1);
    assert_eq!(lab.rival(&["show", "a1", "-o", "json"]).json()["status"], "waiting");
}

#[test]
fn input_comes_from_a_file_or_from_stdin() {
    let lab = Lab::online();
    lab.write("trip.json", r#"{"to": "Lisbon", "budget": 500}"#);
    assert_eq!(lab.rival(&["run", "saga", "-i", "@trip.json", "--wait"]).ok(), "500\n");
    let printed = lab.rival_with(&["run", "saga", "-i", "-", "--wait"], r#"{"to": "Oslo", "budget": 900}"#);
    assert_eq!(printed.ok(), "500\n");
    lab.rival(&["run", "saga", "-i", "@absent.json"]).is(&expect![[r#"
        ! error: cannot read the input from absent.json: No such file or directory (os error 2)
        exit 2
    "#]]);
    lab.rival(&["run", "saga", "-i", "{to: Lisbon}"]).is(&expect![[r#"
        ! error: the input from the command line is not JSON: key must be a string at line 1 column 2
        ! hint: write the input as JSON in single quotes, or as @FILE, or as - for stdin
        exit 2
    "#]]);
    lab.rival(&["run", "saga", "-i", "{}"]).is(&expect![[r#"
        ! error: the input of workflow `saga` is not valid: "to" is a required property; "budget" is a required property
        ! hint: try `rival run saga --input '{"to":"Lisbon","budget":100}'`; `rival workflows saga` shows what it takes
        exit 1
    "#]]);
    lab.rival(&["run", "sage"]).is(&expect![[r#"
        ! error: no workflow is called `sage`; registered are: approval, count_page, fan_out, flaky, nightly, onboarding, order, saga; did you mean `saga`?
        exit 4
    "#]]);
}

#[test]
fn several_runs_are_waited_for_with_their_ids_from_stdin() {
    let lab = Lab::online();
    for id in ["f1", "f2"] {
        lab.rival(&["run", "flaky", "--id", id]).ok();
    }
    lab.rival_with(&["wait", "-", "nope"], "f1\n\n  f2 and more\n").is(&expect![[r#"
        f1  completed  "the answer is 42, without a postcard"
        f2  completed  "the answer is 42, without a postcard"
        ! error: run `nope` not found
        exit 4
    "#]]);
}

#[test]
fn all_runs_are_watched() {
    let lab = Lab::online();
    let mut child = lab.command(&["watch", "--workflow", "flaky"]).spawn().unwrap();
    let out = std::io::BufReader::new(child.stdout.take().unwrap());
    let (told, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| told.send(line)));
    let mut seen: Vec<String> = Vec::new();
    // Nothing is repeated for those who come late, so runs are started until one is seen.
    while !seen.iter().any(|line| line.contains("  flaky  completed")) {
        lab.rival(&["run", "saga", "-i", r#"{"to": "x", "budget": 1}"#, "--wait"]);
        lab.rival(&["run", "flaky", "--wait"]).ok();
        seen.extend(lines.try_iter());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!seen.iter().any(|line| line.contains("saga")), "{seen:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_command_says_so() {
    let lab = Lab::online();
    lab.rival(&["run", "approval", "--id", "a1", "-i", r#"{"who": "Ann", "amount": 3}"#]).ok();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = lab.command(&["watch", "a1"]).spawn().unwrap();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        crate::lab::signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}

/// A stand-in for a server, at the address of the settings. It answers each connection with the next of these, or with
/// nothing if that is empty, and gives the first line of what was asked.
fn stand_in(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let asked = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let mut stream = listener.accept().unwrap().0;
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            asked.push(String::from_utf8_lossy(&bytes[..read]).lines().next().unwrap_or_default().to_owned());
            if !answer.is_empty() {
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
                write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{answer}", answer.len()).unwrap();
            }
        }
        asked
    });
    (address, asked)
}

const ENDED: &str = r#"{"runId":"f1","workflow":"flaky","status":"completed","output":42,"results":{},"error":null,"failedStep":null,"reason":null,"retriedAs":null,"notUndone":[]}"#;

#[test]
fn a_run_that_ends_soon_is_asked_for_once() {
    let (address, asked) = stand_in(&[ENDED]);
    let lab = Lab::offline();
    let mut command = lab.command(&["run", "flaky", "--id", "f1", "--wait"]);
    command.env("RIVAL_LISTEN", address);
    lab.execute(command).is(&expect![[r#"
        42
        ! run f1
    "#]]);
    assert_eq!(asked.join().unwrap(), ["POST /api/workflows/flaky/runs?wait=2s HTTP/1.1"]);
}

#[test]
fn a_run_outlives_the_connection_that_started_it() {
    let (address, asked) = stand_in(&["", ENDED]);
    let lab = Lab::offline();
    let mut command = lab.command(&["run", "flaky", "--id", "f1", "--wait"]);
    command.env("RIVAL_LISTEN", address);
    lab.execute(command).is(&expect![[r#"
        42
        ! run f1
    "#]]);
    let expected =
        ["POST /api/workflows/flaky/runs?wait=2s HTTP/1.1", "GET /api/runs/f1/wait?timeout=60000ms HTTP/1.1"];
    assert_eq!(asked.join().unwrap(), expected);
}

#[test]
fn a_run_that_is_retried_by_itself_is_waited_for_to_its_end() {
    let mut lab = Lab::offline();
    lab.write(
        "flows/second.ts",
        "let failed = false\nfunction charge() {\n  if (failed) return 'paid'\n  failed = true\n  throw new Error('no')\n}\nexport const steps = [charge]\n",
    );
    lab.start(&["serve", "flows", "--script-hosts", "1"]);
    let printed = lab.rival(&["run", "second", "--retries", "2", "--wait"]);
    assert!(printed.err.contains("goes on in its place"), "{}", printed.err);
    assert_eq!(printed.ok(), "\"paid\"\n");
}

#[test]
fn a_retry_and_a_fork_can_be_waited_for() {
    let lab = Lab::online();
    lab.rival(&["run", "saga", "-i", r#"{"to": "x", "budget": 1}"#, "--id", "s1", "--wait"]);
    assert_eq!(lab.rival(&["retry", "s1", "--wait"]).code, 1);
    let fork = lab.rival(&["fork", "s1", "-i", r#"{"to": "x", "budget": 9000}"#, "--id", "s2", "--wait=1m"]);
    fork.ok();
}

#[test]
fn a_wrong_status_is_refused_before_anything_is_asked() {
    let printed = Lab::offline().rival(&["list", "--status", "failed,broken"]);
    assert_eq!(printed.code, 2, "{}", printed.err);
    assert!(printed.err.contains("`broken` is not a run status"), "{}", printed.err);
}
