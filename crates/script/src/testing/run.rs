//! One run that a test asks for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rival_core::Value;
use rival_core::plan::{NodeKind, PlanBlock};
use rival_engine::store::LogFilter;
use rival_engine::testing::{PlannedSignals, TimeDriver};
use rival_engine::{Clock, Definition, Engine, FunctionNeeds, UserFunction, VirtualClock};
use rival_script_host::frame::ScriptError;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::TestSuite;
use super::mock::ScriptMock;
use crate::call::HostCall;
use crate::files::Scripts;
use crate::ops::{OpAnswer, encode, parse, refusal};
use crate::realm::name_of;
use crate::registry::RunLauncher;

#[derive(Deserialize)]
struct TestRunArgs {
    /// Which run of the test it is.
    run: u32,
    file: PathBuf,
    /// One of the workflows of the file; the only one unless told otherwise.
    workflow: Option<String>,
    input: Option<Box<RawValue>>,
    #[serde(default)]
    mocks: Vec<String>,
    #[serde(default)]
    signals: Vec<TestSignalArgs>,
}

#[derive(Deserialize)]
struct TestSignalArgs {
    name: String,
    payload: Option<Box<RawValue>>,
}

/// Runs a workflow to its end, as fast as its functions are.
pub(super) async fn run(suite: &TestSuite, call: &HostCall, args: &RawValue) -> OpAnswer {
    let args: TestRunArgs = parse(args)?;
    let clock = VirtualClock::default();
    let engine = Engine::builder().clock(Clock::Virtual(clock.clone())).build().await.map_err(said)?;
    let scripts = Scripts::on(&suite.pool);
    let mut wrong = None;
    let launcher = RunLauncher(engine.downgrade());
    let mocks = Mocks { suite, call, launcher, run: args.run, names: args.mocks };
    let loaded = scripts
        .register_with(&engine, &args.file, |definition| {
            wrong = wrong.take().or(mocks.put_into(definition).err());
        })
        .await
        .map_err(said)?;
    if let Some(error) = wrong {
        return Err(error);
    }
    if let Some(problem) = loaded.problems.first() {
        return Err(refusal(problem.to_string()));
    }
    let name = chosen(args.workflow, &loaded.workflows)?;
    let input = args.input.map_or_else(Value::null, Value::from);
    let handle =
        engine.run(name.as_str(), input).await.map_err(|error| crate::registry::start_error(&error))?;
    for signal in args.signals {
        let payload = signal.payload.map_or_else(Value::null, Value::from);
        engine.signal(handle.id(), signal.name, payload).await.map_err(said)?;
    }
    let driver = TimeDriver { engine: &engine, clock: &clock, signals: &PlannedSignals::default() };
    let outcome = driver.finish(handle.id()).await.map_err(said)?.map_err(refusal)?;
    let logs = engine.logs(handle.id(), &LogFilter::default()).await.map_err(said)?;
    engine.shutdown(std::time::Duration::ZERO).await;
    let logs: Vec<_> = logs
        .iter()
        .map(|line| json!({ "level": line.level, "message": line.message, "stepName": line.node, "metadata": line.fields }))
        .collect();
    let mut told = serde_json::to_value(&outcome).map_err(said)?;
    told["logs"] = logs.into();
    encode(&told)
}

fn chosen(asked: Option<String>, known: &[String]) -> Result<String, ScriptError> {
    match (asked, known) {
        (Some(name), _) if known.contains(&name) => Ok(name),
        (None, [name]) => Ok(name.clone()),
        _ => Err(refusal(format!("say which workflow of the file is to run: {}", known.join(", ")))),
    }
}

/// The steps that a test replaces.
struct Mocks<'a> {
    suite: &'a TestSuite,
    call: &'a HostCall,
    launcher: RunLauncher,
    run: u32,
    names: Vec<String>,
}

impl Mocks<'_> {
    /// Replaces steps, by their path or their id.
    fn put_into(&self, definition: &mut Definition) -> Result<(), ScriptError> {
        for name in &self.names {
            let mut steps = Vec::new();
            steps_of(&definition.plan.block, "", &mut steps);
            let is_it = |path: &str| path == name || path.rsplit('/').next() == Some(name.as_str());
            let keys: BTreeSet<String> =
                steps.iter().filter(|(path, _)| is_it(path)).map(|(_, function)| function.clone()).collect();
            if keys.is_empty() {
                let known: Vec<&str> = steps.iter().map(|(path, _)| path.as_str()).collect();
                return Err(refusal(format!("no step is called `{name}`; there are: {}", known.join(", "))));
            }
            for key in keys {
                let needs = definition.functions[&key].needs().clone();
                definition.functions.insert(key, self.mock(name, needs));
            }
        }
        Ok(())
    }

    fn mock(&self, name: &str, needs: FunctionNeeds) -> Arc<dyn UserFunction> {
        let suite = self.suite;
        Arc::new(ScriptMock {
            pool: Arc::clone(&suite.pool),
            host: self.call.host(),
            realm: Arc::clone(&suite.realm),
            launcher: self.launcher.clone(),
            file: name_of(&suite.file),
            key: format!("mock:{name}#{}", self.run),
            // What a mock uses is not known: it may be more than the step did.
            needs: FunctionNeeds { last_step: true, iteration: true, items: true, ..needs },
        })
    }
}

/// The paths of all steps, with their functions.
fn steps_of(block: &PlanBlock, at: &str, steps: &mut Vec<(String, String)>) {
    let join = |at: &str, id: &str| if at.is_empty() { id.to_owned() } else { format!("{at}/{id}") };
    for node in &block.nodes {
        let path = join(at, &node.id);
        if let NodeKind::Step(step) = &node.kind {
            steps.push((path.clone(), step.function.clone()));
        }
        for (lane, block) in node.blocks() {
            let path = lane.map_or_else(|| path.clone(), |lane| join(&path, lane));
            steps_of(block, &path, steps);
        }
    }
}

fn said(error: impl std::fmt::Display) -> ScriptError {
    refusal(error.to_string())
}
