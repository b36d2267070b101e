//! The tests of the core: traces by concept, properties against a reference, golden histories, plans.

mod branch;
mod call;
mod diff;
mod drawing;
mod durable;
mod ending;
mod for_each;
mod fork;
mod golden;
mod graph;
mod hold;
mod import;
mod looping;
mod nested;
mod parallel;
mod plan;
mod properties;
mod recover;
mod reference;
mod sequence;
mod signal;
mod sleep;
mod support;
mod undo;
mod verify;
mod verify_blocks;
