//! The predefined HTTP step, against a real server on this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rival::event::CallRole;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, Path, RunId, RunOutcome, RunStatus, TraceParent, TypedStep};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server that answers every request with what a function says, and remembers what it was asked.
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    line: String,
    headers: String,
    body: String,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Server {
    /// `answer` is given how many requests came before, and says the status line, headers and body.
    async fn start(answer: fn(usize, &Seen) -> (&'static str, String)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let known = Arc::clone(&known);
                tokio::spawn(async move { serve(stream, &known, answer).await });
            }
        });
        Self { url, seen }
    }

    fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    known: &Mutex<Vec<Seen>>,
    answer: fn(usize, &Seen) -> (&'static str, String),
) {
    let Some(seen) = read(&mut stream).await else { return };
    let before = {
        let mut known = known.lock().unwrap();
        known.push(seen.clone());
        known.len() - 1
    };
    let (head, body) = answer(before, &seen);
    if head == "never" {
        std::future::pending::<()>().await;
    }
    let text =
        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await.unwrap();
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let (line, headers) = head.split_once("\r\n")?;
        let seen = Seen { line: line.to_owned(), headers: headers.to_owned(), body: body.to_owned() };
        let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(seen);
        }
    }
}

const JSON: &str = "200 OK\r\ncontent-type: application/json";

async fn run(step: TypedStep<HttpResponse>) -> RunOutcome {
    let workflow = Workflow::new("calling").step(step).build().unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap()
}

fn answer(outcome: &RunOutcome) -> HttpResponse {
    assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
    outcome.output.as_ref().unwrap().decode().unwrap()
}

