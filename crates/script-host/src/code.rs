//! The codes of failures that the host itself declares.

/// The engine asked for the call to be stopped while JavaScript was in it.
pub const INTERRUPTED: &str = "interrupted_script";
/// A step returned what its schema in `results` refuses.
pub const INVALID_RESULT: &str = "invalid_result";
/// JavaScript wanted more memory than it may hold.
pub const MEMORY: &str = "out_of_memory";
/// A transform did not end in time.
pub const LATE: &str = "transform_timeout";
/// A transform's module exports no function.
pub const NO_FUNCTION: &str = "no_transform";
/// A transform wants to do something later.
pub const ASYNC: &str = "async_transform";
/// A transform returned what JSON cannot say.
pub const NOT_JSON: &str = "not_json";
