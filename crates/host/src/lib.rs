//! The script host: runs JavaScript in a process that can be killed.

pub mod assets;
pub mod frame;
