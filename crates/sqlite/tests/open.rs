//! Which files are opened, and which are refused and left alone.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::{Folder, child, child_after, commit, file_of_child, lines_of, new_run};
use rival_core::{RunId, Seq};
use rival_sqlite::SqliteStore;
use rival_store::{Store, StoreError};
use rusqlite::Connection;

fn refusal(path: &Path) -> StoreError {
    SqliteStore::open(path).expect_err("must be refused")
}

#[tokio::test]
async fn a_closed_file_opens_again_with_everything_in_it() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    store.commit(Arc::new(commit("r", 2, 100))).await.unwrap();
    drop(store);
    assert!(!folder.0.join("rival.db-wal").exists(), "closing moves the log into the file");
    let store = SqliteStore::open(folder.file()).unwrap();
    assert_eq!(store.load(&RunId::from("r"), Seq(0), 10).await.unwrap().len(), 2);
    assert!(store.join().await.unwrap() > engine, "ids of engines are never given again");
}

#[test]
fn missing_folders_are_made() {
    let folder = Folder::new();
    let file = folder.0.join("a/b/rival.db");
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(store.path(), file.canonicalize().unwrap());
}

#[cfg(unix)]
#[test]
fn new_files_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.0.join("data/rival.db");
    let _store = SqliteStore::open(&file).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.0.join("data")), 0o700);
    for name in ["rival.db", "rival.db-wal", "rival.db-mark"] {
        assert_eq!(mode(&folder.0.join("data").join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_second_store_on_the_file_is_refused_until_the_first_is_dropped() {
    let folder = Folder::new();
    let first = SqliteStore::open(folder.file()).unwrap();
    let StoreError::Locked(text) = refusal(&folder.file()) else { panic!("not locked") };
    assert!(text.contains("rival.db") && text.contains("stop it"), "{text}");
    drop(first);
    SqliteStore::open(folder.file()).unwrap();
}

#[cfg(unix)]
#[test]
fn another_name_for_the_file_is_the_same_file() {
    let folder = Folder::new();
    let _first = SqliteStore::open(folder.file()).unwrap();
    let other = folder.0.join("other.db");
    std::os::unix::fs::symlink(folder.file(), &other).unwrap();
    assert!(matches!(refusal(&other), StoreError::Locked(_)));
    std::fs::remove_file(&other).unwrap();
    std::fs::hard_link(folder.file(), &other).unwrap();
    assert!(matches!(refusal(&other), StoreError::Locked(_)), "in this process");
    let mut process = child("child_is_refused", &other).spawn().unwrap();
    assert!(process.wait().unwrap().success(), "in another process");
}

/// The other process.
#[test]
fn child_is_refused() {
    let Some(file) = file_of_child() else { return };
    assert!(matches!(refusal(&file), StoreError::Locked(_)));
}

#[tokio::test]
async fn a_closed_store_lets_the_file_go_while_it_is_still_held() {
    let folder = Folder::new();
    let first = SqliteStore::open(folder.file()).unwrap();
    let engine = first.join().await.unwrap();
    first.start(new_run("r", engine)).await.unwrap();
    first.close().await;
    assert!(matches!(first.run(&RunId::from("r")).await, Err(StoreError::Closed)));
    assert!(matches!(first.check_writable().await, Err(StoreError::Closed)));
    let second = SqliteStore::open(folder.file()).unwrap();
    assert!(second.run(&RunId::from("r")).await.unwrap().is_some());
    first.close().await;
    assert!(
        matches!(refusal(&folder.file()), StoreError::Locked(_)),
        "closing twice lets go of nothing else"
    );
    drop(first);
    assert!(matches!(refusal(&folder.file()), StoreError::Locked(_)));
}

/// A shell that comes and goes must not take the log away from under a store: SQLite's own locks must hold, also after
/// a second store was refused in the same process.
#[tokio::test]
async fn a_refused_store_takes_no_lock_away_from_the_first() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    refusal(&folder.file());
    let mut shell = child("child_looks_as_a_shell", &folder.file()).spawn().unwrap();
    assert!(shell.wait().unwrap().success());
    store.commit(Arc::new(commit("r", 2, 100))).await.unwrap();
}

/// The other process: opens the file as any program does, and is the last to close it for all it knows.
#[test]
fn child_looks_as_a_shell() {
    let Some(file) = file_of_child() else { return };
    let shell = Connection::open(file).unwrap();
    shell.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0)).unwrap();
}

