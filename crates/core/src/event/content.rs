//! What events hold that functions and clients have put there: values, states, failures.

use std::slice::from_mut;
use std::sync::LazyLock;

use super::EventKind;
use crate::durable::{ChildOutcome, OpBody, OpOutcome};
use crate::failure::FailureRecord;
use crate::value::Value;

/// What a wait gives that timed out and may.
static NULL: LazyLock<Value> = LazyLock::new(Value::null);

impl EventKind {
    /// The recorded value that this event holds, if it holds one.
    pub fn value(&self) -> Option<&Value> {
        self.content().value
    }

    /// The step state that this event holds, if it holds one.
    pub fn state(&self) -> Option<&Value> {
        self.content().state
    }

    /// The failure that this event holds, if it holds one.
    pub fn failure(&self) -> Option<&FailureRecord> {
        self.content().failure
    }

    fn content(&self) -> EventContent<'_> {
        let (mut value, mut state, mut failure) = (None, None, None);
        match self {
            Self::RunStarted { input: it, .. }
            | Self::DecisionImported { result: it, .. }
            | Self::LaneImported { result: it, .. }
            | Self::SignalReceived { payload: it, .. } => value = Some(it),
            Self::NodeImported { result, state: own, failure: why, .. } => {
                (value, state, failure) = (Some(result), own.as_ref(), why.as_ref());
            }
            Self::CallSucceeded { result, state: own, .. } => (value, state) = (Some(result), own.as_ref()),
            Self::CallFailed { failure: why, state: own, .. } => {
                (failure, state) = (Some(why), own.as_ref());
            }
            Self::CallCancelled { state: own, .. } | Self::CallSuspended { state: own, .. } => {
                state = own.as_ref();
            }
            Self::RunFailing { failure: why, .. } | Self::RunFailed { failure: why, .. } => {
                failure = Some(why);
            }
            Self::NodeFailed { failure: why, .. } => failure = why.as_ref(),
            Self::SignalTimedOut { failure: why, .. } => {
                (value, failure) = (why.is_none().then(|| &*NULL), why.as_ref());
            }
            Self::OpEnded { outcome, .. } => match outcome {
                OpOutcome::Value(it) => value = Some(it),
                OpOutcome::Failed(why) => failure = Some(why),
                OpOutcome::Done {} | OpOutcome::Cancelled {} | OpOutcome::Left {} => {}
            },
            Self::ChildEnded { outcome, .. } => match outcome {
                ChildOutcome::Completed(it) => value = Some(it),
                ChildOutcome::Failed { .. } | ChildOutcome::Cancelled { .. } => {}
            },
            Self::CallStarted { .. }
            | Self::CallLost { .. }
            | Self::NodeStarted { .. }
            | Self::LaneEnded { .. }
            | Self::BlockFailing { .. }
            | Self::LaneStopping { .. }
            | Self::Joined { .. }
            | Self::NodeCompleted { .. }
            | Self::NodeCancelled { .. }
            | Self::NodeHeld { .. }
            | Self::NodeBlocked { .. }
            | Self::NodeUnblocked { .. }
            | Self::SleepStarted { .. }
            | Self::SleepEnded { .. }
            | Self::SignalAwaited { .. }
            | Self::SignalTaken { .. }
            | Self::OpStarted { .. }
            | Self::OpDropped { .. }
            | Self::OpStopping { .. }
            | Self::ChildStarted { .. }
            | Self::ChildRetried { .. }
            | Self::ChildUndoing { .. }
            | Self::ChildUndone { .. }
            | Self::CancelRequested { .. }
            | Self::RunPaused {}
            | Self::RunResumed {}
            | Self::ClockSetBack { .. }
            | Self::RunCompleted { .. }
            | Self::RunCancelled { .. } => {}
        }
        EventContent { value, state, failure }
    }
}

/// What an event holds that functions and clients have put there.
struct EventContent<'a> {
    value: Option<&'a Value>,
    state: Option<&'a Value>,
    failure: Option<&'a FailureRecord>,
}

/// Which of an event's recorded values is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueField {
    /// What was given, returned, sent or asked for.
    Value,
    /// A step's state.
    State,
}

