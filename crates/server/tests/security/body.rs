//! Bodies that are too large, too deep, or no JSON.

use crate::server::Server;

const JSON: &str = "Content-Type: application/json";

async fn small() -> Server {
    Server::with(|settings| {
        settings.body_max_bytes = 1_000;
        settings.payload_max_bytes = 5_000;
    })
    .await
}

/// A JSON string of so many bytes.
fn text(bytes: usize) -> String {
    format!("\"{}\"", "x".repeat(bytes - 2))
}

#[tokio::test]
async fn a_body_may_be_as_large_as_its_route_takes_and_no_larger() {
    let server = small().await;
    assert_eq!(server.post("/run", &[], &text(1_000)).await.body, "1000");
    server.post("/run", &[], &text(1_001)).await.assert_problem(413, "payload_too_large");
    assert_eq!(server.post("/payload", &[], &text(5_000)).await.status, 200);
    server.post("/payload", &[], &text(5_001)).await.assert_problem(413, "payload_too_large");
    assert_eq!(server.effects(), 2);
    server.assert_well().await;
}

#[tokio::test]
async fn chunks_are_counted_too() {
    let server = small().await;
    let send = async |bytes: usize| {
        let head = server.head("POST", "/run", &[JSON, "Transfer-Encoding: chunked"]);
        let body = text(bytes);
        let chunks: String = body
            .as_bytes()
            .chunks(100)
            .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), str::from_utf8(chunk).unwrap()))
            .collect();
        server.raw(format!("{head}\r\n{chunks}0\r\n\r\n")).await.unwrap()
    };
    assert_eq!(send(1_000).await.body, "1000");
    send(1_001).await.assert_problem(413, "payload_too_large");
    assert_eq!(server.effects(), 1);
    server.assert_well().await;
}

#[tokio::test]
async fn whoever_announces_far_too_much_is_refused_before_sending_it() {
    let server = small().await;
    let head = server.head("POST", "/run", &[JSON, "Content-Length: 99999999999"]);
    server.raw(format!("{head}\r\n")).await.unwrap().assert_problem(413, "payload_too_large");
    let head = server.head("POST", "/run", &[JSON, "Content-Length: 99999999999", "Expect: 100-continue"]);
    server.raw(format!("{head}\r\n")).await.unwrap().assert_problem(413, "payload_too_large");
    server.assert_well().await;
}

#[tokio::test]
async fn whoever_sends_somewhat_too_much_comes_to_read_the_answer() {
    let server = small().await;
    // More than the buffers of the connection hold, so that the client is still writing when it is too much.
    server.post("/payload", &[], &text(20_000_000)).await.assert_problem(413, "payload_too_large");
    server.assert_well().await;
}

#[tokio::test]
async fn nobody_is_asked_for_a_body_that_will_be_refused() {
    let server = Server::private().await;
    let lines = [JSON, "Content-Length: 10", "Expect: 100-continue"];
    let head = server.head("POST", "/run", &lines);
    server.raw(format!("{head}\r\n")).await.unwrap().assert_problem(401, "unauthorized");
    server.assert_well().await;
}

#[tokio::test]
async fn what_is_no_json_is_the_senders_fault() {
    let server = Server::start().await;
    let deep = "[".repeat(100_000);
    let deep_objects = "{\"a\":".repeat(100_000);
    for body in ["{", "nope", "{\"a\":1}x", "\u{0}", "[1,]", &deep, &deep_objects] {
        let answer = server.post("/payload", &[], body).await;
        assert_eq!(answer.status / 100, 4, "{answer:?}");
    }
    let head = server.head("POST", "/payload", &[JSON, "Content-Length: 4"]);
    let answer = server.raw([head.as_bytes(), b"\r\n\"\xff\xfe\""].concat()).await.unwrap();
    assert_eq!(answer.status / 100, 4, "{answer:?}");
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn lengths_that_contradict_each_other_are_refused() {
    let server = Server::start().await;
    for lines in [
        &[JSON, "Content-Length: 2", "Content-Length: 3"][..],
        &[JSON, "Content-Length: -1"],
        &[JSON, "Content-Length: 2x"],
        &[JSON, "Transfer-Encoding: gzip"],
        &[JSON, "Transfer-Encoding: chunked, identity"],
    ] {
        let request = server.head("POST", "/run", lines) + "\r\n{}";
        let answer = server.raw(request).await;
        assert!(answer.as_ref().is_none_or(|answer| answer.status == 400), "{answer:?}");
    }
    // A proxy before this server may read the length the other way; then the rest is a request of another client.
    let smuggled = server.head("POST", "/admin", &[]);
    let lines = [JSON, "Content-Length: 6", "Transfer-Encoding: chunked"];
    let mut wire = server.wire().await;
    wire.send(server.head("POST", "/run", &lines) + "\r\n0\r\n\r\n" + &smuggled + "\r\n").await;
    let all = String::from_utf8(wire.until_closed().await).unwrap();
    assert!(all.matches("HTTP/1.1").count() <= 1, "{all}");
    assert!(server.effects() <= 1);
    server.assert_well().await;
}

#[tokio::test]
async fn a_chunk_with_a_wrong_size_breaks_the_request_only() {
    let server = Server::start().await;
    let head = server.head("POST", "/run", &[JSON, "Transfer-Encoding: chunked"]);
    for chunks in ["zz\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"] {
        let answer = server.raw(format!("{head}\r\n{chunks}")).await;
        assert!(answer.as_ref().is_none_or(|answer| answer.status == 400), "{answer:?}");
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}
