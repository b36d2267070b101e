//! Faults that only come from inside: a limit on pages, a failed sync, a job that cannot be written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time};
use rival_store::{
    Commit, CommitError, EngineId, Epoch, EventBatch, NewMessage, NewRun, Page, RowUpdate, RunFilter,
    RunHold, Store, StoreError,
};
use rusqlite::ffi;

use crate::fault::SqliteFault;
use crate::meta::StoreMeta;
use crate::{SqliteStore, WriterTables, fault, query};

struct Fixture {
    store: SqliteStore,
    engine: EngineId,
    folder: PathBuf,
}

impl Fixture {
    async fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("rival-sqlite-in-{}-{name}", std::process::id()));
        let store = SqliteStore::open(folder.join("rival.db")).unwrap();
        let engine = store.join().await.unwrap();
        Self { store, engine, folder }
    }

    async fn start(&self, id: &str, status: RunStatus) {
        self.store.start(self.new_run(id, status)).await.unwrap();
    }

    fn new_run(&self, id: &str, status: RunStatus) -> NewRun {
        NewRun {
            id: RunId::from(id),
            workflow: "w".to_owned(),
            plan: PlanHash::new("p"),
            fingerprint: Vec::new(),
            created_at: Time(1),
            parent: None,
            source: None,
            tags: vec!["red".to_owned()],
            events: batch(1, 10),
            row_update: RowUpdate::new(status, RunHold::Keep, Time(1), None),
            engine: self.engine,
        }
    }

    async fn fail_with(&self, code: i32) -> StoreError {
        let fail = move |tables: &mut WriterTables<'_>| -> fault::Result<()> {
            // Something of it is written before it fails.
            tables.probe();
            tables.sql("UPDATE meta SET last_run = 77")?.execute([])?;
            Err(sqlite(code))
        };
        self.store.write(fail).await.unwrap_err()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn batch(first: u64, bytes: usize) -> EventBatch {
    EventBatch { first: Seq(first), count: 1, body: vec![b'x'; bytes] }
}

fn commit(id: &str, first: u64, bytes: usize) -> Commit {
    let mut commit = Commit::new(RunId::from(id), Epoch(1), Time(2));
    commit.events = Some(batch(first, bytes));
    commit
}

fn sqlite(code: i32) -> SqliteFault {
    SqliteFault::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
}

#[test]
fn codes_of_sqlite_become_words_of_the_contract() {
    let word = |code| sqlite(code).to_store_error(Path::new("f")).code();
    assert_eq!(word(ffi::SQLITE_FULL), "store_full");
    assert_eq!(word(ffi::SQLITE_READONLY), "store_read_only");
    assert_eq!(word(ffi::SQLITE_BUSY), "store_locked");
    assert_eq!(word(ffi::SQLITE_IOERR_WRITE), "store_io");
    assert_eq!(word(ffi::SQLITE_IOERR_FSYNC), "store_poisoned");
    assert_eq!(word(ffi::SQLITE_IOERR_DIR_FSYNC), "store_poisoned");
    assert_eq!(word(ffi::SQLITE_CORRUPT), "store_damaged");
    assert_eq!(word(ffi::SQLITE_NOTADB), "store_damaged");
}

