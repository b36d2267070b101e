//! A run that is being watched: its view, kept up to date by its events.

use std::collections::HashMap;

use rival::event::{CallRole, FailureVerdict};
use rival::{NodeStatus, Path, RunStatus, Time, Value};
use rival_api::{EventReply, Graph, GraphNode, RunView, StepFailure, StepMetrics};

use crate::event_data::EventData;
use crate::verbs::watch::is_end;

/// What is known of a run that goes on. It follows what happens in nearly every run; for anything else the server, which
/// knows all of the rules, has to be asked.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) view: RunView,
    /// The id and the kind of each node, by its path in the plan.
    nodes: HashMap<String, (String, String)>,
    /// The calls at work: what they do, and which attempt they are.
    calls: HashMap<Path, (CallRole, u32)>,
    ended: bool,
}

impl LiveRun {
    pub(crate) fn new(graph: &Graph, view: RunView) -> Self {
        let mut nodes = HashMap::new();
        list(&graph.nodes, &mut nodes);
        Self { view, nodes, calls: HashMap::new(), ended: false }
    }

    /// Whether the last event was heard: the view of the server is the last one.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Takes the next event of the run. `false`: the view is not what it should be, and has to be asked for.
    pub(crate) fn apply(&mut self, event: &EventReply) -> bool {
        self.ended |= is_end(&event.r#type);
        let Some(data) = EventData::of(event) else { return false };
        let call = self.note_call(event, &data);
        // Asked for after this happened.
        if event.seq <= self.view.events {
            return true;
        }
        let is_next = event.seq == self.view.events.next();
        let plain = matches!(self.view.status, RunStatus::Queued | RunStatus::Running | RunStatus::Waiting);
        if !is_next || !plain || self.waits_in_step() || !self.change(event, &data, call) {
            return false;
        }
        self.view.events = event.seq;
        self.view.status = self.status();
        true
    }

    /// Keeps the calls at work, and gives the one that this event is about.
    fn note_call(&mut self, event: &EventReply, data: &EventData) -> Option<(CallRole, u32)> {
        let node = event.node.as_ref()?;
        match &*event.r#type {
            "callStarted" => {
                let call = (data.role, data.attempt.unwrap_or(1));
                self.calls.insert(node.clone(), call);
                Some(call)
            }
            "callSucceeded" | "callFailed" | "callLost" | "callCancelled" | "callSuspended"
            | "nodeBlocked" => self.calls.remove(node),
            _ => None,
        }
    }

    /// Whether a step waits inside of itself: such a step has rules of its own.
    fn waits_in_step(&self) -> bool {
        let mut operations = self.view.steps.iter().flat_map(|step| &step.operations);
        operations.any(|operation| operation.status == NodeStatus::Waiting)
    }

    fn change(&mut self, event: &EventReply, data: &EventData, call: Option<(CallRole, u32)>) -> bool {
        let kind = &*event.r#type;
        if matches!(kind, "runStarted" | "signalReceived" | "laneEnded" | "joined") {
            return true;
        }
        let Some(step) = event.node.as_ref().and_then(|node| self.step(node)) else { return false };
        match (kind, call) {
            ("callStarted", Some((role, attempt))) => call_started(step, event.at, role, attempt, data),
            ("callSucceeded", Some((role, _))) => call_succeeded(step, event.at, role, data),
            ("callFailed", Some((role, attempt))) => call_failed(step, event.at, role, attempt, data),
            ("sleepStarted" | "signalAwaited", _) => begin(step, event.at, NodeStatus::Waiting, data.until),
            ("nodeStarted", _) => begin(step, event.at, NodeStatus::Running, None),
            ("signalTaken", _) if data.op.is_some() => false,
            ("sleepEnded" | "signalTaken" | "nodeCompleted", _) => end(step, event.at, NodeStatus::Completed),
            _ => false,
        }
    }

    /// The node at a path, which may begin with this event; `None` if it is none of the plan's.
    fn step(&mut self, path: &Path) -> Option<&mut StepMetrics> {
        let known = self.view.steps.iter().position(|step| step.path == *path);
        let at = match known {
            Some(at) => at,
            None => {
                let (name, kind) = self.nodes.get(&in_plan(path))?;
                self.view.steps.push(pending(path, name, kind));
                self.view.steps.len() - 1
            }
        };
        self.view.steps.get_mut(at)
    }

    fn status(&self) -> RunStatus {
        let waits =
            |step: &StepMetrics| matches!(step.status, NodeStatus::Waiting | NodeStatus::WaitingRetry);
        if self.calls.is_empty() && self.view.steps.iter().any(waits) {
            RunStatus::Waiting
        } else {
            RunStatus::Running
        }
    }
}

fn list(nodes: &[GraphNode], all: &mut HashMap<String, (String, String)>) {
    for node in nodes {
        if node.kind != "lane" {
            all.insert(node.path.clone(), (node.id.clone(), node.kind.to_string()));
        }
        list(&node.children, all);
    }
}

/// A path without iterations: `items[17]/charge` is `items/charge` in the plan.
fn in_plan(path: &Path) -> String {
    let parts = path.as_str().split('[').enumerate();
    let outside =
        parts.map(|(n, part)| if n == 0 { part } else { part.split_once(']').map_or("", |it| it.1) });
    outside.collect()
}

