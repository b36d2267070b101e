//! What engines are given: stores and resources.

use std::sync::Arc;

use rival::RegisterError;
use rival::prelude::*;

#[step]
async fn count() -> Result<u32, StepError> {
    Ok(12)
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_store_is_given_as_it_is_or_shared() {
    use std::time::Duration;

    use rival::testing::TestEngine;
    use rival::{Page, SqliteStore, Store};

    let trees = Workflow::new("trees").step(count).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rival.db");

    let engine = Engine::builder().store(SqliteStore::open(&file).unwrap()).workflow(&trees).build().await;
    let engine = engine.unwrap();
    engine.run(&trees, ()).await.unwrap().output().await.unwrap();
    engine.shutdown(Duration::ZERO).await;
    // It was the engine's alone, and is closed with it: the file is free.
    let store = Arc::new(SqliteStore::open(&file).unwrap());

    let engine = Engine::builder().store(Arc::clone(&store)).workflow(&trees).build().await.unwrap();
    engine.run(&trees, ()).await.unwrap().output().await.unwrap();
    engine.shutdown(Duration::ZERO).await;
    // What is shared is still open.
    assert_eq!(store.runs(&RunFilter::default(), &Page::default()).await.unwrap().len(), 2);

    let object: Arc<dyn Store> = store;
    let engine = TestEngine::builder().store(object).workflow(&trees).build().await.unwrap();
    assert_eq!(engine.runs(&RunFilter::default(), &Page::default()).await.unwrap().len(), 2);
}

trait Mailer: Send + Sync {
    fn sent(&self) -> u32;
}

struct Postcards(u32);

impl Mailer for Postcards {
    fn sent(&self) -> u32 {
        self.0
    }
}

#[step]
async fn read_value(cards: Res<Postcards>) -> Result<u32, StepError> {
    Ok(cards.sent())
}

#[step]
async fn read_object(mailer: Res<dyn Mailer>, same: Res<Arc<dyn Mailer>>) -> Result<u32, StepError> {
    Ok(mailer.sent() + same.sent())
}

#[tokio::test]
async fn a_resource_is_given_as_it_is_or_in_an_arc() {
    let value = Workflow::new("value").step(read_value).build().unwrap();
    for builder in
        [Engine::builder().provide(Postcards(7)), Engine::builder().provide(Arc::new(Postcards(7)))]
    {
        let engine = builder.workflow(&value).build().await.unwrap();
        assert_eq!(engine.run(&value, ()).await.unwrap().output().await.unwrap(), 7);
    }
}

#[tokio::test]
async fn a_resource_can_be_a_trait_object() {
    let object = Workflow::new("object").step(read_object).build().unwrap();
    let mailer: Arc<dyn Mailer> = Arc::new(Postcards(7));
    let engine = Engine::builder().provide(Arc::clone(&mailer)).workflow(&object).build().await.unwrap();
    assert_eq!(engine.run(&object, ()).await.unwrap().output().await.unwrap(), 14);

    let engine = Engine::builder().provide(Postcards(7)).build().await.unwrap();
    let missing = engine.register(&object).await.unwrap_err();
    assert!(matches!(missing, RegisterError::ResourceMissing { .. }), "{missing}");
    assert_eq!(read_object(Res::from(Arc::clone(&mailer)), Res::new(mailer)).await.unwrap(), 14);
}
