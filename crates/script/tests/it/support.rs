//! A folder of files, an engine, and script hosts in processes of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rival_core::{RunId, Value};
use rival_engine::store::{LogFilter, LogLine};
use rival_engine::{Engine, EngineBuilder, RunOutcome};
use rival_script::{Hosting, Loaded, OutgoingPolicy, ScriptSettings, Scripts};
use serde_json::Value as Json;

/// A folder with an engine that runs what is in it.
pub(crate) struct Lab {
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) engine: Engine,
    pub(crate) scripts: Scripts,
    pub(crate) loaded: Loaded,
}

/// Settings with hosts in child processes.
pub(crate) fn settings() -> ScriptSettings {
    let host = PathBuf::from(env!("CARGO_BIN_EXE_rival-script-host"));
    let outgoing = OutgoingPolicy::public().allow_loopback();
    ScriptSettings { hosts: 2, hosting: Hosting::Program(host), outgoing, ..ScriptSettings::default() }
}

/// Writes files into a folder.
pub(crate) fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the folder is made");
        std::fs::write(path, text).expect("the file is written");
    }
}

impl Lab {
    /// Loads a folder with these files.
    pub(crate) async fn new(files: &[(&str, &str)]) -> Self {
        Self::with(settings(), files).await
    }

    pub(crate) async fn with(settings: ScriptSettings, files: &[(&str, &str)]) -> Self {
        Self::of(Engine::builder(), settings).await.load(files).await
    }

    /// Nothing is loaded yet.
    pub(crate) async fn of(engine: EngineBuilder, settings: ScriptSettings) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a folder"));
        let engine = engine.build().await.expect("an engine in memory");
        let scripts = Scripts::new(settings);
        Self { folder, engine, scripts, loaded: Loaded::default() }
    }

    /// Writes files and registers the folder.
    pub(crate) async fn load(mut self, files: &[(&str, &str)]) -> Self {
        write(self.folder.path(), files);
        self.loaded =
            self.scripts.register(&self.engine, self.folder.path()).await.expect("the folder is loaded");
        self
    }

    /// The same, with nothing wrong.
    pub(crate) async fn good(files: &[(&str, &str)]) -> Self {
        let lab = Self::new(files).await;
        lab.assert_good();
        lab
    }

    pub(crate) fn assert_good(&self) {
        assert!(self.loaded.problems.is_empty(), "{}", self.problems().join("\n"));
    }

    /// Problems as people see them, with paths relative to the folder.
    pub(crate) fn problems(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().expect("the folder is there");
        let folder = format!("{}/", folder.display());
        self.loaded.problems.iter().map(|problem| problem.to_string().replace(&folder, "")).collect()
    }

    /// Runs a workflow to its end.
    pub(crate) async fn run(&self, workflow: &str, input: Json) -> RunOutcome {
        let run = self.start(workflow, input).await;
        self.wait(&run).await
    }

    pub(crate) async fn start(&self, workflow: &str, input: Json) -> RunId {
        self.engine.run(workflow, Value::from(input)).await.expect("the run starts").id().clone()
    }

    pub(crate) async fn wait(&self, run: &RunId) -> RunOutcome {
        self.engine.wait_for(run, Duration::from_secs(60)).await.expect("the run ends")
    }

    /// The output of a run that must complete.
    pub(crate) async fn output(&self, workflow: &str, input: Json) -> Json {
        let outcome = self.run(workflow, input).await;
        assert!(outcome.error.is_none(), "{:#?}", outcome.error);
        outcome.output.expect("it completed").to_json()
    }

    pub(crate) async fn logs(&self, run: &RunId) -> Vec<LogLine> {
        self.engine.logs(run, &LogFilter::default()).await.expect("the logs are read")
    }
}

/// What a step left.
pub(crate) fn result(outcome: &RunOutcome, step: &str) -> Json {
    let step = outcome.result(step).unwrap_or_else(|| panic!("no step `{step}` in {outcome:#?}"));
    step.result.as_ref().map_or(Json::Null, Value::to_json)
}
