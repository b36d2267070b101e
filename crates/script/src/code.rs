//! Codes of failures that script hosts raise; a function's own error has the code that it names, or `error`.

/// No script host could be started.
pub const HOST: &str = "script_host";
/// A number that JavaScript cannot hold was to be given to a function.
pub const UNSAFE_NUMBER: &str = "unsafe_number";
/// The function computed for so long without a pause that the other calls of its host came to nothing.
pub const STUCK: &str = "script_stuck";
