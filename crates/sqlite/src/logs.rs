//! Log lines of steps.

use rival_core::{RunId, Time};
use rival_store::{LOAD_MAX_BYTES, LogFilter, LogLevel, LogLine};
use rusqlite::{Connection, Row, params};

use crate::claim::as_limit;
use crate::fault::{Result, SqliteFault};
use crate::messages::decode_value;
use crate::tables::WriterTables;

impl WriterTables<'_> {
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
            "INSERT INTO logs (run, node, attempt, call, at, level, message, fields, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, row_sum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8))",
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

/// The lines that match, oldest first: the latest ones, or the first ones after a given line.
pub(crate) fn read(connection: &Connection, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>> {
    let order = if filter.after.is_some() { "ASC" } else { "DESC" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT no, node, attempt, call, at, level, message, fields,
             sum = row_sum(run, node, attempt, call, at, level, message, fields) FROM logs
         WHERE run = (SELECT no FROM runs WHERE id = ?1) AND no > ?2 AND (?3 IS NULL OR node = ?3) AND level >= ?4
         ORDER BY no {order} LIMIT ?5",
    ))?;
    let after = filter.after.map_or(0, |no| i64::try_from(no).unwrap_or(i64::MAX));
    let lowest = filter.level.map_or(0, number_of);
    let limit = filter.limit.map_or(-1, as_limit);
    let rows = statement
        .query_and_then(params![run.as_str(), after, filter.node, lowest, limit], |row| decode(run, row))?;
    let (mut lines, mut bytes) = (Vec::new(), 0_usize);
    for line in rows {
        let line = line?;
        bytes = bytes.saturating_add(line.len_bytes());
        if filter.limit.is_some() && bytes > LOAD_MAX_BYTES && !lines.is_empty() {
            break;
        }
        lines.push(line);
    }
    if filter.after.is_none() {
        lines.reverse();
    }
    Ok(lines)
}

fn decode(run: &RunId, row: &Row<'_>) -> Result<LogLine> {
    if !row.get::<_, bool>(8)? {
        let no: i64 = row.get(0)?;
        return Err(SqliteFault::Damaged(format!(
            "line {no} in the log of run `{run}` is not as it was written"
        )));
    }
    Ok(LogLine {
        no: row.get::<_, i64>(0)?.cast_unsigned(),
        run: run.clone(),
        node: row.get(1)?,
        attempt: row.get(2)?,
        call: row.get(3)?,
        at: Time(row.get(4)?),
        level: level_of(row.get(5)?)?,
        message: row.get(6)?,
        fields: row.get::<_, Option<String>>(7)?.map(decode_value).transpose()?,
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
    LogLevel::ALL
        .into_iter()
        .find(|level| number_of(*level) == number)
        .ok_or_else(|| SqliteFault::Damaged(format!("log level {number} is unknown")))
}
