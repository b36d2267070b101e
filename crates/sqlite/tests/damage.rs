//! Files that were damaged: every change that matters is found when the store is opened, or by its check, and says so.
//!
//! `RIVAL_DAMAGE=1000` tries a thousand changed bytes and two hundred accidents of the log; `make test` tries some.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Folder, batch, commit, new_run, row_update};
use rival_core::{PlanHash, RunId, RunStatus, Seq, Time, Value};
use rival_sqlite::SqliteStore;
use rival_store::{
    Commit, EngineId, Epoch, ExpectedVersion, LogFilter, LogLevel, LogLine, NewMessage, NewRecord, NewRun,
    RowUpdate, RunHold, Snapshot, Store, StoreError,
};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

/// How many changed bytes are tried.
fn trials() -> u64 {
    std::env::var("RIVAL_DAMAGE").map_or(60, |text| text.parse().unwrap())
}

/// A stream of numbers that a seed decides.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) % end
    }
}

fn run_id(number: u64) -> String {
    format!("run-{number}")
}

/// Something of everything that a store keeps, some of it large, some of it removed again.
async fn fill(store: &SqliteStore, seed: u64, runs: u64) -> EngineId {
    let mut dice = Dice(seed);
    let engine = store.join().await.unwrap();
    let plan = PlanHash::new(format!("plan-{seed}"));
    store.put_plan(&plan, &format!("{{\"workflow\":\"w{seed}\"}}")).await.unwrap();
    for number in 0..runs {
        let id = run_id(seed * 1_000_000 + number);
        let run = NewRun {
            workflow: format!("workflow-{}", number % 3),
            plan: plan.clone(),
            tags: (0..number % 3).map(|tag| format!("tag-{tag}")).collect(),
            parent: (number > 3).then(|| RunId::new(run_id(seed * 1_000_000 + number - 3))),
            ..new_run(&id, engine)
        };
        store.start(run).await.unwrap();
        live(store, &id, &mut dice).await;
    }
    store.purge(Time(5), 3).await.unwrap();
    for body in ["first", "second"] {
        let (kind, key) = ("note".to_owned(), format!("a-{seed}"));
        let (expected, body, at) = (ExpectedVersion::Any, Some(body.to_owned()), Time(5));
        store.put_record(NewRecord { kind, key, expected, body, at, by: None }).await.unwrap();
    }
    engine
}

/// A few commits of one run, and what is beside them.
async fn live(store: &SqliteStore, id: &str, dice: &mut Dice) {
    let run = RunId::from(id);
    let named = NewMessage { id: Some(format!("m-{id}")), body: Value::encode(&"taken").unwrap() };
    let taken = store.send(&run, named, Time(3)).await.unwrap().no().unwrap();
    let size = if dice.below(8) == 0 { 30_000 } else { 50 + dice.below(500) };
    let mut next = commit(id, 2, usize::try_from(size).unwrap());
    next.consumed = vec![taken];
    next.logs = vec![line(&run, "looked"), line(&run, "found nothing")];
    store.commit(Arc::new(next)).await.unwrap();
    for first in 3..3 + dice.below(4) {
        store.commit(Arc::new(commit(id, first, 120))).await.unwrap();
    }
    let last = store.load(&run, Seq(0), usize::MAX).await.unwrap().last().unwrap().last();
    let mut end = Commit::new(run.clone(), Epoch(1), Time(4));
    end.events = Some(batch(last.0 + 1, 80));
    end.snapshot = Some(Snapshot { seq: last, fold: 1, plan: PlanHash::new("p"), body: vec![b's'; 300] });
    end.row_update = match dice.below(4) {
        0 => Some(RowUpdate::new(RunStatus::Waiting, RunHold::Release(Some(Time(77))), Time(4), None)),
        1 => Some(RowUpdate::new(RunStatus::Failed, RunHold::Keep, Time(4), Some("it broke".into()))),
        2 => Some(row_update(RunStatus::Completed, false)),
        _ => None,
    };
    store.commit(Arc::new(end)).await.unwrap();
    let waits = NewMessage { id: None, body: Value::encode(&"waits").unwrap() };
    store.send(&run, waits, Time(6)).await.unwrap();
}

fn line(run: &RunId, message: &str) -> LogLine {
    LogLine {
        no: 0,
        run: run.clone(),
        node: "a/b".into(),
        attempt: 1,
        call: 2,
        at: Time(5),
        level: LogLevel::Warn,
        message: message.into(),
        fields: Some(Value::encode(&BTreeMap::from([("a", 1)])).unwrap()),
    }
}

