//! What a campaign has seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rival_core::event::{CallRole, EventKind};
use rival_core::failure::code;
use rival_core::plan::{BlockOrder, PlanBlock};

use crate::crash::CrashPlace;
use crate::lab::SimCase;
use crate::trial::TrialResult;

/// How many seeds of each set of ties are told.
const TOLD: usize = 5;

/// Sums over the trials of a campaign.
#[derive(Clone, Debug, Default)]
pub struct TrialCounters {
    /// Different plans.
    pub plans: u64,
    /// Times that a plan was tried.
    pub trials: u64,
    /// Runs, with children.
    pub runs: u64,
    /// Nodes of the plans, by kind.
    pub nodes: BTreeMap<&'static str, u64>,
    /// Events of all histories.
    pub events: u64,
    /// Things that were written.
    pub writes: u64,
    /// Calls that reached a function.
    pub calls: u64,
    /// Calls that were cut short.
    pub lost: u64,
    /// Crashes, by place.
    pub crashes: BTreeMap<&'static str, u64>,
    /// What happened, by word.
    pub happened: BTreeMap<&'static str, u64>,
    /// Runs, by how they ended.
    pub ends: BTreeMap<&'static str, u64>,
    /// Trials in which model and engine differ because of two things at one moment.
    pub tied: u64,
    /// The same by the kinds of ties; a trial may have several.
    pub ties: BTreeMap<&'static str, u64>,
    /// The seeds of such trials, by all their kinds.
    pub tied_seeds: BTreeMap<String, BTreeSet<u64>>,
    /// Trials in which something was wrong.
    pub divergences: u64,
    /// The seeds of those trials, by what was wrong first.
    pub failing: BTreeMap<String, BTreeSet<u64>>,
}

impl TrialCounters {
    /// Notes a plan.
    pub fn plan(&mut self, case: &SimCase) {
        self.plans += 1;
        self.block(&case.plan.block);
        *self.nodes.entry("trigger").or_default() += u64::try_from(case.triggers.len()).unwrap_or(0);
    }

    fn block(&mut self, block: &PlanBlock) {
        for node in &block.nodes {
            *self.nodes.entry(node.kind.word()).or_default() += 1;
            for (_, inner) in node.blocks() {
                self.block(inner);
            }
        }
        match block.order {
            BlockOrder::Sequence => {}
            BlockOrder::Graph => *self.nodes.entry("graph").or_default() += 1,
            BlockOrder::Phases => *self.nodes.entry("phases").or_default() += 1,
        }
    }

    /// Notes a trial of a seed.
    pub fn trial(&mut self, seed: u64, trial: &TrialResult) {
        let observed = &trial.observed;
        self.trials += 1;
        self.runs += observed.histories.len() as u64;
        self.writes += observed.boundaries;
        self.calls += observed.made.len() as u64;
        self.tied += u64::from(!trial.ties.is_empty());
        for tie in &trial.ties {
            *self.ties.entry(tie.word()).or_default() += 1;
        }
        if !trial.ties.is_empty() {
            let kinds: Vec<&str> = trial.ties.iter().map(|tie| tie.word()).collect();
            self.tied_seeds.entry(kinds.join(", ")).or_default().insert(seed);
        }
        if let Some(problem) = trial.problems.first() {
            self.divergences += 1;
            self.failing.entry(problem.about.trim().to_owned()).or_default().insert(seed);
        }
        for (_, place) in &observed.crashes {
            let word = match place {
                CrashPlace::Boundary => "between",
                CrashPlace::Function(part) => part.word(),
                CrashPlace::Stop => "stops in order",
            };
            *self.crashes.entry(word).or_default() += 1;
        }
        let end = observed.outcome.as_ref().map_or("stuck", |outcome| outcome.status.word());
        *self.ends.entry(end).or_default() += 1;
        for event in observed.histories.values().flatten() {
            self.events += 1;
            self.event(&event.kind);
        }
    }

