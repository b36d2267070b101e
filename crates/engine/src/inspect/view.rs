//! How runs are made into what users see of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use rival_core::event::{EventKind, ValueField};
use rival_core::joined::build;
use rival_core::plan::NodeKind;
use rival_core::view::{FailedAt, RunOutcome, RunView, StepFailure, StepMetrics, StepOutcome};
use rival_core::{Event, IndexedPlan, NodeStatus, Path, RunId, RunState, RunStatus, Seq, Value};
use rival_store::RunRow;

use crate::inspect::bounded::ValueBudget;
use crate::inspect::operations::StepOperations;
use crate::inspect::undone::UndoneNodes;

/// Finds the events that a state refers to.
pub(crate) trait EventSource {
    fn event(&self, seq: Seq) -> Option<&Event>;
}

impl EventSource for [Event] {
    fn event(&self, seq: Seq) -> Option<&Event> {
        // Histories have no gaps, so an event's place follows from its number.
        let first = self.first()?.seq.0;
        self.get(usize::try_from(seq.0.checked_sub(first)?).ok()?)
    }
}

/// What an outcome needs of the events.
pub(crate) struct OutcomeSource<'a> {
    pub(crate) value: &'a dyn Fn(Seq) -> Option<Value>,
    pub(crate) state: &'a dyn Fn(Seq) -> Option<Value>,
}

/// The events that hold what is in a run's outcome.
pub(crate) fn outcome_events(plan: &IndexedPlan, state: &RunState) -> BTreeSet<Seq> {
    let nodes = plan.plan().block.nodes.iter();
    let nodes = nodes.filter_map(|node| state.node(&Path::root().child(&node.id)));
    let held = nodes.flat_map(|node| [node.result, node.state]);
    held.chain([state.end.as_ref().and_then(|end| end.output)]).flatten().collect()
}

/// Builds the outcome of a run that has ended; `None` if something that it refers to is not at hand.
pub(crate) fn outcome(
    run: &RunId,
    plan: &IndexedPlan,
    state: &RunState,
    look: &OutcomeSource<'_>,
) -> Option<RunOutcome> {
    let end = state.end.as_ref()?;
    let mut results = Vec::new();
    for node in &plan.plan().block.nodes {
        let Some(begun) = state.node(&Path::root().child(&node.id)) else { continue };
        let result = match begun.result {
            None => None,
            Some(seq) => Some((look.value)(seq)?),
        };
        let state = match begun.state {
            None => empty_state(),
            Some(seq) => (look.state)(seq)?,
        };
        results.push((node.id.clone(), StepOutcome { result, state, status: begun.status() }));
    }
    Some(RunOutcome {
        run_id: run.clone(),
        workflow: state.workflow.clone(),
        status: end.status,
        output: output(state, look.value)?,
        results,
        error: end.failure.clone(),
        failed_step: end.failed.as_ref().map(failed_at),
        reason: end.reason.clone(),
        retried_as: end.retried_as.clone(),
        not_undone: end.not_undone.clone(),
    })
}

/// Outer `None`: it is not at hand. Inner `None`: the run did not complete.
fn output(state: &RunState, value: &dyn Fn(Seq) -> Option<Value>) -> Option<Option<Value>> {
    let Some(end) = state.end.as_ref().filter(|end| end.status == RunStatus::Completed) else {
        return Some(None);
    };
    match end.output {
        None => Some(Some(Value::null())),
        Some(seq) => value(seq).map(Some),
    }
}

pub(crate) fn empty_state() -> Value {
    static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::from(serde_json::json!({})));
    EMPTY.clone()
}

pub(crate) fn failed_at(path: &Path) -> FailedAt {
    let step_name = path.as_str().split('/').next().unwrap_or_default();
    FailedAt { step_name: step_name.split('[').next().unwrap_or_default().to_owned(), path: path.clone() }
}

