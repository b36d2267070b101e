//! Children of a live run: created with its commit, cancelled with it; and what a child tells its parent at its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use rival_core::durable::{ChildOutcome, OpBody};
use rival_core::event::{CallRole, EventKind};
use rival_core::failure::code;
use rival_core::machine::{CommitExtra, Decision, MachineInput, NewChild, OpRequest};
use rival_core::{Event, FailureRecord, RunId, RunStatus, Seq, TraceParent, Value};
use rival_store::{CommitError, NewMessage, NewRun};

use crate::api::control::RunCommand;
use crate::api::error::no_workflow;
use crate::api::observer::Committed;
use crate::api::start;
use crate::call::values::{ReadError, load_event, load_joined};
use crate::durable::handle::OpMessage;
use crate::registry::definition::CheckError;
use crate::run::actor::{Actor, PendingCommit, unreadable};
use crate::run::mailbox::ActorMessage;
use crate::run::{triggers, undo};
use crate::schedule::shared::EngineShared;
use rival_core::joined::parts_of;

/// How many inputs of a map are checked at a time.
const CHECKS_AT_ONCE: usize = 8;
/// Code of the failure of an operation whose child's input could not be checked.
const CHECK_UNAVAILABLE: &str = "check_unavailable";

/// What goes into a commit beside a run's own events.
#[derive(Default)]
pub(crate) struct CommitExtras {
    pub(crate) runs: Vec<NewRun>,
    /// Those of them that go on at once, by their places.
    pub(crate) begun: BTreeMap<usize, (Box<Actor>, Decision)>,
    pub(crate) messages: Vec<(RunId, NewMessage)>,
}

/// A child, as the call that wants it asked for it.
pub(crate) struct AskedChild {
    pub(crate) input: Value,
    /// The call's span.
    pub(crate) trace: Option<TraceParent>,
}

impl Actor {
    /// Makes a child live, whose first commit was part of its parent's. The parent counts as work in flight meanwhile, so
    /// that an engine that stops waits for the child, too.
    pub(crate) fn begin_as_child(self: Box<Self>, first: Decision) {
        let (shared, run) = (&self.shared, &self.links.run);
        shared.in_flight.add();
        shared.waiters.durable(run, self.state.seq);
        shared.observers.tell(|observer| {
            let (workflow, state, status) = (&self.links.registered.name, &self.state, self.state.status());
            let (events, took) = (&first.events, Duration::ZERO);
            observer.committed(&Committed { run, workflow, status, state, events, took });
        });
        self.enter();
        tokio::spawn(self.begin(first));
    }

