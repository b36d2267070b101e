//! What must hold for every history, judged from the events alone.
//!
//! [`check_history`] knows only the events; [`check_run`] also knows the plan. Both go through the
//! history once and share no code with the fold or the machine, so that a mistake there shows here.
//!
//! | rule | what it says |
//! | --- | --- |
//! | [`HistoryRule::Sequence`] | numbers are 1, 2, 3 …; time never goes backwards; a cause comes before its event |
//! | [`HistoryRule::Ends`] | the first event starts the run, at most one ends it, and it is the last |
//! | [`HistoryRule::Calls`] | a call starts before its outcome, one at a time per node, numbered without gaps |
//! | [`HistoryRule::Attempts`] | attempts are 1, 2, 3 …; a call that was lost is made again under the same attempt |
//! | [`HistoryRule::Outcomes`] | a node ends once; only its handler is called after that, once; none is left open |
//! | [`HistoryRule::Interruptions`] | a node that crashes too often is blocked instead of called again |
//! | [`HistoryRule::Timers`] | nothing happens before its time; what waits ends once |
//! | [`HistoryRule::Holding`] | nothing new starts while the run is paused |
//! | [`HistoryRule::Ending`] | after a cancel or a failure only the run's handler starts, and the end is that end |
//! | [`HistoryRule::References`] | results, outputs and failures name events and nodes that have them |
//! | [`HistoryRule::Signals`] | the oldest wait takes the oldest signal, one each, and in time |
//! | [`HistoryRule::Operations`] | a step's operations are numbered without gaps, asked for by a call at work, and end once |
//! | [`HistoryRule::Children`] | a child is started once and ends before its operation, its step's run last of all |
//! | [`HistoryRule::Order`] | a node starts after the one before it has ended, inside a block that has started |
//! | [`HistoryRule::Results`] | what a node, a lane and the run give is what the plan says: its last node's, its parts' |
//! | [`HistoryRule::Undo`] | what completed, or may have acted, is undone in reverse order when the run fails or is cancelled, or its lane loses |
//! | [`HistoryRule::Settings`] | calls keep to what the plan allows: attempts, at most once, handlers |

mod durable;
mod history;
mod planned;
mod results;
mod undo;

use std::fmt;

use crate::event::Event;
use crate::ids::Seq;
use crate::plan::IndexedPlan;

/// A rule that every history keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum HistoryRule {
    /// Numbers, times and causes.
    Sequence,
    /// The first and the last event.
    Ends,
    /// Calls and their outcomes.
    Calls,
    /// The numbers of attempts.
    Attempts,
    /// How nodes end.
    Outcomes,
    /// The crash budget.
    Interruptions,
    /// Moments.
    Timers,
    /// Pauses.
    Holding,
    /// Cancelling and failing.
    Ending,
    /// What events say about other events.
    References,
    /// Signals and waits for them.
    Signals,
    /// Durable operations.
    Operations,
    /// Children.
    Children,
    /// The order of the plan.
    Order,
    /// Results and outputs.
    Results,
    /// The settings in the plan.
    Settings,
    /// Compensations.
    Undo,
}

impl HistoryRule {
    /// The rule's name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Ends => "ends",
            Self::Calls => "calls",
            Self::Attempts => "attempts",
            Self::Outcomes => "outcomes",
            Self::Interruptions => "interruptions",
            Self::Timers => "timers",
            Self::Holding => "holding",
            Self::Ending => "ending",
            Self::References => "references",
            Self::Signals => "signals",
            Self::Operations => "operations",
            Self::Children => "children",
            Self::Order => "order",
            Self::Results => "results",
            Self::Settings => "settings",
            Self::Undo => "undo",
        }
    }
}

/// A place where a history breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleViolation {
    /// The event that breaks it.
    pub seq: Seq,
    /// The rule.
    pub rule: HistoryRule,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for RuleViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}: {}", self.seq, self.rule.word(), self.message)
    }
}

/// Everything that is wrong with a history, as far as the events tell. An unfinished history is fine.
pub fn check_history(events: &[Event]) -> Vec<RuleViolation> {
    let mut violations = Vec::new();
    history::check(events, &mut violations);
    durable::check(events, &mut violations);
    violations.sort_by_key(|violation| violation.seq);
    violations
}

/// Everything that is wrong with a history of a run of this plan.
pub fn check_run(plan: &IndexedPlan, events: &[Event]) -> Vec<RuleViolation> {
    let mut violations = check_history(events);
    planned::check(plan, events, &mut violations);
    violations.sort_by_key(|violation| violation.seq);
    violations
}
