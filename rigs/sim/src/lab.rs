//! One plan on the real engine, through as many lives as its process has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rival_core::{Event, Plan, RunId, Time};
use rival_engine::{Clock, Definition, Engine, RunError, RunOutcome, VirtualClock, verify};
use rival_sqlite::SqliteStore;
use rival_store::{MemoryStore, Page, RunFilter, Store};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::crash::{CrashFate, CrashPlace, CrashSchedule};
use crate::function::functions;
use crate::outside::{ActionKind, OutsideAction};
use crate::script::SeedScript;
use crate::store::MortalStore;
use crate::triggers::{SimTrigger, targets};
use crate::world::{MadeCall, SimWorld};

/// When runs begin.
pub const BEGAN: Time = Time(1_700_000_000_000);

/// More moments than any plan has: a run that needs more goes round in circles.
const MOMENTS_MAX: u32 = 50_000;

/// How many runs an engine with little room has in memory.
const LITTLE_ROOM: usize = 2;

/// How long a life may take, in real time: a thousand times what the longest needs, because the machine may be busy
/// with other things. A run that never comes to rest would go on for ever.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// Everything that a seed decides but the crashes.
#[derive(Clone, Debug)]
pub struct SimCase {
    /// The seed.
    pub seed: u64,
    /// The plan.
    pub plan: Plan,
    /// The plan of its children.
    pub child: Plan,
    /// What they trigger: the plan has the same.
    pub triggers: Vec<SimTrigger>,
    /// What its children trigger.
    pub child_triggers: Vec<SimTrigger>,
    /// What their functions do.
    pub script: SeedScript,
    /// What people do.
    pub actions: Vec<OutsideAction>,
    /// The model knows what comes of it. Otherwise the engine has little room, and runs wait for it; and children are
    /// undone.
    pub modelled: bool,
}

impl SimCase {
    /// What the run is given.
    pub fn input(&self) -> Value {
        json!({ "seed": self.seed })
    }
}

/// Where the run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// In memory.
    Memory,
    /// In a file.
    Sqlite,
}

/// What was seen of a run.
#[derive(Debug)]
pub struct ObservedRun {
    /// How it ended; `None` if it got stuck, and then why.
    pub outcome: Result<RunOutcome, String>,
    /// The history of each run.
    pub histories: BTreeMap<RunId, Vec<Event>>,
    /// The calls that reached their functions.
    pub made: Vec<MadeCall>,
    /// The calls that lost what ran them.
    pub lost: Vec<MadeCall>,
    /// When and where the process died.
    pub crashes: Vec<(Time, CrashPlace)>,
    /// What was written, in all lives.
    pub boundaries: u64,
    /// What is wrong with the store.
    pub breaches: Vec<String>,
    /// Functions that still run although their run has ended.
    pub left_behind: Vec<String>,
    /// What people were told, by the number of what they did.
    pub answers: Vec<ActionAnswer>,
}

/// What a user was told about an action.
#[derive(Clone, Debug)]
pub struct ActionAnswer {
    /// Which of the actions it was.
    pub action: usize,
    /// It was done: otherwise the run had ended.
    pub done: bool,
    /// A crash made them do it again.
    pub again: bool,
}

/// Runs a case.
pub fn observe(case: &SimCase, fate: CrashFate, kind: StoreKind) -> ObservedRun {
    let crashes = Arc::new(CrashSchedule::new(fate));
    let clock = VirtualClock::at(BEGAN);
    let world = SimWorld::new(case.script.clone(), clock, Arc::clone(&crashes));
    let mut lab = Lab {
        case,
        world,
        crashes,
        home: Home::new(kind),
        acted: 0,
        deaths: Vec::new(),
        left_behind: Vec::new(),
        tried: 0,
        answers: Vec::new(),
    };
    let outcome = loop {
        if let Some(outcome) = lab.live() {
            break outcome;
        }
        lab.deaths.push((lab.world.clock.now(), lab.crashes.place().unwrap_or(CrashPlace::Boundary)));
    };
    let (histories, breaches) = lab.examine();
    ObservedRun {
        outcome,
        histories,
        made: lab.world.made(),
        lost: lab.world.lost(),
        crashes: lab.deaths,
        boundaries: lab.crashes.boundaries(),
        breaches,
        left_behind: lab.left_behind,
        answers: lab.answers,
    }
}

