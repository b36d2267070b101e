//! Which files of a folder are documents.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rival_document::DOCUMENT_BYTES_MAX;

/// What names of documents end with.
const SUFFIX: &str = ".workflow.json";

/// Whether a file of this name is a document.
pub fn is_document_file(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(SUFFIX))
}

/// The documents in a folder and its subfolders. Left out are packages, and names that begin with a dot or `_`.
pub(crate) fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    walk(folder, &mut found, &mut BTreeSet::new())?;
    Ok(found)
}

/// Files are known by their real paths; a folder that links lead to again is not walked twice.
fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>, walked: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if !walked.insert(folder.canonicalize()?) {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') || name == "node_modules" {
            continue;
        }
        if path.is_dir() {
            walk(&path, found, walked)?;
        } else if !name.starts_with('_') && is_document_file(&path) {
            // A link without a target names no file, and is skipped.
            found.extend(path.canonicalize());
        }
    }
    Ok(())
}

/// The text of a document. What is too long is cut, so that the check says that it is.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    if !path.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(DOCUMENT_BYTES_MAX as u64 + 4).read_to_end(&mut bytes)?;
    if bytes.len() > DOCUMENT_BYTES_MAX {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        io::Error::other(format!("its byte {} is no UTF-8", error.utf8_error().valid_up_to() + 1))
    })
}
