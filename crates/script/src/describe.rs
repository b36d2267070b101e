//! What a file says of itself, or why it says nothing.

use std::path::{Path, PathBuf};

use rival_script_host::frame::{ScriptError, ToHost};
use rival_typescript::{Problem, ScriptProgram};
use serde::Deserialize;

use crate::advice;
use crate::call::HostCallError;
use crate::definition::FileDescription;
use crate::error::ScriptsError;
use crate::ops::refusal;
use crate::pool::HostPool;
use crate::realm::{ScriptRealm, name_of};

/// What a file that exports no workflow is told.
pub(crate) const NO_STEPS: &str = "no_steps";

/// Why a file says nothing of itself.
pub(crate) enum DescribeError {
    Script(ScriptError),
    Stuck(String),
    Host(ScriptsError),
}

impl DescribeError {
    /// Whether the file is no workflow, and nothing is wrong with it otherwise.
    pub(crate) fn is_no_workflow(&self) -> bool {
        matches!(self, Self::Script(error) if error.code.as_deref() == Some(NO_STEPS))
    }

    /// The same for the file's author, at its place in the file.
    pub(crate) fn problem(self, file: &Path, program: &ScriptProgram) -> Problem {
        let error = match self {
            Self::Script(error) => error,
            Self::Host(error) => return problem(file, error.to_string(), None),
            Self::Stuck(message) => {
                let advice = "code outside of functions must come to an end quickly";
                return problem(file, message, Some(advice));
            }
        };
        let said: ErrorDetail =
            error.details.as_ref().and_then(|said| Deserialize::deserialize(said).ok()).unwrap_or_default();
        let thrown = error.stack.as_deref().and_then(|stack| program.first_place(stack));
        let package = error.stack.as_deref().and_then(|stack| program.place_in_package(stack));
        let at = said.at.and_then(|at| at.place(file, program)).or(thrown);
        let (file, line, column) = at.unwrap_or_else(|| (file.to_owned(), 1, 1));
        let thrown = format!("{}: {}", error.name, error.message);
        let advice = advice::on_thrown(&error, program.modules.get(&file).map(|module| module.text()));
        let (message, advice) = match (error.code, package) {
            (None, Some(package)) => (format!("{package}: {thrown}"), Some(THROWN_BY_PACKAGE.to_owned())),
            (None, None) => (thrown, Some(advice)),
            (Some(_), _) => (error.message, said.advice),
        };
        Problem { file, line, column, message, advice }
    }
}

/// What is told of errors that a package throws, which its user cannot catch.
const THROWN_BY_PACKAGE: &str = "the package threw it while it was loaded: it may need what is not here; look for a build of \
                                 it for browsers or workers";

/// What goes with an error of the `rival` module.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorDetail {
    advice: Option<String>,
    at: Option<ErrorLocation>,
}

/// Which part of a file is wrong.
#[derive(Deserialize)]
struct ErrorLocation {
    module: Option<PathBuf>,
    export: Option<String>,
    index: Option<usize>,
}

impl ErrorLocation {
    fn place(&self, file: &Path, program: &ScriptProgram) -> Option<(PathBuf, u32, u32)> {
        let file = self.module.as_deref().unwrap_or(file);
        let module = program.modules.get(program.path(file))?;
        let element = self.index.filter(|_| self.export.as_deref() == Some("steps"));
        let place = element.and_then(|index| module.step_place(index));
        let place = place.or_else(|| module.export_place(self.export.as_deref()?));
        place.map(|(line, column)| (module.path.clone(), line, column))
    }
}

pub(crate) fn problem(file: &Path, message: impl Into<String>, advice: Option<&str>) -> Problem {
    let (message, advice) = (message.into(), advice.map(str::to_owned));
    Problem { file: file.to_owned(), line: 1, column: 1, message, advice }
}

/// Lets a host evaluate a file and say what it defines.
pub(crate) async fn describe(
    pool: &HostPool,
    file: &Path,
    realm: &ScriptRealm,
    entry: bool,
) -> Result<FileDescription, DescribeError> {
    let limit = pool.settings.load_limit;
    for _ in 0..3 {
        let frame = |id| ToHost::Describe { id, realm: realm.id(), file: name_of(file), entry };
        let call = pool.begin(realm, frame).await.map_err(DescribeError::Host)?;
        let Ok(answer) = tokio::time::timeout(limit, call.end()).await else {
            return Err(DescribeError::Stuck(format!("it did not load within {} ms", limit.as_millis())));
        };
        match answer {
            Ok(value) => {
                let wrong = |error: serde_json::Error| DescribeError::Script(refusal(error.to_string()));
                return serde_json::from_str(value.get()).map_err(wrong);
            }
            Err(HostCallError::Failed(error)) => return Err(DescribeError::Script(error)),
            // Another call of the same host may be the reason, so this one is tried again.
            Err(HostCallError::Lost(_)) => {}
        }
    }
    Err(DescribeError::Stuck("its script host ends whenever it is loaded".to_owned()))
}
