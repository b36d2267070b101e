//! What the loop and the functions that it gives to JavaScript share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use serde::Serialize;

use crate::control::Watch;
use crate::frame::CallId;
use crate::memory::Meter;
use crate::ops::Ops;
use crate::pipe::Pipe;

/// Why JavaScript was stopped in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The engine wanted it.
    Wanted,
    /// It wanted too much memory.
    Memory,
}

/// The state of a host, but for its realms.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pipe: RefCell<Pipe>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) meter: Rc<Meter>,
    pub(crate) ops: RefCell<Ops>,
    pub(crate) env: BTreeMap<String, String>,
    /// The calls that are not answered yet, and their realms.
    calls: RefCell<HashMap<CallId, u32>>,
    cut: Cell<Option<(CallId, Cut)>>,
}

impl Shared {
    pub(crate) fn new(
        pipe: Pipe,
        watch: Arc<Watch>,
        meter: Rc<Meter>,
        ops: Ops,
        env: BTreeMap<String, String>,
    ) -> Self {
        Self {
            pipe: RefCell::new(pipe),
            watch,
            meter,
            ops: RefCell::new(ops),
            env,
            calls: RefCell::default(),
            cut: Cell::new(None),
        }
    }

    /// Asked by QuickJS again and again while it runs: whether to stop.
    pub(crate) fn interrupts(&self) -> bool {
        if self.watch.closing() {
            return true;
        }
        let cut = if self.watch.take_wanted() {
            Cut::Wanted
        } else if self.meter.refused() {
            Cut::Memory
        } else {
            return false;
        };
        self.cut.set(Some((self.watch.current(), cut)));
        true
    }

    /// Which call was cut short in this turn, which `call` began.
    pub(crate) fn take_cut(&self, call: CallId) -> Option<(CallId, Cut)> {
        let refused = self.meter.take_refused();
        self.cut.take().or_else(|| refused.then_some((call, Cut::Memory)))
    }

    pub(crate) fn open(&self, call: CallId, realm: u32) {
        self.calls.borrow_mut().insert(call, realm);
    }

    /// Whether the call was still open.
    pub(crate) fn close(&self, call: CallId) -> bool {
        self.calls.borrow_mut().remove(&call).is_some()
    }

    pub(crate) fn realm_of(&self, call: CallId) -> Option<u32> {
        self.calls.borrow().get(&call).copied()
    }

    /// The calls of a realm that are not answered yet.
    pub(crate) fn calls_of(&self, realm: u32) -> Vec<CallId> {
        let calls = self.calls.borrow();
        calls.iter().filter(|(_, of)| **of == realm).map(|(call, _)| *call).collect()
    }

    /// Says something.
    pub(crate) fn put(&self, frame: &impl Serialize) {
        self.heed(self.pipe.borrow_mut().put(frame));
    }

    pub(crate) fn put_text(&self, text: &[u8]) {
        self.heed(self.pipe.borrow_mut().put_text(text));
    }

    /// Nobody listens any more if writing fails.
    pub(crate) fn heed<T>(&self, done: io::Result<T>) -> Option<T> {
        done.inspect_err(|_| self.watch.close()).ok()
    }
}
