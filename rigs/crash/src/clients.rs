//! Clients of the worker: they start runs, ask things of them, and write down what they are told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fastrand::Rng;
use futures::StreamExt;
use rival::{
    Engine, Page, RunError, RunFilter, RunHandle, RunId, RunOutcome, RunStatus, StartError, StoreError, Value,
};

use crate::TestFolder;
use crate::flows::FLOWS;
use crate::ledger::{self, ClientAck, ClientRequest, LedgerFile};
use crate::steps::Ticket;

/// Clients at work at a time.
const CLIENTS: u64 = 10;
/// Runs that one worker may start: it bounds how much there is to check.
const STARTS_MAX: u64 = 60;
/// Given ids begin this far before the last one that was acknowledged, so that some exist already.
const OVERLAP: u64 = 8;
/// The last part of the ledger, in bytes: it holds what some workers were told, and reading it takes no time.
const RECENT: u64 = 256 * 1024;
/// Numbers of tickets of runs with generated ids.
const UNNAMED: u64 = 1 << 32;

/// All clients of one worker.
#[derive(Debug)]
pub struct WorkerClients {
    engine: Engine,
    acks: LedgerFile<ClientAck>,
    next: AtomicU64,
    started: AtomicU64,
}

impl WorkerClients {
    /// Clients that go on after the last id in the ledger.
    pub fn new(engine: Engine, folder: &TestFolder) -> io::Result<Self> {
        let told = ledger::read_end::<ClientAck>(&folder.acks(), RECENT)?;
        let last = told.iter().filter_map(|ack| match ack {
            ClientAck::Started { given, .. } => *given,
            _ => None,
        });
        let next = last.max().unwrap_or(0).saturating_sub(OVERLAP);
        let acks = LedgerFile::open(&folder.acks())?;
        Ok(Self { engine, acks, next: AtomicU64::new(next), started: AtomicU64::new(0) })
    }

