//! The run as a table that changes in place, for terminals.

use std::collections::BTreeSet;

use rival::{LogLine, NodeStatus, RunView, StepMetrics, Time};

use crate::style::TextStyle;
use crate::text::length;

/// A table of the run's steps, drawn over itself.
#[derive(Debug)]
pub(super) struct DemoScreen {
    style: TextStyle,
    /// The steps that were done before this start.
    before: BTreeSet<String>,
    names: Vec<String>,
    lines: crate::screen::LiveScreen,
}

impl DemoScreen {
    pub(super) fn new(style: TextStyle, names: Vec<String>, before: BTreeSet<String>) -> Self {
        Self { style, before, names, lines: crate::screen::LiveScreen::on_stdout(style) }
    }

    /// Draws the run as it is now over what was drawn before.
    pub(super) fn draw(&mut self, view: &RunView, logs: &[LogLine], now: Time) -> std::io::Result<()> {
        let lines = self.names.iter().map(|name| self.line(name, view, logs, now).into()).collect();
        self.lines.draw(lines)
    }

    fn line(&self, name: &str, view: &RunView, logs: &[LogLine], now: Time) -> String {
        let style = self.style;
        let step = view.steps.iter().find(|step| step.path.as_str() == name);
        let status = step.map_or(NodeStatus::Pending, |step| step.status);
        let sign = style.sign(status.word(), self.lines.turn);
        let Some(step) = step else { return format!("  {sign} {}", style.dim(name)) };
        let (time, text) = (time(step, now), self.text(step, logs));
        let name = match status {
            NodeStatus::Running => style.bold(format_args!("{name:<15}")),
            _ => format!("{name:<15}"),
        };
        let old = if self.before.contains(step.path.as_str()) {
            style.dim("  (done before this start)")
        } else {
            String::new()
        };
        format!("  {sign} {name} {time:>10}  {text}{old}")
    }

    fn text(&self, step: &StepMetrics, logs: &[LogLine]) -> String {
        let style = self.style;
        let error = step.error.as_ref().map(|error| error.failure.message.as_str());
        let attempt = if step.retry_count > 0 {
            style.dim(format_args!("attempt {}  ", step.retry_count + 1))
        } else {
            String::new()
        };
        match step.status {
            NodeStatus::Running => {
                let line = logs.iter().rfind(|line| line.node == step.path.as_str());
                let line = line.map_or("", |line| line.message.as_str());
                format!("{attempt}{}", style.dim(line))
            }
            NodeStatus::WaitingRetry => {
                let (failed, why) = (step.retry_count + 1, error.unwrap_or_default());
                style.yellow(format_args!("attempt {failed} failed: {why}"))
            }
            NodeStatus::Waiting => style.yellow("asleep; nothing is held, not even a thread"),
            NodeStatus::Failed => {
                style.red(format_args!("{}; the order goes on without it", error.unwrap_or_default()))
            }
            _ => format!("{attempt}{}", step.state.to_json()["description"].as_str().unwrap_or_default()),
        }
    }
}

/// How long a step took, is taking, or has to wait.
fn time(step: &StepMetrics, now: Time) -> String {
    match (step.status, step.wake_at, step.duration, step.started_at) {
        (NodeStatus::WaitingRetry | NodeStatus::Waiting, Some(at), _, _) => {
            format!("in {}", length(at.ms_since(now)))
        }
        (_, _, Some(ms), _) => length(ms),
        (_, _, None, Some(since)) => length(now.ms_since(since)),
        (_, _, None, None) => String::new(),
    }
}
