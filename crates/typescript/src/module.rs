//! A file of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::place::TextPosition;
use crate::problem::Problem;
use crate::stack::SourceMap;

/// A file, without its types.
#[derive(Clone, Debug)]
pub struct SourceModule {
    /// Where it is: absolute, without symbolic links.
    pub path: PathBuf,
    /// JavaScript; empty if the file is broken.
    pub code: String,
    /// What the specifiers in it mean.
    pub links: BTreeMap<String, ModuleLink>,
    /// The identifiers in its exported `steps`, where an element is one; empty if `steps` is no list.
    pub step_names: Vec<Option<String>>,
    /// The names that it exports itself, without those of `export *`.
    pub exports: BTreeSet<String>,
    /// None if it cannot be read.
    pub(crate) source: Option<String>,
    pub(crate) kind: FileKind,
    pub(crate) map: SourceMap,
    pub(crate) requests: Vec<ModuleRequest>,
    pub(crate) export_places: BTreeMap<String, TextPosition>,
    /// Of the elements of the exported `steps`.
    pub(crate) step_places: Vec<TextPosition>,
    /// Names that exist for the type checker only.
    pub(crate) types: BTreeSet<String>,
    /// What its text alone shows.
    pub(crate) faults: Vec<Problem>,
}

/// What a specifier means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleLink {
    /// A module of the program.
    File(PathBuf),
    /// A module that Rival brings: `rival`, `rival/document`, `rival/test`, `zod`.
    Builtin(String),
    /// Nothing, as the package wants it where it is no Node.js; with the names that the file takes all the same.
    Empty(BTreeSet<String>),
    /// It cannot be had; packages are told so when they ask for it, which they may never do.
    Refused(String),
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Es,
    CommonJs,
    Json,
}

/// A mention of another module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ModuleRequest {
    pub(crate) specifier: String,
    pub(crate) by: RequestedBy,
    pub(crate) place: TextPosition,
    /// The names that it takes.
    pub(crate) names: Vec<(String, TextPosition)>,
    /// It hands on all names: `export *`.
    pub(crate) star: bool,
}

/// How another module is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedBy {
    /// `import`, `export from`.
    Import,
    /// `import('./x.ts')`.
    Call,
    /// `require('./x.js')`.
    Require,
    /// `workflow('./x.ts')`.
    Workflow,
    /// `registerWorkflowFile('./x.ts')`: a file of its own, which may be broken.
    Registration,
}

impl SourceModule {
    pub(crate) fn empty(path: &Path) -> Self {
        SourceModule {
            path: path.to_owned(),
            code: String::new(),
            links: BTreeMap::new(),
            step_names: Vec::new(),
            exports: BTreeSet::new(),
            source: None,
            kind: FileKind::Es,
            map: SourceMap::default(),
            requests: Vec::new(),
            export_places: BTreeMap::new(),
            step_places: Vec::new(),
            types: BTreeSet::new(),
            faults: Vec::new(),
        }
    }

    /// Its text, as its author wrote it; empty if it cannot be read.
    pub fn text(&self) -> &str {
        self.source.as_deref().unwrap_or_default()
    }

    /// Where an export is named: line and column.
    pub fn export_place(&self, name: &str) -> Option<(u32, u32)> {
        self.export_places.get(name).map(|place| (place.line, place.column))
    }

    /// Where an element of the exported `steps` is, if those are written as a list: line and column.
    pub fn step_place(&self, index: usize) -> Option<(u32, u32)> {
        self.step_places.get(index).map(|place| (place.line, place.column))
    }

    /// The file that a request of this module leads to.
    pub(crate) fn file(&self, request: &ModuleRequest) -> Option<&PathBuf> {
        match self.links.get(&request.specifier)? {
            ModuleLink::File(path) => Some(path),
            ModuleLink::Builtin(_) | ModuleLink::Empty(_) | ModuleLink::Refused(_) => None,
        }
    }

    /// Whether its code is a function of `exports`, `require`, `module` and so on, rather than an ES module.
    pub fn is_common_js(&self) -> bool {
        self.kind == FileKind::CommonJs
    }

    pub(crate) fn is_broken(&self) -> bool {
        !self.faults.is_empty()
    }
}

/// Whether a file belongs to a package and not to the author of the workflows.
pub(crate) fn in_package(path: &Path) -> bool {
    path.components().any(|part| part == Component::Normal("node_modules".as_ref()))
}
