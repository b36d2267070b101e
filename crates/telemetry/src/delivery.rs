//! Counts what arrives at the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_otlp::SpanExporter as Otlp;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// The exporter, and how many spans it has delivered: the queue does not say how many it has dropped.
#[derive(Debug)]
pub(crate) struct SpanDelivery {
    exporter: Otlp,
    delivered: Arc<AtomicU64>,
}

impl SpanDelivery {
    pub(crate) fn new(exporter: Otlp, delivered: Arc<AtomicU64>) -> Self {
        Self { exporter, delivered }
    }
}

impl SpanExporter for SpanDelivery {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let result = self.exporter.export(batch).await;
        match &result {
            Ok(()) => {
                self.delivered.fetch_add(count, Ordering::Relaxed);
            }
            Err(error) => tracing::warn!(%error, count, "spans could not be sent"),
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
