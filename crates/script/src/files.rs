//! Workflow files: found, loaded, registered, and loaded again when they change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use futures::stream::{self, StreamExt};
use rival_core::RunStatus;
use rival_core::plan::{FunctionRef, is_unnamed};
use rival_engine::store::{Page, RunFilter};
use rival_engine::{Definition, Engine, RegisterError, SourceProblem};
use rival_typescript::{ModuleBounds, Problem, ScriptProgram, SourceModule};
use tokio::sync::Mutex;

use crate::definition::{DescribedWorkflow, FileDescription};
use crate::describe::{DescribeError, describe, problem};
use crate::discover;
use crate::error::ScriptsError;
use crate::function::ScriptTarget;
use crate::pool::HostPool;
use crate::realm::{ScriptRealm, compile};
use crate::registry::{self, LaunchArgs, RunLauncher};
use crate::settings::ScriptSettings;
use crate::triggers::{ComingWorkflow, TriggerTargets, WorkflowTriggers};
use crate::variables;
use crate::wanted::{MissingStep, SeenSteps};

/// What problems of files are filed under.
const SOURCE: &str = "files";

/// Script hosts, and the files whose functions they run. Cheap to clone; all clones are the same.
#[derive(Clone, Debug)]
pub struct Scripts {
    pub(crate) pool: Arc<HostPool>,
    files: Arc<Mutex<Files>>,
    /// Whether all workflows are among the files. A test loads one, which may be part of others, and replaces steps that could not
    /// work in it alone.
    is_whole: bool,
}

/// What came of loading files.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The workflows that can be started now, by name.
    pub workflows: Vec<String>,
    /// Those of them that are new or were changed.
    pub changed: Vec<String>,
    /// What keeps files from being loaded. Others are not affected, and a file that was good before stays as it was.
    pub problems: Vec<Problem>,
    /// The variables of `process.env` that files read by name, each with one of these files.
    pub variables: BTreeMap<String, PathBuf>,
    /// Functions that a changed workflow has no more, by workflow, where runs are under way whose plan names them. Those
    /// call them as they were, until the process ends.
    pub left: BTreeMap<String, Vec<String>>,
    /// What is probably not meant in files that are loaded: triggers that start workflows which are not there, or which take something else.
    pub warnings: Vec<Problem>,
}

#[derive(Debug, Default)]
struct Files {
    /// What was asked for: folders and single files.
    roots: BTreeSet<PathBuf>,
    program: Option<Arc<ScriptProgram>>,
    /// Files that are loaded, with what was loaded.
    loaded: BTreeMap<PathBuf, LoadedFile>,
    /// Entries whose runs were started.
    launched: BTreeSet<PathBuf>,
    /// The workflows that can be started.
    offered: BTreeSet<String>,
}

/// A file that is loaded.
#[derive(Debug)]
struct LoadedFile {
    /// The modules that it is made of: when they are the same, so is the file.
    modules: Vec<Arc<SourceModule>>,
    /// Its workflows by name, each with the module that defines it.
    workflows: BTreeMap<String, PathBuf>,
    /// What an entry registers besides.
    roots: Vec<PathBuf>,
    /// What its functions see of the steps that they want.
    seen: SeenSteps,
    triggers: Vec<WorkflowTriggers>,
}

impl Scripts {
    /// Starts no host yet: they come with the first file.
    pub fn new(settings: ScriptSettings) -> Self {
        Self { pool: HostPool::new(settings), files: Arc::default(), is_whole: true }
    }

    /// Single files of a test, on hosts that are there.
    pub(crate) fn of_test(pool: &Arc<HostPool>) -> Self {
        Self { pool: Arc::clone(pool), files: Arc::default(), is_whole: false }
    }

    /// Registers the workflow files of a folder, or one file. What is wrong with single files is in the answer and in
    /// [`Engine::problems`]; the others are registered all the same.
    pub async fn register(&self, engine: &Engine, path: impl AsRef<Path>) -> Result<Loaded, ScriptsError> {
        self.register_with(engine, path.as_ref(), |_| ()).await
    }

    /// Registers files as they are after a change of their definitions.
    pub(crate) async fn register_with(
        &self,
        engine: &Engine,
        path: &Path,
        mut change: impl FnMut(&mut Definition) + Send,
    ) -> Result<Loaded, ScriptsError> {
        let found = path.canonicalize();
        let root = found.map_err(|error| ScriptsError::Path { path: path.to_owned(), error })?;
        let mut files = self.files.lock().await;
        files.roots.insert(root);
        self.load(&mut files, engine, &mut change).await
    }

