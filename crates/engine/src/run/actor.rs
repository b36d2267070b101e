//! The actor of one live run: it takes messages, decides, commits, and performs effects, in that order.
//!
//! All messages that wait are decided together and committed together. Effects are performed only after
//! their events are durable. When the run only waits, the same commit gives it back to the store and the
//! actor ends.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use futures::future::BoxFuture;
use rival_core::bound::{NOTE_MAX, cut};
use rival_core::event::{self, BlockedReason};
use rival_core::joined::build;
use rival_core::machine::{
    self, BrokenInvariant, CallOutcome, CommitExtra, Decision, DecisionEnv, Effect, MachineInput,
};
use rival_core::state::FOLD_VERSION;
use rival_core::{Event, Path, RunId, RunState, RunStatus, Seq, Time, Value};
use rival_store::{
    Claim, Commit, CommitError, Epoch, EventBatch, LogLine, MessageNo, NewRun, RowUpdate, RunHold, Snapshot,
    StoreError,
};
use tokio::sync::oneshot;

use crate::api::control::{CommandAck, CommandRefusal, RunCommand};
use crate::api::fork;
use crate::call::items::CutLists;
use crate::call::live_calls::LiveCalls;
use crate::call::values::{ReadError, RecordedValues};
use crate::inspect::view;
use crate::inspect::view::OutcomeSource;
use crate::registry::bound_plan::BoundPlan;
use crate::registry::resources::ResourceMap;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::child::CommitExtras;
use crate::run::load::LoadError;
use crate::run::mailbox::{ActorMessage, Inbox, Mailbox, StepSnapshot};
use crate::run::unloadable;
use crate::schedule::shared::{EngineShared, RunPermit};
use crate::schedule::store_slot::StoreSlot;

/// A run that waits no longer than this stays in memory.
const LINGER_MS: u64 = 1_000;
/// How many messages are decided together.
const MESSAGES_MAX: usize = 64;
/// With more than this many bytes of results, the messages that still wait are left for the next commit.
const COMMIT_MAX_BYTES: usize = 16 << 20;
/// A snapshot is written after this many events, or after as many as the state has parts: often enough
/// to make loading cheap, seldom enough that writing it costs each event the same, however long the run.
const SNAPSHOT_EVERY: u64 = 1_000;

pub(crate) struct Actor {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) links: Arc<RunLinks>,
    pub(crate) epoch: Epoch,
    pub(crate) state: RunState,
    pub(crate) values: RecordedValues,
    pub(crate) lists: CutLists,
    /// The maps that have children to start, with their items.
    pub(crate) asked_maps: HashMap<Seq, Arc<Event>>,
    /// Nodes whose function asks for durable things.
    pub(crate) op_nodes: BTreeSet<Path>,
    /// When to look for functions that do nothing but wait.
    pub(crate) idle_check: Option<Time>,
    /// Messages that it has not acted on.
    pub(crate) refused: Vec<(MessageNo, CommandRefusal)>,
    pub(crate) inbox: Inbox,
    pub(crate) calls: LiveCalls,
    /// What the run's row says.
    pub(crate) row_update: RowUpdate,
    /// The last event of the latest snapshot.
    pub(crate) snapshot: Seq,
    /// After how many events the next snapshot may be due.
    pub(crate) snapshot_after: u64,
    /// New calls may start.
    pub(crate) admit: bool,
    /// Which built-in functions there were when one was missing, see [`crate::registry::builtins::BuiltinSet::generation`].
    pub(crate) missed_builtins: Option<u64>,
    pub(crate) _permit: RunPermit,
}

/// What a live run shares with its calls.
pub(crate) struct RunLinks {
    pub(crate) run: RunId,
    pub(crate) registered: Arc<RegisteredWorkflow>,
    pub(crate) plan: Arc<BoundPlan>,
    pub(crate) mailbox: Mailbox,
    pub(crate) store: Arc<StoreSlot>,
    pub(crate) resources: Arc<ResourceMap>,
    pub(crate) payload_max: usize,
    /// The engine, for steps that ask it. A call that cannot be stopped does not keep it.
    pub(crate) engine: Weak<EngineShared>,
}

