//! The recorded values that a live run has at hand.
//!
//! A run's state refers to values by the event that recorded them. The latest ones stay in memory, because
//! the next step most likely asks for them; the others are read from the store when asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use rival_core::event::{self, DecodeError, Kind};
use rival_core::{Event, RunId, Seq};
use rival_store::{Store, StoreError};

/// How many bytes of values a live run keeps at hand.
const BYTES_MAX: usize = 256 * 1024;

/// Recorded values of one run.
#[derive(Debug, Default)]
pub(crate) struct Values {
    recent: BTreeMap<Seq, Arc<Event>>,
    bytes: usize,
    /// The run's input, which most steps ask for.
    input: Option<Arc<Event>>,
}

impl Values {
    /// Keeps the events that hold values.
    pub(crate) fn keep(&mut self, events: Vec<Event>) {
        for event in events {
            if matches!(event.event, Kind::RunStarted { .. }) {
                self.input = Some(Arc::new(event));
            } else if size(&event.event) > 0 {
                self.bytes += size(&event.event);
                self.recent.insert(event.seq, Arc::new(event));
            }
        }
        while self.bytes > BYTES_MAX {
            let Some((_, oldest)) = self.recent.pop_first() else { break };
            self.bytes -= size(&oldest.event);
        }
    }

    /// The event with this number, if it is at hand.
    pub(crate) fn get(&self, seq: Seq) -> Option<&Arc<Event>> {
        match &self.input {
            Some(input) if input.seq == seq => Some(input),
            _ => self.recent.get(&seq),
        }
    }
}

fn size(kind: &Kind) -> usize {
    let value = kind.value().map_or(0, |value| value.len_bytes());
    let state = kind.state().map_or(0, |state| state.len_bytes());
    let failure = kind.failure().map_or(0, |failure| failure.message.len());
    value + state + failure
}

/// Why a recorded value is not to be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("event {0} is missing")]
    Missing(Seq),
}

/// A recorded value that is at hand, or where to find it.
#[derive(Clone, Debug)]
pub(crate) enum Recorded {
    AtHand(Arc<Event>),
    Stored(Seq),
}

impl Recorded {
    pub(crate) fn is_at_hand(&self) -> bool {
        matches!(self, Self::AtHand(_))
    }

    /// The event, if it is at hand.
    pub(crate) fn event(&self) -> Option<&Arc<Event>> {
        match self {
            Self::AtHand(event) => Some(event),
            Self::Stored(_) => None,
        }
    }

    /// Brings it to hand.
    pub(crate) async fn fetch(&mut self, store: &dyn Store, run: &RunId) -> Result<(), ReadError> {
        if let Self::Stored(seq) = *self {
            *self = Self::AtHand(load_event(store, run, seq).await?);
        }
        Ok(())
    }
}

async fn load_event(store: &dyn Store, run: &RunId, seq: Seq) -> Result<Arc<Event>, ReadError> {
    let after = Seq(seq.0.saturating_sub(1));
    for batch in store.load(run, after, 1).await? {
        if let Some(event) = event::decode(&batch.body)?.into_iter().find(|event| event.seq == seq) {
            return Ok(Arc::new(event));
        }
    }
    Err(ReadError::Missing(seq))
}