    /// Loads what has changed since the last time.
    pub async fn reload(&self, engine: &Engine) -> Result<Loaded, ScriptsError> {
        self.load(&mut *self.files.lock().await, engine, &mut |_| ()).await
    }

    /// The folders that have to be watched to see every change.
    pub async fn folders(&self) -> BTreeSet<PathBuf> {
        let files = self.files.lock().await;
        let modules = files.program.iter().flat_map(|program| program.modules.keys());
        let of_modules = modules.filter_map(|file| file.parent().map(Path::to_owned));
        let roots = files.all_roots().into_iter().filter(|root| root.is_dir());
        of_modules.chain(roots).filter(|folder| !folder.iter().any(|it| it == "node_modules")).collect()
    }

    /// What files may import.
    fn bounds(&self, roots: &BTreeSet<PathBuf>) -> ModuleBounds {
        ModuleBounds::beneath(roots.iter().chain(&self.pool.settings.import_roots))
    }

    async fn load(
        &self,
        files: &mut Files,
        engine: &Engine,
        change: &mut Change<'_>,
    ) -> Result<Loaded, ScriptsError> {
        let hosts: Weak<HostPool> = Arc::downgrade(&self.pool);
        engine.add_hosts(hosts);
        // What is gone defines nothing any more; who moved it there may define it anew.
        files.loaded.retain(|file, _| file.exists());
        let mut load = LoadPass::new(self, engine, change);
        // An entry may register more files, which are loaded in the next round.
        while load.round(files).await? {}
        load.retire(files).await?;
        load.launch(files).await;
        Ok(load.conclude(files))
    }
}

impl Files {
    /// What was asked for, by users and by the entries that they gave.
    fn all_roots(&self) -> BTreeSet<PathBuf> {
        self.roots.iter().chain(self.loaded.values().flat_map(|file| &file.roots)).cloned().collect()
    }
}

/// What is done to definitions before they are registered.
type Change<'a> = dyn FnMut(&mut Definition) + Send + 'a;

/// A file that is to be loaded.
struct ChangedFile {
    path: PathBuf,
    modules: Vec<Arc<SourceModule>>,
    realm: Arc<ScriptRealm>,
    /// It was asked for by name, and may register others.
    is_root: bool,
}

/// One time of loading.
struct LoadPass<'a> {
    scripts: &'a Scripts,
    engine: &'a Engine,
    change: &'a mut Change<'a>,
    problems: Vec<Problem>,
    changed: Vec<String>,
    /// Files that were looked at.
    seen: BTreeSet<PathBuf>,
    launches: Vec<(PathBuf, Vec<LaunchArgs>)>,
    /// What keeps a file from being loaded as it is now.
    broken: BTreeMap<PathBuf, Vec<Problem>>,
    /// Workflows that are as they were although their files could be loaded, each with what is wrong with it.
    kept: Vec<(String, Problem)>,
    /// Functions that a workflow has no more, and that runs under way may still need.
    left: BTreeMap<String, Vec<String>>,
    /// What functions see of the steps that they want, in all workflows.
    seen_steps: SeenSteps,
    /// Workflows that are registered in a moment, by name.
    coming: BTreeMap<String, ComingWorkflow>,
    /// Whether all files could be looked at, so that there is no other workflow which may have a step.
    has_all: bool,
}

impl<'a> LoadPass<'a> {
    fn new(scripts: &'a Scripts, engine: &'a Engine, change: &'a mut Change<'a>) -> Self {
        let (problems, changed, seen, launches, broken, kept, left, seen_steps, coming) = Default::default();
        let has_all = true;
        Self {
            scripts,
            engine,
            change,
            problems,
            changed,
            seen,
            launches,
            broken,
            kept,
            left,
            seen_steps,
            coming,
            has_all,
        }
    }

