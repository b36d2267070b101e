//! Durable operations of a step: requests, replies, and whether the step only waits for them.

pub(crate) mod handle;
pub(crate) mod idle;
pub(crate) mod op_session;