#[test]
fn the_lock_of_an_older_version_holds_and_is_removed_when_it_is_free() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).unwrap());
    let side = folder.0.join("rival.db.lock");
    std::fs::write(&side, "4711").unwrap();
    let older = std::fs::File::open(&side).unwrap();
    older.lock().unwrap();
    let StoreError::Locked(text) = refusal(&folder.file()) else { panic!("not locked") };
    assert!(text.contains("process 4711") && text.contains("older version"), "{text}");
    drop(older);
    SqliteStore::open(folder.file()).unwrap();
    assert!(!side.exists());
}

/// The other process: holds the file until its input ends.
#[test]
fn child_holds_the_file() {
    let Some(file) = file_of_child() else { return };
    let _store = SqliteStore::open(file).unwrap();
    println!("\nopen");
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn a_second_process_is_refused_until_the_first_is_gone() {
    let folder = Folder::new();
    let mut other = child("child_holds_the_file", &folder.file()).spawn().unwrap();
    lines_of(&mut other).find(|line| line.as_ref().unwrap() == "open").unwrap().unwrap();
    let StoreError::Locked(text) = refusal(&folder.file()) else { panic!("not locked") };
    assert!(text.contains(&other.id().to_string()), "names the process: {text}");
    other.kill().unwrap();
    other.wait().unwrap();
    SqliteStore::open(folder.file()).unwrap();
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).unwrap());
    Connection::open(folder.file()).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let StoreError::Open(text) = refusal(&folder.file()) else { panic!("not refused") };
    assert!(text.contains("newer version") && text.contains("999"), "{text}");
}

#[test]
fn a_database_of_another_program_is_refused_and_untouched() {
    let folder = Folder::new();
    Connection::open(folder.file()).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = std::fs::read(folder.file()).unwrap();
    let StoreError::Open(text) = refusal(&folder.file()) else { panic!("not refused") };
    assert!(text.contains("another program"), "{text}");
    assert_eq!(std::fs::read(folder.file()).unwrap(), before);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is put beside it");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_untouched() {
    let folder = Folder::new();
    for text in ["short", &"a letter to somebody ".repeat(100)] {
        std::fs::write(folder.file(), text).unwrap();
        assert!(matches!(refusal(&folder.file()), StoreError::Open(_)));
        assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), text);
    }
}

#[test]
fn a_folder_is_refused() {
    let folder = Folder::new();
    assert!(matches!(refusal(&folder.0), StoreError::Open(_)));
}

/// The other process, where nothing can be written.
#[tokio::test]
async fn child_reads_and_cannot_write() {
    let Some(file) = file_of_child() else { return };
    if !file.exists() {
        assert!(matches!(refusal(&file), StoreError::ReadOnly(_)), "a new file cannot be made");
        return;
    }
    let store = SqliteStore::open(&file).unwrap();
    let engine = store.join().await.unwrap();
    assert_eq!(store.load(&RunId::from("r"), Seq(0), 10).await.unwrap().len(), 1);
    assert!(store.check().await.unwrap().is_empty());
    for refused in
        [store.check_writable().await.unwrap_err(), store.start(new_run("s", engine)).await.unwrap_err()]
    {
        assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused:?}");
        assert!(refused.to_string().contains("rival.db"), "it does not name the file: {refused}");
    }
}

#[tokio::test]
async fn on_a_read_only_disk_a_store_is_read_and_takes_no_writes() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    drop(store);
    let before = std::fs::read(folder.file()).unwrap();
    let path = folder.0.display();
    let mount = format!("mount --bind '{path}' '{path}' && mount -o remount,ro,bind '{path}'");
    for file in [folder.file(), folder.0.join("new.db")] {
        let Some(mut other) = child_after(&mount, "child_reads_and_cannot_write", &file) else { return };
        let output = other.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    assert_eq!(std::fs::read(folder.file()).unwrap(), before);
}
