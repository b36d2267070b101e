//! Calls, steps, handlers, and undoing.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use rival_core::NodeStatus;
use rival_core::plan::{BackoffKind, OnTimeout, RetryPolicy, StepNode};
use serde_json::Value;

use super::time::{ModelScope, ScopeEnding};
use super::{CutCall, CutFate, ModelEnv, ModelFailure, ModelTie, ModelUndo, NodeEnd, RunModel};
use crate::script::{CallKey, ScriptPart, ScriptedEnd, ScriptedFailure, SeenByCall};

/// How long a handler may take.
const HANDLER_TIMEOUT: u64 = 300_000;
/// How often a compensation is tried.
const UNDO_ATTEMPTS: u32 = 3;
/// How many turns a child takes to start, and to start its first node.
const TURNS_OF_A_START: u32 = 8;
/// The longest time between two attempts: what the documents promise, apart from the machine's own constant.
const BACKOFF_MAX_MS: u64 = 300_000;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallResult {
    Returned {
        skipped: bool,
    },
    Failed(ScriptedFailure),
    /// With the failure of a durable operation.
    OpFailed(&'static str),
    /// It was told to stop and did, with an error.
    Told,
    TimedOut,
    /// It was cut short by a crash, and may not be made again.
    Interrupted,
    /// It was stopped or left behind.
    Killed,
}

/// What a call may and may not do.
pub(super) struct Terms<'s> {
    pub(super) timeout: Option<u64>,
    /// It is told to stop instead of being dropped.
    pub(super) listens: bool,
    /// The scope that it is in; `None` for a call that no scope stops.
    pub(super) scope: Option<&'s ModelScope>,
}