/// What a batch of actor messages led to: the parts of the next commit.
#[derive(Default)]
pub(crate) struct PendingCommit {
    pub(crate) events: Vec<Event>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) extras: Vec<CommitExtra>,
    pub(crate) consumed: BTreeSet<MessageNo>,
    /// The inbox has been read: this answers all `InboxChanged` messages that were there then.
    pub(crate) read: bool,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) acks: Vec<CommandAck>,
    pub(crate) step_reads: Vec<AskedStep>,
    /// The engine stops now.
    pub(crate) release_now: bool,
    /// Signals start nothing: it is not known yet what an earlier process has left behind.
    pub(crate) keeps_signals: bool,
    /// A decision came to something that cannot be: none of this is committed.
    pub(crate) broken: Option<BrokenInvariant>,
}

impl PendingCommit {
    /// Whether it has recorded as much as one commit should hold: a store has limits too.
    fn is_large(&self) -> bool {
        let bytes = |value: Option<&Value>| value.map_or(0, Value::len_bytes);
        let recorded = self.events.iter().map(|event| bytes(event.kind.value()) + bytes(event.kind.state()));
        recorded.sum::<usize>() > COMMIT_MAX_BYTES
    }
}

/// A function that asks for another step.
pub(crate) struct AskedStep {
    from: Path,
    name: String,
    answer: oneshot::Sender<Option<StepSnapshot>>,
}

/// Whether the actor goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActorNext {
    GoOn,
    End,
}

impl Actor {
    /// The actor of a run without a history, owned by its first epoch.
    pub(crate) fn new(
        shared: Arc<EngineShared>,
        run: RunId,
        registered: Arc<RegisteredWorkflow>,
        plan: Arc<BoundPlan>,
        (mailbox, inbox): (Mailbox, Inbox),
        permit: RunPermit,
    ) -> Self {
        let (store, resources) = (Arc::clone(&shared.store), Arc::clone(&shared.resources));
        let payload_max = shared.limits.payload_max;
        let engine = Arc::downgrade(&shared);
        let links = RunLinks { run, registered, plan, mailbox, store, resources, payload_max, engine };
        Self {
            links: Arc::new(links),
            epoch: Epoch(1),
            state: RunState::default(),
            values: RecordedValues::default(),
            lists: CutLists::default(),
            asked_maps: HashMap::new(),
            op_nodes: BTreeSet::new(),
            idle_check: None,
            refused: Vec::new(),
            inbox,
            calls: LiveCalls::default(),
            row_update: RowUpdate::Owned { status: RunStatus::Running, note: None },
            snapshot: Seq::ZERO,
            snapshot_after: SNAPSHOT_EVERY,
            admit: !shared.is_stopping(),
            missed_builtins: None,
            _permit: permit,
            shared,
        }
    }

    /// From now on the run is live: messages for it are for this actor.
    pub(crate) fn enter(&self) {
        self.shared.live().insert(self.links.run.clone(), self.links.mailbox.clone());
    }

