//! Spans, as a collector sees them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod collector;
mod program;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use collector::{Collector, Seen};
use program::{GIVEN, Program};
use rival::event::CallRole;
use rival::{Path, RunId, TraceParent};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const AT_ONCE: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "10");

/// What a program does in one life, with a collector.
fn seen_of(act: &str, variables: &[(&str, &str)]) -> Vec<Seen> {
    let (collector, folder) = (Collector::start(), tempfile::tempdir().unwrap());
    let mut all = vec![(ENDPOINT, collector.url.as_str())];
    all.extend(variables);
    assert_eq!(Program::start(act, folder.path(), &all).ends(), Some(0));
    collector.spans(|_| true)
}

fn one<'a>(spans: &'a [Seen], name: &str, call: &str) -> &'a Seen {
    let found: Vec<&Seen> =
        spans.iter().filter(|span| span.name == name && span.is("rival.call") == call).collect();
    let [span] = found[..] else { panic!("not one `{name}` with call `{call}` in {spans:#?}") };
    span
}

/// The place of a call in its trace, which a reader can compute from the run, its starter, the node and the number.
fn call_at(run: &str, starter: Option<&str>, node: &str, call: u32) -> String {
    let run = RunId::from(run);
    let starter = starter.and_then(TraceParent::parse);
    TraceParent::of_run(&run, starter).of_call(&run, &Path::from(node), CallRole::Step, call).to_string()
}

#[test]
fn a_run_that_a_crash_cuts_in_two_is_one_trace() {
    let (collector, folder) = (Collector::start(), tempfile::tempdir().unwrap());
    let variables = [(ENDPOINT, collector.url.as_str()), AT_ONCE];
    let mut dies = Program::start("hang", folder.path(), &variables);
    dies.says("hangs");
    collector.spans(|spans| spans.iter().any(|span| span.name == "order/first"));
    dies.kill();
    assert_eq!(Program::start("go on", folder.path(), &variables).ends(), Some(0));
    let spans = collector.spans(|_| true);
    assert_eq!(spans.len(), 4, "{spans:#?}");

    let run = one(&spans, "order", "");
    assert_eq!(run.at(), TraceParent::of_run(&RunId::from("r"), TraceParent::parse(GIVEN)).to_string());
    assert_eq!((&run.trace_id[..], &run.parent[..]), (&GIVEN[3..35], &GIVEN[36..52]));
    assert_eq!(run.is("rival.run_id"), "r");
    assert_eq!(run.is("rival.workflow"), "order");
    assert_eq!(run.is("rival.status"), "completed");
    assert_eq!(run.error, None);

    let (first, lost, second) =
        (one(&spans, "order/first", "1"), one(&spans, "order/second", "1"), one(&spans, "order/second", "2"));
    assert_eq!(first.at(), call_at("r", Some(GIVEN), "first", 1));
    assert_eq!(lost.at(), call_at("r", Some(GIVEN), "second", 1));
    assert_eq!(second.at(), call_at("r", Some(GIVEN), "second", 2));
    for call in [first, lost, second] {
        assert_eq!(call.parent, run.span_id, "{call:#?}");
        assert!(run.start <= call.start && call.start <= call.end, "{run:#?} {call:#?}");
        assert_eq!(
            (call.is("rival.run_id"), call.is("rival.workflow"), call.is("rival.role")),
            ("r", "order", "step")
        );
    }
    assert_eq!((lost.is("rival.outcome"), lost.is("error.type")), ("lost", "interrupted"));
    assert!(lost.error.as_ref().unwrap().starts_with("interrupted: the process that ran the function ended"));
    assert_eq!(
        (second.is("rival.outcome"), second.is("rival.attempt"), &second.error),
        ("succeeded", "1", &None)
    );
    // The run began in the first life.
    assert!(run.start <= first.start && second.end >= lost.end && run.end >= second.end);
}

