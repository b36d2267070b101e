//! Connections: many of them, odd ones, and what they say at once.

use crate::http::Wire;
use crate::server::Server;

#[tokio::test]
async fn requests_on_one_connection_are_answered_in_order() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    let get = |path: &str| server.head("GET", path, &[]) + "\r\n";
    let post =
        server.head("POST", "/run", &["Content-Type: application/json", "Content-Length: 2"]) + "\r\n{}";
    wire.send(get("/open") + &post + &get("/nothing") + &get("/page") + &post).await;
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(wire.answer().await.unwrap().status);
    }
    assert_eq!(statuses, [200, 200, 404, 200, 200]);
    assert_eq!(server.effects(), 2);
}

#[tokio::test]
async fn each_request_on_a_connection_is_judged_by_itself() {
    let server = Server::private().await;
    let token = server.token(rival_server::auth::AccessScope::Admin);
    let token = format!("Authorization: Bearer {token}");
    let mut wire = server.wire().await;
    let empty = ["Content-Length: 0"];
    let with = server.head("POST", "/admin", &[&empty[..], &[&token]].concat()) + "\r\n";
    let without = server.head("POST", "/admin", &empty) + "\r\n";
    let elsewhere = "GET /open HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    wire.send(with.clone() + &without + elsewhere + &with).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(wire.answer().await.unwrap().status);
    }
    assert_eq!(statuses, [200, 401, 403, 200]);
    assert_eq!(server.effects(), 2);
}

#[tokio::test]
async fn a_connection_too_many_is_told_so_and_closed() {
    let server = Server::with(|settings| {
        settings.connections_max = 3;
        settings.probes_max = 0;
    })
    .await;
    let mut kept = Vec::new();
    for _ in 0..3 {
        let mut wire = server.wire().await;
        wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
        assert_eq!(wire.answer().await.unwrap().status, 200);
        kept.push(wire);
    }
    for _ in 0..20 {
        let mut wire = server.wire().await;
        let answer = wire.answer().await.unwrap();
        answer.assert_problem(503, "too_many_connections");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(wire.until_closed().await, b"");
    }
    // Those who were there first are served on, and a place that becomes free is used.
    for wire in &mut kept {
        wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
        assert_eq!(wire.answer().await.unwrap().status, 200);
    }
    kept.clear();
    until_there_is_room(&server).await;
    server.assert_well().await;
}

/// The server hears a little later that a client has closed.
async fn until_there_is_room(server: &Server) {
    loop {
        let mut wire = server.wire().await;
        wire.send(server.head("GET", "/open", &["Connection: close"]) + "\r\n").await;
        if wire.answer().await.is_some_and(|answer| answer.status == 200) {
            wire.until_closed().await;
            return;
        }
    }
}

#[tokio::test]
async fn clients_that_vanish_leave_nothing_behind() {
    let server = Server::with(|settings| settings.connections_max = 10).await;
    for bytes in ["", "GET", "GET /open HTTP/1.1\r\n", "\r\n\r\n\r\n"].repeat(25) {
        let mut wire = server.wire().await;
        wire.send(bytes).await;
        // Closed without a word, in the middle of whatever it was.
        socket2::SockRef::from(&wire.stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
        drop(wire);
        until_there_is_room(&server).await;
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_client_that_only_closes_its_half_is_still_answered() {
    let server = Server::start().await;
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
    tokio::io::AsyncWriteExt::shutdown(&mut wire.stream).await.unwrap();
    // Whether it is answered is a courtesy; that the connection ends is not.
    wire.until_closed().await;
    server.assert_well().await;
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let server = Server::with(|settings| settings.head_max_bytes = 16 * 1024).await;
    let long = "x".repeat(100_000);
    let many: String = (0..1_000).map(|n| format!("X-{n}: y\r\n")).collect();
    for request in [
        server.head("GET", "/open", &[&format!("X-Long: {long}")]),
        server.head("GET", &format!("/open?{long}"), &[]),
        server.head("GET", "/open", &[&many]),
        server.head("GET", "/open", &[&format!("Authorization: Bearer {long}")]),
        server.head(&long, "/open", &[]),
    ] {
        let answer = server.raw(request + "\r\n").await;
        // A client that still writes when the server closes may find the connection reset instead of the answer.
        let status = answer.map_or(431, |answer| answer.status);
        assert!(matches!(status, 400 | 414 | 431), "{status}");
    }
    server.assert_well().await;
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let server = Server::start().await;
    let host = format!("Host: {}\r\n", server.address);
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        vec![0; 1_000],
        vec![0xff; 1_000],
        format!("GET /open HTTP/9.9\r\n{host}\r\n").into_bytes(),
        format!("GET  /open HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("GET /o\x01pen HTTP/1.1\r\n{host}\r\n").into_bytes(),
        format!("GET /open HTTP/1.1\r\n{host}X\x00Y: z\r\n\r\n").into_bytes(),
        format!("GET /open HTTP/1.1\r\n{host}X-Y : z\r\n\r\n").into_bytes(),
        format!("GET /open HTTP/1.1\r\n{host} folded\r\n\r\n").into_bytes(),
        b"GET /open\r\n\r\n".to_vec(),
    ] {
        let mut wire = Wire::open(server.address).await;
        wire.send(&bytes).await;
        tokio::io::AsyncWriteExt::shutdown(&mut wire.stream).await.unwrap();
        let said = wire.until_closed().await;
        let said = String::from_utf8_lossy(&said);
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{said}");
    }
    server.assert_well().await;
}

#[tokio::test]
async fn upgrades_and_tunnels_are_not_for_sale() {
    let server = Server::start().await;
    let upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"];
    assert_eq!(server.get("/open", &upgrade).await.status, 200);
    let connect = format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", server.address);
    assert!(matches!(server.raw(connect).await.unwrap().status, 404 | 405));
    server
        .raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
        .await
        .unwrap()
        .assert_problem(403, "host_not_allowed");
    assert_eq!(server.ask("TRACE", "/open", &[]).await.status, 405);
    server.assert_well().await;
}
