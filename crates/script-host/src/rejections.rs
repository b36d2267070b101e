//! Promises that were rejected and that are not awaited.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::runtime::RejectionTracker;
use rquickjs::{Ctx, Persistent, Value};

use crate::control::LoopWatch;
use crate::error;
use crate::frame::{CallId, ScriptError};

type Kept = Persistent<Value<'static>>;

struct Rejection {
    promise: Kept,
    reason: Kept,
    call: CallId,
}

/// Those of the turn that is running.
#[derive(Clone, Default)]
pub(crate) struct TurnRejections(Rc<RefCell<Vec<Rejection>>>);

impl TurnRejections {
    /// What QuickJS tells of every promise that is rejected without a handler, and of every handler that comes later.
    pub(crate) fn tracker(&self, watch: Arc<LoopWatch>) -> RejectionTracker {
        let open = Rc::clone(&self.0);
        Box::new(move |ctx, promise, reason, handled| {
            let promise = Persistent::save(&ctx, promise);
            if handled {
                open.borrow_mut().retain(|rejection| rejection.promise != promise);
            } else {
                let reason = Persistent::save(&ctx, reason);
                open.borrow_mut().push(Rejection { promise, reason, call: watch.current() });
            }
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Takes the rejections that no JavaScript code has handled.
    pub(crate) fn take(&self, ctx: &Ctx<'_>) -> Vec<(CallId, ScriptError)> {
        let taken = self.0.take();
        let told = taken.into_iter().filter_map(|rejection| {
            let reason = error::quiet(ctx, rejection.reason.restore(ctx))?;
            // An interrupt of the host's own that came while a promise was being resolved is no error of the script.
            (!reason.is_uncatchable_error()).then(|| (rejection.call, error::of_value(ctx, &reason)))
        });
        told.collect()
    }

    pub(crate) fn clear(&self) {
        self.0.take();
    }
}

impl std::fmt::Debug for TurnRejections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rejections").field(&self.0.borrow().len()).finish()
    }
}