/// The files of a store, as bytes.
#[derive(Clone)]
struct Image {
    database: Vec<u8>,
    log: Option<Vec<u8>>,
    mark: Vec<u8>,
}

fn log_of(file: &Path) -> PathBuf {
    file.with_extension("db-wal")
}

fn mark_of(file: &Path) -> PathBuf {
    file.with_extension("db-mark")
}

impl Image {
    fn take(file: &Path) -> Self {
        let mark = std::fs::read(mark_of(file)).unwrap();
        Self { database: std::fs::read(file).unwrap(), log: std::fs::read(log_of(file)).ok(), mark }
    }

    fn put(&self, file: &Path) {
        for old in std::fs::read_dir(file.parent().unwrap()).unwrap() {
            std::fs::remove_file(old.unwrap().path()).unwrap();
        }
        std::fs::write(file, &self.database).unwrap();
        std::fs::write(mark_of(file), &self.mark).unwrap();
        if let Some(log) = &self.log {
            std::fs::write(log_of(file), log).unwrap();
        }
    }

    /// Everything that is in it, in words.
    fn dump(&self, folder: &Folder) -> rusqlite::Result<Vec<String>> {
        self.put(&folder.file());
        let connection = Connection::open(folder.file())?;
        let mut lines = Vec::new();
        for table in [
            "sqlite_schema",
            "meta",
            "runs",
            "names",
            "tags",
            "events",
            "snapshots",
            "messages",
            "plans",
            "logs",
            "records",
        ] {
            let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))?;
            let columns = statement.column_count();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let values: Vec<Sql> = (0..columns).map(|index| row.get(index)).collect::<Result<_, _>>()?;
                lines.push(format!("{table}: {values:?}"));
            }
        }
        Ok(lines)
    }
}

/// How damage shows.
#[derive(Debug, PartialEq)]
enum Shown {
    AtOpen(String),
    ByCheck(String),
    /// Nothing is said: then nothing may have changed.
    No,
}

async fn judge(image: &Image, folder: &Folder) -> Shown {
    image.put(&folder.file());
    let store = match SqliteStore::open(folder.file()) {
        Ok(store) => store,
        Err(error) => return Shown::AtOpen(error.to_string()),
    };
    match store.check().await {
        Ok(damage) if damage.is_empty() => Shown::No,
        Ok(damage) => Shown::ByCheck(damage[0].message.clone()),
        Err(error) => Shown::ByCheck(error.to_string()),
    }
}

/// What became of many trials.
#[derive(Debug, Default)]
struct Tally {
    at_open: u64,
    by_check: u64,
    harmless: u64,
    silent: Vec<String>,
}

impl Tally {
    async fn add(&mut self, what: String, image: &Image, wholes: &[&[String]], folder: &Folder) {
        match judge(image, folder).await {
            Shown::AtOpen(said) | Shown::ByCheck(said) if said.trim().len() < 10 => self.silent.push(what),
            Shown::AtOpen(_) => self.at_open += 1,
            Shown::ByCheck(_) => self.by_check += 1,
            Shown::No => match image.dump(folder) {
                Ok(dump) if wholes.contains(&&*dump) => self.harmless += 1,
                Ok(dump) => {
                    let changed = dump.iter().find(|line| !wholes[0].contains(line));
                    self.silent.push(format!("{what}: {changed:?}"));
                }
                Err(error) => self.silent.push(format!("{what}: {error}")),
            },
        }
    }

    fn judge(self, what: &str) {
        let Self { at_open, by_check, harmless, silent } = &self;
        println!("{what}: {at_open} found at open, {by_check} by the check, {harmless} changed nothing");
        assert!(silent.is_empty(), "{} were silent: {silent:#?}", silent.len());
        assert!(at_open + by_check > 0, "nothing was damaged");
    }
}

#[tokio::test]
async fn a_changed_byte_is_found_or_changes_nothing() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    fill(&store, 1, 100).await;
    drop(store);
    let clean = Image::take(&folder.file());
    let whole = clean.dump(&folder).unwrap();
    assert_eq!(judge(&clean, &folder).await, Shown::No);
    let (mut dice, mut tally) = (Dice(42), Tally::default());
    for _ in 0..trials() {
        let mut image = clean.clone();
        let at = usize::try_from(dice.below(image.database.len() as u64)).unwrap();
        let change = u8::try_from(1 + dice.below(255)).unwrap();
        image.database[at] ^= change;
        tally.add(format!("byte {at} (page {}) ^ {change}", at / 4096 + 1), &image, &[&whole], &folder).await;
    }
    tally.judge("changed bytes");
}