    /// Works until the engine stops, or until there is enough to check.
    pub async fn work(self: Arc<Self>, seed: u64) -> anyhow::Result<()> {
        let clients = (0..CLIENTS).map(|client| {
            let (clients, rng) = (Arc::clone(&self), Rng::with_seed(seed ^ (client << 48)));
            tokio::spawn(async move { clients.client(rng).await })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await??;
        }
        Ok(())
    }

    async fn client(&self, mut rng: Rng) -> anyhow::Result<()> {
        while self.started.fetch_add(1, Ordering::Relaxed) < STARTS_MAX {
            let Some(run) = self.start(&mut rng).await? else { return Ok(()) };
            let asked = match rng.u8(0..100) {
                0..45 => self.wait(&run).await?,
                45..57 => self.cancel(&run, &mut rng).await?,
                57..69 => self.pause(&run, &mut rng).await?,
                69..79 => self.follow(&run).await?,
                79..86 => self.retry(&run).await?,
                _ => Some(()),
            };
            if asked.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn told(&self, ack: &ClientAck) -> anyhow::Result<Option<()>> {
        self.acks.write(ack)?;
        Ok(Some(()))
    }

    fn asking(&self, run: &RunId, request: ClientRequest) -> anyhow::Result<Option<()>> {
        self.told(&ClientAck::Asking { run: run.clone(), request })
    }

    /// Starts a run, under a given id or not. `None`: the engine is stopping.
    async fn start(&self, rng: &mut Rng) -> anyhow::Result<Option<RunHandle>> {
        let given = rng.u8(0..3).gt(&0).then(|| self.next.fetch_add(1, Ordering::Relaxed));
        let number = given.unwrap_or_else(|| UNNAMED + rng.u64(0..UNNAMED));
        let ticket = Ticket::new(number);
        let workflow = flow_of(number);
        let mut request = self.engine.run(workflow, ticket.clone()).tag("crash");
        if let Some(number) = given {
            request = request.id(format!("given-{number}"));
        }
        let run = match request.await {
            Ok(run) => run,
            Err(StartError::ShuttingDown | StartError::Store(StoreError::Closed)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let input = Value::encode(&ticket)?;
        let workflow = workflow.to_owned();
        self.told(&ClientAck::Started { run: run.id().clone(), given, workflow, input })?;
        if given.is_some() && rng.u8(0..8) == 0 {
            return self.contradict(run, rng).await;
        }
        Ok(Some(run))
    }

    /// The same id with another input must be refused.
    async fn contradict(&self, run: RunHandle, rng: &mut Rng) -> anyhow::Result<Option<RunHandle>> {
        let other = Ticket::new(UNNAMED * 2 + rng.u64(0..UNNAMED));
        let again = self.engine.run(flow_of(other.number), other).id(run.id().as_str());
        match again.await {
            Err(StartError::Conflict(id)) => {
                self.told(&ClientAck::Conflict { run: id })?;
                Ok(Some(run))
            }
            Err(StartError::ShuttingDown | StartError::Store(StoreError::Closed)) => Ok(None),
            Err(error) => Err(error.into()),
            Ok(other) => bail!("run `{}` was started with two inputs", other.id()),
        }
    }

    async fn wait(&self, run: &RunHandle) -> anyhow::Result<Option<()>> {
        match run.wait_for(Duration::from_millis(400)).await {
            Ok(outcome) => self.ended(outcome),
            Err(RunError::WaitTimeout { .. }) => Ok(Some(())),
            Err(RunError::ShuttingDown | RunError::Store(StoreError::Closed)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn ended(&self, outcome: RunOutcome) -> anyhow::Result<Option<()>> {
        let RunOutcome { run_id: run, status, output, error, retried_as, .. } = outcome;
        self.told(&ClientAck::Ended { run, status, output, error, retried_as })
    }

    async fn cancel(&self, run: &RunHandle, rng: &mut Rng) -> anyhow::Result<Option<()>> {
        tokio::time::sleep(Duration::from_millis(rng.u64(0..25))).await;
        self.asking(run.id(), ClientRequest::Cancel)?;
        let answer = run.cancel("enough").await;
        let told = self.answered(run.id(), answer, |run, status| ClientAck::Cancelled { run, status })?;
        if told.is_some() && rng.bool() { self.wait(run).await } else { Ok(told) }
    }

    async fn pause(&self, run: &RunHandle, rng: &mut Rng) -> anyhow::Result<Option<()>> {
        tokio::time::sleep(Duration::from_millis(rng.u64(0..15))).await;
        self.asking(run.id(), ClientRequest::Pause)?;
        let answer = self.engine.pause(run.id()).await;
        let told = self.answered(run.id(), answer, |run, status| ClientAck::Paused { run, status })?;
        if told.is_none() || rng.u8(0..4) == 0 {
            return Ok(told);
        }
        tokio::time::sleep(Duration::from_millis(rng.u64(0..15))).await;
        self.asking(run.id(), ClientRequest::Resume)?;
        let answer = self.engine.resume(run.id()).await;
        self.answered(run.id(), answer, |run, status| ClientAck::Resumed { run, status })
    }

    fn answered(
        &self,
        run: &RunId,
        answer: Result<RunStatus, RunError>,
        ack: impl Fn(RunId, RunStatus) -> ClientAck,
    ) -> anyhow::Result<Option<()>> {
        match answer {
            Ok(status) => self.told(&ack(run.clone(), status)),
            Err(RunError::Finished { run, status }) => self.told(&ClientAck::Refused { run, status }),
            Err(RunError::ShuttingDown | RunError::Store(StoreError::Closed)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes down what happens while it happens.
    async fn follow(&self, run: &RunHandle) -> anyhow::Result<Option<()>> {
        let mut events = run.events();
        let end = Instant::now() + Duration::from_millis(150);
        while let Ok(Some(event)) =
            tokio::time::timeout(end.saturating_duration_since(Instant::now()), events.next()).await
        {
            match event {
                Ok(event) => {
                    self.told(&ClientAck::Event { run: run.id().clone(), event: Value::encode(&event)? })?;
                }
                Err(RunError::ShuttingDown | RunError::Store(StoreError::Closed)) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(()))
    }

    /// Goes on where a run failed, if it did.
    async fn retry(&self, run: &RunHandle) -> anyhow::Result<Option<()>> {
        let waited = self.wait(run).await?;
        if waited.is_none() {
            return Ok(None);
        }
        match self.engine.retry(run.id()).await {
            Ok(again) => self.told(&ClientAck::Retried { run: again.id().clone(), source: run.id().clone() }),
            Err(StartError::NotRetryable { .. }) => Ok(Some(())),
            Err(StartError::ShuttingDown | StartError::Store(StoreError::Closed)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

pub(crate) fn flow_of(number: u64) -> &'static str {
    let place = usize::try_from(number).unwrap_or(0) % FLOWS.len();
    FLOWS[place]
}

/// Lets everything come to its end: what is paused or blocked is let go on.
pub async fn drain(
    engine: &Engine,
    acks: Option<&LedgerFile<ClientAck>>,
    patience: Duration,
) -> anyhow::Result<()> {
    let end = Instant::now() + patience;
    let statuses: Vec<RunStatus> = RunStatus::ALL.into_iter().filter(|it| !it.is_terminal()).collect();
    let filter = RunFilter { statuses, ..RunFilter::default() };
    loop {
        let rows = engine.runs(&filter, &Page { before: None, limit: 100_000 }).await?;
        if rows.is_empty() && engine.active_runs().is_empty() {
            return Ok(());
        }
        for row in rows.iter().filter(|row| matches!(row.status, RunStatus::Paused | RunStatus::Blocked)) {
            if let Some(acks) = acks {
                acks.write(&ClientAck::Asking { run: row.id.clone(), request: ClientRequest::Resume })?;
            }
            match engine.resume(&row.id).await {
                Ok(_) | Err(RunError::Finished { .. }) => {}
                Err(error) => return Err(error).context("cannot resume"),
            }
        }
        if Instant::now() > end {
            let first = rows.first().map(|row| row.id.clone());
            let why = match &first {
                Some(run) => engine.explain(run).await?,
                None => "finished runs are still in memory".to_owned(),
            };
            // What happened to it says more than the sentence.
            let history = engine.history(first.as_ref().context("no run is left")?).await?;
            let history = serde_json::to_string_pretty(&history)?;
            bail!("{} runs do not end; {first:?}: {why}\n{history}", rows.len());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
