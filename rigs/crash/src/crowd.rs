//! Clients that crowd around the same runs, over HTTP: signals, cancels, kills, pauses, all at once, repeated when
//! no answer came and when one came. They write down what each of them was told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;
use reqwest::Method;
use rival::{RunId, RunStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::TestFolder;
use crate::flows::CROWDED;
use crate::http::{HttpAnswer, ServerApi};
use crate::ledger::LedgerFile;
use crate::steps::Ticket;

/// Runs that are crowded at a time.
const CROWDS: u64 = 6;
/// Requests to one run at a time.
const CLIENTS: usize = 6;
/// How long the last server may take to finish what all others left.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request, and what its sender was told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CrowdRecord {
    /// The run.
    pub run: RunId,
    /// What was asked.
    pub what: CrowdRequest,
    /// The answer.
    pub reply: CrowdReply,
}

/// What a client of the crowd asks of a run. Numbers are used once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CrowdRequest {
    /// Takes this word.
    Signal {
        /// What it says.
        nonce: u64,
    },
    /// Takes this word, under an id that the run knows for another word.
    Contradiction {
        /// What it says.
        nonce: u64,
    },
    /// Stops, for this reason.
    Cancel {
        /// The reason.
        no: u64,
    },
    /// Ends at once, for this reason.
    Kill {
        /// The reason.
        no: u64,
    },
    /// Holds.
    Pause {},
    /// Goes on.
    Resume {},
}

/// What a client was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CrowdReply {
    /// 202, and where the run stands.
    Yes {
        /// The status.
        status: RunStatus,
        /// What a signal is called.
        signal: Option<String>,
    },
    /// 409, and why.
    No {
        /// The code.
        code: String,
        /// The sentence.
        error: String,
    },
    /// Nothing, or that nothing is known.
    Unknown {},
}

/// What the server says of a run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CrowdRun {
    status: RunStatus,
    signal_id: Option<String>,
}

/// All clients.
#[derive(Debug)]
pub struct CrowdClients {
    /// Where they ask.
    pub api: ServerApi,
    told: LedgerFile<CrowdRecord>,
    numbers: AtomicU64,
    answers: AtomicU64,
    wanted: u64,
}

impl CrowdClients {
    /// Clients that write into this folder, and want so many answers.
    pub fn new(folder: &TestFolder, wanted: u64) -> Result<Self> {
        let told = LedgerFile::open(&folder.answers())?;
        let (numbers, answers) = (AtomicU64::new(1), AtomicU64::new(0));
        Ok(Self { api: ServerApi::new()?, told, numbers, answers, wanted })
    }

