//! Live summaries: which runs have changed, for subscribers.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rival_core::{RunId, RunStatus, Time};
use rival_engine::{Committed, Engine, Observer};
use tokio::sync::{Notify, broadcast};

use crate::api::convert::run_summary;

/// How many summaries a client may be behind before it has to list again.
const BEHIND_MAX: usize = 1_024;
/// Changes within this time are told as one.
const GATHER: Duration = Duration::from_millis(50);
/// Changes that wait to be told; beyond it, listing again is less work for the server and its clients.
const CHANGED_MAX: usize = 10_000;
/// Of how many runs it is remembered what was told last.
const TOLD_MAX: usize = 10_000;

/// What is told.
#[derive(Debug)]
pub(crate) enum LiveUpdate {
    /// A run has changed: its workflow, and its summary, ready to be sent.
    Run { workflow: String, json: String },
    /// More changed than could be told one by one.
    Reset,
}

/// Hears of runs, and tells their summaries. Costs nothing while there is no subscriber.
#[derive(Clone)]
pub(crate) struct LiveRuns(Arc<LiveRunsInner>);

struct LiveRunsInner {
    changed: Mutex<ChangedRuns>,
    notify: Notify,
    sender: broadcast::Sender<Arc<LiveUpdate>>,
}

/// Runs that have changed, each once, in the order in which they did.
#[derive(Default)]
struct ChangedRuns {
    order: Vec<RunId>,
    known: HashSet<RunId>,
}

impl ChangedRuns {
    fn add(&mut self, run: &RunId) {
        if self.known.insert(run.clone()) {
            self.order.push(run.clone());
        }
    }
}

impl LiveRuns {
    /// Hears of everything that this engine does from now on.
    pub(crate) fn of(engine: &Engine) -> Self {
        let sender = broadcast::Sender::new(BEHIND_MAX);
        let live = Self(Arc::new(LiveRunsInner { changed: Mutex::default(), notify: Notify::new(), sender }));
        engine.observe(Arc::new(live.clone()));
        tokio::spawn(live.clone().tell(engine.clone()));
        live
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<LiveUpdate>> {
        self.0.sender.subscribe()
    }

    fn changed(&self, run: &RunId) {
        if self.0.sender.receiver_count() == 0 {
            return;
        }
        let mut changed = self.0.changed.lock().unwrap_or_else(PoisonError::into_inner);
        if changed.order.len() >= CHANGED_MAX {
            *changed = ChangedRuns::default();
            self.send(LiveUpdate::Reset);
        }
        changed.add(run);
        self.0.notify.notify_one();
    }

    fn send(&self, news: LiveUpdate) {
        // An error means that no client follows.
        let _ = self.0.sender.send(Arc::new(news));
    }

    /// Reads the rows of runs that have changed, and tells what is new.
    async fn tell(self, engine: Engine) {
        let mut told: HashMap<RunId, (RunStatus, Option<Time>)> = HashMap::new();
        loop {
            self.0.notify.notified().await;
            tokio::time::sleep(GATHER).await;
            let changed = std::mem::take(&mut *self.0.changed.lock().unwrap_or_else(PoisonError::into_inner));
            for run in changed.order {
                // A run that cannot be read now is read when it changes again, or listed.
                let Ok(row) = engine.summary(&run).await else { continue };
                let now = (row.status, row.wake_at);
                if told.insert(run.clone(), now) == Some(now) {
                    continue;
                }
                if row.status.is_terminal() {
                    told.remove(&run);
                }
                let summary = run_summary(row);
                let json = serde_json::to_string(&summary).expect("a summary has only string keys");
                self.send(LiveUpdate::Run { workflow: summary.workflow, json });
            }
            if told.len() > TOLD_MAX {
                told.clear();
            }
        }
    }
}

impl Observer for LiveRuns {
    fn started(&self, run: &RunId, _workflow: &str, _at: Time) {
        self.changed(run);
    }

    fn committed(&self, commit: &Committed<'_>) {
        self.changed(commit.run);
    }
}
