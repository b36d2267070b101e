//! What the loop and the functions that it gives to JavaScript share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::control::LoopWatch;
use crate::frame::CallId;
use crate::logs::{LogAdmission, LogQuota};
use crate::memory::MemoryMeter;
use crate::ops::{HostOpOwner, HostOps};
use crate::outbox::FrameOutbox;
use crate::pipe::DataPipe;

/// Why JavaScript was stopped in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutReason {
    /// The engine wanted it.
    Wanted,
    /// It wanted too much memory.
    Memory,
}

/// The state of a host, but for its realms.
#[derive(Debug)]
pub(crate) struct HostShared {
    pub(crate) pipe: RefCell<DataPipe>,
    pub(crate) out: Arc<FrameOutbox>,
    pub(crate) watch: Arc<LoopWatch>,
    pub(crate) meter: Arc<MemoryMeter>,
    pub(crate) ops: RefCell<HostOps>,
    pub(crate) env: BTreeMap<String, String>,
    /// The calls that are not answered yet, and their realms.
    calls: RefCell<HashMap<CallId, u32>>,
    /// What the parent was asked for and has not answered yet.
    asked: RefCell<HashMap<u32, HostOpOwner>>,
    cut: Cell<Option<(CallId, CutReason)>>,
    /// JavaScript has asked to be told of the end of this turn.
    pub(crate) wants_drain: Cell<bool>,
    /// How many modules are being evaluated, by realm.
    evaluating: RefCell<HashMap<u32, u32>>,
    /// What one realm has found out for the others.
    pub(crate) remembered: RefCell<HashMap<String, Vec<u8>>>,
    logs: RefCell<LogQuota>,
}

impl HostShared {
    pub(crate) fn new(
        pipe: DataPipe,
        out: Arc<FrameOutbox>,
        watch: Arc<LoopWatch>,
        meter: Arc<MemoryMeter>,
        ops: HostOps,
        env: BTreeMap<String, String>,
    ) -> Self {
        Self {
            pipe: RefCell::new(pipe),
            out,
            watch,
            meter,
            ops: RefCell::new(ops),
            env,
            calls: RefCell::default(),
            asked: RefCell::default(),
            cut: Cell::new(None),
            wants_drain: Cell::new(false),
            evaluating: RefCell::default(),
            remembered: RefCell::default(),
            logs: RefCell::new(LogQuota::new()),
        }
    }

    /// Asked by QuickJS again and again while it runs: whether to stop.
    pub(crate) fn interrupts(&self) -> bool {
        // Until the turn is over: of a chain of jobs, the first interrupt may hit one that another follows already.
        if self.watch.closing() || self.cut.get().is_some() {
            return true;
        }
        let cut = if self.watch.take_wanted() {
            CutReason::Wanted
        } else if self.meter.refused() {
            CutReason::Memory
        } else {
            return false;
        };
        self.cut.set(Some((self.watch.current(), cut)));
        true
    }

    /// Whether JavaScript is being stopped.
    pub(crate) fn is_cutting(&self) -> bool {
        self.cut.get().is_some()
    }

    /// Whether a call was cut short in this turn. Code around it may not have noticed: the evaluation of a module turns
    /// any error into a rejection, and memory that is refused can be caught.
    pub(crate) fn is_cut(&self, call: CallId) -> bool {
        self.meter.refused() || self.cut.get().is_some_and(|(cut, _)| cut == call)
    }

    /// Which call was cut short in this turn, which `call` began.
    pub(crate) fn take_cut(&self, call: CallId) -> Option<(CallId, CutReason)> {
        let refused = self.meter.take_refused();
        self.cut.take().or_else(|| refused.then_some((call, CutReason::Memory)))
    }

    /// The evaluation of a module begins or ends.
    pub(crate) fn evaluating(&self, realm: u32, begins: bool) {
        let mut evaluating = self.evaluating.borrow_mut();
        let count = evaluating.entry(realm).or_default();
        *count = if begins { *count + 1 } else { count.saturating_sub(1) };
    }

    /// Whether a module of the realm is being evaluated. One that is cut short is never evaluated again: its importers
    /// would wait for ever.
    pub(crate) fn is_evaluating(&self, realm: u32) -> bool {
        self.evaluating.borrow().get(&realm).is_some_and(|count| *count > 0)
    }

    pub(crate) fn open(&self, call: CallId, realm: u32) {
        self.calls.borrow_mut().insert(call, realm);
    }

    /// What becomes of a line for the log of a call.
    pub(crate) fn admit_line(&self, call: CallId, bytes: usize) -> LogAdmission {
        let mut logs = self.logs.borrow_mut();
        match self.realm_of(call) {
            Some(_) => logs.admit(call, bytes),
            None => logs.admit_loose(bytes, Instant::now()),
        }
    }

    /// Whether the call was still open.
    pub(crate) fn close(&self, call: CallId) -> bool {
        self.logs.borrow_mut().forget(call);
        self.calls.borrow_mut().remove(&call).is_some()
    }

    pub(crate) fn realm_of(&self, call: CallId) -> Option<u32> {
        self.calls.borrow().get(&call).copied()
    }

    /// Whether anything is under way in a realm.
    pub(crate) fn is_busy(&self, realm: u32) -> bool {
        self.calls.borrow().values().any(|of| *of == realm) || self.ops.borrow().are_in(realm)
    }

    /// Whether a call that is open belongs to another realm, which nothing here may speak for.
    pub(crate) fn is_of_another(&self, call: CallId, realm: u32) -> bool {
        self.realm_of(call).is_some_and(|of| of != realm)
    }

    /// An operation that the parent was asked for, to be answered to this realm.
    pub(crate) fn asked(&self, op: u32, owner: HostOpOwner) {
        self.asked.borrow_mut().insert(op, owner);
    }

    /// The realm that an answer is for, if a call there still waits for it.
    pub(crate) fn take_asked(&self, op: u32) -> Option<u32> {
        self.asked.borrow_mut().remove(&op).map(|owner| owner.realm)
    }

    /// What a call was to be answered is of no use any more. Its timers and requests are JavaScript's to stop: they may be of
    /// use to others.
    pub(crate) fn forget_asked(&self, call: CallId) {
        self.asked.borrow_mut().retain(|_, owner| owner.call != call);
    }

    /// Gives up everything of a realm.
    pub(crate) fn forget_realm(&self, realm: u32) {
        self.calls.borrow_mut().retain(|_, of| *of != realm);
        self.asked.borrow_mut().retain(|_, owner| owner.realm != realm);
        self.evaluating.borrow_mut().remove(&realm);
        self.ops.borrow_mut().stop_all(|owner| owner.realm == realm);
    }

    /// Says something.
    pub(crate) fn put(&self, frame: &impl Serialize) {
        self.end_if_failed(self.out.put(frame));
    }

    /// Says what came of a call, as JSON.
    pub(crate) fn put_done(&self, call: CallId, value: &[u8]) {
        let begin = format!(r#"{{"done":{{"id":{call},"value":"#);
        self.end_if_failed(self.out.put_parts(&[begin.as_bytes(), value, b"}}"]));
    }

    /// A failed write means that the parent has closed the socket.
    pub(crate) fn end_if_failed<T>(&self, done: io::Result<T>) -> Option<T> {
        done.inspect_err(|_| self.watch.close()).ok()
    }
}
