//! Puts the pages of docs/errors into the program.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

#[allow(clippy::print_stdout, reason = "this is how build scripts speak to cargo")]
fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)?.map(|file| Ok(file?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut source = "[\n".to_owned();
    for file in files {
        match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("README") | None => {}
            Some(code) => writeln!(source, "({code:?}, include_str!({file:?})),").expect("strings take text"),
        }
    }
    source.push_str("]\n");
    let target = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&target).join("errors.rs"), source)
}
