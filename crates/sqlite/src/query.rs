//! Reading runs, their events, snapshots and plans.

use std::sync::LazyLock;

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time};
use rival_store::{
    EngineId, Epoch, EventBatch, LOAD_MAX_BYTES, Page, RunFilter, RunRow, Snapshot, StoreFigures,
};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use crate::claim::as_limit;
use crate::fault::{Result, SqliteFault};
use crate::sum;

/// A run's row, in the order in which [`decode_row`] reads it.
pub(crate) const COLUMNS: &str = "runs.no, runs.id,
    (SELECT text FROM names WHERE no = runs.workflow), (SELECT text FROM names WHERE no = runs.plan), runs.status, runs.fingerprint,
    runs.created_at, runs.ended_at, runs.wake_at, runs.owner, runs.epoch, runs.parent, runs.source, runs.tags,
    runs.note, runs.dropped";

/// A run's row, unchecked, as in lists: a run whose row is damaged can be seen, and killed. Loading it is refused.
pub(crate) fn row_by_id(connection: &Connection, run: &RunId) -> Result<Option<RunRow>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?;
    statement.query_and_then([run.as_str()], decode_row)?.next().transpose()
}

pub(crate) fn decode_row(row: &Row<'_>) -> Result<RunRow> {
    Ok(RunRow {
        no: row.get(0)?,
        id: RunId::new(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?),
        workflow: row.get(2)?,
        plan: PlanHash::new(row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?),
        status: decode_status(row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?)?,
        fingerprint: row.get(5)?,
        created_at: Time(row.get(6)?),
        ended_at: row.get::<_, Option<i64>>(7)?.map(Time),
        wake_at: row.get::<_, Option<i64>>(8)?.map(Time),
        owner: row.get::<_, Option<i64>>(9)?.map(EngineId),
        epoch: Epoch(row.get(10)?),
        parent: row.get::<_, Option<String>>(11)?.map(RunId::from),
        source: row.get::<_, Option<String>>(12)?.map(RunId::from),
        tags: decode_tags(row.get(13)?)?,
        note: row.get(14)?,
        dropped_messages: row.get(15)?,
    })
}

fn decode_status(word: &str) -> Result<RunStatus> {
    word.parse().map_err(|error: rival_core::UnknownStatus| SqliteFault::Damaged(error.to_string()))
}

/// No tags are no text: most runs have none.
pub(crate) fn encode_tags(tags: &[String]) -> Option<String> {
    let text = || serde_json::to_string(tags).expect("a list of strings always encodes");
    (!tags.is_empty()).then(text)
}

fn decode_tags(text: Option<String>) -> Result<Vec<String>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|error| SqliteFault::Damaged(format!("tags are no list: {error}")))
}

