//! The metrics page: numbers after a known set of runs, in a form that Prometheus takes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Observer, RunId, RunStatus, Time, Value, VirtualClock};
use rival_server::metrics::{self, ServerMetrics};
use tower::ServiceExt as _;

#[step]
async fn one() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn two() -> Result<u32, StepError> {
    Ok(2)
}

#[step]
async fn broken() -> Result<(), StepError> {
    Err(StepError::new("no").code("broken"))
}

/// At work until the engine stops it.
#[step]
async fn endless() -> Result<(), StepError> {
    std::future::pending::<Infallible>().await;
    Ok(())
}

#[step]
async fn nested(durable: Durable) -> Result<Value, StepError> {
    durable.run("good", ()).await
}

/// A page, read as strictly as Prometheus' own checker does.
struct Page {
    samples: BTreeMap<String, f64>,
}

impl Page {
    async fn of(metrics: &ServerMetrics, engine: &Engine) -> Self {
        let text = metrics.render(engine).await;
        Self::read(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut page = Self { samples: BTreeMap::new() };
        let mut families = BTreeSet::new();
        if !text.ends_with('\n') {
            return Err("the last line does not end".to_owned());
        }
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let (name, help) = line
                .strip_prefix("# HELP ")
                .and_then(|rest| rest.split_once(' '))
                .ok_or(format!("`{line}` is no HELP"))?;
            let kind = lines.next().and_then(|line| line.strip_prefix(&format!("# TYPE {name} ")));
            let kind = kind.ok_or(format!("`{name}` has no TYPE after its HELP"))?;
            if !is_name(name) || help.is_empty() || !families.insert(name.to_owned()) {
                return Err(format!("`{name}` is no good name, has no help, or is there twice"));
            }
            if name.ends_with("_total") != (kind == "counter") {
                return Err(format!("a {kind} is called `{name}`"));
            }
            let mut family = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
                family.push(Sample::read(line).ok_or(format!("`{line}` is no sample"))?);
            }
            check_family(name, kind, &family)?;
            for sample in family {
                let key = sample.key();
                if page.samples.insert(key.clone(), sample.value).is_some() {
                    return Err(format!("`{key}` is there twice"));
                }
            }
        }
        Ok(page)
    }

    fn value(&self, key: &str) -> f64 {
        *self.samples.get(key).unwrap_or_else(|| panic!("`{key}` is not in {:#?}", self.samples))
    }

    fn assert(&self, expected: &[(&str, f64)]) {
        for (key, value) in expected {
            assert_eq!(self.value(key), *value, "{key}");
        }
    }
}

struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn read(line: &str) -> Option<Self> {
        let end = line.find(['{', ' '])?;
        let (name, mut rest) = line.split_at(end);
        let mut labels = Vec::new();
        if let Some(inner) = rest.strip_prefix('{') {
            rest = inner;
            loop {
                let (label, after) = rest.split_once("=\"")?;
                let (value, after) = quoted(after)?;
                labels.push((label.to_owned(), value));
                if !is_name(label) || label.contains(':') || label.starts_with("__") {
                    return None;
                }
                match after.split_at_checked(1)? {
                    (",", after) => rest = after,
                    ("}", after) => break rest = after,
                    _ => return None,
                }
            }
        }
        let value = rest.strip_prefix(' ')?.parse().ok()?;
        is_name(name).then(|| Self { name: name.to_owned(), labels, value })
    }

    fn key(&self) -> String {
        let labels: Vec<String> = self.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if labels.is_empty() { self.name.clone() } else { format!("{}{{{}}}", self.name, labels.join(",")) }
    }

    fn bound(&self) -> Option<f64> {
        let (_, bound) = self.labels.iter().find(|(name, _)| name == "le")?;
        if bound == "+Inf" { Some(f64::INFINITY) } else { bound.parse().ok() }
    }

    /// Which of the family's histograms it is part of.
    fn series(&self) -> Vec<(String, String)> {
        self.labels.iter().filter(|(name, _)| name != "le").cloned().collect()
    }
}

fn is_name(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    name.starts_with(|c: char| !c.is_ascii_digit()) && !name.is_empty() && name.chars().all(good)
}

/// A label's value up to its closing quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('\\' | '"') => c,
                _ => return None,
            }),
            c => value.push(c),
        }
    }
    None
}

