//! All modules that entry files lead to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bounds::ModuleBounds;
use crate::check::{check, missing_from};
use crate::compile::compile;
use crate::module::{ModuleLink, ModuleRequest, RequestedBy, SourceModule, in_package};
use crate::place::{self, LineIndex, TextPosition, number};
use crate::problem::Problem;
use crate::resolve::{ModuleFinder, out_of_bounds};
use crate::stack;

pub(crate) type ModuleTable = BTreeMap<PathBuf, Arc<SourceModule>>;

/// All modules that entry files lead to.
#[derive(Clone, Debug, Default)]
pub struct ScriptProgram {
    /// By their path: absolute, without symbolic links.
    pub modules: BTreeMap<PathBuf, Arc<SourceModule>>,
    /// The paths of entries, as they were given.
    entries: BTreeMap<PathBuf, PathBuf>,
    /// What is wrong between files, by the file that it is shown at.
    problems: BTreeMap<PathBuf, Vec<Problem>>,
}

impl ScriptProgram {
    /// Reads files and all that they lead to, and takes the types away. A module that is the same as in the program before
    /// is that very one. Nothing fails as a whole: ask for the [`ScriptProgram::problems`] of each entry.
    ///
    /// What lies out of bounds is not read: an entry or import that leads there is a problem.
    pub fn load(entries: &[PathBuf], bounds: &ModuleBounds, before: Option<&ScriptProgram>) -> ScriptProgram {
        Loader { before, finder: ModuleFinder::new(bounds), program: ScriptProgram::default() }.load(entries)
    }

    /// Makes problems of names that are imported from a module that Rival brings and that it does not export.
    pub fn check_builtin(&mut self, builtin: &str, exports: &BTreeSet<&str>) {
        for problem in missing_from(&self.modules, builtin, exports) {
            self.report(problem);
        }
    }

    /// The path that an entry has in [`ScriptProgram::modules`].
    pub fn path<'a>(&'a self, entry: &'a Path) -> &'a Path {
        self.entries.get(entry).map_or(entry, PathBuf::as_path)
    }

    /// What keeps an entry from being loaded: what is wrong with it, then with the files that it imports. What is wrong
    /// inside a package is shown at the import of the package. Empty if all is well.
    pub fn problems(&self, entry: &Path) -> Vec<Problem> {
        let entry = self.path(entry);
        let files = self.closure(entry).into_iter().filter(|path| !in_package(path) || path == entry);
        let mut problems: Vec<Problem> = files.flat_map(|path| self.problems_at(&path)).collect();
        problems.sort_by(|a, b| (a.file != entry, a).cmp(&(b.file != entry, b)));
        problems.dedup();
        problems
    }

