//! What callers use: the engine, handles of runs, requests, observers, errors.

pub(crate) mod builtins;
pub(crate) mod control;
pub(crate) mod engine;
pub(crate) mod error;
pub(crate) mod figures;
pub(crate) mod fork;
pub(crate) mod handle;
pub(crate) mod observer;
pub(crate) mod records;
pub(crate) mod signal;
pub(crate) mod start;
