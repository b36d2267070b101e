//! Kills Rival and looks at what is left.
//!
//! A worker process runs workflows on a SQLite file, and keeps two ledgers beside it: what its clients were told,
//! and what its steps saw when they began. A test kills it again and again, lets the last one finish everything,
//! and holds the store against the ledgers and the invariants.
//!
//! Its clients are in the worker (`WorkerClients`), or in the test, and ask over HTTP (`HttpLoad`; `CrowdClients`, many of the same run).
//!
//! `RIVAL_CRASH_SEED` chooses another story; `RIVAL_CRASH_CYCLES` and `RIVAL_CRASH_ANSWERS` choose a longer one.

mod audit;
mod clients;
mod crowd;
mod flows;
mod follow;
mod http;
mod ledger;
mod load;
mod parent;
mod prefix;
mod steps;

use std::path::{Path, PathBuf};

pub use audit::{AnswerAudit, AuditReport, audit, audit_answers, unfinished};
pub use clients::{WorkerClients, drain};
pub use crowd::{CrowdClients, CrowdRecord, CrowdReply, CrowdRequest};
pub use flows::{CROWDED, FLOWS, LISTENING, definitions};
pub use http::{RequestTotals, ServerApi};
pub use ledger::{CallObservation, ClientAck, ClientRequest, LedgerFile, LedgerFrame, SentStart, read};
pub use load::HttpLoad;
pub use parent::{WorkerEnd, WorkerProcess};
pub use prefix::HistoryPrefixes;
pub use steps::{Part, StepReceipt, Ticket, Word};

/// What a folder of this test holds.
#[derive(Clone, Debug)]
pub struct TestFolder(pub PathBuf);

impl TestFolder {
    /// The store.
    pub fn store(&self) -> PathBuf {
        self.0.join("rival.db")
    }

    /// What clients were told.
    pub fn acks(&self) -> PathBuf {
        self.0.join("acks.jsonl")
    }

    /// What a crowd of clients was told, request by request.
    pub fn answers(&self) -> PathBuf {
        self.0.join("answers.jsonl")
    }

    /// Starts that clients asked for over HTTP.
    pub fn sent(&self) -> PathBuf {
        self.0.join("sent.jsonl")
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

impl AsRef<Path> for TestFolder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}
