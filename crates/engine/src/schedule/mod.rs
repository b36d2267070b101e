//! Which runs are live and when runs wake: scheduler, permits, clocks, waiters.

pub(crate) mod clock;
pub(crate) mod clock_review;
pub(crate) mod in_flight;
pub(crate) mod scheduler;
pub(crate) mod shared;
pub(crate) mod siblings;
pub(crate) mod store_retry;
pub(crate) mod store_slot;
pub(crate) mod waiters;
pub(crate) mod wall_clock;
