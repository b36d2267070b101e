//! What was read of a history stays its beginning.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use rival_core::{RunId, Seq};
use rival_store::{EventBatch, Page, RunFilter, Store, StoreError};

/// The beginnings of all histories, as they were read.
#[derive(Debug, Default)]
pub struct HistoryPrefixes {
    of_run: HashMap<RunId, Vec<u64>>,
    seen: HashSet<RunId>,
    /// How many beginnings were compared with what was read before.
    pub compared: u64,
    /// Runs whose beginning is not what it was.
    pub changed: Vec<RunId>,
}

impl HistoryPrefixes {
    /// Reads all histories, compares what was read before, and remembers.
    pub async fn look(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        self.seen.clear();
        let mut page = Page { before: None, limit: 1_000 };
        loop {
            let rows = store.runs(&RunFilter::default(), &page).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            page.before = Some(last.no);
            for row in rows {
                let chain = chain(&history(store, &row.id).await?);
                self.compare(row.id, chain);
            }
        }
    }

    fn compare(&mut self, run: RunId, chain: Vec<u64>) {
        if let Some(before) = self.of_run.get(&run) {
            self.compared += 1;
            if !chain.starts_with(before) {
                self.changed.push(run.clone());
            }
        }
        self.seen.insert(run.clone());
        self.of_run.insert(run, chain);
    }

    /// Runs that were there once, and were not at the last look.
    pub fn gone(&self) -> Vec<RunId> {
        self.of_run.keys().filter(|run| !self.seen.contains(*run)).cloned().collect()
    }
}

/// All batches of a run: the store gives them in pages.
async fn history(store: &dyn Store, run: &RunId) -> Result<Vec<EventBatch>, StoreError> {
    let mut batches: Vec<EventBatch> = Vec::new();
    loop {
        let after = batches.last().map_or(Seq::ZERO, EventBatch::last);
        let page = store.load(run, after, usize::MAX).await?;
        if page.is_empty() {
            return Ok(batches);
        }
        batches.extend(page);
    }
}

/// h(i) = H(h(i-1), batch(i)).
fn chain(batches: &[EventBatch]) -> Vec<u64> {
    let mut before = 0_u64;
    let links = batches.iter().map(|batch| {
        let mut hash = DefaultHasher::new();
        (before, batch.first, batch.count, &batch.body).hash(&mut hash);
        before = hash.finish();
        before
    });
    links.collect()
}
