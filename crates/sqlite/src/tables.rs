//! The writer's view of the tables: prepared statements, and what it remembers of runs that are at work.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rival_core::{RunId, Seq};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Statement};

use crate::fault::Result;
use crate::meta::{self, StoreMeta};
use crate::sum;

/// How many runs are remembered; past that all are forgotten and read again as they are needed.
const REMEMBERED: usize = 1 << 16;

/// How many batches there may be after what the row of [`StoreMeta`] says: they are read when a store is opened.
const TAIL_MAX: i64 = 1_000;

/// A run that a live engine owns, as the last commit left it. Lets a commit be checked without a read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnedRun {
    pub(crate) no: i64,
    pub(crate) epoch: i64,
    pub(crate) last: Seq,
    /// The chain of the batch that ends with it.
    pub(crate) tip: i64,
    pub(crate) owner: i64,
    pub(crate) dropped: i64,
    /// The part of its row's sum that changes, as it was when the row was last written.
    pub(crate) changing: i64,
}

static READ_KNOWN: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT no, epoch, owner, dropped, {} FROM runs WHERE id = ?1", *sum::OF_CHANGING)
});

/// What a run id stands for.
pub(crate) enum KnownRun {
    Owned(OwnedRun),
    /// Ended, or not owned by a live engine.
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

/// What a store that opens the file would read.
struct Told {
    meta: StoreMeta,
    /// How many commits the row itself knows of.
    row: i64,
}

pub(crate) struct WriterTables<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) insert_event: Statement<'c>,
    pub(crate) insert_run: Statement<'c>,
    pub(crate) set_row: Statement<'c>,
    pub(crate) count_waiting: Statement<'c>,
    set_meta: Statement<'c>,
    pub(crate) engines: Engines,
    pub(crate) names: HashMap<String, i64>,
    pub(crate) owned_runs: HashMap<RunId, OwnedRun>,
    /// As it will be after this transaction.
    pub(crate) meta: StoreMeta,
    /// What its row and the batches after it tell; none if the row must be written, whatever else is.
    told: Option<Told>,
    /// Whether this transaction has added a batch.
    added: bool,
    /// Whether this transaction must be written although no row changed.
    pub(crate) dirty: bool,
    stale: bool,
}

