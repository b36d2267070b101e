//! What a live run tells of its commits and calls: its observers, and those who write on in its trace.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_core::event::{CallRole, EventKind};
use rival_core::machine::CallOutcome;
use rival_core::state::OpenCall;
use rival_core::{Event, Path, RunId, RunStatus, Time, TraceParent};

use crate::api::observer::{CallEnd, Called, Committed};
use crate::call::exchange::HttpExchange;
use crate::run::actor::Actor;

/// A call, as observers are told of it.
struct EndedCall<'a> {
    role: CallRole,
    call: u32,
    attempt: u32,
    at: Time,
    took: Duration,
    http: Option<&'a HttpExchange>,
}

impl Actor {
    /// Events are durable, and so are the runs that were started with them.
    pub(crate) fn observe_commit(
        &self,
        started: &[(RunId, String)],
        events: &[Event],
        now: Time,
        began: Option<Instant>,
    ) {
        let took = began.map_or(Duration::ZERO, |began| began.elapsed());
        let (run, workflow, state) = (&self.links.run, &self.links.registered.name, &self.state);
        self.shared.observers.tell(|observer| {
            started.iter().for_each(|(run, workflow)| observer.started(run, workflow, now));
            let status = state.status();
            observer.committed(&Committed { run, workflow, status, state, events, took });
        });
    }

    /// A function has returned. Told before it is decided what follows: the state still has the call.
    pub(crate) fn observe_call_end(
        &self,
        node: &Path,
        call: u32,
        began: Option<Instant>,
        http: &HttpExchange,
        outcome: &CallOutcome,
    ) {
        let Some(began) = began else { return };
        let open = self.state.node(node).and_then(|node| node.open_call());
        let Some(open) = open.filter(|open| open.number == call) else { return };
        let (role, attempt, at) = (open.role, open.attempt, self.shared.clock.now());
        let ended = EndedCall { role, call, attempt, at, took: began.elapsed(), http: Some(http) };
        self.tell(node, &ended, outcome.into());
    }

    /// It was decided that calls have ended whose functions have not returned.
    pub(crate) fn observe_stopped_calls(&mut self, events: &[Event]) {
        if !self.shared.observers.any() || self.calls.is_empty() {
            return;
        }
        for event in events {
            let Some((node, call, end)) = end_of_call(&event.kind) else { continue };
            let running = self.calls.get_mut(node);
            let Some(running) = running.filter(|running| call.is_none_or(|call| running.number == call))
            else {
                continue;
            };
            // What comes of the function later is not the end of the call.
            let Some(began) = running.began.take() else { continue };
            let (role, call, attempt) = (running.role, running.number, running.attempt);
            let (at, took, info) = (event.at, began.elapsed(), Arc::clone(&running.info));
            self.tell(node, &EndedCall { role, call, attempt, at, took, http: Some(&info.http) }, end);
        }
    }

    /// The calls of an earlier process that the history leaves open, if an observer wants to hear what becomes of them.
    pub(crate) fn left_open(&self) -> BTreeMap<Path, OpenCall> {
        if !self.shared.observers.any() {
            return BTreeMap::new();
        }
        let open = |path: &Path| Some((path.clone(), self.state.node(path)?.open_call()?.clone()));
        self.state.index().calls.iter().filter_map(open).collect()
    }

    /// It was decided what becomes of them.
    pub(crate) fn observe_recovered_calls(&self, mut open: BTreeMap<Path, OpenCall>, events: &[Event]) {
        for event in events {
            let Some((node, call, end)) = end_of_call(&event.kind) else { continue };
            let left = open.remove(node).filter(|left| call.is_none_or(|call| left.number == call));
            let Some(left) = left else { continue };
            let took = event.at.duration_since(left.started_at);
            let (role, call, attempt) = (left.role, left.number, left.attempt);
            self.tell(node, &EndedCall { role, call, attempt, at: event.at, took, http: None }, end);
        }
    }

