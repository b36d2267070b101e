//! Clients in another process than the server: they ask over HTTP, come back when it is there again, and write down what
//! they ask and what they are told.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;
use reqwest::Method;
use rival::{RunId, RunStatus, Value};
use rival_core::FailureRecord;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

use crate::TestFolder;
use crate::clients::flow_of;
use crate::flows::LISTENING;
use crate::follow::follow;
use crate::http::{HttpAnswer, RequestTotals, ServerApi};
use crate::ledger::{ClientAck, ClientRequest, LedgerFile, SentStart};
use crate::steps::Ticket;

/// Clients at work at a time.
const CLIENTS: u64 = 12;
/// Runs that are followed.
const FOLLOWERS_MAX: u64 = 80;
/// How long the last server may take to finish what all others left.
const PATIENCE: Duration = Duration::from_secs(60);

/// All clients.
#[derive(Debug)]
pub struct HttpLoad {
    /// Where they ask.
    pub api: ServerApi,
    acks: LedgerFile<ClientAck>,
    sent: LedgerFile<SentStart>,
    numbers: AtomicU64,
    starts: Semaphore,
    followers: Mutex<JoinSet<Result<u64>>>,
    followed: AtomicU64,
    again: AtomicU64,
}

/// What the server says of a run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadRun {
    run_id: RunId,
    status: RunStatus,
}

/// What the server says of a run that has ended.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadOutcome {
    run_id: RunId,
    status: RunStatus,
    output: Option<Value>,
    error: Option<FailureRecord>,
    retried_as: Option<RunId>,
}

/// A run that was started.
struct StartedRun {
    run: RunId,
    is_listening: bool,
}

/// How a start is made known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartKey {
    None,
    Header,
    Body,
}

impl HttpLoad {
    /// Clients that write into this folder.
    pub fn new(folder: &TestFolder) -> Result<Self> {
        Ok(Self {
            api: ServerApi::new()?,
            acks: LedgerFile::open(&folder.acks())?,
            sent: LedgerFile::open(&folder.sent())?,
            numbers: AtomicU64::new(1),
            starts: Semaphore::new(0),
            followers: Mutex::default(),
            followed: AtomicU64::new(0),
            again: AtomicU64::new(0),
        })
    }

    /// Lets clients start so many more runs: it bounds how much there is to check.
    pub fn allow(&self, starts: usize) {
        self.starts.add_permits(starts);
    }

    /// Nothing is begun any more; what was begun is asked for to its end.
    pub fn finish(&self) {
        self.starts.close();
    }

    /// What came of all requests so far.
    pub fn talk(&self) -> RequestTotals {
        self.api.talk()
    }

    /// How often a client sent a request again because it could not know whether the server had received it.
    pub fn sent_again(&self) -> u64 {
        self.again.load(Ordering::Relaxed)
    }

