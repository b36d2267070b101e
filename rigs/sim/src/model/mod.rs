//! The reference: what a run must come to, computed without events, folds or machines.
//!
//! It walks the plan in virtual time, one function per kind of node, and knows the semantics only from the
//! documents. It shares nothing with the engine but the plan and the script of the world.
//!
//! What the documents leave open is decided here as follows.
//!
//! | case | decision |
//! | --- | --- |
//! | a call settles in a block that fails, with an error and attempts left | the node has failed; there is no other attempt |
//! | … and has a handler | it is not called: nothing new starts |
//! | a supervisor in a scope that ends | it is cancelled, also if its last node settles well |
//! | a branch fails where the first, or n, win | it is undone with the run, unless enough win: then at once |
//! | losers settle inside of a block that fails | it fails when they have settled too |
//! | a durable operation is asked for while all around is ending | it fails with `cancelled`; something done once is done |
//! | a run is cancelled while losers settle | they have their grace period again, from then on |
//! | a signal that was sent after a wait's deadline, in a paused run | comes too late |
//! | n can no longer be reached | the block fails as others do; the failed step is the one that made it so |
//! | a call of a step timed out, was killed or cut short by a crash, and none succeeded | its outcome is unknown: it is undone |
//! | a step failed after it was told to stop | the same |
//! | a step that was skipped, or failed with its own error before it was told to stop | is not undone |
//! | an attempt to undo times out | it is tried again while attempts remain |
//! | `choose` says false, and there is neither `else` nor a default | the branch completes with null |
//! | a paused run is cancelled | what it has done is undone all the same |
//! | the last node is done and losers still settle | the run has not ended; a cancel cancels it |
//!
//! Where two things happen at one moment, it does what `docs/semantics.md` says of moments. What that leaves open is a
//! [`ModelTie`].

mod block;
mod call;
mod durable;
mod supervisor;
mod time;
mod wait;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use rival_core::plan::{CompensationSpec, Plan};
use rival_core::{NodeStatus, RunStatus};
use serde_json::Value;

use self::time::{ModelClock, ModelScope, ModelTask, ScopeEnding};
use crate::outside::{ActionKind, OutsideAction};
use crate::script::{CallKey, NodeBefore, ScriptPart, SeedScript, SeenByCall};
use crate::summary::{NodeSummary, TrialSummary};

/// A call that a crash cut short, as the history tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutCall {
    /// When, in milliseconds after the run's start.
    pub at: u64,
    /// What became of it.
    pub fate: CutFate,
}

/// What became of a call that was cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutFate {
    /// It was made again.
    Again,
    /// It was made again when the run was no longer paused.
    Held,
    /// It was not to be made again, and the node failed.
    Interrupted,
    /// Everything around it was ending, and it counts as cancelled.
    Cancelled,
}

/// The calls that crashes cut short. They happen by chance, so the model is told.
pub type CutCalls = BTreeMap<CallKey, Vec<CutCall>>;

/// What the model says.
#[derive(Debug)]
pub struct ModelPrediction {
    /// What the run comes to.
    pub summary: TrialSummary,
    /// What its children come to, by what they are given, in the order in which they are started.
    pub children: BTreeMap<String, Vec<TrialSummary>>,
    /// Things happened at one moment whose order nothing decides.
    pub ties: BTreeSet<ModelTie>,
}

/// Things that happen at one moment in an order that nothing decides: the run may come to either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelTie {
    /// Something ends, or begins to end, in two lanes that run side by side.
    SideBySide,
    /// Something ends when a request comes, or the run's timeout.
    Request,
    /// A call or a wait ends when it is stopped or times out.
    Stop,
    /// Two waits for one signal begin.
    Waits,
    /// A crash comes when something else happens.
    Crash,
    /// All branches of a race end when it begins, or two operations that race end.
    Race,
    /// Several children end, or a step in a failing block waits for one: it ends at once if it was suspended, or with it.
    Children,
    /// Steps that ended together are undone, and it matters which comes first.
    Undo,
}

impl ModelTie {
    /// What it is called in the figures.
    pub fn word(self) -> &'static str {
        match self {
            Self::SideBySide => "side by side",
            Self::Request => "request",
            Self::Stop => "stop",
            Self::Waits => "waits",
            Self::Crash => "crash",
            Self::Race => "race",
            Self::Children => "children",
            Self::Undo => "undo",
        }
    }
}

