//! Spans of a real server, its scripts and its requests, as a collector sees them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::collector::{Collector, Seen};
use crate::lab::Lab;

const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const FLOW: &str = "
import { createWorkflow, httpStep } from 'rival'
function breaks() { throw new RangeError('too far') }
export const asking = createWorkflow('asking').step(httpStep({ url: ({ input }) => input.url })).step(breaks)
";

/// A server that answers one request, and tells what it was asked.
fn answers_once() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/weather?key=hidden", listener.local_addr().unwrap());
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    });
    (url, asked)
}

fn post(server: &str, path: &str, body: &str) {
    let host = server.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\nuser-agent: test\r\n\
         traceparent: {GIVEN}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream.read_to_string(&mut String::new()).unwrap();
}

fn named<'a>(spans: &'a [Seen], name: &str) -> &'a Seen {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no `{name}` in {spans:#?}"))
}

#[test]
fn a_request_its_run_and_its_http_step_are_one_trace() {
    let collector = Collector::start();
    let mut lab = Lab::offline();
    lab.write("flows/asking.ts", FLOW);
    lab.set_server_env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone().into());
    lab.set_server_env("OTEL_BSP_SCHEDULE_DELAY", "10".into());
    let server = lab.start(&["dev", "flows"]).url.clone();
    let (url, asked) = answers_once();
    post(&server, "/api/workflows/asking/runs?wait=30s", &format!(r#"{{"input": {{"url": "{url}"}}}}"#));
    let spans = collector.spans(|spans| spans.iter().any(|span| span.kind == "Server"));

    let request = named(&spans, "POST /api/workflows/{name}/runs");
    assert_eq!((&request.trace_id[..], &request.parent[..]), (&GIVEN[3..35], &GIVEN[36..52]));
    assert_eq!(request.kind, "Server");
    let port = server.rsplit(':').next().unwrap();
    for (attribute, value) in [
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("http.route", "/api/workflows/{name}/runs"),
        ("url.path", "/api/workflows/asking/runs"),
        ("url.query", "wait=30s"),
        ("url.scheme", "http"),
        ("server.address", "127.0.0.1"),
        ("server.port", port),
        ("client.address", "127.0.0.1"),
        ("user_agent.original", "test"),
    ] {
        assert_eq!(request.is(attribute), value, "{attribute}");
    }
    let (run, step) = (named(&spans, "asking"), named(&spans, "asking/http"));
    assert_eq!((&run.trace_id, &run.parent), (&request.trace_id, &request.span_id));
    assert_eq!((&run.kind[..], &step.kind[..]), ("Internal", "Client"));
    let asked = asked.join().unwrap();
    assert!(asked.contains(&step.at()), "{asked}");
    assert_eq!((step.is("http.request.method"), step.is("http.response.status_code")), ("GET", "200"));
    assert!(step.is("url.full").ends_with("/weather"), "{step:#?}");

    let [(event, exception)] = &named(&spans, "asking/breaks").events[..] else { panic!("{spans:#?}") };
    assert_eq!((&event[..], &exception["exception.type"][..]), ("exception", "RangeError"));
    let stack = &exception["exception.stacktrace"];
    assert!(stack.starts_with("RangeError: too far\n") && stack.contains("asking.ts:3"), "{stack}");
}

#[test]
fn probes_are_no_part_of_traces() {
    let collector = Collector::start();
    let mut lab = Lab::offline();
    lab.set_server_env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.clone().into());
    lab.set_server_env("OTEL_BSP_SCHEDULE_DELAY", "10".into());
    let server = lab.serve(&[]).url.clone();
    let get = |path: &str| {
        let host = server.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
        stream.read_to_string(&mut String::new()).unwrap();
    };
    ["/healthz", "/readyz", "/metrics", "/nothing/here", "/version"].into_iter().for_each(get);
    let spans = collector.spans(|spans| spans.iter().any(|span| span.name == "GET /version"));
    let mut names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["GET", "GET /version"]);
}