    /// Asks until nothing may be begun any more.
    pub async fn work(self: Arc<Self>, seed: u64) -> Result<()> {
        let clients = (0..CLIENTS).map(|client| {
            let (load, rng) = (Arc::clone(&self), Rng::with_seed(seed ^ (client << 48)));
            tokio::spawn(async move { load.client(rng).await })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await??;
        }
        Ok(())
    }

    async fn client(self: Arc<Self>, mut rng: Rng) -> Result<()> {
        while let Ok(permit) = self.starts.acquire().await {
            permit.forget();
            let Some(started) = self.start(&mut rng).await? else { continue };
            if rng.u8(0..6) == 0 {
                self.follow(&started.run).await;
            }
            if started.is_listening && rng.u8(0..5) == 0 {
                // What comes together with the end is in the history or refused.
                let (mut other, run) = (rng.fork(), &started.run);
                let (told, cancelled) =
                    tokio::join!(self.tell_words(run, &mut rng), self.cancel(run, &mut other));
                told.and(cancelled)?;
            } else if started.is_listening {
                self.tell_words(&started.run, &mut rng).await?;
            }
            let run = &started.run;
            match rng.u8(0..100) {
                0..25 => {
                    self.wait(run).await?;
                }
                25..40 => self.cancel(run, &mut rng).await?,
                40..55 => self.pause(run, &mut rng).await?,
                55..65 => self.retry(run).await?,
                65..75 => self.fork(run).await?,
                _ => {}
            }
        }
        Ok(())
    }

    fn told(&self, ack: &ClientAck) -> io::Result<()> {
        self.acks.write(ack)
    }

    /// Sends a request until an answer comes, because it may be sent as often as one likes.
    async fn until_answered(
        &self,
        path: &str,
        fill: impl Fn(reqwest::RequestBuilder) -> reqwest::RequestBuilder,
    ) -> Result<HttpAnswer> {
        loop {
            if let Some(answer) = self.api.send(Method::POST, path, &fill).await? {
                return Ok(answer);
            }
            self.again.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Starts a run. `None`: it has no key, and no answer came.
    async fn start(&self, rng: &mut Rng) -> Result<Option<StartedRun>> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let is_listening = number.is_multiple_of(4);
        let workflow = if is_listening { LISTENING } else { flow_of(number / 4) };
        let key = [StartKey::None, StartKey::Header, StartKey::Body][rng.usize(0..3)];
        let id = format!("key-{number}");
        self.sent
            .write(&SentStart { number, key: (key != StartKey::None).then(|| RunId::from(id.as_str())) })?;
        let wait = if rng.u8(0..4) == 0 { "?wait=100ms" } else { "" };
        let path = format!("/api/workflows/{workflow}/runs{wait}");
        let ticket = Ticket::new(number);
        let mut body = json!({"input": ticket, "tags": ["crash"]});
        if key == StartKey::Body {
            body["runId"] = Json::from(id.as_str());
        }
        let fill = |request: reqwest::RequestBuilder| match key {
            StartKey::Header => request.header("Idempotency-Key", &id).json(&body),
            StartKey::Body | StartKey::None => request.json(&body),
        };
        let answers = match key {
            StartKey::None => match self.api.send(Method::POST, &path, fill).await? {
                Some(answer) => vec![answer],
                None => return Ok(None),
            },
            _ if rng.u8(0..6) == 0 => {
                let (one, other) =
                    tokio::join!(self.until_answered(&path, fill), self.until_answered(&path, fill));
                vec![one?, other?]
            }
            _ => vec![self.until_answered(&path, fill).await?],
        };
        let mut run = None;
        for answer in answers {
            let started = self.started(&answer, workflow, &ticket)?;
            ensure!(key == StartKey::None || started.as_str() == id, "`{id}` was started as `{started}`");
            run = Some(started);
        }
        let run = run.context("there is an answer")?;
        if key != StartKey::None && rng.u8(0..8) == 0 {
            self.contradict(&run).await?;
        }
        Ok(Some(StartedRun { run, is_listening }))
    }

    fn started(&self, answer: &HttpAnswer, workflow: &str, ticket: &Ticket) -> Result<RunId> {
        let run = match answer.status {
            202 => answer.read::<LoadRun>()?.run_id,
            200 => answer.read::<LoadOutcome>()?.run_id,
            _ => bail!("a start was answered with {answer}"),
        };
        let input = Value::encode(ticket)?;
        self.told(&ClientAck::Started {
            run: run.clone(),
            given: None,
            workflow: workflow.to_owned(),
            input,
        })?;
        if answer.status == 200 {
            self.ended(answer)?;
        }
        Ok(run)
    }

    /// The same id with another input must be refused.
    async fn contradict(&self, run: &RunId) -> Result<()> {
        let other = Ticket::new(1 << 40);
        let body = json!({"input": other, "runId": run});
        let path = format!("/api/workflows/{}/runs", flow_of(0));
        match self.api.post(&path, &body).await? {
            None => Ok(()),
            Some(answer) if answer.status == 409 => Ok(self.told(&ClientAck::Conflict { run: run.clone() })?),
            Some(answer) => bail!("a contradiction was answered with {answer}"),
        }
    }

    /// Waits for a run; whether it has ended.
    async fn wait(&self, run: &RunId) -> Result<bool> {
        match self.api.get(&format!("/api/runs/{run}/wait?timeout=300ms")).await? {
            Some(answer) if answer.status == 200 => self.ended(&answer).map(|()| true),
            Some(answer) if answer.status != 408 => bail!("a wait was answered with {answer}"),
            _ => Ok(false),
        }
    }

    fn ended(&self, answer: &HttpAnswer) -> Result<()> {
        let LoadOutcome { run_id: run, status, output, error, retried_as } = answer.read()?;
        Ok(self.told(&ClientAck::Ended { run, status, output, error, retried_as })?)
    }

    async fn cancel(&self, run: &RunId, rng: &mut Rng) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(rng.u64(0..25))).await;
        if self.ask(run, ClientRequest::Cancel).await? && rng.bool() {
            self.wait(run).await?;
        }
        Ok(())
    }

    async fn pause(&self, run: &RunId, rng: &mut Rng) -> Result<()> {
        tokio::time::sleep(Duration::from_millis(rng.u64(0..15))).await;
        if self.ask(run, ClientRequest::Pause).await? && rng.u8(0..4) > 0 {
            tokio::time::sleep(Duration::from_millis(rng.u64(0..15))).await;
            self.ask(run, ClientRequest::Resume).await?;
        }
        Ok(())
    }

    /// Asks something of a run once; whether it was acted on for certain.
    async fn ask(&self, run: &RunId, request: ClientRequest) -> Result<bool> {
        self.told(&ClientAck::Asking { run: run.clone(), request })?;
        let (word, body) = match request {
            ClientRequest::Cancel => ("cancel", json!({"reason": "enough"})),
            ClientRequest::Pause => ("pause", json!({})),
            ClientRequest::Resume => ("resume", json!({})),
        };
        let Some(answer) = self.api.post(&format!("/api/runs/{run}/{word}"), &body).await? else {
            return Ok(false);
        };
        match answer.status {
            202 => {
                let LoadRun { run_id: run, status } = answer.read()?;
                self.told(&match request {
                    ClientRequest::Cancel => ClientAck::Cancelled { run, status },
                    ClientRequest::Pause => ClientAck::Paused { run, status },
                    ClientRequest::Resume => ClientAck::Resumed { run, status },
                })?;
                Ok(true)
            }
            409 if answer.code()? == "run_finished" => Ok(false),
            _ => bail!("{word} was answered with {answer}"),
        }
    }

