//! The real routes, all of them: each is behind what the others are behind.

use rival::prelude::*;
use rival_core::Time;
use rival_server::auth::AccessScope;
use rival_server::token::TokenFile;
use rival_server::{Server, Settings, local_secret, openapi};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::http::{Answer, Wire};
use crate::server::settings;

async fn answer() -> Result<u32, StepError> {
    Ok(42)
}

/// A server that wants tokens, over an engine with a workflow and no runs.
struct Real {
    host: String,
    address: std::net::SocketAddr,
    engine: Engine,
    tokens: TokenFile,
    _folder: TempDir,
    _stop: oneshot::Sender<()>,
}

impl Real {
    async fn start() -> Self {
        Self::start_with(|settings| settings.require_token = Some(true)).await
    }

    async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let workflow = Workflow::new("order").step(answer).build().unwrap();
        let engine = Engine::builder().workflow(workflow).build().await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFile::new(folder.path().join("tokens.json"));
        tokens.create("first", AccessScope::Admin, Time(0), None).unwrap();
        let mut settings = settings(address, tokens.path().to_owned());
        change(&mut settings);
        let server = Server::new(engine.clone(), settings).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(server.serve(listener, async { drop(stopped.await) }));
        Self { host: format!("Host: {address}"), address, engine, tokens, _folder: folder, _stop: stop }
    }

    fn token(&self, scope: AccessScope) -> String {
        let new = self.tokens.create(scope.as_str(), scope, Time(0), None).unwrap();
        format!("Authorization: Bearer {}", new.secret)
    }

    async fn ask(&self, request: &str, lines: &[&str], body: &str) -> Answer {
        let mut wire = Wire::open(self.address).await;
        let length = format!("Content-Length: {}", body.len());
        let lines = [&[&*length], lines].concat().join("\r\n");
        wire.send(format!("{request} HTTP/1.1\r\n{lines}\r\n\r\n{body}")).await;
        let head = wire.head().await.unwrap_or_else(|| panic!("no answer to {request}"));
        // Streams have no end, and what they send does not matter here.
        if request.contains("/stream") && head.status == 200 {
            head
        } else {
            wire.rest_of(head).await.unwrap()
        }
    }

    /// Who started a run, by the first event that the API shows.
    async fn starter_of(&self, lines: &[&str]) -> Value {
        let lines = [&[&*self.host, JSON], lines].concat();
        let started = self.ask("POST /api/workflows/order/runs", &lines, "{}").await.json();
        let path = format!("GET /api/runs/{}/events", started["runId"].as_str().unwrap());
        self.ask(&path, &lines, "").await.json()["items"][0]["by"].clone()
    }

    async fn runs(&self) -> usize {
        self.engine.runs(&rival::RunFilter::default(), &rival::Page::default()).await.unwrap().len()
    }
}

/// Every operation of the document as `METHOD /path` that could be, and the scope that it says it needs.
fn operations() -> Vec<(String, Option<AccessScope>)> {
    let document: Value = openapi();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "nobody").replace("{name}", "order");
        for (method, operation) in item.as_object().unwrap() {
            let scope = &operation["x-required-scope"];
            let scope = scope.is_string().then(|| serde_json::from_value(scope.clone()).unwrap());
            all.push((format!("{} {path}", method.to_uppercase()), scope));
        }
    }
    assert!(all.len() > 25, "{all:?}");
    all
}

const JSON: &str = "Content-Type: application/json";

#[tokio::test]
async fn every_route_wants_the_scope_that_the_document_names() {
    let real = Real::start().await;
    let scopes = [AccessScope::Read, AccessScope::Run, AccessScope::Admin];
    let tokens = scopes.map(|scope| real.token(scope));
    for (request, needed) in operations() {
        let without = real.ask(&request, &[&real.host, JSON], "{}").await;
        assert_eq!(without.status == 401, needed.is_some(), "{request}: {without:?}");
        for (scope, token) in scopes.iter().zip(&tokens) {
            // A body that no route takes, so that nothing happens.
            let answer = real.ask(&request, &[&real.host, JSON, token], "[]").await;
            let is_refused = matches!(answer.status, 401 | 403);
            assert_eq!(
                is_refused,
                needed.is_some_and(|needed| *scope < needed),
                "{request}, {scope:?}: {answer:?}"
            );
            assert!(answer.status < 500, "{request}: {answer:?}");
        }
    }
    assert_eq!(real.runs().await, 0);
}

