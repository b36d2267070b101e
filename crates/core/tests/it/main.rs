//! The tests of the core: traces by concept, properties against a reference, golden histories, plans.

mod call;
mod durable;
mod ending;
mod golden;
mod hold;
mod import;
mod nested;
mod plan;
mod properties;
mod recover;
mod reference;
mod sequence;
mod signal;
mod sleep;
mod support;
mod verify;
