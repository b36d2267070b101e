//! Metrics in Prometheus' text format.
//!
//! The labels are bounded: a workflow's name is one only if the engine knows the workflow, and only for the first 500;
//! a request's route is that of the API, never what a client sent.
//!
//! What the store holds is asked for when a page is, and not more often than every few seconds.
//!
//! An engine tells of some hundred thousand calls per second, so what is counted at each is found with one look into a
//! map and counted without a lock.

mod histogram;
mod http;
mod process;
mod store;
mod text;
mod workflows;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rival_core::event::{EventKind, FailureVerdict};
use rival_core::{RunId, Time};
use rival_engine::{CallEnd, Called, Committed, Engine, Observer};

use histogram::DurationHistogram;
pub use http::count;
pub use text::CONTENT_TYPE;
use text::{MetricKind, MetricsPage};
use workflows::WorkflowMetrics;

/// Counts what an engine and a server do. Give it to [`Engine::observe`], and [`count`] to the router.
#[derive(Debug, Default)]
pub struct ServerMetrics {
    workflows: WorkflowMetrics,
    commits: DurationHistogram,
    http: http::RouteMetrics,
    store: store::StoreGauges,
    stream_clients: AtomicU64,
}

impl ServerMetrics {
    /// Counts a client of a stream for as long as it is kept.
    pub fn stream_client(self: &Arc<Self>) -> StreamClient {
        self.stream_clients.fetch_add(1, Ordering::Relaxed);
        StreamClient(Arc::clone(self))
    }

    /// The page, as of now.
    pub async fn render(&self, engine: &Engine) -> String {
        let mut page = MetricsPage::default();
        let version = env!("CARGO_PKG_VERSION");
        page.family("rival_build_info", MetricKind::Gauge, "Which version of Rival this is.")
            .line(&[("version", &version)], 1);
        page.family("rival_runs_live", MetricKind::Gauge, "Runs that are in memory now.")
            .line(&[], engine.live_runs());
        if let Some(figures) = self.store.figures(engine).await {
            store::write(&mut page, &figures, engine.clock().now());
        }
        self.workflows.write(&mut page);
        page.family(
            "rival_commit_duration_seconds",
            MetricKind::Histogram,
            "How long the store took to make a commit durable.",
        )
        .histogram(&[], &self.commits);
        self.http.write(&mut page);
        page.family("rival_stream_clients", MetricKind::Gauge, "Clients that follow a live stream now.")
            .line(&[], self.stream_clients.load(Ordering::Relaxed));
        write_hosts(&mut page, engine);
        write_clock(&mut page, engine);
        write_process(&mut page);
        page.finish()
    }
}

fn write_clock(page: &mut MetricsPage, engine: &Engine) {
    let clock = engine.clock().status();
    let help = "How often the wall clock was set by five seconds or more.";
    page.family("rival_clock_steps_total", MetricKind::Counter, help).line(&[], clock.steps);
    let help = "How far the engine's time is ahead of the wall clock.";
    // Exact below 285,000 years.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds, for a graph")]
    let ahead = clock.ahead_ms as f64 / 1_000.0;
    page.family("rival_clock_ahead_seconds", MetricKind::Gauge, help).line(&[], ahead);
}

/// Nothing, if there are no scripts.
fn write_hosts(page: &mut MetricsPage, engine: &Engine) {
    let Some(hosts) = engine.host_figures() else { return };
    page.family("rival_script_hosts", MetricKind::Gauge, "Processes that run scripts.")
        .line(&[], hosts.hosts);
    let help = "Script hosts that crashed, were stuck, or had outgrown their memory.";
    page.family("rival_script_host_restarts_total", MetricKind::Counter, help).line(&[], hosts.restarts);
    let help = "Resident memory size of all script hosts in bytes.";
    page.family("rival_script_host_memory_bytes", MetricKind::Gauge, help).line(&[], hosts.memory_bytes);
}

/// Under the names that the clients of Prometheus have for them.
fn write_process(page: &mut MetricsPage) {
    let mut write = |name, kind, help, value: Option<f64>| {
        if let Some(value) = value {
            page.family(name, kind, help).line(&[], value);
        }
    };
    // Exact below 2^53, in bytes and in handles.
    #[expect(clippy::cast_precision_loss, reason = "for a graph")]
    let number = |value: Option<u64>| value.map(|value| value as f64);
    let handles = process::open_files().map(|count| count as u64);
    let help = "Total user and system CPU time spent in seconds.";
    write("process_cpu_seconds_total", MetricKind::Counter, help, process::cpu_seconds());
    let help = "Resident memory size in bytes.";
    write("process_resident_memory_bytes", MetricKind::Gauge, help, number(process::resident_bytes()));
    write("process_open_fds", MetricKind::Gauge, "Number of open file descriptors.", number(handles));
    let help = "Maximum number of open file descriptors.";
    write("process_max_fds", MetricKind::Gauge, help, number(process::open_files_max()));
    let help = "Start time of the process since unix epoch in seconds.";
    write("process_start_time_seconds", MetricKind::Gauge, help, process::started_at());
}

impl Observer for ServerMetrics {
    fn started(&self, _run: &RunId, workflow: &str, _at: Time) {
        self.workflows.with(workflow, |counts| counts.started.fetch_add(1, Ordering::Relaxed));
    }

    fn dequeued(&self, _run: &RunId, workflow: &str, waited: Duration) {
        self.workflows.with(workflow, |counts| counts.queue_wait.observe(waited));
    }

    fn committed(&self, commit: &Committed<'_>) {
        self.commits.observe(commit.took);
        let mut retries = 0;
        for event in commit.events {
            let retried =
                matches!(&event.kind, EventKind::CallFailed { verdict: FailureVerdict::RetryAt(_), .. });
            retries += u64::from(retried);
        }
        let end = commit.events.last().filter(|event| event.kind.is_terminal());
        if retries == 0 && end.is_none() {
            return;
        }
        self.workflows.with(commit.workflow, |counts| {
            counts.retries.fetch_add(retries, Ordering::Relaxed);
            if let Some(end) = end {
                let took = end.at.duration_since(commit.state.started_at);
                counts.run_ended(commit.status, took);
            }
        });
    }

    fn called(&self, call: &Called<'_>) {
        self.workflows.with(call.workflow, |counts| {
            counts.calls(call.end).fetch_add(1, Ordering::Relaxed);
            // How long a call was there that did not come to its end says nothing about the step.
            if !matches!(call.end, CallEnd::Suspended | CallEnd::Lost(_)) {
                counts.call_took(call.role, call.took);
            }
        });
    }
}

/// A client of a stream; it is counted until it is dropped.
#[derive(Debug)]
pub struct StreamClient(Arc<ServerMetrics>);

impl Drop for StreamClient {
    fn drop(&mut self) {
        self.0.stream_clients.fetch_sub(1, Ordering::Relaxed);
    }
}
