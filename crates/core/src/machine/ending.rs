//! Ends that are not completion: failing, timing out, cancelling.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | going on | a node fails, nothing runs, no handler | `RunFailed` |
//! | going on | a node fails, or the run times out | `RunFailing`; calls are told to stop, waits are cancelled |
//! | going on | cancel is asked for | `CancelRequested`; calls are told to stop, waits are cancelled |
//! | ending, all settled | there is something to undo | it is undone, see `undo` |
//! | failing, all undone | there is a handler | the handler is called, once |
//! | failing, all undone | there is none, or it has ended | `RunFailed` |
//! | cancelling, all undone | | `RunCancelled` |
//! | ending | the grace period is over | calls are left behind: `CallCancelled` with `forced` |
//! | ending | cancel or pause is asked for | nothing: the end is decided |
//! | any | kill is asked for | `CancelRequested` with `kill`; calls are left behind, nothing is undone |
//! | the last node has ended | lanes that lost, or children without a waiter, have not settled | nothing until they have |

use super::{CommitExtra, Effect, GRACE_MS, Machine, StopReason};
use crate::event::{CallRole, DueCall, EventCause, EventKind, ExternalCause};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{BlockOrder, Node};
use crate::state::{HardFailure, RunEnding, TimerKind};

impl Machine<'_> {
    /// A node of the outermost block failed, so the run fails. The node that began it may lie deeper.
    pub(super) fn node_fails_run(&mut self, failed: &Path, cause: Seq) {
        let Some(HardFailure { failure, origin }) =
            self.state.node(failed).and_then(|node| node.hard.clone())
        else {
            return self.broken(failed, "a node fails the run and has no failure");
        };
        let node = Some(origin);
        let settled = self.nothing_open()
            && self.plan.plan().on_error.is_none()
            && !self.state.undo.any_within(&Path::root());
        if settled {
            self.run_failed(failure, node, cause);
        } else {
            self.fail_run(failure, node, EventCause::Event(cause));
        }
    }

    /// Fails the run if its deadline has come. Asked before anything else that time may lead to, so that
    /// nothing starts in a run that is over.
    pub(super) fn keep_deadline(&mut self) {
        let due = self.state.due_timers(self.env.now);
        let Some(timer) = due.into_iter().find(|timer| timer.kind == TimerKind::RunDeadline) else { return };
        let ms = timer.at.ms_since(self.state.started_at);
        let failure = FailureRecord::new(code::RUN_TIMEOUT, format!("the run took longer than {ms} ms"));
        self.fail_run(failure, None, EventCause::Outside(ExternalCause::Clock));
    }

    fn fail_run(&mut self, failure: FailureRecord, node: Option<Path>, cause: EventCause) {
        let force_at = self.env.now.plus_ms(GRACE_MS);
        let seq = self.emit(EventKind::RunFailing { failure, node, force_at }, cause);
        self.cancel_within(&Path::root(), seq);
    }

    pub(super) fn cancel(&mut self, reason: Option<String>) {
        if self.state.ending.is_some() {
            return;
        }
        let force_at = self.env.now.plus_ms(GRACE_MS);
        let cause = EventCause::Outside(ExternalCause::Request);
        let seq = self.emit(EventKind::CancelRequested { reason, force_at, kill: false }, cause);
        self.cancel_within(&Path::root(), seq);
        // What a pause held and is not cancelled belongs to the end: compensations.
        self.release_held(seq);
    }

    pub(super) fn kill(&mut self, reason: Option<String>) {
        let event = EventKind::CancelRequested { reason, force_at: self.env.now, kill: true };
        let seq = self.emit(event, EventCause::Outside(ExternalCause::Request));
        self.cancel_within(&Path::root(), seq);
        self.force_end_calls(&Path::root());
        self.force_end_handler();
    }

    fn force_end_handler(&mut self) {
        let root = Path::root();
        // The handler is not at work.
        let Some(open) = self.state.node(&root).and_then(|node| node.open_call().cloned()) else { return };
        let (call, why) = (open.number, StopReason::Ending);
        self.decision.effects.push(Effect::Stop { node: root.clone(), call, why });
        let event = EventKind::CallCancelled { node: root, call, forced: true, state: None };
        self.emit(event, EventCause::Outside(ExternalCause::Request));
    }

    /// The run's own block is through.
    pub(super) fn run_block_completed(&mut self, output: Option<Seq>, cause: Seq) {
        if self.state.scopes.is_empty() && self.nothing_open() {
            let not_undone = self.state.undo.failed().to_vec();
            let has_triggers = !self.plan.plan().triggers.is_empty();
            let triggers = has_triggers.then(|| self.env.run.triggers());
            self.decision.extras.extend(triggers.clone().map(CommitExtra::Triggers));
            self.emit(EventKind::RunCompleted { output, not_undone, triggers }, cause);
        }
    }

    /// The last lane that had lost, or the last child, may have settled after everything else was through.
    pub(super) fn complete_run_if_done(&mut self) {
        if !self.state.scopes.is_empty() {
            return;
        }
        let Some(block) = self.plan.block(&Path::root()) else {
            return self.broken(&Path::root(), "the plan has no block");
        };
        let ended = |node: &Node| {
            let path = Path::root().child(&node.id);
            self.is_done(&path).then(|| self.state.node(&path).and_then(|node| node.result))
        };
        let output = match block.order() {
            BlockOrder::Sequence => block.last().and_then(ended),
            BlockOrder::Graph | BlockOrder::Phases if block.sinks().any(|node| ended(node).is_none()) => None,
            BlockOrder::Graph | BlockOrder::Phases if block.sinks().len() == 1 => {
                block.sinks().next().and_then(ended)
            }
            // Not joined yet: the end of the last of them is still to be told, and completes the run.
            BlockOrder::Graph | BlockOrder::Phases => {
                self.state.node(&Path::root()).and_then(|root| root.joined).map(Some)
            }
        };
        if let Some(output) = output {
            self.run_block_completed(output, self.state.seq);
        }
    }

    /// Takes the next step towards an end that is coming. Gives whether there was one to take.
    pub(super) fn end_run(&mut self) -> bool {
        if self.state.is_terminal() || !self.nothing_open() {
            return false;
        }
        let cause = self.state.seq;
        if self.state.ending.is_some() && !self.state.killed {
            // One at a time; it may be held or blocked.
            if self.state.undo.is_under_way() {
                return false;
            }
            if self.undo_next(&Path::root(), cause) {
                return true;
            }
        }
        match self.state.ending.clone() {
            None => false,
            Some(RunEnding::Cancelling { reason }) => {
                self.end_supervisors(&Path::root(), cause);
                let not_undone = self.state.undo.failed().to_vec();
                self.emit(EventKind::RunCancelled { reason, not_undone }, cause);
                true
            }
            Some(RunEnding::Failing { failure, node }) => {
                let root = self.state.node(&Path::root());
                let waits = root.is_some_and(|root| root.due().is_some());
                let handled = root.is_some_and(|root| root.calls > 0);
                if waits && !self.state.killed {
                    return false;
                }
                if self.plan.plan().on_error.is_some() && !handled && !self.state.killed {
                    self.begin_call(&Path::root(), DueCall { role: CallRole::OnError, attempt: 1 }, cause);
                    return true;
                }
                self.end_supervisors(&Path::root(), cause);
                self.run_failed(failure, node, cause);
                true
            }
        }
    }

    /// The terminal event. A run with automatic retries left names the run that goes on; the engine starts
    /// that run in the same commit.
    fn run_failed(&mut self, failure: FailureRecord, node: Option<Path>, cause: Seq) {
        // A step that must not be called again may have acted: whether to go on is for people to say.
        let retry = self.state.retries_left > 0 && failure.code != code::INTERRUPTED && !self.state.killed;
        let retried_as = retry.then(|| self.env.run.next_retry());
        let not_undone = self.state.undo.failed().to_vec();
        self.emit(EventKind::RunFailed { failure, node, retried_as, not_undone }, cause);
    }

    fn nothing_open(&self) -> bool {
        self.state.index().calls.is_empty()
            && self.state.index().waits.is_empty()
            && !self.state.children_open_within(&Path::root())
    }
}
