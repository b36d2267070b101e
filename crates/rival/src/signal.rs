//! The predefined wait for a signal: a message from outside that a run waits for, holding no memory.

use std::any::TypeId;
use std::marker::PhantomData;
use std::time::Duration;

use crate::after::{Dependencies, Dependency};
use crate::config::whole_ms;
use crate::data::{Data, InputData};
use crate::step::{IntoStep, NodeDraft};

/// A wait for a signal, for `.step(..)`. It gives the signal's payload. Its id is the signal's name unless it is named.
#[derive(Debug)]
pub struct Signal<T> {
    draft: SignalDraft,
    payload: PhantomData<fn() -> T>,
}

/// What the builder holds of a wait for a signal until `build()`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SignalDraft {
    pub(crate) signal: String,
    pub(crate) named: Option<String>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) timeout_is_value: bool,
    /// The payload may be `null`, as a timeout is.
    pub(crate) takes_null: bool,
    pub(crate) schema: serde_json::Value,
    pub(crate) after: Vec<Dependency>,
}

/// Waits for a signal of this name, with a payload of this type. If a payload does not match the type's JSON
/// Schema, its sender is told so, and nothing is sent.
pub fn signal<T: InputData>(name: impl Into<String>) -> Signal<T> {
    let draft = SignalDraft {
        signal: name.into(),
        named: None,
        timeout_ms: None,
        timeout_is_value: false,
        takes_null: takes_null::<T>(),
        schema: schemars::schema_for!(T).to_value(),
        after: Vec::new(),
    };
    Signal { draft, payload: PhantomData }
}

/// Whether nothing is a value of a type. Of JSON it is known that it may be.
fn takes_null<T: InputData>() -> bool {
    TypeId::of::<T>() != TypeId::of::<serde_json::Value>() && serde_json::from_str::<T>("null").is_ok()
}

impl<T> Signal<T> {
    /// Another id than the signal's name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.draft.named = Some(name.into());
        self
    }

    /// How long it waits; then it fails with the code `signal_timeout`.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.draft.timeout_ms = Some(whole_ms(timeout));
        self
    }

    /// How long it waits; then it gives nothing, which the type says, and the run goes on. The payload must be something
    /// then: `()` and `Option` are refused when the workflow is built, because a signal that came could not be told from
    /// one that did not.
    #[must_use]
    pub fn timeout_value(mut self, timeout: Duration) -> Signal<Option<T>> {
        self.draft.timeout_ms = Some(whole_ms(timeout));
        self.draft.timeout_is_value = true;
        Signal { draft: self.draft, payload: PhantomData }
    }

    /// In a graph: what it comes after.
    #[must_use]
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.draft.after);
        self
    }
}

// Derived, it would ask for `T: Clone`.
impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        Self { draft: self.draft.clone(), payload: PhantomData }
    }
}

/// Marks waits for signals.
#[derive(Debug)]
pub enum SignalMark {}

#[diagnostic::do_not_recommend]
impl<T: Data> IntoStep<SignalMark> for Signal<T> {
    type Out = T;

    fn into_draft(self) -> NodeDraft {
        NodeDraft::Signal(self.draft)
    }
}
