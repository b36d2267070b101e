//! Sleeps and signals.

use std::future::poll_fn;
use std::task::Poll;

use rival_core::NodeStatus;
use rival_core::plan::{SignalNode, SleepLength, SleepNode};
use serde_json::Value;

use super::call::failed;
use super::time::ModelScope;
use super::{ModelEnv, ModelTie, NodeEnd, RunModel};
use crate::lab::BEGAN;
use crate::script::ScriptPart;

impl RunModel<'_> {
    pub(super) async fn sleep(
        &self,
        sleep: &SleepNode,
        node: &str,
        scope: &ModelScope,
        env: &ModelEnv,
    ) -> NodeEnd {
        let until = match &sleep.wait {
            SleepLength::ForMs(ms) => self.clock.now() + ms,
            SleepLength::UntilMs(at) => u64::try_from(at - BEGAN.0).unwrap_or(0),
            SleepLength::Computed(_) => match self.ask(ScriptPart::Wait, 0, node, scope, &env.seen()).await {
                Ok(answer) => match self.moment(&answer) {
                    Some(until) => until,
                    None => return self.over(node, failed("not_json", node)),
                },
                Err(end) => return self.over(node, end),
            },
        };
        // One that is over when it begins ends with its beginning.
        let over = self.clock.has_come(until) && !self.clock.paused.get() && scope.ending().is_none();
        if !over {
            self.clock.turn().await;
        }
        if !over && (!self.clock.may_start(scope).await || !self.clock.wait(until, scope).await) {
            let stopped = !self.note_stop_at(until, scope);
            if stopped {
                return self.over(node, NodeEnd::Stopped);
            }
        }
        self.fact(node);
        self.over(node, NodeEnd::Good(None, NodeStatus::Completed))
    }

    /// A wait was stopped: at its own moment it might as well have ended. Gives whether it has.
    pub(super) fn note_stop_at(&self, until: u64, scope: &ModelScope) -> bool {
        let tied = scope.ending().is_some_and(|(_, at)| at == self.clock.now() && until <= at);
        if tied {
            self.tie(ModelTie::Stop);
        }
        tied && self.clock.either()
    }

    fn moment(&self, answer: &Value) -> Option<u64> {
        if let Some(ms) = answer.get("forMs").and_then(Value::as_u64) {
            return Some(self.clock.now() + ms);
        }
        let at = answer.get("untilMs").and_then(Value::as_i64)?;
        Some(u64::try_from(at - BEGAN.0).unwrap_or(0))
    }

    /// A user sends a signal.
    pub(super) fn send(&self, name: &str, id: &str, payload: &Value) {
        let mut signals = self.signals.borrow_mut();
        if !signals.ids.insert(id.to_owned()) {
            return;
        }
        signals.sent.entry(name.to_owned()).or_default().push_back((self.clock.now(), payload.clone()));
        self.clock.changed();
    }

    pub(super) async fn signal(&self, signal: &SignalNode, node: &str, scope: &ModelScope) -> NodeEnd {
        let until = signal.timeout_ms.map(|timeout| self.clock.now() + timeout);
        let waited = self.wait_for_signal(&signal.signal, until, scope).await;
        if waited.is_some() {
            self.fact(node);
        }
        let end = match waited {
            None => NodeEnd::Stopped,
            Some(Some(payload)) => NodeEnd::Good(Some(payload), NodeStatus::Completed),
            Some(None) if signal.timeout_is_value => NodeEnd::Good(None, NodeStatus::Completed),
            Some(None) => failed("signal_timeout", node),
        };
        self.over(node, end)
    }

    /// Waits for a signal; the inner `None` is a timeout, the outer one that the scope is ending.
    pub(super) async fn wait_for_signal(
        &self,
        name: &str,
        until: Option<u64>,
        scope: &ModelScope,
    ) -> Option<Option<Value>> {
        let number = self.listen(name);
        // What is there when the wait begins is taken with its beginning.
        let ready = !self.clock.paused.get() && scope.ending().is_none();
        if let Some(payload) = ready.then(|| self.take(name, number, until)).flatten() {
            self.stop_listening(name, number);
            return Some(Some(payload));
        }
        self.clock.turn().await;
        let mut held = false;
        let waited = poll_fn(|_| {
            if let Some((_, at)) = scope.ending() {
                // A signal that comes when the wait is stopped may have been taken before.
                if at == self.clock.now()
                    && self.clock.either()
                    && let Some(payload) = self.take(name, number, until)
                {
                    return Poll::Ready(Some(Some(payload)));
                }
                let ended = until.is_some_and(|until| self.note_stop_at(until, scope));
                return Poll::Ready(ended.then_some(None));
            }
            if self.clock.paused.get() {
                held = true;
                return Poll::Pending;
            }
            if std::mem::take(&mut held) {
                // What a pause held starts first.
                self.clock.changed();
                return Poll::Pending;
            }
            if let Some(payload) = self.take(name, number, until) {
                return Poll::Ready(Some(Some(payload)));
            }
            match until {
                Some(until) if self.clock.has_come(until) => Poll::Ready(Some(None)),
                _ => Poll::Pending,
            }
        })
        .await;
        self.stop_listening(name, number);
        waited
    }

    fn listen(&self, name: &str) -> u64 {
        let mut signals = self.signals.borrow_mut();
        signals.next += 1;
        let number = signals.next;
        let now = self.clock.now();
        // Two that begin to wait at one moment: which is the older?
        let together = signals.began.insert(name.to_owned(), now) == Some(now);
        if together {
            self.tie(ModelTie::Waits);
        }
        let waiting = signals.waiting.entry(name.to_owned()).or_default();
        let last = if together && self.clock.either() { waiting.pop_back() } else { None };
        waiting.push_back(number);
        waiting.extend(last);
        number
    }

    /// The oldest wait takes the oldest signal, if that was sent in time.
    fn take(&self, name: &str, number: u64, until: Option<u64>) -> Option<Value> {
        let mut signals = self.signals.borrow_mut();
        let first = signals.waiting.get(name).and_then(|waiting| waiting.front()) == Some(&number);
        if !first {
            return None;
        }
        let sent = signals.sent.get_mut(name)?;
        let (_, payload) = sent.pop_front_if(|(at, _)| until.is_none_or(|until| *at < until))?;
        Some(payload)
    }

    fn stop_listening(&self, name: &str, number: u64) {
        if let Some(waiting) = self.signals.borrow_mut().waiting.get_mut(name) {
            waiting.retain(|other| *other != number);
        }
        self.clock.changed();
    }
}