/// The files of a store as a kill leaves them, one image after each part of its life.
async fn killed(folder: &Folder, seed: u64) -> Vec<Image> {
    let store = SqliteStore::open(folder.file()).unwrap();
    let mut images = Vec::new();
    for part in 0..4 {
        fill(&store, seed * 10 + part, 6).await;
        images.push(Image::take(&folder.file()));
        if part == 1 {
            let shell = Connection::open(folder.file()).unwrap();
            shell.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
    }
    images
}

#[tokio::test]
async fn an_accident_of_the_log_is_found_or_changes_nothing() {
    let folder = Folder::new();
    let ours = killed(&folder, 1).await;
    let theirs = killed(&Folder::new(), 2).await;
    let wholes: Vec<_> = ours.iter().map(|image| image.dump(&folder).unwrap()).collect();
    let (mut dice, mut tally) = (Dice(7), Tally::default());
    for trial in 0..trials() / 5 {
        let which = usize::try_from(dice.below(ours.len() as u64)).unwrap();
        let mut image = ours[which].clone();
        let log = image.log.as_mut().unwrap();
        let at = usize::try_from(dice.below(log.len() as u64)).unwrap();
        let other = usize::try_from(dice.below(theirs.len() as u64)).unwrap();
        let what = match trial % 5 {
            0 => {
                log.truncate(at);
                format!("cut at {at}")
            }
            1 => {
                image.log = None;
                "deleted".to_owned()
            }
            2 => {
                image.log.clone_from(&theirs[other].log);
                format!("log {other} of another store")
            }
            3 => {
                image.log.clone_from(&ours[other].log);
                format!("log {other} of the same store")
            }
            _ => {
                log[at] ^= u8::try_from(1 + dice.below(255)).unwrap();
                format!("byte {at} of the log")
            }
        };
        // A later log of the same store makes a later state of it, if all of it fits.
        let fits = [&*wholes[which], &*wholes[other.max(which)]];
        tally.add(format!("image {which}: {what}"), &image, &fits, &folder).await;
    }
    tally.judge("accidents of the log");
}

/// A store that was closed in order has no log; one that comes from elsewhere must not be taken for its own.
#[tokio::test]
async fn the_log_of_another_store_beside_a_closed_one_is_found() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    fill(&store, 1, 10).await;
    drop(store);
    let mut image = Image::take(&folder.file());
    image.log = killed(&Folder::new(), 2).await.pop().unwrap().log;
    assert!(matches!(judge(&image, &folder).await, Shown::AtOpen(_)));
    // It was refused, and nothing was moved from the log into the file.
    assert!(std::fs::read(folder.file()).unwrap() == image.database);
    assert!(log_of(&folder.file()).exists());
}

async fn small(folder: &Folder) -> Image {
    let store = SqliteStore::open(folder.file()).unwrap();
    fill(&store, 1, 8).await;
    Image::take(&folder.file())
}

#[tokio::test]
async fn half_a_file_is_not_opened() {
    let folder = Folder::new();
    let image = small(&folder).await;
    let whole = image.dump(&folder).unwrap();
    let closed = Image::take(&folder.file());
    for (image, what) in [(closed, "closed"), (image, "killed")] {
        for part in 1..4 {
            let mut image = image.clone();
            let pages = image.database.len() / 4096;
            image.database.truncate(pages * part / 4 * 4096);
            if image.database.is_empty() {
                continue;
            }
            let shown = judge(&image, &folder).await;
            let harmless = shown == Shown::No && image.dump(&folder).is_ok_and(|dump| dump == whole);
            assert!(matches!(shown, Shown::AtOpen(_)) || harmless, "{what}, {part} quarters: {shown:?}");
        }
    }
}

