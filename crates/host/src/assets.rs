//! The JavaScript that every realm begins with, bundled by `build.rs` from `js/`, and the types that authors see.

/// A module whose default export is a function: `(native) => hooks`.
pub const PRELUDE: &str = include_str!(concat!(env!("OUT_DIR"), "/prelude.js"));
/// The module `rival`.
pub const RIVAL: &str = include_str!(concat!(env!("OUT_DIR"), "/rival.js"));
/// The module `zod`.
pub const ZOD: &str = include_str!(concat!(env!("OUT_DIR"), "/zod.js"));
/// The module `rival/test`.
pub const TEST: &str = include_str!(concat!(env!("OUT_DIR"), "/rival_test.js"));

/// Types of the module `rival`.
pub const RIVAL_TYPES: &str = include_str!("../js/types/rival.d.ts");
/// Types of the module `rival/test`.
pub const TEST_TYPES: &str = include_str!("../js/types/rival-test.d.ts");
