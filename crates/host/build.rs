//! Bundles the host's JavaScript with npm and esbuild. What they need is installed into `js/node_modules`, once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    for input in
        ["src", "package.json", "package-lock.json", "bundle.mjs", "zod_types.mjs", "node_modules/.installed"]
    {
        println!("cargo::rerun-if-changed=js/{input}");
    }
    let js = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("js");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    install(&js);
    run(
        Command::new("node").arg("bundle.mjs").arg(&out).current_dir(&js),
        "bundling the script host's JavaScript",
    );
}

/// Installs what the lock file names, unless that is there already.
fn install(js: &Path) {
    let lock = fs::read(js.join("package-lock.json")).expect("the lock file is part of the sources");
    let installed = js.join("node_modules/.installed");
    if fs::read(&installed).is_ok_and(|known| known == lock) {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(js);
    run(&mut npm, "installing what bundles the script host's JavaScript");
    fs::write(&installed, lock).expect("npm has just written beside it");
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
