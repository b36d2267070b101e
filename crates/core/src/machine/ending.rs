//! Ends that are not completion: failing, timing out, cancelling.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | going on | a node fails, nothing runs, no handler | `RunFailed` |
//! | going on | a node fails, or the run times out | `RunFailing`; calls are told to stop, waits are cancelled |
//! | going on | cancel is asked for | `CancelRequested`; calls are told to stop, waits are cancelled |
//! | failing, all settled | there is a handler | the handler is called, once |
//! | failing, all settled | there is none, or it has ended | `RunFailed` |
//! | cancelling, all settled | | `RunCancelled` |
//! | ending | the grace period is over | calls are left behind: `CallCancelled` with `forced` |
//! | ending | cancel or pause is asked for | nothing: the end is decided |

use super::{Effect, GRACE_MS, Machine, StopReason};
use crate::event::{Cause, Due, Kind, Outside, Role};
use crate::failure::{Failure, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::state::{Ending, HardFailure, TimerKind};
use crate::status::NodeStatus;

impl Machine<'_> {
    /// A node of the outermost block failed, so the run fails. The node that began it may lie deeper.
    pub(super) fn node_fails_run(&mut self, failed: &Path, cause: Seq) {
        let Some(HardFailure { failure, origin }) =
            self.state.node(failed).and_then(|node| node.hard.clone())
        else {
            return;
        };
        let node = Some(origin);
        let settled = self.nothing_open() && self.plan.plan().on_error.is_none();
        if settled {
            self.run_failed(failure, node, cause);
        } else {
            self.fail_run(failure, node, Cause::Event(cause));
        }
    }

    /// Fails the run if its deadline has come. Asked before anything else that time may lead to, so that
    /// nothing starts in a run that is over.
    pub(super) fn keep_deadline(&mut self) {
        let due = self.state.due_timers(self.env.now);
        let Some(timer) = due.into_iter().find(|timer| timer.kind == TimerKind::RunDeadline) else { return };
        let ms = timer.at.ms_since(self.state.started_at);
        let failure = Failure::new(code::RUN_TIMEOUT, format!("the run took longer than {ms} ms"));
        self.fail_run(failure, None, Cause::Outside(Outside::Clock));
    }

    fn fail_run(&mut self, failure: Failure, node: Option<Path>, cause: Cause) {
        let force_at = self.env.now.plus_ms(GRACE_MS);
        let seq = self.emit(Kind::RunFailing { failure, node, force_at }, cause);
        self.stop_everything(seq);
    }

    pub(super) fn cancel(&mut self, reason: Option<String>) {
        if self.state.ending.is_some() {
            return;
        }
        let force_at = self.env.now.plus_ms(GRACE_MS);
        let cause = Cause::Outside(Outside::Request);
        let seq = self.emit(Kind::CancelRequested { reason, force_at }, cause);
        self.stop_everything(seq);
    }

    /// Tells calls to stop and ends what only waits, the innermost first.
    fn stop_everything(&mut self, cause: Seq) {
        for node in self.state.calls.iter().rev() {
            let Some(call) = self.state.node(node).and_then(|node| node.call.as_ref()) else { continue };
            let stop = Effect::Stop { node: node.clone(), call: call.number, why: StopReason::Ending };
            self.turn.effects.push(stop);
        }
        let idle = [&self.state.waits, &self.state.held, &self.state.blocked];
        let idle: Vec<Path> = idle.into_iter().flatten().filter(|node| !node.is_root()).cloned().collect();
        for node in idle.into_iter().rev() {
            self.follow(Kind::NodeCancelled { node }, cause);
        }
        self.stop_ops_within(&Path::root(), cause);
    }

    /// The grace period is over.
    pub(super) fn leave_calls_behind(&mut self) {
        let calls: Vec<Path> = self.state.calls.iter().filter(|node| !node.is_root()).cloned().collect();
        for node in calls.into_iter().rev() {
            let Some(open) = self.state.node(&node).and_then(|node| node.call.clone()) else { continue };
            let event = Kind::CallCancelled { node, call: open.number, forced: true };
            self.emit(event, Cause::Outside(Outside::Clock));
        }
        self.leave_children_behind(&Path::root());
    }

    /// Takes the next step towards an end that is coming. Gives whether there was one to take.
    pub(super) fn come_to_an_end(&mut self) -> bool {
        if self.state.is_terminal() || !self.nothing_open() {
            return false;
        }
        let cause = self.state.seq;
        match self.state.ending.clone() {
            None => self.complete_after_children(cause),
            Some(Ending::Cancelling { reason }) => {
                self.end_supervisors(cause);
                self.follow(Kind::RunCancelled { reason }, cause);
                true
            }
            Some(Ending::Failing { failure, node }) => {
                let root = self.state.node(&Path::root());
                let waits = root.is_some_and(|root| root.due.is_some());
                let handled = root.is_some_and(|root| root.calls > 0);
                if waits {
                    return false;
                }
                if self.plan.plan().on_error.is_some() && !handled {
                    self.begin_call(&Path::root(), Due { role: Role::OnError, attempt: 1 }, cause);
                    return true;
                }
                self.end_supervisors(cause);
                self.run_failed(failure, node, cause);
                true
            }
        }
    }

    /// The outermost block is done; children that nobody waits for any more end first.
    pub(super) fn complete_run(&mut self, output: Option<Seq>, cause: Seq) {
        self.stop_abandoned();
        if !self.state.children_open_within(&Path::root()) {
            self.follow(Kind::RunCompleted { output }, cause);
        }
    }

    /// The run's last node has ended before, and the last child now.
    fn complete_after_children(&mut self, cause: Seq) -> bool {
        let Some(last) = self.plan.plan().block.nodes.last() else { return false };
        let Some(last) = self.state.node(&Path::root().child(&last.id)) else { return false };
        let well = match last.status {
            NodeStatus::Completed | NodeStatus::Skipped => true,
            NodeStatus::Failed => last.soft,
            _ => false,
        };
        let idle = self.state.held.is_empty() && self.state.blocked.is_empty();
        if well && idle {
            let output = last.result;
            self.follow(Kind::RunCompleted { output }, cause);
        }
        well && idle
    }

    /// The terminal event. A run with automatic retries left names the run that goes on; the engine starts
    /// that run in the same commit.
    fn run_failed(&mut self, failure: Failure, node: Option<Path>, cause: Seq) {
        // A step that must not be called again may have acted: whether to go on is for people to say.
        let retry = self.state.retries_left > 0 && failure.code != code::INTERRUPTED;
        let retried_as = retry.then(|| self.env.run.next_retry());
        self.follow(Kind::RunFailed { failure, node, retried_as }, cause);
    }

    fn end_supervisors(&mut self, cause: Seq) {
        let open: Vec<Path> = self.state.supervising.iter().filter(|node| !node.is_root()).cloned().collect();
        for node in open.into_iter().rev() {
            self.follow(Kind::NodeCancelled { node }, cause);
        }
    }

    fn nothing_open(&self) -> bool {
        self.state.calls.is_empty()
            && self.state.waits.is_empty()
            && !self.state.children_open_within(&Path::root())
    }
}