fn check_family(name: &str, kind: &str, family: &[Sample]) -> Result<(), String> {
    if kind != "histogram" {
        let wrong = family.iter().find(|sample| sample.name != name || sample.value < 0.0);
        return wrong.map_or(Ok(()), |sample| Err(format!("`{}` in family `{name}`", sample.key())));
    }
    let mut all: BTreeMap<_, Vec<&Sample>> = BTreeMap::new();
    family.iter().for_each(|sample| all.entry(sample.series()).or_default().push(sample));
    for (series, samples) in all {
        let of = |suffix: &str| -> Vec<&Sample> {
            let name = format!("{name}_{suffix}");
            samples.iter().filter(|sample| sample.name == name).copied().collect()
        };
        let (buckets, sums, counts) = (of("bucket"), of("sum"), of("count"));
        let rises = buckets.windows(2).all(|two| {
            two[0].value <= two[1].value && two[0].bound().unwrap_or(f64::NAN) < two[1].bound().unwrap_or(0.0)
        });
        let last = buckets.last().ok_or(format!("`{name}` has no buckets"))?;
        let whole = last.bound() == Some(f64::INFINITY) && samples.len() == buckets.len() + 2;
        if !rises || !whole || sums.len() != 1 || counts.first().map(|count| count.value) != Some(last.value)
        {
            return Err(format!("`{name}` is no histogram for {series:?}"));
        }
    }
    Ok(())
}

async fn lab(workflow: impl Into<rival::Definition>) -> (TestEngine, Arc<ServerMetrics>) {
    let good: Workflow<(), u32> = Workflow::new("good").step(one).step(two).build().unwrap();
    let engine = TestEngine::builder().workflow(&good).workflow(workflow).build().await.unwrap();
    let metrics = Arc::new(ServerMetrics::default());
    engine.observe(metrics.clone());
    (engine, metrics)
}

#[tokio::test]
async fn runs_and_calls_are_counted_by_workflow() {
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken.retry(3)).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    for _ in 0..3 {
        let run = engine.run("good", ()).await.unwrap();
        assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
    }
    let run = engine.run("bad", ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Failed);
    engine.settled().await;
    let page = Page::of(&metrics, &engine).await;
    page.assert(&[
        ("rival_runs_started_total{workflow=good}", 3.0),
        ("rival_runs_started_total{workflow=bad}", 1.0),
        ("rival_runs_ended_total{workflow=good,status=completed}", 3.0),
        ("rival_runs_ended_total{workflow=good,status=failed}", 0.0),
        ("rival_runs_ended_total{workflow=bad,status=failed}", 1.0),
        ("rival_step_calls_total{workflow=good,outcome=succeeded}", 6.0),
        ("rival_step_calls_total{workflow=bad,outcome=failed}", 3.0),
        ("rival_step_retries_total{workflow=good}", 0.0),
        ("rival_step_retries_total{workflow=bad}", 2.0),
        ("rival_step_duration_seconds_count{workflow=good,role=step}", 6.0),
        ("rival_step_duration_seconds_count{workflow=bad,role=step}", 3.0),
        ("rival_runs_live", 0.0),
        ("rival_stream_clients", 0.0),
        ("rival_clock_steps_total", 0.0),
        ("rival_clock_ahead_seconds", 0.0),
        ("rival_build_info{version=0.1.0}", 1.0),
    ]);
    assert!(page.value("rival_commit_duration_seconds_count") >= 4.0);
    assert!(page.value("rival_commit_duration_seconds_sum") > 0.0);
    assert!(page.value("process_resident_memory_bytes") > 0.0);
    assert!(page.value("process_start_time_seconds") > 0.0);
    assert!(page.value("process_open_fds") > 0.0);
    assert!(page.value("process_max_fds") >= page.value("process_open_fds"));
    assert!(page.value("process_cpu_seconds_total") >= 0.0);
    assert!(!page.samples.contains_key("rival_script_hosts"), "there are no scripts");
}

