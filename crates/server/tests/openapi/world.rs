//! A server with runs in every status.

use std::sync::Arc;
use std::time::Duration;

use rival::prelude::*;
use rival::{RunHandle, RunId, RunStatus, SqliteStore, Value};
use rival_authoring::{Documents, NoTools};
use rival_server::auth::AccessScope;
use rival_server::token::TokenFile;
use rival_server::{Server, Settings};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use said_connections::SaidConnections;

#[path = "connections.rs"]
mod said_connections;

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Order {
    customer: String,
    #[schemars(range(min = 1))]
    amount: u32,
}

#[derive(Serialize, Deserialize, schemars::JsonSchema)]
struct Approval {
    approved: bool,
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
async fn reserve_nothing() -> Result<(), StepError> {
    Ok(())
}

#[step]
async fn stay() -> Result<(), StepError> {
    std::future::pending().await
}

#[step]
async fn ask(Input(customer): Input<u32>, durable: Durable) -> Result<(), StepError> {
    let order = Order { customer: customer.to_string(), amount: customer };
    let _: Value = durable.run("order", order).await?;
    let _: Value = durable.run("approval", ()).await?;
    Ok(())
}

/// An engine with all workflows, or without the one that runs have outlived.
async fn engine(store: &std::path::Path, is_old: bool) -> Engine {
    let order =
        Workflow::new("order").description("Takes an order").input::<Order>().step(reserve).step(charge);
    let approval = Workflow::new("approval").step(signal::<Approval>("approval"));
    let nap = Workflow::new("nap").step(delay_step(Duration::from_secs(3_600)));
    let parent = Workflow::new("parent").input::<u32>().step(ask);
    let staying = Workflow::new("staying").step(stay);
    let retired = Workflow::new("retired").step(signal::<Approval>("approval")).step(stay);
    let dispatch = Workflow::new("dispatch").step(reserve_nothing).trigger(Trigger::to("not-there"));
    let builder = Engine::builder()
        .workflow(dispatch.build().unwrap())
        .store(SqliteStore::open(store).unwrap())
        .workflow(order.build().unwrap())
        .workflow(approval.build().unwrap())
        .workflow(nap.build().unwrap())
        .workflow(parent.build().unwrap())
        .workflow(staying.build().unwrap());
    let builder = if is_old { builder.workflow(retired.build().unwrap()) } else { builder };
    builder.build().await.unwrap()
}

/// A running server.
pub(crate) struct World {
    pub(crate) url: String,
    /// The secret of a token that may do everything.
    pub(crate) token: String,
    engine: Engine,
    stop: CancellationToken,
    served: JoinHandle<()>,
}

impl World {
    pub(crate) async fn new(folder: &std::path::Path) -> Self {
        let store = folder.join("rival.db");
        let old = engine(&store, true).await;
        let mut outlived = Vec::new();
        for _ in 0..3 {
            outlived.push(start(&old, "retired", ()).await.id().clone());
        }
        for run in &outlived {
            until(&old, run, RunStatus::Waiting).await;
        }
        old.shutdown(Duration::ZERO).await;
        drop(old);
        let engine = engine(&store, false).await;
        for run in &outlived {
            // It is kept until the workflow is there again.
            engine.signal(run, "approval", Approval { approved: true }).await.unwrap();
            until(&engine, run, RunStatus::Blocked).await;
        }
        seed(&engine).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let listen = listener.local_addr().unwrap();
        let tokens = folder.join("tokens.json");
        let token =
            TokenFile::new(&tokens).create("test", AccessScope::Admin, rival::Time(0), None).unwrap().secret;
        // How often one may ask is another test's business.
        let settings = Settings {
            listen,
            tokens,
            require_token: Some(true),
            requests_per_second: Some(0),
            ..Settings::default()
        };
        let documents = Documents::new(engine.clone(), Arc::new(NoTools));
        let server = Server::builder(engine.clone(), settings).documents(documents);
        let server = server.connections(Arc::new(SaidConnections::new())).build().unwrap();
        let stop = CancellationToken::new();
        let served = tokio::spawn(server.serve(listener, stop.clone().cancelled_owned()));
        Self { url: format!("http://{listen}"), token, engine, stop, served }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.served.await.unwrap();
        self.engine.shutdown(Duration::ZERO).await;
    }
}

async fn start(engine: &Engine, workflow: &str, input: impl Serialize + Send) -> RunHandle {
    engine.run(workflow, input).tag("seed").await.unwrap()
}

async fn until(engine: &Engine, run: &RunId, status: RunStatus) {
    while engine.summary(run).await.unwrap().status != status {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn seed(engine: &Engine) {
    for amount in [1, 2, 2_000, 3_000] {
        start(engine, "order", Order { customer: "Ada".into(), amount }).await.wait().await.unwrap();
    }
    for workflow in ["approval", "nap", "staying"] {
        start(engine, workflow, ()).await;
        start(engine, workflow, ()).await.cancel("enough").await.unwrap();
        let paused = start(engine, workflow, ()).await;
        engine.pause(paused.id()).await.unwrap();
    }
    start(engine, "parent", 7).await;
}
