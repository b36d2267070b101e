//! One call of a user function: what it is given, how it runs, what it returns.

pub(crate) mod context;
pub(crate) mod exchange;
pub(crate) mod function;
pub(crate) mod inputs;
pub(crate) mod items;
pub(crate) mod job;
pub(crate) mod live_calls;
pub(crate) mod log;
pub(crate) mod panics;
pub(crate) mod parked;
pub(crate) mod report;
pub(crate) mod values;
