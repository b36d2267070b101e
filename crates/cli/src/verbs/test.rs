//! `test`: the tests of workflow files.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use rival::failure::code;
use rival_api::RunOutcome;
use rival_script::Problem;
use rival_script::testing::{self, TestFailure, TestNews, TestResult};
use serde_json::json;

use super::VerbContext;
use crate::args;
use crate::exit::{self, ExitError};
use crate::failure::below;
use crate::out::{DataOutput, OutputFormat, clean, note};
use crate::style::TextStyle;
use crate::workflow_files::near;

pub(crate) async fn test(context: &VerbContext, args: &args::TestArgs) -> Result<()> {
    let files = testing::find(&args.paths).map_err(|error| ExitError::not_found(error.to_string()))?;
    if files.is_empty() {
        let named: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(ExitError::not_found(format!("there are no tests in {}", named.join(", ")))
            .hint("tests are in files that end in .test.ts")
            .into());
    }
    let mut report = TestReport::new(&context.out);
    // Tests ask servers that they, or the person who runs them, have started.
    let settings = context.config.scripts(context.config.outgoing().allow_loopback());
    testing::run(settings, &files, &args.only, |news| report.tell(&news))
        .await
        .map_err(|error| ExitError::error(error.to_string()))?;
    if report.has_none() {
        let message = format!("no test has `{}` in its name", args.only);
        return Err(ExitError::not_found(message)
            .hint("`rival test` without --only shows their names")
            .into());
    }
    report.conclude()
}

/// What is printed while tests run, and at their end.
struct TestReport<'a> {
    out: &'a DataOutput,
    began: Instant,
    /// The file that the last line was about.
    file: Option<PathBuf>,
    passed: usize,
    failed: Vec<TestResult>,
    problems: Vec<Problem>,
    /// The reader is gone.
    broken: Option<anyhow::Error>,
}

impl<'a> TestReport<'a> {
    fn new(out: &'a DataOutput) -> Self {
        out.several.set(true);
        let (began, passed) = (Instant::now(), 0);
        Self { out, began, file: None, passed, failed: Vec::new(), problems: Vec::new(), broken: None }
    }

    /// Whether nothing was tested, and nothing is wrong with the files.
    fn has_none(&self) -> bool {
        self.passed == 0 && self.failed.is_empty() && self.problems.is_empty()
    }

    fn tell(&mut self, news: &TestNews) {
        if self.broken.is_none() {
            self.broken = self.line(news).err();
        }
        match news {
            TestNews::Tested(tested) if tested.failure.is_some() => self.failed.push(tested.clone()),
            TestNews::Tested(_) => self.passed += 1,
            TestNews::Problem(problem) => self.problems.push(problem.clone()),
        }
    }

    fn line(&mut self, news: &TestNews) -> Result<()> {
        match (news, self.out.format) {
            (TestNews::Tested(tested), OutputFormat::Json) => self.out.json(&json_of(tested)),
            (TestNews::Tested(tested), OutputFormat::Ids) => self.out.line(clean(&tested.name)),
            (TestNews::Tested(tested), OutputFormat::Table) => self.show(tested),
            // With what is wrong elsewhere, at the end.
            (TestNews::Problem(_), _) => Ok(()),
        }
    }

    fn show(&mut self, tested: &TestResult) -> Result<()> {
        let (out, style) = (self.out, self.out.style);
        if self.file.as_ref() != Some(&tested.file) {
            out.line(style.bold(near(&tested.file)))?;
            self.file = Some(tested.file.clone());
        }
        let mark = if tested.failure.is_none() { style.green("pass") } else { style.red("FAIL") };
        let took = style.dim(format_args!("{} ms", tested.took.as_millis()));
        out.line(format_args!("  {mark}  {}  {took}", clean(&tested.name)))?;
        tested.lines.iter().try_for_each(|line| out.line(format_args!("        {}", style.dim(clean(line)))))
    }

    /// Says at the end what is wrong, where it is easy to find.
    fn conclude(self) -> Result<()> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        let style = self.out.style;
        for TestResult { file, name, failure, .. } in &self.failed {
            let Some(TestFailure { message, stack, runs }) = failure else { continue };
            note(format_args!("\n{} {}: {}", style.red("FAIL"), near(file), clean(name)));
            message.lines().chain(stack.lines()).for_each(|line| note(format_args!("    {}", clean(line))));
            runs.iter().for_each(|run| note(ended(run, style)));
        }
        for problem in &self.problems {
            let Problem { file, line, column, message, advice } = problem;
            let place = format_args!("{}:{line}:{column}", near(file));
            note(format_args!("\n{} {place}: {}", style.red("problem:"), clean(message)));
            if let Some(advice) = advice {
                note(format_args!("    {}", clean(advice)));
            }
        }
        let wrong = self.failed.len() + self.problems.len();
        if self.out.format == OutputFormat::Table {
            self.out.line(format_args!("\n{}", self.sum(self.began.elapsed())))?;
        }
        if wrong == 0 { Ok(()) } else { Err(ExitError::told(exit::ERROR).into()) }
    }

    fn sum(&self, took: Duration) -> String {
        let mut parts = vec![format!("{} passed", self.passed)];
        if !self.failed.is_empty() {
            parts.push(format!("{} failed", self.failed.len()));
        }
        match self.problems.len() {
            0 => {}
            1 => parts.push("1 problem in the files".to_owned()),
            more => parts.push(format!("{more} problems in the files")),
        }
        format!("{} in {:.1} s", parts.join(", "), took.as_secs_f64())
    }
}

/// How a run of a test ended, and the source that its failure comes from.
fn ended(run: &RunOutcome, style: TextStyle) -> String {
    let at = run.failed_step.as_ref().map_or_else(String::new, |at| format!(" at `{}`", at.path));
    let why = match (&run.error, &run.reason) {
        (Some(error), _) => format!(": {} ({})", error.sentence(), error.code),
        (None, Some(reason)) => format!(": {reason}"),
        (None, None) => String::new(),
    };
    let was = if run.error.is_some() { "" } else { "was " };
    let source = run.error.as_ref().map_or_else(String::new, |error| below(error, style));
    let told = clean(&format!("its run of `{}` {was}{}{at}{why}", run.workflow, run.status));
    let is_missing = run.error.as_ref().is_some_and(|error| error.code == code::UNKNOWN_WORKFLOW);
    let advice = if is_missing { UNKNOWN_CHILD } else { "" };
    format!("    {}", (told + &source + advice).replace('\n', "\n    "))
}

/// What is told of a step that starts a child which is not there.
const UNKNOWN_CHILD: &str = "\na run of a test knows only the workflows that it is given: \
                             add the child's file, `workflows: ['../workflows/…ts']`, or what stands in for it, `children: { … }`";

fn json_of(tested: &TestResult) -> String {
    let TestResult { file, name, took, failure, lines } = tested;
    let failure = failure.as_ref().map(
        |TestFailure { message, stack, runs }| json!({ "message": message, "stack": stack, "runs": runs }),
    );
    let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    json!({ "file": near(file), "name": name, "passed": failure.is_none(), "tookMs": took, "failure": failure, "lines": lines })
        .to_string()
}
