//! Connections of the settings and of the API, with a server and without one.

use serde_json::json;

use crate::lab::{Lab, signal};

/// The server that the tests of connections have.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcp/tests/servers/scripted.mjs");

/// Settings with a connection `s`, and a secret in a file beside them.
fn write_settings(lab: &Lab, more: &str) {
    lab.write("secret", "swordfish\n");
    let settings = format!(
        "[connections.s]\ncommand = \"node\"\nargs = [\"{SCRIPT}\"]\nenv = {{ SCRIPT_SECRET = {{ file = \"secret\" }}, OPEN = \"in the open\" }}\n{more}"
    );
    lab.write("rival.toml", &settings);
}

#[test]
fn connections_are_tried_without_a_server() {
    let lab = Lab::offline();
    write_settings(&lab, "[connections.bad]\ncommand = \"/no/such/program\"\n");
    let listed = lab.rival(&["connections"]).ok();
    assert!(listed.contains("s  ready  "), "{listed}");
    assert!(listed.contains("bad  failed  ?  0/8  `/no/such/program` cannot be started: "), "{listed}");
    let tools = lab.rival(&["connections", "tools", "s"]).ok();
    assert!(tools.contains("echo(input: object): unknown\n    does echo\n"), "{tools}");
    let called = lab.rival(&["connections", "call", "s", "text", "-i", r#"{"text": "{\"n\": 1.10}"}"#]).ok();
    assert_eq!(called, "{\n  \"n\": 1.10\n}\n");
    let env = lab.rival(&["connections", "call", "s", "env"]).json();
    assert_eq!((&env["SCRIPT_SECRET"], &env["OPEN"]), (&json!("[redacted]"), &json!("in the open")));
    let failed = lab.rival(&["connections", "call", "s", "fail"]);
    assert_eq!((failed.code, failed.err.lines().next()), (1, Some("error: tool `fail` failed: no")));
    let unknown = lab.rival(&["connections", "call", "t", "fail"]);
    assert_eq!(
        (unknown.code, unknown.err.lines().next()),
        (4, Some("error: there is no connection `t`: there are bad, s"))
    );
    assert_eq!(lab.rival(&["connections", "test", "s"]).code, 0);
    let tested = lab.rival(&["connections", "test", "bad"]);
    assert!(
        tested.code == 1 && tested.err.contains("connection `bad` does not work: `/no/such/program` cannot"),
        "{}",
        tested.all()
    );
    let printed = lab.rival(&["config", "print"]).ok();
    assert!(printed.contains("connections.s  node  ") && !printed.contains("swordfish"), "{printed}");
    assert!(!lab.path("data").exists(), "nothing was stored");
}

#[test]
fn what_is_wrong_with_a_connection_is_said_with_its_line() {
    let lab = Lab::offline();
    lab.write("rival.toml", "[connections.x]\ncomand = \"y\"\n");
    let printed = lab.rival(&["connections"]);
    assert_eq!(printed.code, 2);
    assert!(
        printed.err.contains(
            "rival.toml:2: a connection has no field `comand` (`connections.x`); did you mean `command`?"
        ),
        "{}",
        printed.err
    );
}

#[test]
fn a_server_has_the_connections_of_its_settings_and_ends_them() {
    let mut lab = Lab::offline();
    write_settings(&lab, "");
    lab.serve(&[]);
    let tested = lab.rival(&["connections", "test", "s", "-o", "json"]).json();
    assert_eq!((&tested["health"]["status"], &tested["origin"]), (&json!("ready"), &json!("settings")));
    assert_eq!(tested["definition"]["env"]["OPEN"], json!({"secret": null}));
    assert!(
        tested["definition"]["env"]["SCRIPT_SECRET"]["secret"]["file"].as_str().unwrap().ends_with("/secret")
    );
    let pid = lab.rival(&["connections", "call", "s", "pid"]).json();
    let said = lab.rival(&["connections", "call", "s", "stderr", "-i", r#"{"text": "with swordfish"}"#]).ok();
    assert_eq!(said, "\"written\"\n");
    let removed = lab.rival(&["connections", "remove", "s"]);
    assert_eq!(
        (removed.code, removed.err.lines().next()),
        (1, Some("error: connection `s` is defined in the settings of the server"))
    );
    signal(&lab.server().child, "TERM");
    assert!(lab.server().child.wait().unwrap().success());
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "it ended with the server");
    let log = lab.server().log.lock().unwrap().clone();
    assert!(!log.contains("swordfish"), "{log}");
    assert!(log.contains("with [redacted]"), "{log}");
}

#[test]
fn connections_of_the_api_are_kept_and_bound_by_the_settings() {
    let mut lab = Lab::offline();
    // It need not be there: what is tried here is what is taken.
    let elsewhere = "http://192.0.2.1:9/mcp";
    lab.serve(&[]);
    let refused = |lab: &Lab, definition: serde_json::Value, why: &str| {
        let printed = lab.rival(&["connections", "add", "c", "-d", &definition.to_string()]);
        assert!(printed.code != 0 && printed.err.contains(why), "{definition}: {}", printed.all());
    };
    refused(&lab, json!({"command": "node"}), "`connection_commands`");
    refused(
        &lab,
        json!({"url": elsewhere, "headers": {"Authorization": "Bearer swordfish"}}),
        "`headers.Authorization` is written plainly",
    );
    refused(
        &lab,
        json!({"url": elsewhere, "headers": {"X": {"env": "HOME"}}}),
        "the variable `HOME`, which the setting `connection_secrets` does not list",
    );
    refused(
        &lab,
        json!({"url": elsewhere, "headers": {"X": {"file": "/etc/../etc/passwd"}}}),
        "`connection_secrets`",
    );
    refused(&lab, json!({"url": "ftp://x"}), "`url` begins with neither https: nor http:");
    refused(&lab, json!({"uri": "x"}), "unknown field `uri`");
    let added = lab
        .rival(&["connections", "add", "c", "--to", &format!("{elsewhere}?key=swordfish"), "-o", "json"])
        .json();
    assert_eq!((&added["origin"], &added["definition"]["url"]), (&json!("api"), &json!(elsewhere)));
    lab.kill_server();
    lab.serve(&[]);
    let listed = lab.rival(&["connections", "-o", "ids"]).ok();
    assert_eq!(listed, "c\n");
    lab.rival(&["connections", "remove", "c"]).ok();
    assert_eq!(lab.rival(&["connections", "remove", "c"]).code, 4);
    lab.kill_server();
    lab.serve(&["--connection-commands=true"]);
    assert_eq!(lab.rival(&["connections", "-o", "ids"]).ok(), "");
    let definition = json!({"command": "node", "args": [SCRIPT]}).to_string();
    lab.rival(&["connections", "add", "c", "-d", &definition]).ok();
    assert_eq!(lab.rival(&["connections", "call", "c", "text", "-i", r#"{"text": "x"}"#]).ok(), "\"x\"\n");
    // Where they are not allowed any more, it is not started.
    lab.kill_server();
    lab.serve(&[]);
    assert_eq!(lab.rival(&["connections", "-o", "ids"]).ok(), "");
}
