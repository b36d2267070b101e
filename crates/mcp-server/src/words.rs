//! Events and plans in words, as the command writes them.

use std::fmt;

use rival_api::{EventReply, Graph};

/// Tells events of one run, in their order.
pub trait EventWords: Send {
    /// A line for an event; `None` for those that people need not see.
    fn tell(&mut self, event: &EventReply) -> Option<String>;
}

/// Draws a plan as a tree of lines.
pub type PlanWords = fn(&Graph) -> Vec<String>;

/// How events and plans are told. Given by the program, so that it says the same everywhere.
#[derive(Clone, Copy)]
pub struct Words {
    /// One that tells a run from its beginning.
    pub events: fn() -> Box<dyn EventWords>,
    /// Draws plans.
    pub plan: PlanWords,
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").finish_non_exhaustive()
    }
}