/// What must come of a run of a plan, with children of another, if things of one moment happen in this order: 0 is the
/// usual one.
pub fn predict(
    plans: [&Plan; 2],
    script: &SeedScript,
    input: &Value,
    actions: &[OutsideAction],
    cuts: &CutCalls,
    order: u64,
) -> ModelPrediction {
    let [plan, child_plan] = plans;
    let model = Rc::new(RunModel {
        plan,
        child_plan,
        script,
        cuts,
        clock: Rc::new(ModelClock::with_order(order)),
        may_be_killed: actions.iter().any(|action| action.what == ActionKind::Kill),
        requests: actions
            .iter()
            .filter(|action| matches!(action.what, ActionKind::Cancel | ActionKind::Kill))
            .map(|action| action.at)
            .collect(),
        salt: String::new(),
        number: 0,
        began: 0,
        parent: None,
        family: Rc::default(),
        root: ModelScope::run(),
        asked: Cell::new(None),
        notes: RefCell::default(),
        undo: RefCell::default(),
        signals: RefCell::default(),
        kept: RefCell::default(),
    });
    let env = ModelEnv { input: input.clone(), last: None, iteration: None };
    let ended = model.clock.run(RunModel::run(&model, env), RunModel::outside(&model, actions));
    // What is left holds on to the model.
    model.clock.forget();
    let mut notes = model.notes.take();
    if ended.is_none() {
        notes.summary.status = None;
    }
    let mut prediction =
        ModelPrediction { summary: notes.summary, children: BTreeMap::new(), ties: notes.ties };
    for (given, child) in model.family.take() {
        let notes = child.notes.take();
        prediction.ties.extend(notes.ties);
        prediction.children.entry(given).or_default().push(notes.summary);
    }
    prediction
}

struct RunModel<'a> {
    plan: &'a Plan,
    child_plan: &'a Plan,
    script: &'a SeedScript,
    cuts: &'a CutCalls,
    clock: Rc<ModelClock<'a>>,
    /// When a user asks to cancel or kill the run.
    requests: Rc<[u64]>,
    /// A kill of the run is among the actions, now or later.
    may_be_killed: bool,
    /// What the keys of its calls begin with.
    salt: String,
    /// The run among those of its family.
    number: u64,
    /// When it was started.
    began: u64,
    /// The run that started it.
    parent: Option<u64>,
    /// All children, with what they are given.
    family: Rc<RefCell<Vec<(String, Rc<Self>)>>>,
    root: Rc<ModelScope>,
    /// Why the run ends, if not by itself.
    asked: Cell<Option<ModelRequest>>,
    notes: RefCell<Notes>,
    undo: RefCell<Vec<ModelUndo<'a>>>,
    signals: RefCell<ModelSignals>,
    /// What operations of steps answered, by node and place.
    kept: RefCell<BTreeMap<(String, usize), Value>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ModelRequest {
    Cancel,
    Timeout,
}

#[derive(Default)]
struct Notes {
    summary: TrialSummary,
    ties: BTreeSet<ModelTie>,
    /// Nodes whose lanes run side by side.
    concurrent: BTreeSet<String>,
    /// Lanes that lost.
    lost: Vec<String>,
    /// What happened at this moment.
    moment: u64,
    facts: Vec<String>,
}

/// A step that may have to be undone.
struct ModelUndo<'a> {
    node: String,
    /// When it ended.
    at: u64,
    with: &'a CompensationSpec,
}

#[derive(Default)]
struct ModelSignals {
    /// What was sent and not taken, by name, and when.
    sent: BTreeMap<String, VecDeque<(u64, Value)>>,
    ids: BTreeSet<String>,
    /// When the last wait began, by name.
    began: BTreeMap<String, u64>,
    /// Who waits, by name, the first first.
    waiting: BTreeMap<String, VecDeque<u64>>,
    next: u64,
}

/// What nodes see of what is around them.
#[derive(Clone)]
struct ModelEnv {
    input: Value,
    last: Option<NodeBefore>,
    iteration: Option<(u32, Option<Value>)>,
}

impl ModelEnv {
    /// Inside of a loop the item of a forEach around it is still there.
    fn in_loop(&self, turn: u32) -> Self {
        let item = self.iteration.clone().and_then(|(_, item)| item);
        Self { iteration: Some((turn, item)), ..self.clone() }
    }

    fn seen(&self) -> SeenByCall {
        let Self { input, last, iteration } = self.clone();
        SeenByCall { input, last, iteration, joined: None }
    }
}

/// How a node or a block ended.
#[derive(Clone, Debug)]
enum NodeEnd {
    /// With this result; `None` for what failed softly or gives nothing.
    Good(Option<Value>, NodeStatus),
    /// It failed, for this reason, and the failure began with this node.
    Hard(ModelFailure),
    /// It was stopped, or never began.
    Stopped,
}

#[derive(Clone, Debug)]
struct ModelFailure {
    code: String,
    /// The node that failed first.
    node: String,
    /// The node that says why.
    by: String,
}