#[tokio::test]
async fn runs_take_their_time_from_start_to_end() {
    let long: Workflow<(), u32> =
        Workflow::new("long").step(delay_step(Duration::from_secs(7_200))).step(one).build().unwrap();
    let (engine, metrics) = lab(&long).await;
    let run = engine.run("long", ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
    engine.settled().await;
    Page::of(&metrics, &engine).await.assert(&[
        ("rival_run_duration_seconds_count{workflow=long}", 1.0),
        ("rival_run_duration_seconds_sum{workflow=long}", 7_200.0),
        ("rival_run_duration_seconds_bucket{workflow=long,le=3600}", 0.0),
        ("rival_run_duration_seconds_bucket{workflow=long,le=21600}", 1.0),
    ]);
}

#[tokio::test]
async fn a_call_is_measured_by_its_role() {
    #[step]
    async fn handled() -> Result<(), StepError> {
        Ok(())
    }
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken.on_error(handled)).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    let run = engine.run("bad", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    engine.settled().await;
    let page = Page::of(&metrics, &engine).await;
    page.assert(&[
        ("rival_step_duration_seconds_count{workflow=bad,role=step}", 1.0),
        ("rival_step_duration_seconds_count{workflow=bad,role=onError}", 1.0),
    ]);
    assert!(!page.samples.contains_key("rival_step_duration_seconds_count{workflow=bad,role=compensate}"));
}

/// An engine that takes nothing up comes after one that left a run asleep.
#[tokio::test]
async fn the_store_says_how_many_runs_wait_and_for_how_long() {
    let nap: Workflow<(), ()> =
        Workflow::new("nap").step(delay_step(Duration::from_secs(60))).build().unwrap();
    let (store, clock) = (Arc::new(rival::MemoryStore::new()), VirtualClock::default());
    let builder = || TestEngine::builder().workflow(&nap).store(store.clone()).clock(clock.clone());
    let engine = builder().build().await.unwrap();
    engine.run("nap", ()).await.unwrap();
    engine.settled().await;
    engine.shutdown(Duration::ZERO).await;
    let engine = builder().configure(|builder| builder.passive()).build().await.unwrap();
    engine.run("nap", ()).await.unwrap();
    clock.set(clock.now().plus_ms(90_000));
    engine.run("nap", ()).await.unwrap();
    let page = Page::of(&ServerMetrics::default(), &engine).await;
    page.assert(&[
        ("rival_runs{status=queued}", 2.0),
        ("rival_runs{status=waiting}", 1.0),
        ("rival_runs{status=completed}", 0.0),
        ("rival_queue_age_seconds", 90.0),
        ("rival_timers_overdue", 1.0),
        ("rival_timers_overdue_age_seconds", 30.0),
    ]);
    assert!(!page.samples.contains_key("rival_store_bytes"), "memory has no disk");
}

#[tokio::test]
async fn a_store_on_disk_says_how_much_it_takes_and_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = rival::SqliteStore::open(folder.path().join("rival.db")).unwrap();
    let good: Workflow<(), u32> = Workflow::new("good").step(one).build().unwrap();
    let engine = Engine::builder().store(store).workflow(&good).build().await.unwrap();
    engine.run("good", ()).await.unwrap().wait().await.unwrap();
    let page = Page::of(&ServerMetrics::default(), &engine).await;
    page.assert(&[("rival_runs{status=completed}", 1.0)]);
    assert!(page.value("rival_store_bytes") > 10_000.0);
    assert!(page.value("rival_store_free_bytes") > 0.0);
}