    /// All modules that an entry needs, itself included.
    pub fn closure(&self, entry: &Path) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.path(entry)];
        while let Some(module) = open.pop().and_then(|path| self.modules.get(path)) {
            if found.insert(module.path.clone()) {
                let needed = module.requests.iter().filter(|request| request.by != RequestedBy::Registration);
                open.extend(needed.filter_map(|request| module.file(request)).map(PathBuf::as_path));
            }
        }
        found
    }

    /// The line and column in TypeScript of a place in a module's code, where columns count bytes. All from 1.
    pub fn origin(&self, module: &Path, line: u32, column: u32) -> Option<(u32, u32)> {
        let module = self.modules.get(module)?;
        let place = module.map.origin(stack::from_bytes(&module.code, line, column))?;
        Some((place.line, place.column))
    }

    /// Where one of some texts stands behind an export of a module, or else anywhere in it, not counting so many places; where
    /// nothing is found, the place of the export.
    pub fn place_behind(
        &self,
        module: &Path,
        export: &str,
        texts: &[String],
        skip: usize,
    ) -> Option<(u32, u32)> {
        let module = self.modules.get(self.path(module))?;
        let source = module.source.as_deref()?;
        let export = module.export_place(export);
        let lines = export.map_or(0, |(line, _)| line.saturating_sub(1) as usize);
        let before: usize = source.split_inclusive('\n').take(lines).map(str::len).sum();
        let find = |from: usize| {
            let places = texts.iter().flat_map(|text| source[from..].match_indices(text.as_str()));
            let mut places: Vec<usize> = places.map(|(at, _)| from + at).collect();
            places.sort_unstable();
            places.get(skip).copied()
        };
        let Some(at) = find(before).or_else(|| find(0)) else { return export };
        let place = LineIndex::new(source).place(number(at));
        Some((place.line, place.column))
    }

    /// Where in TypeScript a byte of a function is whose text is part of a module, or of one that it leads to: file, line and
    /// column.
    pub fn place_in_function(&self, module: &Path, function: &str, at: u32) -> Option<(PathBuf, u32, u32)> {
        let first = self.path(module).to_owned();
        let others = self.closure(&first).into_iter().filter(|path| !in_package(path));
        std::iter::once(first.clone()).chain(others.filter(|path| *path != first)).find_map(|path| {
            let code = &self.modules.get(&path)?.code;
            let before = code.get(..code.find(function)? + at as usize)?;
            let line = before.matches('\n').count() + 1;
            let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
            let (line, column) = self.origin(&path, number(line), number(column))?;
            Some((path, line, column))
        })
    }

    /// A script host's stack trace with places in TypeScript, paths relative to `root`, and only the author's frames.
    pub fn map_stack(&self, stack: &str, root: &Path) -> String {
        stack::map(self, stack, |path| path.strip_prefix(root).unwrap_or(path).display().to_string())
    }

    /// The same with the URLs of files, by which it can be told that its places are those of TypeScript already.
    pub fn map_stack_to_files(&self, stack: &str) -> String {
        stack::map(self, stack, |path| format!("{}{}", stack::MAPPED, path.display()))
    }

    /// The first place in a script host's stack trace that is in a file of the author: file, line and column in
    /// TypeScript.
    pub fn first_place(&self, stack: &str) -> Option<(PathBuf, u32, u32)> {
        stack::first_place(self, stack)
    }

    /// Where in a package a script host's stack trace begins, as it is shown; none if it begins in a file of the author.
    pub fn place_in_package(&self, stack: &str) -> Option<String> {
        let (path, line, column) = stack::place_in_package(self, stack)?;
        Some(format!("{}:{line}:{column}", shown(&path)))
    }

    /// The lines around a line of a module's TypeScript, each with its number.
    pub fn excerpt(&self, module: &Path, line: u32) -> Vec<(u32, String)> {
        let source = self.modules.get(module).and_then(|module| module.source.as_deref());
        place::around(source.unwrap_or_default(), line)
    }

    fn report(&mut self, problem: Problem) {
        self.problems.entry(problem.file.clone()).or_default().push(problem);
    }

    /// What is wrong at a file, with what is wrong inside the packages that it imports.
    fn problems_at(&self, path: &Path) -> Vec<Problem> {
        let Some(module) = self.modules.get(path) else { return Vec::new() };
        let mut problems = module.faults.clone();
        problems.extend(self.problems.get(path).into_iter().flatten().cloned());
        for request in &module.requests {
            let Some(package) = module.file(request).filter(|file| in_package(file)) else { continue };
            let inside = self.closure(package).into_iter().find_map(|file| self.own_problem(&file));
            problems.extend(inside.map(|inside| {
                let Problem { file, line, column, message, advice } = inside;
                let message = format!(
                    "'{}' cannot be loaded: {}:{line}:{column}: {message}",
                    request.specifier,
                    shown(&file)
                );
                Problem { message, advice, ..Problem::new(path, request.place, "") }
            }));
        }
        problems
    }

    fn own_problem(&self, path: &Path) -> Option<Problem> {
        let between = self.problems.get(path).and_then(|problems| problems.first());
        self.modules.get(path)?.faults.first().or(between).cloned()
    }
}

/// The part of a package's path that says something.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    text.rfind("node_modules/").map_or_else(|| text.clone(), |at| text[at..].to_owned())
}

/// A program in the making.
struct Loader<'b> {
    before: Option<&'b ScriptProgram>,
    finder: ModuleFinder<'b>,
    program: ScriptProgram,
}

