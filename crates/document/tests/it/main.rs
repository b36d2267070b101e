//! Documents from text to templates, and everything that can be wrong with them.

mod fakes;
mod seed;