/// A page of rows, the newest first.
///
/// Each status is asked for by itself: one walk down an index that stops at the limit, where a set of
/// statuses would have SQLite collect and sort all of their runs.
pub(crate) fn rows(connection: &Connection, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>> {
    let by_index = !filter.statuses.is_empty() && !filter.statuses.contains(&RunStatus::Completed);
    let is_narrow = filter.parent.is_some() || filter.tag.is_some() || filter.id_prefix.is_some();
    if !by_index || is_narrow {
        return Walk::new(filter, page, &filter.statuses).run(connection, page.limit);
    }
    let mut rows = Vec::new();
    for status in distinct(&filter.statuses) {
        rows.extend(Walk::new(filter, page, &[status]).run(connection, page.limit)?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.no));
    rows.truncate(page.limit);
    Ok(rows)
}

fn distinct(statuses: &[RunStatus]) -> Vec<RunStatus> {
    RunStatus::ALL.into_iter().filter(|status| statuses.contains(status)).collect()
}

/// Not of a workflow of Rival's own: `;` comes after `:`.
pub(crate) const NOT_SYSTEM: &str =
    "runs.workflow NOT IN (SELECT no FROM names WHERE text >= 'rival:' AND text < 'rival;')";

/// One walk from the newest run down, with its conditions.
struct Walk {
    path: WalkPath,
    conditions: Vec<String>,
    values: Vec<Sql>,
}

impl Walk {
    fn new(filter: &RunFilter, page: &Page, statuses: &[RunStatus]) -> Self {
        // By name, so that a new condition is not forgotten. The statuses come one walk at a time.
        let RunFilter {
            id_prefix,
            workflow,
            statuses: _,
            created_from,
            created_to,
            parent,
            roots,
            source,
            tag,
            no_system,
        } = filter;
        let mut walk = Self { path: path(filter, statuses), conditions: Vec::new(), values: Vec::new() };
        if let Some(before) = page.before {
            walk.add_end_of_page(before);
        }
        if let Some(prefix) = id_prefix {
            walk.add("runs.id >=", Sql::Text(prefix.clone()));
            // What begins with it comes before it with something larger than any character behind it: UTF-8 has no byte of
            // this value, and texts are compared by their bytes.
            walk.add_condition("runs.id < ? || CAST(x'FF' AS TEXT)", Sql::Text(prefix.clone()));
        }
        if let Some(source) = source {
            walk.add("runs.source =", Sql::Text(source.as_str().to_owned()));
        }
        if *roots {
            walk.conditions.push("runs.parent IS NULL".to_owned());
        }
        if *no_system {
            walk.conditions.push(NOT_SYSTEM.to_owned());
        }
        if let Some(tag) = tag {
            walk.add("tags.tag =", Sql::Text(tag.clone()));
        }
        if let Some(parent) = parent {
            walk.add("runs.parent =", Sql::Text(parent.as_str().to_owned()));
        }
        if let Some(workflow) = workflow {
            walk.add_condition(
                "runs.workflow = (SELECT no FROM names WHERE text = ?)",
                Sql::Text(workflow.clone()),
            );
        }
        if let Some(from) = created_from {
            walk.add("runs.created_at >=", Sql::Integer(from.0));
        }
        if let Some(to) = created_to {
            walk.add("runs.created_at <", Sql::Integer(to.0));
        }
        walk.add_statuses(statuses);
        walk
    }

    /// Goes on where the page before ended. If its last run is gone, the one before it tells when that was.
    fn add_end_of_page(&mut self, before: i64) {
        match self.path.order {
            WalkOrder::Number(number) => self.add(&format!("{number} <"), Sql::Integer(before)),
            WalkOrder::Time => {
                let last = "(SELECT created_at FROM runs WHERE no <= ? ORDER BY no DESC LIMIT 1), ?";
                self.conditions.push(format!("(runs.created_at, runs.no) < ({last})"));
                self.values.extend([Sql::Integer(before), Sql::Integer(before)]);
            }
        }
    }

    fn add(&mut self, left: &str, value: Sql) {
        self.add_condition(&format!("{left} ?"), value);
    }

    fn add_condition(&mut self, condition: &str, value: Sql) {
        self.conditions.push(condition.to_owned());
        self.values.push(value);
    }

    /// As words in the text, because SQLite uses the partial index only if it sees which ones they are.
    fn add_statuses(&mut self, statuses: &[RunStatus]) {
        match statuses {
            [] => {}
            [one] => {
                self.conditions.push(format!("runs.status = '{}'", one.word()));
                if *one != RunStatus::Completed {
                    // SQLite does not see by itself that the index holds all of these.
                    self.conditions.push("runs.status <> 'completed'".to_owned());
                }
            }
            several => {
                let words: Vec<_> = several.iter().map(|status| format!("'{}'", status.word())).collect();
                self.conditions.push(format!("runs.status IN ({})", words.join(", ")));
            }
        }
    }

    fn run(mut self, connection: &Connection, limit: usize) -> Result<Vec<RunRow>> {
        self.values.push(Sql::Integer(as_limit(limit)));
        let all = if self.conditions.is_empty() { "1".to_owned() } else { self.conditions.join(" AND ") };
        let order = match self.path.order {
            WalkOrder::Number(number) => format!("{number} DESC"),
            WalkOrder::Time => "runs.created_at DESC, runs.no DESC".to_owned(),
        };
        let from = self.path.from;
        let sql = format!("SELECT {COLUMNS} FROM {from} WHERE {all} ORDER BY {order} LIMIT ?");
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_and_then(params_from_iter(self.values), decode_row)?;
        rows.collect()
    }
}

/// What a walk goes along, and in which order that gives the runs.
struct WalkPath {
    from: &'static str,
    order: WalkOrder,
}

enum WalkOrder {
    /// The order of creation here: this column is the run's number.
    Number(&'static str),
    /// The order of the times of creation.
    Time,
}

/// Which index to walk: the one that leaves the fewest runs. Named, because SQLite has no statistics to
/// choose by and every one of them must give its order without sorting.
fn path(filter: &RunFilter, statuses: &[RunStatus]) -> WalkPath {
    let by_number = |from| WalkPath { from, order: WalkOrder::Number("runs.no") };
    let is_timed = filter.created_from.is_some() || filter.created_to.is_some();
    match statuses {
        // Alone in not giving its order: few runs begin alike as far as people type.
        _ if filter.id_prefix.is_some() && filter.tag.is_none() => {
            by_number("runs INDEXED BY sqlite_autoindex_runs_1")
        }
        _ if filter.tag.is_some() => WalkPath {
            from: "tags CROSS JOIN runs ON runs.no = tags.run",
            order: WalkOrder::Number("tags.run"),
        },
        _ if filter.parent.is_some() => by_number("runs INDEXED BY runs_by_parent"),
        [one] if *one != RunStatus::Completed => by_number("runs INDEXED BY runs_by_status"),
        // Bounds in time leave less than a workflow, which may have all runs of a store.
        _ if is_timed => WalkPath { from: "runs INDEXED BY runs_by_creation", order: WalkOrder::Time },
        _ if filter.workflow.is_some() => by_number("runs INDEXED BY runs_by_workflow"),
        _ if filter.roots => by_number("runs INDEXED BY runs_by_root"),
        _ => by_number("runs NOT INDEXED"),
    }
}

/// How many children each of these runs has.
pub(crate) fn count_children(connection: &Connection, runs: &[RunId]) -> Result<Vec<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT count(*) FROM runs INDEXED BY runs_by_parent WHERE parent = ?1")?;
    let count =
        |run: &RunId| Ok(statement.query_row([run.as_str()], |row| row.get::<_, i64>(0))?.cast_unsigned());
    runs.iter().map(count).collect()
}

/// The batches that hold the events after `after`, checked against their chain.
pub(crate) fn batches(
    connection: &Connection,
    run: &RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<EventBatch>> {
    let Some(tip) = HistoryTip::read(connection, run)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT first, count, body, chain FROM events
         WHERE run = ?1 AND first + count > ?2 AND first >= coalesce(
             (SELECT first FROM events WHERE run = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1), 0)
         ORDER BY first",
    )?;
    // No number of an event is that large; saturating keeps "beyond the end" what it is.
    let next = i64::try_from(after.0).unwrap_or(i64::MAX).saturating_add(1);
    let mut rows = statement.query([tip.no, next])?;
    let mut batches: Vec<EventBatch> = Vec::new();
    let mut links = None;
    let (mut events, mut bytes) = (0_usize, 0_usize);
    while let Some(row) = rows.next()? {
        let batch = decode_batch(row)?;
        events = events.saturating_add(batch.count as usize);
        bytes = bytes.saturating_add(batch.body.len());
        if (events > limit || bytes > LOAD_MAX_BYTES) && !batches.is_empty() {
            return Ok(batches);
        }
        let links = match &mut links {
            Some(links) => links,
            none => none.insert(ChainLinks::before(connection, run, tip.no, batch.first)?),
        };
        links.add(run, &tip, &batch, row.get(3)?)?;
        batches.push(batch);
    }
    let last = batches.last().map_or_else(|| after.min(tip.last), EventBatch::last);
    tip.check_end(run, last)?;
    Ok(batches)
}

pub(crate) fn last_batch(connection: &Connection, run: &RunId) -> Result<Option<EventBatch>> {
    let mut statement = connection.prepare_cached(
        "SELECT first, count, body FROM events WHERE run = (SELECT no FROM runs WHERE id = ?1)
         ORDER BY first DESC LIMIT 1",
    )?;
    let mut rows = statement.query([run.as_str()])?;
    rows.next()?.map(decode_batch).transpose()
}

/// Where a run's history ends, as its row says. While the run is owned, more may follow.
struct HistoryTip {
    no: i64,
    last: Seq,
    chain: i64,
    owned: bool,
}

static TIP: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT no, last, tip, owner IS NOT NULL, sum = {} FROM runs WHERE id = ?1", *sum::OF_RUN)
});

