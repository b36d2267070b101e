//! Kills Rival and looks at what is left.
//!
//! A worker process runs workflows on a SQLite file, and keeps two ledgers beside it: what its clients were told,
//! and what its steps saw when they began. A test kills it again and again, lets the last one finish everything,
//! and holds the store against the ledgers and the invariants.
//!
//! `RIVAL_CRASH_SEED` and `RIVAL_CRASH_CYCLES` choose another story, or a longer one.

mod audit;
mod clients;
mod flows;
mod ledger;
mod parent;
mod prefix;
mod steps;

use std::path::{Path, PathBuf};

pub use audit::{Audit, audit, unfinished};
pub use clients::{Clients, drain};
pub use flows::{FLOWS, definitions};
pub use ledger::{Ack, Ledger, Sighting, read};
pub use parent::{End, Worker};
pub use prefix::Prefixes;
pub use steps::{Part, Receipt, Ticket};

/// What a folder of this test holds.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// The store.
    pub fn store(&self) -> PathBuf {
        self.0.join("rival.db")
    }

    /// What clients were told.
    pub fn acks(&self) -> PathBuf {
        self.0.join("acks.jsonl")
    }

    /// What steps saw when they began.
    pub fn sightings(&self) -> PathBuf {
        self.0.join("sightings.jsonl")
    }

    /// What workers complain of.
    pub fn log(&self) -> PathBuf {
        self.0.join("worker.log")
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}
