//! What the store holds, asked for now and then.

use std::time::{Duration, Instant};

use rival_core::{RunStatus, Time};
use rival_engine::Engine;
use rival_engine::store::StoreFigures;
use tokio::sync::Mutex;

use super::text::{MetricKind, MetricsPage};

/// For how long an answer of the store is shown at least.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// And for how many times as long as it took: counting millions of runs must not become the store's main work.
const REST: u32 = 50;
/// How long a page waits for the store. A scrape that fails shows nothing of the rest either.
const PATIENCE: Duration = Duration::from_secs(2);

/// The last answer of the store. Clients that ask at once wait for the same answer.
#[derive(Debug, Default)]
pub(super) struct StoreGauges(Mutex<Option<CountedStore>>);

#[derive(Debug)]
struct CountedStore {
    figures: StoreFigures,
    at: Instant,
    took: Duration,
}

impl CountedStore {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < FRESH_FOR.max(self.took * REST)
    }
}

impl StoreGauges {
    /// What the store holds, or held a moment ago; `None` if it does not answer.
    pub(super) async fn figures(&self, engine: &Engine) -> Option<StoreFigures> {
        let asked = tokio::time::timeout(PATIENCE, self.ask(engine)).await;
        asked.unwrap_or_else(|_| {
            tracing::warn!("the store did not answer in time: the metrics page says nothing about it");
            None
        })
    }

    async fn ask(&self, engine: &Engine) -> Option<StoreFigures> {
        let mut counted = self.0.lock().await;
        if let Some(counted) = counted.as_ref().filter(|counted| counted.is_fresh()) {
            return Some(counted.figures.clone());
        }
        let at = Instant::now();
        let figures = engine.store_figures().await;
        let figures =
            figures.inspect_err(|error| tracing::debug!(%error, "the store cannot be counted")).ok()?;
        *counted = Some(CountedStore { figures: figures.clone(), at, took: at.elapsed() });
        Some(figures)
    }
}

pub(super) fn write(page: &mut MetricsPage, figures: &StoreFigures, now: Time) {
    let mut runs = page.family("rival_runs", MetricKind::Gauge, "Runs in the store, by status.");
    for status in RunStatus::ALL {
        let count = figures.runs.get(&status).copied().unwrap_or(0);
        runs.line(&[("status", &status)], count);
    }
    let help = "How long the run has waited that is the first in the queue.";
    page.family("rival_queue_age_seconds", MetricKind::Gauge, help)
        .line(&[], seconds_since(figures.queue_head, now));
    let help = "Runs whose time to go on has come, and which no engine has taken up.";
    page.family("rival_timers_overdue", MetricKind::Gauge, help).line(&[], figures.overdue);
    let help = "How long the first of them is overdue.";
    page.family("rival_timers_overdue_age_seconds", MetricKind::Gauge, help)
        .line(&[], seconds_since(figures.overdue_since, now));
    if let Some(bytes) = figures.bytes {
        let help = "How many bytes the store takes on its disk.";
        page.family("rival_store_bytes", MetricKind::Gauge, help).line(&[], bytes);
    }
    if let Some(bytes) = figures.free_bytes {
        let help = "How many bytes are left on the disk of the store.";
        page.family("rival_store_free_bytes", MetricKind::Gauge, help).line(&[], bytes);
    }
}

fn seconds_since(moment: Option<Time>, now: Time) -> f64 {
    let ms = moment.map_or(0, |moment| now.ms_since(moment));
    Duration::from_millis(ms).as_secs_f64()
}