impl<'a> RunModel<'a> {
    fn run(self: &Rc<Self>, env: ModelEnv) -> ModelTask<'a, ()> {
        let this = Rc::clone(self);
        Box::pin(async move {
            let end = this.block(&this.plan.block, String::new(), Rc::clone(&this.root), env).await;
            if matches!(end, NodeEnd::Hard(_)) {
                // From here on its end is decided.
                this.root.end(ScopeEnding::Settle, &this.clock);
            }
            this.clock.alone(this.number, "").await;
            let (status, failed) = match (this.asked.get(), end) {
                (Some(ModelRequest::Cancel), _) => (RunStatus::Cancelled, None),
                (Some(ModelRequest::Timeout), _) => {
                    (RunStatus::Failed, Some(("run_timeout".to_owned(), None)))
                }
                (None, NodeEnd::Hard(failed)) => (RunStatus::Failed, Some((failed.code, Some(failed.node)))),
                (None, NodeEnd::Good(output, _)) => return this.completed(output),
                (None, NodeEnd::Stopped) => unreachable!("no request stopped it"),
            };
            this.undo_all().await;
            if status == RunStatus::Failed && this.plan.on_error.is_some() {
                this.last_handler().await;
            }
            let mut notes = this.notes.borrow_mut();
            notes.summary.status = Some(status);
            notes.summary.failed = failed;
        })
    }

    fn completed(&self, output: Option<Value>) {
        let summary = &mut self.notes.borrow_mut().summary;
        summary.status = Some(RunStatus::Completed);
        summary.output = Some(output.unwrap_or(Value::Null));
    }

    fn node_ended(&self, node: &str, status: NodeStatus, attempts: u32, result: Option<&Value>) {
        let ended = NodeSummary { status, attempts, result: result.cloned() };
        self.notes.borrow_mut().summary.nodes.insert(node.to_owned(), ended);
        self.clock.changed();
    }

    fn key(&self, node: &str, part: ScriptPart, turn: u32, attempt: u32) -> CallKey {
        CallKey { node: format!("{}{node}", self.salt), part, turn, attempt }
    }

    /// The lanes of this node, or the nodes of this graph, run side by side.
    fn side_by_side(&self, node: &str) {
        self.notes.borrow_mut().concurrent.insert(node.to_owned());
    }

    /// Two things happen at this moment, and nothing decides in which order.
    fn tie(&self, tie: ModelTie) {
        self.notes.borrow_mut().ties.insert(tie);
    }

    /// Something happened at a node that others may race with.
    fn fact(&self, node: &str) {
        let mut notes = self.notes.borrow_mut();
        if notes.moment != self.clock.now() {
            notes.moment = self.clock.now();
            notes.facts.clear();
        }
        let tie = |other: &String| {
            if node.is_empty() || other.is_empty() {
                return Some(ModelTie::Request);
            }
            notes.concurrent.contains(&where_apart(other, node)).then_some(ModelTie::SideBySide)
        };
        let ties: Vec<ModelTie> = notes.facts.iter().filter_map(tie).collect();
        notes.ties.extend(ties);
        notes.facts.push(node.to_owned());
    }

    /// What people and the run's own timeout do to it.
    fn outside(self: &Rc<Self>, actions: &'a [OutsideAction]) -> ModelTask<'a, ()> {
        let this = Rc::clone(self);
        let mut actions = actions.iter().peekable();
        Box::pin(poll_fn(move |_| {
            while let Some(action) = actions.next_if(|action| this.clock.has_come(action.at)) {
                this.act(&action.what);
            }
            this.keep_deadline();
            Poll::Pending
        }))
    }

    /// Fails the run if its timeout has come.
    fn keep_deadline(&self) {
        let due = self.plan.timeout_ms.is_some_and(|timeout| self.clock.has_come(timeout));
        let over = self.notes.borrow().summary.status.is_some();
        if due && !over && !self.clock.paused.get() && self.root.ending().is_none() {
            self.fact("");
            self.asked.set(Some(ModelRequest::Timeout));
            self.root.end(ScopeEnding::Stop, &self.clock);
        }
    }

    fn act(&self, what: &ActionKind) {
        let ending = self.root.ending().is_some();
        if matches!(what, ActionKind::Cancel | ActionKind::Kill | ActionKind::Pause) {
            self.fact("");
        }
        match what {
            ActionKind::Cancel if !ending => {
                self.clock.pause(false);
                self.cancel();
            }
            ActionKind::Kill => {
                self.clock.pause(false);
                self.kill();
            }
            ActionKind::Pause if !ending => self.clock.pause(true),
            ActionKind::Cancel | ActionKind::Pause => {}
            ActionKind::Resume => self.clock.pause(false),
            ActionKind::Signal { name, id, payload } => self.send(name, id, payload),
        }
    }
}

/// The node in which two paths part.
fn where_apart(one: &str, other: &str) -> String {
    let id = |segment: &str| segment.split('[').next().unwrap_or_default().to_owned();
    let mut common: Vec<String> = Vec::new();
    for (a, b) in one.split('/').zip(other.split('/')) {
        if a != b {
            if id(a) == id(b) {
                common.push(id(a));
            }
            break;
        }
        common.push(a.to_owned());
    }
    common.join("/")
}
