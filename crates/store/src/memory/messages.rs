//! Messages between runs.

use rival_core::{RunId, Time};

use super::append::wake;
use super::state::MemoryState;
use crate::{Message, MessageNo, NewMessage, RunRow, SendResult};

impl MemoryState {
    pub(super) fn send(&mut self, receiver: &RunId, message: NewMessage, now: Time) -> SendResult {
        let Some(run) = self.by_id.get(receiver).and_then(|no| self.runs.get_mut(no)) else {
            return SendResult::NotFound;
        };
        if let Some(&no) = message.id.as_ref().and_then(|id| run.sent.get(id)) {
            return SendResult::Known(no);
        }
        if run.row.status.is_terminal() {
            run.row.drop_messages(1);
            return SendResult::Ended;
        }
        self.last_message += 1;
        let no = MessageNo(self.last_message);
        run.sent.extend(message.id.clone().map(|id| (id, no)));
        run.messages.insert(no, Message { no, id: message.id, body: message.body, sent_at: now });
        let receiver = run.row.no;
        self.change(receiver, |row| wake(row, now));
        SendResult::Kept(no)
    }

    pub(super) fn messages(&self, run: &RunId) -> Vec<Message> {
        self.get(run).map(|run| run.messages.values().cloned().collect()).unwrap_or_default()
    }
}

impl RunRow {
    /// Counts messages that will not be read.
    pub(super) fn drop_messages(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.dropped_messages = self.dropped_messages.saturating_add(count);
    }
}