#[tokio::test]
async fn a_store_without_its_mark_is_refused_until_it_is_accepted() {
    let folder = Folder::new();
    small(&folder).await.put(&folder.file());
    for harm in [None, Some("no mark at all")] {
        match harm {
            None => std::fs::remove_file(mark_of(&folder.file())).unwrap(),
            Some(text) => std::fs::write(mark_of(&folder.file()), text).unwrap(),
        }
        let refused = SqliteStore::open(folder.file()).unwrap_err();
        assert!(
            matches!(&refused, StoreError::Open(text) if text.contains("rival verify --accept")),
            "{refused}"
        );
        let store = SqliteStore::examine(folder.file()).unwrap();
        assert_eq!(store.distrust().map(StoreError::code), Some("store_open"));
        assert!(store.check().await.unwrap().is_empty());
        store.accept().await.unwrap();
        drop(store);
        let store = SqliteStore::open(folder.file()).unwrap();
        assert!(store.distrust().is_none());
        store.check_writable().await.unwrap();
        assert!(store.check().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn lost_commits_are_told_and_can_be_accepted() {
    let folder = Folder::new();
    // A part of it is in the database already, and the rest in the log.
    let mut image = killed(&folder, 1).await.swap_remove(2);
    image.log = None;
    image.put(&folder.file());
    let StoreError::Damaged(text) = SqliteStore::open(folder.file()).unwrap_err() else {
        panic!("not damaged")
    };
    assert!(text.contains("were acknowledged") && text.contains("(-wal)"), "{text}");
    let store = SqliteStore::examine(folder.file()).unwrap();
    assert_eq!(store.distrust().map(StoreError::code), Some("store_damaged"));
    assert_eq!(store.check().await.unwrap(), []);
    store.accept().await.unwrap();
    drop(store);
    SqliteStore::open(folder.file()).unwrap().check_writable().await.unwrap();
}

#[tokio::test]
async fn a_store_that_was_all_in_its_log_is_not_begun_anew_without_it() {
    let folder = Folder::new();
    let mut image = small(&folder).await;
    image.log = None;
    image.put(&folder.file());
    for refused in [SqliteStore::open(folder.file()), SqliteStore::examine(folder.file())] {
        let StoreError::Damaged(text) = refused.unwrap_err() else { panic!("not damaged") };
        assert!(text.contains("were acknowledged") && text.contains("(-wal)"), "{text}");
    }
    assert!(std::fs::read(folder.file()).unwrap() == image.database, "it was changed");
}

/// The same change that an editor of databases makes: the structure is sound, the words are others.
#[tokio::test]
async fn an_edited_row_is_found_when_it_is_read() {
    let folder = Folder::new();
    let image = small(&folder).await;
    // One without an owner, with a message that waits.
    let (no, id): (i64, String) = {
        image.put(&folder.file());
        let connection = Connection::open(folder.file()).unwrap();
        let waiting = "SELECT no, id FROM runs WHERE status = 'waiting'";
        connection.query_row(waiting, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    let run = RunId::from(id.as_str());
    for edit in [
        "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'x', 'y') AS BLOB) WHERE run = ?1 AND first = 2",
        "DELETE FROM events WHERE run = ?1 AND first = 2",
        "DELETE FROM events WHERE run = ?1 AND first = (SELECT max(first) FROM events WHERE run = ?1)",
        "UPDATE events SET first = first + 1000 WHERE run = ?1 AND first = (SELECT max(first) FROM events WHERE run = ?1)",
        "UPDATE runs SET fingerprint = x'00' WHERE no = ?1",
        "UPDATE runs SET wake_at = 12345 WHERE no = ?1",
        "UPDATE messages SET body = '\"forged\"' WHERE run = ?1 AND body IS NOT NULL",
        "UPDATE messages SET id = 'other' WHERE run = ?1 AND id IS NOT NULL",
        "UPDATE snapshots SET body = x'00' WHERE run = ?1",
        "UPDATE logs SET message = 'found it' WHERE run = ?1",
        "UPDATE plans SET json = '{}'",
        "UPDATE records SET body = 'forged'",
        "UPDATE records SET version = version + 10",
        "DELETE FROM records WHERE version = 1",
        "UPDATE names SET text = 'other' WHERE no = 1",
        "DELETE FROM tags WHERE run IN (SELECT no FROM runs)",
        "UPDATE meta SET last_run = last_run - 1",
        "DELETE FROM runs WHERE no = ?1",
    ] {
        image.put(&folder.file());
        let connection = Connection::open(folder.file()).unwrap();
        let mut statement = connection.prepare(edit).unwrap();
        let numbers = vec![no; statement.parameter_count()];
        assert!(statement.execute(rusqlite::params_from_iter(numbers)).unwrap() > 0, "{edit}");
        drop(statement);
        drop(connection);
        let Ok(store) = SqliteStore::open(folder.file()) else { continue };
        // Names are in the history too, where the engine's own judgement finds them.
        if !edit.starts_with("UPDATE names") {
            assert_ne!(store.check().await.unwrap(), [], "{edit}");
        }
        let damaged = |error: Option<StoreError>| matches!(error, Some(StoreError::Damaged(_)));
        let read = match edit {
            _ if edit.contains("events") || edit.contains("UPDATE runs") => {
                damaged(store.load(&run, Seq(0), usize::MAX).await.err())
            }
            _ if edit.contains("messages SET body") => damaged(store.messages(&run).await.err()),
            _ if edit.contains("snapshots") => damaged(store.snapshot(&run).await.err()),
            _ if edit.contains("logs") => damaged(store.logs(&run, &LogFilter::default()).await.err()),
            _ if edit.contains("UPDATE records") => damaged(store.records("note", None, 10).await.err()),
            _ if edit.contains("plans") => damaged(store.plans().await.err()),
            _ => true,
        };
        assert!(read, "{edit}: it was read as if nothing were wrong");
    }
}

/// What a later commit writes to a damaged row does not make it look whole.
#[tokio::test]
async fn damage_is_not_hidden_by_the_next_write() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store
        .start(NewRun { row_update: row_update(RunStatus::Queued, false), ..new_run("r", engine) })
        .await
        .unwrap();
    drop(store);
    let connection = Connection::open(folder.file()).unwrap();
    connection.execute("UPDATE runs SET fingerprint = x'07'", []).unwrap();
    drop(connection);
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    let claims = store.claim_queued(engine, 10).await.unwrap();
    let mut end = Commit::new(RunId::from("r"), claims[0].epoch, Time(9));
    end.events = Some(batch(2, 10));
    end.row_update = Some(row_update(RunStatus::Completed, false));
    store.commit(Arc::new(end)).await.unwrap();
    assert_eq!(store.check().await.unwrap().len(), 1);
    assert!(matches!(store.load(&RunId::from("r"), Seq(0), 10).await, Err(StoreError::Damaged(_))));
}

/// Most transactions add batches and write nothing else: those are counted too.
#[tokio::test]
async fn a_lost_batch_is_told_though_nothing_else_was_written_with_it() {
    const FRAME: usize = 24 + 4096;
    let (folder, copy) = (Folder::new(), Folder::new());
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    let before = Image::take(&folder.file()).log.unwrap().len();
    for first in 2..10 {
        store.commit(Arc::new(commit("r", first, 10))).await.unwrap();
    }
    let whole = Image::take(&folder.file());
    let length = whole.log.as_ref().unwrap().len();
    assert_eq!((length - before) / FRAME, 16, "each wrote the batch and the index, and no other page");
    for cut in (before..length).step_by(FRAME) {
        let mut image = whole.clone();
        image.log.as_mut().unwrap().truncate(cut);
        image.put(&copy.file());
        let refused = SqliteStore::open(copy.file()).unwrap_err();
        assert!(matches!(refused, StoreError::Damaged(_)), "cut at {cut}: {refused}");
    }
    whole.put(&copy.file());
    let again = SqliteStore::open(copy.file()).unwrap();
    assert_eq!(again.load(&RunId::from("r"), Seq(0), 100).await.unwrap().len(), 9);
    assert_eq!(again.check().await.unwrap(), []);
}

/// One store in three moments, between which the log was started over.
async fn started_over(folder: &Folder) -> Vec<Image> {
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    let mut images = Vec::new();
    for part in 0..3 {
        for first in 0..4 {
            store.commit(Arc::new(commit("r", 2 + part * 4 + first, 3_000))).await.unwrap();
        }
        images.push(Image::take(&folder.file()));
        let shell = Connection::open(folder.file()).unwrap();
        shell.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    }
    images
}

#[tokio::test]
async fn a_log_of_batches_alone_says_whose_it_is() {
    let (one, other, copy) = (Folder::new(), Folder::new(), Folder::new());
    let (ours, theirs) = (started_over(&one).await, started_over(&other).await);
    for (which, image) in ours.iter().enumerate() {
        let earlier = ours[..which].iter();
        for log in theirs.iter().chain(earlier).map(|image| &image.log) {
            let mixed = Image { log: log.clone(), ..image.clone() };
            mixed.put(&copy.file());
            let refused = SqliteStore::open(copy.file()).unwrap_err();
            assert!(matches!(refused, StoreError::Damaged(_)), "image {which}: {refused}");
        }
        image.put(&copy.file());
        assert_eq!(SqliteStore::open(copy.file()).unwrap().check().await.unwrap(), []);
    }
}
