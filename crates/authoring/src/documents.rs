//! The documents of an engine: saved, changed, removed, shown.

use std::fmt;
use std::sync::Arc;

use rival_document::{CheckedDocument, DocumentCheck, DocumentProblem, ProblemCode, SourcePlace};
use rival_engine::store::{ExpectedVersion, PutResult, Record};
use rival_engine::{Definition, Engine, WorkflowKind};
use tokio::sync::{Mutex, MutexGuard};

use crate::DOCUMENT_KIND;
use crate::catalog::{DocumentChecks, Tools};
use crate::compiled::{CompiledDocument, StoredDocument};
use crate::error::{DocumentError, VersionCondition};
use crate::known::{KnownDocuments, KnownRecord};
use crate::view::{DocumentSummary, DocumentVersion, DocumentView, SavedDocument};

/// Names that the API uses beside those of documents.
const RESERVED: [&str; 2] = ["schema", "validate"];

/// What problems of documents are filed under.
const SOURCE: &str = "documents";

/// The documents of an engine, kept in its store and found as files. Cheap to clone; all clones are the same.
///
/// Changes are made one after the other, and each is made as a whole although its caller goes away: it is kept and registered, or
/// neither.
#[derive(Clone)]
pub struct Documents {
    pub(crate) engine: Engine,
    pub(crate) tools: Tools,
    known: Arc<Mutex<KnownDocuments>>,
}

impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Documents")
    }
}

impl Documents {
    /// The documents of this engine, which can call these tools. Nothing is registered before [`Documents::load`] and
    /// [`Documents::register_files`].
    pub fn new(engine: Engine, tools: Tools) -> Self {
        Self { engine, tools, known: Arc::default() }
    }

    /// The same documents, for a caller with this name: what is saved says so. See [`Engine::asked_by`].
    #[must_use]
    pub fn asked_by(&self, caller: impl Into<Arc<str>>) -> Self {
        Self { engine: self.engine.asked_by(caller), ..self.clone() }
    }

