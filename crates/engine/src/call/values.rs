//! The recorded values that a live run has at hand.
//!
//! A run's state refers to values by the event that recorded them. The latest ones stay in memory, because
//! the next step most likely asks for them; the others are read from the store when asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rival_core::event::{self, DecodeError, EventKind, ValueField};
use rival_core::joined::{self, HeldPart, parts_of, put_together};
use rival_core::{Event, Path, RunId, Seq, Value};
use rival_store::{Store, StoreError};

use crate::inspect::bounded::ValueBudget;
use crate::run::load::LoadError;

/// How many bytes of values a live run keeps at hand.
const BYTES_MAX: usize = 256 * 1024;

/// Recorded values of one run.
#[derive(Debug, Default)]
pub(crate) struct RecordedValues {
    /// In their order.
    recent: VecDeque<Arc<Event>>,
    bytes: usize,
    /// The run's input, which most steps ask for.
    input: Option<Arc<Event>>,
}

impl RecordedValues {
    /// Keeps the events that hold values.
    pub(crate) fn keep(&mut self, events: Vec<Event>) {
        for event in events {
            if matches!(event.kind, EventKind::RunStarted { .. }) {
                self.input = Some(Arc::new(event));
            } else if holds_something(&event.kind) {
                self.bytes += size(&event.kind);
                self.recent.push_back(Arc::new(event));
            }
        }
        while self.bytes > BYTES_MAX {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.bytes -= size(&oldest.kind);
        }
    }

    /// The event with this number, if it is at hand.
    pub(crate) fn get(&self, seq: Seq) -> Option<&Arc<Event>> {
        match &self.input {
            Some(input) if input.seq == seq => Some(input),
            _ => self.recent.get(self.recent.binary_search_by_key(&seq, |event| event.seq).ok()?),
        }
    }
}

fn holds_something(kind: &EventKind) -> bool {
    kind.value().is_some() || kind.state().is_some() || kind.failure().is_some() || parts_of(kind).is_some()
}

fn size(kind: &EventKind) -> usize {
    let value = kind.value().map_or(0, |value| value.len_bytes());
    let state = kind.state().map_or(0, |state| state.len_bytes());
    let failure = kind.failure().map_or(0, |failure| failure.message.len());
    // Not the parts themselves, but their numbers.
    let parts = joined::references(kind).count() * size_of::<Seq>();
    // What every event takes, however little it holds.
    let itself = size_of::<Event>() + 64;
    value + state + failure + parts + itself
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
    /// What a block's result is put together from is more than a value may have.
    #[error("the result of `{node}` is larger than the {limit} bytes that a value may have")]
    TooLarge { node: Path, limit: usize },
}

impl From<LoadError> for ReadError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Store(error) => Self::Store(error),
            LoadError::Decode(error) => Self::Decode(error),
            LoadError::NotRegistered(_)
            | LoadError::PlanMissing
            | LoadError::Gap(_)
            | LoadError::Broken(_) => Self::Store(StoreError::Damaged(error.to_string())),
        }
    }
}

/// A recorded value that is at hand, or where to find it.
#[derive(Clone, Debug)]
pub(crate) enum RecordedValue {
    AtHand(Arc<Event>),
    Stored(Seq),
    /// A block's result, put together.
    Built(Value),
}

impl RecordedValue {
    pub(crate) fn is_at_hand(&self) -> bool {
        match self {
            Self::AtHand(event) => parts_of(&event.kind).is_none(),
            Self::Stored(_) => false,
            Self::Built(_) => true,
        }
    }

    /// The event, if it is at hand.
    pub(crate) fn event(&self) -> Option<&Arc<Event>> {
        match self {
            Self::AtHand(event) => Some(event),
            Self::Stored(_) | Self::Built(_) => None,
        }
    }

    /// The value, if it is at hand.
    pub(crate) fn value(&self) -> Option<Value> {
        match self {
            Self::AtHand(event) => event.kind.value().cloned(),
            Self::Built(value) => Some(value.clone()),
            Self::Stored(_) => None,
        }
    }

    /// Brings it to hand.
    pub(crate) async fn fetch(
        &mut self,
        store: &dyn Store,
        run: &RunId,
        max_bytes: usize,
    ) -> Result<(), ReadError> {
        if let Self::Stored(seq) = *self {
            *self = Self::AtHand(load_event(store, run, seq).await?);
        }
        if let Self::AtHand(event) = self
            && parts_of(&event.kind).is_some()
        {
            *self = Self::Built(load_joined(store, run, event, max_bytes, &|_| None).await?);
        }
        Ok(())
    }
}

pub(crate) async fn load_event(store: &dyn Store, run: &RunId, seq: Seq) -> Result<Arc<Event>, ReadError> {
    let after = Seq(seq.0.saturating_sub(1));
    for batch in store.load(run, after, 1).await? {
        if let Some(event) = event::decode(&batch.body)?.into_iter().find(|event| event.seq == seq) {
            return Ok(Arc::new(event));
        }
    }
    Err(ReadError::Missing(seq))
}