    /// Why children of a workflow cannot be given these inputs.
    pub(crate) fn refusal(&self, workflow: &str, inputs: &[Value], indexed: bool) -> Option<FailureRecord> {
        let Some(registered) = self.shared.registry.get(workflow) else {
            return Some(unknown(workflow, &self.shared.registry.names()));
        };
        if let Some(failure) = self.too_large(workflow, inputs) {
            return Some(failure);
        }
        let mut wrong = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            let at = if indexed { format!("item {index}: ") } else { String::new() };
            wrong.extend(registered.check_input(input).iter().map(|violation| format!("{at}{violation}")));
        }
        (!wrong.is_empty()).then(|| invalid(workflow, &wrong))
    }

    fn too_large(&self, workflow: &str, inputs: &[Value]) -> Option<FailureRecord> {
        let limit = self.shared.limits.payload_max;
        let size: usize = inputs.iter().map(Value::len_bytes).sum();
        (size > limit).then(|| {
            let message = format!(
                "the input of workflow `{workflow}` has {size} bytes, more than the limit of {limit}"
            );
            FailureRecord::new(code::TOO_LARGE, message)
        })
    }

    /// Asks the workflow of children that are new, if it checks its input itself: what it makes of the inputs is what
    /// is recorded, and what they are given.
    pub(crate) async fn judge(&self, ask: &mut OpMessage) {
        let conclusion = &mut ask.check;
        let (inputs, indexed) = match &mut ask.request {
            OpRequest::Run { input } => (std::slice::from_mut(input), false),
            OpRequest::Map { items, .. } => (items.as_mut_slice(), true),
            _ => return,
        };
        let known = self.state.ops.get(&ask.node).and_then(|ops| ops.find(&ask.key));
        // One that failed may be asked for anew.
        if known.is_some_and(|(_, op)| op.end.is_none_or(|end| end.good)) {
            return;
        }
        let workflow = ask.key.name.as_str();
        let registered = self.shared.registry.get(workflow);
        let Some(registered) = registered.filter(|registered| registered.definition.input_check.is_some())
        else {
            return;
        };
        if let Some(failure) = self.too_large(workflow, inputs) {
            *conclusion = Some(Err(failure));
            return;
        }
        let check = |input: &Value| -> BoxFuture<'static, Result<Value, CheckError>> {
            let (registered, input) = (Arc::clone(&registered), input.clone());
            Box::pin(async move { registered.accept(input).await })
        };
        let checks: Vec<_> = inputs.iter().map(check).collect();
        let verdicts: Vec<_> = futures::stream::iter(checks).buffered(CHECKS_AT_ONCE).collect().await;
        let mut wrong = Vec::new();
        for (index, (input, verdict)) in inputs.iter_mut().zip(verdicts).enumerate() {
            let at = if indexed { format!("item {index}: ") } else { String::new() };
            match verdict {
                Ok(accepted) => *input = accepted,
                Err(CheckError::Refused(violations)) => {
                    wrong.extend(violations.iter().map(|violation| format!("{at}{violation}")));
                }
                Err(CheckError::Unavailable(why)) => {
                    let message = format!("the input of workflow `{workflow}` cannot be checked now: {why}");
                    *conclusion = Some(Err(FailureRecord::new(CHECK_UNAVAILABLE, message)));
                    return;
                }
            }
        }
        let failure =
            if wrong.is_empty() { self.too_large(workflow, inputs) } else { Some(invalid(workflow, &wrong)) };
        *conclusion = Some(failure.map_or(Ok(()), Err));
    }

    /// Children of workflows that are gone since they were asked for have failed before they began.
    pub(crate) fn fail_unknown_children(&mut self, pending: &mut PendingCommit) {
        let mut looked = 0;
        while let Some(extra) = pending.extras.get(looked) {
            match extra {
                CommitExtra::Start(new) if !self.shared.registry.contains(&new.workflow) => {
                    let failure = unknown(&new.workflow, &self.shared.registry.names());
                    let child = new.child.clone();
                    pending.extras.remove(looked);
                    let outcome = ChildOutcome::Failed { failure, step: None };
                    let (undoable, not_undone) = (false, Vec::new());
                    self.decide(MachineInput::ChildEnded { child, outcome, undoable, not_undone }, pending);
                }
                CommitExtra::Start(_)
                | CommitExtra::Cancel(_)
                | CommitExtra::Undo { .. }
                | CommitExtra::Triggers(_) => looked += 1,
            }
        }
    }

    /// What the decided commit extras, and the run's own end, put into its commit. A store that cannot be read now is
    /// asked again.
    pub(crate) async fn commit_extras(
        &mut self,
        pending: &mut PendingCommit,
    ) -> Result<CommitExtras, CommitError> {
        let (shared, run) = (Arc::clone(&self.shared), self.links.run.clone());
        let mut retry = shared.store_retry(&run, "what a commit takes along cannot be read");
        loop {
            let read = async {
                let mut extras = CommitExtras::default();
                for extra in &pending.extras {
                    match extra {
                        CommitExtra::Start(new) => {
                            let asked = self.asked_child(new, &pending.events).await?;
                            if let Some((child, begun)) = start::child(self, new, asked) {
                                extras.begun.extend(begun.map(|begun| (extras.runs.len(), begun)));
                                extras.runs.push(child);
                            }
                        }
                        CommitExtra::Cancel(child) => {
                            let reason =
                                Some(format!("its parent run `{run}` does not wait for it any more"));
                            let command = match self.state.killed {
                                true => RunCommand::Kill { reason, by: None },
                                false => RunCommand::Cancel { reason, by: None },
                            };
                            extras.messages.push((child.clone(), command.message(None)));
                        }
                        CommitExtra::Undo { child, undo } => {
                            extras.runs.extend(undo::undo_run(self, child, undo).await?);
                        }
                        CommitExtra::Triggers(run) => {
                            let (new, begun) = triggers::trigger_run(self, run);
                            extras.begun.extend(begun.map(|begun| (extras.runs.len(), begun)));
                            extras.runs.push(new);
                        }
                    }
                }
                if let Some(parent) = self.state.parent.clone()
                    && let Some(command) = self.report_to_parent(&pending.events).await?
                {
                    extras.messages.push((parent, command.message(Some(format!("child:{run}")))));
                }
                Ok(extras)
            };
            match read.await {
                Ok(extras) => {
                    pending.extras.clear();
                    return Ok(extras);
                }
                Err(error) => retry.after(error).await.map_err(unreadable)?,
            }
        }
    }

    async fn asked_child(&mut self, new: &NewChild, events: &[Event]) -> Result<AskedChild, ReadError> {
        let asked = match self.asked_maps.get(&new.asked) {
            Some(asked) => Arc::clone(asked),
            None => {
                // Events have no gaps, so an event's place follows from its number.
                let first = events.first().map_or(Seq::ZERO, |event| event.seq);
                let at = new.asked.0.checked_sub(first.0).and_then(|at| usize::try_from(at).ok());
                let found = at.and_then(|at| events.get(at)).filter(|event| event.seq == new.asked).cloned();
                let asked = match found {
                    Some(event) => Arc::new(event),
                    None => load_event(&*self.shared.store.get()?, &self.links.run, new.asked).await?,
                };
                if new.index.is_some() {
                    self.keep_map(new.asked, &asked);
                }
                asked
            }
        };
        let EventKind::OpStarted { node, call, what, .. } = &asked.kind else {
            return Err(ReadError::Missing(new.asked));
        };
        let input = match (what, new.index) {
            (OpBody::Run { input }, _) => input.clone(),
            (OpBody::Map { items, .. }, Some(index)) => {
                let item = usize::try_from(index).ok().and_then(|index| items.get(index));
                item.cloned().unwrap_or_default()
            }
            _ => Value::null(),
        };
        Ok(AskedChild { input, trace: self.trace_of(node, CallRole::Step, *call) })
    }

    /// The items of a map stay at hand while it has children to start.
    fn keep_map(&mut self, seq: Seq, asked: &Arc<Event>) {
        let ops = &self.state.ops;
        let in_use = |seq: &Seq| {
            ops.values().any(|ops| ops.iter().any(|(_, op)| op.started == *seq && op.end.is_none()))
        };
        self.asked_maps.retain(|seq, _| in_use(seq));
        self.asked_maps.insert(seq, Arc::clone(asked));
    }

    /// What the run tells its parent when it has ended.
    async fn report_to_parent(&self, last: &[Event]) -> Result<Option<RunCommand>, ReadError> {
        let Some(end) = &self.state.end else { return Ok(None) };
        let child = self.links.run.clone();
        if let Some(next) = &end.retried_as {
            return Ok(Some(RunCommand::ChildRetried { child, next: next.clone() }));
        }
        let outcome = match end.status {
            RunStatus::Completed => match self.output(last, end.output).await {
                // The child keeps its parts; the parent cannot be given them as one value.
                Err(error @ ReadError::TooLarge { .. }) => ChildOutcome::Failed {
                    failure: FailureRecord::new(code::TOO_LARGE, format!("the run completed, but {error}")),
                    step: None,
                },
                output => ChildOutcome::Completed(output?),
            },
            RunStatus::Cancelled => {
                ChildOutcome::Cancelled { reason: end.reason.clone(), not_undone: end.not_undone.clone() }
            }
            _ => {
                let failure =
                    end.failure.clone().unwrap_or_else(|| FailureRecord::new(code::ERROR, "failed"));
                ChildOutcome::Failed { failure, step: end.failed.clone() }
            }
        };
        let not_undone = match &outcome {
            // It says so itself.
            ChildOutcome::Cancelled { .. } => Vec::new(),
            ChildOutcome::Completed(_) | ChildOutcome::Failed { .. } => end.not_undone.clone(),
        };
        Ok(Some(RunCommand::ChildEnded { child, outcome, undoable: end.undoable, not_undone }))
    }

    /// What the run leaves; some of it may be in events that are not durable yet.
    async fn output(&self, last: &[Event], output: Option<Seq>) -> Result<Value, ReadError> {
        let Some(seq) = output else { return Ok(Value::null()) };
        let at_hand = |seq: Seq| {
            last.iter().find(|event| event.seq == seq).or_else(|| self.values.get(seq).map(AsRef::as_ref))
        };
        let store = self.shared.store.get()?;
        let stored = match at_hand(seq) {
            Some(_) => None,
            None => Some(load_event(&*store, &self.links.run, seq).await?),
        };
        let event = at_hand(seq).or(stored.as_deref()).ok_or(ReadError::Missing(seq))?;
        if parts_of(&event.kind).is_some() {
            let limit = self.shared.limits.payload_max;
            return load_joined(&*store, &self.links.run, event, limit, &at_hand).await;
        }
        event.kind.value().cloned().ok_or(ReadError::Missing(seq))
    }
}

impl EngineShared {
    /// Another run's commit sent this run a message: notifies its actor, or wakes the scheduler to find it in the store.
    pub(crate) fn notify_inbox(&self, run: &RunId) {
        match self.mailbox_anywhere(run) {
            Some(mailbox) if mailbox.send(ActorMessage::InboxChanged(None)) => {}
            _ => self.scheduler.note_wake(Some(self.clock.now())),
        }
    }
}

fn invalid(workflow: &str, wrong: &[String]) -> FailureRecord {
    let message = format!("the input of workflow `{workflow}` is not valid: {}", wrong.join("; "));
    FailureRecord::new(code::INVALID_INPUT, message)
}

fn unknown(workflow: &str, known: &[String]) -> FailureRecord {
    FailureRecord::new(code::UNKNOWN_WORKFLOW, no_workflow(workflow, known))
}
