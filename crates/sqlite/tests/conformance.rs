//! What every store must do, done by this one.

mod common;

use common::Folder;
use rival_sqlite::SqliteStore;
use rival_store::conformance::StoreHarness;

struct Sqlite(Folder);

impl StoreHarness for Sqlite {
    type Store = SqliteStore;

    async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.0.file()).expect("the file opens")
    }

    async fn reopen(&self, store: SqliteStore) -> Option<SqliteStore> {
        drop(store);
        Some(self.open().await)
    }
}

rival_store::store_conformance!(Sqlite(Folder::new()));
