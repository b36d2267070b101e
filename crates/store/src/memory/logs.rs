//! Log lines.

use rival_core::RunId;

use super::state::MemoryState;
use crate::{LOAD_MAX_BYTES, LogFilter, LogLine};

impl MemoryState {
    pub(super) fn append_logs(&mut self, lines: Vec<LogLine>) {
        for line in lines {
            if let Some(run) = self.get_mut(&line.run) {
                let no = run.logs.len() as u64 + 1;
                run.logs.push(LogLine { no, ..line });
            }
        }
    }

    pub(super) fn logs(&self, run: &RunId, filter: &LogFilter) -> Vec<LogLine> {
        let Some(run) = self.get(run) else { return Vec::new() };
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut bytes = 0;
        let fits = |line: &&LogLine| {
            let is_first = bytes == 0;
            // A line without text counts too.
            bytes += line.len_bytes() + 1;
            filter.limit.is_none() || is_first || bytes <= LOAD_MAX_BYTES
        };
        let matching = run.logs.iter().filter(|line| filter.accepts(line));
        if filter.after.is_some() {
            return matching.take(limit).take_while(fits).cloned().collect();
        }
        let mut lines: Vec<_> = matching.rev().take(limit).take_while(fits).cloned().collect();
        lines.reverse();
        lines
    }
}

impl LogFilter {
    fn accepts(&self, line: &LogLine) -> bool {
        self.node.as_ref().is_none_or(|node| *node == line.node)
            && self.level.is_none_or(|level| level <= line.level)
            && self.after.is_none_or(|after| after < line.no)
    }
}
