//! Triggers of random plans, and which runs they must lead to: known from their kinds alone, and from which runs completed.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::event::EventKind;
use rival_core::plan::{Builtin, Node, NodeKind, PlanBlock, StepNode, Trigger};
use rival_core::{Event, Plan, RunId, RunStatus};
use serde_json::{Value, json};

use crate::dice::SeededDice;

/// A workflow that gives its input back.
pub const ECHO: &str = "echo";
/// A workflow that triggers itself.
pub const CHAIN: &str = "chain";
/// How many runs come after the first in a chain: the document says so.
const DEPTH: usize = 10;

/// A trigger, as its seed chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimTrigger {
    /// Starts a run.
    Once,
    /// Starts one for each of so many items.
    Each(u32),
    /// The same, and every other item lacks what it needs.
    Half(u32),
    /// What it needs is not there.
    Missing,
    /// Its list is none.
    NoList,
    /// Its target is not there.
    Unknown,
    /// Begins a chain.
    Chain,
}

impl SimTrigger {
    fn roll(dice: &mut SeededDice) -> Self {
        let count = u32::try_from(dice.below(5)).unwrap_or(0);
        match dice.below(20) {
            0..=5 => Self::Once,
            6..=10 => Self::Each(count),
            11..=13 => Self::Half(count),
            14..=15 => Self::Missing,
            16 => Self::NoList,
            17..=18 => Self::Unknown,
            _ => Self::Chain,
        }
    }

    /// The trigger as the plan has it.
    pub fn planned(self) -> Trigger {
        let plain =
            |workflow: &str, inputs: Value| Trigger::new(workflow, &inputs.into()).expect("it is not deep");
        let each =
            |inputs: Value, list: Value| plain(ECHO, inputs).with_list(&list.into()).expect("it is not deep");
        match self {
            Self::Once => plain(ECHO, json!({ "seed": {"$": ["input"]}, "got": {"$": ["output"]} })),
            Self::Each(count) => each(json!({ "n": {"$": ["item"]} }), (0..count).collect()),
            Self::Half(count) => {
                let item = |n: u32| if n.is_multiple_of(2) { json!({ "n": n }) } else { json!({}) };
                each(json!({ "n": {"$": ["item", "n"]} }), (0..count).map(item).collect())
            }
            Self::Missing => plain(ECHO, json!({ "n": {"$": ["input", "no", "such"]} })),
            Self::NoList => each(json!({}), json!("none")),
            Self::Unknown => plain("nowhere", json!(1)),
            Self::Chain => plain(CHAIN, json!(null)),
        }
    }

    fn fails(self) -> bool {
        matches!(self, Self::NoList | Self::Unknown)
    }

    /// The runs that it starts, and what becomes of them.
    fn add_runs(self, run: &str, index: usize, runs: &mut BTreeMap<String, RunStatus>) {
        let base = format!("{run}~t{index}");
        let mut add = |id: String| _ = runs.insert(id, RunStatus::Completed);
        match self {
            Self::Once => add(base),
            Self::Each(count) => (0..count).for_each(|n| add(format!("{base}.{n}"))),
            Self::Half(count) => (0..count).step_by(2).for_each(|n| add(format!("{base}.{n}"))),
            Self::Missing | Self::NoList | Self::Unknown => {}
            Self::Chain => {
                for depth in 0..DEPTH {
                    let id = base.clone() + &"~t0".repeat(depth);
                    // The last one may not trigger another.
                    let status = if depth + 1 < DEPTH { RunStatus::Completed } else { RunStatus::Failed };
                    runs.insert(format!("{id}~triggers"), status);
                    runs.insert(id, RunStatus::Completed);
                }
            }
        }
    }
}

/// The triggers of a plan of a seed.
pub fn triggers(seed: u64, of: &str, percent: u64) -> Vec<SimTrigger> {
    let mut dice = SeededDice::new(seed, of);
    if !dice.percent(percent) {
        return Vec::new();
    }
    (0..dice.range(1, 3)).map(|_| SimTrigger::roll(&mut dice)).collect()
}

/// The plans of what they start: of built-in functions alone.
pub fn targets() -> [Plan; 2] {
    let plan = |workflow: &str, triggers: Vec<Trigger>| {
        let function = Builtin::new("value", &json!({"$": ["input"]}).into()).expect("it is not deep");
        let step = StepNode { function: function.into(), ..StepNode::default() };
        Plan {
            workflow: workflow.to_owned(),
            block: PlanBlock::sequence(vec![Node::new("out", NodeKind::Step(step))]),
            on_error: None,
            timeout_ms: None,
            max_retries: 0,
            triggers,
        }
    };
    [plan(ECHO, Vec::new()), plan(CHAIN, vec![SimTrigger::Chain.planned()])]
}

/// Whether a run was started by a trigger, or starts what others trigger: the model knows nothing else of it.
pub fn is_triggered(run: &RunId) -> bool {
    run.as_str().contains("~t")
}

/// What is wrong with what runs with these triggers have led to: each that completed has started what it must, once, and
/// nothing else was started.
pub fn problems(
    histories: &BTreeMap<RunId, Vec<Event>>,
    triggers_of: impl Fn(&RunId, &[Event]) -> Vec<SimTrigger>,
) -> Vec<String> {
    let mut expected = BTreeMap::new();
    for (run, events) in histories.iter().filter(|(run, _)| !is_triggered(run)) {
        let triggers = triggers_of(run, events);
        let completed = matches!(status(events), Some(RunStatus::Completed));
        if !completed || triggers.is_empty() {
            continue;
        }
        let all = if triggers.iter().any(|it| it.fails()) { RunStatus::Failed } else { RunStatus::Completed };
        expected.insert(format!("{run}~triggers"), all);
        for (index, trigger) in triggers.into_iter().enumerate() {
            trigger.add_runs(run.as_str(), index, &mut expected);
        }
    }
    let triggered = histories.iter().filter(|(run, _)| is_triggered(run));
    let found: BTreeMap<String, Option<RunStatus>> =
        triggered.map(|(run, events)| (run.to_string(), status(events))).collect();
    let all: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
    let differs = |run: &&&String| found.get(**run).copied().flatten() != expected.get(**run).copied();
    let tell =
        |run: &String| format!("run `{run}`: expected {:?}, got {:?}", expected.get(run), found.get(run));
    all.iter().filter(differs).map(|run| tell(run)).collect()
}

fn status(events: &[Event]) -> Option<RunStatus> {
    match events.last()?.kind {
        EventKind::RunCompleted { .. } => Some(RunStatus::Completed),
        EventKind::RunFailed { .. } => Some(RunStatus::Failed),
        EventKind::RunCancelled { .. } => Some(RunStatus::Cancelled),
        _ => None,
    }
}
