//! A server on a loopback port that tells what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use serde_json::{Map, Value, json};

pub struct Server;

impl Server {
    /// Starts one that ends with the test; gives its address.
    pub fn start() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                std::thread::spawn(move || answer(stream.unwrap()));
            }
        });
        address
    }
}

struct Asked {
    method: String,
    path: String,
    headers: Map<String, Value>,
    body: String,
}

/// One request for each connection.
fn answer(stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(asked) = read(&mut reader) else { return };
    let (status, headers, body) = match asked.path.as_str() {
        "/redirect" => ("302 Found".to_owned(), "location: /echo\r\n", String::new()),
        "/cut" => {
            // The connection ends in the middle of a body.
            let _ = (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
            return;
        }
        "/unfinished" => {
            // 16 MiB of a body that has one byte more.
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", (16 << 20) + 1);
            let sent = (&stream).write_all(head.as_bytes());
            if sent.and_then(|()| (&stream).write_all(&vec![b'x'; 16 << 20])).is_ok() {
                let _ = reader.read(&mut [0]);
            }
            return;
        }
        "/hang" => {
            // Until the other side hangs up.
            let _ = reader.read(&mut [0]);
            return;
        }
        "/text" => (
            "200 OK".to_owned(),
            "content-type: text/plain\r\nx-twice: a\r\nx-twice: b\r\n",
            "plain".to_owned(),
        ),
        path => match path.strip_prefix("/status/") {
            Some("204") => ("204 No Content".to_owned(), "", String::new()),
            Some(status) => {
                (format!("{status} Such"), "content-type: text/plain\r\n", format!("status {status}"))
            }
            None => ("200 OK".to_owned(), "content-type: application/json\r\n", echo(&asked)),
        },
    };
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
    // The client may have closed the connection already.
    let _ = (&stream).write_all(answer.as_bytes());
}

fn echo(asked: &Asked) -> String {
    let Asked { method, path, headers, body } = asked;
    json!({"method": method, "path": path, "headers": headers, "body": body}).to_string()
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let first = line(reader)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Map::new();
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), json!(value));
    }
    let length =
        headers.get("content-length").and_then(Value::as_str).map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

/// A line whose bytes are characters.
fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes).ok().filter(|read| *read > 0)?;
    Some(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().trim_end().to_owned())
}