impl HistoryTip {
    fn read(connection: &Connection, run: &RunId) -> Result<Option<Self>> {
        let decode = |row: &Row<'_>| {
            let last = Seq(row.get::<_, i64>(1)?.cast_unsigned());
            let tip = Self { no: row.get(0)?, last, chain: row.get(2)?, owned: row.get(3)? };
            Ok((tip, row.get::<_, bool>(4)?))
        };
        match connection.prepare_cached(&TIP)?.query_row([run.as_str()], decode).optional()? {
            Some((_, false)) => {
                Err(SqliteFault::Damaged(format!("the row of run `{run}` is not as it was written")))
            }
            found => Ok(found.map(|(tip, _)| tip)),
        }
    }

    fn check_end(&self, run: &RunId, last: Seq) -> Result<()> {
        if last == self.last || (self.owned && last > self.last) {
            return Ok(());
        }
        let said = self.last;
        Err(SqliteFault::Damaged(format!(
            "run `{run}`: its history ends with event {last}, its row says {said}"
        )))
    }
}

/// The chain of a run, up to some batch.
struct ChainLinks {
    last: Seq,
    chain: i64,
}

impl ChainLinks {
    /// The chain before the batch that begins with `first`.
    fn before(connection: &Connection, run: &RunId, no: i64, first: Seq) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT first + count - 1, chain FROM events WHERE run = ?1 AND first < ?2
             ORDER BY first DESC LIMIT 1",
        )?;
        let decode =
            |row: &Row<'_>| Ok(Self { last: Seq(row.get::<_, i64>(0)?.cast_unsigned()), chain: row.get(1)? });
        let found = statement.query_row([no, first.0.cast_signed()], decode).optional()?;
        Ok(found.unwrap_or_else(|| Self { last: Seq::ZERO, chain: sum::chain_begin(no, run.as_str()) }))
    }

    fn add(&mut self, run: &RunId, tip: &HistoryTip, batch: &EventBatch, chain: i64) -> Result<()> {
        let expected = sum::chain_next(self.chain, batch.first.0, batch.count, sum::of_body(&batch.body));
        let last = batch.last();
        let fits =
            batch.first == self.last.next() && chain == expected && (last != tip.last || chain == tip.chain);
        if !fits {
            let first = batch.first;
            return Err(SqliteFault::Damaged(format!(
                "run `{run}`: its events {first} to {last} are not what was written after event {}",
                self.last
            )));
        }
        (self.last, self.chain) = (last, chain);
        Ok(())
    }
}

