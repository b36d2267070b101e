//! What an operator decides about scripts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rival_script_host::OutgoingPolicy;

/// How scripts are run.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    /// How many hosts run steps. More are started for a while when all of these are stuck.
    pub hosts: usize,
    /// Bytes that the JavaScript of one host may hold.
    pub memory_limit: usize,
    /// What `process.env` shows.
    pub env: BTreeMap<String, String>,
    /// Where requests of scripts may be sent.
    pub outgoing: OutgoingPolicy,
    /// Folders that workflow files may import from, besides their own and `node_modules`.
    pub import_roots: Vec<PathBuf>,
    /// Where hosts run.
    pub hosting: Hosting,
    /// How long one piece of JavaScript may compute without a pause while other calls of its host wait.
    pub stuck_after: Duration,
    /// How long a file may take to load.
    pub load_limit: Duration,
}

/// Where hosts run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosting {
    /// In child processes of this program, which has called [`crate::main_if_asked`] first of all.
    Itself,
    /// In child processes of another program that does: `rival`, or `rival-script-host`.
    Program(PathBuf),
    /// On threads of this process. A script that blocks in native code cannot be ended then: its thread is left
    /// behind, and what it holds is lost until the process ends. One that crashes takes the process with it.
    Threads,
}

impl Default for ScriptSettings {
    fn default() -> Self {
        Self {
            hosts: std::thread::available_parallelism().map_or(2, usize::from).max(2),
            memory_limit: 512 << 20,
            env: BTreeMap::new(),
            outgoing: OutgoingPolicy::public(),
            import_roots: Vec::new(),
            hosting: Hosting::possible(),
            stuck_after: Duration::from_secs(10),
            load_limit: Duration::from_secs(10),
        }
    }
}

impl Hosting {
    /// Processes, if this program can be one of them.
    fn possible() -> Self {
        if rival_script_host::was_asked() { Self::Itself } else { Self::Threads }
    }
}