#[test]
fn failures_say_what_went_wrong() {
    let spans = seen_of("fail", &[]);
    let runs: Vec<&Seen> = spans.iter().filter(|span| span.name == "bad").collect();
    let [run, retry] = runs[..] else { panic!("not two runs in {spans:#?}") };
    assert_eq!(
        (run.is("rival.run_id"), run.is("rival.status"), run.is("error.type")),
        ("r", "failed", "declined")
    );
    assert_eq!(run.error.as_deref(), Some("declined: no money"));
    assert_eq!(run.parent, "");
    let attempts: Vec<&Seen> = spans.iter().filter(|span| span.parent == run.span_id).collect();
    let told: Vec<_> =
        attempts.iter().map(|span| (span.is("rival.attempt"), span.is("rival.outcome"))).collect();
    assert_eq!(told, [("1", "failed"), ("2", "failed")]);
    assert!(attempts.iter().all(|span| span.error.as_deref() == Some("declined: no money")));
    for (span, place) in [(run, "bad"), (attempts[1], "bad/broken (call 2, attempt 2)")] {
        let [(name, exception)] = &span.events[..] else { panic!("not one event in {span:#?}") };
        assert_eq!(name, "exception");
        assert_eq!(exception["exception.type"], "declined");
        assert_eq!(exception["exception.message"], "no money");
        assert_eq!(exception["exception.stacktrace"], format!("declined: no money\n    at {place}"));
    }
    // A retry is a trace of its own, and names where it comes from.
    assert_ne!(retry.trace_id, run.trace_id);
    assert_eq!(retry.is("rival.source_run_id"), "r");
}

#[test]
fn a_child_is_inside_the_call_that_waits_for_it() {
    let spans = seen_of("have a child", &[]);
    let (parent, ask, child) =
        (one(&spans, "parent", ""), one(&spans, "parent/ask", "1"), one(&spans, "order", ""));
    assert_eq!(child.is("rival.run_id"), "r~c1");
    assert_eq!(child.is("rival.parent_run_id"), "r");
    assert_eq!((&child.parent, &ask.parent), (&ask.span_id, &parent.span_id));
    assert!(spans.iter().all(|span| span.trace_id == parent.trace_id), "{spans:#?}");
    assert_eq!(spans.len(), 5);
}

/// A server that gives its answers one after the other, and tells what it was asked.
fn answering(answers: &'static [&'static str]) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = mpsc::channel();
    thread::spawn(move || {
        for status in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") {
                let mut chunk = [0; 1024];
                let count = stream.read(&mut chunk).unwrap();
                bytes.extend_from_slice(&chunk[..count]);
            }
            write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            sender.send(String::from_utf8(bytes).unwrap()).unwrap();
        }
    });
    (target, asked)
}

#[test]
fn a_request_of_a_traced_run_names_its_call() {
    let (target, asked) = answering(&["200 OK"]);
    let spans = seen_of("call", &[("TARGET", &target)]);
    let call = one(&spans, "calling/http", "1");
    let asked = asked.recv().unwrap();
    assert!(asked.contains(&format!("traceparent: {}\r\n", call.at())), "{asked}");
}

/// What a step sends is told without what may be secret.
#[test]
fn an_http_step_is_a_client_span_by_the_conventions() {
    let (target, _asked) = answering(&["503 Busy", "200 OK"]);
    let secret = target.replace("http://", "http://me:hidden@");
    let spans = seen_of("call", &[("TARGET", &format!("{secret}/pay?key=hidden"))]);
    let port = target.rsplit(':').next().unwrap();
    for (call, status) in [("1", "503"), ("2", "200")] {
        let span = one(&spans, "calling/http", call);
        assert_eq!(span.kind, "Client");
        let told = ["http.request.method", "url.full", "server.address", "server.port"].map(|it| span.is(it));
        assert_eq!(told, ["GET", &format!("{target}/pay"), "127.0.0.1", port]);
        assert_eq!(span.is("http.response.status_code"), status);
    }
    let (first, second) = (one(&spans, "calling/http", "1"), one(&spans, "calling/http", "2"));
    assert_eq!((first.is("error.type"), first.is("http.request.resend_count")), ("503", ""));
    assert_eq!((second.is("error.type"), second.is("http.request.resend_count")), ("", "1"));
    assert_eq!(one(&spans, "calling", "").kind, "Internal");
    assert!(!format!("{spans:?}").contains("hidden"), "{spans:#?}");
}

