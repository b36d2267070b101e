//! Operations that complete later: timers and requests, each with the call that began it.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use crate::fetch::{FetchEnd, FetchRequest, HttpFetcher};
use crate::frame::CallId;

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
    Timer(Instant),
    Request,
}

/// All operations under way.
#[derive(Debug)]
pub(crate) struct HostOps {
    next: u32,
    open: HashMap<u32, HostOp>,
    /// When which timer is due. Numbers grow, so that equal moments keep their order.
    timers: BTreeSet<(Instant, u32)>,
    requests: usize,
    fetcher: HttpFetcher,
}

impl HostOps {
    pub(crate) fn new(fetcher: HttpFetcher) -> Self {
        Self { next: 0, open: HashMap::new(), timers: BTreeSet::new(), requests: 0, fetcher }
    }

    /// A number for an operation.
    pub(crate) fn next(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    pub(crate) fn timer(&mut self, op: u32, owner: HostOpOwner, due: Instant) {
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

    /// A timer that is due.
    pub(crate) fn due(&mut self, now: Instant) -> Option<(u32, HostOpOwner)> {
        let (due, op) = *self.timers.first()?;
        if due > now {
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

    /// Whether anything may happen that the data socket does not bring.
    pub(crate) fn idle(&self) -> bool {
        self.timers.is_empty() && self.requests == 0
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.timers.first().map(|(due, _)| *due)
    }

    pub(crate) fn fetcher(&self) -> &HttpFetcher {
        &self.fetcher
    }
}
