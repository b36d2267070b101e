//! The codes of failures that the host itself declares.

/// The engine asked for the call to be stopped while JavaScript was in it.
pub const INTERRUPTED: &str = "interrupted_script";
/// JavaScript wanted more memory than it may hold.
pub const MEMORY: &str = "out_of_memory";
