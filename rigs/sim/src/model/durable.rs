//! Steps that wait inside of durable operations, and the children that they start.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use rival_core::RunStatus;
use serde_json::{Value, json};

use super::call::{CallResult, ended};
use super::time::{ModelScope, ScopeEnding};
use super::{CutFate, ModelEnv, ModelRequest, ModelTie, RunModel};
use crate::ops::{ScriptedOp, child_input};
use crate::script::CallKey;

/// Everything around the call is ending, or it was stopped.
struct Stopped;

/// What the operations of a call answered.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) values: Vec<Value>,
    /// One was refused, because everything around the call is ending.
    pub(super) told: bool,
}

impl<'a> RunModel<'a> {
    /// Makes a call that asks for operations. Gives how it ended, and what the operations answered.
    pub(super) async fn call_durable(
        self: &Rc<Self>,
        key: &CallKey,
        node: &str,
        scope: &ModelScope,
    ) -> (CallResult, Answers) {
        self.notes.borrow_mut().summary.calls.insert(key.clone());
        self.clock.turn().await;
        let mut answers = Answers::default();
        let called = match self.ask_all(key, node, scope, &mut answers).await {
            Ok(Ok(())) => ended(self.script.act(key).does),
            Ok(Err(code)) => CallResult::OpFailed(code),
            // With what ended it, and at the same moment: the two do not race.
            Err(Stopped) => return (CallResult::Killed, Answers::default()),
        };
        self.fact(node);
        self.clock.changed();
        (called, answers)
    }

