//! Puts the host's JavaScript where the crate includes it from.
//!
//! The bundled modules are part of the sources, in `packages/rival/bundled`, so that a build needs neither Node.js nor the network,
//! and writes nothing beside the sources. When a developer has changed the files that the modules are made of,
//! npm and esbuild make the modules again, inside of cargo's own folder; `make bundle` takes them from there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the bundles are made of, beside `src`.
const INPUTS: [&str; 4] = ["package.json", "package-lock.json", "bundle.mjs", "zod_types.mjs"];

fn main() {
    for input in INPUTS.into_iter().chain(["src", "bundled"]) {
        println!("cargo::rerun-if-changed=../../packages/rival/{input}");
    }
    let js =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../packages/rival");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let inputs = digest(&js);
    let bundled = js.join("bundled");
    let is_current = fs::read_to_string(bundled.join("inputs")).is_ok_and(|known| known.trim() == inputs);
    let made = if is_current { bundled } else { make(&js, &out.join("js")) };
    for file in list(&made) {
        copy(&file, &out.join(file.file_name().expect("a file has a name")));
    }
    fs::write(out.join("inputs"), inputs + "\n").expect("cargo's folder takes files");
}

/// Makes the bundles of a copy of the sources. Gives the folder that they are in.
fn make(js: &Path, work: &Path) -> PathBuf {
    // What npm installed stays; everything else is as in the sources.
    let _ = fs::remove_dir_all(work.join("src"));
    for file in sources(js) {
        let to = work.join(file.strip_prefix(js).expect("it is inside"));
        fs::create_dir_all(to.parent().expect("it is inside of a folder"))
            .expect("cargo's folder takes folders");
        copy(&file, &to);
    }
    install(work);
    let made = work.join("bundled");
    fs::create_dir_all(&made).expect("cargo's folder takes folders");
    run(
        Command::new("node").arg("bundle.mjs").arg(&made).current_dir(work),
        "bundling the script host's JavaScript",
    );
    made
}

/// Installs what the lock file names, unless that is there already.
fn install(work: &Path) {
    let lock = fs::read(work.join("package-lock.json")).expect("the lock file is part of the sources");
    let installed = work.join("node_modules/.installed");
    if fs::read(&installed).is_ok_and(|known| known == lock) {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(work);
    run(&mut npm, "installing what bundles the script host's JavaScript");
    fs::write(&installed, lock).expect("npm has just written beside it");
}

/// Names everything that the bundles are made of: FNV-1a over names and contents.
fn digest(js: &Path) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in sources(js) {
        let name = file.strip_prefix(js).expect("it is inside").to_string_lossy().replace('\\', "/");
        let text = fs::read(&file).expect("the sources can be read");
        let length = (text.len() as u64).to_le_bytes();
        for byte in name.bytes().chain(length).chain(text) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// The files that the bundles are made of, in order.
fn sources(js: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = INPUTS.iter().map(|name| js.join(name)).collect();
    let mut folders = vec![js.join("src")];
    while let Some(folder) = folders.pop() {
        let (inner, found): (Vec<_>, Vec<_>) = list(&folder).into_iter().partition(|path| path.is_dir());
        folders.extend(inner);
        files.extend(found);
    }
    files.sort();
    files
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("a folder can be listed").path()).collect()
}

/// A file of its own: what is there may be a link to a file that others have, too.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_file(to);
    fs::copy(from, to).unwrap_or_else(|error| panic!("{} to {}: {error}", from.display(), to.display()));
}

fn run(command: &mut Command, what: &str) {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!("{what}: cannot run `{name}` ({error}); `make setup` installs it"),
    };
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        panic!("{what}: `{name}` failed\n{}", String::from_utf8_lossy(&said));
    }
}