    /// Looks at files that were not looked at yet; says whether there were any.
    async fn round(&mut self, files: &mut Files) -> Result<bool, ScriptsError> {
        let entries = self.entries(files);
        if self.seen.is_superset(&entries) {
            return Ok(false);
        }
        let all: Vec<PathBuf> = entries.iter().chain(&self.seen).cloned().collect();
        let before = files.program.clone();
        let bounds = self.scripts.bounds(&files.roots);
        let program = tokio::task::spawn_blocking(move || compile(&all, &bounds, before.as_deref())).await;
        let program = Arc::new(program.map_err(|error| ScriptsError::Host(error.to_string()))?);
        files.program = Some(Arc::clone(&program));
        let mut new = Vec::new();
        for file in entries.difference(&self.seen.clone()) {
            self.seen.insert(file.clone());
            new.extend(self.changed_file(files, file, &program));
        }
        let imported = imported(&program);
        let pool = &self.scripts.pool;
        // Each is evaluated in a realm of its own, as many at a time as there are hosts.
        let described = stream::iter(new).map(async |file: ChangedFile| {
            let description = describe(pool, &file.path, &file.realm, file.is_root).await;
            (file, description)
        });
        let described: Vec<_> = described.buffered(pool.settings.hosts).collect().await;
        self.note_steps(files, &described);
        for (file, description) in described {
            let is_imported = imported.contains(&file.path);
            self.file(files, file, description, &program, is_imported).await?;
        }
        Ok(true)
    }

    /// Notes which steps functions see, in the workflows that were just read and in those that stay as they are.
    fn note_steps(
        &mut self,
        files: &Files,
        described: &[(ChangedFile, Result<FileDescription, DescribeError>)],
    ) {
        let is_read = |path: &Path| described.iter().any(|(file, read)| file.path == path && read.is_ok());
        let staying = files.loaded.iter().filter(|(path, _)| !is_read(path));
        staying.for_each(|(_, file)| self.seen_steps.add(file.seen.clone()));
        for read in described.iter().filter_map(|(_, read)| read.as_ref().ok()) {
            self.seen_steps.add(seen_in(&read.workflows));
            let coming = read.workflows.iter().map(|it| (it.name.clone(), ComingWorkflow::of(it)));
            self.coming.extend(coming);
        }
        let is_broken =
            |read: &Result<_, DescribeError>| read.as_ref().is_err_and(|error| !error.is_no_workflow());
        self.has_all &= self.problems.is_empty() && !described.iter().any(|(_, read)| is_broken(read));
    }

    /// The files that may be workflows now.
    fn entries(&mut self, files: &Files) -> BTreeSet<PathBuf> {
        let mut entries = BTreeSet::new();
        for root in files.all_roots() {
            if !root.is_dir() {
                entries.insert(root);
                continue;
            }
            match discover::files(&root) {
                Ok(found) => entries.extend(found),
                Err(error) => self.problem(&root, &format!("the folder cannot be read: {error}"), None),
            }
        }
        entries
    }

    /// A file that is not loaded as it is now; none if it is, or if something is wrong with it.
    fn changed_file(
        &mut self,
        files: &Files,
        file: &Path,
        program: &Arc<ScriptProgram>,
    ) -> Option<ChangedFile> {
        let problems = program.problems(file);
        if !problems.is_empty() {
            self.is_broken(file, problems);
            return None;
        }
        let modules = modules(program, file);
        if files.loaded.get(file).is_some_and(|loaded| same(&loaded.modules, &modules)) {
            return None;
        }
        let root = common(files.roots.iter());
        let realm = Arc::new(ScriptRealm::new(&self.scripts.pool, file, Arc::clone(program), root));
        Some(ChangedFile { path: file.to_owned(), modules, realm, is_root: files.all_roots().contains(file) })
    }

