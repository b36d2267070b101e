//! Documents in files: found, checked, registered, and read again when they change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rival_core::view::SourceProblem;
use rival_document::DocumentProblem;
use rival_engine::WorkflowKind;

pub use crate::discover::is_document_file;

use crate::catalog::{DocumentChecks, PendingDocument};
use crate::compiled::{CompiledDocument, DocumentUses};
use crate::discover;
use crate::documents::{Documents, definition_of};
use crate::known::{KnownDocuments, KnownFile, RegisteredFile, told};

/// What came of reading files.
#[derive(Clone, Debug, Default)]
pub struct LoadedFiles {
    /// The workflows that files define now, by name.
    pub workflows: Vec<String>,
    /// Those of them that are new or were changed.
    pub changed: Vec<String>,
    /// What keeps files from being registered as they are. A file that was good before stays as it was.
    pub problems: Vec<FileProblem>,
    /// What could not be proven of those in `changed`, or is probably not meant.
    pub warnings: Vec<FileProblem>,
}

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl FileProblem {
    pub(crate) fn of(file: &Path, problem: &DocumentProblem) -> Self {
        let (line, column) = (problem.place.line, problem.place.column);
        Self { file: file.to_owned(), line, column, message: told(problem) }
    }

    fn of_whole(file: &Path, message: String) -> Self {
        Self { file: file.to_owned(), line: 1, column: 1, message }
    }

    /// As the engine shows it, with the workflow that is as it was before.
    pub(crate) fn as_source_problem(&self, workflow: Option<&str>) -> SourceProblem {
        SourceProblem {
            file: self.file.display().to_string(),
            line: self.line,
            column: self.column,
            message: self.message.clone(),
            advice: None,
            workflows: workflow.map(str::to_owned).into_iter().collect(),
        }
    }
}

impl Documents {
    /// Registers the documents in these folders and files, besides those of before: files `*.workflow.json`. What is wrong
    /// with single files is in the answer and in [`rival_engine::Engine::problems`]; the others are registered all the same.
    /// A file goes before a document of the store that has its name.
    pub async fn register_files(&self, paths: impl IntoIterator<Item = PathBuf>) -> LoadedFiles {
        let mut known = self.known().await;
        for path in paths {
            // One that is not there is said to be so with the rest.
            known.roots.insert(path.canonicalize().unwrap_or(path));
        }
        self.load_files(&mut known).await
    }

    /// Reads what has changed since the last time.
    pub async fn reload_files(&self) -> LoadedFiles {
        self.load_files(&mut *self.known().await).await
    }

    /// The folders that have to be watched to see every change.
    pub async fn folders(&self) -> BTreeSet<PathBuf> {
        let known = self.known().await;
        let folder = |root: &PathBuf| {
            if root.is_dir() { Some(root.clone()) } else { root.parent().map(Path::to_owned) }
        };
        known.roots.iter().filter_map(folder).collect()
    }

    async fn load_files(&self, known: &mut KnownDocuments) -> LoadedFiles {
        let found = find(known);
        let gone: Vec<PathBuf> =
            known.files.keys().filter(|path| !found.contains_key(*path)).cloned().collect();
        for path in gone {
            self.remove_file(known, &path).await;
        }
        let pending = found.values().filter_map(|text| PendingDocument::read(text.as_deref().ok()?));
        let checks = DocumentChecks { pending: Arc::new(pending.collect()), ..self.checks() };
        let mut changed = Vec::new();
        for (path, text) in found {
            changed.extend(self.load_file(known, &checks, path, text).await);
        }
        self.register_freed(known).await;
        if !changed.is_empty() {
            self.recheck_where(known, |uses| changed.iter().any(|name| uses.targets.contains(name))).await;
        }
        self.tell_problems(known);
        let registered = known.files.values().filter_map(|file| file.registered.as_ref());
        let workflows = registered.map(|file| file.name.clone()).collect();
        let problems = known.files.values().flat_map(|file| &file.problems).chain(&known.folder_problems);
        let warnings = known.files.iter().filter(|(_, file)| file.defines(&changed));
        let warnings = warnings.flat_map(|(path, file)| file.warnings(path)).collect();
        LoadedFiles { workflows, changed, problems: problems.cloned().collect(), warnings }
    }

