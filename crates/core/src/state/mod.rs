//! The state of a run, folded from its events.

/// The state of a run.
#[derive(Clone, Debug)]
pub struct State {}
