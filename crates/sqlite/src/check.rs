//! Everything in the file against what was written: SQLite's own structures, and the checksums of all rows.

use rival_core::RunId;
use rival_store::StoreDamage;
use rusqlite::{Connection, Row};

use crate::fault::{Result, SqliteFault};
use crate::meta::StoreMeta;
use crate::records;
use crate::schema;
use crate::sum;

/// How many sentences one kind of damage is worth: beyond that they tell nothing more.
const MANY: usize = 100;

/// Gives what is wrong, a sentence each.
pub(crate) fn check(connection: &Connection) -> Result<Vec<StoreDamage>> {
    let mut found = CheckFindings(Vec::new());
    found.look(|found| found.structure(connection));
    found.look(|found| found.tables(connection));
    found.look(|found| found.meta(connection));
    found.look(|found| found.runs(connection));
    found.look(|found| found.chains(connection));
    found.look(|found| found.rows(connection));
    found.look(|found| found.strays(connection));
    found.look(|found| found.tags(connection));
    Ok(found.0)
}

struct CheckFindings(Vec<StoreDamage>);

impl CheckFindings {
    fn say(&mut self, message: impl Into<String>) {
        self.0.push(StoreDamage { run: None, message: message.into() });
    }

    fn say_of(&mut self, run: &str, message: impl Into<String>) {
        self.0.push(StoreDamage { run: Some(RunId::new(run)), message: message.into() });
    }

    /// A look that breaks off, because pages cannot be read, has found something too.
    fn look(&mut self, look: impl FnOnce(&mut Self) -> Result<()>) {
        if let Err(fault) = look(self) {
            self.say(fault.to_string());
        }
    }

