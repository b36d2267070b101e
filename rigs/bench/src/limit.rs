//! The machine's own limit: a bare SQLite writer with group commit and nothing else.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

type Append = ([u8; 16], [u8; 200], oneshot::Sender<()>);

/// Makes rows durable for a while and gives how many: `producers` tasks, each append one 200-byte row with a
/// time-ordered key, each waits for its own row to be durable before it appends the next.
pub(crate) async fn append_rows(dir: &Path, producers: usize, lasting: Duration) -> Result<u64> {
    let (sender, receiver) = mpsc::channel::<Append>(4096);
    let path = dir.join("limit.db");
    let writer = std::thread::spawn(move || write(&path, receiver));
    let end = Instant::now() + lasting;
    let tasks: Vec<_> = (0..producers).map(|_| tokio::spawn(produce(sender.clone(), end))).collect();
    drop(sender);
    let mut rows = 0;
    for task in tasks {
        rows += task.await?;
    }
    writer.join().expect("the writer does not panic")?;
    Ok(rows)
}

async fn produce(sender: mpsc::Sender<Append>, end: Instant) -> u64 {
    let mut rows = 0;
    while Instant::now() < end {
        let (ack, acked) = oneshot::channel();
        let sent = sender.send((uuid::Uuid::now_v7().into_bytes(), [7; 200], ack)).await;
        if sent.is_err() || acked.await.is_err() {
            break;
        }
        rows += 1;
    }
    rows
}

fn write(path: &Path, mut receiver: mpsc::Receiver<Append>) -> Result<()> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch("CREATE TABLE IF NOT EXISTS rows(id BLOB PRIMARY KEY, body BLOB) WITHOUT ROWID")?;
    let mut insert = db.prepare("INSERT INTO rows VALUES (?1, ?2)")?;
    let mut group = Vec::new();
    while receiver.blocking_recv_many(&mut group, 1024) > 0 {
        db.execute_batch("BEGIN IMMEDIATE")?;
        for (id, body, _) in &group {
            insert.execute((id.as_slice(), body.as_slice()))?;
        }
        db.execute_batch("COMMIT")?;
        for (_, _, ack) in group.drain(..) {
            // A producer that is gone needs no answer.
            let _ = ack.send(());
        }
    }
    Ok(())
}
