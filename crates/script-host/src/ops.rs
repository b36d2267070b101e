//! Operations that complete later: timers and requests, each with the call that began it.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::clock::HostClock;
use crate::fetch::{FetchEnd, FetchRequest, HttpFetcher};
use crate::frame::{CallId, VirtualTime};

/// Whose operation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostOpOwner {
    pub(crate) realm: u32,
    pub(crate) call: CallId,
}

#[derive(Debug)]
struct HostOp {
    owner: HostOpOwner,
    what: HostOpKind,
}

#[derive(Debug)]
enum HostOpKind {
    Timer(Duration),
    Request,
}

/// All operations under way.
#[derive(Debug)]
pub(crate) struct HostOps {
    next: u32,
    open: HashMap<u32, HostOp>,
    /// When which timer is due. Numbers grow, so that equal moments keep their order.
    timers: BTreeSet<(Duration, u32)>,
    clock: HostClock,
    requests: usize,
    fetcher: HttpFetcher,
}

impl HostOps {
    pub(crate) fn new(fetcher: HttpFetcher, clock: HostClock) -> Self {
        Self { next: 0, open: HashMap::new(), timers: BTreeSet::new(), clock, requests: 0, fetcher }
    }

    /// The time, if it is a virtual one.
    pub(crate) fn virtual_time(&self) -> Option<VirtualTime> {
        self.clock.virtual_time()
    }

    pub(crate) fn set_time(&mut self, to: VirtualTime) {
        self.clock.set(to);
    }

    /// A number for an operation.
    pub(crate) fn next(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    /// Begins a timer of so many milliseconds.
    pub(crate) fn timer(&mut self, op: u32, owner: HostOpOwner, ms: f64) {
        let due = self.clock.due_in(ms);
        self.timers.insert((due, op));
        self.open.insert(op, HostOp { owner, what: HostOpKind::Timer(due) });
    }

    pub(crate) fn request(&mut self, op: u32, owner: HostOpOwner, request: FetchRequest) {
        self.requests += 1;
        self.open.insert(op, HostOp { owner, what: HostOpKind::Request });
        self.fetcher.begin(op, request);
    }

    /// Whether a realm has operations under way.
    pub(crate) fn are_in(&self, realm: u32) -> bool {
        self.open.values().any(|op| op.owner.realm == realm)
    }

    /// Where an operation was begun.
    pub(crate) fn realm_of(&self, op: u32) -> Option<u32> {
        self.open.get(&op).map(|op| op.owner.realm)
    }

    /// Gives up an operation, or takes note of its end.
    pub(crate) fn stop(&mut self, op: u32) -> Option<HostOpOwner> {
        let HostOp { owner, what } = self.open.remove(&op)?;
        match what {
            HostOpKind::Timer(due) => {
                self.timers.remove(&(due, op));
            }
            HostOpKind::Request => {
                self.requests -= 1;
                self.fetcher.stop(op);
            }
        }
        Some(owner)
    }

    /// Gives up everything of some owners.
    pub(crate) fn stop_all(&mut self, gone: impl Fn(HostOpOwner) -> bool) {
        let ops: Vec<u32> = self.open.iter().filter(|(_, op)| gone(op.owner)).map(|(op, _)| *op).collect();
        for op in ops {
            self.stop(op);
        }
    }

    /// Up to which moment timers are due.
    pub(crate) fn timers_until(&self) -> Duration {
        self.clock.timers_until()
    }

    /// A timer that is due.
    pub(crate) fn due(&mut self, until: Duration) -> Option<(u32, HostOpOwner)> {
        let (due, op) = *self.timers.first()?;
        if due > until {
            return None;
        }
        Some((op, self.stop(op)?))
    }

    /// A request that has ended, and whose it is.
    pub(crate) fn finished(&mut self) -> Option<(FetchEnd, HostOpOwner)> {
        loop {
            let finished = self.fetcher.finished()?;
            // One that was given up may have ended at the same moment.
            if let Some(owner) = self.stop(finished.op) {
                return Some((finished, owner));
            }
        }
    }

    /// Whether nothing happens but what the data socket brings.
    pub(crate) fn idle(&self) -> bool {
        self.requests == 0 && (self.timers.is_empty() || self.virtual_time().is_some())
    }

    /// How long until the next timer is due; nothing if only the data socket brings that moment.
    pub(crate) fn next_timer_in(&self) -> Option<Duration> {
        let (due, _) = self.timers.first()?;
        let left = due.saturating_sub(self.clock.timers_until());
        (left.is_zero() || self.virtual_time().is_none()).then_some(left)
    }

    /// When the next timer of a call is due, in milliseconds since 1970 on a virtual clock. What a file has begun for itself
    /// is not waited for.
    pub(crate) fn next_virtual_timer(&self) -> Option<i64> {
        let is_of_a_call = |op: &u32| self.open.get(op).is_some_and(|op| op.owner.call != 0);
        let (due, _) = self.timers.iter().find(|(_, op)| is_of_a_call(op))?;
        i64::try_from(due.as_millis()).ok()
    }

    pub(crate) fn fetcher(&self) -> &HttpFetcher {
        &self.fetcher
    }
}
