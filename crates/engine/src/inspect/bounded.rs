//! Values in answers of bounded size: what is too large is left out, and a reference to it stands in its place.
//!
//! A run may have recorded more than fits into memory. Histories are read a page at a time, and what is too large is let
//! go of before the next page; a value that is wanted whole is read on its own, in pieces.

use futures::stream::{self, BoxStream, StreamExt};
use rival_core::event::{ResultPart, ResultParts, ValueField};
use rival_core::joined::HeldPart;
use rival_core::view::RunView;
use rival_core::{Event, FailureOrigin, Path, RunId, RunState, Seq, Value};
use rival_store::StoreError;
use serde_json::json;
use std::sync::Arc;

use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::call::values::{ReadError, load_event};
use crate::inspect::view;
use crate::run::load;

/// The key of the object that stands in the place of a value that was left out.
const OMITTED: &str = "$omitted";
/// How many characters of a value are shown in its place.
const PREVIEW_CHARS: usize = 80;
/// Values up to this size are never left out: what would stand in their place is not smaller.
const SMALL_BYTES: usize = 512;
/// How many characters of a failure's message are shown.
const MESSAGE_CHARS: usize = 16_384;
/// How many nodes an answer shows.
const NODES_MAX: usize = 5_000;
/// How many bytes of values are held while a history is read, whatever the answer may hold.
const HELD_MAX_BYTES: usize = 16 << 20;

/// How much of recorded values an answer holds.
#[derive(Clone)]
pub struct ValueLimits {
    /// The largest value.
    pub value_max_bytes: usize,
    /// All values together.
    pub total_max_bytes: usize,
    /// Where a value can be read by itself that was left out.
    pub link: Arc<dyn Fn(&RunId, Seq, ValueField) -> String + Send + Sync>,
}

impl std::fmt::Debug for ValueLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { value_max_bytes, total_max_bytes, link: _ } = self;
        f.debug_struct("ValueLimits").field("value", value_max_bytes).field("total", total_max_bytes).finish()
    }
}

impl ValueLimits {
    /// What stands in the place of a value.
    fn stand_in(&self, run: &RunId, event: Seq, field: ValueField, value: &Value) -> Value {
        let text = value.as_json();
        let preview: String = text.chars().take(PREVIEW_CHARS).collect();
        let href = (self.link)(run, event, field);
        let bytes = text.len();
        Value::from(json!({ OMITTED: { "event": event, "bytes": bytes, "preview": preview, "href": href } }))
    }
}

/// Whether a value stands in the place of one that was left out.
pub fn is_omitted(value: &Value) -> bool {
    value.len_bytes() <= 4 * SMALL_BYTES && value.as_json().starts_with(r#"{"$omitted":{"#)
}

/// Decides value by value what an answer holds.
#[derive(Debug)]
pub(crate) struct ValueBudget<'a> {
    run: &'a RunId,
    /// `None`: everything.
    limits: Option<ValueLimits>,
    left: usize,
}

impl<'a> ValueBudget<'a> {
    pub(crate) fn new(run: &'a RunId, limits: ValueLimits) -> Self {
        Self { run, left: limits.total_max_bytes, limits: Some(limits) }
    }

    pub(crate) fn unlimited(run: &'a RunId) -> Self {
        Self { run, limits: None, left: 0 }
    }

    /// For what is held while a history is read.
    fn held(run: &'a RunId, limits: ValueLimits) -> Self {
        Self { left: HELD_MAX_BYTES, ..Self::new(run, limits) }
    }

    /// By how many so many nodes are more than an answer has.
    pub(crate) fn too_many(&self, nodes: usize) -> usize {
        if self.limits.is_some() { nodes.saturating_sub(NODES_MAX) } else { 0 }
    }

    /// How large a value may be.
    pub(crate) fn value_max(&self) -> usize {
        self.limits.as_ref().map_or(usize::MAX, |limits| limits.value_max_bytes.min(self.left))
    }

    /// What stands in the place of a block's result that was not put together.
    pub(crate) fn too_large(&self, event: Seq, node: &Path, limit: usize) -> Value {
        let error = format!("the result of `{node}` has more than {limit} bytes");
        let href = self.limits.as_ref().map(|limits| (limits.link)(self.run, event, ValueField::Value));
        Value::from(json!({ OMITTED: { "event": event, "error": error, "href": href } }))
    }

    /// The value, or what stands in its place.
    pub(crate) fn fit(&mut self, value: Value, event: Seq, field: ValueField) -> Value {
        let Some(limits) = &self.limits else { return value };
        let bytes = value.len_bytes();
        let fits = bytes <= SMALL_BYTES || bytes <= limits.value_max_bytes && bytes <= self.left;
        if !fits {
            return limits.stand_in(self.run, event, field, &value);
        }
        self.left = self.left.saturating_sub(bytes);
        value
    }

    /// Leaves out what is long of a failure's origin, if there is no room for it. Its place stays.
    fn fit_origin(&mut self, origin: &mut FailureOrigin) {
        let excerpt: usize = origin.excerpt.iter().map(|line| line.text.len()).sum();
        let bytes = excerpt + origin.stack.as_ref().map_or(0, String::len);
        if bytes > self.left {
            (origin.excerpt, origin.stack) = (Vec::new(), None);
        } else {
            self.left -= bytes;
        }
    }
}

impl Engine {
    /// A run with everything that is known of it, in an answer of bounded size: values that are too large, or too many,
    /// are left out, and an object with the key `$omitted` stands in their place. The run's input and output come
    /// first, then what its steps left, in plan order.
    pub async fn overview(&self, run: &RunId, limits: ValueLimits) -> Result<RunView, RunError> {
        let row = self.row(run).await?;
        let plan = self.indexed_plan(&row).await?;
        let (events, state) = self.folded_within(run, limits.clone()).await?;
        let view = view::run_view(&row, &plan, &state, &events, &mut ValueBudget::new(run, limits));
        self.with_triggers(view, &plan).await
    }

