//! Workflow files: loaded when a server starts and, under `dev`, again when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use rival::Engine;
use rival_api::SourceProblem;
use rival_authoring::{Documents, FileProblem, LoadedFiles, is_document_file};
use rival_script::{Loaded, OutgoingPolicy, Problem, Scripts, ScriptsError, SourceWatcher};
use tokio_util::task::AbortOnDropHandle;

use crate::config::ResolvedConfig;
use crate::exit::ExitError;
use crate::out::{clean, note};
use crate::style::TextStyle;
use crate::type_check::TypeChecker;

/// What the log says of files is filed under this.
pub(crate) const TARGET: &str = "rival::files";

/// Files and folders of workflows: scripts with what runs their functions, and documents, those of the store too. Neither knows
/// the other.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowFiles {
    scripts: Scripts,
    documents: Documents,
    /// Folders, where both are looked for, and single files of either kind.
    paths: Vec<PathBuf>,
    /// The environment variables that scripts may see.
    env_allowed: Arc<[String]>,
}

impl WorkflowFiles {
    /// Nothing is read, and no host is started, before there is a file.
    pub(crate) fn new(
        config: &ResolvedConfig,
        paths: Vec<PathBuf>,
        outgoing: OutgoingPolicy,
        documents: Documents,
    ) -> Self {
        let scripts = Scripts::new(config.scripts(outgoing));
        Self { scripts, documents, paths, env_allowed: config.script_env().into() }
    }

    /// Whether no file was asked for: all documents are in the store.
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Registers all workflows that are good: of scripts, of the store, of document files. What is wrong with the others is
    /// in the answer.
    pub(crate) async fn register(&self, engine: &Engine) -> Result<Loaded> {
        let mut loaded = Loaded::default();
        for path in self.paths.iter().filter(|path| !is_document_file(path)) {
            // What was loaded before is in the answer too.
            loaded = self.scripts.register(engine, path).await.map_err(failed)?;
        }
        if let Some(missing) = self.paths.iter().find(|path| is_document_file(path) && !path.exists()) {
            return Err(no_such_file(format!("{}: there is no such file", missing.display())).into());
        }
        self.documents.load().await?;
        let documents =
            self.documents.register_files(self.paths.iter().filter(holds_documents).cloned()).await;
        self.documents.recheck().await;
        Ok(with_documents(loaded, documents))
    }

    /// What is known of the files now.
    pub(crate) fn known(&self, loaded: &Loaded) -> KnownFiles {
        KnownFiles::new(loaded, Arc::clone(&self.env_allowed))
    }

    /// Loads the files again, and logs what came of it.
    pub(crate) async fn reload(&self, engine: &Engine, known: &mut KnownFiles) {
        known.tell(self.load_again(engine).await);
    }

    async fn load_again(&self, engine: &Engine) -> Result<Loaded, ScriptsError> {
        let loaded = self.scripts.reload(engine).await?;
        // Names may have become free, and inputs of workflows that documents trigger may be others.
        self.documents.workflows_changed().await;
        Ok(with_documents(loaded, self.documents.reload_files().await))
    }

    async fn folders(&self) -> BTreeSet<PathBuf> {
        let mut folders = self.scripts.folders().await;
        folders.extend(self.documents.folders().await);
        folders
    }

    /// Loads files again when they change, and logs what came of it and of their types, for as long as the answer
    /// lives. Their runs call what was loaded last.
    pub(crate) async fn watch(&self, engine: &Engine, first: &Loaded) -> Result<AbortOnDropHandle<()>> {
        let mut known = KnownFiles { calls_newest: true, ..self.known(first) };
        let mut types = TypeChecker::find(&self.paths);
        types.iter_mut().for_each(TypeChecker::check);
        let mut watcher = SourceWatcher::new().map_err(failed)?;
        watcher.follow(self.folders().await).map_err(failed)?;
        let (files, engine) = (self.clone(), engine.clone());
        Ok(AbortOnDropHandle::new(tokio::spawn(async move {
            while watcher.changed().await {
                files.reload(&engine, &mut known).await;
                // A compiler may have been installed since.
                if types.is_none() {
                    types = TypeChecker::find(&files.paths);
                }
                types.iter_mut().for_each(TypeChecker::check);
                if let Err(error) = watcher.follow(files.folders().await) {
                    known.tell(Err(error));
                }
            }
        })))
    }
}

fn holds_documents(path: &&PathBuf) -> bool {
    is_document_file(path) || path.is_dir()
}

/// What came of all files, whatever they are written in.
fn with_documents(mut loaded: Loaded, documents: LoadedFiles) -> Loaded {
    loaded.workflows.extend(documents.workflows);
    loaded.changed.extend(documents.changed);
    loaded.problems.extend(documents.problems.into_iter().map(as_problem));
    loaded.warnings.extend(documents.warnings.into_iter().map(as_problem));
    loaded
}

fn as_problem(FileProblem { file, line, column, message }: FileProblem) -> Problem {
    Problem { file, line, column, message, advice: None }
}

fn no_such_file(message: String) -> ExitError {
    ExitError::not_found(message).hint("name a file, or a folder of workflow files")
}

fn failed(error: ScriptsError) -> ExitError {
    match error {
        ScriptsError::Path { .. } => no_such_file(error.to_string()),
        other => ExitError::error(other.to_string()),
    }
}

