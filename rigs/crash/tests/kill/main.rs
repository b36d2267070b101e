//! A process is killed at random moments, again and again on one store. Afterwards nothing that was acknowledged is
//! missing, no completed step has run again, and every run has come to its end.
//!
//! `RIVAL_CRASH_SEED=7 RIVAL_CRASH_CYCLES=2000 cargo test -p rival-crash --test kill -- --nocapture` is another story.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod answers;
mod process;
mod server;

use rival_crash::TestFolder;
use rival_engine::verify::VerifyReport;

const WORKER: &str = env!("CARGO_BIN_EXE_rival-crash-worker");

/// Shows the last words of the workers if the test fails.
struct Complaints<'a>(&'a TestFolder);

impl Drop for Complaints<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.0.log()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().filter(|line| !line.contains("the tree fell")).collect();
            println!("{}", lines[lines.len().saturating_sub(20)..].join("\n"));
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn assert_sound(report: &VerifyReport) {
    let shown: Vec<String> = report.breaches.iter().take(30).map(ToString::to_string).collect();
    assert!(report.is_sound(), "{} breaches:\n{}", report.breaches.len(), shown.join("\n"));
}
