//! Ledgers: files beside the store that only grow, one line per fact.
//!
//! A line is written with one call, after the fact and before anything that depends on it. That survives a killed
//! process without a sync: the kernel has the line.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::Path;

use rival::{RunId, RunStatus, Seq, Time, Value};
use rival_core::FailureRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Something that a client was told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAck {
    /// The run is durable.
    Started {
        /// The run.
        run: RunId,
        /// The number in its id, if the client chose it.
        given: Option<u64>,
        /// Its workflow.
        workflow: String,
        /// Its input.
        input: Value,
    },
    /// The id exists with another input.
    Conflict {
        /// The run.
        run: RunId,
    },
    /// The run ended so.
    Ended {
        /// The run.
        run: RunId,
        /// How.
        status: RunStatus,
        /// With what.
        output: Option<Value>,
        /// Why it failed.
        error: Option<FailureRecord>,
        /// The run that goes on in its place.
        retried_as: Option<RunId>,
    },
    /// A client is about to ask for this; whether it was heard is not known yet.
    Asking {
        /// The run.
        run: RunId,
        /// For what.
        request: ClientRequest,
    },
    /// A cancel is in the history, or an end was decided before.
    Cancelled {
        /// The run.
        run: RunId,
        /// Where it stands since.
        status: RunStatus,
    },
    /// A pause was acted on.
    Paused {
        /// The run.
        run: RunId,
        /// Where it stands since.
        status: RunStatus,
    },
    /// A resume was acted on.
    Resumed {
        /// The run.
        run: RunId,
        /// Where it stands since.
        status: RunStatus,
    },
    /// The run has ended, so nothing can be asked of it.
    Refused {
        /// The run.
        run: RunId,
        /// How it ended.
        status: RunStatus,
    },
    /// A new run goes on where another failed.
    Retried {
        /// The new run.
        run: RunId,
        /// The other.
        source: RunId,
    },
    /// A client is about to send this signal, once or, if it has an id, until it is told that it was received.
    Signalling {
        /// The run.
        run: RunId,
        /// The number that no other signal has.
        nonce: u64,
    },
    /// The signal is in the history.
    Signalled {
        /// The run.
        run: RunId,
        /// The number that no other signal has.
        nonce: u64,
    },
    /// A follower heard of this event.
    Streamed {
        /// The run.
        run: RunId,
        /// Who follows it.
        follower: u64,
        /// The event as it was sent.
        frame: LedgerFrame,
    },
    /// A follower was told that there is nothing more to come.
    StreamEnded {
        /// The run.
        run: RunId,
        /// Who followed it.
        follower: u64,
    },
    /// This event happened.
    Event {
        /// The run.
        run: RunId,
        /// The event, as JSON.
        event: Value,
    },
}

/// An event as the server sends it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedgerFrame {
    /// Its place.
    pub seq: Seq,
    /// When it was decided.
    pub at: Time,
    /// What happened.
    pub r#type: String,
    /// What is known of it.
    pub data: Value,
}

/// A start that is about to be asked for, once or, if it has a key, until it is told of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentStart {
    /// The number in its ticket, which no other has.
    pub number: u64,
    /// The id that the client chose.
    pub key: Option<RunId>,
}

/// What a client can ask of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientRequest {
    /// To stop.
    Cancel,
    /// To hold.
    Pause,
    /// To go on.
    Resume,
}

/// What a function saw when it began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallObservation {
    /// The run.
    pub run: RunId,
    /// The node.
    pub node: String,
    /// The call.
    pub call: u32,
    /// The attempt.
    pub attempt: u32,
    /// A number that no other call has; the result carries it.
    pub nonce: u64,
    /// The input.
    pub input: Value,
    /// Earlier steps by id, and what they returned.
    pub seen: Vec<(String, Option<Value>)>,
    /// For a handler: what went wrong.
    pub failure: Option<FailureRecord>,
}

/// A file that only grows.
#[derive(Debug)]
pub struct LedgerFile<T> {
    file: File,
    line: PhantomData<fn(T)>,
}

impl<T: Serialize> LedgerFile<T> {
    /// Opens a ledger, and closes the line that a killed process may have left open.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(Self { file, line: PhantomData })
    }

    /// Adds a line with one call, so that lines of several threads do not mix.
    pub fn write(&self, line: &T) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        (&self.file).write_all(&text)
    }
}

/// All whole lines of a ledger. A line that was cut short is skipped: nothing depends on its fact yet.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    read_end(path, u64::MAX)
}

/// The whole lines within the last `bytes` of a ledger.
pub(crate) fn read_end<T: DeserializeOwned>(path: &Path, bytes: u64) -> io::Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}