    /// How many answers there were.
    pub fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Whether there were enough.
    pub fn is_content(&self) -> bool {
        self.answers() >= self.wanted
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks until there are enough answers.
    pub async fn work(self: Arc<Self>, seed: u64) -> Result<()> {
        let crowds = (0..CROWDS).map(|crowd| {
            let (all, mut rng) = (Arc::clone(&self), Rng::with_seed(seed ^ (crowd << 48)));
            tokio::spawn(async move {
                while !all.is_content() {
                    all.crowd_around_one(&mut rng).await?;
                }
                Ok::<_, anyhow::Error>(())
            })
        });
        for crowd in crowds.collect::<Vec<_>>() {
            crowd.await??;
        }
        Ok(())
    }

    async fn crowd_around_one(self: &Arc<Self>, rng: &mut Rng) -> Result<()> {
        let number = self.number();
        let run = RunId::from(format!("crowded-{number}"));
        let body = json!({"input": Ticket::new(number), "runId": run});
        let answer = self.until_answered(&format!("/api/workflows/{CROWDED}/runs"), &body).await?;
        ensure!(answer.status == 202, "a start was answered with {answer}");
        // Half of the runs come to their end by signals, nearly always.
        let is_peaceful = rng.bool();
        let clients = (0..CLIENTS).map(|_| {
            let (all, run, mut rng) = (Arc::clone(self), run.clone(), rng.fork());
            tokio::spawn(async move {
                // Some come when all is over.
                let late = if rng.u8(0..6) == 0 { 80 } else { 0 };
                tokio::time::sleep(Duration::from_millis(late + rng.u64(0..40))).await;
                all.ask_something(&run, is_peaceful, &mut rng).await
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.await??;
        }
        Ok(())
    }

    async fn ask_something(&self, run: &RunId, is_peaceful: bool, rng: &mut Rng) -> Result<()> {
        let no = self.number();
        match rng.u8(0..if is_peaceful { 74 } else { 94 }) {
            0..20 => self.signal_once(run, no).await,
            20..45 => self.signal_with_id(run, no, 1 + rng.u8(0..3)).await,
            45..55 => self.contradict(run, no).await,
            55..70 => {
                self.ask(run, CrowdRequest::Pause {}).await?;
                self.ask(run, CrowdRequest::Resume {}).await
            }
            70..72 | 74..84 => self.ask(run, CrowdRequest::Kill { no }).await,
            _ => self.ask(run, CrowdRequest::Cancel { no }).await,
        }
    }

    /// Without an id: sent once, and again only under the id that the server names because it does not know.
    async fn signal_once(&self, run: &RunId, nonce: u64) -> Result<()> {
        let path = format!("/api/runs/{run}/signals/word");
        let mut body = json!({"payload": {"nonce": nonce}});
        loop {
            let answer = self.api.exchange(Method::POST, &path, |request| request.json(&body)).await?;
            let known = answer.as_ref().filter(|answer| answer.status >= 500);
            let id =
                known.and_then(|answer| Some(answer.read::<Json>().ok()?["signalId"].as_str()?.to_owned()));
            match id {
                Some(id) => body["id"] = Json::from(id),
                None => return self.note(run, CrowdRequest::Signal { nonce }, answer.as_ref()),
            }
        }
    }

    /// With an id: by several at once, each until an answer comes, and once more when all are done.
    async fn signal_with_id(&self, run: &RunId, nonce: u64, senders: u8) -> Result<()> {
        let path = format!("/api/runs/{run}/signals/word");
        let body = json!({"payload": {"nonce": nonce}, "id": format!("word-{nonce}")});
        let all = (0..senders).map(|_| self.until_answered(&path, &body));
        let mut answers = futures::future::try_join_all(all).await?;
        answers.push(self.until_answered(&path, &body).await?);
        answers.iter().try_for_each(|answer| self.note(run, CrowdRequest::Signal { nonce }, Some(answer)))
    }

    /// The same id with another word: if the first was taken, the second must not be.
    async fn contradict(&self, run: &RunId, nonce: u64) -> Result<()> {
        let path = format!("/api/runs/{run}/signals/word");
        let id = format!("word-{nonce}");
        let first = self.until_answered(&path, &json!({"payload": {"nonce": nonce}, "id": id})).await?;
        self.note(run, CrowdRequest::Signal { nonce }, Some(&first))?;
        if first.status != 202 {
            return Ok(());
        }
        let nonce = self.number();
        let second = self.until_answered(&path, &json!({"payload": {"nonce": nonce}, "id": id})).await?;
        self.note(run, CrowdRequest::Contradiction { nonce }, Some(&second))
    }

    /// Asks once. Whether it was heard is not known if no answer comes.
    async fn ask(&self, run: &RunId, what: CrowdRequest) -> Result<()> {
        let (word, body) = match &what {
            CrowdRequest::Cancel { no } => ("cancel", json!({"reason": no.to_string()})),
            CrowdRequest::Kill { no } => ("kill", json!({"reason": no.to_string()})),
            CrowdRequest::Pause {} => ("pause", json!({})),
            CrowdRequest::Resume {} => ("resume", json!({})),
            CrowdRequest::Signal { .. } | CrowdRequest::Contradiction { .. } => {
                bail!("signals are sent elsewhere")
            }
        };
        let answer = self.api.post(&format!("/api/runs/{run}/{word}"), &body).await?;
        self.note(run, what, answer.as_ref())
    }

    fn note(&self, run: &RunId, what: CrowdRequest, answer: Option<&HttpAnswer>) -> Result<()> {
        let reply = match answer {
            Some(answer) if answer.status == 202 => {
                let CrowdRun { status, signal_id } = answer.read()?;
                CrowdReply::Yes { status, signal: signal_id }
            }
            Some(answer) if answer.status == 409 => {
                let problem: Json = answer.read()?;
                let text = |key: &str| problem[key].as_str().unwrap_or_default().to_owned();
                CrowdReply::No { code: text("code"), error: text("error") }
            }
            Some(answer) if answer.status < 500 => bail!("{what:?} was answered with {answer}"),
            _ => CrowdReply::Unknown {},
        };
        if !matches!(reply, CrowdReply::Unknown {}) {
            self.answers.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.told.write(&CrowdRecord { run: run.clone(), what, reply })?)
    }

    /// Sends a request until an answer comes, because it may be sent as often as one likes.
    async fn until_answered(&self, path: &str, body: &Json) -> Result<HttpAnswer> {
        loop {
            if let Some(answer) = self.api.post(path, body).await? {
                return Ok(answer);
            }
        }
    }

    /// Lets everything come to its end: what is paused is let go on, what waits is told something.
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
                let run = RunId::from(row["runId"].as_str().context("no run id")?);
                match row["status"].as_str() {
                    Some("paused" | "blocked") => self.ask(&run, CrowdRequest::Resume {}).await?,
                    Some("waiting") if row["workflow"] == CROWDED => {
                        self.signal_with_id(&run, self.number(), 1).await?;
                    }
                    _ => {}
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
