//! Rival over HTTP.
