//! Files that are edited while their runs are under way, and processes that start anew: a call never goes to another
//! function than the one that stood there when the run began.

use std::path::Path;
use std::time::Duration;

use rival_core::{RunId, RunStatus};
use rival_engine::Engine;
use rival_engine::store::LogFilter;
use rival_script::Scripts;
use rival_sqlite::SqliteStore;
use serde_json::json;

use crate::support::{settings, write};
use crate::web::serve;

/// A file of runs, and one process after the other on it.
struct Site {
    folder: tempfile::TempDir,
}

/// A process, until it ends.
struct Life {
    engine: Engine,
    problems: Vec<String>,
    _scripts: Scripts,
}

impl Site {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// Begins a process, with this text of the workflow file.
    async fn begin(&self, text: &str) -> Life {
        let path: &Path = self.folder.path();
        write(path, &[("flows/flow.ts", text)]);
        let store = SqliteStore::open(path.join("runs.db")).expect("the store opens");
        let engine = Engine::builder().store(store).build().await.expect("the engine starts");
        let scripts = Scripts::new(settings());
        let loaded = scripts.register(&engine, &path.join("flows")).await.expect("the folder is loaded");
        engine.settled().await;
        let problems = loaded.problems.iter().map(|problem| problem.message.clone()).collect();
        Life { engine, problems, _scripts: scripts }
    }
}

impl Life {
    /// Starts a run, which comes as far as it can.
    async fn start(&self) -> RunId {
        assert_eq!(self.problems, [""; 0]);
        let run = self.engine.run("flow", json!({"n": 1})).await.expect("it starts").id().clone();
        self.engine.settled().await;
        run
    }

    /// Sends a signal; the run goes on as far as it can.
    async fn signal(&self, run: &RunId, name: &str) -> RunStatus {
        self.engine.signal(run, name, json!(null)).await.expect("it is sent");
        self.engine.settled().await;
        self.status(run).await
    }

    async fn status(&self, run: &RunId) -> RunStatus {
        self.engine.summary(run).await.expect("the run is there").status
    }

    /// What functions wrote, in order.
    async fn written(&self, run: &RunId) -> Vec<String> {
        let lines = self.engine.logs(run, &LogFilter::default()).await.expect("the logs are read");
        lines.into_iter().map(|line| line.message).collect()
    }

    async fn end(self) {
        self.engine.shutdown(Duration::from_secs(5)).await;
    }
}

fn file(elements: &[String]) -> String {
    format!(
        "import {{ branch, delayStep, forEach, httpStep, loop, parallel, signal }} from 'rival'
function charge({{ log }}) {{ log.info('charge') }}
const never = () => false
export const steps = [{}]",
        elements.join(", ")
    )
}

#[tokio::test]
async fn another_request_before_it_does_not_take_its_place() {
    let server = serve().await;
    let http = |path: &str| format!("httpStep({{ method: 'POST', url: '{server}/{path}' }})");
    let wait = "signal('go')".to_owned();
    let site = Site::new();
    let life = site.begin(&file(&[wait.clone(), http("charge")])).await;
    let run = life.start().await;
    life.end().await;
    let life = site.begin(&file(&[wait, http("reserve"), http("charge")])).await;
    assert_eq!(life.signal(&run, "go").await, RunStatus::Completed);
    let outcome = life.engine.wait(&run).await.expect("it has ended");
    assert_eq!(outcome.output.expect("it completed").to_json()["body"]["path"], "/charge");
    life.end().await;
}

#[tokio::test]
async fn what_is_gone_blocks_the_run_with_a_sentence_until_it_is_back() {
    let condition = |n: u32| {
        format!("branch({{ if: ({{ log }}) => {{ log.info('{n}'); return true }}, then: [charge] }})")
    };
    let wait = || "signal('go')".to_owned();
    let site = Site::new();
    let life = site.begin(&file(&[wait(), condition(1), condition(2)])).await;
    let run = life.start().await;
    life.end().await;
    let life = site.begin(&file(&[wait(), condition(2), condition(3)])).await;
    assert_eq!(life.signal(&run, "go").await, RunStatus::Blocked);
    let sentence = life.engine.explain(&run).await.expect("it is explained");
    assert!(sentence.contains("`branch` needs a function that has no name of its own"), "{sentence}");
    assert_eq!(life.written(&run).await, [""; 0]);
    life.end().await;
    let life = site.begin(&file(&[condition(2), condition(3), wait(), condition(1)])).await;
    assert_eq!(life.status(&run).await, RunStatus::Completed);
    assert_eq!(life.written(&run).await, ["1", "charge", "2", "charge"]);
    life.end().await;
}

