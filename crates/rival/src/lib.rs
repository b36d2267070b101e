//! rival