    async fn ask_all(
        self: &Rc<Self>,
        key: &CallKey,
        node: &str,
        scope: &ModelScope,
        answers: &mut Answers,
    ) -> Result<Result<(), &'static str>, Stopped> {
        let ops = self.script.ops(&key.node);
        for (n, op) in ops.iter().enumerate() {
            self.work(key, self.script.pause(key, n), scope).await?;
            let place = (node.to_owned(), n);
            // What succeeded in an earlier attempt is kept.
            let kept = self.kept.borrow().get(&place).cloned();
            let answer = match (kept, op) {
                (Some(answer), ScriptedOp::Race(racers)) => {
                    // The one that won wins again at once; the others begin, and are dropped at the same moment.
                    if racers.contains(&ScriptedOp::Run) {
                        self.tie(ModelTie::Race);
                    }
                    // In what is ending they are refused at that moment, and the refusal may be seen first.
                    let waits =
                        racers.iter().filter(|racer| !matches!(racer, ScriptedOp::Once { .. })).count();
                    if scope.ending().is_some() && waits > 1 {
                        answers.told = true;
                        if self.clock.either() {
                            return Err(Stopped);
                        }
                    }
                    Ok(answer)
                }
                (Some(answer), _) => Ok(answer),
                (None, ScriptedOp::Race(racers)) => self.race(key, node, n, racers, scope).await?,
                (None, op) => self.ask_op(key, node, &n.to_string(), op, scope).await?,
            };
            match answer {
                Ok(answer) => {
                    self.kept.borrow_mut().insert(place, answer.clone());
                    answers.values.push(answer);
                }
                Err(code) => return Ok(Err(code)),
            }
        }
        self.work(key, self.script.pause(key, ops.len()), scope).await?;
        Ok(Ok(()))
    }

    /// Works for a while. That goes on while everything around settles.
    async fn work(&self, key: &CallKey, takes: u64, scope: &ModelScope) -> Result<(), Stopped> {
        let end = self.clock.now() + takes;
        let began = self.clock.now();
        let cuts = self.cuts.get(key).map(Vec::as_slice).unwrap_or_default();
        poll_fn(|_| {
            let ending = scope.ending();
            let mut cuts = cuts.iter().filter(|cut| cut.at >= began);
            let cut = cuts.any(|cut| cut.fate == CutFate::Cancelled && self.clock.has_come(cut.at));
            match ending {
                Some((ScopeEnding::Stop | ScopeEnding::Kill, _)) => {
                    let ended = self.note_stop_at(end, scope);
                    return Poll::Ready(if ended { Ok(()) } else { Err(Stopped) });
                }
                Some(_) if cut => return Poll::Ready(Err(Stopped)),
                _ => {}
            }
            if self.clock.has_come(end) { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await
    }

    /// The first of several operations. What the others wait for ends with that: no signal is taken for them, and
    /// their children are cancelled.
    async fn race(
        self: &Rc<Self>,
        key: &CallKey,
        node: &str,
        n: usize,
        racers: &[ScriptedOp],
        scope: &ModelScope,
    ) -> Result<Result<Value, &'static str>, Stopped> {
        let (inside, began) = (ModelScope::run(), self.clock.now());
        let places: Vec<String> = (0..racers.len()).map(|racer| format!("{n}.{racer}")).collect();
        let mut racing: Vec<_> = racers
            .iter()
            .zip(&places)
            .map(|(racer, at)| Some(Box::pin(self.ask_op(key, node, at, racer, &inside))))
            .collect();
        let mut winner = None;
        poll_fn(|context| {
            if let Some((ending, _)) = scope.ending() {
                inside.end(ending, &self.clock);
            }
            for place in self.clock.sequence(racing.len()) {
                let Some(racer) = &mut racing[place] else { continue };
                let Poll::Ready(end) = racer.as_mut().poll(context) else { continue };
                racing[place] = None;
                match &winner {
                    None => winner = Some((place, end)),
                    // Two at one moment.
                    Some((_, Ok(_))) if end.is_ok() => self.tie(ModelTie::Race),
                    Some(_) => {}
                }
            }
            if winner.is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        // A child that is cancelled when it begins has begun, or not.
        if self.clock.now() == began && racers.contains(&ScriptedOp::Run) {
            self.tie(ModelTie::Race);
        }
        // Whatever else ends at this moment might have come first.
        for _ in 0..3 {
            self.clock.turn().await;
            poll_fn(|context| {
                for slot in &mut racing {
                    let Some(racer) = slot else { continue };
                    if let Poll::Ready(end) = racer.as_mut().poll(context) {
                        *slot = None;
                        if end.is_ok() {
                            self.tie(ModelTie::Race);
                        }
                    }
                }
                Poll::Ready(())
            })
            .await;
        }
        inside.end(ScopeEnding::Stop, &self.clock);
        for racer in racing.into_iter().flatten() {
            // It is told, and lets go of what it waits for.
            let _ = racer.await;
        }
        let Some((won, end)) = winner else { return Err(Stopped) };
        Ok(end?.map(|with| json!({ "won": won, "with": with })))
    }

    async fn ask_op(
        self: &Rc<Self>,
        key: &CallKey,
        node: &str,
        n: &str,
        op: &ScriptedOp,
        scope: &ModelScope,
    ) -> Result<Result<Value, &'static str>, Stopped> {
        // Nothing new starts in what is ending: the step is told so, and passes it on.
        if scope.ending().is_some() && !matches!(op, ScriptedOp::Once { .. }) {
            return Err(Stopped);
        }
        let answer = match op {
            // They do not nest.
            ScriptedOp::Race(_) => return Err(Stopped),
            ScriptedOp::Once { takes } => {
                self.work(key, *takes, scope).await?;
                Ok(json!(format!("once {n}")))
            }
            ScriptedOp::Sleep(ms) => {
                let until = self.clock.now() + ms;
                if !self.clock.wait(until, scope).await && !self.note_stop_at(until, scope) {
                    return Err(Stopped);
                }
                Ok(Value::Null)
            }
            ScriptedOp::Signal { name, timeout, value } => {
                let until = Some(self.clock.now() + timeout);
                match self.wait_for_signal(name, until, scope).await {
                    None => return Err(Stopped),
                    Some(Some(payload)) => Ok(payload),
                    Some(None) if *value => Ok(Value::Null),
                    Some(None) => Err("signal_timeout"),
                }
            }
            ScriptedOp::Run => {
                let child = self.start_child(node, child_input(&key.node, n, None));
                self.children_end(&[child], scope).await?.remove(0)
            }
            ScriptedOp::Map { items, window, collect } => {
                self.map(key, node, n, (*items, *window, *collect), scope).await?
            }
        };
        self.fact(node);
        Ok(answer)
    }

    async fn map(
        self: &Rc<Self>,
        key: &CallKey,
        node: &str,
        n: &str,
        (items, window, collect): (usize, u32, bool),
        scope: &ModelScope,
    ) -> Result<Result<Value, &'static str>, Stopped> {
        let mut children: Vec<Rc<Self>> = Vec::new();
        loop {
            let open = children.iter().filter(|child| child.child_end().is_none()).count();
            let failed = children.iter().any(|child| matches!(child.child_end(), Some(Err(_))));
            if failed && !collect {
                // A child that begins, or goes on, at the moment at which it is cancelled may have been faster.
                if children.iter().any(|child| child.child_end().is_none() && child.moves_now()) {
                    self.tie(ModelTie::Children);
                }
                children.iter().for_each(|child| child.cancel());
            } else if children.len() < items && open < window as usize {
                let input = child_input(&key.node, n, Some(children.len()));
                children.push(self.start_child(node, input));
                continue;
            }
            if open == 0 {
                break;
            }
            self.a_child_ends(&children, open, scope).await?;
        }
        let ends: Vec<Result<Value, &'static str>> =
            children.iter().filter_map(|child| child.child_end()).collect();
        if !collect && ends.iter().any(Result::is_err) {
            return Ok(Err("child_failed"));
        }
        let shown = ends.into_iter().map(|end| end.unwrap_or_else(|code| json!({ "code": code })));
        Ok(Ok(shown.collect()))
    }

    async fn children_end(
        &self,
        children: &[Rc<Self>],
        scope: &ModelScope,
    ) -> Result<Vec<Result<Value, &'static str>>, Stopped> {
        self.a_child_ends(children, children.len(), scope).await?;
        Ok(children.iter().filter_map(|child| child.child_end()).collect())
    }

    /// Waits until fewer than `open` are at work. If that is not to be waited for, they are cancelled.
    async fn a_child_ends(
        &self,
        children: &[Rc<Self>],
        open: usize,
        scope: &ModelScope,
    ) -> Result<(), Stopped> {
        let waited = poll_fn(|_| {
            let still = children.iter().filter(|child| child.child_end().is_none()).count();
            if scope.ending().is_some() {
                // A child has ended at the same moment.
                if still < open {
                    self.tie(ModelTie::Stop);
                }
                // The step ends now if it was suspended, and with its children if not; what is undone first follows.
                if matches!(scope.ending(), Some((ScopeEnding::Settle, _))) {
                    self.tie(ModelTie::Children);
                }
                return Poll::Ready(Err(Stopped));
            }
            if still + 1 < open {
                self.tie(ModelTie::Children);
            }
            if still < open { Poll::Ready(Ok(())) } else { Poll::Pending }
        })
        .await;
        if waited.is_err() {
            children.iter().for_each(|child| if self.is_killed() { child.kill() } else { child.cancel() });
        }
        waited
    }

    fn start_child(self: &Rc<Self>, node: &str, input: Value) -> Rc<Self> {
        let salt = format!("{}:", input.as_str().unwrap_or_default());
        let number = self.family.borrow().len() as u64 + 1;
        let child = Rc::new(Self {
            plan: self.child_plan,
            child_plan: self.child_plan,
            script: self.script,
            cuts: self.cuts,
            clock: Rc::clone(&self.clock),
            requests: Rc::clone(&self.requests),
            may_be_killed: self.may_be_killed,
            salt,
            number,
            began: self.clock.now(),
            parent: Some(self.number),
            family: Rc::clone(&self.family),
            root: ModelScope::run(),
            asked: Cell::new(None),
            notes: std::cell::RefCell::default(),
            undo: std::cell::RefCell::default(),
            signals: std::cell::RefCell::default(),
            kept: std::cell::RefCell::default(),
        });
        self.family.borrow_mut().push((input.as_str().unwrap_or_default().to_owned(), Rc::clone(&child)));
        let env = ModelEnv { input, last: None, iteration: None };
        // The parent ends when its children have.
        self.clock.spawn(self.number, node, child.run(env));
        child
    }

    /// Something happens in it at this moment.
    fn moves_now(&self) -> bool {
        let (now, notes) = (self.clock.now(), self.notes.borrow());
        self.began == now || (notes.moment == now && !notes.facts.is_empty())
    }

    fn child_end(&self) -> Option<Result<Value, &'static str>> {
        let notes = self.notes.borrow();
        Some(match notes.summary.status? {
            RunStatus::Completed => Ok(notes.summary.output.clone().unwrap_or(Value::Null)),
            RunStatus::Cancelled => Err("child_cancelled"),
            _ => Err("child_failed"),
        })
    }

    /// Ends the run at once, with its children.
    pub(super) fn kill(&self) {
        if self.notes.borrow().summary.status.is_some() {
            return;
        }
        self.cancel();
        self.root.end(ScopeEnding::Kill, &self.clock);
        for (_, child) in self.family.borrow().iter().filter(|(_, child)| child.parent == Some(self.number)) {
            child.kill();
        }
    }

    pub(super) fn is_killed(&self) -> bool {
        matches!(self.root.ending(), Some((ScopeEnding::Kill, _)))
    }

    /// Asks the run to cancel.
    pub(super) fn cancel(&self) {
        if self.root.ending().is_none() && self.notes.borrow().summary.status.is_none() {
            self.asked.set(Some(ModelRequest::Cancel));
            self.root.end(ScopeEnding::Stop, &self.clock);
        }
    }
}
