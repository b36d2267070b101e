//! What cannot happen, and is said aloud if it does.
//!
//! A rule that makes an input mean nothing returns in silence, with its reason beside it. Anything else that a decision
//! does not find is a bug of this crate: a silent return would leave a run that waits for ever. So the decision is marked
//! as broken, and the engine blocks the run instead of committing it. Builds with debug assertions panic.

use std::fmt;

use super::Machine;
use crate::failure::code;
use crate::path::Path;

/// Something that cannot be, and that a decision came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenInvariant {
    /// The node that was decided about.
    pub node: Path,
    /// What cannot be.
    pub what: String,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, what } = self;
        let place = if node.is_root() { "the run itself".to_owned() } else { format!("`{node}`") };
        write!(out, "{}: {what}, at {place}", code::INTERNAL)
    }
}

impl Machine<'_> {
    /// Marks the decision as broken. The first mark stays: what follows may follow from it.
    pub(super) fn broken(&mut self, node: &Path, what: &str) {
        debug_assert!(false, "{what}, at `{node}`");
        let broken = || BrokenInvariant { node: node.clone(), what: what.to_owned() };
        self.decision.broken.get_or_insert_with(broken);
    }
}
