//! What a reader of the sources may rely on: short functions, names by the glossary, plain words, a map of all files.
//! Each list in `tools/tidy` may only get shorter.

mod code_map;
mod functions;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files with one of these endings under a folder, as paths from the root.
fn files_under(folder: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", "node_modules", "bundled", "fixtures", "golden"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let path = path.strip_prefix(root()).expect("it is under the root");
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// The sources of all crates and rigs, without their tests.
fn sources() -> Vec<String> {
    let all = ["crates", "rigs"].map(|folder| files_under(folder, &[".rs"])).concat();
    all.into_iter().filter(|path| path.contains("/src/")).collect()
}

/// The lines of a list in `tools/tidy`, without comments.
fn allowed(list: &str) -> Vec<String> {
    let text = read(Path::new("tools/tidy").join(list));
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn names_of_types_follow_the_glossary() {
    let names = root().join("tools/names");
    let output = Command::new("python3").arg(&names).arg("--check").output();
    let output = output.unwrap_or_else(|error| panic!("python3 cannot be started: {error}"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