    /// Reads a file as it is now; gives the name of the workflow that is registered anew.
    async fn load_file(
        &self,
        known: &mut KnownDocuments,
        checks: &DocumentChecks,
        path: PathBuf,
        text: Result<String, String>,
    ) -> Option<String> {
        let mut file = known.files.remove(&path).unwrap_or_default();
        file.is_current &= text.as_ref().ok() == file.text.as_ref();
        let checked = match &text {
            Err(message) => Err(vec![FileProblem::of_whole(&path, message.clone())]),
            Ok(text) => self.compiled(checks, &path, text).await,
        };
        file.text = text.ok();
        let mut changed = None;
        match checked {
            Err(problems) => file.problems = problems,
            // It is registered, and what it refers to fits.
            Ok(_) if file.is_current => file.problems.clear(),
            Ok(new) => match self.register_file(known, &path, &mut file, new).await {
                Ok(name) => {
                    file.problems.clear();
                    file.is_current = true;
                    changed = Some(name);
                }
                Err(message) => file.problems = vec![FileProblem::of_whole(&path, message)],
            },
        }
        known.files.insert(path, file);
        changed
    }

    /// Checks files again that use this, and those that could not be registered: what they refer to may be there now. Gives
    /// the names of those that are registered anew.
    pub(crate) async fn recheck_files(
        &self,
        known: &mut KnownDocuments,
        wanted: impl Fn(&DocumentUses) -> bool,
    ) -> Vec<String> {
        let is_wanted = |file: &KnownFile| {
            let registered = file.registered.as_ref().filter(|_| file.is_current);
            registered.is_none_or(|registered| wanted(&registered.compiled.uses))
        };
        let again = known.files.iter().filter(|(_, file)| is_wanted(file));
        let again: Vec<(PathBuf, String)> =
            again.filter_map(|(path, file)| Some((path.clone(), file.text.clone()?))).collect();
        let (checks, mut changed) = (self.checks(), Vec::new());
        for (path, text) in again {
            changed.extend(self.load_file(known, &checks, path, Ok(text)).await);
        }
        changed
    }

    async fn compiled(
        &self,
        checks: &DocumentChecks,
        path: &Path,
        text: &str,
    ) -> Result<RegisteredFile, Vec<FileProblem>> {
        let check = checks.check(text).await;
        let Some(document) = &check.document else {
            return Err(check.errors.iter().map(|error| FileProblem::of(path, error)).collect());
        };
        let compiled = CompiledDocument::new(document);
        let compiled = compiled.map_err(|message| vec![FileProblem::of_whole(path, message)])?;
        Ok(RegisteredFile { name: document.name.clone(), compiled, warnings: check.warnings })
    }

    /// Registers what a file defines, in the place of what it defined before, or of a document of the store.
    async fn register_file(
        &self,
        known: &mut KnownDocuments,
        path: &Path,
        file: &mut KnownFile,
        new: RegisteredFile,
    ) -> Result<String, String> {
        let name = new.name.clone();
        if let Some(other) = known.file_of(&name) {
            return Err(format!("a workflow `{name}` is defined by {} already", other.display()));
        }
        let is_own = file.registered.as_ref().is_some_and(|before| before.name == name);
        if let Ok(info) = self.engine.workflow(&name)
            && !is_own
            && info.origin.kind != WorkflowKind::Document
        {
            return Err(format!("a workflow `{name}` comes from {} already", info.origin));
        }
        let definition = definition_of(&name, &new.compiled, Some(path.display().to_string()));
        let definition = definition.map_err(|error| error.to_string())?;
        self.engine.replace(definition).await.map_err(|error| error.to_string())?;
        if let Some(record) = known.records.get_mut(&name) {
            record.is_registered = false;
        }
        // It has another name now.
        if let Some(before) = file.registered.replace(new)
            && before.name != name
        {
            self.retire(&before.name).await;
        }
        Ok(name)
    }

    async fn remove_file(&self, known: &mut KnownDocuments, path: &Path) {
        let Some(RegisteredFile { name, .. }) = known.files.remove(path).and_then(|file| file.registered)
        else {
            return;
        };
        self.retire(&name).await;
        self.recheck_targets_of(known, &name).await;
    }

    async fn retire(&self, name: &str) {
        if let Err(error) = self.engine.retire(name).await {
            tracing::warn!(workflow = name, %error, "it is gone, and was not forgotten whole");
        }
    }
}

/// The files that may be documents now, each with its text or why it cannot be read.
fn find(known: &mut KnownDocuments) -> BTreeMap<PathBuf, Result<String, String>> {
    let mut found = BTreeSet::new();
    known.folder_problems.clear();
    for root in &known.roots {
        if !root.is_dir() {
            found.insert(root.clone());
            continue;
        }
        match discover::files(root) {
            Ok(files) => found.extend(files),
            Err(error) => {
                let message = format!("the folder cannot be read: {error}");
                known.folder_problems.push(FileProblem::of_whole(root, message));
            }
        }
    }
    let read = |path: PathBuf| {
        let text = discover::read(&path).map_err(|error| format!("the file cannot be read: {error}"));
        (path, text)
    };
    found.into_iter().map(read).collect()
}
