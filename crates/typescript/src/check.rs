//! What only all files together show: names that are not exported, modules of another kind, imports in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::module::{FileKind, ModuleLink, ModuleRequest, RequestedBy, SourceModule, in_package};
use crate::nearest::nearest;
use crate::place::TextPosition;
use crate::problem::Problem;
use crate::program::ModuleTable;

/// All problems between files, by the file that they are shown at.
pub(crate) fn check(modules: &ModuleTable) -> Vec<Problem> {
    let mut problems = Vec::new();
    for module in modules.values() {
        for request in &module.requests {
            let Some(target) = module.file(request).and_then(|path| modules.get(path)) else { continue };
            problems.extend(missing(modules, module, request, target));
        }
    }
    problems.extend(circles(modules));
    problems
}

/// Names that are taken from a module that Rival brings, and that it does not export.
pub(crate) fn missing_from(modules: &ModuleTable, builtin: &str, exports: &BTreeSet<&str>) -> Vec<Problem> {
    let link = ModuleLink::Builtin(builtin.to_owned());
    let mut problems = Vec::new();
    for module in modules.values() {
        for request in
            module.requests.iter().filter(|request| module.links.get(&request.specifier) == Some(&link))
        {
            let gone = request.names.iter().filter(|(name, _)| !exports.contains(name.as_str()));
            problems.extend(gone.map(|(name, place)| absent(module, request, None, exports, name, *place)));
        }
    }
    problems
}

/// Names that a request takes and its module does not export.
fn missing(
    modules: &ModuleTable,
    module: &SourceModule,
    request: &ModuleRequest,
    target: &SourceModule,
) -> Vec<Problem> {
    let Some(exports) = exports(modules, target) else { return Vec::new() };
    let gone = request.names.iter().filter(|(name, _)| !exports.contains(name.as_str()));
    gone.map(|(name, place)| absent(module, request, Some(target), &exports, name, *place)).collect()
}

fn absent(
    module: &SourceModule,
    request: &ModuleRequest,
    target: Option<&SourceModule>,
    exports: &BTreeSet<&str>,
    name: &str,
    place: TextPosition,
) -> Problem {
    let specifier = &request.specifier;
    let message = match name {
        "default" => format!("'{specifier}' has no default export"),
        _ => format!("'{specifier}' does not export `{name}`"),
    };
    let advice = if target.is_some_and(|it| it.types.contains(name)) {
        format!("`{name}` is a type: write `import type` or `export type`.")
    } else if target.is_some_and(|it| it.kind == FileKind::Json) {
        format!("A JSON file has a default export only: `import data from '{specifier}'`.")
    } else if let Some(other) = nearest(name, exports.iter().copied()) {
        format!("Did you mean `{other}`?")
    } else if exports.is_empty() {
        "It exports nothing; put `export` before what others need.".to_owned()
    } else {
        format!("It exports {}.", list(exports))
    };
    Problem::new(&module.path, place, message).advise(advice)
}

/// The first few of many names.
fn list(names: &BTreeSet<&str>) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { " and others" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// All names that a module exports, its `export *` included; none if they cannot be known.
fn exports<'m>(modules: &'m ModuleTable, module: &'m SourceModule) -> Option<BTreeSet<&'m str>> {
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::from([module.path.as_path()]);
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        // What a CommonJS module exports is known when it has run.
        if module.is_broken() || module.is_common_js() {
            return None;
        }
        names.extend(module.exports.iter().map(String::as_str));
        for request in module.requests.iter().filter(|request| request.star) {
            let target = modules.get(module.file(request)?)?;
            if seen.insert(&target.path) {
                open.push(target);
            }
        }
    }
    Some(names)
}

/// One problem for each group of files that import each other. Packages do that, and know how.
fn circles(modules: &ModuleTable) -> Vec<Problem> {
    let mut settled = BTreeSet::new();
    let mut problems = Vec::new();
    for path in modules.keys().filter(|path| !in_package(path)) {
        if settled.contains(path.as_path()) {
            continue;
        }
        if let Some(circle) = shortest_circle(modules, path) {
            settled.extend(circle.iter().copied());
            problems.extend(circular(modules, &circle));
        }
    }
    problems
}

/// The files that a file imports when it is loaded.
fn imports<'m>(
    modules: &'m ModuleTable,
    path: &Path,
) -> impl Iterator<Item = (&'m ModuleRequest, &'m PathBuf)> {
    let module = modules.get(path).map(AsRef::as_ref);
    let requests = module
        .into_iter()
        .flat_map(|module: &SourceModule| module.requests.iter().map(move |it| (module, it)));
    let requests = requests.filter(|(_, request)| request.by == RequestedBy::Import);
    requests
        .filter_map(|(module, request)| Some((request, module.file(request)?)))
        .filter(|(_, target)| !in_package(target))
}

/// The shortest way from a file back to itself.
fn shortest_circle<'m>(modules: &'m ModuleTable, start: &'m Path) -> Option<Vec<&'m Path>> {
    let mut came_from: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(path) = open.pop_front() {
        for (_, target) in imports(modules, path) {
            if target == start {
                let back = std::iter::successors(Some(path), |path| came_from.get(path).copied());
                let mut circle: Vec<&Path> = back.collect();
                circle.reverse();
                return Some(circle);
            }
            if !came_from.contains_key(target.as_path()) {
                came_from.insert(target, path);
                open.push_back(target);
            }
        }
    }
    None
}

/// How many files of a circle a message names.
const CIRCLE_SHOWN: usize = 8;

fn circular(modules: &ModuleTable, circle: &[&Path]) -> Option<Problem> {
    let first = *circle.first()?;
    let next = circle.get(1).copied().unwrap_or(first);
    let (request, _) = imports(modules, first).find(|(_, target)| *target == next)?;
    let folder = first.parent().unwrap_or(Path::new("/"));
    let shown = |path: &&Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let mut names: Vec<String> = circle.iter().chain([&first]).map(shown).collect();
    if let Some(left) = names.len().checked_sub(CIRCLE_SHOWN).filter(|left| *left > 0) {
        names.splice(CIRCLE_SHOWN / 2..CIRCLE_SHOWN / 2 + left, [format!("({left} more)")]);
    }
    let message = format!("files import each other in a circle: {}", names.join(" -> "));
    let advice = "Move what both need into a file of its own. For types alone, write `import type`.";
    Some(Problem::new(first, request.place, message).advise(advice))
}
