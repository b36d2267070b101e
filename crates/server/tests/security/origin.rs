//! From which web pages the server may be used.

use rival_server::guard::GuardError;
use rival_server::secure::SecureError;

use crate::server::{Server, settings, try_secure};

const OPS: &str = "Origin: https://ops.example";

async fn friendly() -> Server {
    Server::with(|settings| settings.allowed_origins = vec!["https://ops.example".to_owned()]).await
}

#[tokio::test]
async fn pages_of_the_server_itself_may_do_everything() {
    let server = Server::start().await;
    for scheme in ["http", "https"] {
        let origin = format!("Origin: {scheme}://{}", server.address);
        assert_eq!(server.get("/read", &[&origin]).await.status, 200);
        let answer = server.post("/run", &[&origin, "Sec-Fetch-Site: same-origin"], "{}").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.effects(), 2);
}

#[tokio::test]
async fn pages_of_others_may_do_nothing() {
    let server = friendly().await;
    let port = server.address.port();
    let origins = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        "*".to_owned(),
        "http://127.0.0.1".to_owned(),
        format!("http://127.0.0.1:{}", port.wrapping_add(1)),
        format!("http://localhost:{port}"),
        format!("ftp://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://evil@127.0.0.1:{port}"),
        "http://ops.example".to_owned(),
        "https://OPS.example".to_owned(),
        "https://ops.example.evil.example".to_owned(),
        "https://ops.example:8443".to_owned(),
    ];
    for origin in &origins {
        let line = format!("Origin: {origin}");
        for path in ["/open", "/read", "/page", "/quiet", "/nothing"] {
            let answer = server.get(path, &[&line]).await;
            answer.assert_problem(403, "origin_not_allowed");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
        server.post("/run", &[&line], "{}").await.assert_problem(403, "origin_not_allowed");
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn two_origins_are_none() {
    let server = friendly().await;
    let own = format!("Origin: http://{}", server.address);
    server.post("/run", &[&own, OPS], "{}").await.assert_problem(400, "bad_request");
    assert_eq!(server.effects(), 0);
}

#[tokio::test]
async fn pages_of_allowed_origins_may_send_and_read() {
    let server = friendly().await;
    let answer = server.post("/run", &[OPS, "Sec-Fetch-Site: cross-site"], "{}").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://ops.example"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(answer.header("vary"), Some("Origin"));
}

#[tokio::test]
async fn pages_of_allowed_origins_can_read_refusals_too() {
    let server = Server::with(|settings| {
        settings.allowed_origins = vec!["https://ops.example".to_owned()];
        settings.require_token = Some(true);
    })
    .await;
    let answer = server.get("/read", &[OPS]).await;
    answer.assert_problem(401, "unauthorized");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://ops.example"));
}

#[tokio::test]
async fn browsers_that_ask_first_are_told_what_allowed_origins_may_send() {
    let server = Server::with(|settings| {
        settings.allowed_origins = vec!["https://ops.example".to_owned()];
        settings.require_token = Some(true);
    })
    .await;
    let asks = ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"];
    let answer = server.ask("OPTIONS", "/run", &[&[OPS], &asks[..]].concat()).await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://ops.example"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET, HEAD, POST, PUT, DELETE"));
    let headers = answer.header("access-control-allow-headers").unwrap();
    for name in ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"] {
        assert!(headers.contains(name), "{headers}");
    }
    assert!(answer.header("access-control-max-age").is_some());

    let answer =
        server.ask("OPTIONS", "/run", &[&["Origin: https://evil.example"], &asks[..]].concat()).await;
    answer.assert_problem(403, "origin_not_allowed");
    assert_eq!(answer.header("access-control-allow-methods"), None);
}

#[tokio::test]
async fn requests_of_other_sites_without_an_origin_are_refused() {
    let server = Server::start().await;
    for site in ["cross-site", "same-site", "whatever"] {
        let site = format!("Sec-Fetch-Site: {site}");
        for lines in [
            &[&*site][..],
            &[&site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
            &[&site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
            &[&site, "Sec-Fetch-Mode: navigate"],
        ] {
            server.get("/read", lines).await.assert_problem(403, "origin_not_allowed");
        }
        let navigation = [&*site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
        server.post("/run", &navigation, "{}").await.assert_problem(403, "origin_not_allowed");
        // A person clicks on a link: the page opens, and the other site can read nothing of it.
        assert_eq!(server.get("/page", &navigation).await.status, 200);
    }
    for site in ["same-origin", "none"] {
        assert_eq!(server.get("/read", &[&format!("Sec-Fetch-Site: {site}")]).await.status, 200);
    }
    assert_eq!(server.effects(), 0);
    server.assert_well().await;
}

#[tokio::test]
async fn no_page_may_be_framed_sniffed_or_kept() {
    let server = Server::start().await;
    for path in ["/page", "/read", "/nothing", "/panic"] {
        let answer = server.get(path, &[]).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(policy.contains("'self'"), path == "/page", "{policy}");
    }
}

#[test]
fn what_is_no_origin_cannot_be_allowed() {
    for entry in ["*", "null", "ops.example", "https://ops.example/", "file://x", "https://*"] {
        let mut settings = settings(([127, 0, 0, 1], 1).into(), "missing/tokens.json".into());
        settings.allowed_origins = vec![entry.to_owned()];
        let error = try_secure(&settings).unwrap_err();
        assert!(matches!(error, SecureError::Guard(GuardError::Origin(_))), "{entry}: {error}");
    }
}
