//! What the log says: who was refused and why, who did what, and never a secret.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use rival_server::auth::AccessScope;
use tracing::subscriber::DefaultGuard;

use crate::server::Server;

/// Everything that is logged on this thread, at any level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// That one line has all of these.
    #[track_caller]
    fn assert_line(&self, parts: &[&str]) {
        let text = self.text();
        assert!(
            text.lines().any(|line| parts.iter().all(|part| line.contains(part))),
            "{parts:?} in\n{text}"
        );
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn effects_and_refusals_are_logged_and_secrets_are_not() {
    let (log, _guard) = Log::begin();
    let server = Server::private().await;
    let token = server.token(AccessScope::Run);
    let secret = token.rsplit('_').next().unwrap();
    let line = format!("Authorization: Bearer {token}");

    server.post("/run", &[&line], "{}").await;
    let id = server.tokens.list().unwrap().pop().unwrap().id;
    log.assert_line(&[
        "INFO",
        "done",
        &format!("{id} (run)"),
        "POST",
        "/run",
        "status=200",
        "peer=127.0.0.1:",
    ]);

    server.post("/admin", &[&line], "{}").await;
    log.assert_line(&["INFO", "refused", "POST", "/admin", "status=403", "forbidden", "peer=127.0.0.1:"]);
    server.get("/read", &[]).await;
    log.assert_line(&["INFO", "refused", "GET", "/read", "status=401", "unauthorized"]);
    server.get("/read", &["Origin: https://evil.example"]).await;
    log.assert_line(&["INFO", "refused", "origin_not_allowed", "https://evil.example"]);
    server.post_as("/run", &[&line, "Content-Type: text/plain"], "{}").await;
    log.assert_line(&["INFO", "refused", "POST", "/run", "status=415"]);
    server.get("/panic", &[]).await;
    log.assert_line(&["ERROR", "a handler's own bug"]);
    server.get("/read", &[&line]).await;
    std::fs::write(server.tokens.path(), "{").unwrap();
    server.get("/read", &[&line]).await;
    log.assert_line(&["ERROR", "tokens.json", "damaged"]);

    assert!(!log.text().contains(secret), "{}", log.text());
}

#[tokio::test]
async fn nobody_can_write_into_logs_and_terminals_as_they_like() {
    let (log, _guard) = Log::begin();
    let server = Server::start().await;
    let answers = [
        server.raw("GET /open HTTP/1.1\r\nHost: evil\t.example\r\n\r\n").await.unwrap(),
        server.get("/read%0aINFO%20done", &["Origin: \u{9b}31mred\tand green"]).await,
    ];
    for answer in answers {
        assert_eq!(answer.status, 403);
        let json = answer.json();
        let error = json["error"].as_str().unwrap();
        assert!(!error.contains(char::is_control), "{error:?}");
    }
    let text = log.text();
    assert!(!text.contains(|char: char| char.is_control() && char != '\n'), "{text:?}");
}
