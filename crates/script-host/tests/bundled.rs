//! The bundled JavaScript that is part of the sources is what the sources make.

use std::fs;
use std::path::Path;

const FILES: [&str; 19] = [
    "inputs",
    "intl.js",
    "node.exports",
    "node.js",
    "prelude.exports",
    "prelude.js",
    "rival.exports",
    "rival.js",
    "rival_document.exports",
    "rival_document.js",
    "rival_test.exports",
    "rival_test.js",
    "subtle.exports",
    "subtle.js",
    "zod.d.ts",
    "zod.exports",
    "zod.js",
    "zod_locales.exports",
    "zod_locales.js",
];

/// `make bundle` takes what the build has made of the sources.
#[test]
fn the_bundle_is_that_of_the_sources() {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packages/rival/bundled");
    let made = Path::new(env!("OUT_DIR"));
    if std::env::var_os("UPDATE_BUNDLE").is_some() {
        fs::create_dir_all(&bundled).unwrap();
        FILES.iter().for_each(|file| _ = fs::copy(made.join(file), bundled.join(file)).unwrap());
    }
    for file in FILES {
        let same = fs::read(bundled.join(file)).ok() == fs::read(made.join(file)).ok();
        assert!(same, "packages/rival/bundled/{file} is not what its src makes: run `make bundle`");
    }
}