/// Reads everything that a block's result is put together from, blocks inside of it too, and does so. Nothing is held
/// that is more than a value may have.
pub(crate) async fn load_joined<'e>(
    store: &dyn Store,
    run: &RunId,
    event: &Event,
    max_bytes: usize,
    at_hand: &(dyn Fn(Seq) -> Option<&'e Event> + Sync),
) -> Result<Value, ReadError> {
    let too_large = || {
        let node = event.kind.node().cloned().unwrap_or_else(Path::root);
        ReadError::TooLarge { node, limit: max_bytes }
    };
    let mut left = max_bytes;
    let mut held: BTreeMap<Seq, HeldPart> = BTreeMap::new();
    let mut wanted: BTreeSet<Seq> = joined::references(&event.kind).collect();
    while !wanted.is_empty() {
        let mut found = Vec::new();
        wanted.retain(|seq| match at_hand(*seq).and_then(|event| HeldPart::new(event.kind.clone())) {
            Some(held) => {
                found.push((*seq, held));
                false
            }
            None => true,
        });
        let stored = load_all(store, run, &wanted, &mut left, |event| HeldPart::new(event.kind)).await?;
        found.extend(stored.ok_or_else(too_large)?);
        let mut inner = BTreeSet::new();
        for (_, found) in &found {
            if let HeldPart::Parts(parts) = found {
                inner.extend(joined::holders(parts));
            }
        }
        held.extend(found);
        wanted = inner.into_iter().filter(|seq| !held.contains_key(seq)).collect();
    }
    let parts = parts_of(&event.kind).ok_or(ReadError::Missing(event.seq))?;
    let value = put_together(parts, &|seq| value_of(seq, &held)).ok_or(ReadError::Missing(event.seq))?;
    // Parts may be used several times, and there are commas.
    if value.len_bytes() > max_bytes { Err(too_large()) } else { Ok(value) }
}

fn value_of(seq: Seq, held: &BTreeMap<Seq, HeldPart>) -> Option<Value> {
    match held.get(&seq)? {
        HeldPart::Value(value) => Some(value.clone()),
        HeldPart::Parts(parts) => put_together(parts, &|seq| value_of(seq, held)),
    }
}

/// Events that lie closer together than this are read in one go.
const NEAR: u64 = 64;
/// How many events are read at once at most.
const PAGE: u64 = 2_000;

/// Reads events, those that are near to each other together, and keeps what `take` takes of each; `None` if their values
/// have more bytes than are left.
async fn load_all<T>(
    store: &dyn Store,
    run: &RunId,
    wanted: &BTreeSet<Seq>,
    left: &mut usize,
    take: impl Fn(Event) -> Option<T>,
) -> Result<Option<Vec<(Seq, T)>>, ReadError> {
    let mut found = Vec::with_capacity(wanted.len());
    let mut next = wanted.first().copied();
    while let Some(first) = next {
        let near = wanted.range(first..).scan(first, |last, &seq| {
            let close = seq.0 - last.0 <= NEAR && seq.0 - first.0 < PAGE;
            *last = seq;
            close.then_some(seq)
        });
        let last = near.last().unwrap_or(first);
        let limit = usize::try_from(last.0 - first.0 + 1).unwrap_or(usize::MAX);
        let mut reached = first;
        for batch in store.load(run, Seq(first.0 - 1), limit).await? {
            reached = reached.max(batch.last());
            let events = event::decode(&batch.body)?.into_iter();
            for event in events.filter(|event| event.seq >= first && wanted.contains(&event.seq)) {
                let seq = event.seq;
                let bytes = event.kind.value().map_or(0, Value::len_bytes);
                match left.checked_sub(bytes) {
                    Some(rest) => *left = rest,
                    None => return Ok(None),
                }
                found.push((seq, take(event).ok_or(ReadError::Missing(seq))?));
            }
        }
        next = wanted.range(reached.next()..).next().copied();
    }
    if found.len() == wanted.len() {
        return Ok(Some(found));
    }
    let there: BTreeSet<Seq> = found.iter().map(|(seq, _)| *seq).collect();
    let missing = wanted.difference(&there).next();
    Err(ReadError::Missing(missing.copied().unwrap_or_default()))
}

/// Values and states that were read from the store, block results put together.
#[derive(Default)]
pub(crate) struct ReadValues(BTreeMap<Seq, (Option<Value>, Option<Value>)>);

impl ReadValues {
    /// Reads them one by one, and lets go of what the budget does not take: the output is whole if it is as large as a
    /// value may be, what steps left is not if it is too large.
    pub(crate) async fn load(
        store: &dyn Store,
        run: &RunId,
        wanted: &BTreeSet<Seq>,
        output: Option<Seq>,
        max_bytes: usize,
        budget: &mut ValueBudget<'_>,
    ) -> Result<Self, ReadError> {
        let mut values = BTreeMap::new();
        for seq in wanted.iter().copied() {
            let event = load_event(store, run, seq).await?;
            let is_output = output == Some(seq);
            let value = match parts_of(&event.kind) {
                None => event.kind.value().cloned(),
                Some(_) => {
                    let max_bytes = if is_output { max_bytes } else { budget.value_max().min(max_bytes) };
                    Some(match load_joined(store, run, &event, max_bytes, &|_| None).await {
                        Err(ReadError::TooLarge { node, limit }) => budget.too_large(seq, &node, limit),
                        joined => joined?,
                    })
                }
            };
            let fit = |value| if is_output { value } else { budget.fit(value, seq, ValueField::Value) };
            let value = value.map(fit);
            let state = event.kind.state().cloned();
            let state = state.map(|state| budget.fit(state, seq, ValueField::State));
            values.insert(seq, (value, state));
        }
        Ok(Self(values))
    }

    pub(crate) fn value(&self, seq: Seq) -> Option<Value> {
        self.0.get(&seq)?.0.clone()
    }

    pub(crate) fn state(&self, seq: Seq) -> Option<Value> {
        self.0.get(&seq)?.1.clone()
    }
}
