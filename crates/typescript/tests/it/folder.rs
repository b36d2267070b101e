//! A folder of files for a test.

use std::path::{Path, PathBuf};

use rival_typescript::{ModuleBounds, ScriptProgram};

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.path().join(name)).unwrap();
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn load(&self, entries: &[&str]) -> ScriptProgram {
        self.load_after(entries, None)
    }

    pub(crate) fn load_after(&self, entries: &[&str], before: Option<&ScriptProgram>) -> ScriptProgram {
        let entries: Vec<PathBuf> = entries.iter().map(|name| self.path(name)).collect();
        ScriptProgram::load(&entries, &ModuleBounds::beneath([self.root()]), before)
    }

    /// The problems of an entry as they are shown, with paths from here.
    pub(crate) fn problems(&self, entry: &str) -> String {
        self.shown(&self.load(&[entry]), entry)
    }

    pub(crate) fn shown(&self, program: &ScriptProgram, entry: &str) -> String {
        let problems = program.problems(&self.path(entry));
        let lines: Vec<String> = problems.iter().map(|problem| format!("{problem}\n")).collect();
        lines.concat().replace(&format!("{}/", self.root().display()), "")
    }

    pub(crate) fn names<'a>(&self, paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<String> {
        let name = |path: &'a PathBuf| {
            path.strip_prefix(self.root()).unwrap_or(Path::new("?")).display().to_string()
        };
        paths.into_iter().map(name).collect()
    }
}
