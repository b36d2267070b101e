//! What is known of the documents of an engine: which are registered, from where, and what is wrong with them now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rival_core::view::SourceProblem;
use rival_document::{DocumentProblem, SourcePlace};

use crate::compiled::{CompiledDocument, DocumentUses};
use crate::files::FileProblem;

/// How many problems of one document are among those of the engine: no person reads a list of thousands.
const SHOWN_MAX: usize = 20;

/// Documents of the store by name, and files.
#[derive(Debug, Default)]
pub(crate) struct KnownDocuments {
    pub(crate) records: BTreeMap<String, KnownRecord>,
    pub(crate) files: BTreeMap<PathBuf, KnownFile>,
    /// Folders and single files that were asked for.
    pub(crate) roots: BTreeSet<PathBuf>,
    /// What keeps folders from being read.
    pub(crate) folder_problems: Vec<FileProblem>,
}

/// The newest version of a document in the store.
#[derive(Debug)]
pub(crate) struct KnownRecord {
    pub(crate) version: u64,
    pub(crate) uses: DocumentUses,
    /// Whether new runs of its name have its plan.
    pub(crate) is_registered: bool,
    /// Why the engine does not take it.
    pub(crate) refused: Option<String>,
    /// What is wrong with it now, although it was right when it was saved.
    pub(crate) errors: Vec<DocumentProblem>,
}

/// A file, as it was read last.
#[derive(Debug, Default)]
pub(crate) struct KnownFile {
    /// Absent if it could not be read.
    pub(crate) text: Option<String>,
    /// What is registered: of the last text that was good.
    pub(crate) registered: Option<RegisteredFile>,
    /// Whether that is this text.
    pub(crate) is_current: bool,
    pub(crate) problems: Vec<FileProblem>,
}

/// A workflow that a file defines.
#[derive(Debug)]
pub(crate) struct RegisteredFile {
    pub(crate) name: String,
    pub(crate) compiled: CompiledDocument,
    pub(crate) warnings: Vec<DocumentProblem>,
}

impl KnownDocuments {
    /// The file that a workflow is registered from.
    pub(crate) fn file_of(&self, name: &str) -> Option<&Path> {
        let is_of = |file: &KnownFile| file.registered.as_ref().is_some_and(|it| it.name == name);
        self.files.iter().find(|(_, file)| is_of(file)).map(|(path, _)| path.as_path())
    }

    /// Everything that is wrong now, as the engine shows it.
    pub(crate) fn problems(&self) -> Vec<SourceProblem> {
        let of_records = self.records.iter().flat_map(|(name, record)| record.problems(name));
        let of_files = self.files.values().flat_map(KnownFile::source_problems);
        let of_folders = self.folder_problems.iter().map(|problem| problem.as_source_problem(None));
        of_records.chain(of_files).chain(of_folders).collect()
    }
}

impl KnownFile {
    /// Whether it defines one of these workflows.
    pub(crate) fn defines(&self, names: &[String]) -> bool {
        self.registered.as_ref().is_some_and(|registered| names.contains(&registered.name))
    }

    /// What could not be proven of what is registered.
    pub(crate) fn warnings(&self, path: &Path) -> Vec<FileProblem> {
        let warnings = self.registered.iter().flat_map(|registered| &registered.warnings);
        warnings.take(SHOWN_MAX).map(|warning| FileProblem::of(path, warning)).collect()
    }

    fn source_problems(&self) -> impl Iterator<Item = SourceProblem> {
        let workflow = self.registered.as_ref().map(|registered| registered.name.as_str());
        self.problems.iter().take(SHOWN_MAX).map(move |problem| problem.as_source_problem(workflow))
    }
}

impl KnownRecord {
    fn problems(&self, name: &str) -> Vec<SourceProblem> {
        let problem = |place: SourcePlace, message: String, advice: Option<&str>| SourceProblem {
            file: format!("document {name}"),
            line: place.line,
            column: place.column,
            message,
            advice: advice.map(str::to_owned),
            workflows: Vec::new(),
        };
        let stale = "new runs have its plan as it was saved; mend it and save it again";
        let errors =
            self.errors.iter().take(SHOWN_MAX).map(|error| problem(error.place, told(error), Some(stale)));
        let refused = self.refused.iter().map(|why| problem(SourcePlace::START, why.clone(), None));
        refused.chain(errors).collect()
    }
}

/// A problem without its place, which is shown before it.
pub(crate) fn told(problem: &DocumentProblem) -> String {
    let whole = problem.to_string();
    let place = format!("{}: ", problem.place);
    whole.strip_prefix(&place).map_or_else(|| whole.clone(), str::to_owned)
}