impl<'a> RunModel<'a> {
    /// Makes a call, which has its turn.
    pub(super) async fn call(&self, key: CallKey, terms: Terms<'_>) -> CallResult {
        let began = self.clock.now();
        let act = self.script.act(&key);
        let ends = act.does.map(|_| began + act.takes);
        let mut deadline = terms.timeout.map(|timeout| began + timeout);
        // A child that is started again is given the same, and has calls of the same names.
        let cuts = self.cuts.get(&key).map(Vec::as_slice).unwrap_or_default();
        // One that ended a call may have been of the child before, which was given the same.
        let of_another = self.clock.either();
        let mine = |cut: &&CutCall| cut.at >= began && !(of_another && cut.fate == CutFate::Cancelled);
        let mut cuts = cuts.iter().filter(mine).peekable();
        self.notes.borrow_mut().summary.calls.insert(key.clone());
        let told = || match terms.scope.and_then(ModelScope::ending) {
            Some((ScopeEnding::Stop | ScopeEnding::Kill, at)) => Some(at),
            Some((ScopeEnding::Settle, _)) | None => None,
        };
        let killed = || matches!(self.root.ending(), Some((ScopeEnding::Kill, _)));
        // It was cut short, and waits for its turn to be made again.
        let (mut held, mut since, mut paused) = (false, 0, false);
        // What else happens when a crash cuts it short may have had its turn before.
        let lag = if self.clock.either() { TURNS_OF_A_START } else { 0 };
        let mut turns_before_cut = lag;
        // Everything that starts at this moment has started before anything of it ends.
        self.clock.turn().await;
        let ended = poll_fn(|_| {
            let ending = terms.scope.and_then(ModelScope::ending);
            // At one moment the crash may come before or after what else happens: its fate tells.
            let fits = |cut: &CutCall| match cut.fate {
                CutFate::Again | CutFate::Interrupted => true,
                CutFate::Held => self.clock.paused.get(),
                CutFate::Cancelled => ending.is_some(),
            };
            let now = self.clock.now();
            if turns_before_cut > 0 && cuts.peek().is_some_and(|cut| cut.at == now && fits(cut)) {
                turns_before_cut -= 1;
                self.clock.changed();
                return Poll::Pending;
            }
            while let Some(cut) = cuts.next_if(|cut| self.clock.has_come(cut.at) && fits(cut)) {
                turns_before_cut = lag;
                // A run that finds itself past its timeout after a crash fails before anything else.
                self.keep_deadline();
                // Was it cut short because of a request, or did that come later?
                if cut.fate == CutFate::Cancelled && self.requests.contains(&cut.at) {
                    self.tie(ModelTie::Crash);
                }
                // Was it lost before something else that starts at the same moment did, or after?
                if cut.fate == CutFate::Interrupted && cut.at == began {
                    self.tie(ModelTie::Crash);
                }
                match cut.fate {
                    CutFate::Again | CutFate::Held => {
                        (held, since, paused) = (true, cut.at, cut.fate == CutFate::Held);
                    }
                    CutFate::Interrupted => return Poll::Ready(CallResult::Interrupted),
                    CutFate::Cancelled => return Poll::Ready(CallResult::Killed),
                }
            }
            if held {
                // What ends at the same moment came later: otherwise it would not have been made again. A pause had held it
                // by then.
                if ending.is_some_and(|(_, at)| at > since || paused) {
                    return Poll::Ready(CallResult::Killed);
                }
                if self.clock.paused.get() {
                    return Poll::Pending;
                }
                // It is made again, and has all its time again. Everything that was held starts before anything of it
                // ends.
                held = false;
                deadline = terms.timeout.map(|timeout| self.clock.now() + timeout);
                if self.clock.now() > since {
                    self.clock.changed();
                    return Poll::Pending;
                }
            }
            let now = self.clock.now();
            let ready = ends.is_some_and(|ends| ends <= now);
            let timed_out = deadline.is_some_and(|deadline| deadline <= now);
            if ready && (timed_out || told() == Some(now)) {
                self.tie(ModelTie::Stop);
                if self.clock.either() {
                    return Poll::Ready(if timed_out { CallResult::TimedOut } else { ended(act.does) });
                }
            }
            if told().is_none() && ends.is_some_and(|ends| self.clock.has_come(ends)) {
                return Poll::Ready(ended(act.does));
            }
            // Also what nothing else stops: compensations and handlers.
            if killed() {
                return Poll::Ready(CallResult::Killed);
            }
            if deadline.is_some_and(|deadline| self.clock.has_come(deadline)) {
                return Poll::Ready(CallResult::TimedOut);
            }
            match told() {
                None => Poll::Pending,
                Some(_) if !terms.listens => Poll::Ready(CallResult::Killed),
                Some(at) if self.clock.has_come(at + act.settles) => Poll::Ready(ended(act.does)),
                Some(_) if self.clock.has_come(terms.scope.map_or(0, ModelScope::patience)) => {
                    Poll::Ready(CallResult::Killed)
                }
                Some(_) => Poll::Pending,
            }
        })
        .await;
        let cut = self.cuts.get(&key).is_some_and(|cuts| cuts.iter().any(|cut| cut.at == self.clock.now()));
        let raced = cut || ended != CallResult::Killed || ends == Some(self.clock.now());
        if key.part != ScriptPart::Undo && raced {
            self.fact(&key.node[self.salt.len()..]);
        }
        self.clock.changed();
        ended
    }

    /// Calls a function that is neither a step nor a handler: once, and any error is for good.
    pub(super) async fn ask(
        &self,
        part: ScriptPart,
        turn: u32,
        node: &str,
        scope: &ModelScope,
        seen: &SeenByCall,
    ) -> Result<Value, NodeEnd> {
        if !self.clock.may_start(scope).await {
            return Err(NodeEnd::Stopped);
        }
        let key = self.key(node, part, turn, 1);
        let terms = Terms { timeout: None, listens: false, scope: Some(scope) };
        match self.call(key.clone(), terms).await {
            CallResult::Returned { .. } => Ok(self.script.value(&key, seen)),
            CallResult::Failed(fails) => Err(failed(fails.code(), node)),
            CallResult::Killed
            | CallResult::Interrupted
            | CallResult::Told
            | CallResult::OpFailed(_)
            | CallResult::TimedOut => Err(NodeEnd::Stopped),
        }
    }

