//! The crate from outside, on real files.

mod checks;
mod folder;
mod links;
mod load;
mod packages;
mod stack;
