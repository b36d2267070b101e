//! The types of workflow files under `rival dev`, as the project's own TypeScript compiler judges them. It runs beside the
//! server: a file is loaded whatever its types are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::Command;
use tokio_util::task::AbortOnDropHandle;

use crate::workflow_files::{TARGET, near};

/// How many errors are logged at a time.
const SHOWN: usize = 10;

/// Checks types in the background.
#[derive(Debug)]
pub(crate) struct TypeChecker {
    compiler: PathBuf,
    /// The folder of tsconfig.json.
    project: PathBuf,
    /// What was wrong the last time, so that only news are told.
    known: Arc<Mutex<BTreeSet<String>>>,
    running: Option<AbortOnDropHandle<()>>,
}

impl TypeChecker {
    /// For the project that the files belong to, if it has a tsconfig.json and has installed a compiler.
    pub(crate) fn find(paths: &[PathBuf]) -> Option<Self> {
        let file = paths.iter().find_map(|path| path.canonicalize().ok())?;
        let project = file.ancestors().find(|folder| folder.join("tsconfig.json").is_file())?;
        let compilers = project.ancestors().map(|folder| folder.join("node_modules/.bin/tsc"));
        let compiler = compilers.into_iter().find(|compiler| compiler.is_file())?;
        Some(Self { compiler, project: project.to_owned(), known: Arc::default(), running: None })
    }

    /// Begins to check, and logs what is new. A check that is still under way is given up.
    pub(crate) fn check(&mut self) {
        let mut tsc = Command::new(&self.compiler);
        tsc.args(["--noEmit", "--pretty", "false", "--project", "."]).current_dir(&self.project);
        tsc.kill_on_drop(true);
        let (known, project) = (Arc::clone(&self.known), self.project.clone());
        self.running = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            match tsc.output().await {
                Ok(output) => {
                    let found = errors(&String::from_utf8_lossy(&output.stdout), &project);
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    tell(&known, &found);
                    *known = found;
                }
                Err(error) => {
                    tracing::warn!(target: TARGET, "types are not checked: tsc cannot be called: {error}");
                }
            }
        })));
    }
}

fn tell(known: &BTreeSet<String>, found: &BTreeSet<String>) {
    let news: Vec<&String> = found.difference(known).collect();
    for error in news.iter().take(SHOWN) {
        tracing::warn!(target: TARGET, "{error}");
    }
    if let Some(more) = news.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        tracing::warn!(target: TARGET, "and {more} more type errors: `npx tsc --noEmit` shows all");
    }
    if news.is_empty() && !found.is_empty() {
        let many = found.len();
        tracing::warn!(target: TARGET, "types: still {many} of the same errors; `npx tsc --noEmit` shows them");
    }
    if !known.is_empty() && found.is_empty() {
        tracing::info!(target: TARGET, "all types are good");
    }
}

/// The errors that the compiler has printed: `file(line,column): error TS2339: message` as
/// `file:line:column: message (TS2339)`.
fn errors(printed: &str, project: &Path) -> BTreeSet<String> {
    printed.lines().filter_map(|line| error(line, project)).collect()
}

fn error(line: &str, project: &Path) -> Option<String> {
    let (place, said) = line.split_once("): error ")?;
    let (file, at) = place.rsplit_once('(')?;
    let (code, message) = said.split_once(": ")?;
    Some(format!("{}:{}: {message} ({code})", near(&project.join(file)), at.replace(',', ":")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_from_what_the_compiler_prints() {
        let printed = "flows/a.ts(3,14): error TS2339: Property 'x' does not exist on type 'Y'.\n  More about it.\nFound 1 error.\n";
        let found: Vec<String> = errors(printed, Path::new("/nowhere")).into_iter().collect();
        assert_eq!(found, ["/nowhere/flows/a.ts:3:14: Property 'x' does not exist on type 'Y'. (TS2339)"]);
    }
}