    pub(super) async fn step(
        self: &Rc<Self>,
        step: &'a StepNode,
        node: &str,
        scope: &ModelScope,
        env: &ModelEnv,
    ) -> NodeEnd {
        let mut unknown = false;
        let mut attempt = 1;
        loop {
            let key = self.key(node, ScriptPart::Step, 0, attempt);
            let mut seen = env.seen();
            let called = if step.function == "durable" {
                let (called, answers) = self.call_durable(&key, node, scope).await;
                unknown |= answers.told;
                seen.joined = Some(Value::Array(answers.values));
                called
            } else {
                let listens = step.function == "listening";
                let terms = Terms { timeout: step.timeout_ms, listens, scope: Some(scope) };
                self.call(key.clone(), terms).await
            };
            unknown |= matches!(called, CallResult::TimedOut | CallResult::Interrupted | CallResult::Killed);
            // What failed after it was told to stop may have acted before.
            unknown |= matches!(scope.ending(), Some((ScopeEnding::Stop | ScopeEnding::Kill, _)));
            // What a crash cut short may have acted, whatever came of it when it was made again.
            unknown |= self.cuts.contains_key(&key);
            let (code, most) = match called {
                CallResult::Returned { skipped } => {
                    let value = self.script.value(&key, &seen);
                    return self.step_returned(step, node, attempt, value, skipped);
                }
                CallResult::Interrupted => ("interrupted", attempt),
                CallResult::Killed => {
                    self.step_over(step, node, unknown, NodeStatus::Cancelled, attempt);
                    return NodeEnd::Stopped;
                }
                CallResult::Told => ("told", attempt),
                CallResult::OpFailed(code) => (code, step.retry.max_attempts.unwrap_or(1)),
                CallResult::Failed(fails) => (fails.code(), attempts(fails, &step.retry, attempt)),
                CallResult::TimedOut => match step.on_timeout {
                    OnTimeout::Stop => ("timeout", attempt),
                    OnTimeout::Retry => ("timeout", step.retry.max_attempts.unwrap_or(1)),
                },
            };
            if attempt < most && scope.ending().is_none() {
                let again = self.clock.now() + backoff(called, &step.retry, attempt);
                if !self.clock.wait(again, scope).await {
                    self.note_stop_at(again, scope);
                    self.step_over(step, node, unknown, NodeStatus::Cancelled, attempt);
                    return NodeEnd::Stopped;
                }
                self.fact(node);
                attempt += 1;
                continue;
            }
            self.step_over(step, node, unknown, NodeStatus::Failed, attempt);
            let soft = step.continue_on_error || called == CallResult::Failed(ScriptedFailure::Continue);
            if step.on_error.is_some() {
                self.handler(node, scope).await;
            }
            return if soft { NodeEnd::Good(None, NodeStatus::Failed) } else { failed(code, node) };
        }
    }

    fn step_returned(
        &self,
        step: &'a StepNode,
        node: &str,
        attempt: u32,
        value: Value,
        skipped: bool,
    ) -> NodeEnd {
        let status = if skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
        self.node_ended(node, status, attempt, Some(&value));
        if !skipped {
            self.may_undo(step, node);
        }
        NodeEnd::Good(Some(value), status)
    }

    fn step_over(&self, step: &'a StepNode, node: &str, unknown: bool, status: NodeStatus, attempts: u32) {
        self.node_ended(node, status, attempts, None);
        if unknown {
            self.may_undo(step, node);
        }
    }

    fn may_undo(&self, step: &'a StepNode, node: &str) {
        if let Some(with) = &step.compensate {
            self.undo.borrow_mut().push(ModelUndo { node: node.to_owned(), at: self.clock.now(), with });
        }
    }

    /// Calls the handler of a node that failed; not if everything around it is ending.
    pub(super) async fn handler(&self, node: &str, scope: &ModelScope) {
        if self.clock.may_start(scope).await {
            let key = self.key(node, ScriptPart::Handler, 0, 1);
            let terms = Terms { timeout: Some(HANDLER_TIMEOUT), listens: false, scope: Some(scope) };
            self.call(key, terms).await;
        }
    }

    /// Calls the run's handler.
    pub(super) async fn last_handler(&self) {
        self.unpaused().await;
        if self.is_killed() {
            return;
        }
        let key = self.key("", ScriptPart::Handler, 0, 1);
        self.call(key, Terms { timeout: Some(HANDLER_TIMEOUT), listens: false, scope: None }).await;
    }

    /// Undoes everything that is to be undone, the last first.
    pub(super) async fn undo_all(&self) {
        self.undo_within("").await;
    }

    /// Undoes what was done under this path.
    pub(super) async fn undo_within(&self, lane: &str) {
        while !self.is_killed()
            && let Some(undo) = self.last_undo(lane)
        {
            self.undo_one(&undo).await;
        }
    }

