//! Help for tests of steps and workflows.
//!
//! A step is a function: call it with the constructors here (`State::test()`, `Output::new(..)`, [`log`]).
//! A workflow runs in a [`TestEngine`]: the real engine on the memory store, with a clock that jumps to the next
//! moment that matters instead of waiting for it, and with steps, children and what is done once replaced by mocks.

mod engine;
mod mock;
mod unit;

pub use engine::{TestEngine, TestEngineBuilder};
pub use mock::Mock;
pub(crate) use mock::OnceMocks;
pub use unit::log;
