//! The writer's view of the tables: prepared statements, and what it remembers of runs that are at work.

use std::collections::{HashMap, HashSet};

use rival_core::{RunId, Seq};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Statement};

use crate::fault::Result;

/// How many runs are remembered; past that all are forgotten and read again as they are needed.
const REMEMBERED: usize = 1 << 16;

/// A run that somebody alive owns, as the last commit left it. Lets a commit be checked without a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hot {
    pub(crate) no: i64,
    pub(crate) epoch: i64,
    pub(crate) last: Seq,
}

/// What a run id stands for.
pub(crate) enum Known {
    Owned(Hot),
    /// Ended, or of nobody alive.
    NotOwned,
    Unknown,
}

/// Who is alive, and who is gone but still owns runs.
#[derive(Debug, Default)]
pub(crate) struct Engines {
    pub(crate) alive: HashSet<i64>,
    pub(crate) gone: Vec<i64>,
}

impl Engines {
    /// Takes note of an owner, so that its runs are found even if it has left already.
    pub(crate) fn note_owner(&mut self, engine: i64) {
        if !self.alive.contains(&engine) && !self.gone.contains(&engine) {
            self.gone.push(engine);
        }
    }
}

pub(crate) struct Tables<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) insert_event: Statement<'c>,
    pub(crate) insert_run: Statement<'c>,
    pub(crate) set_standing: Statement<'c>,
    pub(crate) count_waiting: Statement<'c>,
    pub(crate) engines: Engines,
    pub(crate) names: HashMap<String, i64>,
    pub(crate) hot: HashMap<RunId, Hot>,
    last_run: i64,
    stale: bool,
}

impl<'c> Tables<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            connection,
            insert_event: connection
                .prepare("INSERT INTO events (run, first, count, body) VALUES (?1, ?2, ?3, ?4)")?,
            insert_run: connection.prepare(
                "INSERT INTO runs (no, id, workflow, plan, status, fingerprint, created_at, ended_at,
                     wake_at, owner, epoch, parent, source, tags, note)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12, ?13, ?14)
                 ON CONFLICT (id) DO NOTHING",
            )?,
            set_standing: connection.prepare(
                "UPDATE runs SET status = ?2, ended_at = ?3, wake_at = ?4, note = ?5,
                     owner = CASE WHEN ?6 THEN owner END WHERE no = ?1",
            )?,
            count_waiting: connection
                .prepare("SELECT count(*) FROM messages WHERE run = ?1 AND body IS NOT NULL")?,
            engines: Engines::default(),
            names: HashMap::new(),
            hot: HashMap::new(),
            last_run: 0,
            stale: true,
        })
    }

    /// A statement that is prepared once and found again by its text.
    pub(crate) fn sql(&self, text: &str) -> Result<CachedStatement<'c>> {
        Ok(self.connection.prepare_cached(text)?)
    }

    /// Looks every run up again, because one of the owners is gone.
    pub(crate) fn forget_runs(&mut self) {
        self.hot.clear();
    }

    /// Trusts nothing that is remembered.
    pub(crate) fn forget(&mut self) {
        self.hot.clear();
        self.names.clear();
        self.stale = true;
    }

    /// Reads again what was forgotten.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        if !self.stale {
            return Ok(());
        }
        self.last_run =
            self.number("SELECT max(last_run, (SELECT coalesce(max(no), 0) FROM runs)) FROM meta")?;
        self.engines = self.read_engines()?;
        self.stale = false;
        Ok(())
    }

    fn number(&self, sql: &str) -> Result<i64> {
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn read_engines(&self) -> Result<Engines> {
        let mut engines = Engines::default();
        let mut alive = self.connection.prepare("SELECT id FROM engines")?;
        for id in alive.query_map([], |row| row.get(0))? {
            engines.alive.insert(id?);
        }
        // Steps from owner to owner through the index instead of over all owned runs.
        let mut next = self.connection.prepare("SELECT min(owner) FROM runs WHERE owner > ?1")?;
        let mut owner = i64::MIN;
        while let Some(id) = next.query_row([owner], |row| row.get::<_, Option<i64>>(0))? {
            engines.note_owner(id);
            owner = id;
        }
        Ok(engines)
    }

    pub(crate) fn next_run(&mut self) -> i64 {
        self.last_run += 1;
        self.last_run
    }

    pub(crate) fn last_run(&self) -> i64 {
        self.last_run
    }

    /// What a commit must know about its run; read at most once while somebody owns it.
    pub(crate) fn known(&mut self, run: &RunId) -> Result<Known> {
        if let Some(hot) = self.hot.get(run) {
            return Ok(Known::Owned(*hot));
        }
        let known = self.read_known(run)?;
        if let Known::Owned(hot) = &known {
            self.remember(run, *hot);
        }
        Ok(known)
    }

    fn read_known(&self, run: &RunId) -> Result<Known> {
        let found = self
            .sql("SELECT no, epoch, owner FROM runs WHERE id = ?1")?
            .query_row([run.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?)))
            .optional()?;
        match found {
            None => Ok(Known::Unknown),
            Some((no, epoch, Some(owner))) if self.engines.alive.contains(&owner) => {
                Ok(Known::Owned(Hot { no, epoch, last: self.read_last(no)? }))
            }
            // One that has ended has no owner.
            Some(_) => Ok(Known::NotOwned),
        }
    }

    fn read_last(&self, run: i64) -> Result<Seq> {
        let last: Option<i64> = self
            .sql("SELECT first + count - 1 FROM events WHERE run = ?1 ORDER BY first DESC LIMIT 1")?
            .query_row([run], |row| row.get(0))
            .optional()?;
        Ok(Seq(last.unwrap_or(0).cast_unsigned()))
    }

    pub(crate) fn remember(&mut self, run: &RunId, hot: Hot) {
        if let Some(known) = self.hot.get_mut(run) {
            *known = hot;
            return;
        }
        if self.hot.len() >= REMEMBERED {
            self.hot.clear();
        }
        self.hot.insert(run.clone(), hot);
    }

    pub(crate) fn set_last(&mut self, run: &RunId, last: Seq) {
        if let Some(hot) = self.hot.get_mut(run) {
            hot.last = last;
        }
    }

    pub(crate) fn drop_hot(&mut self, run: &RunId) {
        self.hot.remove(run);
    }
}