#[tokio::test]
async fn only_routes_that_say_so_are_for_everyone() {
    let open: Vec<String> =
        operations().into_iter().filter(|(_, scope)| scope.is_none()).map(|(request, _)| request).collect();
    assert_eq!(open, ["GET /healthz", "GET /readyz", "GET /version"]);
    let real = Real::start().await;
    for path in ["/api/openapi.json", "/api/docs", "/errors/unauthorized"] {
        assert_eq!(real.ask(&format!("GET {path}"), &[&real.host], "").await.status, 200, "{path}");
    }
    assert_eq!(real.ask("GET /metrics", &[&real.host], "").await.status, 401);
}

#[tokio::test]
async fn no_route_answers_under_another_name_or_to_another_page() {
    let real = Real::start().await;
    let token = real.token(AccessScope::Admin);
    for (request, _) in operations() {
        let rebound = real.ask(&request, &["Host: evil.example", JSON, &token], "{}").await;
        rebound.assert_problem(403, "host_not_allowed");
        let lines = [&*real.host, JSON, &token, "Origin: https://evil.example"];
        real.ask(&request, &lines, "{}").await.assert_problem(403, "origin_not_allowed");
        let lines = [&*real.host, JSON, &token, "Sec-Fetch-Site: cross-site"];
        real.ask(&request, &lines, "{}").await.assert_problem(403, "origin_not_allowed");
    }
    assert_eq!(real.runs().await, 0);
}

#[tokio::test]
async fn no_route_takes_what_is_no_json() {
    let real = Real::start().await;
    let token = real.token(AccessScope::Admin);
    let deep = "[".repeat(100_000);
    let large = format!("\"{}\"", "x".repeat(20_000_000));
    for (request, _) in operations().iter().filter(|(request, _)| request.starts_with("POST")) {
        for kind in ["text/plain", "application/x-www-form-urlencoded"] {
            let kind = format!("Content-Type: {kind}");
            let answer = real.ask(request, &[&real.host, &token, &kind], "{}").await;
            answer.assert_problem(415, "unsupported_media_type");
        }
        for body in ["{", "{\"input\":}", "nope", &deep, "{\"a\":\"\u{0}\"}"] {
            let answer = real.ask(request, &[&real.host, &token, JSON], body).await;
            assert!(matches!(answer.status, 400 | 404), "{request}: {answer:?}");
        }
        let answer = real.ask(request, &[&real.host, &token, JSON], &large).await;
        answer.assert_problem(413, "payload_too_large");
    }
    assert_eq!(real.runs().await, 0);
}

#[tokio::test]
async fn no_get_has_an_effect() {
    let real = Real::start().await;
    let token = real.token(AccessScope::Admin);
    for (request, _) in operations() {
        let path = request.split(' ').nth(1).unwrap();
        for method in ["GET", "HEAD", "OPTIONS"] {
            let mut wire = Wire::open(real.address).await;
            wire.send(format!("{method} {path} HTTP/1.1\r\n{}\r\n{token}\r\n\r\n", real.host)).await;
            let answer = wire.head().await.unwrap();
            assert!(answer.status < 500, "{method} {path}: {answer:?}");
        }
    }
    assert_eq!(real.runs().await, 0);
}

#[tokio::test]
async fn every_code_has_a_page() {
    let real = Real::start().await;
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors")).unwrap();
    for file in folder {
        let name = file.unwrap().file_name().into_string().unwrap();
        let code = name.strip_suffix(".md").unwrap();
        let answer = real.ask(&format!("GET /errors/{code}"), &[&real.host], "").await;
        if code == "README" {
            answer.assert_problem(404, "not_found");
        } else {
            assert_eq!(answer.status, 200);
            assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
            assert!(answer.body.contains(&format!("<h1><code>{code}</code></h1>")), "{}", answer.body);
            assert!(answer.body.contains("<strong>What to do.</strong>"));
        }
    }
    let answer = real.ask("GET /errors/%3Cscript%3E", &[&real.host], "").await;
    answer.assert_problem(404, "not_found");
}

/// A name that a client gives itself is believed only of a person at this machine.
#[tokio::test]
async fn histories_name_the_token_or_the_user_who_asked() {
    let real = Real::start().await;
    let token = real.token(AccessScope::Run);
    assert_eq!(real.starter_of(&[&token]).await, "run");
    assert_eq!(real.starter_of(&[&token, "rival-user: mallory"]).await, "run");
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("rival.db.secret");
    let real = Real::start_with(|settings| settings.local_secret = Some(secret.clone())).await;
    let line = format!("Authorization: Bearer {}", local_secret::read(&secret).unwrap().secret);
    assert_eq!(real.starter_of(&[&line, "rival-user: ann"]).await, "ann");
    assert_eq!(real.starter_of(&[&line]).await, "local");
    assert_eq!(real.starter_of(&["rival-user: mallory"]).await, Value::Null);
}
