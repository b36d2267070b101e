//! What a call is given, by its role, and reading what of it is not at hand.

use std::sync::Arc;

use rival_core::{FailureRecord, Path, RunId};
use rival_store::Store;

use crate::call::context::{StepView, UndoContext, UndoOutcome};
use crate::call::values::{ReadError, RecordedValue};
use crate::durable::handle::DurableHandle;
use crate::durable::idle::IdleTracker;
use crate::inspect::view::empty_state;
use crate::run::mailbox::StepSnapshot;

/// What calls of one role are given, and others are not.
pub(crate) enum RoleInputs {
    /// A step; with durable operations, if it asks for them.
    Step { durable: Option<(DurableHandle, Arc<IdleTracker>)> },
    /// A function that decides for its node: its input, its items, how long it waits, which case, whether again.
    Decider,
    /// What comes after a parallel block: the results of its branches.
    Finally { joined: Option<RecordedValue> },
    /// An error handler.
    Handler(WhatFailed),
    /// A compensation.
    Compensation(WhatIsUndone),
}

/// What an error handler is called for.
pub(crate) struct WhatFailed {
    pub(crate) failure: FailureSource,
    pub(crate) step: Option<StepSnapshot>,
    pub(crate) path: Path,
}

/// What a compensation is called for.
pub(crate) struct WhatIsUndone {
    pub(crate) result: Option<RecordedValue>,
    pub(crate) completed: bool,
}

pub(crate) enum FailureSource {
    Known(FailureRecord),
    Recorded(RecordedValue),
}

/// The other steps that a function asked for.
pub(crate) struct SeenSteps {
    pub(crate) outputs: Vec<Option<StepSnapshot>>,
    pub(crate) named: Vec<Option<StepSnapshot>>,
    pub(crate) last: Option<StepSnapshot>,
}

impl RoleInputs {
    /// The durable operations that the function may ask for.
    pub(crate) fn durable(&self) -> Option<&(DurableHandle, Arc<IdleTracker>)> {
        match self {
            Self::Step { durable } => durable.as_ref(),
            Self::Decider | Self::Finally { .. } | Self::Handler(_) | Self::Compensation(_) => None,
        }
    }

    pub(crate) fn is_at_hand(&self) -> bool {
        match self {
            // A function that asks for durable things talks with its actor, and needs a task for that.
            Self::Step { durable } => durable.is_none(),
            Self::Decider => true,
            Self::Finally { joined } => joined.as_ref().is_none_or(RecordedValue::is_at_hand),
            Self::Handler(failed) => failed.is_at_hand(),
            Self::Compensation(undone) => undone.result.as_ref().is_none_or(RecordedValue::is_at_hand),
        }
    }

    pub(crate) async fn fetch(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        max: usize,
    ) -> Result<(), ReadError> {
        let value = match self {
            Self::Step { .. } | Self::Decider => None,
            Self::Finally { joined } => joined.as_mut(),
            Self::Handler(failed) => return failed.fetch(store, run, max).await,
            Self::Compensation(undone) => undone.result.as_mut(),
        };
        match value {
            Some(recorded) => recorded.fetch(store, run, max).await,
            None => Ok(()),
        }
    }
}

impl WhatFailed {
    fn is_at_hand(&self) -> bool {
        let is_known = match &self.failure {
            FailureSource::Known(_) => true,
            FailureSource::Recorded(recorded) => recorded.is_at_hand(),
        };
        is_known && self.step.as_ref().is_none_or(StepSnapshot::is_at_hand)
    }

    async fn fetch(&mut self, store: &dyn Store, run: &RunId, max: usize) -> Result<(), ReadError> {
        if let Some(step) = &mut self.step {
            step.fetch(store, run, max).await?;
        }
        match &mut self.failure {
            FailureSource::Known(_) => Ok(()),
            FailureSource::Recorded(recorded) => recorded.fetch(store, run, max).await,
        }
    }
}

impl WhatIsUndone {
    pub(crate) fn context(&self) -> UndoContext {
        let outcome = if self.completed { UndoOutcome::Completed } else { UndoOutcome::Unknown };
        UndoContext { result: self.result.as_ref().and_then(RecordedValue::value), outcome }
    }
}

impl SeenSteps {
    pub(crate) fn is_at_hand(&self) -> bool {
        self.outputs.iter().chain(&self.named).flatten().chain(&self.last).all(StepSnapshot::is_at_hand)
    }

    pub(crate) async fn fetch(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        max: usize,
    ) -> Result<(), ReadError> {
        let steps = self.outputs.iter_mut().flatten().chain(self.named.iter_mut().flatten());
        for step in steps.chain(self.last.as_mut()) {
            step.fetch(store, run, max).await?;
        }
        Ok(())
    }
}

impl StepSnapshot {
    pub(crate) fn is_at_hand(&self) -> bool {
        self.result.iter().chain(&self.state).all(RecordedValue::is_at_hand)
    }

    pub(crate) async fn fetch(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        max: usize,
    ) -> Result<(), ReadError> {
        for recorded in self.result.iter_mut().chain(&mut self.state) {
            recorded.fetch(store, run, max).await?;
        }
        Ok(())
    }

    /// The step as functions see it; what it recorded must be at hand.
    pub(crate) fn view(&self) -> StepView {
        let state = self.state.as_ref().and_then(RecordedValue::event);
        StepView {
            name: self.name.clone(),
            result: self.result.as_ref().and_then(RecordedValue::value),
            state: state.and_then(|event| event.kind.state().cloned()).unwrap_or_else(empty_state),
            status: self.status,
        }
    }
}

/// Steps as functions see them; what they recorded must be at hand.
pub(crate) fn views(seen: &[Option<StepSnapshot>]) -> Vec<Option<StepView>> {
    seen.iter().map(|seen| seen.as_ref().map(StepSnapshot::view)).collect()
}