/// A variable that a file reads, that this process has, and that scripts do not see.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnseenVariable {
    name: String,
    file: PathBuf,
}

fn log_unseen(UnseenVariable { name, file }: &UnseenVariable) {
    let file = near(file);
    tracing::warn!(
        target: TARGET,
        "{file} reads process.env.{name}, which is set here, but scripts do not see it: \
         add {name} to `script_env` in rival.toml"
    );
}

fn log_problem(problem: &Problem) {
    let Problem { file, line, column, message, advice } = problem;
    let (file, advice) = (near(file), advice.as_deref());
    tracing::error!(target: TARGET, advice, "{file}:{line}:{column}: {message}");
}

fn log_warning(Problem { file, line, column, message, .. }: &Problem) {
    let file = near(file);
    tracing::warn!(target: TARGET, "{file}:{line}:{column}: {message}");
}

/// What is known of the files, so that only news are told.
pub(crate) struct KnownFiles {
    workflows: BTreeSet<String>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    unseen: BTreeSet<UnseenVariable>,
    env_allowed: Arc<[String]>,
    /// Runs that are under way call the functions that were loaded last.
    calls_newest: bool,
}

impl KnownFiles {
    fn new(loaded: &Loaded, env_allowed: Arc<[String]>) -> Self {
        let workflows = loaded.workflows.iter().cloned().collect();
        let read = loaded.variables.iter().filter(|(name, _)| !env_allowed.contains(name));
        let set = read.filter(|(name, _)| std::env::var_os(name).is_some());
        let unseen =
            set.map(|(name, file)| UnseenVariable { name: name.clone(), file: file.clone() }).collect();
        Self {
            workflows,
            problems: loaded.problems.clone(),
            warnings: loaded.warnings.clone(),
            unseen,
            env_allowed,
            calls_newest: false,
        }
    }

    /// Logs what is wrong with files that were loaded first.
    pub(crate) fn log(&self) {
        self.problems.iter().for_each(log_problem);
        self.warnings.iter().for_each(log_warning);
        self.unseen.iter().for_each(log_unseen);
        if self.workflows.is_empty() && self.problems.is_empty() {
            let advice = "a workflow file exports `steps` or a workflow that `createWorkflow` made, or is a document *.workflow.json";
            tracing::warn!(target: TARGET, advice, "there are no workflows in these files");
        }
    }

    fn tell(&mut self, loaded: Result<Loaded, ScriptsError>) {
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(error) => return tracing::error!(target: TARGET, "{error}"),
        };
        let now =
            Self { calls_newest: self.calls_newest, ..Self::new(&loaded, Arc::clone(&self.env_allowed)) };
        if !loaded.changed.is_empty() {
            let whose = match self.calls_newest {
                true => {
                    "; runs under way call the new functions from their next attempt on, and keep their plan"
                }
                false => ", for new runs",
            };
            tracing::info!(target: TARGET, "loaded {}{whose}", loaded.changed.join(", "));
        }
        for (workflow, functions) in &loaded.left {
            let functions = functions.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let advice = "their plan names it; after a restart they are blocked until it is there again";
            tracing::warn!(target: TARGET, advice, "{workflow}: runs under way still call {functions} as it was, which the file has no more");
        }
        for gone in self.workflows.difference(&now.workflows) {
            tracing::info!(target: TARGET, "{gone} is gone; its runs go on");
        }
        if !self.problems.is_empty() && now.problems.is_empty() {
            tracing::info!(target: TARGET, "all files can be loaded");
        }
        let has_news = !loaded.changed.is_empty() || self.problems != now.problems;
        // Without a word, one would think that the file was not loaded.
        if !has_news && !now.problems.is_empty() {
            tracing::info!(target: TARGET, "loaded again, and the same is wrong:");
        }
        let told = now.problems.iter().filter(|problem| !has_news || !self.problems.contains(problem));
        told.for_each(log_problem);
        now.warnings.iter().filter(|it| !self.warnings.contains(it)).for_each(log_warning);
        now.unseen.difference(&self.unseen).for_each(log_unseen);
        *self = now;
    }
}

/// Says on stderr that a workflow is not as its file is now, and why.
pub(crate) fn note_stale(workflow: &str, problems: &[SourceProblem], style: TextStyle) {
    if problems.is_empty() {
        return;
    }
    note_problems(problems, style);
    let workflow = clean(workflow);
    note(format_args!("its file cannot be loaded as it is now: `{workflow}` runs as it was before"));
}

/// Says on stderr what keeps files from being loaded.
pub(crate) fn note_problems(problems: &[SourceProblem], style: TextStyle) {
    for SourceProblem { file, line, column, message, advice, .. } in problems {
        let place = format!("{}:{line}:{column}", near(Path::new(file)));
        note(format_args!("{} {}: {}", style.red("problem:"), clean(&place), clean(message)));
        if let Some(advice) = advice {
            note(format_args!("    {}", clean(advice)));
        }
    }
}

/// A file as one would type it here.
pub(crate) fn near(file: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let inside = here.ok().and_then(|here| file.strip_prefix(here).ok().map(Path::to_owned));
    inside.as_deref().unwrap_or(file).display().to_string()
}
