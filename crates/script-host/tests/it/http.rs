//! `httpStep` against a server.

use rival_script_host::frame::{FromHost, ScriptError, ToHost};
use serde_json::{Value, json};

use crate::lab::{Lab, Place, file};
use crate::server::Server;

const FLOW: &str = "
    import { createWorkflow, httpStep } from 'rival'
    const { SERVER } = process.env
    export default createWorkflow('flow').steps([
        { name: 'get', fn: httpStep({ url: `${SERVER}/echo?secret=1`, query: { a: 'b c', none: null } }) },
        { name: 'post', fn: httpStep({
            url: ({ input }) => `${SERVER}/${input.path}`, method: async () => 'post', headers: () => ({ 'X-A': '1' }),
            body: ({ input }) => input, timeout: () => '5s', expect: ({ input }) => input.expect }) },
        { name: 'text', fn: httpStep({ url: `${SERVER}/text`, method: 'PUT', body: 'plain', headers: { 'Idempotency-Key': 'own' } }) },
        { name: 'hang', fn: httpStep({ url: `${SERVER}/hang`, timeout: 20 }) },
        { name: 'slow', fn: httpStep({ url: `${SERVER}/hang` }) },
        { name: 'refused', fn: httpStep({ url: 'http://127.0.0.1:1/x' }) },
        { name: 'inside', fn: httpStep({ url: 'http://169.254.169.254/latest', method: 'POST' }) },
        { name: 'cut', fn: httpStep({ url: `${SERVER}/cut` }) },
        { name: 'large', fn: httpStep({ url: `${SERVER}/text`, maxBodyBytes: 3 }) },
        { name: 'wrong', fn: httpStep({ url: 'nonsense' }) },
        { name: 'ftp', fn: httpStep({ url: 'ftp://x/' }) },
        { name: 'status', fn: httpStep({ url: ({ input }) => `${SERVER}/status/${input}` }) },
    ])";

fn lab() -> Lab {
    let mut lab = Lab::with_env(Place::Thread, &[("SERVER", &Server::start())]);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", FLOW)] });
    lab
}

/// What came of a step, and its description without the time.
fn step(lab: &mut Lab, name: &str, input: Value) -> (Result<Value, ScriptError>, String) {
    lab.begin(name, input);
    let (_, end) = lab.end();
    let description = end.state.unwrap()["description"].as_str().unwrap().to_owned();
    let shown = description.split(" (").next().unwrap().to_owned();
    assert!(description.ends_with(" ms)") || shown.ends_with("not sent"), "{description}");
    (end.outcome, shown)
}

#[test]
fn an_answer_is_the_result() {
    let mut lab = lab();
    let (answer, description) = step(&mut lab, "get", json!(null));
    let answer = answer.unwrap();
    assert_eq!(description, "GET /echo -> 200");
    assert_eq!(
        (&answer["status"], &answer["headers"]["content-type"]),
        (&json!(200), &json!("application/json"))
    );
    assert_eq!(answer["body"]["path"], "/echo?secret=1&a=b+c");
    assert_eq!(answer["body"]["headers"].get("idempotency-key"), None);

    let (answer, description) = step(&mut lab, "post", json!({"path": "echo", "n": 1}));
    let answer = answer.unwrap();
    assert_eq!(description, "POST /echo -> 200");
    let headers = &answer["body"]["headers"];
    assert_eq!(
        (&headers["x-a"], &headers["content-type"], &headers["idempotency-key"]),
        (&json!("1"), &json!("application/json"), &json!("k"))
    );
    let sent: Value = serde_json::from_str(answer["body"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(sent, json!({"path": "echo", "n": 1}));

    let (answer, _) = step(&mut lab, "text", json!(null));
    let answer = answer.unwrap();
    assert_eq!((&answer["body"], &answer["headers"]["x-twice"]), (&json!("plain"), &json!("a, b")));
}

#[test]
fn a_status_is_a_failure_unless_it_is_expected() {
    let mut lab = lab();
    for (status, behavior) in
        [(404, Some("stop")), (302, Some("stop")), (408, None), (429, None), (500, None), (503, None)]
    {
        let (outcome, description) = step(&mut lab, "status", json!(status));
        let error = outcome.unwrap_err();
        assert_eq!(description, format!("GET /status/{status} -> {status}"));
        assert_eq!(
            (error.code.as_deref(), error.behavior.as_deref()),
            (Some("http_status"), behavior),
            "{status}"
        );
        assert!(
            error.message.ends_with(&format!("/status/{status} answered {status}: status {status}")),
            "{}",
            error.message
        );
        assert_eq!(error.details.unwrap(), json!({"status": status, "body": format!("status {status}")}));
    }
    for expect in [json!("any"), json!(404), json!([200, 404])] {
        let (outcome, _) = step(&mut lab, "post", json!({"path": "status/404", "expect": expect}));
        assert_eq!(outcome.unwrap()["status"], 404);
    }
    let (outcome, _) = step(&mut lab, "post", json!({"path": "echo", "expect": 404}));
    assert_eq!(outcome.unwrap_err().code.as_deref(), Some("http_status"));
}

#[test]
fn what_goes_wrong_has_a_code() {
    let mut lab = lab();
    for (name, code, behavior, shown) in [
        ("hang", "http_timeout", None, "GET /hang -> timed out"),
        ("refused", "http_connect", None, "GET /x -> cannot connect"),
        ("inside", "address_not_allowed", Some("stop"), "POST /latest -> not allowed"),
        ("cut", "http_broken", None, "GET /cut -> broken off"),
        ("large", "payload_too_large", Some("stop"), "GET /text -> too large"),
        ("wrong", "http_request", Some("stop"), "GET -> not sent"),
        ("ftp", "http_request", Some("stop"), "GET -> not sent"),
    ] {
        let (outcome, description) = step(&mut lab, name, json!(null));
        let error = outcome.unwrap_err();
        assert_eq!(
            (error.code.as_deref(), error.behavior.as_deref()),
            (Some(code), behavior),
            "{name}: {}",
            error.message
        );
        assert_eq!(description, shown);
    }
}

#[test]
fn an_abort_ends_the_request() {
    let mut lab = lab();
    let call = lab.begin("slow", json!(null));
    lab.tell(&ToHost::Abort { id: call, reason: "cancelled".to_owned(), keep: true });
    let (mut aborted, mut failed) = (false, None);
    while !aborted || failed.is_none() {
        match lab.hear() {
            FromHost::Aborted { .. } => aborted = true,
            FromHost::Failed { error, .. } => failed = Some(error),
            other => panic!("{other:?}"),
        }
    }
    let error = failed.unwrap();
    assert_eq!(
        (error.name.as_str(), error.message.as_str()),
        ("AbortError", "the call was told to stop: cancelled")
    );
}
