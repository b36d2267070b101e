//! Servers that other people wrote, as `make setup` installs them.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use rival_mcp::{ConnectionDefinition, ConnectionHealth, code};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::support::{Lab, PATIENCE, until};

/// A program of `tools/mcp`.
fn npm(name: &str) -> PathBuf {
    let bin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/mcp/node_modules/.bin").join(name);
    assert!(bin.exists(), "{} is missing: `make setup` installs it", bin.display());
    bin
}

/// A program of `tools/python.txt`.
fn python(name: &str) -> PathBuf {
    let bin = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin").join(name);
    assert!(bin.exists(), "{} is missing: `make setup` installs it", bin.display());
    bin
}

fn definition(json: Json) -> ConnectionDefinition {
    serde_json::from_value(json).unwrap()
}

fn everything() -> ConnectionDefinition {
    definition(json!({"command": npm("mcp-server-everything"), "timeoutMs": 20_000}))
}

/// `server-everything` over HTTP.
struct EverythingOverHttp {
    port: u16,
    child: Child,
}

impl EverythingOverHttp {
    async fn start(port: u16) -> Self {
        let port = if port > 0 { port } else { free_port() };
        let mut child = Command::new(npm("mcp-server-everything"))
            .arg("streamableHttp")
            .env("PORT", port.to_string())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let heard = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if line.contains("listening on port") {
                    break;
                }
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.expect("it says that it listens");
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { port, child }
    }

    fn definition(&self) -> ConnectionDefinition {
        definition(json!({"url": format!("http://127.0.0.1:{}/mcp", self.port), "timeoutMs": 20_000}))
    }

    async fn restart(&mut self) {
        self.child.kill().await.unwrap();
        *self = Self::start(self.port).await;
    }
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What every client of `server-everything` can expect.
async fn everything_works(lab: &Lab) {
    let view = lab.0.settled("s").await.unwrap();
    assert!(matches!(view.health, ConnectionHealth::Ready(Some(_))), "{:?}", view.health);
    let names: Vec<&str> = view.allowed_tools().iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"echo") && names.contains(&"get-structured-content"), "{names:?}");
    assert_eq!(lab.ask("echo", json!({"message": "hello"})).await, json!("Echo: hello"));
    let weather = lab.ask("get-structured-content", json!({"location": "Chicago"})).await;
    assert!(weather["temperature"].is_number(), "{weather}");
    let image = lab.ask("get-tiny-image", json!({})).await;
    let kinds: Vec<&Json> = image["content"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "{image}");
    let (code, message) = lab.fail("get-sum", json!({"a": "x"})).await;
    assert_eq!(code, code::TOOL_FAILED, "{message}");
    assert_eq!(lab.fail("no-such-tool", json!({})).await.0, code::UNKNOWN_TOOL);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_over_pipes() {
    let lab = Lab::new();
    lab.define("s", everything());
    everything_works(&lab).await;
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_over_http_also_after_a_restart() {
    let mut server = EverythingOverHttp::start(0).await;
    let lab = Lab::new();
    lab.define("s", server.definition());
    everything_works(&lab).await;
    server.restart().await;
    assert_eq!(lab.ask("echo", json!({"message": "again"})).await, json!("Echo: again"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_of_everything_times_out_and_the_next_one_works() {
    let server = EverythingOverHttp::start(0).await;
    let mut over_http = server.definition();
    let mut over_pipes = everything();
    for definition in [&mut over_http, &mut over_pipes] {
        definition.timeout_ms = Some(1_000);
        let lab = Lab::new();
        lab.define("s", definition.clone());
        lab.until_ready().await;
        let (code, message) =
            lab.fail("trigger-long-running-operation", json!({"duration": 30, "steps": 30})).await;
        assert_eq!(code, code::TOOL_TIMEOUT, "{message}");
        assert_eq!(lab.ask("echo", json!({"message": "still"})).await, json!("Echo: still"));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_of_everything_at_once() {
    let server = EverythingOverHttp::start(0).await;
    for definition in [server.definition(), everything()] {
        let lab = Lab::new();
        lab.define("s", definition);
        lab.until_ready().await;
        let calls = (0..1_000).map(|n| {
            let lab = &lab;
            async move {
                let answer = lab.ask("echo", json!({"message": n.to_string()})).await;
                assert_eq!(answer, json!(format!("Echo: {n}")));
            }
        });
        futures::future::join_all(calls).await;
        assert_eq!(lab.0.get("s").unwrap().calls, 0);
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_system() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let lab = Lab::new();
    let tools = ["write_file", "read_text_file", "list_directory"];
    lab.define(
        "s",
        definition(json!({"command": npm("mcp-server-filesystem"), "args": [root], "tools": tools})),
    );
    assert_eq!(lab.0.settled("s").await.unwrap().allowed_tools().len(), 3);
    let file = root.join("note.txt");
    lab.ask("write_file", json!({"path": file, "content": "in a file"})).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in a file");
    assert_eq!(lab.ask("read_text_file", json!({"path": file})).await, json!({"content": "in a file"}));
    let (code, message) = lab.fail("read_text_file", json!({"path": "/etc/passwd"})).await;
    assert_eq!(code, code::TOOL_FAILED, "{message}");
    assert_eq!(lab.fail("move_file", json!({})).await.0, code::UNKNOWN_TOOL);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_python() {
    let lab = Lab::new();
    lab.define(
        "s",
        definition(
            json!({"command": python("mcp-server-time"), "args": ["--local-timezone", "Europe/Berlin"]}),
        ),
    );
    let time = lab.ask("get_current_time", json!({"timezone": "Asia/Tokyo"})).await;
    assert_eq!(time["timezone"], json!("Asia/Tokyo"), "{time}");
    let (code, message) = lab.fail("get_current_time", json!({"timezone": "No/Where"})).await;
    assert_eq!(code, code::TOOL_FAILED, "{message}");
    // It is killed, and is there again.
    let pid = child_of_this_process("mcp-server-time");
    assert!(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    until("it is gone", || !crate::support::is_there(pid)).await;
    lab.ask("get_current_time", json!({"timezone": "UTC"})).await;
    lab.end().await;
}

/// A child of this process with this word in its command line.
fn child_of_this_process(word: &str) -> u64 {
    let me = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter_map(|entry| {
        let pid: u64 = entry.file_name().to_string_lossy().parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?.to_owned();
        let command = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        (parent == me && command.contains(word)).then_some(pid)
    });
    found.min().expect("it runs")
}
