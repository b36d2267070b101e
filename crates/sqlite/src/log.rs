//! Log lines of steps.

use rival_core::{RunId, Time};
use rival_store::{LogFilter, LogLevel, LogLine};
use rusqlite::{Connection, Row, params};

use crate::claim::as_limit;
use crate::fault::{Fault, Result};
use crate::message::decode_value;
use crate::tables::Tables;

impl Tables<'_> {
    pub(crate) fn append_logs(&mut self, lines: &[LogLine]) -> Result<()> {
        for line in lines {
            if let Some(run) = self.number_of(&line.run)? {
                self.insert_log(run, line)?;
            }
        }
        Ok(())
    }

    fn insert_log(&self, run: i64, line: &LogLine) -> Result<()> {
        self.sql(
            "INSERT INTO logs (run, node, attempt, call, at, level, message, fields)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            run,
            line.node,
            line.attempt,
            line.call,
            line.at.0,
            number_of(line.level),
            line.message,
            line.fields.as_ref().map(|fields| fields.as_json()),
        ])?;
        Ok(())
    }
}

/// The latest lines that match, oldest first.
pub(crate) fn read(connection: &Connection, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>> {
    let mut statement = connection.prepare_cached(
        "SELECT node, attempt, call, at, level, message, fields FROM logs
         WHERE run = (SELECT no FROM runs WHERE id = ?1) AND (?2 IS NULL OR node = ?2) AND level >= ?3
         ORDER BY no DESC LIMIT ?4",
    )?;
    let lowest = filter.level.map_or(0, number_of);
    let limit = filter.limit.map_or(-1, as_limit);
    let rows = statement
        .query_and_then(params![run.as_str(), filter.node, lowest, limit], |row| decode(run, row))?;
    let mut lines = rows.collect::<Result<Vec<_>>>()?;
    lines.reverse();
    Ok(lines)
}

fn decode(run: &RunId, row: &Row<'_>) -> Result<LogLine> {
    Ok(LogLine {
        run: run.clone(),
        node: row.get(0)?,
        attempt: row.get(1)?,
        call: row.get(2)?,
        at: Time(row.get(3)?),
        level: level_of(row.get(4)?)?,
        message: row.get(5)?,
        fields: row.get::<_, Option<String>>(6)?.map(decode_value).transpose()?,
    })
}

fn number_of(level: LogLevel) -> u8 {
    match level {
        LogLevel::Debug => 0,
        LogLevel::Info => 1,
        LogLevel::Warn => 2,
        LogLevel::Error => 3,
    }
}

fn level_of(number: u8) -> Result<LogLevel> {
    [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error]
        .into_iter()
        .find(|level| number_of(*level) == number)
        .ok_or_else(|| Fault::Damaged(format!("log level {number} is unknown")))
}
