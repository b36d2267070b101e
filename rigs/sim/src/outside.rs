//! What people do to a run while it is under way.

use rival_core::Plan;
use rival_core::plan::{NodeKind, PlanBlock};
use serde_json::{Value, json};

use crate::dice::SeededDice;

/// Something that a user does at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideAction {
    /// Milliseconds after the run's start.
    pub at: u64,
    /// What.
    pub what: ActionKind,
}

/// What a user does.
#[derive(Clone, Debug, PartialEq)]
pub enum ActionKind {
    /// Asks to cancel the run.
    Cancel,
    /// Ends it at once.
    Kill,
    /// Holds it.
    Pause,
    /// Lets it go on.
    Resume,
    /// Sends a signal.
    Signal {
        /// Its name.
        name: String,
        /// Makes sending it again do nothing: a sender that died does not know whether it has sent it.
        id: String,
        /// What it says.
        payload: Value,
    },
}

/// What is done to the run of a seed, in order; signals only if the plan waits for some. Whether a pause holds an
/// operation depends on when its step is suspended, so a run whose end is to be known has none then.
pub fn actions(seed: u64, plan: &Plan, modelled: bool) -> Vec<OutsideAction> {
    let mut dice = SeededDice::new(seed, "outside");
    let mut actions = Vec::new();
    if dice.percent(15) {
        actions.push(OutsideAction { at: dice.duration() * dice.range(1, 8), what: ActionKind::Cancel });
    }
    let durable =
        has(&plan.block, &|kind| matches!(kind, NodeKind::Step(step) if step.function == "durable"));
    if dice.percent(12) && !(durable && modelled) {
        let at = dice.duration() * dice.range(1, 4);
        actions.push(OutsideAction { at, what: ActionKind::Pause });
        actions.push(OutsideAction { at: at + dice.duration(), what: ActionKind::Resume });
    }
    if durable || has(&plan.block, &|kind| matches!(kind, NodeKind::Signal(_))) {
        actions.extend(signals(seed));
    }
    // A stream of its own, so that the others stay what they are.
    let mut dice = SeededDice::new(seed, "kill");
    if dice.percent(5) {
        actions.push(OutsideAction { at: dice.duration() * dice.range(1, 8), what: ActionKind::Kill });
    }
    actions.sort_by_key(|action| action.at);
    actions
}

fn has(block: &PlanBlock, what: &dyn Fn(&NodeKind) -> bool) -> bool {
    block.nodes.iter().any(|node| what(&node.kind) || node.blocks().iter().any(|(_, inner)| has(inner, what)))
}

fn signals(seed: u64) -> Vec<OutsideAction> {
    let mut dice = SeededDice::new(seed, "signals");
    let mut signals = Vec::new();
    for n in 0..dice.below(8) {
        // Now and then one that was sent before: the same, because another one under its id is refused.
        let id = if dice.percent(20) { dice.below(4) } else { 100 + n };
        let name = format!("signal{}", SeededDice::new(seed, &format!("signal {id}")).below(3));
        let what = ActionKind::Signal { name, id: format!("id{id}"), payload: json!(id) };
        signals.push(OutsideAction { at: dice.duration() * dice.range(1, 4), what });
    }
    // Now and then all are sent at one moment, by as many senders.
    let mut together = SeededDice::new(seed, "together");
    if together.percent(15)
        && let Some(at) = signals.first().map(|first| first.at)
    {
        signals.iter_mut().for_each(|signal| signal.at = at);
    }
    signals
}