    fn last_undo(&self, lane: &str) -> Option<ModelUndo<'a>> {
        let mut list = self.undo.borrow_mut();
        let at = list.iter().rposition(|undo| is_within(&undo.node, lane))?;
        // Of those that ended at one moment, any may be the last.
        let moment = list[at].at;
        let another = list.iter().position(|undo| undo.at == moment && is_within(&undo.node, lane));
        let undo = list.remove(another.filter(|_| self.clock.either()).unwrap_or(at));
        // Which of them is undone when a crash comes, which gives it all its time again, or a kill?
        let together = list.iter().any(|other| other.at == undo.at && is_within(&other.node, lane));
        let cut_short = self.may_be_killed || self.cuts.keys().any(|key| key.part == ScriptPart::Undo);
        if together && cut_short {
            self.tie(ModelTie::Undo);
        }
        Some(undo)
    }

    async fn undo_one(&self, undo: &ModelUndo<'a>) {
        let mut retry = undo.with.retry.clone();
        retry.max_attempts.get_or_insert(UNDO_ATTEMPTS);
        let retry = &retry;
        self.note_undone(undo);
        let mut attempt = 1;
        loop {
            self.unpaused().await;
            let key = self.key(&undo.node, ScriptPart::Undo, 0, attempt);
            let called = self
                .call(
                    key,
                    Terms {
                        timeout: Some(undo.with.timeout_ms.unwrap_or(HANDLER_TIMEOUT)),
                        listens: false,
                        scope: None,
                    },
                )
                .await;
            let most = match called {
                CallResult::Failed(fails) => attempts(fails, retry, attempt),
                CallResult::TimedOut => retry.max_attempts.unwrap_or(1),
                CallResult::Returned { .. }
                | CallResult::Told
                | CallResult::OpFailed(_)
                | CallResult::Interrupted
                | CallResult::Killed => return,
            };
            if attempt >= most {
                return;
            }
            let again = self.clock.now() + backoff(called, retry, attempt);
            poll_fn(|_| {
                let due = self.clock.has_come(again) && !self.clock.paused.get();
                if due || self.is_killed() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            if self.is_killed() {
                return;
            }
            attempt += 1;
        }
    }

    fn note_undone(&self, undo: &ModelUndo<'a>) {
        let mut notes = self.notes.borrow_mut();
        let lanes = notes.lost.iter().filter(|lane| is_within(&undo.node, lane));
        let lane = lanes.max_by_key(|lane| lane.len()).cloned().unwrap_or_default();
        notes.summary.undone.entry(lane).or_default().push((undo.at, undo.node.clone()));
    }

    async fn unpaused(&self) {
        poll_fn(|_| if self.clock.paused.get() { Poll::Pending } else { Poll::Ready(()) }).await;
    }
}

pub(super) fn ended(does: Option<ScriptedEnd>) -> CallResult {
    match does {
        Some(ScriptedEnd::Return) => CallResult::Returned { skipped: false },
        Some(ScriptedEnd::Skip) => CallResult::Returned { skipped: true },
        Some(ScriptedEnd::Fail(fails)) => CallResult::Failed(fails),
        None => CallResult::Told,
    }
}

pub(super) fn failed(code: &str, node: &str) -> NodeEnd {
    NodeEnd::Hard(ModelFailure { code: code.to_owned(), node: node.to_owned(), by: node.to_owned() })
}

/// How many attempts there may be in all, after this failure of one.
fn attempts(fails: ScriptedFailure, retry: &RetryPolicy, attempt: u32) -> u32 {
    let configured = retry.max_attempts;
    match fails {
        ScriptedFailure::Plain => configured.unwrap_or(1),
        ScriptedFailure::Stop | ScriptedFailure::Continue => attempt,
        ScriptedFailure::Retry { wanted, .. } => {
            wanted.or(configured).unwrap_or(1).min(configured.unwrap_or(u32::MAX))
        }
    }
}

fn backoff(called: CallResult, retry: &RetryPolicy, attempt: u32) -> u64 {
    let own = match called {
        CallResult::Failed(ScriptedFailure::Retry { backoff, .. }) => backoff,
        _ => None,
    };
    let configured = (retry.backoff == Some(BackoffKind::Exponential), retry.backoff_ms.unwrap_or(1_000));
    let (exponential, base) = own.unwrap_or(configured);
    let factor = if exponential { 1 << (attempt - 1) } else { u64::from(attempt) };
    (base * factor).min(BACKOFF_MAX_MS)
}

/// Whether a node is this one, or inside of it.
pub(super) fn is_within(node: &str, scope: &str) -> bool {
    scope.is_empty()
        || node.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}
