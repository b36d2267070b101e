//! The JavaScript that every realm begins with, bundled by `build.rs` from `packages/rival`, and the types that authors see.

/// A module whose default export is a function: `(native) => hooks`.
pub const PRELUDE: &str = include_str!(concat!(env!("OUT_DIR"), "/prelude.js"));
/// The module `rival`.
pub const RIVAL: &str = include_str!(concat!(env!("OUT_DIR"), "/rival.js"));
/// The module `zod` and those that it is made of, each after a line with its name.
pub const ZOD: &str = include_str!(concat!(env!("OUT_DIR"), "/zod.js"));
/// What `zod` says in other languages than English.
pub const ZOD_LOCALES: &str = include_str!(concat!(env!("OUT_DIR"), "/zod_locales.js"));
/// The module `rival/document`.
pub const DOCUMENT: &str = include_str!(concat!(env!("OUT_DIR"), "/rival_document.js"));
/// The module `rival/test`.
pub const TEST: &str = include_str!(concat!(env!("OUT_DIR"), "/rival_test.js"));

/// What `crypto.subtle` is.
pub const SUBTLE: &str = include_str!(concat!(env!("OUT_DIR"), "/subtle.js"));
/// What `Intl` is, and the data of languages, each after a line with its name.
pub const INTL: &str = include_str!(concat!(env!("OUT_DIR"), "/intl.js"));
/// Modules of Node.js, each after a line with its name.
pub const NODE: &str = include_str!(concat!(env!("OUT_DIR"), "/node.js"));

/// What one of the modules `rival`, `zod`, `rival/document`, `rival/test` and those of Node.js exports; nothing if it is another.
pub fn exports(module: &str) -> Vec<&'static str> {
    let names = match module {
        "rival" => include_str!(concat!(env!("OUT_DIR"), "/rival.exports")),
        "zod" => include_str!(concat!(env!("OUT_DIR"), "/zod.exports")),
        "rival/document" => include_str!(concat!(env!("OUT_DIR"), "/rival_document.exports")),
        "rival/test" => include_str!(concat!(env!("OUT_DIR"), "/rival_test.exports")),
        _ => return node_exports(module),
    };
    names.lines().collect()
}

fn node_exports(module: &str) -> Vec<&'static str> {
    let lines = include_str!(concat!(env!("OUT_DIR"), "/node.exports")).lines();
    let names = lines.filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == module);
    names.map(|(_, exports)| exports.split(' ').collect()).unwrap_or_default()
}

/// Types of the module `rival`.
pub const RIVAL_TYPES: &str = include_str!("../../../packages/rival/types/rival.d.ts");
/// Types of the modules `zod` and `zod/v4`, as ambient modules.
pub const ZOD_TYPES: &str = include_str!(concat!(env!("OUT_DIR"), "/zod.d.ts"));
/// Types of the module `rival/document`.
pub const DOCUMENT_TYPES: &str = include_str!("../../../packages/rival/types/rival-document.d.ts");
/// Types of the module `rival/test`.
pub const TEST_TYPES: &str = include_str!("../../../packages/rival/types/rival-test.d.ts");