/// Builds the view of a run from its row and its whole history.
pub(crate) fn run_view(
    row: &RunRow,
    plan: &IndexedPlan,
    state: &RunState,
    events: &[Event],
    budget: &mut ValueBudget<'_>,
) -> RunView {
    let event = |seq: Seq| events.event(seq);
    let ending = events.iter().rev().find_map(|event| {
        let (EventKind::RunFailing { failure, node, .. } | EventKind::RunFailed { failure, node, .. }) =
            &event.kind
        else {
            return None;
        };
        Some((failure.clone(), node.clone()))
    });
    let (error, failed) = ending.unzip();
    let output = output(state, &|seq| build(events.event(seq)?, &event)).flatten();
    let output_held = state.end.as_ref().and_then(|end| end.output).unwrap_or(state.seq);
    let output = output.map(|output| budget.fit(output, output_held, ValueField::Value));
    let input = events.first().and_then(|event| Some((event.seq, event.kind.value().cloned()?)));
    let input = input.map(|(seq, input)| budget.fit(input, seq, ValueField::Value)).unwrap_or_default();
    let (steps, omitted_steps) = steps(plan, state, events, budget);
    RunView {
        run_id: row.id.clone(),
        workflow: row.workflow.clone(),
        plan: row.plan.to_string(),
        status: row.status,
        input,
        output,
        error,
        failed_step: failed.flatten().as_ref().map(failed_at),
        reason: state.end.as_ref().and_then(|end| end.reason.clone()),
        created_at: row.created_at,
        ended_at: row.ended_at,
        parent: row.parent.clone(),
        source: row.source.clone(),
        trigger: state.trigger.clone(),
        trigger_status: None,
        trigger_run: None,
        triggers: Vec::new(),
        retried_as: state.end.as_ref().and_then(|end| end.retried_as.clone()),
        not_undone: state.end.as_ref().map_or_else(Vec::new, |end| end.not_undone.clone()),
        tags: row.tags.clone(),
        note: row.note.clone(),
        events: state.seq,
        steps,
        omitted_steps,
    }
}

fn steps(
    plan: &IndexedPlan,
    state: &RunState,
    events: &[Event],
    budget: &mut ValueBudget<'_>,
) -> (Vec<StepMetrics>, usize) {
    let mut begun: Vec<_> =
        state.nodes.iter().filter_map(|(path, node)| Some((plan.node(path)?, path, node))).collect();
    begun.sort_by(|(a, left, _), (b, right, _)| {
        a.place().cmp(&b.place()).then_with(|| left.cmp_in_order(right))
    });
    let all = begun.len();
    let mut too_many = budget.too_many(all);
    // What a long loop or forEach has done is of least interest.
    begun.retain(|(_, path, node)| {
        let is_done = matches!(node.status(), NodeStatus::Completed | NodeStatus::Skipped);
        let leave_out = too_many > 0 && is_done && path.as_str().contains('[');
        too_many -= usize::from(leave_out);
        !leave_out
    });
    begun.truncate(begun.len() - too_many);
    let mut steps: Vec<StepMetrics> = Vec::with_capacity(begun.len());
    let attempts = attempts(events);
    let mut operations = StepOperations::find(events);
    let undone = UndoneNodes::find(state);
    for (planned, path, node) in begun {
        let event = |seq: Option<Seq>| seq.and_then(|seq| events.event(seq));
        let error = event(node.failure).and_then(|event| {
            let failure = event.kind.failure()?.clone();
            let attempt_number = attempt_of(&event.kind, &attempts);
            Some(StepFailure { failure, attempt_number, occurred_at: event.at })
        });
        let metrics = StepMetrics {
            path: path.clone(),
            name: planned.node().id.clone(),
            kind: planned.node().kind.word().into(),
            status: node.status(),
            undo: undone.of(path),
            result: event(node.result).and_then(|holder| {
                let result = build(holder, &|seq| events.event(seq))?;
                Some(budget.fit(result, holder.seq, ValueField::Value))
            }),
            state: event(node.state)
                .and_then(|holder| {
                    Some(budget.fit(holder.kind.state()?.clone(), holder.seq, ValueField::State))
                })
                .unwrap_or_else(empty_state),
            started_at: node.started_at,
            completed_at: node.ended_at(),
            duration: node.started_at.zip(node.ended_at()).map(|(from, to)| to.ms_since(from)),
            retry_count: if matches!(planned.node().kind, NodeKind::Step(_)) {
                node.attempts.saturating_sub(1)
            } else {
                0
            },
            calls: node.calls,
            error,
            wake_at: node.wake_at(),
            operations: operations.take(path, events, budget),
        };
        steps.push(metrics);
    }
    let omitted = all - steps.len();
    (steps, omitted)
}

/// Which attempt each call was.
fn attempts(events: &[Event]) -> HashMap<(&Path, u32), u32> {
    let started = events.iter().filter_map(|event| {
        let EventKind::CallStarted { node, call, attempt, .. } = &event.kind else { return None };
        Some(((node, *call), *attempt))
    });
    started.collect()
}

/// The attempt that failed with this event; an imported failure does not say which it was.
fn attempt_of(failed: &EventKind, attempts: &HashMap<(&Path, u32), u32>) -> u32 {
    let EventKind::CallFailed { node, call, .. } = failed else { return 1 };
    attempts.get(&(node, *call)).copied().unwrap_or(1)
}
