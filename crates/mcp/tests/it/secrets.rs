//! Secrets stay where they are needed.

use std::io;
use std::sync::{Arc, Mutex};

use rival_mcp::ConnectionHealth;
use serde_json::json;
use tracing::instrument::WithSubscriber;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{HttpServer, Lab, scripted, until};

const SECRET: &str = "sw0rdfish/\"ü\"+hunter2";

/// A folder with the secret in a file.
fn secret_file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, format!("{SECRET}\n")).unwrap();
    (folder, file)
}

/// A log that is looked at.
#[derive(Clone, Default)]
struct SeenLog(Arc<Mutex<Vec<u8>>>);

impl io::Write for SeenLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for SeenLog {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl SeenLog {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

#[test]
fn a_server_that_tells_its_environment_tells_no_secret() {
    let seen = SeenLog::default();
    // As the command logs: what the library of the protocol says is never written.
    let filter = tracing_subscriber::EnvFilter::new("trace,rmcp=off");
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(seen.clone()).finish();
    tracing::subscriber::set_global_default(log).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (_folder, file) = secret_file();
        let lab = Lab::scripted(json!({"env": {"SCRIPT_SECRET": {"file": file, "prefix": "key:"}, "OPEN": "in the open"}}));
        let env = lab.ask("env", json!({})).await;
        assert_eq!((&env["SCRIPT_SECRET"], &env["OPEN"]), (&json!("key:[redacted]"), &json!("in the open")));
        let (_, message) = lab.fail("fail", json!({"text": format!("not with {SECRET}")})).await;
        assert_eq!(message, "tool `fail` failed: not with [redacted]");
        lab.ask("stderr", json!({"text": format!("starting with {SECRET} at hand")})).await;
        until("the line is logged", || seen.text().contains("starting with [redacted] at hand")).await;
        // Nothing of this process's environment but what every program gets.
        assert!(env.get("CARGO_MANIFEST_DIR").is_none() && env.get("PATH").is_some(), "{env}");
        lab.define("s", scripted(json!({"env": {"SCRIPT_MODE": "refuse", "SCRIPT_SECRET": {"file": file}}})));
        lab.until("it says why", |health| matches!(health, ConnectionHealth::Failed { why, .. } if why.contains("no: [redacted]"))).await;
        lab.end().await;

        let server = HttpServer::start(&[("SCRIPT_MODE", "")]).await;
        let headers = json!({"headers": {"Authorization": {"file": file, "prefix": "Bearer "}}});
        let ascii = tempfile::tempdir().unwrap();
        let plain = ascii.path().join("token");
        std::fs::write(&plain, "tok-123456789").unwrap();
        let lab = Lab::new();
        lab.define("s", server.definition(headers));
        assert_eq!(lab.ask("headers", json!({})).await["authorization"], json!("Bearer [redacted]"));
        lab.define("s", server.definition(json!({"headers": {"Authorization": {"file": plain, "prefix": "Bearer "}}})));
        assert_eq!(lab.ask("headers", json!({})).await["authorization"], json!("Bearer [redacted]"));
        lab.end().await;
        let refusing = HttpServer::start(&[("SCRIPT_MODE", "unauthorized")]).await;
        let lab = Lab::new();
        lab.define("s", refusing.definition(json!({"headers": {"Authorization": {"file": plain, "prefix": "Bearer "}}})));
        lab.until("it says why", |health| {
            matches!(health, ConnectionHealth::Failed { why, .. } if why.contains("401") && why.contains("who is Bearer [redacted]?"))
        })
        .await;
        lab.end().await;
    }.with_current_subscriber());
    let log = seen.text();
    assert!(log.contains("the connection is ready"), "the log was heard");
    for word in ["sw0rdfish", "tok-123456789"] {
        let line = log.lines().find(|line| line.contains(word));
        assert_eq!(line, None);
    }
}