    async fn file(
        &mut self,
        files: &mut Files,
        changed: ChangedFile,
        described: Result<FileDescription, DescribeError>,
        program: &ScriptProgram,
        imported: bool,
    ) -> Result<(), ScriptsError> {
        let ChangedFile { path: file, modules, realm, .. } = changed;
        let description = match described {
            Ok(description) => description,
            // A module that others use need not be a workflow.
            Err(wrong) if imported && wrong.is_no_workflow() => {
                files.loaded.remove(&file);
                return Ok(());
            }
            Err(DescribeError::Host(error)) => return Err(error),
            Err(wrong) => {
                self.is_broken(&file, vec![wrong.problem(&file, program)]);
                return Ok(());
            }
        };
        let mut roots = Vec::new();
        let bounds = self.scripts.bounds(&files.roots);
        for path in description.directories.iter().chain(&description.files) {
            match path.canonicalize() {
                Ok(path) if bounds.allow(&path) => roots.push(path),
                Ok(path) => {
                    let message = format!("{} is out of the folder of the workflows", path.display());
                    self.problem(
                        &file,
                        &message,
                        Some("move it there, or allow its folder with `script_imports`"),
                    );
                }
                Err(error) => {
                    let message = format!("{} cannot be registered: {error}", path.display());
                    self.problem(&file, &message, Some("paths are relative to the file that names them"));
                }
            }
        }
        if !description.launches.is_empty() {
            self.launches.push((file.clone(), description.launches));
        }
        let seen = seen_in(&description.workflows);
        let triggers: Vec<_> = description.workflows.iter().filter_map(WorkflowTriggers::of).collect();
        let (workflows, all) = self.register(files, &file, description.workflows, &realm).await?;
        // Of a version that was refused, all was said.
        let is_taken =
            |name: &str| workflows.contains_key(name) && self.kept.iter().all(|(kept, _)| kept != name);
        let triggers = triggers.into_iter().filter(|triggers| is_taken(triggers.workflow())).collect();
        // What could not be registered is tried again the next time.
        let modules = if all { modules } else { Vec::new() };
        files.loaded.insert(file, LoadedFile { modules, workflows, roots, seen, triggers });
        Ok(())
    }

    /// Registers the workflows of a file; says whether all could be.
    async fn register(
        &mut self,
        files: &Files,
        file: &Path,
        described: Vec<DescribedWorkflow>,
        realm: &Arc<ScriptRealm>,
    ) -> Result<(BTreeMap<String, PathBuf>, bool), ScriptsError> {
        let (mut registered, mut all) = (BTreeMap::new(), true);
        for mut workflow in described {
            let name = workflow.name.clone();
            let told = self.problems.len();
            let verdict = self.judge(file, &mut workflow, realm);
            all &= verdict == Verdict::Right;
            if verdict == Verdict::Wrong {
                registered.extend(self.kept_version(files, file, name, told));
                continue;
            }
            let theirs = files.loaded.iter().filter(|(_, loaded)| loaded.workflows.contains_key(&name));
            let clash = theirs.clone().find(|(other, loaded)| {
                other.as_path() != file && loaded.workflows[&name] != workflow.module
            });
            if let Some((other, _)) = clash {
                self.problems.push(duplicate(&workflow, file, other, realm));
                all = false;
                continue;
            }
            // A module that registers a workflow itself may be part of several files.
            let module = workflow.module.clone();
            if self.changed.contains(&name) {
                registered.insert(name, module);
                continue;
            }
            let is_ours = theirs.count() > 0 || files.offered.contains(&name);
            let target = self.target(file, &name, realm);
            let mut definition = workflow.define(&target);
            (self.change)(&mut definition);
            let left = if is_ours { left_by(self.engine, &definition).await } else { Vec::new() };
            let done = if is_ours {
                self.engine.replace(definition).await
            } else {
                self.engine.register(definition).await
            };
            match done {
                Ok(()) => {
                    self.changed.push(name.clone());
                    if !left.is_empty() {
                        self.left.insert(name.clone(), left);
                    }
                    registered.insert(name, module);
                }
                Err(RegisterError::Store(error)) => return Err(RegisterError::Store(error).into()),
                Err(error) => {
                    self.problem(file, &error.to_string(), None);
                    all = false;
                }
            }
        }
        Ok((registered, all))
    }

    /// The last good version of a workflow, which stays because of the problems that were told since.
    fn kept_version(
        &mut self,
        files: &Files,
        file: &Path,
        name: String,
        told: usize,
    ) -> Option<(String, PathBuf)> {
        let module = files.loaded.get(file)?.workflows.get(&name)?.clone();
        let problems = self.problems[told..].iter();
        self.kept.extend(problems.map(|problem| (name.clone(), problem.clone())));
        Some((name, module))
    }

    /// Where the functions of a workflow are.
    fn target(&self, file: &Path, workflow: &str, realm: &Arc<ScriptRealm>) -> Arc<ScriptTarget> {
        Arc::new(ScriptTarget {
            pool: Arc::clone(&self.scripts.pool),
            realm: Arc::clone(realm),
            file: file.into(),
            workflow: workflow.to_owned(),
            launcher: RunLauncher(self.engine.downgrade()),
            host: None,
        })
    }

