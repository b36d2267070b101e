//! Prometheus' text format.

use std::fmt::{Display, Write as _};

use super::histogram::DurationHistogram;

/// The content type of the page.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What a family of numbers is.
#[derive(Clone, Copy)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// A page of metrics that is being written.
#[derive(Default)]
pub(super) struct MetricsPage(String);

/// The labels of one line.
type Labels<'a> = &'a [(&'a str, &'a dyn Display)];

impl MetricsPage {
    /// Begins a family; its lines follow at once.
    pub(super) fn family(&mut self, name: &'static str, kind: MetricKind, help: &str) -> MetricFamily<'_> {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let page = &mut self.0;
        // Writing to a string cannot fail.
        let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {kind}");
        MetricFamily { page, name }
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A family of numbers that is being written.
pub(super) struct MetricFamily<'a> {
    page: &'a mut String,
    name: &'static str,
}

impl MetricFamily<'_> {
    pub(super) fn line(&mut self, labels: Labels<'_>, value: impl Display) {
        self.sample("", labels, None, value);
    }

    pub(super) fn histogram(&mut self, labels: Labels<'_>, histogram: &DurationHistogram) {
        let (buckets, sum) = histogram.read();
        let count = buckets.last().map_or(0, |(_, count)| *count);
        for (bound, count) in buckets {
            self.sample("_bucket", labels, Some(bound), count);
        }
        self.sample("_sum", labels, None, sum);
        self.sample("_count", labels, None, count);
    }

    fn sample(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: impl Display) {
        let Self { page, name } = self;
        // Writing to a string cannot fail.
        let _ = write!(page, "{name}{suffix}");
        let mut before = '{';
        for (label, value) in labels {
            let _ = write!(page, "{before}{label}=\"{}\"", escaped(&value.to_string()));
            before = ',';
        }
        if let Some(bound) = bound {
            let _ = write!(page, "{before}le=\"{bound}\"");
            before = ',';
        }
        if before == ',' {
            page.push('}');
        }
        let _ = writeln!(page, " {value}");
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