impl<'c> WriterTables<'c> {
    pub(crate) fn new(connection: &'c Connection) -> Result<Self> {
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self {
            connection,
            insert_event: connection
                .prepare("INSERT INTO events (no, run, first, count, chain, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?,
            insert_run: connection.prepare(
                "INSERT INTO runs (no, id, workflow, plan, status, fingerprint, created_at, ended_at,
                     wake_at, owner, epoch, parent, source, tags, note, last, tip, sum)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
                 ON CONFLICT (id) DO NOTHING",
            )?,
            set_row: connection.prepare(&format!(
                "UPDATE runs SET status = ?2, ended_at = ?3, wake_at = ?4, note = ?5, owner = ?6, last = ?7, tip = ?8,
                     sum = {} WHERE no = ?1",
                sum::JOINED_WITH_9
            ))?,
            count_waiting: connection
                .prepare("SELECT count(*) FROM messages WHERE run = ?1 AND body IS NOT NULL")?,
            set_meta: connection.prepare(meta::UPDATE)?,
            engines: Engines::default(),
            names: HashMap::new(),
            owned_runs: HashMap::new(),
            meta: StoreMeta::default(),
            told: None,
            added: false,
            dirty: false,
            stale: true,
        })
    }

    /// A statement that is prepared once and found again by its text.
    pub(crate) fn sql(&self, text: &str) -> Result<CachedStatement<'c>> {
        Ok(self.connection.prepare_cached(text)?)
    }

    /// Looks every run up again, because one of the owners is gone.
    pub(crate) fn forget_runs(&mut self) {
        self.owned_runs.clear();
    }

    /// Trusts nothing that is remembered.
    pub(crate) fn forget(&mut self) {
        self.owned_runs.clear();
        self.names.clear();
        self.added = false;
        self.dirty = false;
        self.stale = true;
        self.told = None;
    }

    /// Reads again what was forgotten.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        if !self.stale {
            return Ok(());
        }
        self.meta = StoreMeta::read(self.connection)?;
        // An engine may have joined while the disk was full.
        let joined = self.engines.alive.iter().copied().max().unwrap_or(0);
        self.meta.last_engine = self.meta.last_engine.max(joined);
        // A store that lost commits, and was accepted, may have batches of later ones. Their numbers are taken.
        let last: Option<i64> =
            self.connection.query_row("SELECT max(no) FROM events", [], |row| row.get(0))?;
        self.meta.commits = self.meta.commits.max(last.unwrap_or(0));
        self.read_gone()?;
        self.stale = false;
        Ok(())
    }

    /// Finds the owners of runs who are not alive.
    fn read_gone(&mut self) -> Result<()> {
        self.engines.gone.clear();
        // Steps from owner to owner through the index instead of over all owned runs.
        let mut next = self.connection.prepare("SELECT min(owner) FROM runs WHERE owner > ?1")?;
        let mut owner = i64::MIN;
        while let Some(id) = next.query_row([owner], |row| row.get::<_, Option<i64>>(0))? {
            self.engines.note_owner(id);
            owner = id;
        }
        Ok(())
    }

    /// Takes note of a batch that this transaction adds, and gives its number.
    pub(crate) fn add_batch(&mut self, run: i64, chain: i64) -> i64 {
        self.added = true;
        self.meta.add(run, chain);
        if let Some(told) = &mut self.told {
            told.meta.add(run, chain);
        }
        self.meta.commits
    }

    /// Has the transaction say how far the store has come, if it wrote anything: the last thing before its commit. Gives
    /// whether it did.
    pub(crate) fn count(&mut self, changes: u64) -> Result<bool> {
        let added = std::mem::take(&mut self.added);
        let dirty = std::mem::take(&mut self.dirty);
        if !dirty && changes == 0 {
            return Ok(false);
        }
        if !added {
            self.meta.commits += 1;
        }
        let is_told = |told: &Told| told.meta == self.meta && self.meta.commits - told.row < TAIL_MAX;
        if !self.told.as_ref().is_some_and(is_told) {
            self.set_meta.execute(self.meta.params())?;
            self.told = Some(Told { meta: self.meta.clone(), row: self.meta.commits });
        }
        Ok(true)
    }

    /// The log starts over: what is in it must begin with the row that says whose it is. Else the log of another store, or
    /// an older one of this store, could be taken for it.
    pub(crate) fn tell_again(&mut self) {
        self.told = None;
    }

    /// Whether there are batches after the row.
    pub(crate) fn has_tail(&self) -> bool {
        !self.stale && self.told.as_ref().is_some_and(|told| told.row < self.meta.commits)
    }

    pub(crate) fn next_run(&mut self) -> i64 {
        self.meta.last_run += 1;
        self.meta.last_run
    }

    /// What a commit must know about its run; read at most once while an engine owns it.
    pub(crate) fn known(&mut self, run: &RunId) -> Result<KnownRun> {
        if let Some(owned) = self.owned_runs.get(run) {
            return Ok(KnownRun::Owned(*owned));
        }
        let known = self.read_known(run)?;
        if let KnownRun::Owned(owned) = &known {
            self.remember(run, *owned);
        }
        Ok(known)
    }

    fn read_known(&self, run: &RunId) -> Result<KnownRun> {
        let found = self
            .sql(&READ_KNOWN)?
            .query_row([run.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?, row.get(3)?, row.get(4)?))
            })
            .optional()?;
        match found {
            None => Ok(KnownRun::Unknown),
            Some((no, epoch, Some(owner), dropped, changing)) if self.engines.alive.contains(&owner) => {
                let (last, tip) = self.read_last(no, run)?;
                Ok(KnownRun::Owned(OwnedRun { no, epoch, last, tip, owner, dropped, changing }))
            }
            // One that has ended has no owner.
            Some(_) => Ok(KnownRun::NotOwned),
        }
    }

    fn read_last(&self, no: i64, run: &RunId) -> Result<(Seq, i64)> {
        let last = self
            .sql("SELECT first + count - 1, chain FROM events WHERE run = ?1 ORDER BY first DESC LIMIT 1")?
            .query_row([no], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))
            .optional()?;
        let (last, tip) = last.unwrap_or_else(|| (0, sum::chain_begin(no, run.as_str())));
        Ok((Seq(last.cast_unsigned()), tip))
    }

    pub(crate) fn remember(&mut self, run: &RunId, owned: OwnedRun) {
        if let Some(known) = self.owned_runs.get_mut(run) {
            *known = owned;
            return;
        }
        if self.owned_runs.len() >= REMEMBERED {
            self.owned_runs.clear();
        }
        self.owned_runs.insert(run.clone(), owned);
    }

    pub(crate) fn forget_owned(&mut self, run: &RunId) {
        self.owned_runs.remove(run);
    }
}
