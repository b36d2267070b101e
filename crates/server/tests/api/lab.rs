//! A server with a few workflows, and a client.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, Method, Response, StatusCode};
use rival::prelude::*;
use rival::{RunId, SqliteStore};
use rival_authoring::{Documents, NoTools};
use rival_server::auth::AccessScope;
use rival_server::{Server, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::mount;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Order {
    customer: String,
    #[schemars(range(min = 1))]
    amount: u32,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Approval {
    approved: bool,
}

/// Steps that wait at it go on when it is opened.
#[derive(Clone)]
pub(crate) struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.send_replace(true);
    }
}

#[step]
async fn reserve(Input(order): Input<Order>, log: Log) -> Result<u32, StepError> {
    log.info(serde_json::json!({"customer": order.customer}), "reserved");
    Ok(order.amount)
}

#[step]
async fn charge(Input(order): Input<Order>, log: Log) -> Result<String, StepError> {
    log.warn((), "charging");
    if order.amount > 1_000 { Err(StepError::stop("too much").code("too_much")) } else { Ok("paid".into()) }
}

#[step]
async fn hold(gate: Res<Gate>) -> Result<(), StepError> {
    gate.0.subscribe().wait_for(|open| *open).await.map_err(|_| StepError::new("gone"))?;
    Ok(())
}

#[step]
async fn chat(Input(lines): Input<u32>, log: Log) -> Result<(), StepError> {
    (0..lines).for_each(|line| log.info((), line));
    Ok(())
}

async fn ask(Input(n): Input<u32>, durable: Durable) -> Result<Value, StepError> {
    let held: rival::Value = durable.run("held", n).await?;
    Ok(held.to_json())
}

/// A running server, and a client of it.
pub(crate) struct Lab {
    pub(crate) engine: Engine,
    pub(crate) documents: Documents,
    pub(crate) gate: Gate,
    pub(crate) base: String,
    client: Client,
    stop: CancellationToken,
    served: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Lab {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    /// With other settings.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate(Arc::new(watch::Sender::new(false)));
        let order =
            Workflow::new("order").description("Takes an order").input::<Order>().step(reserve).step(charge);
        let approval = Workflow::new("approval").step(signal::<Approval>("approval"));
        let held = Workflow::new("held").input::<Value>().step(hold);
        let chatty = Workflow::new("chatty").input::<u32>().step(chat);
        let parent = Workflow::new("parent").input::<u32>().step(ask);
        let engine = Engine::builder()
            .store(SqliteStore::open(folder.path().join("rival.db")).unwrap())
            .provide(gate.clone())
            .workflow(order.build().unwrap())
            .workflow(approval.build().unwrap())
            .workflow(held.build().unwrap())
            .workflow(chatty.build().unwrap())
            .workflow(parent.build().unwrap())
            .build()
            .await
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let tokens = folder.path().join("tokens.json");
        let mut settings =
            Settings { listen, tokens, anonymous_scope: AccessScope::Admin, ..Settings::default() };
        change(&mut settings);
        let documents = Documents::new(engine.clone(), Arc::new(NoTools));
        documents.load().await.unwrap();
        let server = Server::builder(engine.clone(), settings).documents(documents.clone());
        let server = server.mount(mount::starter()).build().unwrap();
        let stop = CancellationToken::new();
        let served = tokio::spawn(server.serve(listener, stop.clone().cancelled_owned()));
        Self {
            engine,
            documents,
            gate,
            base: format!("http://{listen}"),
            // What comes over the wire is looked at as it comes.
            client: Client::builder().no_gzip().no_brotli().no_zstd().build().unwrap(),
            stop,
            served,
            _folder: folder,
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        Answer::of(self.request(Method::POST, path).json(&body).send().await.unwrap()).await
    }

    /// Starts a run, and gives its id.
    pub(crate) async fn start(&self, workflow: &str, input: Value) -> String {
        let answer =
            self.post(&format!("/api/workflows/{workflow}/runs"), serde_json::json!({"input": input})).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{:?}", answer.body);
        answer.body["runId"].as_str().unwrap().to_owned()
    }

    /// Starts a run, and waits for its end.
    pub(crate) async fn finish(&self, workflow: &str, input: Value) -> String {
        let id = self.start(workflow, input).await;
        self.engine.wait(&RunId::from(id.as_str())).await.unwrap();
        id
    }

    /// Waits until a run stands here.
    pub(crate) async fn until(&self, id: &str, status: &str) {
        let run = RunId::from(id);
        while self.engine.summary(&run).await.map_or("", |row| row.status.word()) != status {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Stops the server; ends when nothing is left of it.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.served.await.unwrap();
        self.engine.shutdown(Duration::ZERO).await;
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        Self { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The answer is this problem, in the form that all problems have.
    #[track_caller]
    pub(crate) fn is_problem(&self, status: u16, code: &str) -> &str {
        let found = (self.status.as_u16(), self.body["code"].as_str().unwrap_or_default());
        assert_eq!(found, (status, code), "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.body["type"], format!("/errors/{code}"));
        assert_eq!(self.body["status"], status);
        assert_eq!(self.body["detail"], self.body["error"]);
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        let page = std::fs::read_to_string(format!("{page}/{code}.md")).unwrap();
        let statuses = page.split("**HTTP status.** ").nth(1).unwrap_or_default();
        assert!(statuses.contains(&status.to_string()), "the page of {code} says nothing of {status}");
        self.body["error"].as_str().unwrap()
    }
}
