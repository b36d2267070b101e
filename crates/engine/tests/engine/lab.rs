//! Where a fact is tried: one store, one clock, and engines that come and go.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rival::testing::{TestEngine, TestEngineBuilder};
use rival::{
    Clock, Definition, Event, MemoryStore, RunId, RunStatus, SqliteStore, Store, Time, VirtualClock,
};

use crate::store::TestStore;

/// One `#[test]` for each fact and store.
macro_rules! facts {
    ($($fact:ident),+ $(,)?) => {
        mod memory {
            $(#[test] fn $fact() { $crate::lab::run($crate::lab::Kind::Memory, super::$fact); })+
        }
        mod sqlite {
            $(#[test] fn $fact() { $crate::lab::run($crate::lab::Kind::Sqlite, super::$fact); })+
        }
    };
}
pub(crate) use facts;

/// The stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
}

/// Tries a fact. One that hangs fails instead.
pub(crate) fn run<F: Future<Output = ()>>(kind: Kind, fact: impl FnOnce(Lab) -> F) {
    runtime().block_on(async {
        let fact = Box::pin(fact(Lab::new(kind)));
        tokio::time::timeout(Duration::from_secs(30), fact).await.expect("the fact does not hang");
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// One store and one clock. Engines share them, one after the other or at the same time.
#[derive(Clone)]
pub(crate) struct Lab {
    pub(crate) clock: VirtualClock,
    memory: Option<Arc<MemoryStore>>,
    folder: Arc<tempfile::TempDir>,
    open: Arc<Mutex<Option<Arc<TestStore>>>>,
}

impl Lab {
    fn new(kind: Kind) -> Self {
        Self {
            clock: VirtualClock::default(),
            memory: (kind == Kind::Memory).then(Arc::default),
            folder: Arc::new(tempfile::tempdir().unwrap()),
            open: Arc::default(),
        }
    }

    pub(crate) fn is_memory(&self) -> bool {
        self.memory.is_some()
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("rival.db")
    }

    /// The store, with whatever the test asks of it.
    pub(crate) fn store(&self) -> Arc<TestStore> {
        let mut open = self.open.lock().unwrap();
        let opened = open.get_or_insert_with(|| {
            let inner: Arc<dyn Store> = match &self.memory {
                Some(memory) => Arc::clone(memory) as _,
                None => Arc::new(SqliteStore::open(self.file()).unwrap()),
            };
            Arc::new(TestStore::new(inner))
        });
        Arc::clone(opened)
    }

    /// An engine on the store, still to be built.
    pub(crate) fn builder(&self) -> TestEngineBuilder {
        TestEngine::builder().store(self.store()).clock(self.clock.clone())
    }

    /// An engine with one workflow.
    pub(crate) async fn engine(&self, workflow: impl Into<Definition>) -> TestEngine {
        self.builder().workflow(workflow).build().await.unwrap()
    }

    /// Lives one life of a process: what still runs when `life` returns is cut off there, as by a crash. The store is
    /// opened again by the next life; the memory store is told that the engines of this life are dead.
    pub(crate) async fn life<T, F>(&self, life: impl FnOnce(Lab) -> F + Send + 'static) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let lab = self.clone();
        let lived = tokio::task::spawn_blocking(move || {
            let runtime = runtime();
            let left = runtime.block_on(async { tokio::spawn(life(lab)).await });
            // Waits until every task has been dropped where it stood.
            drop(runtime);
            left
        });
        let left = lived.await.unwrap().unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let store = self.open.lock().unwrap().take();
        if let Some(store) = store {
            // SQLite's answering thread may hold the waker of a function, and with it the engine, for a moment longer.
            // Code that never drops its reference to the store makes the test hang.
            while Arc::strong_count(&store) > 1 {
                tokio::task::yield_now().await;
            }
            store.bury().await;
        }
        left
    }

    /// One life with an engine.
    pub(crate) async fn life_of<T, F>(
        &self,
        workflow: impl Into<Definition>,
        life: impl FnOnce(TestEngine) -> F + Send + 'static,
    ) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let workflow = workflow.into();
        self.life(|lab| async move { life(lab.engine(workflow).await).await }).await
    }

    /// Moves the clock without waiting for what that leads to.
    pub(crate) fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now().plus_ms(u64::try_from(time.as_millis()).unwrap()));
    }

    /// Milliseconds since the lab was opened.
    pub(crate) fn elapsed(&self) -> u64 {
        self.clock.now().ms_since(VirtualClock::default().now())
    }
}

/// Milliseconds from the lab's first moment.
pub(crate) fn since_start(at: Time) -> u64 {
    at.ms_since(VirtualClock::default().now())
}

/// Waits until a run's row says this; for what happens without a message to wait for.
pub(crate) async fn until_status(engine: &TestEngine, run: &RunId, status: RunStatus) {
    while engine.status(run).await.unwrap() != status {
        tokio::task::yield_now().await;
    }
}

/// Moves to the next moment that matters and begins what is due, without waiting for its end: for steps that hang.
pub(crate) async fn next_moment(engine: &TestEngine) {
    engine.come_to_rest().await.unwrap();
    let next = engine.next_due().await.unwrap().expect("something is due");
    let Clock::Virtual(clock) = engine.clock() else { panic!("a test's clock is virtual") };
    clock.set(next);
    engine.tick().await.unwrap();
}

/// The names of a run's events, with their node and the number of the call.
pub(crate) async fn told(engine: &TestEngine, run: &RunId) -> Vec<String> {
    engine.history(run).await.unwrap().iter().map(line).collect()
}

fn line(event: &Event) -> String {
    let json = serde_json::to_value(&event.kind).unwrap();
    let (name, fields) = json.as_object().unwrap().iter().next().unwrap();
    let call = fields.get("call").map_or_else(String::new, |call| format!("#{call}"));
    match event.kind.node() {
        Some(node) if !node.is_root() => format!("{name} {node}{call}"),
        _ => format!("{name}{call}"),
    }
}