    /// A run's history without what is too large, and its state.
    async fn folded_within(
        &self,
        run: &RunId,
        limits: ValueLimits,
    ) -> Result<(Vec<Event>, RunState), RunError> {
        let mut budget = ValueBudget::held(run, limits);
        let (mut history, mut state) = (Vec::new(), RunState::for_whole_run());
        loop {
            let page = load::load_events(&*self.shared.store.get()?, run, state.seq, load::PAGE).await;
            let page = self.read(run, page)?;
            if page.is_empty() {
                return Ok((history, state));
            }
            for mut event in page {
                state.apply(&event);
                lighten(&mut event, &mut budget);
                history.push(event);
            }
        }
    }

    /// A recorded value as JSON, in pieces: the value or the state that an event holds, or a block's result, put
    /// together part by part. Ends with an error if something cannot be read.
    pub async fn value_in_pieces(
        &self,
        run: &RunId,
        event: Seq,
        field: ValueField,
    ) -> Result<BoxStream<'static, Result<ValuePiece, RunError>>, RunError> {
        self.row(run).await?;
        let found = match load_event(&*self.shared.store.get()?, run, event).await {
            Ok(found) => Some(found),
            Err(ReadError::Missing(_)) => None,
            Err(error) => return Err(unreadable(run, error)),
        };
        let left = found.and_then(|found| match field {
            ValueField::Value => HeldPart::new(found.kind.clone()).map(Left::Held),
            ValueField::State => found.kind.state().cloned().map(|state| Left::Held(HeldPart::Value(state))),
        });
        let Some(left) = left else { return Err(RunError::NoValue { run: run.clone(), event }) };
        let reading = ValueReading { engine: self.clone(), run: run.clone(), left: vec![left] };
        Ok(stream::unfold(reading, ValueReading::next).boxed())
    }
}

/// Lets go of what is too large in an event.
fn lighten(event: &mut Event, budget: &mut ValueBudget<'_>) {
    let seq = event.seq;
    if let Some(failure) = event.kind.failure_mut() {
        if let Some((end, _)) = failure.message.char_indices().nth(MESSAGE_CHARS) {
            failure.message.truncate(end);
            failure.message.push('…');
        }
        if let Some(origin) = &mut failure.origin {
            budget.fit_origin(origin);
        }
    }
    event.kind.for_each_value(&mut |field, value| {
        if value.len_bytes() > SMALL_BYTES {
            *value = budget.fit(std::mem::take(value), seq, field);
        }
    });
}

/// A part of a value's text.
#[derive(Clone, Debug)]
pub enum ValuePiece {
    /// What is between values: brackets, names, commas.
    Between(String),
    /// A value, whole.
    Value(Value),
}

impl ValuePiece {
    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Between(text) => text,
            Self::Value(value) => value.as_json(),
        }
    }
}

/// A value that is being read.
struct ValueReading {
    engine: Engine,
    run: RunId,
    /// What is left of it, the next at the end.
    left: Vec<Left>,
}

enum Left {
    Text(String),
    Event(Seq),
    Held(HeldPart),
}

impl ValueReading {
    async fn next(mut self) -> Option<(Result<ValuePiece, RunError>, Self)> {
        loop {
            match self.left.pop()? {
                Left::Text(text) => return Some((Ok(ValuePiece::Between(text)), self)),
                Left::Held(HeldPart::Value(value)) => return Some((Ok(ValuePiece::Value(value)), self)),
                Left::Held(HeldPart::Parts(parts)) => self.left.extend(taken_apart(&parts).into_iter().rev()),
                Left::Event(seq) => match self.held(seq).await {
                    Ok(held) => self.left.push(Left::Held(held)),
                    Err(error) => {
                        self.left.clear();
                        return Some((Err(unreadable(&self.run, error)), self));
                    }
                },
            }
        }
    }

    async fn held(&self, seq: Seq) -> Result<HeldPart, ReadError> {
        let event = load_event(&*self.engine.shared.store.get()?, &self.run, seq).await?;
        HeldPart::new(event.kind.clone()).ok_or(ReadError::Missing(seq))
    }
}

/// The text of a block's result, with the events that hold its parts.
fn taken_apart(parts: &ResultParts) -> Vec<Left> {
    let part = |part: ResultPart| match part {
        ResultPart::Absent => Left::Text("null".to_owned()),
        ResultPart::Value(seq) | ResultPart::Failure { failure: seq } => Left::Event(seq),
    };
    let (open, inner, close): (_, Vec<(String, Left)>, _) = match parts {
        ResultParts::List(list) => ("[", list.iter().map(|it| (String::new(), part(*it))).collect(), "]"),
        ResultParts::Map(map) => {
            ("{", map.iter().map(|(name, it)| (format!("{}:", json!(name)), part(*it))).collect(), "}")
        }
    };
    let mut all = vec![Left::Text(open.to_owned())];
    for (at, (name, it)) in inner.into_iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        all.push(Left::Text(format!("{comma}{name}")));
        all.push(it);
    }
    all.push(Left::Text(close.to_owned()));
    all
}

/// What cannot be read, as callers see it.
pub(crate) fn unreadable(run: &RunId, error: ReadError) -> RunError {
    match error {
        ReadError::Store(error) => RunError::Store(error),
        ReadError::Decode(error) => RunError::History { run: run.clone(), error },
        ReadError::Missing(_) | ReadError::TooLarge { .. } => {
            RunError::Store(StoreError::Damaged(error.to_string()))
        }
    }
}
