//! A case on the engine and in the model, and where they differ.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::event::EventKind;
use rival_core::state::StateIndex;
use rival_core::{Event, RunId, RunState};

use crate::crash::CrashFate;
use crate::dice::SeededDice;
use crate::history;
use crate::lab::{BEGAN, ObservedRun, SimCase, StoreKind, observe};
use crate::model::{CutCalls, ModelPrediction, ModelTie, predict};
use crate::outside::{self, ActionKind};
use crate::plans;
use crate::script::SeedScript;
use crate::summary::TrialSummary;
use crate::triggers;

/// How many orders of what happens at one moment are tried before a trial counts as tied.
const ORDERS: u64 = 40;

/// What came of a case.
#[derive(Debug)]
pub struct TrialResult {
    /// What was seen.
    pub observed: ObservedRun,
    /// What is wrong; empty if all is well.
    pub problems: Vec<TrialProblem>,
    /// Why model and engine may differ, where they do: things happened at one moment in an order that nothing decides.
    pub ties: BTreeSet<ModelTie>,
    /// Where they differ because of that.
    pub tied: Vec<TrialProblem>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialProblem {
    /// What kind of problem it is: shrinking keeps it.
    pub about: String,
    /// All of it.
    pub text: String,
}

impl TrialProblem {
    fn new(about: &str, text: impl Into<String>) -> Self {
        Self { about: about.to_owned(), text: text.into() }
    }
}

/// Everything that a seed decides.
pub fn case(seed: u64, modelled: bool) -> SimCase {
    let mut plan = plans::plan(seed, BEGAN);
    let mut child = if modelled { plans::child(seed, BEGAN) } else { plans::undoable_child(seed, BEGAN) };
    let triggers = triggers::triggers(seed, "triggers", 10);
    let child_triggers = triggers::triggers(seed, "triggers of children", 4);
    plan.triggers = triggers.iter().map(|it| it.planned()).collect();
    child.triggers = child_triggers.iter().map(|it| it.planned()).collect();
    let script = SeedScript::new(seed, [&plan, &child]);
    let actions = outside::actions(seed, &plan, modelled);
    SimCase { seed, script, actions, plan, child, triggers, child_triggers, modelled }
}

/// The crashes that a seed brings by chance.
pub fn chance(seed: u64) -> CrashFate {
    let mut dice = SeededDice::new(seed, "crashes");
    if dice.percent(20) { CrashFate::Spared } else { CrashFate::Chance(dice) }
}

/// Tries a case.
pub fn attempt(case: &SimCase, fate: CrashFate, kind: StoreKind) -> TrialResult {
    let observed = observe(case, fate, kind);
    let mut problems: Vec<TrialProblem> =
        observed.breaches.iter().map(|breach| TrialProblem::new("breach", breach)).collect();
    if let Err(stuck) = &observed.outcome {
        let about: Vec<&str> = stuck.split(' ').take(3).collect();
        problems.push(TrialProblem::new(&about.join(" "), stuck));
    }
    for call in &observed.left_behind {
        problems.push(TrialProblem::new("left behind", format!("{call} still runs after the end")));
    }
    problems.extend(check_answers(case, &observed));
    problems.extend(check_triggers(case, &observed));
    for (run, events) in &observed.histories {
        if !triggers::is_triggered(run) {
            problems.extend(check_calls(run, events, &observed));
        }
        problems.extend(check_cuts(run, events, &observed));
        problems.extend(check_index(run, events));
    }
    let (mut ties, mut tied) = (BTreeSet::new(), Vec::new());
    if problems.is_empty() && case.modelled {
        let differences = compare(case, &observed, &mut ties);
        if ties.is_empty() {
            problems = differences;
        } else {
            tied = differences;
        }
    }
    TrialResult { observed, problems, ties, tied }
}

/// Holds what was seen against the model. Where things happen at one moment, it may be what comes of any order of them;
/// if no order that was tried leads to it, `ties` are the kinds of such moments.
fn compare(case: &SimCase, observed: &ObservedRun, ties: &mut BTreeSet<ModelTie>) -> Vec<TrialProblem> {
    let cuts = all_cuts(observed);
    let usual = prediction(case, &cuts, 0);
    let unlike = differences(&usual, observed);
    let fits = |order| differences(&prediction(case, &cuts, order), observed).is_empty();
    if unlike.is_empty() || (1..ORDERS).any(fits) {
        return Vec::new();
    }
    *ties = usual.ties;
    unlike
}

fn all_cuts(observed: &ObservedRun) -> CutCalls {
    let mut cuts = CutCalls::new();
    for (run, events) in &observed.histories {
        for (key, more) in cuts_of(run, events, observed) {
            cuts.entry(key).or_default().extend(more);
        }
    }
    cuts.values_mut().for_each(|cuts| cuts.sort_by_key(|cut| cut.at));
    cuts
}

fn prediction(case: &SimCase, cuts: &CutCalls, order: u64) -> ModelPrediction {
    predict([&case.plan, &case.child], &case.script, &case.input(), &case.actions, cuts, order)
}

fn cuts_of(run: &RunId, events: &[Event], observed: &ObservedRun) -> CutCalls {
    let lost = observed.lost.iter().filter(|lost| lost.run == run.as_str());
    history::cuts(events, lost.map(|lost| (lost.node().to_owned(), lost.call, lost.at)).collect())
}

fn differences(prediction: &ModelPrediction, observed: &ObservedRun) -> Vec<TrialProblem> {
    let none = Vec::new();
    let events = observed.histories.get(&RunId::from("run")).unwrap_or(&none);
    let got = history::summary(events, observed.outcome.as_ref().ok());
    let mut problems = told("", &prediction.summary, &got);
    let mut children: BTreeMap<String, Vec<(u64, TrialSummary)>> = BTreeMap::new();
    for (run, events) in &observed.histories {
        if let Some(given) = history::given(events) {
            let number = run.as_str().rsplit("~c").next().and_then(|number| number.parse().ok()).unwrap_or(0);
            children.entry(given).or_default().push((number, history::summary(events, None)));
        }
    }
    for list in children.values_mut() {
        list.sort_by_key(|(number, _)| *number);
    }
    let all: BTreeSet<&String> = prediction.children.keys().chain(children.keys()).collect();
    for given in all {
        let expected = prediction.children.get(given).map(Vec::as_slice).unwrap_or_default();
        let got = children.get(given).map(Vec::as_slice).unwrap_or_default();
        if expected.len() != got.len() {
            let text = format!("{} children for {given:?} expected, got {}", expected.len(), got.len());
            problems.push(TrialProblem::new("children", text));
        }
        for (expected, (_, got)) in expected.iter().zip(got) {
            // Only the run that people wait for is asked for its outcome.
            let expected =
                TrialSummary { output: None, failed: None, results: BTreeMap::new(), ..expected.clone() };
            problems.extend(told(&format!("child {given}: "), &expected, got));
        }
    }
    problems
}

fn told(whose: &str, expected: &TrialSummary, got: &TrialSummary) -> Vec<TrialProblem> {
    let problem = |difference: &crate::summary::SummaryDifference| {
        let about = difference.what.split('`').next().unwrap_or_default();
        let (what, expected, got) = (&difference.what, &difference.expected, &difference.got);
        TrialProblem::new(about, format!("{whose}{what}: expected {expected}, got {got}"))
    };
    expected.differences(got).iter().map(problem).collect()
}

/// What completed has triggered what it must, once, and nothing else did.
fn check_triggers(case: &SimCase, observed: &ObservedRun) -> Vec<TrialProblem> {
    if observed.outcome.is_err() {
        return Vec::new();
    }
    let triggers_of = |_: &RunId, events: &[Event]| match history::given(events) {
        Some(_) => case.child_triggers.clone(),
        None => case.triggers.clone(),
    };
    let found = triggers::problems(&observed.histories, triggers_of);
    found.into_iter().map(|text| TrialProblem::new("triggers", text)).collect()
}

/// What is in the history was answered with yes, and nothing else was.
fn check_answers(case: &SimCase, observed: &ObservedRun) -> Vec<TrialProblem> {
    let none = Vec::new();
    let events = observed.histories.get(&RunId::from("run")).unwrap_or(&none);
    let received: BTreeSet<&str> = events
        .iter()
        .filter_map(|event| {
            let EventKind::SignalReceived { id, .. } = &event.kind else { return None };
            id.as_deref()
        })
        .collect();
    let killed =
        events.iter().any(|event| matches!(event.kind, EventKind::CancelRequested { kill: true, .. }));
    let cancelled = events.iter().any(|event| matches!(event.kind, EventKind::RunCancelled { .. }));
    let mut problems = Vec::new();
    for answer in &observed.answers {
        let fits = match &case.actions[answer.action].what {
            ActionKind::Signal { id, .. } => answer.done == received.contains(id.as_str()),
            // To a cancelled run a kill is a yes: there is nothing left to end.
            ActionKind::Kill if answer.done => killed || cancelled,
            // One that was recorded before a crash, and is asked for again, finds the run ended.
            ActionKind::Kill => !killed || answer.again,
            ActionKind::Cancel | ActionKind::Pause | ActionKind::Resume => true,
        };
        if !fits {
            let (what, yes) = (&case.actions[answer.action].what, answer.done);
            problems
                .push(TrialProblem::new("answers", format!("{what:?} was answered {yes}, and it is not so")));
        }
    }
    problems
}

/// After each event, which nodes do what is what the nodes say.
fn check_index(run: &RunId, events: &[Event]) -> Option<TrialProblem> {
    let mut state = RunState::default();
    let differs = |event: &&Event| {
        state.apply(event);
        *state.index() != StateIndex::of(&state)
    };
    let seq = events.iter().find(differs)?.seq;
    Some(TrialProblem::new("index", format!("the index of run `{run}` is wrong after event {seq}")))
}

/// Functions are called for what is in the history, once for each call there.
fn check_calls(run: &RunId, events: &[Event], observed: &ObservedRun) -> Vec<TrialProblem> {
    let mut started = BTreeMap::new();
    let mut recorded = BTreeSet::new();
    for event in events {
        if let EventKind::CallStarted { node, call, attempt, .. } = &event.kind {
            started.insert((node.to_string(), *call), *attempt);
        } else if let EventKind::CallSucceeded { node, call, .. } = &event.kind {
            recorded.insert((node.to_string(), *call));
        }
    }
    let mut problems = Vec::new();
    let mut made = BTreeSet::new();
    for call in observed.made.iter().filter(|call| call.run == run.as_str()) {
        let name = (call.node().to_owned(), call.call);
        if started.get(&name) != Some(&call.key.attempt) {
            problems
                .push(TrialProblem::new("calls", format!("{} was made, and is not recorded so", call.key)));
        }
        if !made.insert(name) {
            problems.push(TrialProblem::new("calls", format!("{} was made twice", call.key)));
        }
    }
    // A run that undoes another begins with what that one had done.
    if run.as_str().contains("~undo") {
        return problems;
    }
    for (node, call) in recorded.difference(&made) {
        problems.push(TrialProblem::new("calls", format!("`{node}`#{call} succeeded and was never made")));
    }
    problems
}

/// Calls are cut short only when the process dies, or what runs them.
fn check_cuts(run: &RunId, events: &[Event], observed: &ObservedRun) -> Vec<TrialProblem> {
    let crashes = observed.crashes.iter().map(|(at, _)| at);
    let ends = crashes.chain(observed.lost.iter().map(|lost| &lost.at));
    let deaths: BTreeSet<u64> = ends.map(|at| at.ms_since(BEGAN)).collect();
    let cuts = cuts_of(run, events, observed);
    let odd = cuts.iter().filter(|(_, cuts)| cuts.iter().any(|cut| !deaths.contains(&cut.at)));
    odd.map(|(key, _)| TrialProblem::new("cuts", format!("{key} was cut short, and no process died")))
        .collect()
}