    fn event(&mut self, event: &EventKind) {
        let word = match event {
            EventKind::CallLost { .. } => {
                self.lost += 1;
                return;
            }
            EventKind::CancelRequested { .. } => "cancels",
            EventKind::RunPaused {} => "pauses",
            EventKind::CallFailed { failure, .. } if failure.code == code::TIMEOUT => "timeouts",
            EventKind::RunFailing { failure, .. } if failure.code == code::RUN_TIMEOUT => "run timeouts",
            EventKind::CallStarted { role: CallRole::OnError, .. } => "handler calls",
            EventKind::CallStarted { role: CallRole::Compensate, .. } => "compensation calls",
            EventKind::LaneStopping { .. } => "losers",
            EventKind::OpStarted { .. } => "operations",
            EventKind::ChildStarted { .. } => "children",
            EventKind::CallSuspended { .. } => "suspended",
            EventKind::SignalReceived { .. } => "signals",
            EventKind::SignalTaken { .. } => "signals taken",
            EventKind::SignalTimedOut { .. } => "signal timeouts",
            EventKind::BlockFailing { .. } => "failing blocks",
            EventKind::RunStarted { .. }
            | EventKind::NodeImported { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::LaneImported { .. }
            | EventKind::CallStarted { .. }
            | EventKind::CallSucceeded { .. }
            | EventKind::CallFailed { .. }
            | EventKind::CallCancelled { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::LaneEnded { .. }
            | EventKind::Joined { .. }
            | EventKind::NodeCompleted { .. }
            | EventKind::NodeFailed { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::NodeHeld { .. }
            | EventKind::NodeBlocked { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SleepStarted { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::SignalAwaited { .. }
            | EventKind::OpEnded { .. }
            | EventKind::OpDropped { .. }
            | EventKind::OpStopping { .. }
            | EventKind::ChildRetried { .. }
            | EventKind::ChildEnded { .. }
            | EventKind::ChildUndoing { .. }
            | EventKind::ChildUndone { .. }
            | EventKind::RunResumed {}
            | EventKind::ClockSetBack { .. }
            | EventKind::RunFailing { .. }
            | EventKind::RunCompleted { .. }
            | EventKind::RunFailed { .. }
            | EventKind::RunCancelled { .. } => return,
        };
        *self.happened.entry(word).or_default() += 1;
    }

    /// Adds what another has seen.
    pub fn add(&mut self, other: &Self) {
        let merge = |into: &mut BTreeMap<&'static str, u64>, from: &BTreeMap<&'static str, u64>| {
            for (word, n) in from {
                *into.entry(word).or_default() += n;
            }
        };
        self.plans += other.plans;
        self.trials += other.trials;
        self.runs += other.runs;
        self.events += other.events;
        self.writes += other.writes;
        self.calls += other.calls;
        self.lost += other.lost;
        self.tied += other.tied;
        self.divergences += other.divergences;
        for (about, seeds) in &other.failing {
            self.failing.entry(about.clone()).or_default().extend(seeds);
        }
        for (kinds, seeds) in &other.tied_seeds {
            self.tied_seeds.entry(kinds.clone()).or_default().extend(seeds);
        }
        merge(&mut self.nodes, &other.nodes);
        merge(&mut self.crashes, &other.crashes);
        merge(&mut self.happened, &other.happened);
        merge(&mut self.ends, &other.ends);
        merge(&mut self.ties, &other.ties);
    }
}

impl fmt::Display for TrialCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |counts: &BTreeMap<&'static str, u64>| {
            let words: Vec<String> = counts.iter().map(|(word, n)| format!("{word} {n}")).collect();
            words.join(", ")
        };
        let crashes: u64 = self.crashes.values().sum();
        let nodes: u64 = self.nodes.values().sum();
        write!(
            f,
            "sim: {} plans, {} trials, {} runs ({}); ",
            self.plans,
            self.trials,
            self.runs,
            list(&self.ends)
        )?;
        write!(f, "{nodes} nodes ({}); ", list(&self.nodes))?;
        write!(
            f,
            "{} events, {} commits, {} calls, {} lost; ",
            self.events, self.writes, self.calls, self.lost
        )?;
        write!(f, "{crashes} crashes ({}); {}; ", list(&self.crashes), list(&self.happened))?;
        write!(f, "{} tied ({}); {} divergences", self.tied, list(&self.ties), self.divergences)?;
        for (kinds, seeds) in &self.tied_seeds {
            let first: Vec<String> = seeds.iter().take(TOLD).map(ToString::to_string).collect();
            write!(f, "\n  tied, {kinds}: {}, with seeds {}", seeds.len(), first.join(", "))?;
        }
        for (about, seeds) in &self.failing {
            let seeds: Vec<String> = seeds.iter().map(ToString::to_string).collect();
            write!(f, "\n  {about}: seeds {}", seeds.join(", "))?;
        }
        Ok(())
    }
}