fn description(outcome: &RunOutcome) -> String {
    outcome.result("http").unwrap().state.to_json()["description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_get_gives_status_headers_and_json() {
    let server = Server::start(|_, _| (JSON, r#"{"rain": true}"#.into())).await;
    let outcome = run(http_step(Http::get(format!("{}/weather", server.url)).query("q", "a b&c"))).await;
    let response = answer(&outcome);
    assert_eq!((response.status, &response.body), (200, &json!({ "rain": true })));
    assert_eq!(response.header("Content-Type"), Some("application/json"));
    let seen = server.seen();
    assert_eq!(seen[0].line, "GET /weather?q=a+b%26c HTTP/1.1");
    assert_eq!(seen[0].header("idempotency-key"), None);
    assert!(seen[0].header("user-agent").unwrap().starts_with("rival/"));
}

#[tokio::test]
async fn a_description_has_the_path_the_status_and_the_time_but_no_query() {
    let server = Server::start(|_, _| (JSON, "1".into())).await;
    let outcome = run(http_step(Http::get(format!("{}/x?token=secret", server.url)))).await;
    let description = description(&outcome);
    let ms = description.strip_prefix("GET /x -> 200 (").and_then(|rest| rest.strip_suffix(" ms)"));
    assert!(ms.is_some_and(|ms| ms.parse::<u64>().is_ok()), "{description}");
}

#[tokio::test]
async fn a_text_is_a_string_and_nothing_is_null() {
    let server = Server::start(|before, _| match before {
        0 => ("200 OK\r\ncontent-type: text/plain", "12".into()),
        1 => ("204 No Content", String::new()),
        _ => ("200 OK\r\ncontent-type: application/problem+json; charset=utf-8", "[1]".into()),
    })
    .await;
    let step = || http_step(Http::get(&server.url));
    assert_eq!(answer(&run(step()).await).body, json!("12"));
    assert_eq!(answer(&run(step()).await).body, Value::Null);
    assert_eq!(answer(&run(step()).await).body, json!([1]));
}

#[tokio::test]
async fn a_post_sends_its_body_and_the_same_key_in_every_attempt() {
    let server = Server::start(|before, _| match before {
        0 => ("503 Service Unavailable", "later".into()),
        _ => (JSON, "{}".into()),
    })
    .await;
    let request = Http::post(format!("{}/orders", server.url)).json(&json!({ "id": 7 })).bearer("t");
    let outcome = run(http_step(request).retry(3)).await;
    assert_eq!(answer(&outcome).status, 200);
    let seen = server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].line, "POST /orders HTTP/1.1");
    assert_eq!(seen[0].body, r#"{"id":7}"#);
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    assert_eq!(seen[0].header("authorization"), Some("Bearer t"));
    let key = format!("{}/http", outcome.run_id);
    assert_eq!(seen[0].header("idempotency-key"), Some(key.as_str()));
    assert_eq!(seen[1].header("idempotency-key"), Some(key.as_str()));
}

#[step]
async fn base(Input(base): Input<String>) -> Result<String, StepError> {
    Ok(format!("{base}/trees"))
}

async fn tree(base: Output<base>, run: Run) -> Result<Http, StepError> {
    Ok(Http::put(format!("{}/{}", *base, run.attempt())).json(&run.workflow()))
}

#[step]
async fn read_tree(last: LastStep) -> Result<u32, StepError> {
    last.get::<HttpResponse>()?.json()
}

#[tokio::test]
async fn a_request_can_be_made_from_inputs_and_results() {
    let server = Server::start(|_, seen| (JSON, seen.body.len().to_string())).await;
    let workflow = Workflow::new("trees")
        .input::<String>()
        .step(base)
        .step(http_by(tree))
        .step(http_by(tree).named("again"))
        .step(read_tree)
        .build()
        .unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let run = engine.run(&workflow, server.url.clone()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 7);
    let lines: Vec<String> = server.seen().into_iter().map(|seen| seen.line).collect();
    assert_eq!(lines, ["PUT /trees/1 HTTP/1.1"; 2]);
    assert_eq!(workflow.edges()[0], ("base".to_owned(), "http".to_owned()));
}

#[tokio::test]
async fn a_status_that_will_stay_the_same_fails_at_once() {
    let server = Server::start(|_, _| ("404 Not Found", "no such tree".into())).await;
    let outcome = run(http_step(Http::get(format!("{}/tree?key=secret", server.url))).retry(3)).await;
    assert_eq!(outcome.status, RunStatus::Failed);
    let error = outcome.error.as_ref().unwrap();
    assert_eq!(error.code, "http_status");
    assert_eq!(error.message, format!("GET {}/tree answered 404: no such tree", server.url));
    assert_eq!(error.details.as_ref().unwrap().to_json(), json!({ "status": 404, "body": "no such tree" }));
    assert_eq!(server.seen().len(), 1);
    assert!(description(&outcome).starts_with("GET /tree -> 404 ("));
}

#[tokio::test]
async fn a_status_that_may_pass_is_tried_again() {
    for head in ["500 Internal Server Error", "429 Too Many Requests", "408 Request Timeout"] {
        let server = match head.as_bytes()[0..3] {
            [b'5', ..] => Server::start(|_, _| ("500 Internal Server Error", String::new())).await,
            [_, b'2', _] => Server::start(|_, _| ("429 Too Many Requests", String::new())).await,
            _ => Server::start(|_, _| ("408 Request Timeout", String::new())).await,
        };
        let outcome = run(http_step(Http::get(&server.url)).retry(2)).await;
        assert_eq!(outcome.status, RunStatus::Failed);
        assert!(server.seen().len() >= 2, "{head}");
    }
}

#[tokio::test]
async fn any_status_can_be_a_result() {
    let server = Server::start(|_, _| ("404 Not Found\r\ncontent-type: application/json", "[]".into())).await;
    let response = answer(&run(http_step(Http::get(&server.url).any_status())).await);
    assert_eq!((response.status, response.is_success(), response.body), (404, false, json!([])));
}

#[tokio::test]
async fn no_answer_in_time_is_a_failure() {
    let server = Server::start(|_, _| ("never", String::new())).await;
    let request = Http::get(format!("{}/slow", server.url)).timeout(Duration::from_millis(50));
    let outcome = run(http_step(request).retry(2)).await;
    assert_eq!(outcome.status, RunStatus::Failed);
    let error = outcome.error.as_ref().unwrap();
    assert_eq!(error.code, "http_timeout");
    assert_eq!(error.message, format!("GET {}/slow: no answer within 50 ms", server.url));
    assert_eq!(server.seen().len(), 2);
    assert!(description(&outcome).starts_with("GET /slow -> timed out ("));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let step = http_step(Http::get(format!("http://{address}/"))).retry(3).continue_on_error();
    let workflow = Workflow::new("calling").step(step).build().unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let view = run.state().await.unwrap();
    let step = &view.steps[0];
    assert_eq!((step.status, step.retry_count), (NodeStatus::Failed, 2));
    assert_eq!(step.error.as_ref().unwrap().failure.code, "http_connect");
}

#[tokio::test]
async fn a_body_over_the_limit_is_a_failure() {
    let server = Server::start(|_, _| (JSON, format!("\"{}\"", "x".repeat(100)))).await;
    let outcome = run(http_step(Http::get(&server.url).max_body_bytes(100)).retry(3)).await;
    assert_eq!(outcome.error.unwrap().code, "payload_too_large");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_wrong_request_is_never_sent() {
    for request in [
        Http::get("nowhere"),
        Http::get("file:///etc/hosts"),
        Http::get("http://localhost/").header("a b", "c"),
        Http::new("G T", "http://localhost/"),
        Http::post("http://localhost/").json(&std::collections::BTreeMap::from([((1, 2), 3)])),
    ] {
        let outcome = run(http_step(request.clone()).retry(3)).await;
        let error = outcome.error.unwrap();
        assert_eq!(error.code, "http_request", "{request:?}: {error}");
    }
}

#[test]
fn secrets_are_not_in_the_debug_form() {
    let request = Http::get("https://example.com/x?key=secret").bearer("secret").query("k", "secret");
    let text = format!("{request:?}");
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn connections_outlive_the_runtime_they_were_made_in() {
    // One client serves all runtimes of a process; programs have one, but tests have one each.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{BufRead, BufReader, Write};
        for stream in server.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    if line.is_empty() {
                        (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
                    }
                }
            });
        }
    });
    for _ in 0..3 {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        assert_eq!(runtime.block_on(async { answer(&run(http_step(Http::get(&url))).await) }).status, 200);
    }
}