/// Where the store lives between lives.
enum Home {
    Memory(Arc<MemoryStore>),
    Folder(tempfile::TempDir),
}

impl Home {
    fn new(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Memory => Self::Memory(Arc::default()),
            StoreKind::Sqlite => Self::Folder(tempfile::tempdir().expect("a folder can be made")),
        }
    }

    fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(memory) => Arc::clone(memory) as _,
            Self::Folder(folder) => {
                let file: PathBuf = folder.path().join("rival.db");
                Arc::new(SqliteStore::open(file).expect("the store opens"))
            }
        }
    }
}

struct Lab<'a> {
    case: &'a SimCase,
    world: Arc<SimWorld>,
    crashes: Arc<CrashSchedule>,
    home: Home,
    /// How many actions are done.
    acted: usize,
    deaths: Vec<(Time, CrashPlace)>,
    left_behind: Vec<String>,
    /// How many actions were tried, in this life or an earlier one.
    tried: usize,
    answers: Vec<ActionAnswer>,
}

impl Lab<'_> {
    /// One life of the process: `None` if it ended before the run.
    fn live(&mut self) -> Option<Result<RunOutcome, String>> {
        self.crashes.live();
        let runtime = runtime(&self.crashes);
        let store = Arc::new(MortalStore::new(self.home.open(), Arc::clone(&self.crashes)));
        let crashes = Arc::clone(&self.crashes);
        let lived = runtime.block_on(async {
            let life = Box::pin(self.life(Arc::clone(&store)));
            tokio::select! {
                biased;
                () = crashes.death() => None,
                ended = life => ended.transpose(),
                () = tokio::time::sleep(LIFE_MAX) => Some(Err("it never comes to rest".to_owned())),
            }
        });
        // Every task is dropped where it stands.
        drop(runtime);
        futures::executor::block_on(store.bury()).expect("the dead are buried");
        lived
    }

    /// Lives until the run has ended, or the engine is stopped in order.
    async fn life(&mut self, store: Arc<MortalStore>) -> Result<Option<RunOutcome>, String> {
        let clock = Clock::Virtual(self.world.clock.clone());
        let mut builder = Engine::builder().store(store).clock(clock);
        if !self.case.modelled {
            builder = builder.max_live_runs(LITTLE_ROOM);
        }
        let targets = targets();
        let builder = [&self.case.plan, &self.case.child]
            .into_iter()
            .chain(&targets)
            .fold(builder, |builder, plan| builder.workflow(self.definition(plan)));
        let engine = builder.build().await.map_err(text)?;
        let run = engine.run("sim", self.case.input()).id("run").await.map_err(text)?.id().clone();
        for _ in 0..MOMENTS_MAX {
            self.crashes.rest().await;
            if self.all_ended(&engine, &run).await? {
                self.left_behind = self.world.left_behind().into_iter().map(|key| key.to_string()).collect();
                return engine.wait(&run).await.map(Some).map_err(text);
            }
            if !self.world.something_listens() && self.crashes.stops() {
                engine.shutdown(Duration::ZERO).await;
                return Ok(None);
            }
            if !self.act(&engine, &run).await? {
                self.move_on(&engine, &run).await?;
            }
        }
        Err(format!("it goes round in circles: {}", engine.explain(&run).await.map_err(text)?))
    }

    fn definition(&self, plan: &Plan) -> Definition {
        Definition {
            plan: plan.clone(),
            functions: functions(&self.world),
            input_schema: None,
            nested_schemas: BTreeMap::new(),
            former: None,
            input_check: None,
            signal_schemas: BTreeMap::new(),
            description: None,
            resources: Vec::new(),
            origin: rival_engine::WorkflowOrigin::default(),
        }
    }

    /// Whether the run has ended, and all its children; some may end after it.
    async fn all_ended(&self, engine: &Engine, run: &RunId) -> Result<bool, String> {
        if !engine.handle(run.clone()).await.map_err(text)?.status().is_terminal() {
            return Ok(false);
        }
        let page = Page { before: None, limit: 1_000 };
        let runs = engine.runs(&RunFilter::default(), &page).await.map_err(text)?;
        Ok(runs.iter().all(|run| run.status.is_terminal()))
    }

    /// Does what people do at this moment; false if they do nothing. Signals of one moment are sent side by side.
    async fn act(&mut self, engine: &Engine, run: &RunId) -> Result<bool, String> {
        let now = self.world.clock.now().ms_since(BEGAN);
        let due = self.case.actions[self.acted..].iter().take_while(|action| action.at <= now);
        let signals =
            due.clone().take_while(|action| matches!(action.what, ActionKind::Signal { .. })).count();
        let count = if due.count() == 0 { 0 } else { signals.max(1) };
        let actions = &self.case.actions[self.acted..self.acted + count];
        let again = self.tried > self.acted;
        self.tried = self.tried.max(self.acted + count);
        let done = futures::future::join_all(actions.iter().map(|action| perform(engine, run, &action.what)));
        for (n, done) in done.await.into_iter().enumerate() {
            let done = match done {
                Ok(()) => true,
                Err(RunError::Finished { .. }) => false,
                Err(error) => return Err(text(error)),
            };
            self.answers.push(ActionAnswer { action: self.acted + n, done, again });
        }
        // Only now: a crash before this line repeats it.
        self.acted += count;
        Ok(count > 0)
    }

    /// Moves the clock to the next moment at which anything can happen.
    async fn move_on(&self, engine: &Engine, run: &RunId) -> Result<(), String> {
        let action = self.case.actions.get(self.acted).map(|action| BEGAN.plus_ms(action.at));
        let due = engine.next_due().await.map_err(text)?;
        // What is due and does not happen waits for room: something else has to go on first.
        let now = self.world.clock.now();
        let coming = [action, due, self.world.next()].into_iter().flatten().filter(|at| *at > now);
        let Some(next) = coming.min() else {
            return Err(format!("it is stuck: {}", engine.explain(run).await.map_err(text)?));
        };
        self.world.clock.set(next);
        self.world.wake();
        Ok(())
    }

    /// Judges what is left.
    fn examine(&self) -> (BTreeMap<RunId, Vec<Event>>, Vec<String>) {
        let store = self.home.open();
        let mut histories = BTreeMap::new();
        let all = RunFilter::default();
        let judged = verify::check_runs(&*store, &all, |run, _| {
            histories.insert(run.row.id.clone(), run.events.clone());
        });
        let report = futures::executor::block_on(judged).expect("the store can be read");
        (histories, report.breaches.iter().map(ToString::to_string).collect())
    }
}

async fn perform(engine: &Engine, run: &RunId, what: &ActionKind) -> Result<(), RunError> {
    match what {
        ActionKind::Cancel => engine.cancel(run, "asked").await.map(drop),
        ActionKind::Kill => engine.kill(run, "asked").await.map(drop),
        ActionKind::Pause => engine.pause(run).await.map(drop),
        ActionKind::Resume => engine.resume(run).await.map(drop),
        ActionKind::Signal { name, id, payload } => engine.signal(run, name, payload).id(id).await.map(drop),
    }
}

fn runtime(crashes: &Arc<CrashSchedule>) -> Runtime {
    let crashes = Arc::clone(crashes);
    Builder::new_current_thread()
        .enable_time()
        .on_thread_park(move || crashes.parked())
        .build()
        .expect("a runtime can be built")
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
