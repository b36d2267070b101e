//! Tests of workflow files, written in TypeScript: `rival test`.
//!
//! A test is a function of a test file. What it runs, it runs on an engine in memory, on a clock that jumps and that its
//! hosts share, and with what it replaces called back in its own realm.

mod doubles;
mod session;
mod start;
mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_core::view::RunOutcome;
use rival_typescript::{ModuleBounds, Problem};

use crate::definition::DescribedTest;
use crate::describe::{DescribeError, NO_STEPS, describe, problem};
use crate::discover;
use crate::error::ScriptsError;
use crate::files;
use crate::host::lock;
use crate::pool::HostPool;
use crate::realm::{ScriptRealm, compile};
use crate::settings::ScriptSettings;
pub(crate) use doubles::TestDoubles;
use session::TestSession;

/// How long one test may take.
const TEST_LIMIT: Duration = Duration::from_secs(60);

/// What came of one test.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The file.
    pub file: PathBuf,
    /// The test, with the names of the groups around it.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// Why it failed; none if it passed.
    pub failure: Option<TestFailure>,
    /// What it wrote to the console.
    pub lines: Vec<String>,
}

/// Why a test failed.
#[derive(Clone, Debug)]
pub struct TestFailure {
    /// What was expected, and what was found.
    pub message: String,
    /// Where, in TypeScript.
    pub stack: String,
    /// The runs of the test that did not complete: their failures are often the reason.
    pub runs: Vec<RunOutcome>,
}

/// What a run of tests says while it goes on.
#[derive(Clone, Debug)]
pub enum TestNews {
    /// A test has ended.
    Tested(TestResult),
    /// A file could not be loaded: none of its tests ran.
    Problem(Problem),
}

/// The test files of folders; single files are taken as they are.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ScriptsError> {
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |error| ScriptsError::Path { path: path.clone(), error };
        let path = path.canonicalize().map_err(unreadable)?;
        if path.is_dir() {
            found.extend(discover::tests(&path).map_err(unreadable)?);
        } else {
            found.push(path);
        }
    }
    found.dedup();
    Ok(found)
}

/// Tests import what they test: they and the workflows that they run may reach all of the project, which is the nearest
/// folder with a package.json.
fn project_of(file: &Path) -> PathBuf {
    let projects = file.ancestors().skip(1);
    let project = projects.clone().find(|folder| folder.join("package.json").exists());
    project.or_else(|| file.parent()).unwrap_or(file).to_owned()
}

/// Runs the tests of some files, those whose name contains `only`.
pub async fn run(
    mut settings: ScriptSettings,
    tests: &[PathBuf],
    only: &str,
    mut tell: impl FnMut(TestNews),
) -> Result<(), ScriptsError> {
    settings.import_roots.extend(tests.iter().map(|file| project_of(file)));
    let pool = HostPool::in_virtual_time(settings);
    for file in tests {
        match TestSuite::load(&pool, file).await? {
            Ok(suite) => suite.run(only, &mut tell).await?,
            Err(problems) => problems.into_iter().for_each(|problem| tell(TestNews::Problem(problem))),
        }
    }
    Ok(())
}

/// A test file.
struct TestSuite {
    pool: Arc<HostPool>,
    realm: Arc<ScriptRealm>,
    file: PathBuf,
    tests: Vec<DescribedTest>,
}

impl TestSuite {
    async fn load(pool: &Arc<HostPool>, file: &Path) -> Result<Result<Self, Vec<Problem>>, ScriptsError> {
        let bounds = ModuleBounds::beneath(&pool.settings.import_roots);
        let program = Arc::new(compile(&[file.to_owned()], &bounds, None));
        let problems = program.problems(file);
        if !problems.is_empty() {
            return Ok(Err(problems));
        }
        let root = files::common([file.to_owned()].iter());
        let realm = Arc::new(ScriptRealm::new(pool, file, Arc::clone(&program), root));
        match describe(pool, file, &realm, false).await {
            Ok(description) => {
                let (pool, file) = (Arc::clone(pool), file.to_owned());
                Ok(Ok(Self { pool, realm, file, tests: description.tests }))
            }
            Err(DescribeError::Host(error)) => Err(error),
            Err(DescribeError::Script(error)) if error.code.as_deref() == Some(NO_STEPS) => {
                let advice = "write some: test('what must hold', async () => { … }), from 'rival/test'";
                Ok(Err(vec![problem(file, "the file has no tests", Some(advice))]))
            }
            Err(wrong) => Ok(Err(vec![wrong.problem(file, &program)])),
        }
    }

    async fn run(&self, only: &str, tell: &mut impl FnMut(TestNews)) -> Result<(), ScriptsError> {
        for test in self.tests.iter().filter(|test| test.name.contains(only)) {
            let began = Instant::now();
            let lines = Arc::default();
            let session = TestSession::begin(self, test, &lines).await?;
            let failure = session.run(TEST_LIMIT).await;
            let lines = std::mem::take::<Vec<String>>(&mut lock(&lines));
            let (file, name) = (self.file.clone(), test.name.clone());
            tell(TestNews::Tested(TestResult { file, name, took: began.elapsed(), failure, lines }));
        }
        Ok(())
    }
}
