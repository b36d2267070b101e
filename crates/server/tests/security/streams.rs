//! Live streams: so many and no more.

use rival_core::Time;
use rival_server::auth::AccessScope;

use crate::http::Wire;
use crate::server::Server;

async fn open(server: &Server, lines: &[&str]) -> (Wire, u16) {
    let mut wire = server.wire().await;
    wire.send(server.head("GET", "/quiet", lines) + "\r\n").await;
    let status = wire.head().await.unwrap().status;
    (wire, status)
}

#[tokio::test]
async fn one_client_gets_three_quarters_of_the_streams() {
    let server = Server::with(|settings| settings.streams_max = 8).await;
    let mut kept = Vec::new();
    for _ in 0..6 {
        let (wire, status) = open(&server, &[]).await;
        assert_eq!(status, 200);
        kept.push(wire);
    }
    let answer = server.get("/quiet", &[]).await;
    answer.assert_problem(429, "too_many_streams");
    assert!(answer.header("retry-after").is_some());

    let other = format!("Authorization: Bearer {}", server.token(AccessScope::Read));
    for expected in [200, 200, 429] {
        let (wire, status) = open(&server, &[&other]).await;
        assert_eq!(status, expected);
        kept.push(wire);
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_stream_that_is_closed_makes_room() {
    let server = Server::with(|settings| settings.streams_max = 1).await;
    for _ in 0..20 {
        let wire = loop {
            let (wire, status) = open(&server, &[]).await;
            match status {
                200 => break wire,
                429 => tokio::task::yield_now().await,
                other => panic!("{other}"),
            }
        };
        assert_eq!(server.get("/quiet", &[]).await.status, 429);
        drop(wire);
    }
    server.assert_well().await;
}

#[tokio::test]
async fn a_stream_that_is_refused_takes_no_place() {
    let server = Server::with(|settings| {
        settings.streams_max = 1;
        settings.require_token = Some(true);
    })
    .await;
    for _ in 0..10 {
        server.get("/quiet", &[]).await.assert_problem(401, "unauthorized");
        server
            .get("/quiet", &["Origin: https://evil.example"])
            .await
            .assert_problem(403, "origin_not_allowed");
    }
    let token = format!("Authorization: Bearer {}", server.token(AccessScope::Read));
    assert_eq!(open(&server, &[&token]).await.1, 200);
}

/// `/flood` sends without end.
#[tokio::test]
async fn a_stream_ends_when_its_token_is_revoked() {
    let server = Server::private().await;
    let new = server.tokens.create("ci", AccessScope::Read, Time(0), None).unwrap();
    let mut wire = server.wire().await;
    let line = format!("Authorization: Bearer {}", new.secret);
    wire.send(server.head("GET", "/flood", &[&line, "Connection: close"]) + "\r\n").await;
    assert_eq!(wire.head().await.unwrap().status, 200);
    server.tokens.revoke(&new.token.id).unwrap();
    wire.until_closed().await;
    server.assert_well().await;
}
