//! Views of runs and stores: outcomes, explanations, archives, verification.

pub(crate) mod archive;
pub(crate) mod bounded;
pub(crate) mod explain;
pub(crate) mod operations;
pub(crate) mod triggers;
pub(crate) mod undone;
pub mod verify;
pub(crate) mod view;