fn decode_batch(row: &Row<'_>) -> Result<EventBatch> {
    Ok(EventBatch {
        first: Seq(row.get::<_, i64>(0)?.cast_unsigned()),
        count: row.get(1)?,
        body: row.get(2)?,
    })
}

pub(crate) fn snapshot(connection: &Connection, run: &RunId) -> Result<Option<Snapshot>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, fold, plan, body, sum = row_sum(run, seq, fold, plan, body) FROM snapshots
         WHERE run = (SELECT no FROM runs WHERE id = ?1)",
    )?;
    let decode = |row: &Row<'_>| {
        let snapshot = Snapshot {
            seq: Seq(row.get::<_, i64>(0)?.cast_unsigned()),
            fold: row.get(1)?,
            plan: PlanHash::new(row.get::<_, String>(2)?),
            body: row.get(3)?,
        };
        Ok((snapshot, row.get::<_, bool>(4)?))
    };
    match statement.query_row([run.as_str()], decode).optional()? {
        Some((_, false)) => {
            Err(SqliteFault::Damaged(format!("the snapshot of run `{run}` is not as it was written")))
        }
        found => Ok(found.map(|(snapshot, _)| snapshot)),
    }
}

pub(crate) fn plan(connection: &Connection, hash: &str) -> Result<Option<String>> {
    let mut statement = connection
        .prepare_cached("SELECT hash, json, sum = row_sum(hash, json) FROM plans WHERE hash = ?1")?;
    let found = statement.query_and_then([hash], decode_plan)?.next().transpose()?;
    Ok(found.map(|(_, json)| json))
}

