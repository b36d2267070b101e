//! Traces: one span for each run, one for each call and one for each request to a server, sent over OTLP.
//!
//! It is on when `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set, and is set up by the
//! `OTEL_*` variables that other programs know too. Runs never wait for it: spans go into a queue that has an end, and
//! what finds no place there is lost and counted.
//!
//! ```no_run
//! # async fn example(builder: rival_engine::EngineBuilder) -> Result<(), rival_engine::EngineError> {
//! let telemetry = rival_telemetry::start();
//! let builder = match &telemetry {
//!     Some(telemetry) => builder.observe(telemetry.observer()),
//!     None => builder,
//! };
//! let engine = builder.build().await?;
//! // …
//! engine.shutdown(std::time::Duration::from_secs(30)).await;
//! if let Some(telemetry) = telemetry {
//!     telemetry.shutdown(std::time::Duration::from_secs(5)).await;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! This crate is apart because of what OTLP needs; the ids of spans come from [`rival_core::TraceParent`].

mod delivery;
mod environment;
mod exception;
mod http_span;
mod span;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::InstrumentationScope;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanProcessor as _};
use rival_engine::{Called, Committed, Observer, ServedRequest};

use delivery::SpanDelivery;

/// Sends spans until it is shut down.
#[derive(Debug)]
pub struct Telemetry(Arc<Spans>);

/// Sends traces, if the environment asks for it. A setting that is wrong is logged, and nothing is sent: a program does
/// its work without its traces too.
pub fn start() -> Option<Telemetry> {
    if !environment::asks_for_traces() {
        return None;
    }
    match Spans::start() {
        Ok(spans) => Some(Telemetry(Arc::new(spans))),
        Err(error) => {
            tracing::error!(%error, "traces cannot be sent");
            None
        }
    }
}

impl Telemetry {
    /// Give it to [`EngineBuilder::observe`](rival_engine::EngineBuilder::observe): the engine tells it of runs from its
    /// first moment on.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.0) as _
    }

    /// Sends what is left, for as long as `within` at most. Call it when the engine has stopped. Gives how many spans
    /// were never delivered.
    pub async fn shutdown(self, within: Duration) -> u64 {
        let spans = Arc::clone(&self.0);
        let sent = tokio::task::spawn_blocking(move || spans.processor.shutdown_with_timeout(within)).await;
        if let Ok(Err(error)) = sent {
            tracing::warn!(%error, "the last spans could not be sent");
        }
        let lost = self.0.lost();
        if lost > 0 {
            tracing::warn!(lost, "spans were not delivered");
        }
        lost
    }
}

/// Makes spans of what it hears and gives them to the queue.
#[derive(Debug)]
struct Spans {
    processor: BatchSpanProcessor,
    scope: InstrumentationScope,
    made: AtomicU64,
    delivered: Arc<AtomicU64>,
}

impl Spans {
    fn start() -> Result<Self, ExporterBuildError> {
        let delivered = Arc::default();
        let exporter = SpanExporter::builder().with_http().build()?;
        let exporter = SpanDelivery::new(exporter, Arc::clone(&delivered));
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        processor.set_resource(&environment::resource());
        let scope = InstrumentationScope::builder("rival").with_version(env!("CARGO_PKG_VERSION")).build();
        Ok(Self { processor, scope, made: AtomicU64::new(0), delivered })
    }

    fn send(&self, span: SpanData) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.processor.on_end(span);
    }

    fn lost(&self) -> u64 {
        let delivered = self.delivered.load(Ordering::Relaxed);
        self.made.load(Ordering::Relaxed).saturating_sub(delivered)
    }
}

impl Observer for Spans {
    fn traces(&self) -> bool {
        true
    }

    fn committed(&self, commit: &Committed<'_>) {
        if let Some(span) = span::of_run(commit, &self.scope) {
            self.send(span);
        }
    }

    fn called(&self, call: &Called<'_>) {
        if let Some(span) = span::of_call(call, &self.scope) {
            self.send(span);
        }
    }

    fn served(&self, request: &ServedRequest<'_>) {
        self.send(http_span::of_request(request, &self.scope));
    }
}