    /// Looks for what is wrong with a workflow, and tells its author.
    fn judge(&mut self, file: &Path, workflow: &mut DescribedWorkflow, realm: &ScriptRealm) -> Verdict {
        if let Some(message) = workflow.mistakable() {
            self.problem(file, &message, Some("give the nodes names: `name: '…'`"));
            return Verdict::Wrong;
        }
        if let Some(triggers) = WorkflowTriggers::of(workflow) {
            let targets = TriggerTargets { engine: self.engine, coming: &self.coming };
            let wrong = triggers.plan(workflow, &targets, realm.program());
            if !wrong.is_empty() {
                self.problems.extend(wrong);
                return Verdict::Wrong;
            }
        }
        if !self.scripts.is_whole {
            return Verdict::Right;
        }
        let (told, open): (Vec<_>, Vec<_>) = MissingStep::all(workflow, &self.seen_steps)
            .into_iter()
            .partition(|step| step.is_certain || self.has_all);
        self.problems.extend(told.iter().map(|step| step_problem(step, file, workflow, realm)));
        match (told.is_empty(), open.is_empty()) {
            (false, _) => Verdict::Wrong,
            (true, false) => Verdict::Open,
            (true, true) => Verdict::Right,
        }
    }

    /// Workflows whose files are gone, or that their files do not define any more, cannot be started any more.
    async fn retire(&mut self, files: &mut Files) -> Result<(), ScriptsError> {
        let gone: Vec<PathBuf> =
            files.loaded.keys().filter(|file| !self.seen.contains(*file)).cloned().collect();
        for file in gone {
            files.loaded.remove(&file);
        }
        let now: BTreeSet<String> =
            files.loaded.values().flat_map(|file| file.workflows.keys().cloned()).collect();
        for name in files.offered.difference(&now) {
            self.engine.retire(name).await?;
        }
        files.offered = now;
        Ok(())
    }

    /// Starts what entries start, once.
    async fn launch(&mut self, files: &mut Files) {
        for (file, launches) in std::mem::take(&mut self.launches) {
            if !files.launched.insert(file.clone()) {
                continue;
            }
            for launch in launches {
                let workflow = launch.workflow.clone();
                if let Err(error) = registry::launch(self.engine, launch).await {
                    self.problem(&file, &format!("`{workflow}` could not be started: {error}"), None);
                }
            }
        }
    }

    /// A file cannot be loaded as it is now.
    fn is_broken(&mut self, file: &Path, problems: Vec<Problem>) {
        self.problems.extend(problems.iter().cloned());
        self.broken.insert(file.to_owned(), problems);
    }

    fn problem(&mut self, file: &Path, message: &str, advice: Option<&str>) {
        self.problems.push(problem(file, message, advice));
    }

    fn conclude(mut self, files: &Files) -> Loaded {
        self.problems.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        self.problems.dedup();
        let told = self.problems.iter().map(|problem| SourceProblem {
            workflows: self.kept_by(problem, files),
            ..source_problem(problem)
        });
        self.engine.set_problems(SOURCE, told.collect());
        let warnings = if self.scripts.is_whole { self.doubts(files) } else { Vec::new() };
        let workflows = files.offered.iter().cloned().collect();
        let variables = files.program.as_deref().map(variables::read_by).unwrap_or_default();
        Loaded {
            workflows,
            changed: self.changed,
            problems: self.problems,
            variables,
            left: self.left,
            warnings,
        }
    }

    /// What is probably not meant, now that all workflows are registered.
    fn doubts(&self, files: &Files) -> Vec<Problem> {
        let Some(program) = files.program.as_deref() else { return Vec::new() };
        let targets = TriggerTargets { engine: self.engine, coming: &BTreeMap::new() };
        let triggers = files.loaded.values().flat_map(|file| &file.triggers);
        triggers.flat_map(|triggers| triggers.doubts(&targets, program)).collect()
    }

    /// The workflows that are as they were, because of a problem.
    fn kept_by(&self, problem: &Problem, files: &Files) -> Vec<String> {
        let broken = self.broken.iter().filter(|(_, problems)| problems.contains(problem));
        let loaded = broken.filter_map(|(file, _)| files.loaded.get(file));
        let alone = self.kept.iter().filter(|(_, theirs)| theirs == problem).map(|(name, _)| name);
        let kept: BTreeSet<&String> = loaded.flat_map(|file| file.workflows.keys()).chain(alone).collect();
        kept.into_iter().cloned().collect()
    }
}