impl Loader<'_> {
    fn load(mut self, entries: &[PathBuf]) -> ScriptProgram {
        let mut open: VecDeque<PathBuf> = entries.iter().map(|entry| self.enter(entry)).collect();
        while let Some(path) = open.pop_front() {
            if !self.program.modules.contains_key(&path) {
                let module = self.module(&path);
                open.extend(module.links.values().filter_map(|link| match link {
                    ModuleLink::File(path) => Some(path.clone()),
                    ModuleLink::Builtin(_) | ModuleLink::Empty(_) | ModuleLink::Refused(_) => None,
                }));
                self.program.modules.insert(path, module);
            }
        }
        self.refuse_circles();
        for problem in check(&self.program.modules) {
            self.program.report(problem);
        }
        self.program
    }

    /// An ES module that `require` asks for is evaluated at once. That cannot be done in the middle of its own evaluation.
    fn refuse_circles(&mut self) {
        for (path, specifier) in self.circles() {
            let message = format!(
                "{}: '{specifier}' cannot be required: it is an ES module that leads back here",
                shown(&path)
            );
            let module = self.program.modules.get_mut(&path).expect("it was just found");
            Arc::make_mut(module).links.insert(specifier, ModuleLink::Refused(message));
        }
    }

    /// Requests of CommonJS modules for ES modules that lead back to them.
    fn circles(&self) -> Vec<(PathBuf, String)> {
        let modules = &self.program.modules;
        let leads_back = |module: &SourceModule, request: &ModuleRequest| {
            let target = module.file(request).and_then(|path| modules.get(path));
            let es = target.filter(|it| request.by == RequestedBy::Require && !it.is_common_js());
            es.is_some_and(|target| self.program.closure(&target.path).contains(&module.path))
        };
        let mut found = Vec::new();
        for module in modules.values().filter(|it| it.is_common_js()) {
            let circles = module.requests.iter().filter(|request| leads_back(module, request));
            found.extend(circles.map(|request| (module.path.clone(), request.specifier.clone())));
        }
        found
    }

    /// Two ways to one file are one module.
    fn enter(&mut self, entry: &Path) -> PathBuf {
        let path = std::fs::canonicalize(entry).or_else(|_| std::path::absolute(entry));
        let path = path.unwrap_or_else(|_| entry.to_owned());
        self.program.entries.insert(entry.to_owned(), path.clone());
        path
    }

    /// A module with its links. Texts are compiled once; what names mean is asked each time, as other files may be new.
    fn module(&mut self, path: &Path) -> Arc<SourceModule> {
        let mut module = match self.read(path) {
            Ok(source) => self.known(path, &source).unwrap_or_else(|| Arc::new(compile(path, source))),
            Err(fault) => Arc::new(SourceModule { faults: vec![fault], ..SourceModule::empty(path) }),
        };
        let links = self.links(&module);
        if module.links != links {
            Arc::make_mut(&mut module).links = links;
        }
        module
    }

    /// The text of a file. What is imported was looked at when it was found; entries may be links to anywhere.
    fn read(&self, path: &Path) -> Result<String, Problem> {
        if self.finder.bounds.allow(path) {
            return read(path);
        }
        let (message, advice) = out_of_bounds(&path.display().to_string(), self.finder.bounds);
        Err(Problem::new(path, TextPosition::START, message).advise(advice))
    }

    fn known(&self, path: &Path, source: &str) -> Option<Arc<SourceModule>> {
        let known = self.before?.modules.get(path)?;
        (known.source.as_deref() == Some(source)).then(|| Arc::clone(known))
    }

    fn links(&mut self, module: &SourceModule) -> BTreeMap<String, ModuleLink> {
        let mut links = BTreeMap::new();
        for request in &module.requests {
            match self.finder.find(&module.path, request) {
                Ok(link) => link_to(&mut links, request, link),
                // It may be for another platform, or be caught.
                Err((message, advice)) if asks_late(&module.path, request) => {
                    let shown = shown(&module.path);
                    let refused = ModuleLink::Refused(format!("{shown}: {message}. {advice}"));
                    link_to(&mut links, request, refused);
                }
                Err((message, advice)) => {
                    self.program.report(Problem::new(&module.path, request.place, message).advise(advice));
                }
            }
        }
        links
    }
}

/// Whether a package asks for a module only when its code gets there.
fn asks_late(path: &Path, request: &ModuleRequest) -> bool {
    in_package(path) && matches!(request.by, RequestedBy::Call | RequestedBy::Require)
}

fn link_to(links: &mut BTreeMap<String, ModuleLink>, request: &ModuleRequest, link: ModuleLink) {
    match (links.get_mut(&request.specifier), link) {
        (Some(ModuleLink::Empty(names)), ModuleLink::Empty(more)) => names.extend(more),
        (_, link) => _ = links.insert(request.specifier.clone(), link),
    }
}

/// The text of a file.
fn read(path: &Path) -> Result<String, Problem> {
    let bytes = std::fs::read(path).map_err(|error| {
        Problem::new(path, TextPosition::START, format!("the file cannot be read: {error}"))
            .advise("Check that it exists and that you may read it.")
    })?;
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let place = LineIndex::new(&before).place(number(good));
        Problem::new(path, place, "the file is not text in UTF-8").advise("Save it in UTF-8.")
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
