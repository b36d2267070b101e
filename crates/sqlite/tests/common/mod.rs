//! What the tests share: a folder of their own, runs, and a second process.

#![allow(dead_code, unreachable_pub, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "only tests use it")]

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time};
use rival_store::{Commit, EngineId, Epoch, EventBatch, NewRun, RowUpdate, RunHold};

/// A folder that goes away with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rival-sqlite-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("rival.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn batch(first: u64, bytes: usize) -> EventBatch {
    EventBatch { first: Seq(first), count: 1, body: vec![b'x'; bytes] }
}

pub fn row_update(status: RunStatus, keep: bool) -> RowUpdate {
    let hold = if keep { RunHold::Keep } else { RunHold::Release(None) };
    RowUpdate::new(status, hold, Time(9), None)
}

pub fn new_run(id: &str, engine: EngineId) -> NewRun {
    NewRun {
        id: RunId::from(id),
        workflow: "w".to_owned(),
        plan: PlanHash::new("p"),
        fingerprint: vec![1, 2, 3],
        created_at: Time(1),
        parent: None,
        source: None,
        tags: Vec::new(),
        events: batch(1, 10),
        row_update: row_update(RunStatus::Running, true),
        engine,
    }
}

pub fn commit(id: &str, first: u64, bytes: usize) -> Commit {
    let mut commit = Commit::new(RunId::from(id), Epoch(1), Time(2));
    commit.events = Some(batch(first, bytes));
    commit
}

const FILE: &str = "RIVAL_TEST_FILE";

/// The file that this process was started for, if it is a second one.
pub fn file_of_child() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// This test program again, with only the given test, which acts as the other process.
pub fn child(test: &str, file: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(FILE, file);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The same, after a shell command in a mount namespace of its own. `None` where that is not allowed.
pub fn child_after(mount: &str, test: &str, file: &Path) -> Option<Command> {
    let allowed = Command::new("unshare").args(["-m", "sh", "-c", mount]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        println!("skipped: mounting is not allowed here");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mount} && exec \"$0\" --exact {test} --nocapture")]);
    command.arg(std::env::current_exe().unwrap()).env(FILE, file);
    Some(command)
}

pub fn lines_of(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}