impl EventKind {
    /// The failure that this event holds, if it holds one, to be changed for showing.
    pub fn failure_mut(&mut self) -> Option<&mut FailureRecord> {
        self.content_mut().failure
    }

    /// Goes through all recorded values of an event, to be changed for showing.
    pub fn for_each_value(&mut self, change: &mut dyn FnMut(ValueField, &mut Value)) {
        let ContentMut { values, state, failure } = self.content_mut();
        if let Some(state) = state {
            change(ValueField::State, state);
        }
        values.iter_mut().for_each(|value| change(ValueField::Value, value));
        if let Some(details) = failure.and_then(|failure| failure.details.as_mut()) {
            change(ValueField::Value, details);
        }
    }

    fn content_mut(&mut self) -> ContentMut<'_> {
        let mut content = ContentMut::default();
        match self {
            Self::RunStarted { input: it, .. }
            | Self::DecisionImported { result: it, .. }
            | Self::LaneImported { result: it, .. }
            | Self::SignalReceived { payload: it, .. } => content.values = from_mut(it),
            Self::NodeImported { result, state, failure, .. } => {
                content =
                    ContentMut { values: from_mut(result), state: state.as_mut(), failure: failure.as_mut() };
            }
            Self::CallSucceeded { result, state, .. } => {
                (content.values, content.state) = (from_mut(result), state.as_mut());
            }
            Self::CallFailed { failure, state, .. } => {
                (content.failure, content.state) = (Some(failure), state.as_mut());
            }
            Self::CallCancelled { state, .. } | Self::CallSuspended { state, .. } => {
                content.state = state.as_mut();
            }
            Self::RunFailing { failure, .. } | Self::RunFailed { failure, .. } => {
                content.failure = Some(failure);
            }
            Self::NodeFailed { failure, .. } | Self::SignalTimedOut { failure, .. } => {
                content.failure = failure.as_mut();
            }
            Self::OpStarted { what, .. } => match what {
                OpBody::Run { input } => content.values = from_mut(input),
                OpBody::Map { items, .. } => content.values = items,
                OpBody::Once {} | OpBody::Sleep { .. } | OpBody::Signal { .. } => {}
            },
            Self::OpEnded { outcome, .. } => match outcome {
                OpOutcome::Value(it) => content.values = from_mut(it),
                OpOutcome::Failed(failure) => content.failure = Some(failure),
                OpOutcome::Done {} | OpOutcome::Cancelled {} | OpOutcome::Left {} => {}
            },
            Self::ChildEnded { outcome, .. } => match outcome {
                ChildOutcome::Completed(it) => content.values = from_mut(it),
                ChildOutcome::Failed { failure, .. } => content.failure = Some(failure),
                ChildOutcome::Cancelled { .. } => {}
            },
            Self::CallStarted { .. }
            | Self::CallLost { .. }
            | Self::NodeStarted { .. }
            | Self::LaneEnded { .. }
            | Self::BlockFailing { .. }
            | Self::LaneStopping { .. }
            | Self::Joined { .. }
            | Self::NodeCompleted { .. }
            | Self::NodeCancelled { .. }
            | Self::NodeHeld { .. }
            | Self::NodeBlocked { .. }
            | Self::NodeUnblocked { .. }
            | Self::SleepStarted { .. }
            | Self::SleepEnded { .. }
            | Self::SignalAwaited { .. }
            | Self::SignalTaken { .. }
            | Self::OpDropped { .. }
            | Self::OpStopping { .. }
            | Self::ChildStarted { .. }
            | Self::ChildRetried { .. }
            | Self::ChildUndoing { .. }
            | Self::ChildUndone { .. }
            | Self::CancelRequested { .. }
            | Self::RunPaused {}
            | Self::RunResumed {}
            | Self::ClockSetBack { .. }
            | Self::RunCompleted { .. }
            | Self::RunCancelled { .. } => {}
        }
        content
    }
}

/// The same as [`EventContent`], to be changed. What an operation asks for is part of it.
#[derive(Default)]
struct ContentMut<'a> {
    values: &'a mut [Value],
    state: Option<&'a mut Value>,
    failure: Option<&'a mut FailureRecord>,
}
