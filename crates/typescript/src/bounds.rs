//! Which files may be read as modules.

use std::path::{Path, PathBuf};

/// Folders that hold workflow files. What these import lies beneath one of them, or in the `node_modules` of one or of a
/// folder above it. Links are followed first.
#[derive(Clone, Debug, Default)]
pub struct ModuleBounds(Vec<PathBuf>);

impl ModuleBounds {
    /// Beneath these folders; of a file, beneath the folder that it is in.
    pub fn beneath<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let folder = |path: P| {
            let path = path.as_ref();
            let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
            let path = path.unwrap_or_default();
            if path.is_dir() { path } else { path.parent().map(Path::to_owned).unwrap_or_default() }
        };
        Self(paths.into_iter().map(folder).collect())
    }

    /// Whether a file may be read, by its real path.
    pub fn allow(&self, file: &Path) -> bool {
        self.0.iter().any(|root| {
            let in_packages = |folder: &Path| file.starts_with(folder.join("node_modules"));
            file.starts_with(root) || root.ancestors().any(in_packages)
        })
    }

    /// The folders, for messages.
    pub(crate) fn shown(&self) -> String {
        let roots: Vec<String> = self.0.iter().map(|root| root.display().to_string()).collect();
        roots.join(", ")
    }
}
