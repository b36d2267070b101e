//! What the tests share.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rival_core::Value;
use rival_mcp::{
    ConnectionDefinition, ConnectionHealth, ConnectionLimits, ConnectionOrigin, Connections, ToolFailure,
};
use rival_outgoing::OutgoingPolicy;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Longer than anything takes that works.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) fn script() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/scripted.mjs").to_owned()
}

pub(crate) fn limits() -> ConnectionLimits {
    ConnectionLimits {
        outgoing: OutgoingPolicy::public().allow_loopback(),
        backoff_first: Duration::from_millis(20),
        backoff_max: Duration::from_millis(200),
        ping_timeout: Duration::from_millis(500),
        ..ConnectionLimits::default()
    }
}

/// The scripted server over its pipes, with more fields.
pub(crate) fn scripted(more: Json) -> ConnectionDefinition {
    let mut definition = json!({ "command": "node", "args": [script()] });
    extend(&mut definition, more);
    serde_json::from_value(definition).unwrap()
}

fn extend(definition: &mut Json, more: Json) {
    let Json::Object(more) = more else { panic!("more fields are an object") };
    definition.as_object_mut().unwrap().extend(more);
}

/// Connections that end with their test.
pub(crate) struct Lab(pub(crate) Connections);

impl Lab {
    pub(crate) fn new() -> Self {
        Self(Connections::new())
    }

    pub(crate) fn define(&self, name: &str, definition: ConnectionDefinition) {
        self.define_with(name, definition, limits());
    }

    pub(crate) fn define_with(&self, name: &str, definition: ConnectionDefinition, limits: ConnectionLimits) {
        self.0.define(name, definition, ConnectionOrigin::Settings, limits, None).unwrap();
    }

    /// A lab with the scripted server as `s`.
    pub(crate) fn scripted(more: Json) -> Self {
        let lab = Self::new();
        lab.define("s", scripted(more));
        lab
    }

    pub(crate) async fn call(&self, tool: &str, input: Json) -> Result<Json, ToolFailure> {
        let input = Value::from(input);
        let call = self.0.call("s", tool, &input);
        tokio::time::timeout(PATIENCE, call).await.expect("it ends").map(|value| value.to_json())
    }

    /// A call that works.
    pub(crate) async fn ask(&self, tool: &str, input: Json) -> Json {
        self.call(tool, input).await.unwrap_or_else(|failure| panic!("{tool}: {}: {failure}", failure.code))
    }

    /// The code and the message of a call that fails.
    pub(crate) async fn fail(&self, tool: &str, input: Json) -> (&'static str, String) {
        match self.call(tool, input).await {
            Ok(output) => panic!("{tool} gave {output}"),
            Err(failure) => (failure.code, failure.message),
        }
    }

    pub(crate) async fn until(&self, what: &str, is_so: impl Fn(&ConnectionHealth) -> bool) {
        until(what, || self.0.get("s").is_some_and(|view| is_so(&view.health))).await;
    }

    pub(crate) async fn until_ready(&self) {
        self.until("the connection is ready", |health| matches!(health, ConnectionHealth::Ready(_))).await;
    }

    pub(crate) async fn end(self) {
        self.0.shutdown(PATIENCE).await;
    }
}

/// Looks again and again, until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let look = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("never: {what}"));
}

/// Whether a process is there, and is no zombie.
pub(crate) fn is_alive(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next().map(str::to_owned));
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// Whether anything of a process is there, also a zombie.
pub(crate) fn is_there(pid: u64) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// A server over HTTP, which can be killed and started again at the same address.
pub(crate) struct HttpServer {
    pub(crate) port: u16,
    child: Child,
    env: Vec<(String, String)>,
}

impl HttpServer {
    pub(crate) async fn start(env: &[(&str, &str)]) -> Self {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::start_at(0, env).await
    }

    async fn start_at(port: u16, env: Vec<(String, String)>) -> Self {
        let mut child = Command::new("node")
            .args([&script(), "--http", &port.to_string()])
            .envs(env.clone())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("it says its port").parse().unwrap();
        Self { port, child, env }
    }

    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
    }

    pub(crate) async fn restart(&mut self) {
        self.kill().await;
        *self = Self::start_at(self.port, self.env.clone()).await;
    }

    pub(crate) fn definition(&self, more: Json) -> ConnectionDefinition {
        let mut definition = json!({ "url": format!("http://127.0.0.1:{}/mcp", self.port) });
        extend(&mut definition, more);
        serde_json::from_value(definition).unwrap()
    }
}

/// The lines of a file that may not be there yet.
pub(crate) fn lines(file: &PathBuf) -> Vec<String> {
    std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}