    /// Performs what was decided with the run's first commit, and lives. Boxed: a run that lives begins others.
    pub(crate) fn begin(mut self: Box<Self>, first: Decision) -> BoxFuture<'static, ()> {
        self.values.keep(first.events);
        Box::pin(async move {
            let pending = self.perform(first.effects).await;
            self.live(pending).await;
        })
    }

    /// Lives until the run ends, waits, or is lost.
    pub(crate) async fn live(mut self: Box<Self>, first: PendingCommit) {
        // What it begins with counts as a message.
        let mut read = 1;
        let mut next = self.commit_and_perform(first).await;
        while next == ActorNext::GoOn {
            self.shared.in_flight.remove(read);
            let message = self.inbox.next().await;
            let (mut pending, waiting) = (PendingCommit::default(), self.inbox.len());
            self.handle_message(message, &mut pending).await;
            read = 1 + self.handle_waiting_messages(waiting, &mut pending).await;
            next = self.commit_and_perform(pending).await;
        }
        read += self.close().await;
        // The permit is returned before the run counts as done, so that a test that waits for rest sees the next run take it.
        let shared = Arc::clone(&self.shared);
        drop(self);
        shared.in_flight.remove(read);
    }

    /// Handles messages, as far as one commit takes what they lead to, and gives how many there were. At most as many as
    /// waited before the first one was handled: the inbox is read once, and a later message may announce a later command.
    async fn handle_waiting_messages(&mut self, waiting: usize, pending: &mut PendingCommit) -> usize {
        let mut read = 0;
        while read < waiting.min(MESSAGES_MAX) && !pending.is_large() {
            let Some(message) = self.inbox.try_next() else { break };
            self.handle_message(message, pending).await;
            read += 1;
        }
        read
    }

    /// Closes the inbox, and gives how many messages it held. A caller that waits for a reply finds the run in the store.
    async fn close(&mut self) -> usize {
        let mut lines = Vec::new();
        for call in self.calls.values() {
            call.abandon();
            lines.extend(call.unstored());
        }
        self.store_lines(lines).await;
        let refused = self.inbox.close();
        if refused.messages {
            self.shared.scheduler.rescan();
        }
        refused.count
    }

    async fn handle_message(&mut self, message: ActorMessage, pending: &mut PendingCommit) {
        match message {
            ActorMessage::CallFinished { node, call, outcome, logs } => {
                pending.logs.extend(logs);
                // A function that returned a result must have asked for all that it asked for before.
                let is_success = matches!(outcome, CallOutcome::Success { .. });
                let forgot = if is_success { self.forgot(&node, call) } else { None };
                let nondeterminism =
                    |message| CallOutcome::Blocked(BlockedReason::Nondeterminism { message });
                let outcome = forgot.map_or(outcome, nondeterminism);
                self.give_up_unused(&node, call, &outcome, pending);
                if self.calls.get(&node).is_some_and(|running| running.number == call)
                    && let Some(running) = self.calls.remove(&node)
                {
                    self.observe_call_end(&node, call, running.began, &running.info.http, &outcome);
                }
                self.decide(MachineInput::CallFinished { node, call, outcome }, pending);
            }
            ActorMessage::Tick => {
                self.set_clock_back_if_ahead(pending);
                // A signal that was sent in time wins against the moment that has come.
                if self.state.signal_is_due(self.shared.clock.now())
                    && let Ok(commands) = Box::pin(self.read_commands(pending)).await
                {
                    self.apply_commands(commands, pending);
                }
                self.decide(MachineInput::Tick, pending);
            }
            ActorMessage::InboxChanged(ack) => {
                // Only what was acted on is acknowledged; a caller without an answer asks again.
                if let Ok(commands) = Box::pin(self.read_commands(pending)).await {
                    self.apply_commands(commands, pending);
                    pending.acks.extend(ack);
                }
            }
            ActorMessage::OpRequested(mut ask) => {
                Box::pin(self.judge(&mut ask)).await;
                self.handle_op_request(*ask, pending);
            }
            ActorMessage::OpDropped(given_up) => self.handle_op_dropped(*given_up, pending),
            ActorMessage::ReplyWanted { node, call } => self.handle_reply_wanted(&node, call, pending),
            // `suspend_idle` runs after every message.
            ActorMessage::SuspendIdle => {}
            // Answered when what was decided before it is durable.
            ActorMessage::ReadStep { from, name, answer } => {
                pending.step_reads.push(AskedStep { from, name, answer });
            }
            ActorMessage::Drain => self.admit = false,
            // Nothing of it was left behind by an earlier process: only what is blocked is looked at.
            ActorMessage::BuiltinsChanged => {
                if !self.state.index().blocked.is_empty() {
                    self.decide(MachineInput::Activate { loaded: Seq::ZERO }, pending);
                }
            }
            ActorMessage::ReleaseNow => {
                self.admit = false;
                pending.release_now = true;
                self.calls.values().for_each(|call| pending.logs.extend(call.unstored()));
                self.decide(MachineInput::ReleaseNow, pending);
            }
        }
    }

    /// A clock that was ahead has written the run's last events: time goes on from the wall clock's now.
    fn set_clock_back_if_ahead(&mut self, pending: &mut PendingCommit) {
        if self.shared.is_ahead(self.state.at) {
            tracing::warn!(run = %self.links.run, written = %self.state.at, "the run was written in the future; its clock is set back");
            self.decide(MachineInput::ClockSetBack, pending);
        }
    }

    /// Decides what an input leads to. Gives whether it was refused.
    pub(crate) fn decide(&mut self, input: MachineInput, pending: &mut PendingCommit) -> bool {
        // The state is not to be trusted any more, and nothing of this is committed.
        if pending.broken.is_some() {
            return false;
        }
        // `Drain` may still be unread behind calls that end at once.
        self.admit &= !self.shared.is_stopping();
        let is_kept = pending.keeps_signals && matches!(input, MachineInput::Signal(_));
        let (now, admit) = (self.shared.clock.now(), self.admit && !is_kept);
        let env = DecisionEnv { run: &self.links.run, now, admit, states: &self.calls };
        let decision = machine::decide(&self.links.plan, &mut self.state, input, env);
        if decision.broken.is_some() {
            pending.broken = decision.broken;
            return false;
        }
        self.observe_stopped_calls(&decision.events);
        append(&mut pending.events, decision.events);
        append(&mut pending.effects, decision.effects);
        append(&mut pending.extras, decision.extras);
        decision.refused
    }

    /// Deals with what a crash or an orderly stop left behind, and with the messages that wait.
    pub(crate) async fn activate(&mut self, pending: &mut PendingCommit) {
        self.set_clock_back_if_ahead(pending);
        let loaded = self.state.seq;
        let left_open = self.left_open();
        let mut commands = match self.read_commands(pending).await {
            Ok(commands) => commands,
            Err(_) => {
                pending.acks.clear();
                Vec::new()
            }
        };
        // Commands first: a run that is to be cancelled should not start anything. But what a resume or the end of a
        // child starts is new work, which no earlier process has left behind.
        let starts = |input: &MachineInput| {
            matches!(
                input,
                MachineInput::Resume { .. }
                    | MachineInput::ChildEnded { .. }
                    | MachineInput::ChildRetried { .. }
            )
        };
        let resume = commands.iter().position(|(_, input)| matches!(input, MachineInput::Resume { .. }));
        let after = commands.split_off(resume.unwrap_or(commands.len()));
        let (later, before): (Vec<_>, Vec<_>) = commands.into_iter().partition(|(_, input)| starts(input));
        pending.keeps_signals = true;
        self.apply_commands(before, pending);
        pending.keeps_signals = false;
        self.decide(MachineInput::Activate { loaded }, pending);
        self.apply_commands(later, pending);
        self.apply_commands(after, pending);
        self.observe_recovered_calls(left_open, &pending.events);
    }

    /// Acts on commands, in their order.
    fn apply_commands(&mut self, commands: Vec<(MessageNo, MachineInput)>, pending: &mut PendingCommit) {
        for (no, input) in commands {
            if self.state.is_terminal() {
                self.refused.push((no, CommandRefusal::Finished));
            } else if self.decide(input, pending) {
                self.refused.push((no, CommandRefusal::SignalsFull));
            }
        }
    }

    /// The commands in the messages that wait for the run, once for each commit. If they cannot be read they stay where
    /// they are.
    async fn read_commands(
        &self,
        pending: &mut PendingCommit,
    ) -> Result<Vec<(MessageNo, MachineInput)>, StoreError> {
        if pending.read {
            return Ok(Vec::new());
        }
        let mut retry = self.shared.store_retry(&self.links.run, "messages cannot be read");
        let messages = loop {
            let messages = async { self.shared.store.get()?.messages(&self.links.run).await };
            match messages.await {
                Ok(messages) => break messages,
                Err(error) => retry.after(error).await?,
            }
        };
        pending.read = true;
        let mut commands = Vec::new();
        for message in messages {
            if !pending.consumed.insert(message.no) {
                continue;
            }
            match message.body.decode::<RunCommand>() {
                Ok(command) => commands.push((message.no, command.into_input(message.sent_at))),
                Err(error) => {
                    tracing::warn!(run = %self.links.run, %error, "a message is not understood and was dropped");
                }
            }
        }
        Ok(commands)
    }

    /// Commits and performs, until there is nothing left to do but to wait.
    async fn commit_and_perform(&mut self, mut pending: PendingCommit) -> ActorNext {
        loop {
            self.suspend_idle(&mut pending);
            self.fail_unknown_children(&mut pending);
            // What is rare is boxed: every live run holds a future as large as the largest of these.
            if !pending.extras.is_empty() {
                Box::pin(self.fail_lost_undos(&mut pending)).await;
            }
            if let Some(broken) = pending.broken.take() {
                return Box::pin(self.block_broken(broken, pending)).await;
            }
            let row_update = self.row_update(&pending);
            let next = if row_update.is_owned() { ActorNext::GoOn } else { ActorNext::End };
            if let Err(error) = self.commit(&mut pending, row_update).await {
                return Box::pin(self.abandon_run(&error)).await;
            }
            self.values.keep(std::mem::take(&mut pending.events));
            for AskedStep { from, name, answer } in std::mem::take(&mut pending.step_reads) {
                // A function that is gone needs no answer.
                let _ = answer.send(self.visible_step(&from, &name));
            }
            let mut more = self.perform(std::mem::take(&mut pending.effects)).await;
            if next == ActorNext::End {
                self.deregister();
                Box::pin(self.look_again_for_builtins()).await;
            }
            let status = self.state.status();
            for CommandAck { message, sender } in pending.acks {
                // Several may wait for one message, if it was sent more than once under one id.
                let refusal = self.refused.iter().find(|(no, _)| *no == message);
                // A caller that is gone needs no answer.
                let _ = sender.send(refusal.map_or(Ok(status), |(_, refusal)| Err(refusal.clone())));
            }
            if next == ActorNext::End
                || (more.events.is_empty() && more.logs.is_empty() && more.step_reads.is_empty())
            {
                self.schedule_next_tick();
                return next;
            }
            // A run whose steps all end at once must still hear of a cancel.
            let read = self.handle_waiting_messages(self.inbox.len(), &mut more).await;
            self.shared.in_flight.remove(read);
            pending = more;
        }
    }

    /// Writes what is pending as one commit, if it changes anything, and tells those whom it concerns.
    async fn commit(
        &mut self,
        pending: &mut PendingCommit,
        row_update: RowUpdate,
    ) -> Result<(), CommitError> {
        let CommitExtras { mut runs, mut begun, messages } =
            if pending.extras.is_empty() && self.state.end.is_none() {
                CommitExtras::default()
            } else {
                Box::pin(self.commit_extras(pending)).await?
            };
        if self.state.end.as_ref().is_some_and(|end| end.retried_as.is_some()) {
            runs.extend(Box::pin(self.automatic_retry(&pending.events)).await?);
        }
        let events = pending.events.first().map(|first| {
            let count = u32::try_from(pending.events.len()).unwrap_or(u32::MAX);
            EventBatch { first: first.seq, count, body: event::encode(&pending.events) }
        });
        let consumed: Vec<MessageNo> = std::mem::take(&mut pending.consumed).into_iter().collect();
        let refused = self.refused.iter().map(|(no, _)| *no).filter(|no| consumed.contains(no)).collect();
        let (logs, snapshot) = (std::mem::take(&mut pending.logs), self.snapshot_if_due());
        let row_update = Some(row_update).filter(|row_update| *row_update != self.row_update);
        if events.is_none() && consumed.is_empty() && logs.is_empty() && row_update.is_none() {
            return Ok(());
        }
        if let Some(row_update) = &row_update {
            self.row_update = row_update.clone();
        }

        let started: Vec<(RunId, String)> =
            runs.iter().map(|run| (run.id.clone(), run.workflow.clone())).collect();
        let wake_at = runs.iter().filter_map(|run| run.row_update.wake_at()).min();
        let receivers: Vec<RunId> = messages.iter().map(|(run, _)| run.clone()).collect();
        let (run, epoch, now) = (self.links.run.clone(), self.epoch, self.shared.clock.now());
        let commit =
            Commit { run, epoch, events, row_update, messages, consumed, refused, runs, logs, snapshot, now };
        let stopwatch = self.shared.observers.stopwatch();
        let known = self.shared.commit(commit).await?;

        self.shared.waiters.durable(&self.links.run, self.state.seq);
        self.observe_commit(&started, &pending.events, now, stopwatch);
        if !started.is_empty() {
            known.iter().for_each(|place| _ = begun.remove(place));
            if begun.len() + known.len() < started.len() {
                self.shared.scheduler.run_queued();
            }
            begun.into_values().for_each(|(child, first)| child.begin_as_child(first));
            self.shared.scheduler.note_wake(wake_at);
        }
        receivers.iter().for_each(|run| self.shared.notify_inbox(run));
        Ok(())
    }

    /// Where the run stands after this work, and whether it stays in memory.
    fn row_update(&self, pending: &PendingCommit) -> RowUpdate {
        let now = self.shared.clock.now();
        let ended = self.state.end.is_some();
        let timer = self.state.next_timer();
        let near = timer.is_some_and(|at| at <= now.plus_ms(LINGER_MS)) && self.admit;
        let idle = self.state.index().calls.is_empty() && !near && self.inbox.is_empty();
        let hold = if !ended && !idle && !pending.release_now {
            RunHold::Keep
        } else if self.state.is_held_back() {
            // What an orderly stop held back is due as soon as an engine is there to look at it.
            RunHold::Release(Some(timer.map_or(now, |timer| timer.min(now))))
        } else {
            RunHold::Release(timer)
        };
        RowUpdate::new(self.state.status(), hold, self.state.ended_at(), self.note())
    }

    fn note(&self) -> Option<String> {
        self.whole_note().map(|note| cut(note, NOTE_MAX))
    }

    fn whole_note(&self) -> Option<String> {
        if let Some(end) = &self.state.end {
            return end
                .failure
                .as_ref()
                .map(|failure| failure.message.clone())
                .or_else(|| end.reason.clone());
        }
        let blocked = self.state.index().blocked.first()?;
        let reason = self.state.node(blocked)?.blocked()?;
        Some(crate::inspect::explain::blocked(blocked, reason))
    }

    /// The run that goes on where this one failed, if it has retries left.
    async fn automatic_retry(&self, last: &[Event]) -> Result<Option<NewRun>, CommitError> {
        let Some(next) = self.state.end.as_ref().and_then(|end| end.retried_as.as_ref()) else {
            return Ok(None);
        };
        let mut retry = self.shared.store_retry(&self.links.run, "the run that is retried cannot be read");
        loop {
            let error = match fork::automatic_retry(self, next, last).await {
                Ok(run) => return Ok(Some(run)),
                Err(error) => error,
            };
            match retry.after(error).await {
                Ok(()) => {}
                // Not without the run that its last event names: the whole decision is taken again at the next start.
                Err(LoadError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::error!(run = %self.links.run, %error, "the run cannot be retried by itself");
                    return Ok(None);
                }
            }
        }
    }

    fn snapshot_if_due(&mut self) -> Option<Snapshot> {
        let since = self.state.seq.0 - self.snapshot.0;
        // A run that ends is folded again only to be looked at.
        if since < self.snapshot_after || self.state.is_terminal() {
            return None;
        }
        // Weighed only when it may be due: a wide run has many parts.
        self.snapshot_after = self.state.weight().max(SNAPSHOT_EVERY);
        if since < self.snapshot_after {
            return None;
        }
        self.snapshot = self.state.seq;
        let body = serde_json::to_vec(&self.state).expect("a state has only string keys");
        Some(Snapshot { seq: self.state.seq, fold: FOLD_VERSION, plan: self.links.plan.hash().clone(), body })
    }

    /// The run has another owner, or the store is gone: abandons it. The engine that loads it next finds what is durable.
    async fn abandon_run(&mut self, error: &CommitError) -> ActorNext {
        let is_dropped = matches!(error, CommitError::Store(StoreError::Closed)) && self.shared.is_stopping();
        if is_dropped {
            tracing::debug!(run = %self.links.run, "the engine was dropped; the run goes on with the next one");
        } else {
            tracing::error!(run = %self.links.run, %error, "the run was abandoned");
        }
        for call in self.calls.values() {
            call.abandon();
        }
        match error {
            CommitError::Fenced { .. } | CommitError::NotFound(_) => {}
            _ if is_dropped => {}
            // Still ours: an owner without an actor would keep all other engines away.
            _ => unloadable::release_run(&self.shared, &self.links.run, self.epoch, &error.to_string()).await,
        }
        self.shared.deregister(&self.links.run, &self.links.mailbox);
        ActorNext::End
    }

    /// A decision came to something that cannot be. The run is blocked as it is in the store, and its calls are abandoned:
    /// a run that cannot be trusted does nothing more until an operator or a new version helps.
    async fn block_broken(&mut self, broken: BrokenInvariant, pending: PendingCommit) -> ActorNext {
        tracing::error!(run = %self.links.run, node = %broken.node, what = %broken.what, "an invariant is broken; please report it");
        for call in self.calls.values() {
            call.abandon();
        }
        self.store_lines(pending.logs).await;
        let error = LoadError::Broken(broken);
        let row = async { self.shared.store.get()?.run(&self.links.run).await };
        match row.await {
            Ok(Some(row)) => {
                let claim = Claim { row, epoch: self.epoch };
                if let Some(unloaded) = unloadable::block_unloadable(&self.shared, &claim, &error).await {
                    pending.acks.into_iter().for_each(|ack| unloaded.acknowledge(ack));
                }
            }
            Ok(None) | Err(_) => {
                unloadable::release_run(&self.shared, &self.links.run, self.epoch, &error.to_string()).await;
            }
        }
        self.shared.deregister(&self.links.run, &self.links.mailbox);
        ActorNext::End
    }

    /// The run has ended or waits in the store: it is live no more.
    fn deregister(&self) {
        self.shared.deregister(&self.links.run, &self.links.mailbox);
        if !self.state.is_terminal() {
            self.shared.scheduler.note_wake(self.row_update.wake_at());
            // Time was set back while it was given back.
            if self.row_update.wake_at().is_some() && self.shared.is_ahead(self.state.at) {
                self.shared.review.again();
                self.shared.scheduler.wake();
            }
            return;
        }
        // Built only if a caller waits; later callers read it from the store.
        let outcome = self.shared.waiters.is_awaited(&self.links.run).then(|| {
            let event = |seq: Seq| self.values.get(seq).map(AsRef::as_ref);
            let value = |seq: Seq| build(event(seq)?, &event);
            let state = |seq: Seq| event(seq)?.kind.state().cloned();
            view::outcome(
                &self.links.run,
                &self.links.plan,
                &self.state,
                &OutcomeSource { value: &value, state: &state },
            )
        });
        self.shared.waiters.ended(&self.links.run, &outcome.flatten().map(Arc::new));
        self.shared.ended_elsewhere(&self.links.run);
    }

    /// What the run is blocked for may have come while it was given back.
    async fn look_again_for_builtins(&self) {
        if self.missed_builtins.is_none_or(|generation| generation == self.shared.builtins.generation()) {
            return;
        }
        let (run, workflow) = (&self.links.run, &self.links.plan.plan().workflow);
        let woken = async { self.shared.store.get()?.wake_blocked(workflow, self.shared.clock.now()).await };
        match woken.await {
            Ok(_) => self.shared.scheduler.rescan(),
            Err(error) => {
                tracing::error!(%run, %error, "the run is blocked although its functions may be there");
            }
        }
    }

    /// Schedules the next tick.
    fn schedule_next_tick(&mut self) {
        let look = self.next_idle_check();
        if look.is_some() {
            self.shared.scheduler.mark_evictable(&self.links.run);
        }
        if self.row_update.is_owned()
            && let Some(at) = [self.state.next_timer(), look].into_iter().flatten().min()
        {
            self.shared.scheduler.schedule_tick(&self.links.run, at);
        }
    }
}

/// Adds to a list. Most commits are of one decision, whose list is taken as it is.
fn append<T>(list: &mut Vec<T>, more: Vec<T>) {
    if list.is_empty() {
        *list = more;
    } else {
        list.extend(more);
    }
}

/// What a commit needs cannot be read: it is not made, and the engine that loads the run next decides again.
pub(crate) fn unreadable(error: ReadError) -> CommitError {
    CommitError::Store(match error {
        ReadError::Store(error) => error,
        ReadError::Decode(_) | ReadError::Missing(_) | ReadError::TooLarge { .. } => {
            StoreError::Damaged(error.to_string())
        }
    })
}
