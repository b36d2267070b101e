//! Messages between runs.

use std::sync::LazyLock;

use rival_core::{RunId, RunStatus, Time, Value};
use rival_store::{Message, MessageNo, NewMessage, SendResult};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::{Result, SqliteFault};
use crate::sum;
use crate::tables::WriterTables;

static DROP: LazyLock<String> = LazyLock::new(|| sum::update("", &[("dropped", "dropped + ?2")], "no = ?1"));

/// An owner hears of a message itself, and a queued run's turn comes by admission.
static MAKE_DUE: LazyLock<String> = LazyLock::new(|| {
    let changes = [("wake_at", "min(coalesce(wake_at, ?2), ?2)")];
    sum::update("", &changes, "no = ?1 AND owner IS NULL AND status <> 'queued'")
});

/// Empties a message that was acted on and has an id.
pub(crate) const EMPTY: &str = "UPDATE messages SET body = NULL,
         sum = join_sums(sum, row_sum(no, run, id, body, sent_at), row_sum(no, run, id, NULL, sent_at))
     WHERE no = ?1 AND id IS NOT NULL";

impl WriterTables<'_> {
    pub(crate) fn send(&mut self, run: &RunId, message: &NewMessage, now: Time) -> Result<SendResult> {
        let Some((no, ended)) = self.receiver(run)? else { return Ok(SendResult::NotFound) };
        if let Some(sent) = self.sent_before(no, message)? {
            return Ok(SendResult::Known(sent));
        }
        if ended {
            self.sql(&DROP)?.execute([no, 1])?;
            return Ok(SendResult::Ended);
        }
        self.meta.last_message += 1;
        let sent = self.meta.last_message;
        self.sql(
            "INSERT INTO messages (no, run, id, body, sent_at, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5))",
        )?
        .execute(params![sent, no, message.id, message.body.as_json(), now.0])?;
        self.make_due(no, now)?;
        Ok(SendResult::Kept(MessageNo(sent)))
    }

    fn receiver(&self, run: &RunId) -> Result<Option<(i64, bool)>> {
        Ok(self
            .sql("SELECT no, ended_at IS NOT NULL FROM runs WHERE id = ?1")?
            .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    fn sent_before(&self, run: i64, message: &NewMessage) -> Result<Option<MessageNo>> {
        let Some(id) = &message.id else { return Ok(None) };
        Ok(self
            .sql("SELECT no FROM messages WHERE run = ?1 AND id = ?2")?
            .query_row(params![run, id], |row| row.get(0).map(MessageNo))
            .optional()?)
    }

    fn make_due(&self, run: i64, now: Time) -> Result<()> {
        self.sql(&MAKE_DUE)?.execute(params![run, now.0])?;
        Ok(())
    }

    /// Whether all of these wait for this run, each named once.
    pub(crate) fn all_wait(&self, run: i64, messages: &[MessageNo]) -> Result<bool> {
        for (index, MessageNo(no)) in messages.iter().enumerate() {
            let waits = self
                .sql("SELECT 1 FROM messages WHERE no = ?1 AND run = ?2 AND body IS NOT NULL")?
                .exists(params![no, run])?;
            if !waits || messages[..index].contains(&MessageNo(*no)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What still waits when a run is released came too late for its owner to see: the run is due at once.
    /// When the run has ended, no engine will ever read it: it is counted and dropped.
    /// A blocked run needs help first, and looking at it again would change nothing.
    pub(crate) fn settle_waiting(&mut self, run: i64, status: RunStatus, now: Time) -> Result<()> {
        let waiting: i64 = self.count_waiting.query_row([run], |row| row.get(0))?;
        if waiting == 0 || status == RunStatus::Blocked {
            return Ok(());
        }
        if !status.is_terminal() {
            return self.make_due(run, now);
        }
        self.sql(&DROP)?.execute([run, waiting])?;
        self.sql("DELETE FROM messages WHERE run = ?1 AND body IS NOT NULL")?.execute([run])?;
        Ok(())
    }
}

/// The messages that wait for a run.
pub(crate) fn waiting(connection: &Connection, run: &RunId) -> Result<Vec<Message>> {
    let mut statement = connection.prepare_cached(
        "SELECT no, id, body, sent_at, sum = row_sum(no, run, id, body, sent_at) FROM messages
         WHERE run = (SELECT no FROM runs WHERE id = ?1) AND body IS NOT NULL ORDER BY no",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let no: i64 = row.get(0)?;
        if !row.get::<_, bool>(4)? {
            return Err(SqliteFault::Damaged(format!(
                "message {no} of run `{run}` is not as it was written"
            )));
        }
        let (body, sent_at) = (decode_value(row.get(2)?)?, Time(row.get(3)?));
        messages.push(Message { no: MessageNo(no), id: row.get(1)?, body, sent_at });
    }
    Ok(messages)
}

pub(crate) fn decode_value(text: String) -> Result<Value> {
    Value::from_json(text)
        .map_err(|error| SqliteFault::Damaged(format!("a stored value is no JSON: {error}")))
}