    /// The span of a call. Only for runs that are part of a trace, or if an observer writes traces.
    pub(crate) fn trace_of(&self, node: &Path, role: CallRole, call: u32) -> Option<TraceParent> {
        let starter = self.state.trace;
        let traced = starter.is_some() || self.shared.observers.traces();
        traced
            .then(|| TraceParent::of_run(&self.links.run, starter).of_call(&self.links.run, node, role, call))
    }

    /// A run that waited for a place has one.
    pub(crate) fn observe_dequeued(&self) {
        if self.state.status() == RunStatus::Queued {
            let waited = self.shared.clock.now().duration_since(self.state.started_at);
            let name = &self.links.registered.name;
            self.shared.observers.tell(|observer| observer.dequeued(&self.links.run, name, waited));
        }
    }

    fn tell(&self, node: &Path, ended: &EndedCall<'_>, end: CallEnd<'_>) {
        let called = Called {
            run: &self.links.run,
            workflow: &self.links.registered.name,
            node,
            role: ended.role,
            call: ended.call,
            attempt: ended.attempt,
            ended_at: ended.at,
            took: ended.took,
            end,
            http: ended.http.filter(|http| http.request().is_some()),
            state: &self.state,
        };
        self.shared.observers.tell(|observer| observer.called(&called));
    }
}

/// The call that an event ends, and how; a node that is blocked has at most one.
fn end_of_call(event: &EventKind) -> Option<(&Path, Option<u32>, CallEnd<'_>)> {
    Some(match event {
        EventKind::CallSucceeded { node, call, .. } => (node, Some(*call), CallEnd::Succeeded),
        EventKind::CallFailed { node, call, failure, .. } => (node, Some(*call), CallEnd::Failed(failure)),
        EventKind::CallLost { node, call, reason } => (node, Some(*call), CallEnd::Lost(*reason)),
        EventKind::CallCancelled { node, call, .. } => (node, Some(*call), CallEnd::Cancelled),
        EventKind::CallSuspended { node, call, .. } => (node, Some(*call), CallEnd::Suspended),
        EventKind::NodeBlocked { node, reason } => (node, None, CallEnd::Blocked(reason)),
        EventKind::RunStarted { .. }
        | EventKind::NodeImported { .. }
        | EventKind::DecisionImported { .. }
        | EventKind::LaneImported { .. }
        | EventKind::CallStarted { .. }
        | EventKind::NodeStarted { .. }
        | EventKind::LaneEnded { .. }
        | EventKind::BlockFailing { .. }
        | EventKind::LaneStopping { .. }
        | EventKind::Joined { .. }
        | EventKind::NodeCompleted { .. }
        | EventKind::NodeFailed { .. }
        | EventKind::NodeCancelled { .. }
        | EventKind::NodeHeld { .. }
        | EventKind::NodeUnblocked { .. }
        | EventKind::SleepStarted { .. }
        | EventKind::SleepEnded { .. }
        | EventKind::SignalReceived { .. }
        | EventKind::SignalAwaited { .. }
        | EventKind::SignalTaken { .. }
        | EventKind::SignalTimedOut { .. }
        | EventKind::OpStarted { .. }
        | EventKind::OpEnded { .. }
        | EventKind::OpDropped { .. }
        | EventKind::OpStopping { .. }
        | EventKind::ChildStarted { .. }
        | EventKind::ChildRetried { .. }
        | EventKind::ChildEnded { .. }
        | EventKind::ChildUndoing { .. }
        | EventKind::ChildUndone { .. }
        | EventKind::CancelRequested { .. }
        | EventKind::RunPaused {}
        | EventKind::RunResumed {}
        | EventKind::ClockSetBack { .. }
        | EventKind::RunFailing { .. }
        | EventKind::RunCompleted { .. }
        | EventKind::RunFailed { .. }
        | EventKind::RunCancelled { .. } => return None,
    })
}