#[test]
fn iterations_share_a_name_and_have_their_index() {
    let spans = seen_of("repeat", &[]);
    let calls: Vec<&Seen> = spans.iter().filter(|span| span.name == "many/each/first").collect();
    let mut told: Vec<_> =
        calls.iter().map(|span| (span.is("rival.iteration"), span.is("rival.node"))).collect();
    told.sort_unstable();
    assert_eq!(told, [("0", "each[0]/first"), ("1", "each[1]/first"), ("2", "each[2]/first")]);
    assert!(spans.iter().all(|span| span.kind == "Internal" && !span.name.contains('[')), "{spans:#?}");
}

#[test]
fn a_run_that_its_starter_does_not_record_is_not_recorded() {
    assert_eq!(seen_of("stay unseen", &[]), []);
}

#[test]
fn the_program_says_who_it_is() {
    let (collector, folder) = (Collector::start(), tempfile::tempdir().unwrap());
    let traces = format!("{}/at/traces", collector.url);
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=7"),
        ("OTEL_SERVICE_NAME", "orders"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
    ];
    Program::start("run", folder.path(), &variables).ends();
    let received = collector.received();
    let [received] = &received[..] else { panic!("{} requests", received.len()) };
    assert_eq!(received.path, "/at/traces");
    assert_eq!(received.headers["x-tenant"], "7");
    assert_eq!(received.headers["content-type"], "application/x-protobuf");
    assert_eq!(received.resource["service.name"], "orders");
    assert_eq!(received.resource["deployment.environment.name"], "test");
}

#[test]
fn without_a_name_the_service_is_rival() {
    let (collector, folder) = (Collector::start(), tempfile::tempdir().unwrap());
    Program::start("run", folder.path(), &[(ENDPOINT, &collector.url)]).ends();
    let received = collector.received();
    assert_eq!(received[0].path, "/v1/traces");
    assert_eq!(received[0].resource["service.name"], "rival");
}

#[test]
fn nothing_is_sent_unless_the_environment_asks_for_it() {
    let (collector, folder) = (Collector::start(), tempfile::tempdir().unwrap());
    let to = (ENDPOINT, collector.url.as_str());
    let cases: [&[(&str, &str)]; 4] = [
        &[],
        &[(ENDPOINT, "")],
        &[to, ("OTEL_SDK_DISABLED", "TRUE")],
        &[to, ("OTEL_TRACES_EXPORTER", "none")],
    ];
    for variables in cases {
        assert_eq!(Program::start("run", folder.path(), variables).ends(), None, "{variables:?}");
    }
    assert!(collector.received().is_empty());
    assert_eq!(
        Program::start("run many", folder.path(), &[to, ("OTEL_TRACES_EXPORTER", "otlp")]).ends(),
        Some(0)
    );
}

#[test]
fn a_wrong_endpoint_is_no_reason_not_to_run() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Program::start("run", folder.path(), &[(ENDPOINT, "nowhere at all")]).ends(), None);
}

/// A collector that is away, and one that takes everything and never answers: the runs end all the same, and so does the
/// program. One that waited would wait for ten minutes.
#[test]
fn a_collector_that_is_not_there_holds_nobody_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap();
    let urls = [&silent, &gone].map(|listener| format!("http://{}", listener.local_addr().unwrap()));
    drop(gone);
    for url in urls {
        let folder = tempfile::tempdir().unwrap();
        let variables = [
            (ENDPOINT, url.as_str()),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "600000"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "64"),
            AT_ONCE,
            ("WITHIN_MS", "100"),
        ];
        let mut program = Program::start("run many", folder.path(), &variables);
        program.says("ran");
        assert_eq!(program.ends(), Some(3_000));
    }
}
