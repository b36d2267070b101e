//! The memory store does what every store must do.

use rival_store::MemoryStore;
use rival_store::conformance::StoreHarness;

struct Memory;

impl StoreHarness for Memory {
    type Store = MemoryStore;

    async fn open(&self) -> MemoryStore {
        MemoryStore::new()
    }

    async fn reopen(&self, _store: MemoryStore) -> Option<MemoryStore> {
        None
    }
}

rival_store::store_conformance!(Memory);
