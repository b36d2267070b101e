//! In-crate tests.
