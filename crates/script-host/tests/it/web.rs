//! Requests, against a real server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};

use rival_script_host::frame::{FromHost, ToHost};
use serde_json::{Value, json};

use crate::lab::{Lab, Place};

const MANY: usize = 500;

#[derive(Debug, PartialEq, Eq)]
enum News {
    /// One is here.
    Came,
    /// Its client has hung up.
    Gone,
}

/// A server that does as the path says, a thread per connection.
struct Server {
    address: SocketAddr,
    /// What happens to requests that are never answered.
    news: Receiver<News>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, news) = channel();
        let together = Arc::new(Barrier::new(MANY));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tell, together) = (Sender::clone(&tell), Arc::clone(&together));
                std::thread::spawn(move || serve(&stream, &tell, &together));
            }
        });
        Self { address, news }
    }

    fn url(&self, path: &str) -> Value {
        json!(format!("http://{}{path}", self.address))
    }
}

fn serve(stream: &TcpStream, news: &Sender<News>, together: &Barrier) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut out = stream;
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut length = 0;
    let mut headers = String::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        headers += &header;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match path {
        "/echo" => {
            let body = String::from_utf8_lossy(&body);
            let text = format!("{method} {body} {}", headers.to_lowercase().contains("x-mine: yes"));
            write!(
                out,
                "HTTP/1.1 201 Created\r\nx-back: a\r\nx-back: b\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                text.len()
            )
        }
        "/there" => write!(
            out,
            "HTTP/1.1 302 Found\r\nlocation: /echo\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ),
        "/circle" => write!(
            out,
            "HTTP/1.1 302 Found\r\nlocation: /circle\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        ),
        "/never" => {
            news.send(News::Came).map_err(std::io::Error::other)?;
            let mut rest = [0; 1];
            let read = reader.read(&mut rest);
            assert!(matches!(read, Ok(0) | Err(_)));
            news.send(News::Gone).map_err(std::io::Error::other)
        }
        "/together" => {
            // Answers when all are here.
            together.wait();
            write!(out, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        }
        "/huge" => {
            write!(out, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            let chunk = vec![b'x'; 1 << 20];
            (0..40).try_for_each(|_| out.write_all(&chunk))
        }
        _ => write!(out, "nonsense\r\n\r\n"),
    }
}

const FLOW: &str = "
    export const name = 'flow'
    export async function get({ input }) {
        const answer = await fetch(input)
        return [answer.status, answer.redirected, new URL(answer.url).pathname, await answer.text()]
    }
    export async function post({ input }) {
        const answer = await fetch(input, { method: 'POST', body: 'hé', headers: { 'X-Mine': 'yes' } })
        return [answer.status, answer.statusText, answer.headers.get('x-back'), await answer.text()]
    }
    export async function stay({ input }) {
        const answer = await fetch(input, { redirect: 'manual' })
        return answer.status
    }
    export async function refuse({ input }) { return (await fetch(input, { redirect: 'error' })).status }
    export async function abortable({ input, run }) {
        return (await fetch(input, { signal: run.abortSignal })).status
    }
    let end
    export async function leave({ input }) {
        fetch(input)
        await new Promise((go) => { end = go })
    }
    export function release() { end() }
    export const steps = [get, post, stay, refuse, abortable, leave, release]";

#[test]
fn requests_are_answered() {
    let server = Server::new();
    let mut lab = Lab::of(Place::Thread, FLOW);
    assert_eq!(
        lab.call("post", server.url("/echo")).unwrap(),
        json!([201, "Created", "a, b", "POST hé true"])
    );
    assert_eq!(lab.call("get", server.url("/echo")).unwrap(), json!([201, false, "/echo", "GET  false"]));
    assert_eq!(lab.call("get", server.url("/there")).unwrap(), json!([201, true, "/echo", "GET  false"]));
}

#[test]
fn requests_that_fail_say_why() {
    let server = Server::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut lab = Lab::of(Place::Thread, FLOW);
    for (function, url, code) in [
        ("get", server.url("/circle"), "http_broken"),
        ("refuse", server.url("/there"), "http_broken"),
        ("get", server.url("/huge"), "payload_too_large"),
        ("get", server.url("/nonsense"), "http_broken"),
        ("get", json!(format!("http://{nobody}/")), "http_connect"),
        ("get", json!("ftp://127.0.0.1/"), "http_request"),
    ] {
        let error = lab.call(function, url).unwrap_err();
        assert_eq!((error.name.as_str(), error.code.as_deref()), ("TypeError", Some(code)), "{error:?}");
    }
}

#[test]
fn a_request_is_let_go_with_its_signal_and_with_its_call() {
    let server = Server::new();
    let mut lab = Lab::of(Place::Process, FLOW);
    let aborted = lab.begin("abortable", server.url("/never"));
    let forgotten = lab.begin("get", server.url("/never"));
    assert_eq!([server.news.recv().unwrap(), server.news.recv().unwrap()], [News::Came, News::Came]);
    lab.tell(&ToHost::Forget { id: forgotten });
    assert_eq!(server.news.recv().unwrap(), News::Gone);
    lab.tell(&ToHost::Abort { id: aborted, reason: "cancelled".to_owned(), keep: true });
    assert_eq!(server.news.recv().unwrap(), News::Gone);
    let mut seen = Vec::new();
    while seen.len() < 2 {
        match lab.hear() {
            FromHost::Aborted { id } => seen.push(id),
            FromHost::Failed { id, error, .. } => {
                assert_eq!(error.name, "AbortError");
                seen.push(id);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, [aborted, aborted]);
}

#[test]
fn a_request_that_is_not_awaited_ends_with_its_call() {
    let server = Server::new();
    let mut lab = Lab::of(Place::Process, FLOW);
    lab.begin("leave", server.url("/never"));
    assert_eq!(server.news.recv().unwrap(), News::Came);
    lab.begin("release", json!(null));
    assert!(lab.end().1.outcome.is_ok() && lab.end().1.outcome.is_ok());
    assert_eq!(server.news.recv().unwrap(), News::Gone);
}

#[test]
fn five_hundred_requests_are_under_way_at_once() {
    let server = Server::new();
    let mut lab = Lab::of(Place::Process, FLOW);
    // The server answers none before all are there.
    let calls: Vec<u64> = (0..MANY).map(|_| lab.begin("get", server.url("/together"))).collect();
    for _ in &calls {
        let (_, end) = lab.end();
        assert_eq!(end.outcome.unwrap()[3], "ok");
    }
}
