//! Records: small durable things with versions that are no runs, such as documents and connections.

use rival_core::Time;

use crate::StoreError;

/// How long the kind of a record may be, in bytes.
pub const KIND_MAX_BYTES: usize = 64;

/// How long the key of a record may be, in bytes.
pub const KEY_MAX_BYTES: usize = 512;

/// A version of a record to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecord {
    /// What it is: 1 to 64 characters of `a-z`, `0-9`, `-` and `_`.
    pub kind: String,
    /// Its name among those of its kind: 1 to 512 bytes without control characters.
    pub key: String,
    /// Which version must be the newest for this one to be written.
    pub expected: ExpectedVersion,
    /// What it says, which a store does not look into; absent if this version deletes it.
    pub body: Option<String>,
    /// When.
    pub at: Time,
    /// Who asked.
    pub by: Option<String>,
}

/// What must be there for a version to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// Whatever is there.
    Any,
    /// Nothing: no record was ever written, or the newest version deletes it.
    Absent,
    /// This version is the newest, also if it is one that deletes.
    Version(u64),
}

impl ExpectedVersion {
    /// Whether a version may be written after the newest one, which is given by its number and whether it deletes.
    pub fn allows(self, newest: Option<(u64, bool)>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => newest.is_none_or(|(_, is_deleted)| is_deleted),
            Self::Version(expected) => newest.is_some_and(|(version, _)| version == expected),
        }
    }
}

/// What became of a version that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutResult {
    /// It is written, under this number.
    Written(u64),
    /// Nothing is written: another version is the newest, or none is there.
    Conflict {
        /// The newest version, also if it is one that deletes.
        current: Option<u64>,
    },
}

/// A version of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What it is.
    pub kind: String,
    /// Its name among those of its kind.
    pub key: String,
    /// 1, 2, 3 and so on within its kind and key, also after it was deleted.
    pub version: u64,
    /// What it says; absent if this version deletes it.
    pub body: Option<String>,
    /// When it was written.
    pub at: Time,
    /// Who asked.
    pub by: Option<String>,
}

impl NewRecord {
    /// What every store refuses: a kind or a key that cannot be one.
    pub fn check(&self) -> Result<(), StoreError> {
        let is_kind = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        if self.kind.is_empty() || self.kind.len() > KIND_MAX_BYTES || !self.kind.bytes().all(is_kind) {
            return Err(StoreError::Invalid(format!(
                "the kind of a record has 1 to {KIND_MAX_BYTES} characters of a-z, 0-9, `-` and `_`, not {:?}",
                shortened(&self.kind)
            )));
        }
        if self.key.is_empty() || self.key.len() > KEY_MAX_BYTES || self.key.chars().any(char::is_control) {
            return Err(StoreError::Invalid(format!(
                "the key of a record has 1 to {KEY_MAX_BYTES} bytes and no control characters, not {:?}",
                shortened(&self.key)
            )));
        }
        Ok(())
    }

    /// The record that this becomes under a number.
    pub fn into_record(self, version: u64) -> Record {
        let Self { kind, key, expected: _, body, at, by } = self;
        Record { kind, key, version, body, at, by }
    }
}

impl Record {
    /// About how many bytes it holds.
    pub fn len_bytes(&self) -> usize {
        self.kind.len() + self.key.len() + self.body.as_ref().map_or(0, String::len)
    }
}

/// The beginning of a text that may be of any length.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
