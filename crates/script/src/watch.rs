//! Loads files again when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use rival_engine::Engine;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::error::ScriptsError;
use crate::files::{Loaded, Scripts};

/// Editors write a file in several goes; this long after the last of them it is loaded.
const SETTLE: Duration = Duration::from_millis(50);

/// Files are watched for as long as this lives.
#[derive(Debug)]
pub struct Watching(JoinHandle<()>);

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Scripts {
    /// Loads files again when they change, for new runs. `tell` hears what came of it each time.
    pub async fn watch(
        &self,
        engine: &Engine,
        mut tell: impl FnMut(Result<Loaded, ScriptsError>) + Send + 'static,
    ) -> Result<Watching, ScriptsError> {
        let mut watcher = SourceWatcher::new()?;
        watcher.follow(self.folders().await)?;
        let (scripts, engine) = (self.clone(), engine.clone());
        let task = tokio::spawn(async move {
            while watcher.changed().await {
                let loaded = scripts.reload(&engine).await;
                tell(loaded);
                if let Err(error) = watcher.follow(scripts.folders().await) {
                    tell(Err(error));
                }
            }
        });
        Ok(Watching(task))
    }
}

/// Hears when sources in folders change: scripts, and documents, which lie beside them.
#[derive(Debug)]
pub struct SourceWatcher {
    folders: Folders,
    touches: mpsc::UnboundedReceiver<()>,
}

impl SourceWatcher {
    /// Watches nothing yet.
    pub fn new() -> Result<Self, ScriptsError> {
        let (touched, touches) = mpsc::unbounded_channel();
        Ok(Self { folders: Folders::new(touched)?, touches })
    }

    /// Watches these folders, and no others.
    pub fn follow(&mut self, folders: BTreeSet<PathBuf>) -> Result<(), ScriptsError> {
        self.folders.follow(folders)
    }

    /// Waits for a change, and until nothing has changed for a moment. `false`: there will be none any more.
    pub async fn changed(&mut self) -> bool {
        let is_touched = self.touches.recv().await.is_some();
        settle(&mut self.touches).await;
        is_touched
    }
}

/// Waits until nothing has been touched for a moment.
async fn settle(touches: &mut mpsc::UnboundedReceiver<()>) {
    while let Ok(Some(())) = tokio::time::timeout(SETTLE, touches.recv()).await {}
}

/// The folders that are watched.
#[derive(Debug)]
struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Folders {
    fn new(touched: mpsc::UnboundedSender<()>) -> Result<Self, ScriptsError> {
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            // Reading is what loading does.
            let changes = !matches!(event.kind, EventKind::Access(_));
            if changes && event.paths.iter().any(|path| matters(path)) {
                let _ = touched.send(());
            }
        })?;
        Ok(Self { watcher, watched: BTreeSet::new() })
    }

    /// Watches these folders, and no others.
    fn follow(&mut self, folders: BTreeSet<PathBuf>) -> Result<(), ScriptsError> {
        for folder in folders.difference(&self.watched) {
            self.watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        for folder in self.watched.difference(&folders) {
            // It may be gone.
            let _ = self.watcher.unwatch(folder);
        }
        self.watched = folders;
        Ok(())
    }
}

/// Whether a change there may change a workflow: sources do, and folders, but not the store beside them.
fn matters(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let extension = path.extension().map(|extension| extension.to_string_lossy()).unwrap_or_default();
    let is_source = matches!(&*extension, "ts" | "mts" | "js" | "mjs" | "json" | "");
    is_source && !name.starts_with('.') && !path.iter().any(|folder| folder == "node_modules")
}
