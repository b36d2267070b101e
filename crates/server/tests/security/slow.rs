//! Clients that take their time.

use std::time::Duration;

use crate::server::Server;

const JSON: &str = "Content-Type: application/json";

async fn impatient() -> Server {
    Server::with(|settings| {
        settings.head_timeout = Duration::from_millis(50);
        settings.body_timeout = Duration::from_millis(50);
        settings.write_timeout = Duration::from_millis(50);
    })
    .await
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let server = impatient().await;
    let head = server.head("GET", "/open", &[]);
    for part in ["", "G", "GET /open HTTP/1.1\r\n", &*head] {
        let mut wire = server.wire().await;
        wire.send(part).await;
        let said = String::from_utf8(wire.until_closed().await).unwrap();
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_head_that_comes_letter_by_letter_ends_the_connection() {
    let server = impatient().await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/open", &[])).await;
    // Always something, never enough, and so slowly that it stays small: until writing fails, because the server has
    // closed.
    while tokio::io::AsyncWriteExt::write_all(&mut wire.stream, b"x: y\r\n").await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_connection_that_is_done_does_not_stay_for_ever() {
    let server = impatient().await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
    assert_eq!(wire.answer().await.unwrap().status, 200);
    assert_eq!(wire.until_closed().await, b"");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_timeout() {
    let server = impatient().await;
    let announced = server.head("POST", "/run", &[JSON, "Content-Length: 10"]);
    let chunked = server.head("POST", "/run", &[JSON, "Transfer-Encoding: chunked"]);
    for request in [
        format!("{announced}\r\n"),
        format!("{announced}\r\n{{\"a\":"),
        format!("{chunked}\r\n"),
        format!("{chunked}\r\n5\r\n{{\"a"),
        format!("{chunked}\r\n2\r\n{{}}\r\n"),
    ] {
        server.raw(request).await.unwrap().assert_problem(408, "request_timeout");
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_has_no_effect() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    wire.send(server.head("POST", "/run", &[JSON, "Content-Length: 10"]) + "\r\n{\"a\":").await;
    tokio::io::AsyncWriteExt::shutdown(&mut wire.stream).await.unwrap();
    wire.until_closed().await;
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_let_go() {
    let server = Server::with(|settings| {
        settings.write_timeout = Duration::from_millis(50);
        settings.streams_max = 1;
    })
    .await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/flood", &[]) + "\r\n").await;
    // Its place is free again although the client never closed anything: the server gave up on it.
    loop {
        let mut other = server.wire().await;
        other.send(server.head("GET", "/quiet", &[]) + "\r\n").await;
        match other.head().await.unwrap().status {
            200 => break,
            429 => tokio::task::yield_now().await,
            other => panic!("{other}"),
        }
    }
    // What it was sent is what the buffers of the connection hold, and no end.
    let got = wire.until_closed().await;
    assert!(!got.ends_with(b"0\r\n\r\n"));
    server.assert_well().await;
}
