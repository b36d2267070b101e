//! Whatever the OpenAPI document allows is asked, and a good deal that it does not: no answer is a server's error, and
//! every answer is one that the document describes. The requests are schemathesis's; `make setup` installs it.
//!
//! `RIVAL_OPENAPI_SEED=7 RIVAL_OPENAPI_EXAMPLES=1000 cargo test -p rival-server --test openapi -- --nocapture` asks
//! otherwise, and longer.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use world::World;

/// How often each operation was answered with each status.
type Tally = BTreeMap<String, BTreeMap<u16, u64>>;

fn schemathesis() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin/schemathesis");
    assert!(program.exists(), "{} is missing: `make setup` installs it", program.display());
    program
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_one_that_the_document_describes() {
    let (seed, examples) = (number("RIVAL_OPENAPI_SEED", 1), number("RIVAL_OPENAPI_EXAMPLES", 30));
    println!("seed {seed}, {examples} examples for each operation");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("server.log");
    let file = std::fs::File::create(&log).unwrap();
    tracing_subscriber::fmt().with_ansi(false).with_writer(file).init();
    let world = World::new(folder.path()).await;
    let tally = folder.path().join("tally.json");
    let run = Command::new(schemathesis())
        .arg("--config-file")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/openapi/schemathesis.toml"))
        .args([
            "run",
            "--checks",
            "all",
            "--no-color",
            "--continue-on-failure",
            "--generation-database",
            "none",
        ])
        .args(["--seed", &seed.to_string(), "--max-examples", &examples.to_string()])
        .arg(format!("{}/api/openapi.json", world.url))
        .env("SCHEMATHESIS_HOOKS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/openapi/hooks.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RIVAL_URL", &world.url)
        .env("RIVAL_TOKEN", &world.token)
        .env("RIVAL_SEED", seed.to_string())
        .env("RIVAL_TALLY", &tally)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let run = run.await.unwrap();
    world.stop().await;
    println!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "the server's last words:\n{}", last_lines(&log, 50));
    let tally: Tally = serde_json::from_slice(&std::fs::read(tally).unwrap()).unwrap();
    assert_reached(&tally);
}

/// Answers that are all refusals prove little.
fn assert_reached(tally: &Tally) {
    let (mut all, mut well) = (0, 0);
    for (operation, statuses) in tally {
        println!("{operation}: {statuses:?}");
        let good: u64 = statuses.iter().filter(|(status, _)| **status < 300).map(|(_, count)| count).sum();
        assert!(good > 0, "`{operation}` never went well");
        all += statuses.values().sum::<u64>();
        well += good;
    }
    println!("{all} requests, {well} of them answered with 2xx");
    let document = rival_server::openapi();
    let operations =
        document["paths"].as_object().unwrap().values().map(|path| path.as_object().unwrap().len());
    assert_eq!(tally.len(), operations.sum::<usize>(), "some operations were never asked");
}

fn last_lines(log: &Path, count: usize) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