    pub(crate) async fn known(&self) -> MutexGuard<'_, KnownDocuments> {
        self.known.lock().await
    }

    pub(crate) fn checks(&self) -> DocumentChecks {
        DocumentChecks {
            engine: self.engine.clone(),
            tools: Arc::clone(&self.tools),
            pending: Arc::default(),
        }
    }

    /// Says everything that is wrong with a text, and keeps nothing.
    pub async fn validate(&self, text: &str) -> DocumentCheck {
        self.checks().check(text).await
    }

    /// Saves a document that is new.
    pub async fn create(&self, text: &str) -> Result<SavedDocument, DocumentError> {
        self.save(None, text, VersionCondition::Absent).await
    }

    /// Saves a document under its name, if the version that is there is what is expected. New runs have its plan; those that
    /// are under way go on as they began.
    pub async fn update(
        &self,
        name: &str,
        text: &str,
        condition: VersionCondition,
    ) -> Result<SavedDocument, DocumentError> {
        self.save(Some(name), text, condition).await
    }

    async fn save(
        &self,
        name: Option<&str>,
        text: &str,
        condition: VersionCondition,
    ) -> Result<SavedDocument, DocumentError> {
        let document = self.checked(name, text).await?;
        let change = DocumentChange { text: text.to_owned(), document, condition, by_create: name.is_none() };
        let documents = self.clone();
        as_a_whole(async move { documents.write(change).await }).await
    }

    /// The document that a text is, if nothing is wrong with it.
    async fn checked(&self, name: Option<&str>, text: &str) -> Result<CheckedSource, DocumentError> {
        let mut check = self.validate(text).await;
        let invalid = |check: DocumentCheck| Err(DocumentError::Invalid(Box::new(check)));
        let Some(document) = check.document.take() else { return invalid(check) };
        let wrong = match name {
            Some(name) if name != document.name => {
                Some(format!("the document is called `{}`, and it is saved as `{name}`", document.name))
            }
            _ if RESERVED.contains(&document.name.as_str()) => {
                Some(format!("`{}` is an address of the API: give the document another name", document.name))
            }
            _ => None,
        };
        if let Some(message) = wrong {
            check.errors.push(name_problem(message, name, &document.name));
            return invalid(check);
        }
        match CompiledDocument::new(&document) {
            Ok(compiled) => Ok(CheckedSource { document, compiled, warnings: check.warnings }),
            Err(message) => {
                check.errors.push(name_problem(message, None, ""));
                invalid(check)
            }
        }
    }

    /// Keeps and registers a document.
    async fn write(self, change: DocumentChange) -> Result<SavedDocument, DocumentError> {
        let DocumentChange { text, document: source, condition, by_create } = change;
        let CheckedSource { document, compiled, warnings } = source;
        let name = document.name.clone();
        let mut known = self.known().await;
        self.check_name(&known, &name, by_create)?;
        let definition = definition_of(&name, &compiled, None)?;
        self.engine.check(definition.clone())?;
        let stored = StoredDocument { text, compiled, schemas: document.schemas, warnings };
        let body = serde_json::to_string(&stored).map_err(|error| unreadable(&name, 0, &error))?;
        let (version, is_new) = match self.put(&name, condition, &stored.text, body, by_create).await? {
            Put::Written { version, is_new } => (version, is_new),
            Put::Repeated(version) => (version, false),
        };
        let before = self.engine.workflow(&name).ok().map(|info| info.input_schema);
        let mut record = KnownRecord {
            version,
            uses: stored.compiled.uses.clone(),
            is_registered: known.records.get(&name).is_some_and(|record| record.is_registered),
            refused: None,
            errors: Vec::new(),
        };
        self.register_record(&known, &mut record, &name, definition).await;
        known.records.insert(name.clone(), record);
        if before.as_ref() != Some(&stored.compiled.input_schema) {
            self.recheck_targets_of(&mut known, &name).await;
        }
        self.tell_problems(&known);
        let shadowed_by = self.shadow(&known, &name);
        let StoredDocument { schemas, warnings, .. } = stored;
        Ok(SavedDocument { name, version, is_new, warnings, schemas, shadowed_by })
    }

    /// Refuses a name that belongs to something else. What a file hides can be changed, and shows when the file is gone.
    fn check_name(&self, known: &KnownDocuments, name: &str, by_create: bool) -> Result<(), DocumentError> {
        if known.records.get(name).is_some_and(|record| record.is_registered) {
            return Ok(());
        }
        let Ok(info) = self.engine.workflow(name) else { return Ok(()) };
        if info.origin.kind == WorkflowKind::Document && !by_create {
            return Ok(());
        }
        Err(DocumentError::NameTaken { name: name.to_owned(), from: info.origin.to_string() })
    }

    /// Writes a version.
    async fn put(
        &self,
        name: &str,
        condition: VersionCondition,
        text: &str,
        body: String,
        by_create: bool,
    ) -> Result<Put, DocumentError> {
        let newest = self.engine.records().newest(DOCUMENT_KIND, name).await?;
        let is_there = newest.as_ref().is_some_and(|record| record.body.is_some());
        let Some(expected) = expected(condition.clone(), newest.as_ref()) else {
            return self.repeated(name, &condition, text, newest);
        };
        match self.engine.records().put(DOCUMENT_KIND, name, expected, body).await? {
            PutResult::Written(version) => Ok(Put::Written { version, is_new: !is_there }),
            PutResult::Conflict { .. } if by_create => Err(DocumentError::Exists(name.to_owned())),
            PutResult::Conflict { current } => {
                Err(DocumentError::VersionConflict { name: name.to_owned(), current })
            }
        }
    }

    /// A change that does not fit what is there was perhaps made already: its answer was lost, and it was sent again.
    fn repeated(
        &self,
        name: &str,
        condition: &VersionCondition,
        text: &str,
        newest: Option<Record>,
    ) -> Result<Put, DocumentError> {
        let newest = newest.filter(|record| record.body.is_some());
        let current = newest.as_ref().map(|record| record.version);
        if let (VersionCondition::OneOf(expected), Some(newest)) = (condition, &newest) {
            let follows = expected.iter().any(|version| version.checked_add(1) == Some(newest.version));
            if follows && stored(newest)?.is_some_and(|stored| stored.text == text) {
                return Ok(Put::Repeated(newest.version));
            }
        }
        match condition {
            VersionCondition::Absent => Err(DocumentError::Exists(name.to_owned())),
            _ => Err(DocumentError::VersionConflict { name: name.to_owned(), current }),
        }
    }

    /// Registers a document of the store, unless something else has its name.
    pub(crate) async fn register_record(
        &self,
        known: &KnownDocuments,
        record: &mut KnownRecord,
        name: &str,
        definition: Definition,
    ) {
        let is_registered = std::mem::take(&mut record.is_registered);
        record.refused = None;
        if known.file_of(name).is_some() {
            return;
        }
        let done = match is_registered {
            true => self.engine.replace(definition).await,
            false if self.engine.workflow(name).is_ok() => return,
            false => self.engine.register(definition).await,
        };
        match done {
            Ok(()) => record.is_registered = true,
            Err(error) => {
                tracing::warn!(document = name, %error, "it is kept, and could not be registered");
                record.refused = Some(error.to_string());
                record.is_registered = is_registered;
            }
        }
    }

    /// Removes a document, if the version that is there is what is expected. Its versions stay, and its runs go on.
    pub async fn delete(&self, name: &str, condition: VersionCondition) -> Result<(), DocumentError> {
        let (documents, name) = (self.clone(), name.to_owned());
        as_a_whole(async move { documents.remove(&name, condition).await }).await
    }

    async fn remove(self, name: &str, condition: VersionCondition) -> Result<(), DocumentError> {
        let mut known = self.known().await;
        let newest = self.engine.records().get(DOCUMENT_KIND, name).await?;
        let newest = newest.ok_or_else(|| DocumentError::NotFound(name.to_owned()))?;
        let conflict = |current| DocumentError::VersionConflict { name: name.to_owned(), current };
        let Some(expected) = expected(condition, Some(&newest)) else {
            return Err(conflict(Some(newest.version)));
        };
        if let PutResult::Conflict { current } =
            self.engine.records().delete(DOCUMENT_KIND, name, expected).await?
        {
            return Err(conflict(current));
        }
        if known.records.remove(name).is_some_and(|record| record.is_registered) {
            if let Err(error) = self.engine.retire(name).await {
                tracing::warn!(document = name, %error, "it is deleted, and was not forgotten whole");
            }
            self.recheck_targets_of(&mut known, name).await;
        }
        self.tell_problems(&known);
        Ok(())
    }

    /// A document: its newest version, or this one.
    pub async fn get(&self, name: &str, version: Option<u64>) -> Result<DocumentView, DocumentError> {
        let records = self.engine.records();
        let newest = records.newest(DOCUMENT_KIND, name).await?;
        let newest = newest.ok_or_else(|| DocumentError::NotFound(name.to_owned()))?;
        let is_newest = version.is_none_or(|version| version == newest.version);
        let record = match version {
            Some(version) if !is_newest => {
                let found = records.version(DOCUMENT_KIND, name, version).await?;
                found.ok_or_else(|| DocumentError::NoSuchVersion { name: name.to_owned(), version })?
            }
            _ => newest,
        };
        let Some(StoredDocument { text, schemas, warnings, .. }) = stored(&record)? else {
            return Err(match version {
                Some(version) => DocumentError::NoSuchVersion { name: name.to_owned(), version },
                None => DocumentError::NotFound(name.to_owned()),
            });
        };
        let known = self.known().await;
        let now = known.records.get(name).filter(|known| is_newest && known.version == record.version);
        Ok(DocumentView {
            name: record.key,
            version: record.version,
            is_newest,
            text,
            schemas,
            warnings,
            errors: now.map(|now| now.errors.clone()).unwrap_or_default(),
            updated_at: record.at,
            updated_by: record.by,
            shadowed_by: if is_newest { self.shadow(&known, name) } else { None },
        })
    }

    /// The documents after this one, by name. An empty page is the end.
    pub async fn list(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<DocumentSummary>, DocumentError> {
        let records = self.engine.records().list(DOCUMENT_KIND, after, limit).await?;
        let known = self.known().await;
        Ok(records.into_iter().map(|record| self.summary(&known, record)).collect())
    }

    fn summary(&self, known: &KnownDocuments, record: Record) -> DocumentSummary {
        let now = known.records.get(&record.key);
        // One that cannot be read is in the list, and says so when it is shown.
        let description = stored(&record).ok().flatten().and_then(|stored| stored.compiled.description);
        let refused = now.is_some_and(|now| now.refused.is_some());
        let errors = now.map_or(0, |now| now.errors.len());
        DocumentSummary {
            version: record.version,
            description,
            updated_at: record.at,
            updated_by: record.by,
            problems: errors + usize::from(refused),
            is_stale: errors > 0,
            shadowed_by: self.shadow(known, &record.key),
            name: record.key,
        }
    }

    /// The versions of a document before this one, the newest first. An empty page is the end.
    pub async fn versions(
        &self,
        name: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<DocumentVersion>, DocumentError> {
        let records = self.engine.records();
        let found = records.versions(DOCUMENT_KIND, name, before, limit).await?;
        if found.is_empty() && records.newest(DOCUMENT_KIND, name).await?.is_none() {
            return Err(DocumentError::NotFound(name.to_owned()));
        }
        let version = |record: Record| DocumentVersion {
            version: record.version,
            at: record.at,
            by: record.by,
            is_deleted: record.body.is_none(),
        };
        Ok(found.into_iter().map(version).collect())
    }

    /// What has the name of a document of the store instead of it.
    fn shadow(&self, known: &KnownDocuments, name: &str) -> Option<String> {
        if known.records.get(name)?.is_registered {
            return None;
        }
        self.engine.workflow(name).ok().map(|info| info.origin.to_string())
    }

    /// Has the engine say what is wrong now.
    pub(crate) fn tell_problems(&self, known: &KnownDocuments) {
        self.engine.set_problems(SOURCE, known.problems());
    }
}

/// A document that is to be kept.
struct DocumentChange {
    text: String,
    document: CheckedSource,
    condition: VersionCondition,
    by_create: bool,
}

/// A text in which nothing is wrong.
struct CheckedSource {
    document: CheckedDocument,
    compiled: CompiledDocument,
    warnings: Vec<DocumentProblem>,
}

enum Put {
    Written {
        version: u64,
        is_new: bool,
    },
    /// It was written before.
    Repeated(u64),
}

/// Does it in a task of its own, so that it comes to its end although its caller may have gone away.
async fn as_a_whole<T: Send + 'static>(change: impl Future<Output = T> + Send + 'static) -> T {
    match tokio::spawn(change).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime ends, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// What must be the newest version for a change, or nothing if another one is.
fn expected(condition: VersionCondition, newest: Option<&Record>) -> Option<ExpectedVersion> {
    let present = newest.filter(|record| record.body.is_some()).map(|record| record.version);
    match (condition, present) {
        (VersionCondition::Any, _) => Some(ExpectedVersion::Any),
        (VersionCondition::Absent, None) => Some(ExpectedVersion::Absent),
        (VersionCondition::Present, Some(version)) => Some(ExpectedVersion::Version(version)),
        (VersionCondition::OneOf(versions), Some(version)) if versions.contains(&version) => {
            Some(ExpectedVersion::Version(version))
        }
        _ => None,
    }
}

/// The document in a record, unless that deletes it.
pub(crate) fn stored(record: &Record) -> Result<Option<StoredDocument>, DocumentError> {
    let Some(body) = &record.body else { return Ok(None) };
    serde_json::from_str(body).map(Some).map_err(|error| unreadable(&record.key, record.version, &error))
}

fn unreadable(name: &str, version: u64, error: &serde_json::Error) -> DocumentError {
    DocumentError::Unreadable { name: name.to_owned(), version, why: error.to_string() }
}

/// What the engine registers.
pub(crate) fn definition_of(
    name: &str,
    compiled: &CompiledDocument,
    file: Option<String>,
) -> Result<Definition, DocumentError> {
    compiled.definition(file).map_err(|error| {
        let why = format!("its plan: {error}");
        DocumentError::Unreadable { name: name.to_owned(), version: 0, why }
    })
}

fn name_problem(message: String, expected: Option<&str>, actual: &str) -> DocumentProblem {
    DocumentProblem {
        code: ProblemCode::InvalidDocument,
        step: None,
        trigger: None,
        field: Some("name".to_owned()),
        reference: None,
        expected: expected.map(str::to_owned),
        actual: expected.map(|_| actual.to_owned()),
        message,
        place: SourcePlace::START,
    }
}
