//! Requests that workflows send, under a policy.
//!
//! The URL of a request often comes from a run's input, so a caller could make the server ask its own API, a cloud's
//! metadata service or a neighbour behind the firewall. [`OutgoingPolicy`] decides which addresses may be asked, and
//! [`OutgoingClient`] asks only those: it checks the very address that it connects to, at the first request and at each
//! redirect. `fetch` in scripts and HTTP steps in both languages go through it.

mod address;
mod client;
mod policy;

pub use address::AddressKind;
pub use client::{OutgoingClient, SendError};
pub use policy::{AddressRefused, AllowError, OutgoingPolicy};

/// The code of a request that the policy refuses.
pub const ADDRESS_NOT_ALLOWED: &str = "address_not_allowed";
