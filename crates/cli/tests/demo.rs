//! The demo, killed half-way as its reader is told to do.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A demo that is to be interrupted is slow enough that even a busy machine does it in time; the rest is quick.
const SLOW: &str = "40";
const QUICK: &str = "10";

fn demo(data: &Path, pace: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rival"));
    command.arg("demo").arg("--data").arg(data).args(["--pace", pace]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the demo and reads what it prints up to a line that contains `until`.
fn start(data: &Path, until: &str) -> (Child, String) {
    let mut child = demo(data, SLOW).spawn().unwrap();
    let mut printed = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    while !printed.lines().last().is_some_and(|line| line.contains(until)) {
        assert!(out.read_line(&mut printed).unwrap() > 0, "`{until}` never came:\n{printed}");
    }
    // Whatever it prints from now on is thrown away, but must not block it.
    std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
    (child, printed)
}

fn finish(data: &Path) -> String {
    let output = demo(data, QUICK).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// How often a step began, as the step itself wrote it down.
fn begun(data: &Path, step: &str) -> usize {
    let ledger = std::fs::read_to_string(data.join("ledger.txt")).unwrap();
    ledger.lines().filter(|line| line.contains(&format!(" {step} ")) && line.ends_with("begins")).count()
}

const STEPS: [&str; 6] = ["check_stock", "reserve", "charge_card", "pack_parcel", "send_postcard", "ship"];

#[test]
fn a_killed_demo_goes_on_and_runs_no_completed_step_again() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, printed) = start(data.path(), "pack_parcel: started");
    assert!(printed.contains("new run "), "{printed}");
    // The start is durable before the function is called.
    while begun(data.path(), "pack_parcel") == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let printed = finish(data.path());
    assert!(printed.contains(" under way; going on at step pack_parcel\n"), "{printed}");
    let done = "done already, and not run again: check_stock, reserve, charge_card, cooling_off\n";
    assert!(printed.contains(done), "{printed}");
    assert!(printed.contains("pack_parcel: was cut short by a crash and is called again"), "{printed}");
    assert!(printed.contains(r#": {"to":"Ada","tracking":"RV-1200-3"}"#), "{printed}");
    // It fails twice before it succeeds; the call that was cut short was made again.
    assert_eq!(STEPS.map(|step| begun(data.path(), step)), [1, 1, 3, 2, 1, 1]);

    assert!(finish(data.path()).contains("new run "));
}

#[test]
fn a_demo_killed_in_its_sleep_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, _) = start(data.path(), "cooling_off: asleep");
    child.kill().unwrap();
    child.wait().unwrap();
    let printed = finish(data.path());
    assert!(printed.contains(" under way; going on at step cooling_off\n"), "{printed}");
    assert!(!printed.contains("cooling_off: asleep"), "it began its sleep anew:\n{printed}");
    assert_eq!(STEPS.map(|step| begun(data.path(), step)), [1, 1, 3, 1, 1, 1]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_demo_finishes_the_call_at_work_and_goes_on_later() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, _) = start(data.path(), "reserve: started");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let printed = finish(data.path());
    assert!(printed.contains("done already, and not run again: check_stock, reserve\n"), "{printed}");
    assert_eq!(STEPS.map(|step| begun(data.path(), step)), [1, 1, 3, 1, 1, 1]);
}

#[test]
fn a_second_demo_on_the_same_store_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let (mut child, _) = start(data.path(), "check_stock: started");
    let second = demo(data.path(), QUICK).output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    let error = String::from_utf8(second.stderr).unwrap();
    assert!(error.contains("the demo runs already"), "{error}");
}
