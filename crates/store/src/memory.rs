//! A store in memory.

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {}
