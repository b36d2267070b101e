//! The tests of the core: traces by concept, properties against a reference, golden histories, plans.

mod call;
mod diff;
mod ending;
mod golden;
mod graph;
mod hold;
mod import;
mod nested;
mod plan;
mod properties;
mod recover;
mod reference;
mod sequence;
mod sleep;
mod support;
mod verify;
