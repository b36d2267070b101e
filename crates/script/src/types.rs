//! What editors need to know of the modules that are part of the program: type declarations, for projects that have
//! installed nothing.

/// Of the module `rival/document`.
pub use rival_script_host::assets::DOCUMENT_TYPES as RIVAL_DOCUMENT;
/// Of the module `rival`.
pub use rival_script_host::assets::RIVAL_TYPES as RIVAL;
/// Of the module `rival/test`.
pub use rival_script_host::assets::TEST_TYPES as RIVAL_TEST;
/// Of the module `zod`, as an ambient module.
pub use rival_script_host::assets::ZOD_TYPES as ZOD;
