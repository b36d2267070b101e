//! Decides what an input leads to.
