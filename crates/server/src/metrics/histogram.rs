//! How long things took, counted by size.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds, in nanoseconds and as they are shown, in seconds. From what a step in memory takes to what one takes
/// that waits for a slow service.
const BOUNDS: [(u64, &str); 16] = [
    (100_000, "0.0001"),
    (250_000, "0.00025"),
    (500_000, "0.0005"),
    (1_000_000, "0.001"),
    (2_500_000, "0.0025"),
    (5_000_000, "0.005"),
    (10_000_000, "0.01"),
    (25_000_000, "0.025"),
    (50_000_000, "0.05"),
    (100_000_000, "0.1"),
    (250_000_000, "0.25"),
    (500_000_000, "0.5"),
    (1_000_000_000, "1"),
    (5_000_000_000, "5"),
    (30_000_000_000, "30"),
    (300_000_000_000, "300"),
];

/// Counts durations. Two additions each, and no lock.
#[derive(Debug, Default)]
pub(super) struct DurationHistogram {
    /// One for each bound, and one for what is longer than all.
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum_ns: AtomicU64,
}

impl DurationHistogram {
    pub(super) fn observe(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let at = BOUNDS.iter().position(|(bound, _)| ns <= *bound).unwrap_or(BOUNDS.len());
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The count up to each bound, and the sum in seconds. The last count is that of all.
    pub(super) fn read(&self) -> (Vec<(&'static str, u64)>, f64) {
        let mut total = 0;
        let bounds = BOUNDS.iter().map(|(_, shown)| *shown).chain(["+Inf"]);
        let buckets = bounds.zip(&self.counts).map(|(bound, count)| {
            total += count.load(Ordering::Relaxed);
            (bound, total)
        });
        (buckets.collect(), Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed)).as_secs_f64())
    }
}