/// The functions of a workflow that its new definition has no more, if runs are under way that may need them.
async fn left_by(engine: &Engine, definition: &Definition) -> Vec<String> {
    let name = &definition.plan.workflow;
    let Ok(before) = engine.workflow(name) else { return Vec::new() };
    let named = before.plan.functions().into_iter().filter_map(|function| match function {
        FunctionRef::Named(function) => Some(function),
        FunctionRef::Builtin(_) => None,
    });
    let gone = named.filter(|it| !definition.functions.contains_key(*it) && !is_unnamed(it));
    let gone: BTreeSet<&String> = gone.collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let statuses = RunStatus::ALL.into_iter().filter(|status| !status.is_terminal()).collect();
    let filter = RunFilter { workflow: Some(name.clone()), statuses, ..RunFilter::default() };
    let under_way = engine.runs(&filter, &Page { before: None, limit: 1 }).await;
    // What is not known is no reason to load nothing.
    let is_any = under_way.is_ok_and(|runs| !runs.is_empty());
    if is_any { gone.into_iter().cloned().collect() } else { Vec::new() }
}

fn seen_in(workflows: &[DescribedWorkflow]) -> SeenSteps {
    let mut seen = SeenSteps::default();
    workflows.iter().for_each(|workflow| seen.add(SeenSteps::of(workflow)));
    seen
}

/// A function wants a step that is not there.
fn step_problem(
    step: &MissingStep,
    file: &Path,
    workflow: &DescribedWorkflow,
    realm: &ScriptRealm,
) -> Problem {
    let export = workflow.exported.as_deref().unwrap_or("steps");
    let at = realm.function_place(&workflow.module, &step.text, step.at).or_else(|| {
        let (line, column) = realm.export_place(&workflow.module, export)?;
        Some((workflow.module.clone(), line, column))
    });
    let (file, line, column) = at.unwrap_or_else(|| (file.to_owned(), 1, 1));
    Problem { line, column, ..problem(&file, step.message.as_str(), Some(&step.advice)) }
}

/// Whether a workflow is right, as far as its text shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    /// A file that cannot be read now may run it in place, and have what it wants.
    Open,
}

/// Two files define a workflow of one name.
fn duplicate(workflow: &DescribedWorkflow, file: &Path, other: &Path, realm: &ScriptRealm) -> Problem {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let other = other.strip_prefix(here).unwrap_or(other);
    let message = format!("a workflow `{}` is defined by {} already", workflow.name, other.display());
    let (export, advice) = match &workflow.exported {
        Some(export) => (export.as_str(), "give one of them another name: createWorkflow('…')"),
        None => ("steps", "give one of them another name: `export const name = '…'`"),
    };
    let (line, column) = realm.export_place(&workflow.module, export).unwrap_or((1, 1));
    Problem { line, column, ..problem(file, message, Some(advice)) }
}

fn source_problem(problem: &Problem) -> SourceProblem {
    SourceProblem {
        file: problem.file.display().to_string(),
        line: problem.line,
        column: problem.column,
        message: problem.message.clone(),
        advice: problem.advice.clone(),
        workflows: Vec::new(),
    }
}

/// The modules that a file is made of.
fn modules(program: &ScriptProgram, file: &Path) -> Vec<Arc<SourceModule>> {
    program.closure(file).iter().filter_map(|path| program.modules.get(path).cloned()).collect()
}

fn same(a: &[Arc<SourceModule>], b: &[Arc<SourceModule>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b) || a.code == b.code)
}

/// Files that others import.
fn imported(program: &ScriptProgram) -> BTreeSet<PathBuf> {
    let links = program.modules.values().flat_map(|module| module.links.values());
    links
        .filter_map(|link| match link {
            rival_typescript::ModuleLink::File(path) => Some(path.clone()),
            _ => None,
        })
        .collect()
}

/// The folder that paths in messages are relative to.
pub(crate) fn common<'a>(mut roots: impl Iterator<Item = &'a PathBuf>) -> Arc<Path> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    let inside = roots.all(|root| root.starts_with(&here));
    if inside { here.into() } else { Path::new("/").into() }
}