#[tokio::test]
async fn a_request_is_in_the_trace_of_its_run() {
    let server = Server::start(|before, _| match before {
        0 => ("503 Later", String::new()),
        _ => (JSON, "{}".to_owned()),
    })
    .await;
    let step = http_step(Http::get(&server.url)).retry(2);
    let workflow = Workflow::new("calling").step(step).build().unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let run = engine.run(&workflow, ()).id("r").trace(given).await.unwrap();
    answer(&engine.finish(run.id()).await.unwrap());
    let run = TraceParent::of_run(run.id(), TraceParent::parse(given));
    for (seen, call) in server.seen().iter().zip([1, 2]) {
        let span = run.of_call(&RunId::from("r"), &Path::from("http"), CallRole::Step, call).to_string();
        assert_eq!(seen.header("traceparent"), Some(span.as_str()));
    }
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_request_with_a_trace_of_its_own_keeps_it() {
    let server = Server::start(|_, _| (JSON, "{}".to_owned())).await;
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    let workflow = Workflow::new("calling")
        .step(http_step(Http::get(&server.url).header("TraceParent", own)))
        .build()
        .unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let run = engine.run(&workflow, ()).trace(given).await.unwrap();
    answer(&engine.finish(run.id()).await.unwrap());
    assert_eq!(server.seen()[0].header("traceparent"), Some(own));
    assert_eq!(server.seen()[0].headers.to_lowercase().matches("traceparent").count(), 1);
}

#[tokio::test]
async fn without_a_trace_no_request_says_anything_of_one() {
    let server = Server::start(|_, _| (JSON, "{}".to_owned())).await;
    answer(&run(http_step(Http::get(&server.url))).await);
    assert_eq!(server.seen()[0].header("traceparent"), None);
}

/// The guide's own pattern: a URL out of the run's input.
async fn callback(Input(url): Input<String>) -> Result<Http, StepError> {
    Ok(Http::post(url).json(&json!({ "action": "kill", "filter": {} })))
}

async fn called_back(policy: Option<OutgoingPolicy>, url: &str) -> RunOutcome {
    let workflow: Workflow<String, HttpResponse> =
        Workflow::new("calling_back").input::<String>().step(http_by(callback).retry(3)).build().unwrap();
    let builder = Engine::builder().workflow(&workflow);
    let builder = match policy {
        Some(policy) => builder.provide(policy),
        None => builder,
    };
    let engine = builder.build().await.unwrap();
    engine.run(&workflow, url.to_owned()).await.unwrap().wait().await.unwrap()
}

#[tokio::test]
async fn a_request_from_an_input_does_not_reach_this_machine_unless_it_may() {
    let server = Server::start(|_, _| ("200 OK", "{}".to_owned())).await;
    let port = server.url.rsplit(':').next().unwrap();
    for host in
        ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1"]
    {
        let outcome = called_back(None, &format!("http://{host}:{port}/api/runs/bulk")).await;
        let error = outcome.error.unwrap();
        assert_eq!(error.code, "address_not_allowed", "{host}: {error}");
        assert!(error.message.contains("`outgoing_allow`"), "{error}");
    }
    assert_eq!(server.seen().len(), 0);
    let loopback = OutgoingPolicy::public().allow_loopback();
    let outcome = called_back(Some(loopback.clone()), &format!("http://localhost:{port}/")).await;
    assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
    assert_eq!(server.seen().len(), 1);
    // The server's own address is refused also where loopback is allowed, once and not in three attempts.
    let own = loopback.never(server.url.strip_prefix("http://").unwrap().parse().unwrap());
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "2130706433"] {
        let outcome = called_back(Some(own.clone()), &format!("http://{host}:{port}/")).await;
        assert_eq!(outcome.error.unwrap().code, "address_not_allowed", "{host}");
    }
    assert_eq!(server.seen().len(), 1);
}
