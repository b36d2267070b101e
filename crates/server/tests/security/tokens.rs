//! Who gets in with which token, and what that may do.

use rival_core::Time;
use rival_server::auth::AccessScope;
use rival_server::secure::SecureError;

use crate::http::Answer;
use crate::server::{Server, settings, try_secure};

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

/// Tries one route of each kind: for everyone, read, run, admin.
async fn tried(server: &Server, lines: &[&str]) -> [Answer; 4] {
    [
        server.get("/open", lines).await,
        server.get("/read", lines).await,
        server.post("/run", lines, "{}").await,
        server.post("/admin", lines, "{}").await,
    ]
}

fn statuses(answers: &[Answer; 4]) -> [u16; 4] {
    answers.each_ref().map(|answer| answer.status)
}

#[tokio::test]
async fn on_loopback_no_token_is_needed_but_by_admins() {
    let server = Server::start().await;
    assert_eq!(statuses(&tried(&server, &[]).await), [200, 200, 200, 403]);
    let everything = Server::with(|settings| settings.anonymous_scope = AccessScope::Admin).await;
    assert_eq!(statuses(&tried(&everything, &[]).await), [200; 4]);
}

#[tokio::test]
async fn where_tokens_are_needed_only_open_routes_go_without() {
    let server = Server::private().await;
    let answers = tried(&server, &[]).await;
    assert_eq!(statuses(&answers), [200, 401, 401, 401]);
    for answer in &answers[1..] {
        answer.assert_problem(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert!(answer.body.contains("rival token create"));
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn each_scope_may_do_what_those_before_it_may() {
    // On loopback a token that is shown counts too: it can be less than everything.
    for server in [Server::private().await, Server::start().await] {
        for (scope, expected) in [
            (AccessScope::Read, [200, 200, 403, 403]),
            (AccessScope::Run, [200, 200, 200, 403]),
            (AccessScope::Admin, [200, 200, 200, 200]),
        ] {
            let answers = tried(&server, &[&bearer(&server.token(scope))]).await;
            assert_eq!(statuses(&answers), expected, "{scope:?}");
            for answer in answers.iter().filter(|answer| answer.status == 403) {
                answer.assert_problem(403, "forbidden");
            }
        }
        assert_eq!(server.effects(), 3);
        server.assert_well().await;
    }
}

#[tokio::test]
async fn a_method_of_which_nobody_said_what_it_needs_is_not_there() {
    let server = Server::private().await;
    let admin = bearer(&server.token(AccessScope::Admin));
    for path in ["/half-said", "/page"] {
        assert_eq!(server.get(path, &[]).await.status, 200);
        assert_eq!(server.ask("HEAD", path, &[]).await.status, 200);
        for method in ["POST", "OPTIONS", "TRACE"] {
            for lines in [&[][..], &[&*admin]] {
                let answer = server.ask(method, path, lines).await;
                answer.assert_problem(405, "method_not_allowed");
                assert_eq!(answer.header("allow"), Some("GET,HEAD"));
            }
        }
    }
    assert_eq!(server.effects(), 0);
}

#[tokio::test]
async fn a_header_that_is_there_must_be_right_also_where_none_is_needed() {
    for server in [Server::private().await, Server::start().await] {
        let good = server.token(AccessScope::Admin);
        let id = &good[..13];
        let wrong_secret = format!("{id}{}", "0".repeat(64));
        let wrong_id = good.replacen(id, "rvl_aaaaaaaa_", 1);
        for line in [
            "Authorization: Bearer".to_owned(),
            "Authorization: Bearer ".to_owned(),
            "Authorization:".to_owned(),
            "Authorization: Bearer x".to_owned(),
            "Authorization: Bearer rvl_".to_owned(),
            "Authorization: Bearer rvl__".to_owned(),
            format!("Authorization: Bearer {}", "x".repeat(10_000)),
            format!("Authorization: Basic {good}"),
            format!("Authorization: {good}"),
            format!("Authorization: Bearer {good} "),
            bearer(&wrong_secret),
            bearer(&wrong_id),
            bearer(&good[..good.len() - 1]),
            bearer(&format!("{good}0")),
            bearer(&good.to_uppercase()),
            bearer(&format!("{good}, {good}")),
        ] {
            let is_good = line.trim_end() == bearer(&good);
            for answer in tried(&server, &[&line]).await {
                if is_good {
                    assert_eq!(answer.status, 200, "white space at the end is not part of a header");
                } else {
                    answer.assert_problem(401, "unauthorized");
                }
            }
        }
        let twice = [&*bearer(&good), &*bearer(&good)];
        server.get("/read", &twice).await.assert_problem(401, "unauthorized");
        server.assert_well().await;
    }
}

#[tokio::test]
async fn the_scheme_may_be_spelled_as_one_likes() {
    let server = Server::private().await;
    let token = server.token(AccessScope::Read);
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(server.get("/read", &[&format!("Authorization: {scheme} {token}")]).await.status, 200);
    }
}

#[tokio::test]
async fn a_token_in_the_address_or_a_cookie_is_none() {
    let server = Server::private().await;
    let token = server.token(AccessScope::Admin);
    for query in ["access_token", "token"] {
        server.get(&format!("/read?{query}={token}"), &[]).await.assert_problem(401, "unauthorized");
    }
    server.get("/read", &[&format!("Cookie: token={token}")]).await.assert_problem(401, "unauthorized");
}

#[tokio::test]
async fn an_expired_token_is_refused() {
    let server = Server::private().await;
    let expired = server.tokens.create("old", AccessScope::Admin, Time(0), Some(Time(1))).unwrap().secret;
    let answer = server.get("/read", &[&bearer(&expired)]).await;
    answer.assert_problem(401, "unauthorized");
    assert!(answer.body.contains("expired"));
    let later =
        server.tokens.create("new", AccessScope::Admin, Time(0), Some(Time(i64::MAX))).unwrap().secret;
    assert_eq!(server.get("/read", &[&bearer(&later)]).await.status, 200);
}

#[tokio::test]
async fn a_token_that_is_revoked_while_the_server_runs_is_refused_from_then_on() {
    let server = Server::private().await;
    let new = server.tokens.create("ci", AccessScope::Run, Time(0), None).unwrap();
    let line = bearer(&new.secret);
    assert_eq!(server.post("/run", &[&line], "{}").await.status, 200);
    server.tokens.revoke(&new.token.id).unwrap();
    server.post("/run", &[&line], "{}").await.assert_problem(401, "unauthorized");
    assert_eq!(server.effects(), 1);
    server.assert_well().await;
}

#[tokio::test]
async fn handlers_never_see_a_token() {
    let server = Server::private().await;
    let answer = server.get("/read", &[&bearer(&server.token(AccessScope::Read))]).await;
    assert_eq!(answer.body, "authorization seen: false");
}

#[test]
fn a_server_that_others_can_reach_does_not_start_without_a_token() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:7878", "192.0.2.7:7878", "[::]:7878", "[2001:db8::7]:7878"] {
        let mut settings = settings(address.parse().unwrap(), folder.path().join("tokens.json"));
        let error = try_secure(&settings).unwrap_err();
        assert!(matches!(error, SecureError::NoTokens { .. }), "{error}");
        let message = error.to_string();
        assert!(message.contains(address) && message.contains("rival token create"), "{message}");
        // An operator can turn tokens off: behind a proxy that asks for something better.
        settings.require_token = Some(false);
        try_secure(&settings).unwrap();
    }
    for address in ["127.0.0.1:7878", "127.1.2.3:7878", "[::1]:7878", "[::ffff:127.0.0.1]:7878"] {
        let mut settings = settings(address.parse().unwrap(), folder.path().join("tokens.json"));
        try_secure(&settings).unwrap();
        settings.require_token = Some(true);
        assert!(matches!(try_secure(&settings).unwrap_err(), SecureError::NoTokens { .. }));
    }
}
