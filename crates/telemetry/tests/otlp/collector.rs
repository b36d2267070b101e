//! A collector on this machine: takes spans over OTLP and remembers them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use prost::Message as _;

/// What one request brought.
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) resource: BTreeMap<String, String>,
    pub(crate) spans: Vec<Seen>,
}

/// A span, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) parent: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: BTreeMap<String, String>,
    /// `Internal`, `Server`, `Client`.
    pub(crate) kind: String,
    /// The events, by name.
    pub(crate) events: Vec<(String, BTreeMap<String, String>)>,
    /// What went wrong.
    pub(crate) error: Option<String>,
}

impl Seen {
    pub(crate) fn is(&self, attribute: &str) -> &str {
        self.attributes.get(attribute).map_or("", String::as_str)
    }

    /// Where it is, as the header `traceparent` says it.
    pub(crate) fn at(&self) -> String {
        format!("00-{}-{}-01", self.trace_id, self.span_id)
    }
}

#[derive(Default)]
struct Shelf {
    received: Mutex<Vec<Received>>,
    more: Condvar,
}

pub(crate) struct Collector {
    pub(crate) url: String,
    shelf: Arc<Shelf>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shelf = Arc::new(Shelf::default());
        let known = Arc::clone(&shelf);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let known = Arc::clone(&known);
                thread::spawn(move || while serve(&stream, &known).is_some() {});
            }
        });
        Self { url, shelf }
    }

    /// All spans, as soon as there are enough of them.
    pub(crate) fn spans(&self, enough: impl Fn(&[Seen]) -> bool) -> Vec<Seen> {
        let mut received = self.shelf.received.lock().unwrap();
        loop {
            let spans: Vec<Seen> = received.iter().flat_map(|received| received.spans.clone()).collect();
            if enough(&spans) {
                return spans;
            }
            let (more, waited) = self.shelf.more.wait_timeout(received, Duration::from_secs(30)).unwrap();
            assert!(!waited.timed_out(), "there is no more than {spans:#?}");
            received = more;
        }
    }

    /// What has come so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        std::mem::take(&mut *self.shelf.received.lock().unwrap())
    }
}

/// Answers one request; `None` if there is none.
fn serve(stream: &TcpStream, shelf: &Shelf) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    let mut next = || {
        line.clear();
        reader.read_line(&mut line).ok().filter(|count| *count > 0).map(|_| line.trim_end().to_owned())
    };
    let path = next()?.split(' ').nth(1)?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let line = next()?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let request = ExportTraceServiceRequest::decode(&*body).unwrap();
    shelf.received.lock().unwrap().push(received(path, headers, request));
    shelf.more.notify_all();
    let mut stream = stream;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n")
        .ok()
}

fn received(path: String, headers: BTreeMap<String, String>, request: ExportTraceServiceRequest) -> Received {
    let mut received = Received { path, headers, resource: BTreeMap::new(), spans: Vec::new() };
    for part in request.resource_spans {
        received
            .resource
            .extend(part.resource.map(|resource| words(&resource.attributes)).unwrap_or_default());
        received.spans.extend(part.scope_spans.into_iter().flat_map(|scope| scope.spans).map(seen));
    }
    received
}

fn seen(span: Span) -> Seen {
    let kind = format!("{:?}", span.kind());
    let status = span.status.unwrap_or_default();
    Seen {
        kind,
        events: span.events.iter().map(|event| (event.name.clone(), words(&event.attributes))).collect(),
        name: span.name,
        trace_id: hex(&span.trace_id),
        span_id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: words(&span.attributes),
        error: (status.code == StatusCode::Error as i32).then_some(status.message),
    }
}

fn words(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let word = |attribute: &KeyValue| match attribute.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text.clone()),
        any_value::Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    };
    attributes.iter().map(|it| (it.key.clone(), word(it).unwrap_or_default())).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