#[tokio::test]
async fn functions_that_cannot_be_told_apart_need_names() {
    let made = |name: &str| {
        format!(
            "import {{ branch }} from 'rival'
const over = (limit) => ({{ input }}) => input.n > limit
function a() {{ return 1 }}
export const steps = [branch({{ {name}if: over(1), then: [a] }}), branch({{ if: over(2), then: [a] }})]"
        )
    };
    let site = Site::new();
    let life = site.begin(&made("")).await;
    assert_eq!(
        life.problems,
        [
            "`if` of branch `branch` and `if` of branch `branch_2` have the same text, which uses `limit` from around it"
        ]
    );
    life.end().await;
    let life = site.begin(&made("name: 'small', ")).await;
    assert_eq!(life.problems, [""; 0]);
    life.end().await;
}

#[tokio::test]
async fn a_retry_does_not_take_over_the_result_of_another_node() {
    let server = serve().await;
    let http = |path: &str| format!("httpStep({{ url: '{server}/{path}' }})");
    let fails = "{ name: 'fails', fn: () => { throw new Error('no') } }".to_owned();
    let site = Site::new();
    let life = site.begin(&file(&[http("charge"), fails.clone()])).await;
    let run = life.start().await;
    assert_eq!(life.status(&run).await, RunStatus::Failed);
    life.end().await;
    let life = site.begin(&file(&[http("reserve"), http("charge"), fails])).await;
    let error = life.engine.retry(&run).await.expect_err("it is another one");
    assert_eq!(error.code(), "node_changed", "{error}");
    life.engine.fork(&run).from("http").await.expect("from there on nothing is taken over");
    life.end().await;
}

/// An element that says who it is, and under which circumstances it is known.
fn element(kind: usize, label: usize) -> String {
    let says = format!("({{ log }}) => {{ log.info('{label}'); return");
    match kind % 7 {
        0 => format!("branch({{ if: {says} false }}, then: [charge] }})"),
        1 => format!("branch({{ if: () => true, then: [{{ fn: {says} 1 }} }}] }})"),
        2 => format!("delayStep({says} 0 }})"),
        3 => format!("forEach({{ items: {says} [] }}, body: [charge] }})"),
        4 => format!("loop({{ while: {says} false }}, body: [charge] }})"),
        5 => format!("parallel({{ steps: [{{ fn: {says} 1 }} }}], finally: () => 1 }})"),
        _ => format!("{{ name: 'step{label}', fn: {says} 1 }} }}"),
    }
}

/// Elements are added, removed, swapped and reordered between restarts. What a run meets is what stood there when it
/// began, or it is blocked because that is gone.
#[tokio::test]
async fn random_edits_never_lead_to_another_function() {
    for seed in 0..6_u64 {
        let mut dice = Dice(seed * 7 + 3);
        let began: Vec<usize> = (0..4).collect();
        let text = |labels: &[usize]| {
            let parts = labels.iter().flat_map(|&label| {
                [
                    format!("signal('s{label}')"),
                    element(label + usize::try_from(seed).unwrap_or_default(), label),
                ]
            });
            file(&parts.collect::<Vec<_>>())
        };
        let site = Site::new();
        let life = site.begin(&text(&began)).await;
        let run = life.start().await;
        life.end().await;
        let mut labels = began.clone();
        for &label in &began {
            dice.edit(&mut labels);
            let life = site.begin(&text(&labels)).await;
            assert_eq!(life.problems, [""; 0], "{}", text(&labels));
            let status = life.signal(&run, &format!("s{label}")).await;
            let is_there = labels.contains(&label);
            let written = life.written(&run).await;
            let expected: Vec<String> = (0..label + usize::from(is_there)).map(|n| n.to_string()).collect();
            assert_eq!(written, expected, "seed {seed}, {labels:?}, {status}");
            assert_eq!(status == RunStatus::Blocked, !is_there, "seed {seed}, {labels:?}, {status}");
            life.end().await;
            if !is_there {
                break;
            }
        }
    }
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % sides
    }

    fn edit(&mut self, labels: &mut Vec<usize>) {
        for _ in 0..=self.roll(3) {
            let (at, other) = (self.roll(labels.len()), self.roll(labels.len()));
            match self.roll(5) {
                0 | 1 => labels.insert(at, 100 + self.roll(1_000_000)),
                2 => labels.swap(at, other),
                3 => labels.rotate_left(at),
                _ if labels.len() > 2 => drop(labels.remove(at)),
                _ => {}
            }
        }
    }
}
