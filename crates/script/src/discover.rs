//! Which files of a folder are workflows, and which are tests.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The script files of a folder and its subfolders, in order. Left out is what never is a workflow: tests, types,
/// packages, and names that begin with a dot or `_`.
pub(crate) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    found(folder, |name| !name.starts_with('_') && is_script(name) && !is_test(name))
}

/// The test files of a folder and its subfolders, in order.
pub(crate) fn tests(folder: &Path) -> io::Result<Vec<PathBuf>> {
    found(folder, is_test)
}

fn found(folder: &Path, wanted: fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    walk(folder, wanted, &mut found, &mut BTreeSet::new())?;
    Ok(found.into_iter().collect())
}

/// Files are known by their real paths; a folder that links lead to again is not walked twice.
fn walk(
    folder: &Path,
    wanted: fn(&str) -> bool,
    found: &mut BTreeSet<PathBuf>,
    walked: &mut BTreeSet<PathBuf>,
) -> io::Result<()> {
    if !walked.insert(folder.canonicalize()?) {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let is_hidden = name.starts_with('.') || name == "node_modules";
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, wanted, found, walked)?;
        } else if wanted(name) {
            // A link without a target names no file, and is skipped.
            found.extend(path.canonicalize());
        }
    }
    Ok(())
}

fn is_script(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    matches!(extension, "ts" | "mts" | "js" | "mjs") && !stem.ends_with(".d") && !stem.ends_with(".config")
}

fn is_test(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or("", |(stem, _)| stem);
    is_script(name) && (stem.ends_with(".test") || stem.ends_with(".spec"))
}
