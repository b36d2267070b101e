//! One live run: its actor, the messages to it, how it is loaded, its children.

pub(crate) mod actor;
pub(crate) mod child;
pub(crate) mod launch;
pub(crate) mod load;
pub(crate) mod mailbox;
pub(crate) mod triggers;
pub(crate) mod undo;
pub(crate) mod unloadable;
