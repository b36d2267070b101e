//! The metrics page of a real server, as Prometheus and the docs know it; the alerts, judged by promtool and fired by a
//! real Prometheus. `make setup` installs it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::lab::Lab;

const HELLO: &str = "function hello() { return 'hello' }\nexport const steps = [hello]\n";

fn repository(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)
}

fn promtool(args: &[&str], file: &str) {
    let ran = Command::new("promtool").args(args).arg(repository(file)).output();
    let ran = ran.expect("promtool is there: `make setup` installs it");
    let said = [ran.stdout, ran.stderr].concat();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&said));
}

/// The names of the alerts.
fn alerts() -> Vec<String> {
    let rules = std::fs::read_to_string(repository("deploy/alerts.yml")).unwrap();
    let names = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    names.map(str::to_owned).collect()
}

#[test]
fn prometheus_takes_the_alerts_and_each_fires_when_it_should() {
    promtool(&["check", "rules"], "deploy/alerts.yml");
    promtool(&["test", "rules"], "deploy/alerts.test.yml");
    let cases = std::fs::read_to_string(repository("deploy/alerts.test.yml")).unwrap();
    let docs = std::fs::read_to_string(repository("docs/observability.md")).unwrap();
    assert_eq!(alerts().len(), 10);
    for alert in alerts() {
        assert!(cases.contains(&format!("- name: {alert}")), "no case lets {alert} fire");
        assert!(docs.contains(&format!("| `{alert}` |")), "{alert} is not in docs/observability.md");
    }
}

/// The page of a server with scripts, which is all there is.
fn metrics(url: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let host = url.trim_start_matches("http://");
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    page.to_owned()
}

#[test]
fn every_metric_of_a_real_server_is_documented_and_no_other() {
    let mut lab = Lab::offline();
    lab.write("flows/hello.ts", HELLO);
    let url = lab.start(&["serve", "flows"]).url.clone();
    lab.rival(&["run", "hello", "--wait"]).ok();
    let page = metrics(&url);
    let families = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let given: BTreeSet<&str> = families.filter_map(|line| line.split(' ').next()).collect();
    let docs = std::fs::read_to_string(repository("docs/observability.md")).unwrap();
    let rows = docs.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split('`').next());
    let documented: BTreeSet<&str> =
        names.filter(|name| name.starts_with("rival_") || name.starts_with("process_")).collect();
    assert_eq!(given, documented);
    let value = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse::<f64>().unwrap()
    };
    assert!(value("rival_script_hosts") >= 1.0);
    assert_eq!(value("rival_script_host_restarts_total"), 0.0);
    assert!(value("rival_script_host_memory_bytes") > 1_000_000.0);
}

/// A Prometheus that scrapes one server every second.
struct Prometheus(Child);

impl Prometheus {
    fn start(lab: &Lab, server: &str, alertmanager: &str) -> Self {
        // What must hold for minutes need not hold for long here.
        let rules = std::fs::read_to_string(repository("deploy/alerts.yml")).unwrap();
        let at_once: Vec<&str> = rules.lines().filter(|line| !line.trim().starts_with("for: ")).collect();
        lab.write("alerts.yml", &(at_once.join("\n") + "\n"));
        let config = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
             rule_files: [alerts.yml]\n\
             alerting: {{ alertmanagers: [{{ static_configs: [{{ targets: [\"{alertmanager}\"] }}] }}] }}\n\
             scrape_configs: [{{ job_name: rival, static_configs: [{{ targets: [\"{server}\"] }}] }}]\n"
        );
        let config = lab.write("prometheus.yml", &config);
        let started = Command::new("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", lab.path("prometheus").display()))
            .arg("--web.listen-address=127.0.0.1:0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self(started.expect("prometheus is there: `make setup` installs it"))
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The alerts of the next request that Prometheus sends to its alert manager.
fn next_alerts(manager: &TcpListener) -> Vec<Value> {
    let (stream, _) = manager.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_lowercase();
        if let Some(bytes) = line.strip_prefix("content-length: ") {
            length = bytes.parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (&stream).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    serde_json::from_slice(&body).unwrap_or_default()
}

/// A run whose workflow is gone is blocked, and a Prometheus that scrapes its server says so.
#[test]
fn a_real_prometheus_fires_an_alert_about_a_real_server() {
    let mut lab = Lab::offline();
    lab.serve(&[]);
    let expense = r#"{"who": "Ann", "amount": 30}"#;
    lab.rival(&["run", "approval", "--id", "waits", "-i", expense]).ok();
    lab.until("waits", "waits for the signal");
    lab.kill_server();
    lab.write("flows/hello.ts", HELLO);
    let server = lab.start(&["serve", "flows"]).url.clone();
    lab.rival(&["signal", "waits", "approval"]).ok();
    let manager = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = manager.local_addr().unwrap().to_string();
    let _prometheus = Prometheus::start(&lab, server.trim_start_matches("http://"), &address);
    let fired = |alerts: Vec<Value>| {
        alerts.into_iter().find(|alert| alert["labels"]["alertname"] == "RivalRunsBlocked")
    };
    let alert = loop {
        if let Some(alert) = fired(next_alerts(&manager)) {
            break alert;
        }
    };
    assert_eq!(alert["labels"]["severity"], "warning");
    let summary = alert["annotations"]["summary"].as_str().unwrap();
    assert!(summary.starts_with("1 runs on 127.0.0.1:"), "{summary}");
}