fn pending(path: &Path, name: &str, kind: &str) -> StepMetrics {
    StepMetrics {
        path: path.clone(),
        name: name.to_owned(),
        kind: kind.to_owned().into(),
        status: NodeStatus::Pending,
        undo: None,
        result: None,
        state: empty(),
        started_at: None,
        completed_at: None,
        duration: None,
        retry_count: 0,
        calls: 0,
        error: None,
        wake_at: None,
        operations: Vec::new(),
    }
}

fn empty() -> Value {
    Value::from(serde_json::json!({}))
}

fn begin(step: &mut StepMetrics, at: Time, status: NodeStatus, wake_at: Option<Time>) -> bool {
    step.started_at.get_or_insert(at);
    (step.status, step.wake_at) = (status, wake_at);
    true
}

fn end(step: &mut StepMetrics, at: Time, status: NodeStatus) -> bool {
    (step.status, step.wake_at, step.completed_at) = (status, None, Some(at));
    step.duration = step.started_at.map(|from| at.ms_since(from));
    true
}

fn call_started(step: &mut StepMetrics, at: Time, role: CallRole, attempt: u32, data: &EventData) -> bool {
    // These are called when their node has ended. A step that is called again finds what it has asked for.
    if matches!(role, CallRole::OnError | CallRole::Compensate) || !step.operations.is_empty() {
        return false;
    }
    step.calls = data.call.unwrap_or(step.calls);
    if role == CallRole::Step {
        step.retry_count = attempt.saturating_sub(1);
    }
    begin(step, at, NodeStatus::Running, None)
}

fn call_succeeded(step: &mut StepMetrics, at: Time, role: CallRole, data: &EventData) -> bool {
    match role {
        CallRole::OnError | CallRole::Compensate => false,
        CallRole::Step => {
            step.state = data.state.clone().unwrap_or_else(empty);
            end(step, at, if data.skipped { NodeStatus::Skipped } else { NodeStatus::Completed })
        }
        _ => true,
    }
}

fn call_failed(step: &mut StepMetrics, at: Time, role: CallRole, attempt: u32, data: &EventData) -> bool {
    let (Some(failure), Some(verdict)) = (data.failure.clone(), data.verdict) else { return false };
    if matches!(role, CallRole::OnError | CallRole::Compensate) {
        return false;
    }
    step.error = Some(StepFailure { failure, attempt_number: attempt, occurred_at: at });
    step.state = data.state.clone().unwrap_or_else(empty);
    match verdict {
        FailureVerdict::RetryAt(next) => begin(step, at, NodeStatus::WaitingRetry, Some(next)),
        FailureVerdict::Fail | FailureVerdict::Continue => end(step, at, NodeStatus::Failed),
    }
}

#[cfg(test)]
mod tests {
    use rival::{Archive, ArchivedPlan, ArchivedRun, Engine, Event};
    use rival_core::{Plan, RunId, RunState};
    use serde_json::Value as Json;

    use super::*;
    use crate::style::TextStyle;
    use crate::tree::draw;

    /// The run as it was after its first events; `None` in the middle of what was recorded together.
    async fn view_after(plan: &Plan, events: &[Event]) -> Option<RunView> {
        let state = RunState::of_whole_run(events);
        let archive = Archive {
            format: "rival-run".to_owned(),
            version: 1,
            exported_at: state.at,
            run: ArchivedRun {
                run_id: RunId::from("r"),
                workflow: state.workflow.clone(),
                status: state.status(),
                created_at: state.started_at,
                ended_at: state.end.as_ref().map(|end| end.at),
                parent: state.parent.clone(),
                source: state.source.clone(),
                tags: Vec::new(),
                note: None,
            },
            plan: ArchivedPlan { hash: state.plan.clone()?, plan: Value::encode(plan).unwrap() },
            events: events.to_vec(),
            logs: Vec::new(),
        };
        let engine = Engine::of_archive(&archive).await.ok()?;
        engine.get(&RunId::from("r")).await.ok()
    }

    /// Over golden histories: wherever the events suffice, the picture is the one that the server would give.
    #[tokio::test]
    async fn a_picture_from_events_is_that_of_the_server() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/golden");
        let (mut compared, mut asked) = (0, 0);
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let golden: Json = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let plan = Plan::from_json(&golden["plan"].to_string()).unwrap();
            let events: Vec<Event> = serde_json::from_value(golden["events"].clone()).unwrap();
            let graph = plan.graph();
            let Some(first) = view_after(&plan, &events[..1]).await else { continue };
            let mut live = LiveRun::new(&graph, first);
            for (n, event) in events.iter().enumerate() {
                let followed = live.apply(&EventReply::from(event));
                let Some(view) = view_after(&plan, &events[..=n]).await else { continue };
                if !followed {
                    asked += 1;
                    live.view = view;
                    continue;
                }
                compared += 1;
                let picture = |view| draw(view, &graph, TextStyle::of(false), 0, event.at);
                assert_eq!(picture(&live.view), picture(&view), "{} after {event:?}", file.display());
            }
        }
        assert!(compared > 400, "{compared} compared, {asked} asked");
    }
}
