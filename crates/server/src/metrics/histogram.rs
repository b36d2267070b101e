//! How long things took, counted by size.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An upper bound, in nanoseconds and as it is shown, in seconds.
type Bound = (u64, &'static str);

/// From what a step in memory takes to what one takes that waits for a slow service.
const OF_CALLS: [Bound; 16] = [
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

const SECOND: u64 = 1_000_000_000;

/// From a run of a few steps to one that sleeps for a month.
const OF_RUNS: [Bound; 14] = [
    (SECOND / 100, "0.01"),
    (SECOND / 20, "0.05"),
    (SECOND / 4, "0.25"),
    (SECOND, "1"),
    (5 * SECOND, "5"),
    (15 * SECOND, "15"),
    (60 * SECOND, "60"),
    (300 * SECOND, "300"),
    (900 * SECOND, "900"),
    (3_600 * SECOND, "3600"),
    (21_600 * SECOND, "21600"),
    (86_400 * SECOND, "86400"),
    (604_800 * SECOND, "604800"),
    (2_592_000 * SECOND, "2592000"),
];

/// Counts durations. Two additions each, and no lock.
#[derive(Debug)]
pub(super) struct DurationHistogram {
    bounds: &'static [Bound],
    /// One for each bound, and one for what is longer than all.
    counts: Box<[AtomicU64]>,
    sum_ns: AtomicU64,
}

impl Default for DurationHistogram {
    fn default() -> Self {
        Self::new(&OF_CALLS)
    }
}

impl DurationHistogram {
    /// Of runs, which may last for weeks.
    pub(super) fn of_runs() -> Self {
        Self::new(&OF_RUNS)
    }

    fn new(bounds: &'static [Bound]) -> Self {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self { bounds, counts, sum_ns: AtomicU64::new(0) }
    }

    pub(super) fn observe(&self, took: Duration) {
        let ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let at = self.bounds.iter().position(|(bound, _)| ns <= *bound).unwrap_or(self.bounds.len());
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// The count up to each bound, and the sum in seconds. The last count is that of all.
    pub(super) fn read(&self) -> (Vec<(&'static str, u64)>, f64) {
        let mut total = 0;
        let bounds = self.bounds.iter().map(|(_, shown)| *shown).chain(["+Inf"]);
        let buckets = bounds.zip(&*self.counts).map(|(bound, count)| {
            total += count.load(Ordering::Relaxed);
            (bound, total)
        });
        (buckets.collect(), Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed)).as_secs_f64())
    }
}
