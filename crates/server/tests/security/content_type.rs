//! Bodies are JSON, and methods are what the request line says.

use crate::server::Server;

#[tokio::test]
async fn json_is_taken_in_every_spelling() {
    let server = Server::start().await;
    for kind in [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=\"UTF-8\"",
        "application/json; profile=x",
        "application/json;",
    ] {
        let answer = server.post_as("/run", &[&format!("Content-Type: {kind}")], "{}").await;
        assert_eq!(answer.status, 200, "{kind}: {answer:?}");
    }
}

#[tokio::test]
async fn nothing_else_is() {
    let server = Server::start().await;
    for kind in [
        "text/plain",
        "text/plain; x=application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "application/problem+json",
        "application/json; charset=utf-16",
        "application/json; charset=iso-8859-1",
        "application/json, text/plain",
        "",
    ] {
        let line = format!("Content-Type: {kind}");
        server.post_as("/run", &[&line], "{}").await.assert_problem(415, "unsupported_media_type");
        // A form without fields has no body, and would have an effect.
        server.post_as("/run", &[&line], "").await.assert_problem(415, "unsupported_media_type");
    }
    let twice = ["Content-Type: application/json", "Content-Type: text/plain"];
    server.post_as("/run", &twice, "{}").await.assert_problem(415, "unsupported_media_type");
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn a_body_without_a_type_is_refused_and_no_body_needs_none() {
    let server = Server::start().await;
    server.post_as("/run", &[], "{}").await.assert_problem(415, "unsupported_media_type");
    let head = server.head("POST", "/run", &["Transfer-Encoding: chunked"]);
    let chunked = server.raw(format!("{head}\r\n2\r\n{{}}\r\n0\r\n\r\n")).await.unwrap();
    chunked.assert_problem(415, "unsupported_media_type");
    assert_eq!(server.effects(), 0);
    assert_eq!(server.post_as("/run", &[], "").await.status, 200);
    assert_eq!(server.raw(format!("{head}\r\n0\r\n\r\n")).await.unwrap().status, 200);
    assert_eq!(server.ask("POST", "/run", &[]).await.status, 200);
}

#[tokio::test]
async fn get_has_no_effect_whatever_else_it_says() {
    let server = Server::start().await;
    for line in ["X-HTTP-Method-Override: POST", "X-HTTP-Method: POST", "X-Method-Override: POST"] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            assert_eq!(server.ask(method, "/run?_method=POST", &[line]).await.status, 405, "{method}");
        }
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let server = Server::start().await;
    server.get("/nothing", &[]).await.assert_problem(404, "not_found");
    let answer = server.ask("DELETE", "/run", &[]).await;
    answer.assert_problem(405, "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("POST"));
}
