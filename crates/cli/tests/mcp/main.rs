//! MCP clients that others wrote, against the real binary: `rival mcp` on its streams, and `/mcp` of a server. `make setup`
//! installs them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod lab;

use lab::{HELLO, Lab};

#[test]
fn the_typescript_sdk_runs_workflows_over_stdio() {
    let lab = Lab::served(&[]);
    lab.typescript().run(&lab.stdio(), "runs");
}

#[test]
fn the_typescript_sdk_runs_workflows_over_http() {
    let lab = Lab::served(&[]);
    lab.typescript().run(&lab.http(), "runs");
}

#[test]
fn the_typescript_sdk_writes_a_workflow() {
    let lab = Lab::served(&[]);
    let client = lab.typescript();
    client.run(&lab.stdio(), "documents");
    client.run(&lab.http(), "documents");
}

#[test]
fn a_token_may_do_with_tools_what_it_may_do_without() {
    let lab = Lab::served(&["--require-token"]);
    let said = lab.typescript().run(&lab.http(), "rights");
    // Who asked is in the history.
    let run = said.trim();
    let history = lab.rival(&["history", run, "-o", "json"]);
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history[0]["by"], "runner");
}

#[test]
fn two_clients_wait_at_once_and_one_goes_away() {
    let lab = Lab::served(&[]);
    let client = lab.typescript();
    client.run(&lab.stdio(), "crowd");
    client.run(&lab.http(), "crowd");
}

#[test]
fn without_a_server_the_store_can_be_looked_at() {
    let lab = Lab::offline();
    lab.rival(&["run", "flaky"]);
    lab.typescript().run(&lab.stdio(), "offline");
}

#[test]
fn a_client_outlives_the_server() {
    let mut lab = Lab::served(&[]);
    let client = lab.typescript();
    for place in [lab.stdio(), lab.http()] {
        let mut talk = client.start(&place, "restart");
        talk.hear("began");
        lab.kill_server();
        talk.say("it is gone");
        talk.hear("noticed");
        lab.serve_again();
        talk.say("it is there");
        talk.ends_well();
    }
}

#[test]
fn the_python_sdk_runs_workflows() {
    let lab = Lab::served(&[]);
    lab.python().run(&lab.stdio(), "runs");
    lab.python().run(&lab.http(), "runs");
}

#[test]
fn the_python_sdk_writes_a_workflow() {
    let lab = Lab::served(&[]);
    lab.python().run(&lab.stdio(), "documents");
    lab.python().run(&lab.http(), "documents");
}

/// A client that closes its end, or only looks whether the program starts.
#[test]
fn stdout_has_the_protocol_only_and_the_end_of_stdin_is_the_end() {
    let lab = Lab::offline();
    let nothing = lab.speak("");
    assert_eq!(nothing, "");
    let answers = lab.speak(&format!(
        "no JSON\n\n{HELLO}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
    ));
    for line in answers.lines() {
        let answer: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer["jsonrpc"], "2.0");
    }
    assert!(answers.contains("\"serverInfo\""), "{answers}");
}

/// Also while the client says nothing and does not go away.
#[test]
fn a_signal_ends_it() {
    let lab = Lab::offline();
    let (mut child, _stdin) = lab.listening();
    let told = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
}
