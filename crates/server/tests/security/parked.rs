//! Requests that wait, whose connections are taken apart meanwhile: clients do not notice.

use std::time::Duration;

use crate::http::Wire;
use crate::server::{LARGE, Server};

/// Sends a request that waits, and lets it end when it has begun.
async fn waited(server: &Server, wire: &mut Wire, request: &str) {
    wire.send(request).await;
    server.world.slow_began.notified().await;
    server.world.slow_may_end.notify_one();
}

#[tokio::test]
async fn a_connection_goes_on_after_a_request_that_waited() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    let (wait, open) = (server.head("GET", "/wait", &[]) + "\r\n", server.head("GET", "/open", &[]) + "\r\n");
    for _ in 0..3 {
        waited(&server, &mut wire, &wait).await;
        let answer = wire.answer().await.unwrap();
        assert_eq!((answer.status, &*answer.body), (200, "at last"));
        assert!(answer.header("x-content-type-options").is_some(), "{answer:?}");
        wire.send(&open).await;
        assert_eq!(wire.answer().await.unwrap().body, "open");
    }
}

#[tokio::test]
async fn requests_around_one_that_waits_are_answered_in_order() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    let get = |path: &str| server.head("GET", path, &[]) + "\r\n";
    let post =
        server.head("POST", "/run", &["Content-Type: application/json", "Content-Length: 2"]) + "\r\n{}";
    waited(&server, &mut wire, &(get("/open") + &get("/wait") + &post + &get("/page"))).await;
    let mut bodies = Vec::new();
    for _ in 0..4 {
        bodies.push(wire.answer().await.unwrap().body);
    }
    assert_eq!(bodies, ["open", "at last", "2", "<p>page</p>"]);
    assert_eq!(server.effects(), 1);
}

/// An answer that its client does not read yet is still with the connection that wrote it.
#[tokio::test]
async fn what_was_not_read_yet_is_not_lost() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    let get = |path: &str| server.head("GET", path, &[]) + "\r\n";
    wire.send(get("/large") + &get("/wait")).await;
    assert_eq!(wire.answer().await.unwrap().body.len(), LARGE);
    waited(&server, &mut wire, "").await;
    assert_eq!(wire.answer().await.unwrap().body, "at last");
}

#[tokio::test]
async fn an_answer_is_as_its_request_wanted_it() {
    let server = Server::start().await;
    let address = server.address;
    // Without a body.
    let mut wire = server.wire().await;
    waited(&server, &mut wire, &(server.head("HEAD", "/wait", &[]) + "\r\n")).await;
    let head = wire.head().await.unwrap();
    assert_eq!((head.status, head.header("content-length")), (200, Some("7")));
    wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
    assert_eq!(wire.answer().await.unwrap().body, "open");
    // On a connection that ends.
    for last in [
        server.head("GET", "/wait", &["Connection: close"]) + "\r\n",
        format!("GET /wait HTTP/1.0\r\nHost: {address}\r\n\r\n"),
    ] {
        let mut wire = server.wire().await;
        waited(&server, &mut wire, &last).await;
        assert_eq!(wire.answer().await.unwrap().body, "at last");
        assert_eq!(wire.until_closed().await, b"");
    }
}

#[tokio::test]
async fn a_client_that_leaves_waits_no_more() {
    let server = Server::with(|settings| settings.waits_max = 1).await;
    let get = server.head("GET", "/wait", &[]) + "\r\n";
    let mut leaves = server.wire().await;
    leaves.send(&get).await;
    server.world.slow_began.notified().await;
    server.get("/wait", &[]).await.assert_problem(429, "too_many_waits");
    drop(leaves);
    // Its place is free as soon as the server hears of it.
    loop {
        let mut wire = server.wire().await;
        wire.send(&get).await;
        tokio::select! {
            () = server.world.slow_began.notified() => break,
            answer = wire.answer() => assert_eq!(answer.unwrap().status, 429),
        }
    }
}

#[tokio::test]
async fn who_waits_is_answered_when_the_server_stops() {
    let mut server = Server::with(|settings| settings.drain_timeout = Duration::from_secs(3_600)).await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/wait", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;
    server.begin_to_stop();
    while tokio::net::TcpStream::connect(server.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!server.task.is_finished());
    server.world.slow_may_end.notify_one();
    let answer = wire.answer().await.unwrap();
    assert_eq!((&*answer.body, answer.header("connection")), ("at last", Some("close")));
    server.task.await.unwrap();
}

#[tokio::test]
async fn who_waits_too_long_is_cut_short_when_the_server_stops() {
    let server = Server::with(|settings| settings.drain_timeout = Duration::from_millis(10)).await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/wait", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;
    server.stop().await;
    assert!(wire.answer().await.is_none());
}
