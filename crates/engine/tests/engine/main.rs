//! The engine over its stores: every fact holds on the memory store and on SQLite.
//!
//! A fact is an `async fn` that takes a [`Lab`](lab::Lab); each file lists its facts once, at the top. Time is virtual
//! throughout, and nothing sleeps: a test waits for something that happens, or moves the clock.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod lab;
mod steps;
mod store;

mod again;
mod answers;
mod archive;
mod blocked;
mod branch;
mod broken;
mod builtins;
mod cancel;
mod children;
mod clock;
mod crash;
mod dag;
mod delay;
mod durable;
mod elsewhere;
mod faults;
mod for_each;
mod fork;
mod generations;
mod gone;
mod handlers;
mod identity;
mod input_check;
mod inspect;
mod looping;
mod nested;
mod observer;
mod order;
mod parallel;
mod pause;
mod queue;
mod records;
mod requests;
mod retry;
mod saga;
mod shutdown;
mod siblings;
mod signal;
mod snapshots;
mod start;
mod subscribe;
mod timeout;
mod trace;
mod undo_children;
mod wait;
