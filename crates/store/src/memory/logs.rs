//! Log lines.

use rival_core::RunId;

use super::state::State;
use crate::{LogFilter, LogLine};

impl State {
    pub(super) fn append_logs(&mut self, lines: Vec<LogLine>) {
        for line in lines {
            if let Some(run) = self.get_mut(&line.run) {
                run.logs.push(line);
            }
        }
    }

    pub(super) fn logs(&self, run: &RunId, filter: &LogFilter) -> Vec<LogLine> {
        let Some(run) = self.get(run) else { return Vec::new() };
        let latest_first = run.logs.iter().rev().filter(|line| filter.accepts(line));
        let mut lines: Vec<_> = latest_first.take(filter.limit.unwrap_or(usize::MAX)).cloned().collect();
        lines.reverse();
        lines
    }
}

impl LogFilter {
    fn accepts(&self, line: &LogLine) -> bool {
        self.node.as_ref().is_none_or(|node| *node == line.node)
            && self.level.is_none_or(|level| level <= line.level)
    }
}