/// In the order in which they were kept, which is that of their row numbers.
pub(crate) fn plans(connection: &Connection) -> Result<Vec<(PlanHash, String)>> {
    let mut statement = connection
        .prepare_cached("SELECT hash, json, sum = row_sum(hash, json) FROM plans ORDER BY rowid")?;
    let plans = statement.query_and_then([], decode_plan)?;
    plans.collect()
}

fn decode_plan(row: &Row<'_>) -> Result<(PlanHash, String)> {
    let hash = PlanHash::new(row.get::<_, String>(0)?);
    if !row.get::<_, bool>(2)? {
        return Err(SqliteFault::Damaged(format!("plan {hash} is not as it was written")));
    }
    Ok((hash, row.get(1)?))
}

pub(crate) fn has_plan(connection: &Connection, hash: &str) -> Result<bool> {
    Ok(connection.prepare_cached("SELECT 1 FROM plans WHERE hash = ?1")?.exists([hash])?)
}

/// Whether a workflow has blocked runs without an owner.
pub(crate) fn has_blocked(connection: &Connection, workflow: &str) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT 1 FROM runs INDEXED BY runs_by_status
         WHERE status = 'blocked' AND status <> 'completed' AND owner IS NULL
             AND workflow = (SELECT no FROM names WHERE text = ?1)",
    )?;
    Ok(statement.exists([workflow])?)
}

pub(crate) fn next_wake(connection: &Connection) -> Result<Option<Time>> {
    let mut statement =
        connection.prepare_cached("SELECT min(wake_at) FROM runs WHERE wake_at IS NOT NULL")?;
    Ok(statement.query_row([], |row| row.get::<_, Option<i64>>(0))?.map(Time))
}

/// How many runs there are by status, and how late the store is. Completed runs are in no index by status: they are those
/// that remain, and SQLite counts all of them by the smallest index.
pub(crate) fn figures(connection: &Connection, now: Time) -> Result<StoreFigures> {
    let mut figures = StoreFigures::default();
    let mut statement = connection.prepare_cached(COUNT_BY_STATUS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let status = decode_status(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
        figures.runs.insert(status, row.get::<_, i64>(1)?.cast_unsigned());
    }
    let all: i64 = connection.prepare_cached(COUNT_ALL)?.query_row([], |row| row.get(0))?;
    let others: u64 = figures.runs.values().sum();
    figures.runs.insert(RunStatus::Completed, all.cast_unsigned().saturating_sub(others));
    let head = connection.prepare_cached(QUEUE_HEAD)?.query_row([], |row| row.get(0)).optional()?;
    figures.queue_head = head.map(Time);
    let late = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, Option<i64>>(1)?));
    let (overdue, since) = connection.prepare_cached(OVERDUE)?.query_row([now.0], late)?;
    (figures.overdue, figures.overdue_since) = (overdue, since.map(Time));
    Ok(figures)
}

pub(crate) const COUNT_BY_STATUS: &str = "SELECT status, count(*) FROM runs INDEXED BY runs_by_status
     WHERE status <> 'completed' GROUP BY status";
pub(crate) const COUNT_ALL: &str = "SELECT count(*) FROM runs";
pub(crate) const QUEUE_HEAD: &str = "SELECT created_at FROM runs INDEXED BY runs_by_status
     WHERE status = 'queued' AND status <> 'completed' ORDER BY no LIMIT 1";
pub(crate) const OVERDUE: &str = "SELECT count(*), min(wake_at) FROM runs INDEXED BY runs_by_wake
     WHERE wake_at IS NOT NULL AND wake_at <= ?1";
