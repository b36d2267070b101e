//! Scripts and Rust programs that register files, and scripts that start runs of others.

use std::path::Path;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::{RunId, RunStatus, Value};
use rival_engine::store::{Page, RunFilter};
use rival_engine::{Engine, RunError, StartError, WeakEngine};
use rival_script_host::frame::ScriptError;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::error::ScriptsError;
use crate::files::{Loaded, Scripts};
use crate::ops::{OpAnswer, encode, parse, refusal};
use crate::settings::ScriptSettings;
use crate::testing::TestDoubles;

/// Registers files with an engine, with settings that suit most: `engine.register_directory("workflows").await`.
///
/// Scripts run in child processes if `main` begins with [`crate::main_if_asked`], else on threads of this process,
/// where a script that blocks in native code cannot be ended.
#[async_trait::async_trait]
pub trait RegisterFiles {
    /// Registers the workflow files of a folder.
    async fn register_directory(&self, path: impl AsRef<Path> + Send) -> Result<Loaded, ScriptsError>;

    /// Registers one file.
    async fn register_file(&self, path: impl AsRef<Path> + Send) -> Result<Loaded, ScriptsError>;
}

#[async_trait::async_trait]
impl RegisterFiles for Engine {
    async fn register_directory(&self, path: impl AsRef<Path> + Send) -> Result<Loaded, ScriptsError> {
        scripts(self).register(self, path.as_ref()).await
    }

    async fn register_file(&self, path: impl AsRef<Path> + Send) -> Result<Loaded, ScriptsError> {
        scripts(self).register(self, path.as_ref()).await
    }
}

/// The hosts of an engine that was not given others.
fn scripts(engine: &Engine) -> Scripts {
    Scripts::clone(&engine.extension(|| Scripts::new(ScriptSettings::default())))
}

/// What `WorkflowRegistry` of the `rival` module asks for.
#[derive(Clone, Debug)]
pub(crate) struct RunLauncher(pub(crate) WeakEngine);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LaunchArgs {
    pub(crate) run_id: Option<String>,
    pub(crate) workflow: String,
    pub(crate) input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryRunArgs {
    run_id: String,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct ActiveArgs {
    workflow: Option<String>,
}

impl RunLauncher {
    /// Answers a question of a script.
    pub(crate) fn asked<'a>(&'a self, verb: &str, args: &RawValue) -> BoxFuture<'a, OpAnswer> {
        let Some(engine) = self.0.upgrade() else {
            return std::future::ready(Err(refusal("the engine has stopped"))).boxed();
        };
        match verb {
            "list" => std::future::ready(list(&engine)).boxed(),
            "launch" => parsed(parse(args), |args| launched(engine, args)),
            "get" => parsed(parse(args), |args| get(engine, args)),
            "active" => parsed(parse(args), |args| active(engine, args)),
            "cancel" => parsed(parse(args), |args| cancel(engine, args)),
            _ => {
                let refusal = refusal(format!("a registry cannot be asked for `{verb}`"));
                std::future::ready(Err(refusal)).boxed()
            }
        }
    }
}

impl RunLauncher {
    /// Answers what a step in a test asks for before it does it.
    pub(crate) fn asked_in_test<'a>(&'a self, verb: &str, args: &RawValue) -> BoxFuture<'a, OpAnswer> {
        let doubles = self.0.upgrade().map(|engine| engine.extension(TestDoubles::default));
        let (verb, args) = (verb.to_owned(), args.to_owned());
        async move {
            match doubles {
                Some(doubles) => doubles.ask(&verb, &args).await,
                None => Err(refusal("the engine has stopped")),
            }
        }
        .boxed()
    }
}

fn list(engine: &Engine) -> OpAnswer {
    let workflows = engine.list().into_iter().map(|workflow| {
        json!({
            "name": workflow.name,
            "description": workflow.description,
            "inputSchema": workflow.input_schema,
            "stepCount": workflow.step_count,
        })
    });
    encode(&workflows.collect::<Vec<_>>())
}

/// Starts a run.
pub(crate) async fn launch(engine: &Engine, args: LaunchArgs) -> Result<(RunId, RunStatus), StartError> {
    let input = args.input.map_or_else(Value::null, Value::from);
    let mut request = engine.run(args.workflow.as_str(), input);
    if let Some(id) = &args.run_id {
        request = request.id(id);
    }
    let handle = request.await?;
    Ok((handle.id().clone(), handle.status()))
}

async fn launched(engine: Engine, args: LaunchArgs) -> OpAnswer {
    let (run, status) = launch(&engine, args).await.map_err(|error| start_error(&error))?;
    encode(&json!({ "runId": run, "status": status }))
}

async fn get(engine: Engine, args: RegistryRunArgs) -> OpAnswer {
    let view = engine.get(&RunId::from(args.run_id.as_str())).await;
    encode(&view.map_err(|error| run_error(&error))?)
}

async fn active(engine: Engine, args: ActiveArgs) -> OpAnswer {
    let statuses = RunStatus::unfinished().collect();
    let filter = RunFilter { workflow: args.workflow, statuses, ..RunFilter::default() };
    let rows = engine.runs(&filter, &Page::default()).await.map_err(|error| run_error(&error))?;
    let runs = rows.into_iter().map(|row| {
        json!({ "runId": row.id, "workflow": row.workflow, "status": row.status, "createdAt": row.created_at })
    });
    encode(&runs.collect::<Vec<_>>())
}

async fn cancel(engine: Engine, args: RegistryRunArgs) -> OpAnswer {
    let reason = args.reason.unwrap_or_default();
    let status = engine.cancel(&RunId::from(args.run_id.as_str()), reason).await;
    encode(&json!({ "status": status.map_err(|error| run_error(&error))? }))
}

fn run_error(error: &RunError) -> ScriptError {
    coded(&error.to_string(), error.code())
}

fn parsed<'a, T, F>(args: Result<T, ScriptError>, ask: impl FnOnce(T) -> F) -> BoxFuture<'a, OpAnswer>
where
    F: Future<Output = OpAnswer> + Send + 'a,
{
    match args {
        Ok(args) => ask(args).boxed(),
        Err(error) => std::future::ready(Err(error)).boxed(),
    }
}

fn coded(message: &str, code: &str) -> ScriptError {
    ScriptError { code: Some(code.to_owned()), ..refusal(message) }
}

/// Refused input carries what is wrong with it, as zod would say it.
pub(crate) fn start_error(error: &StartError) -> ScriptError {
    let mut script = coded(&error.to_string(), error.code());
    if let StartError::InvalidInput { violations, .. } = error {
        script.name = "ZodError".to_owned();
        script.details = Some(json!({ "issues": violations }));
    }
    script
}