    /// Goes on where a run failed, if it did.
    async fn retry(&self, run: &RunId) -> Result<()> {
        if !self.wait(run).await? {
            return Ok(());
        }
        match self.api.post(&format!("/api/runs/{run}/retry"), &json!({})).await? {
            None => Ok(()),
            Some(answer) if answer.status == 409 => Ok(()),
            Some(answer) => self.goes_on(&answer, run),
        }
    }

    /// Begins a run again under an id of its own, as often as it takes.
    async fn fork(&self, run: &RunId) -> Result<()> {
        if !self.wait(run).await? {
            return Ok(());
        }
        let body = json!({"from": "first", "runId": format!("fork-of-{run}")});
        let answer =
            self.until_answered(&format!("/api/runs/{run}/fork"), |request| request.json(&body)).await?;
        self.goes_on(&answer, run)
    }

    fn goes_on(&self, answer: &HttpAnswer, source: &RunId) -> Result<()> {
        ensure!(answer.status == 202, "a retry or fork was answered with {answer}");
        let run = answer.read::<LoadRun>()?.run_id;
        Ok(self.told(&ClientAck::Retried { run, source: source.clone() })?)
    }

    async fn tell_words(&self, run: &RunId, rng: &mut Rng) -> Result<()> {
        for _ in 0..rng.u8(1..4) {
            self.tell_word(run, rng.u8(0..3) > 0, rng.u8(0..4) == 0).await?;
        }
        Ok(())
    }

    /// Sends a signal: with an id until an answer comes, and perhaps twice; without one once.
    async fn tell_word(&self, run: &RunId, has_id: bool, twice: bool) -> Result<()> {
        let nonce = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.told(&ClientAck::Signalling { run: run.clone(), nonce })?;
        let path = format!("/api/runs/{run}/signals/word");
        let mut body = json!({"payload": {"nonce": nonce}});
        if !has_id {
            let answer = self.api.post(&path, &body).await?;
            return answer.map_or(Ok(()), |answer| self.heard_word(&answer, run, nonce));
        }
        body["id"] = Json::from(format!("word-{nonce}"));
        let fill = |request: reqwest::RequestBuilder| request.json(&body);
        if twice {
            let both = tokio::join!(self.until_answered(&path, fill), self.until_answered(&path, fill));
            self.heard_word(&both.0?, run, nonce)?;
            return self.heard_word(&both.1?, run, nonce);
        }
        self.heard_word(&self.until_answered(&path, fill).await?, run, nonce)
    }

    fn heard_word(&self, answer: &HttpAnswer, run: &RunId, nonce: u64) -> Result<()> {
        match answer.status {
            202 => Ok(self.told(&ClientAck::Signalled { run: run.clone(), nonce })?),
            409 if answer.code()? == "run_finished" => Ok(()),
            _ => bail!("a signal was answered with {answer}"),
        }
    }

    async fn follow(self: &Arc<Self>, run: &RunId) {
        let follower = self.followed.fetch_add(1, Ordering::Relaxed);
        if follower < FOLLOWERS_MAX {
            let (load, run) = (Arc::clone(self), run.clone());
            let task = async move { follow(&load.api, &load.acks, run, follower).await };
            self.followers.lock().await.spawn(task);
        }
    }

    /// Waits for all who follow. Gives how often they came back for more.
    pub async fn followers(&self) -> Result<u64> {
        let mut followers = self.followers.lock().await;
        let all = async {
            let mut returned = 0;
            while let Some(one) = followers.join_next().await {
                returned += one??;
            }
            Ok(returned)
        };
        tokio::time::timeout(PATIENCE, all).await.context("somebody follows for ever")?
    }

    /// Lets everything come to its end: what is paused or blocked is let go on, what listens is told something.
    pub async fn drain(&self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        let open: Vec<&str> =
            RunStatus::ALL.into_iter().filter(|it| !it.is_terminal()).map(RunStatus::word).collect();
        let path = format!("/api/runs?limit=1000&status={}", open.join(","));
        loop {
            let answer = self.api.get(&path).await?.context("the last server is gone")?;
            let page: Json = answer.read()?;
            let runs = page["items"].as_array().context("no list of runs")?;
            if runs.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < end, "{} runs do not end, the first: {}", runs.len(), runs[0]);
            for row in runs {
                self.push(row).await?;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn push(&self, row: &Json) -> Result<()> {
        let run = RunId::from(row["runId"].as_str().context("no run id")?);
        match row["status"].as_str() {
            Some("paused" | "blocked") => self.ask(&run, ClientRequest::Resume).await.map(|_| ()),
            Some("waiting") if row["workflow"] == LISTENING => self.tell_word(&run, true, false).await,
            _ => Ok(()),
        }
    }
}
