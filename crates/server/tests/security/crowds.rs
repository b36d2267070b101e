//! One client that takes all it can get, and others that must still be served: places for connections and for requests
//! that wait, and probes.

use std::net::SocketAddr;

use tokio::net::{TcpSocket, TcpStream};

use crate::http::{Answer, Wire};
use crate::server::{LARGE, Server};

/// A connection from another address of this machine.
async fn from_elsewhere(server: &Server) -> Wire {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    let stream: TcpStream = socket.connect(server.address).await.unwrap();
    Wire::on(stream)
}

async fn ask(server: &Server, wire: &mut Wire, path: &str) -> Answer {
    wire.send(server.head("GET", path, &[]) + "\r\n").await;
    wire.answer().await.unwrap()
}

/// Connections that send half a head and no more, until the server turns one away.
async fn slowloris(server: &Server, connections: usize) -> Vec<Wire> {
    let mut wires = Vec::new();
    for _ in 0..connections {
        let mut wire = server.wire().await;
        wire.send("GET /open HTTP/1.1\r\nHost: ").await;
        wires.push(wire);
    }
    wires
}

#[tokio::test]
async fn connections_from_one_address_leave_places_for_others() {
    let server = Server::with(|settings| settings.connections_max = 8).await;
    let wires = slowloris(&server, 6).await;
    // All that one address may have.
    server.get("/open", &[]).await.assert_problem(503, "too_many_connections");
    let mut other = from_elsewhere(&server).await;
    assert_eq!(ask(&server, &mut other, "/open").await.status, 200);
    drop(wires);
}

#[tokio::test]
async fn probes_are_answered_when_all_places_are_taken() {
    let server = Server::with(|settings| settings.connections_max = 4).await;
    let wires = slowloris(&server, 3).await;
    let mut other = from_elsewhere(&server).await;
    assert_eq!(ask(&server, &mut other, "/open").await.status, 200);
    for _ in 0..100 {
        assert_eq!(server.get("/probe", &[]).await.status, 200);
    }
    let refused = server.get("/open", &[]).await;
    refused.assert_problem(503, "too_many_connections");
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(wires);
}

#[tokio::test]
async fn probes_are_not_counted_against_a_busy_client() {
    let server = Server::with(|settings| settings.requests_per_second = Some(1)).await;
    while server.get("/open", &[]).await.status != 429 {}
    for _ in 0..20 {
        assert_eq!(server.get("/probe", &[]).await.status, 200);
    }
}

#[tokio::test]
async fn requests_that_wait_have_places_of_their_own() {
    let server = Server::with(|settings| settings.waits_max = 4).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut wire = server.wire().await;
        wire.send(server.head("GET", "/wait", &[]) + "\r\n").await;
        server.world.slow_began.notified().await;
        waiting.push(wire);
    }
    let refused = server.get("/wait", &[]).await;
    refused.assert_problem(429, "too_many_waits");
    assert_eq!(refused.header("retry-after"), Some("5"));
    // A quarter is left for others, and everything else goes on.
    let mut other = from_elsewhere(&server).await;
    other.send(server.head("GET", "/wait?x=1", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;
    assert_eq!(server.get("/open", &[]).await.status, 200);
    // A place is free again as soon as the answer is there.
    server.world.slow_may_end.notify_one();
    assert_eq!(waiting[0].answer().await.unwrap().status, 200);
    server.world.slow_may_end.notify_one();
    let mut again = server.wire().await;
    again.send(server.head("GET", "/wait", &[]) + "\r\n").await;
    server.world.slow_began.notified().await;
}

#[tokio::test]
async fn answers_that_nobody_reads_leave_room_for_others() {
    let server = Server::with(|settings| settings.answers_max_bytes = 3 * LARGE).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut wire = server.wire().await;
        wire.send(server.head("GET", "/large", &[]) + "\r\n").await;
        assert_eq!(wire.head().await.unwrap().status, 200);
        held.push(wire);
    }
    // One client has its share; what is small always goes.
    let refused = server.get("/large", &[]).await;
    refused.assert_problem(503, "too_many_answers");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.get("/open", &[]).await.status, 200);
    // A client that closes its connection gives the room back, a little later.
    held.clear();
    while server.get("/large", &[]).await.status != 200 {}
}
