//! The program whose spans are looked at. The environment of a process cannot be changed while it runs, so a test starts
//! this one, which is the test's own binary, with the environment that it wants.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rival::prelude::*;
use rival::{RunId, SqliteStore, Value};

pub(crate) const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
pub(crate) const NOT_SAMPLED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

/// A program that was started.
pub(crate) struct Program(Child);

impl Program {
    /// Starts it to do something on a store, with these variables and no other `OTEL_*`.
    pub(crate) fn start(act: &str, folder: &Path, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "program::act", "--ignored", "--nocapture"]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")) {
            command.env_remove(name);
        }
        command.env("ACT", act).env("STORE", folder.join("rival.db")).envs(variables.iter().copied());
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Reads what it says up to a line that begins with this word, and gives the rest of that line.
    pub(crate) fn says(&mut self, word: &str) -> String {
        let mut lines = BufReader::new(self.0.stdout.as_mut().unwrap()).lines().map_while(Result::ok);
        let line = lines.find_map(|line| line.strip_prefix(word).map(|rest| rest.trim().to_owned()));
        line.unwrap_or_else(|| panic!("the program ended without `{word}`"))
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for its end, and gives how many spans it lost; `None` if it sent none.
    pub(crate) fn ends(mut self) -> Option<u64> {
        let lost = self.says("lost").parse().ok();
        assert!(self.0.wait().unwrap().success());
        lost
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\n{line}").unwrap();
    out.flush().unwrap();
}

#[step]
async fn first() -> Result<u32, StepError> {
    Ok(1)
}

/// At work for ever in the act that is killed.
#[step]
async fn second() -> Result<u32, StepError> {
    if std::env::var("ACT").unwrap() == "hang" {
        say("hangs");
        std::future::pending::<()>().await;
    }
    Ok(2)
}

#[step]
async fn broken() -> Result<(), StepError> {
    Err(StepError::new("no money").code("declined"))
}

#[step]
async fn three() -> Result<Vec<u32>, StepError> {
    Ok(vec![1, 2, 3])
}

#[step]
async fn ask(durable: Durable) -> Result<Value, StepError> {
    durable.run("order", ()).await
}

async fn engine(telemetry: Option<&rival_telemetry::Telemetry>) -> Engine {
    let order: Workflow<(), u32> = Workflow::new("order").step(first).step(second).build().unwrap();
    let (linear, shortly) = (rival::BackoffKind::Linear, Duration::from_millis(1));
    let retried = broken.retry(2).backoff(linear, shortly);
    let bad: Workflow<(), ()> = Workflow::new("bad").step(retried).build().unwrap();
    let parent: Workflow<(), Value> = Workflow::new("parent").step(ask).build().unwrap();
    let url = std::env::var("TARGET").unwrap_or_default();
    let calling: Workflow<(), HttpResponse> = Workflow::new("calling")
        .step(http_step(Http::get(url)).retry(2).backoff(linear, shortly))
        .build()
        .unwrap();
    let many: Workflow<(), Vec<u32>> = Workflow::new("many")
        .for_each("each", three, |each| each.body(|body| body.step(first)))
        .build()
        .unwrap();
    let store = SqliteStore::open(std::env::var("STORE").unwrap()).unwrap();
    let builder = Engine::builder().store(store).workflow(&order).workflow(&bad).workflow(&parent);
    let builder =
        builder.workflow(&calling).workflow(&many).provide(OutgoingPolicy::public().allow_loopback());
    let builder = match telemetry {
        Some(telemetry) => builder.observe(telemetry.observer()),
        None => builder,
    };
    builder.build().await.unwrap()
}

/// Starts a run and waits for its end.
async fn run(engine: &Engine, workflow: &str, id: &str) {
    engine.run(workflow, ()).id(id).await.unwrap().wait().await.unwrap();
}

/// How long the last spans may take.
fn within() -> Duration {
    let ms = std::env::var("WITHIN_MS").map_or(30_000, |ms| ms.parse().unwrap());
    Duration::from_millis(ms)
}

#[test]
#[ignore = "it is the program that the other tests start"]
fn act() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let telemetry = rival_telemetry::start();
        let engine = engine(telemetry.as_ref()).await;
        match std::env::var("ACT").unwrap().as_str() {
            "hang" => drop(engine.run("order", ()).id("r").trace(GIVEN).await.unwrap().wait().await),
            "go on" => drop(engine.wait(&RunId::from("r")).await.unwrap()),
            "fail" => {
                run(&engine, "bad", "r").await;
                engine.retry(&RunId::from("r")).await.unwrap().wait().await.unwrap();
            }
            "have a child" => run(&engine, "parent", "r").await,
            "repeat" => run(&engine, "many", "r").await,
            "call" => run(&engine, "calling", "r").await,
            "stay unseen" => {
                engine.run("order", ()).id("r").trace(NOT_SAMPLED).await.unwrap().wait().await.unwrap();
            }
            "run" => run(&engine, "order", "r").await,
            "run many" => {
                for n in 0..1_000 {
                    run(&engine, "order", &format!("r{n}")).await;
                }
                say("ran");
            }
            other => panic!("`{other}` is no act"),
        }
        engine.shutdown(Duration::from_secs(10)).await;
        match telemetry {
            Some(telemetry) => say(&format!("lost {}", telemetry.shutdown(within()).await)),
            None => say("lost nothing"),
        }
    });
}