#[tokio::test]
async fn after_a_failed_sync_every_write_is_refused_and_reads_go_on() {
    let fixture = Fixture::new("poison").await;
    fixture.start("r", RunStatus::Running).await;
    assert_eq!(fixture.fail_with(ffi::SQLITE_IOERR_FSYNC).await.code(), "store_poisoned");
    assert_eq!(fixture.store.check_writable().await.unwrap_err().code(), "store_poisoned");
    assert_eq!(fixture.store.join().await.unwrap_err().code(), "store_poisoned");
    assert!(fixture.store.run(&RunId::from("r")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_failed_group_leaves_nothing_behind_and_the_next_one_is_written() {
    let fixture = Fixture::new("io").await;
    fixture.start("r", RunStatus::Running).await;
    assert_eq!(fixture.fail_with(ffi::SQLITE_IOERR_WRITE).await.code(), "store_io");
    fixture.store.commit(Arc::new(commit("r", 2, 10))).await.unwrap();
    let last =
        fixture.store.read(|c| Ok(c.query_row("SELECT last_run FROM meta", [], |row| row.get::<_, i64>(0))?));
    assert_eq!(last.await.unwrap(), 1);
}

#[tokio::test]
async fn without_room_nothing_is_acknowledged_and_with_room_it_goes_on() {
    let fixture = Fixture::new("full").await;
    fixture.start("r", RunStatus::Running).await;
    let set_pages = |pages: u32| {
        fixture.store.write(move |tables| {
            let sql = format!("PRAGMA max_page_count = {pages}");
            Ok(tables.connection.query_row(&sql, [], |row| row.get::<_, i64>(0))?)
        })
    };
    set_pages(1).await.unwrap(); // SQLite takes the present size instead.
    let error = fixture.store.commit(Arc::new(commit("r", 2, 1_000_000))).await.unwrap_err();
    assert!(matches!(error, CommitError::Store(StoreError::Full(_))), "{error:?}");
    assert_eq!(fixture.store.load(&RunId::from("r"), Seq(1), 10).await.unwrap(), Vec::new());
    set_pages(1_000_000).await.unwrap();
    fixture.store.check_writable().await.unwrap();
    fixture.store.commit(Arc::new(commit("r", 2, 1_000_000))).await.unwrap();
}

#[tokio::test]
async fn a_refused_commit_does_not_disturb_its_group() {
    let fixture = Fixture::new("group").await;
    for id in ["a", "b", "c"] {
        fixture.start(id, RunStatus::Running).await;
    }
    let store = &fixture.store;
    let before = store.stats();
    let (a, b, c, unwritable) = tokio::join!(
        store.commit(Arc::new(commit("a", 2, 10))),
        store.commit(Arc::new(commit("b", 7, 10))),
        store.commit(Arc::new(commit("c", 2, 10))),
        fixture.fail_with(ffi::SQLITE_TOOBIG),
    );
    a.unwrap();
    c.unwrap();
    assert!(matches!(b, Err(CommitError::Sequence { expected: Seq(2), actual: Seq(7), .. })), "{b:?}");
    assert_eq!(unwritable.code(), "store_io");
    assert_eq!(store.stats().jobs - before.jobs, 4);
    assert_eq!(store.load(&RunId::from("b"), Seq(1), 10).await.unwrap(), Vec::new());
}

#[tokio::test]
async fn a_transaction_that_writes_nothing_is_not_counted_as_synced() {
    let fixture = Fixture::new("nothing").await;
    let before = fixture.store.stats();
    assert!(fixture.store.claim_due(fixture.engine, Time(5), 10).await.unwrap().is_empty());
    let after = fixture.store.stats();
    assert_eq!((after.transactions, after.jobs), (before.transactions, before.jobs + 1));
}

#[tokio::test]
async fn a_commit_after_a_rollback_is_checked_against_the_file() {
    let fixture = Fixture::new("forget").await;
    fixture.start("r", RunStatus::Running).await;
    let fail = |tables: &mut WriterTables<'_>| -> fault::Result<()> {
        tables.commit(&commit("r", 2, 10), 0)?.unwrap();
        Err(sqlite(ffi::SQLITE_IOERR_WRITE))
    };
    fixture.store.write(fail).await.unwrap_err();
    fixture.store.commit(Arc::new(commit("r", 2, 10))).await.unwrap();
}

/// What the next store that opens the file finds is what the writer knows, whatever shares a transaction.
#[tokio::test]
async fn the_file_tells_how_far_the_store_has_come() {
    let fixture = Fixture::new("told").await;
    let store = &fixture.store;
    let agree = async || {
        let known = store.write(|tables| Ok(tables.meta.clone())).await.unwrap();
        let told = store.read(StoreMeta::read).await.unwrap();
        assert_eq!(told, known);
    };
    fixture.start("a", RunStatus::Running).await;
    agree().await;
    fixture.start("b", RunStatus::Running).await;
    agree().await;
    let mut end = commit("b", 2, 10);
    end.row_update = Some(RowUpdate::new(RunStatus::Completed, RunHold::Keep, Time(3), None));
    store.commit(Arc::new(end)).await.unwrap();
    agree().await;
    // The batches of the one that goes are among those that tell it.
    let both = |tables: &mut WriterTables<'_>| {
        assert_eq!(tables.purge(Time(9), 10)?, 1);
        tables.commit(&commit("a", 2, 10), 0)
    };
    store.write(both).await.unwrap().unwrap();
    agree().await;
    store
        .send(&RunId::from("a"), NewMessage { id: None, body: rival_core::Value::null() }, Time(3))
        .await
        .unwrap();
    agree().await;
}

/// How SQLite would go about it: no list or claim may read or sort more than its page.
#[tokio::test]
async fn lists_and_claims_walk_an_index_and_sort_nothing() {
    let fixture = Fixture::new("plans").await;
    for (id, status) in [("a", RunStatus::Blocked), ("b", RunStatus::Failed), ("c", RunStatus::Completed)] {
        fixture.start(id, status).await;
    }
    let message = NewMessage { id: Some("m".to_owned()), body: rival_core::Value::null() };
    fixture.store.send(&RunId::from("a"), message, Time(3)).await.unwrap();
    let filters = [
        RunFilter::default(),
        RunFilter { statuses: vec![RunStatus::Failed, RunStatus::Blocked], ..RunFilter::default() },
        RunFilter { workflow: Some("w".to_owned()), ..RunFilter::default() },
        RunFilter { tag: Some("red".to_owned()), ..RunFilter::default() },
        RunFilter { parent: Some(RunId::from("a")), ..RunFilter::default() },
        RunFilter { roots: true, ..RunFilter::default() },
        RunFilter { created_from: Some(Time(1)), ..RunFilter::default() },
        RunFilter { no_system: true, ..RunFilter::default() },
        RunFilter { roots: true, no_system: true, ..RunFilter::default() },
        RunFilter { created_to: Some(Time(9)), workflow: Some("w".to_owned()), ..RunFilter::default() },
    ];
    for filter in filters {
        for before in [None, Some(100)] {
            fixture.store.runs(&filter, &Page { before, limit: 2 }).await.unwrap();
        }
    }
    let sorting = fixture.store.read(sorting).await.unwrap();
    assert_eq!(sorting, Vec::<String>::new());
}

/// The statements that sort, of those a reader or the writer uses.
fn sorting(connection: &rusqlite::Connection) -> fault::Result<Vec<String>> {
    let without_system = format!(
        "SELECT no FROM runs NOT INDEXED WHERE runs.no < 5 AND {} ORDER BY runs.no DESC LIMIT 5",
        query::NOT_SYSTEM
    );
    let statements = [
        without_system.as_str(),
        "SELECT no FROM runs WHERE wake_at <= 5 AND owner IS NULL ORDER BY wake_at, no LIMIT 5",
        "SELECT no FROM runs INDEXED BY runs_by_status WHERE status = 'queued' AND status <> 'completed' AND owner IS NULL ORDER BY no",
        "SELECT no FROM runs INDEXED BY runs_by_status WHERE runs.status = 'failed' AND runs.status <> 'completed' ORDER BY runs.no DESC LIMIT 5",
        "SELECT no FROM runs INDEXED BY runs_by_workflow WHERE runs.no < 5 AND workflow = 1 ORDER BY no DESC",
        "SELECT no FROM runs INDEXED BY runs_by_parent WHERE runs.parent = 'a' ORDER BY runs.no DESC",
        "SELECT no FROM runs INDEXED BY runs_by_root WHERE runs.no < 5 AND runs.parent IS NULL ORDER BY runs.no DESC LIMIT 5",
        "SELECT no FROM runs INDEXED BY runs_by_creation WHERE runs.created_at >= 1 AND runs.created_at < 5 ORDER BY runs.created_at DESC, runs.no DESC LIMIT 5",
        "SELECT no FROM runs INDEXED BY runs_by_creation WHERE (runs.created_at, runs.no) < ((SELECT created_at FROM runs WHERE no <= 5 ORDER BY no DESC LIMIT 1), 5) AND runs.created_at < 5 ORDER BY runs.created_at DESC, runs.no DESC LIMIT 5",
        "SELECT no FROM tags CROSS JOIN runs ON runs.no = tags.run WHERE tags.tag = 'a' ORDER BY tags.run DESC",
        "SELECT no FROM runs WHERE ended_at < 5 ORDER BY ended_at, no LIMIT 5",
        "SELECT no FROM messages WHERE run = 1 AND body IS NOT NULL ORDER BY no",
        "SELECT no FROM logs WHERE run = 1 ORDER BY no DESC LIMIT 5",
        query::COUNT_BY_STATUS,
        query::COUNT_ALL,
        query::QUEUE_HEAD,
        query::OVERDUE,
    ];
    let mut sorting = Vec::new();
    for sql in statements {
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let given = rusqlite::params_from_iter(vec![5; plan.parameter_count()]);
        for step in plan.query_map(given, |row| row.get::<_, String>(3))? {
            let step = step?;
            if step.contains("TEMP B-TREE") || step == "SCAN runs" {
                sorting.push(format!("{sql}: {step}"));
            }
        }
    }
    Ok(sorting)
}

/// Statements are kept to be parsed and planned once.
#[tokio::test]
async fn a_statement_is_not_prepared_again_for_other_values() {
    let fixture = Fixture::new("again").await;
    let again = fixture.store.read(|connection| {
        let mut due =
            connection.prepare("SELECT no FROM runs WHERE wake_at <= ?1 ORDER BY wake_at LIMIT ?2")?;
        for limit in 1..5 {
            due.query_map([limit * 7, limit], |row| row.get::<_, i64>(0))?.count();
        }
        Ok(due.get_status(rusqlite::StatementStatus::RePrepare))
    });
    assert_eq!(again.await.unwrap(), 0);
}
