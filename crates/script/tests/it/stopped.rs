//! Steps that are told to stop after they have acted: what is undone, and what is kept of them.

use std::future::pending;
use std::time::Duration;

use axum::Router;
use rival_core::{NodeStatus, RunId, RunStatus, Time};
use rival_engine::{Clock, Engine, RunOutcome, VirtualClock};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Lab, settings};

/// Takes requests and never answers. Tells of each that has arrived.
struct Bank {
    url: String,
    arrived: mpsc::UnboundedReceiver<()>,
}

impl Bank {
    async fn open() -> Self {
        let (tell, arrived) = mpsc::unbounded_channel();
        let router = Router::new().fallback(move || {
            let tell = tell.clone();
            async move {
                tell.send(()).expect("the test waits for it");
                pending::<()>().await;
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, arrived }
    }

    async fn arrived(&mut self) {
        let arrival = tokio::time::timeout(Duration::from_secs(60), self.arrived.recv()).await;
        arrival.expect("the request arrives").expect("the bank is open");
    }
}

const CHARGE: &str = "
async function charge({ input, state, durable, run }) {
    state.sent = 1
    // When the second of them is answered, the engine has seen the state.
    await durable.once('a', () => 1)
    await durable.once('b', () => 1)
    await fetch(input.bank, { signal: run.abortSignal })
}
function refund({ outcome, log }) { log.info({ outcome }, 'refunded') }
const paid = { fn: charge, compensate: refund }
";

async fn refunds(lab: &Lab, run: &RunId) -> Vec<Value> {
    let logs = lab.logs(run).await;
    let refunds = logs.iter().filter(|line| line.message == "refunded");
    refunds.filter_map(|line| Some(line.fields.as_ref()?.to_json())).collect()
}

fn state_of(outcome: &RunOutcome, step: &str) -> Value {
    outcome.result(step).expect("it ran").state.to_json()
}

#[tokio::test]
async fn a_request_that_is_aborted_by_a_cancel_is_undone_and_its_state_kept() {
    let mut bank = Bank::open().await;
    let code = format!("{CHARGE}export const steps = [paid]");
    let lab = Lab::good(&[("pays.ts", &code)]).await;
    let run = lab.start("pays", json!({ "bank": bank.url })).await;
    bank.arrived().await;
    lab.engine.cancel(&run, "enough").await.expect("it can be cancelled");
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert_eq!(refunds(&lab, &run).await, [json!({ "outcome": "unknown" })]);
    assert_eq!(state_of(&outcome, "charge"), json!({ "sent": 1 }));
}

#[tokio::test]
async fn a_request_of_a_branch_that_lost_is_undone() {
    let mut bank = Bank::open().await;
    let code = format!(
        "import {{ parallel, signal }} from 'rival'
{CHARGE}export const steps = [parallel({{ name: 'race', join: 'first', branches: {{ slow: [paid], quick: [signal('go')] }} }})]"
    );
    let lab = Lab::good(&[("races.ts", &code)]).await;
    let run = lab.start("races", json!({ "bank": bank.url })).await;
    bank.arrived().await;
    lab.engine.signal(&run, "go", json!(true)).await.expect("it is sent");
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
    assert_eq!(refunds(&lab, &run).await, [json!({ "outcome": "unknown" })]);
}

#[tokio::test]
async fn the_state_of_a_step_that_times_out_is_kept() {
    let mut bank = Bank::open().await;
    let code = format!("{CHARGE}export const steps = [{{ ...paid, timeout: '5m' }}]");
    let clock = VirtualClock::at(Time(1_700_000_000_000));
    let engine = Engine::builder().clock(Clock::Virtual(clock.clone()));
    let lab = Lab::of(engine, settings()).await.load(&[("slow.ts", &code)]).await;
    let run = lab.start("slow", json!({ "bank": bank.url })).await;
    bank.arrived().await;
    clock.set(clock.now().plus_ms(300_000));
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.error.as_ref().expect("it timed out").code, "timeout");
    assert_eq!(outcome.result("charge").expect("it ran").status, NodeStatus::Failed);
    assert_eq!(state_of(&outcome, "charge"), json!({ "sent": 1 }));
    assert_eq!(refunds(&lab, &run).await, [json!({ "outcome": "unknown" })]);
}

/// A block that fails, with a step in it that has charged and waits for a signal.
async fn waits_while_its_block_fails(
    engine: rival_engine::EngineBuilder,
    let_go: bool,
) -> (RunOutcome, Vec<Value>) {
    let code = "import { parallel } from 'rival'
async function charge({ durable }) {
    await durable.once('charge', () => 1)
    await durable.signal('never')
}
function refund({ outcome, log }) { log.info({ outcome }, 'refunded') }
async function breaks({ durable }) {
    await durable.signal('go')
    throw new Error('no')
}
export const steps = [
    parallel({ name: 'both', branches: { a: [{ fn: charge, compensate: refund }], b: [breaks] } }),
]";
    let other = ("other.ts", "export const steps = [function other() { return 1 }]");
    let lab = Lab::of(engine, settings()).await.load(&[("both.ts", code), other]).await;
    let run = lab.start("both", json!(null)).await;
    if let_go {
        // There is room for one run only, so both steps have to go.
        lab.run("other", json!(null)).await;
    }
    lab.engine.signal(&run, "go", json!(true)).await.expect("it is sent");
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Failed);
    let refunds = refunds(&lab, &run).await;
    (outcome, refunds)
}

#[tokio::test]
async fn a_step_that_waits_when_its_block_fails_is_undone_let_go_or_not() {
    let (_, refunds) = waits_while_its_block_fails(Engine::builder(), false).await;
    assert_eq!(refunds, [json!({ "outcome": "unknown" })]);
    let (_, refunds) = waits_while_its_block_fails(Engine::builder().max_live_runs(1), true).await;
    assert_eq!(refunds, [json!({ "outcome": "unknown" })]);
}
