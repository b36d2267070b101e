//! Random plans on the real engine, with crashes, against a reference model.
//!
//! A seed decides everything: a plan ([`plans`]), what its functions do ([`script`]), what people do to the run
//! ([`outside`]) and when the process dies ([`crash`]). The engine runs it in virtual time, through as many lives as it
//! takes ([`lab`]). The [`model`] says what must come of it; [`trial`] compares.

pub mod campaign;
pub mod count;
pub mod crash;
pub mod dice;
pub mod function;
pub mod history;
pub mod lab;
pub mod model;
pub mod ops;
pub mod outside;
pub mod plans;
pub mod script;
pub mod show;
pub mod shrink;
pub mod store;
pub mod summary;
pub mod trial;
pub mod triggers;
pub mod world;
