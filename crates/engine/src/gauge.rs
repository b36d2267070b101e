//! Counts what an engine is busy with, so that a test can wait until it is not.

use std::sync::atomic::{AtomicI64, Ordering};

use tokio::sync::Notify;

/// Work that has been handed out and not been dealt with: letters to actors, and calls at work.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    busy: AtomicI64,
    idle: Notify,
}

impl Gauge {
    pub(crate) fn add(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn remove(&self, n: usize) {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        if n > 0 && self.busy.fetch_sub(n, Ordering::AcqRel) <= n {
            self.idle.notify_waiters();
        }
    }

    /// Counts one more until it is dropped.
    pub(crate) fn busy(&self) -> Busy<'_> {
        self.add();
        Busy(self)
    }

    /// Waits until nothing is at work.
    pub(crate) async fn settled(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // Registered before the look, so that a change right after it is not missed.
            idle.as_mut().enable();
            if self.busy.load(Ordering::Acquire) <= 0 {
                return;
            }
            idle.await;
        }
    }
}

/// Somebody is busy.
pub(crate) struct Busy<'a>(&'a Gauge);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.remove(1);
    }
}
