//! The tokens that a running server knows, and that they are never older than the file for long.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use rival_core::Time;

use crate::token::{self, AdminToken, StoredToken, TokenError, TokenFile};

/// Why a request with a token is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenRejection {
    /// It does not look like one.
    Malformed,
    /// It is not in the file (any more).
    Unknown,
    /// Its time is over.
    Expired,
    /// The file cannot be read, so the server cannot tell.
    Unreadable,
}

/// The tokens of one file. Looks at the file when asked and the last look is too long ago; there is no watcher.
#[derive(Debug)]
pub(crate) struct TokenKeyring {
    /// The one that is in no file.
    admin: Option<Arc<StoredToken>>,
    file: TokenFile,
    known: RwLock<KnownTokens>,
    opened: Instant,
    max_age: Duration,
    /// When to look at the file again, in milliseconds since `opened`.
    look_at: AtomicU64,
}

#[derive(Debug)]
struct KnownTokens {
    /// What the file looked like; `None` after a failure, so that the next look reads it.
    stamp: Option<Stamp>,
    tokens: Result<HashMap<String, Arc<StoredToken>>, String>,
}

impl TokenKeyring {
    /// Reads the file for the first time.
    pub(crate) fn open(
        file: TokenFile,
        admin: Option<AdminToken>,
        max_age: Duration,
    ) -> Result<Self, TokenError> {
        let stamp = Stamp::of(&file)?;
        let known = RwLock::new(KnownTokens { stamp: Some(stamp), tokens: Ok(by_id(file.list()?)) });
        let admin = admin.map(|token| Arc::new(token.into_stored()));
        Ok(Self { admin, file, known, opened: Instant::now(), max_age, look_at: AtomicU64::new(0) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        self.admin.is_none() && known.tokens.as_ref().is_ok_and(HashMap::is_empty)
    }

    /// The token that the request shows, if it is a valid one.
    pub(crate) fn find(&self, shown: &str, now: Time) -> Result<Arc<StoredToken>, TokenRejection> {
        if let Some(admin) = self.admin.as_ref().filter(|admin| admin.is(shown)) {
            return Ok(Arc::clone(admin));
        }
        let id = token::id_of(shown).ok_or(TokenRejection::Malformed)?;
        self.look();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let tokens = known.tokens.as_ref().map_err(|_| TokenRejection::Unreadable)?;
        let token = tokens.get(id).filter(|token| token.is(shown)).ok_or(TokenRejection::Unknown)?;
        if token.has_expired(now) { Err(TokenRejection::Expired) } else { Ok(Arc::clone(token)) }
    }

    /// Whether a token that was valid still is.
    pub(crate) fn still_has(&self, token: &StoredToken, now: Time) -> bool {
        if self.admin.as_deref() == Some(token) {
            return true;
        }
        self.look();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let same = |held: &Arc<StoredToken>| held.sha256 == token.sha256 && held.scope == token.scope;
        !token.has_expired(now) && known.tokens.as_ref().is_ok_and(|all| all.get(&token.id).is_some_and(same))
    }

    /// Reads the file again if it is time to look and the file has changed. One caller does it; the others go on
    /// with what is known, which is at most twice `max_age` old.
    fn look(&self) {
        let now = millis(self.opened.elapsed());
        let due = self.look_at.load(Ordering::Relaxed);
        let next = now + millis(self.max_age);
        if now < due
            || self.look_at.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return;
        }
        let stamp = Stamp::of(&self.file);
        let before = self.known.read().unwrap_or_else(PoisonError::into_inner).stamp;
        if !matches!(&stamp, Ok(stamp) if Some(*stamp) == before) {
            self.read(stamp);
        }
    }

    fn read(&self, stamp: Result<Stamp, TokenError>) {
        let read = stamp.and_then(|stamp| Ok((stamp, self.file.list()?)));
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok((stamp, tokens)) => {
                tracing::info!(file = %self.file.path().display(), tokens = tokens.len(), "tokens read again");
                *known = KnownTokens { stamp: Some(stamp), tokens: Ok(by_id(tokens)) };
            }
            Err(error) => {
                let error = error.to_string();
                if known.tokens.as_ref().err() != Some(&error) {
                    tracing::error!(%error, "no token is taken until the token file is mended");
                }
                *known = KnownTokens { stamp: None, tokens: Err(error) };
            }
        }
    }
}

fn by_id(tokens: Vec<StoredToken>) -> HashMap<String, Arc<StoredToken>> {
    tokens.into_iter().map(|token| (token.id.clone(), Arc::new(token))).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What tells one state of the file from another without reading it; the default for a file that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    /// A rename brings another inode, and a change of the mode another change time, even within one tick of the clock.
    inode: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &TokenFile) -> Result<Self, TokenError> {
        match fs::metadata(file.path()) {
            Ok(metadata) => Ok(Self::from(&metadata)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(TokenError::Unreadable { path: file.path().to_owned(), error }),
        }
    }
}

impl From<&fs::Metadata> for Stamp {
    fn from(metadata: &fs::Metadata) -> Self {
        let stamp = Self { modified: metadata.modified().ok(), bytes: metadata.len(), ..Self::default() };
        #[cfg(unix)]
        let stamp = {
            use std::os::unix::fs::MetadataExt;
            Self { inode: metadata.ino(), changed: (metadata.ctime(), metadata.ctime_nsec()), ..stamp }
        };
        stamp
    }
}