    /// What SQLite can tell: pages, the order of rows, and whether indexes and tables say the same.
    fn structure(&mut self, connection: &Connection) -> Result<()> {
        let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MANY})"))?;
        let said = statement.query_map([], |row| row.get::<_, String>(0))?;
        for line in said {
            let line = line?;
            if line != "ok" {
                self.say(line);
            }
        }
        Ok(())
    }

    fn tables(&mut self, connection: &Connection) -> Result<()> {
        if schema::found(connection)? != schema::expected()? {
            self.say("the definitions of tables and indexes are not those of this version");
        }
        Ok(())
    }

    fn meta(&mut self, connection: &Connection) -> Result<()> {
        let meta = StoreMeta::read(connection)?;
        let given: (i64, i64, i64) = connection.query_row(
            "SELECT (SELECT coalesce(max(no), 0) FROM runs), (SELECT coalesce(max(no), 0) FROM messages),
                 (SELECT coalesce(max(owner), 0) FROM runs)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        if given.0 > meta.last_run || given.1 > meta.last_message || given.2 > meta.last_engine {
            self.say("runs, messages or engines have numbers that were never given");
        }
        Ok(())
    }

    fn runs(&mut self, connection: &Connection) -> Result<()> {
        let sql = format!("SELECT id FROM runs WHERE sum <> {} LIMIT {MANY}", *sum::OF_RUN);
        for id in texts(connection, &sql)? {
            self.say_of(&id, "its row is not as it was written");
        }
        let unnamed = "SELECT id FROM runs
             WHERE workflow NOT IN (SELECT no FROM names) OR plan NOT IN (SELECT no FROM names)";
        for id in texts(connection, unnamed)? {
            self.say_of(&id, "the name of its workflow or of its plan is missing");
        }
        Ok(())
    }

    /// Every batch of every run, in the order of the chain.
    fn chains(&mut self, connection: &Connection) -> Result<()> {
        let mut runs = connection.prepare("SELECT no, id, last, tip, owner IS NOT NULL FROM runs")?;
        let mut batches = connection
            .prepare("SELECT first, count, chain, body FROM events WHERE run = ?1 ORDER BY first")?;
        let mut rows = runs.query([])?;
        while let Some(row) = rows.next()? {
            let run = CheckedRun::decode(row)?;
            if let Some(broken) = run.broken(batches.query([run.no])?)? {
                self.say_of(&run.id, broken);
            }
            if self.0.len() > MANY {
                break;
            }
        }
        Ok(())
    }

    fn rows(&mut self, connection: &Connection) -> Result<()> {
        let kinds = [
            ("snapshots", "its snapshot is", "run, seq, fold, plan, body"),
            ("messages", "a message to it is", "no, run, id, body, sent_at"),
            ("logs", "a line of its log is", "run, node, attempt, call, at, level, message, fields"),
        ];
        for (table, what, columns) in kinds {
            let sql = format!(
                "SELECT coalesce((SELECT id FROM runs WHERE no = run), '') FROM {table}
                 WHERE sum <> row_sum({columns}) LIMIT {MANY}"
            );
            for id in texts(connection, &sql)? {
                self.say_of(&id, format!("{what} not as it was written"));
            }
        }
        for hash in texts(connection, "SELECT hash FROM plans WHERE sum <> row_sum(hash, json)")? {
            self.say(format!("plan {hash} is not as it was written"));
        }
        let sql =
            format!("SELECT kind || ' ' || key FROM records WHERE sum <> {} LIMIT {MANY}", records::SUM);
        for record in texts(connection, &sql)? {
            self.say(format!("a version of the record {record} is not as it was written"));
        }
        let gaps = format!(
            "SELECT kind || ' ' || key FROM records GROUP BY kind, key HAVING max(version) <> count(*) LIMIT {MANY}"
        );
        for record in texts(connection, &gaps)? {
            self.say(format!("versions of the record {record} are missing"));
        }
        Ok(())
    }

    /// What belongs to a run that is not there.
    fn strays(&mut self, connection: &Connection) -> Result<()> {
        for table in ["events", "snapshots", "messages", "logs", "tags"] {
            let sql = format!("SELECT count(*) FROM {table} WHERE run NOT IN (SELECT no FROM runs)");
            let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if count > 0 {
                self.say(format!("{count} rows of `{table}` belong to a run that is not there"));
            }
        }
        Ok(())
    }

    /// The table by which runs are found by tag says what their rows say.
    fn tags(&mut self, connection: &Connection) -> Result<()> {
        let said = "SELECT DISTINCT value AS tag, runs.no AS run FROM runs, json_each(runs.tags)";
        let other = format!(
            "SELECT (SELECT id FROM runs WHERE no = run) FROM (SELECT * FROM ({said}) EXCEPT SELECT tag, run FROM tags)
             UNION SELECT (SELECT id FROM runs WHERE no = run)
                 FROM (SELECT tag, run FROM tags WHERE run IN (SELECT no FROM runs) EXCEPT SELECT * FROM ({said}))
             LIMIT {MANY}"
        );
        for id in texts(connection, &other)? {
            self.say_of(&id, "it is not found by the tags that its row has");
        }
        Ok(())
    }
}

struct CheckedRun {
    no: i64,
    id: String,
    last: i64,
    tip: i64,
    owned: bool,
}

impl CheckedRun {
    fn decode(row: &Row<'_>) -> Result<Self> {
        let (no, id, last, tip, owned) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        Ok(Self { no, id, last, tip, owned })
    }

    /// Follows the chain, and gives where it breaks.
    fn broken(&self, mut batches: rusqlite::Rows<'_>) -> Result<Option<String>> {
        let (mut last, mut chain) = (0, sum::chain_begin(self.no, &self.id));
        let mut reached = false;
        while let Some(row) = batches.next()? {
            let (first, count, kept): (i64, u32, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let body = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
            let next = sum::chain_next(chain, first.cast_unsigned(), count, sum::of_body(body));
            if first != last + 1 || next != kept {
                return Ok(Some(format!(
                    "its events from {first} on are not what was written after event {last}"
                )));
            }
            (last, chain) = (first + i64::from(count) - 1, kept);
            reached |= last == self.last && chain == self.tip;
        }
        let whole = reached && (self.owned || last == self.last);
        let said = self.last;
        Ok((!whole).then(|| format!("its history ends with event {last}, its row says {said}")))
    }
}

fn texts(connection: &Connection, sql: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql)?;
    let texts = statement.query_map([], |row| row.get(0))?;
    texts.collect::<rusqlite::Result<_>>().map_err(SqliteFault::from)
}
