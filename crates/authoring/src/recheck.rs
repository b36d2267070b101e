//! Documents that are checked again: when an engine starts, and when what they refer to has changed.

use rival_engine::store::{Record, StoreError};

use crate::DOCUMENT_KIND;
use crate::compiled::{DocumentUses, StoredDocument};
use crate::documents::{Documents, definition_of, stored};
use crate::known::{KnownDocuments, KnownRecord};

/// How many documents are read from the store at once.
const PAGE: usize = 100;

impl Documents {
    /// Registers the documents of the store, each with the plan that it was saved with. What is wrong with single ones is in
    /// [`rival_engine::Engine::problems`]. A document whose name a workflow has already is kept, and not registered.
    ///
    /// Whether they still fit what they refer to is another question, see [`Documents::recheck`]: other workflows may be
    /// registered first.
    pub async fn load(&self) -> Result<(), StoreError> {
        let mut known = self.known().await;
        let mut after = None::<String>;
        loop {
            let page = self.engine.records().list(DOCUMENT_KIND, after.as_deref(), PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            for record in page {
                self.load_one(&mut known, &record).await;
            }
        }
        self.tell_problems(&known);
        Ok(())
    }

    async fn load_one(&self, known: &mut KnownDocuments, record: &Record) {
        let before = known.records.remove(&record.key);
        let mut now = KnownRecord {
            version: record.version,
            uses: DocumentUses::default(),
            is_registered: before.as_ref().is_some_and(|before| before.is_registered),
            refused: None,
            errors: Vec::new(),
        };
        let is_same = before.is_some_and(|before| before.is_registered && before.version == record.version);
        match stored(record) {
            Ok(Some(StoredDocument { compiled, .. })) => {
                now.uses = compiled.uses.clone();
                match definition_of(&record.key, &compiled, None) {
                    Ok(_) if is_same => {}
                    Ok(definition) => {
                        self.register_record(known, &mut now, &record.key, definition).await;
                    }
                    Err(error) => now.refused = Some(error.to_string()),
                }
            }
            Ok(None) => {}
            Err(error) => now.refused = Some(error.to_string()),
        }
        known.records.insert(record.key.clone(), now);
    }

    /// Checks all documents again. One that no longer fits what it refers to goes on as it is, and is stale.
    pub async fn recheck(&self) {
        self.recheck_where(&mut *self.known().await, |_| true).await;
    }

    /// Checks documents again that call tools of this connection, because these may be others now.
    pub async fn tools_changed(&self, connection: &str) {
        let uses = |uses: &DocumentUses| uses.connections.contains(connection);
        self.recheck_where(&mut *self.known().await, uses).await;
    }

    /// Workflows were registered or retired, with other inputs perhaps: documents that trigger any are checked again, and
    /// those whose names became free are registered.
    pub async fn workflows_changed(&self) {
        let mut known = self.known().await;
        self.register_freed(&mut known).await;
        self.recheck_where(&mut known, |uses| !uses.targets.is_empty()).await;
    }

    /// Registers documents of the store whose names nothing has any more.
    pub(crate) async fn register_freed(&self, known: &mut KnownDocuments) {
        let hidden = known.records.iter().filter(|(_, record)| !record.is_registered);
        let names: Vec<String> = hidden.map(|(name, _)| name.clone()).collect();
        for name in names {
            if self.engine.workflow(&name).is_ok() {
                continue;
            }
            match self.engine.records().get(DOCUMENT_KIND, &name).await {
                Ok(Some(record)) => self.load_one(known, &record).await,
                Ok(None) => {}
                Err(error) => tracing::warn!(document = name, %error, "it cannot be read now"),
            }
        }
    }

    /// Documents that trigger this workflow, because it takes another input now.
    pub(crate) async fn recheck_targets_of(&self, known: &mut KnownDocuments, workflow: &str) {
        self.recheck_where(known, |uses| uses.targets.contains(workflow)).await;
    }

    pub(crate) async fn recheck_where(
        &self,
        known: &mut KnownDocuments,
        wanted: impl Fn(&DocumentUses) -> bool,
    ) {
        let registered = self.recheck_once(known, wanted).await;
        if !registered.is_empty() {
            tracing::info!(workflows = registered.join(", "), "documents could be registered now");
            let is_target = |uses: &DocumentUses| registered.iter().any(|name| uses.targets.contains(name));
            self.recheck_once(known, is_target).await;
        }
        self.tell_problems(known);
    }

    /// Gives the names of files that are registered anew.
    async fn recheck_once(
        &self,
        known: &mut KnownDocuments,
        wanted: impl Fn(&DocumentUses) -> bool,
    ) -> Vec<String> {
        let records = known.records.iter().filter(|(_, record)| wanted(&record.uses));
        let names: Vec<String> = records.map(|(name, _)| name.clone()).collect();
        for name in names {
            if let Err(error) = self.recheck_record(known, &name).await {
                tracing::warn!(document = name, %error, "it cannot be checked again now");
            }
        }
        self.recheck_files(known, wanted).await
    }

    async fn recheck_record(&self, known: &mut KnownDocuments, name: &str) -> Result<(), StoreError> {
        let Some(record) = self.engine.records().get(DOCUMENT_KIND, name).await? else { return Ok(()) };
        // One that cannot be read has been said to be so.
        let Ok(Some(stored)) = stored(&record) else { return Ok(()) };
        let check = self.checks().check(&stored.text).await;
        if let Some(known) = known.records.get_mut(name) {
            known.errors = check.errors;
        }
        Ok(())
    }
}
