//! Clients that ask too often.

use rival_server::auth::AccessScope;

use crate::http::Answer;
use crate::server::Server;

async fn stingy() -> Server {
    Server::with(|settings| settings.requests_per_second = Some(1)).await
}

fn assert_must_wait(answer: &Answer) {
    answer.assert_problem(429, "rate_limited");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

/// Asks on one connection, so that nothing takes longer than it must, until the answer is another than `status`.
async fn until_not(server: &Server, status: u16, request: &str) -> (usize, Answer) {
    let mut wire = server.wire().await;
    for asked in 0.. {
        wire.send(request).await;
        let answer = wire.answer().await.unwrap();
        if answer.status != status {
            return (asked, answer);
        }
    }
    unreachable!()
}

#[tokio::test]
async fn a_client_that_asks_too_often_is_told_when_to_come_back() {
    let server = stingy().await;
    let request = server.head("GET", "/open", &[]) + "\r\n";
    let (asked, answer) = until_not(&server, 200, &request).await;
    assert!(asked >= 1);
    assert_must_wait(&answer);
}

#[tokio::test]
async fn refused_requests_count_too() {
    let server = stingy().await;
    let wrong_host = "GET /open HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    assert_must_wait(&until_not(&server, 403, wrong_host).await.1);

    let server = stingy().await;
    let origin = server.head("GET", "/open", &["Origin: https://evil.example"]) + "\r\n";
    assert_must_wait(&until_not(&server, 403, &origin).await.1);

    let server = stingy().await;
    let guess = server.head("GET", "/open", &["Authorization: Bearer rvl_aaaaaaaa_0"]) + "\r\n";
    assert_must_wait(&until_not(&server, 401, &guess).await.1);
}

#[tokio::test]
async fn each_token_has_its_own_count() {
    let server = stingy().await;
    let (one, other) = (server.token(AccessScope::Read), server.token(AccessScope::Read));
    let request =
        |token: &str| server.head("GET", "/read", &[&format!("Authorization: Bearer {token}")]) + "\r\n";
    assert_must_wait(&until_not(&server, 200, &request(&one)).await.1);
    assert_eq!(server.raw(request(&other)).await.unwrap().status, 200);
    assert_eq!(server.get("/read", &[]).await.status, 200);
}

#[tokio::test]
async fn whoever_waits_as_told_is_served_again() {
    // 50 a second: the next one is 20 ms away.
    let server = Server::with(|settings| settings.requests_per_second = Some(50)).await;
    let request = server.head("GET", "/open", &[]) + "\r\n";
    let (_, answer) = until_not(&server, 200, &request).await;
    assert_must_wait(&answer);
    let (_, answer) = until_not(&server, 429, &request).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn nothing_is_counted_where_nobody_wants_it() {
    let server = Server::with(|settings| settings.requests_per_second = Some(0)).await;
    let mut wire = server.wire().await;
    for _ in 0..3_000 {
        wire.send(server.head("GET", "/open", &[]) + "\r\n").await;
        assert_eq!(wire.answer().await.unwrap().status, 200);
    }
}
