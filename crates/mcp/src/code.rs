//! Codes of failures of tool calls; they also are the codes of refused requests about connections.

/// No connection has this name.
pub const UNKNOWN_CONNECTION: &str = "unknown_connection";
/// The connection has no such tool, or does not allow it.
pub const UNKNOWN_TOOL: &str = "unknown_tool";
/// The tool failed, and says so.
pub const TOOL_FAILED: &str = "tool_failed";
/// The tool did not answer in time: whether it acted is not known.
pub const TOOL_TIMEOUT: &str = "tool_timeout";
/// What the server answered is no result of a tool.
pub const BAD_TOOL_ANSWER: &str = "bad_tool_answer";
/// The server cannot be reached: nothing was sent to it.
pub const CONNECTION_FAILED: &str = "connection_failed";
/// The server went away during a call: whether the tool acted is not known.
pub const CONNECTION_LOST: &str = "connection_lost";