#[tokio::test]
async fn the_store_is_not_counted_for_every_page() {
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    assert_eq!(Page::of(&metrics, &engine).await.value("rival_runs{status=completed}"), 0.0);
    let run = engine.run("good", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(Page::of(&metrics, &engine).await.value("rival_runs{status=completed}"), 0.0);
    let other = ServerMetrics::default();
    assert_eq!(Page::of(&other, &engine).await.value("rival_runs{status=completed}"), 1.0);
}

#[tokio::test]
async fn a_call_that_times_out_counts_as_failed_and_took_its_time() {
    let slow: Workflow<(), ()> =
        Workflow::new("slow").step(endless.timeout(Duration::from_millis(1))).build().unwrap();
    let engine = Engine::builder().workflow(&slow).build().await.unwrap();
    let metrics = Arc::new(ServerMetrics::default());
    engine.observe(metrics.clone());
    let run = engine.run("slow", ()).await.unwrap();
    assert_eq!(run.wait().await.unwrap().status, RunStatus::Failed);
    engine.settled().await;
    Page::of(&metrics, &engine).await.assert(&[
        ("rival_step_calls_total{workflow=slow,outcome=failed}", 1.0),
        ("rival_step_calls_total{workflow=slow,outcome=cancelled}", 0.0),
        ("rival_step_duration_seconds_count{workflow=slow,role=step}", 1.0),
    ]);
}

#[tokio::test]
async fn a_live_run_shows_until_it_is_cancelled() {
    let long: Workflow<(), ()> = Workflow::new("long").step(endless).build().unwrap();
    let (engine, metrics) = lab(&long).await;
    let run = engine.run("long", ()).await.unwrap();
    assert_eq!(Page::of(&metrics, &engine).await.value("rival_runs_live"), 1.0);
    engine.cancel(run.id(), "").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    engine.settled().await;
    Page::of(&metrics, &engine).await.assert(&[
        ("rival_runs_ended_total{workflow=long,status=cancelled}", 1.0),
        ("rival_step_calls_total{workflow=long,outcome=cancelled}", 1.0),
        ("rival_runs_live", 0.0),
    ]);
}

#[tokio::test]
async fn children_count_and_wait_in_the_queue_without_room() {
    let parent: Workflow<(), Value> = Workflow::new("parent").step(nested).build().unwrap();
    let good: Workflow<(), u32> = Workflow::new("good").step(one).build().unwrap();
    let builder = TestEngine::builder().configure(|it| it.max_live_runs(1));
    let engine = builder.workflow(&good).workflow(&parent).build().await.unwrap();
    let metrics = Arc::new(ServerMetrics::default());
    engine.observe(metrics.clone());
    let run = engine.run("parent", ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
    engine.settled().await;
    Page::of(&metrics, &engine).await.assert(&[
        ("rival_runs_started_total{workflow=good}", 1.0),
        ("rival_queue_wait_seconds_count{workflow=good}", 1.0),
        ("rival_queue_wait_seconds_count{workflow=parent}", 0.0),
    ]);
}

#[tokio::test]
async fn labels_are_escaped_and_bounded() {
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    let start = |name: &str| metrics.started(&RunId::from("r"), name, Time(0));
    start("a \"b\" \\ c\nd");
    (0..600).for_each(|n| start(&format!("w{n}")));
    let page = Page::of(&metrics, &engine).await;
    let workflows = page.samples.keys().filter(|key| key.starts_with("rival_runs_started_total{")).count();
    assert_eq!(workflows, 501);
    page.assert(&[
        ("rival_runs_started_total{workflow=a \"b\" \\ c\nd}", 1.0),
        ("rival_runs_started_total{workflow=w498}", 1.0),
        ("rival_runs_started_total{workflow=other}", 101.0),
    ]);
}

#[tokio::test]
async fn requests_are_counted_by_route_and_never_by_path() {
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    let router = Router::new()
        .route("/api/runs/{id}", get(async || StatusCode::OK))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&metrics), metrics::count));
    let ask = async |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap();
    };
    ask("GET", "/api/runs/1").await;
    ask("GET", "/api/runs/2").await;
    ask("POST", "/api/runs/2").await;
    ask("BREW", "/api/runs/2").await;
    ask("GET", "/a/secret").await;
    Page::of(&metrics, &engine).await.assert(&[
        ("rival_http_requests_total{route=/api/runs/{id},method=GET,status=200}", 2.0),
        ("rival_http_requests_total{route=/api/runs/{id},method=POST,status=405}", 1.0),
        ("rival_http_requests_total{route=/api/runs/{id},method=other,status=405}", 1.0),
        ("rival_http_requests_total{route=none,method=GET,status=404}", 1.0),
        ("rival_http_request_duration_seconds_count{route=/api/runs/{id}}", 4.0),
    ]);
    assert!(!metrics.render(&engine).await.contains("secret"));
}

#[tokio::test]
async fn stream_clients_are_counted_while_they_are_there() {
    let bad: Workflow<(), ()> = Workflow::new("bad").step(broken).build().unwrap();
    let (engine, metrics) = lab(&bad).await;
    let (first, second) = (metrics.stream_client(), metrics.stream_client());
    drop(first);
    assert_eq!(Page::of(&metrics, &engine).await.value("rival_stream_clients"), 1.0);
    drop(second);
    assert_eq!(Page::of(&metrics, &engine).await.value("rival_stream_clients"), 0.0);
}

#[test]
fn the_checker_refuses_what_prometheus_refuses() {
    let head = "# HELP a_total x\n# TYPE a_total counter\n";
    let refused = [
        "a_total 1\n".to_owned(),
        format!("{head}a_total 1"),
        format!("{head}a_total one\n"),
        format!("{head}a_total{{w=\"x}} 1\n"),
        format!("{head}a_total{{w=\"\\x\"}} 1\n"),
        format!("{head}b_total 1\n"),
        format!("{head}a_total 1\na_total 2\n"),
        format!("{head}{head}"),
        "# HELP a x\n# TYPE a counter\na 1\n".to_owned(),
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n".to_owned(),
        "# HELP a x\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n"
            .to_owned(),
    ];
    for text in refused {
        assert!(Page::read(&text).is_err(), "{text}");
    }
    assert!(Page::read(&format!("{head}a_total{{w=\"x,y\\\"\"}} 1\n")).is_ok());
}
