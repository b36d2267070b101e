//! Many seeds, one after the other.

use std::fmt::Write as _;
use std::ops::Range;

use crate::count::TrialCounters;
use crate::crash::{CrashFate, CrashSide};
use crate::lab::{BEGAN, SimCase, StoreKind};
use crate::shrink::shrink;
use crate::trial::{TrialResult, attempt, case, chance};
use crate::{plans, show};

/// How seeds are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignMode {
    /// In memory, with crashes by chance.
    Chance,
    /// In memory, once for each side of each boundary, with a crash there.
    Every,
    /// In a file, with crashes by chance.
    Sqlite,
    /// In memory, with crashes by chance, and with what the model does not know: an engine with little room, children
    /// that are undone, pauses while steps wait. Every run must end, and `verify` judges it.
    Unmodelled,
}

impl CampaignMode {
    /// The option that asks for it.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::Chance => None,
            Self::Every => Some("--every"),
            Self::Sqlite => Some("--sqlite"),
            Self::Unmodelled => Some("--unmodelled"),
        }
    }

    fn kind(self) -> StoreKind {
        match self {
            Self::Chance | Self::Every | Self::Unmodelled => StoreKind::Memory,
            Self::Sqlite => StoreKind::Sqlite,
        }
    }
}

/// How many failing seeds are told in full.
const TOLD: usize = 3;

/// Tries seeds. Gives what was seen, and a report for each of the first seeds that fail.
pub fn campaign(mode: CampaignMode, seeds: Range<u64>) -> (TrialCounters, Vec<String>) {
    let mut counters = TrialCounters::default();
    let mut reports = Vec::new();
    let only_one = seeds.end.saturating_sub(seeds.start) == 1;
    for seed in seeds {
        let case = case(seed, mode != CampaignMode::Unmodelled);
        counters.plan(&case);
        for fate in fates(&case, mode) {
            let trial = attempt(&case, fate.clone(), mode.kind());
            counters.trial(case.seed, &trial);
            if !trial.problems.is_empty() && reports.len() < TOLD {
                reports.push(report(&case, &fate, mode, &trial));
                break;
            }
            // Among many they are only counted.
            if !trial.tied.is_empty() && only_one {
                reports.push(told(&case, &case, &fate, mode, &trial));
            }
        }
    }
    (counters, reports)
}

fn fates(case: &SimCase, mode: CampaignMode) -> Vec<CrashFate> {
    match mode {
        CampaignMode::Chance | CampaignMode::Sqlite | CampaignMode::Unmodelled => vec![chance(case.seed)],
        CampaignMode::Every => {
            let spared = attempt(case, CrashFate::Spared, mode.kind());
            let boundaries = 0..spared.observed.boundaries;
            boundaries
                .flat_map(|n| [CrashFate::At(n, CrashSide::Before), CrashFate::At(n, CrashSide::After)])
                .collect()
        }
    }
}

/// What went wrong, in the smallest case that shows it, and how to see it again.
fn report(case: &SimCase, fate: &CrashFate, mode: CampaignMode, trial: &TrialResult) -> String {
    let about = trial.problems.first().map(|problem| problem.about.clone()).unwrap_or_default();
    let (small, fate, trial) = shrink(case, fate, mode.kind(), &about);
    told(case, &small, &fate, mode, &trial)
}

fn told(
    case: &SimCase,
    small: &SimCase,
    fate: &CrashFate,
    mode: CampaignMode,
    trial: &TrialResult,
) -> String {
    let mut text = String::new();
    let verb = if trial.problems.is_empty() { "is tied" } else { "fails" };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "seed {} {verb}, with {} of its {} nodes:", case.seed, size(small), size(case));
    let _ = writeln!(text, "  plan    {}", show::block(&small.plan.block));
    if !small.triggers.is_empty() || !small.child_triggers.is_empty() {
        let _ = writeln!(text, "  starts  {:?}, its children {:?}", small.triggers, small.child_triggers);
    }
    if let Some(ms) = small.plan.timeout_ms {
        let _ = writeln!(text, "  timeout {ms}");
    }
    for action in &small.actions {
        let _ = writeln!(text, "  action  {action:?}");
    }
    if !matches!(fate, CrashFate::Spared) {
        for (at, place) in &trial.observed.crashes {
            let _ = writeln!(text, "  crash   at {}, {place:?}", at.ms_since(BEGAN));
        }
    }
    for problem in trial.problems.iter().chain(&trial.tied) {
        let _ = writeln!(text, "  problem {}", problem.text);
    }
    for event in trial.observed.histories.values().flatten() {
        let json = serde_json::to_string(&event.kind).unwrap_or_default();
        let _ = writeln!(text, "  {:>5} {:>9} {json}", event.seq.0, event.at.ms_since(BEGAN));
    }
    let option = mode.option().map(|option| format!(" ARGS={option}")).unwrap_or_default();
    let _ = writeln!(text, "  again   make sim SEEDS={}{option}", case.seed);
    text
}

fn size(case: &SimCase) -> usize {
    plans::size(&case.plan.block)
}
