//! Tokens: made by an operator, shown once, kept as hashes in one file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rival_core::Time;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::auth::AccessScope;

/// The version of the file's format.
const VERSION: u32 = 1;

const ID_CHARS: usize = 8;
const SECRET_BYTES: usize = 32;
const NAME_CHARS_MAX: usize = 100;

/// A token as it is kept: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredToken {
    /// What finds it: a part of the token itself, and no secret.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub scope: AccessScope,
    /// The SHA-256 of the whole token, in hex.
    pub sha256: String,
    /// When it was made.
    pub created_at: Time,
    /// From when on it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

impl StoredToken {
    /// Whether this is the token that the request shows. Takes the same time whatever is shown.
    pub(crate) fn is(&self, shown: &str) -> bool {
        hash(shown).as_bytes().ct_eq(self.sha256.as_bytes()).into()
    }

    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// A token that may do everything and is in no file: an operator gives it to the server by a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminToken(StoredToken);

impl AdminToken {
    /// How long it must be at least, so that it cannot be guessed.
    pub const CHARS_MIN: usize = 24;

    /// The token with this text; `None` if it is too short. Only its hash is kept.
    pub fn new(text: &str) -> Option<Self> {
        let is_long = text.chars().count() >= Self::CHARS_MIN;
        is_long.then(|| {
            Self(StoredToken {
                id: "-".to_owned(),
                name: "admin_token".to_owned(),
                scope: AccessScope::Admin,
                sha256: hash(text),
                created_at: Time(0),
                expires_at: None,
            })
        })
    }

    pub(crate) fn into_stored(self) -> StoredToken {
        self.0
    }
}

/// A token that was just made: the only time that its secret is seen.
pub struct NewToken {
    /// As it is kept.
    pub token: StoredToken,
    /// The token itself, `rvl_<id>_<secret>`: what goes behind `Authorization: Bearer`.
    pub secret: String,
}

/// Without the secret, so that no log has it by accident.
impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewToken").field("token", &self.token).finish_non_exhaustive()
    }
}

/// The token file cannot be read or changed as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file is there and cannot be read.
    #[error("the token file {} cannot be read: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is in the file is no list of tokens.
    #[error("the token file {} is damaged: {message}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Others than the owner may change the file, and so let themselves in.
    #[error("the token file {} can be changed by others (mode {mode:03o}): chmod 600 it", .path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file cannot be written.
    #[error("the token file {} cannot be written: {error}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// No token has this id.
    #[error("no token has the id `{0}`")]
    Unknown(String),
    /// The name cannot be one.
    #[error("a token's name has 1 to {NAME_CHARS_MAX} printable characters")]
    InvalidName,
}

impl TokenError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } | Self::Damaged { .. } | Self::Exposed { .. } => "tokens_unreadable",
            Self::Unwritable { .. } => "tokens_unwritable",
            Self::Unknown(_) => "unknown_token",
            Self::InvalidName => "invalid_token_name",
        }
    }
}

/// The file with the tokens. One that does not exist holds none.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFileContent {
    version: u32,
    tokens: Vec<StoredToken>,
}

impl TokenFile {
    /// The file at this path; nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a token and writes it down.
    ///
    /// # Errors
    /// If the name cannot be one, or the file cannot be read or written.
    pub fn create(
        &self,
        name: &str,
        scope: AccessScope,
        now: Time,
        expires_at: Option<Time>,
    ) -> Result<NewToken, TokenError> {
        check_name(name)?;
        let _lock = self.lock()?;
        let mut tokens = self.list()?;
        let new = loop {
            let new = generate(name, scope, now, expires_at);
            if tokens.iter().all(|token| token.id != new.token.id) {
                break new;
            }
        };
        tokens.push(new.token.clone());
        self.write(tokens)?;
        Ok(new)
    }

    /// All tokens, oldest first.
    ///
    /// # Errors
    /// If the file is there and cannot be read, or could be changed by others.
    pub fn list(&self) -> Result<Vec<StoredToken>, TokenError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.unreadable(error)),
        };
        self.check_mode(&file)?;
        let text = io::read_to_string(file).map_err(|error| self.unreadable(error))?;
        self.parse(&text)
    }

    /// Takes a token back. A running server refuses it within a second.
    ///
    /// # Errors
    /// If no token has this id, or the file cannot be read or written.
    pub fn revoke(&self, id: &str) -> Result<StoredToken, TokenError> {
        let _lock = self.lock()?;
        let mut tokens = self.list()?;
        let place = tokens.iter().position(|token| token.id == id);
        let revoked = tokens.remove(place.ok_or_else(|| TokenError::Unknown(id.to_owned()))?);
        self.write(tokens)?;
        Ok(revoked)
    }

    fn parse(&self, text: &str) -> Result<Vec<StoredToken>, TokenError> {
        let damaged = |message| TokenError::Damaged { path: self.path.clone(), message };
        let content: TokenFileContent =
            serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        match content.version {
            VERSION => Ok(content.tokens),
            other => Err(damaged(format!("it has version {other}, and this program reads {VERSION}"))),
        }
    }

    #[cfg(unix)]
    fn check_mode(&self, file: &File) -> Result<(), TokenError> {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(|error| self.unreadable(error))?.permissions().mode() & 0o777;
        if mode & 0o022 == 0 { Ok(()) } else { Err(TokenError::Exposed { path: self.path.clone(), mode }) }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other systems have no modes")]
    fn check_mode(&self, _file: &File) -> Result<(), TokenError> {
        Ok(())
    }

    /// One writer at a time, so that no token is lost between reading and writing.
    fn lock(&self) -> Result<File, TokenError> {
        let attempt = || {
            let folder = folder_of(&self.path);
            if !folder.exists() {
                private_folders().create(folder)?;
            }
            let file = private().truncate(false).open(self.beside(".lock"))?;
            self.hand_over(&file)?;
            file.lock()?;
            Ok(file)
        };
        attempt().map_err(|error| self.unwritable(error))
    }

    /// A reader sees the old file or the new one, also after a power cut.
    fn write(&self, tokens: Vec<StoredToken>) -> Result<(), TokenError> {
        let content = TokenFileContent { version: VERSION, tokens };
        let text = serde_json::to_string_pretty(&content).expect("tokens are strings and numbers");
        let attempt = || {
            let temporary = self.beside(".new");
            let mut file = private().truncate(true).open(&temporary)?;
            self.hand_over(&file)?;
            file.write_all(text.as_bytes())?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)?;
            sync_folder(folder_of(&self.path))
        };
        attempt().map_err(|error| self.unwritable(error))
    }

    /// What root writes is for the user that the server runs as: the owner of the file that was there, or of the folder.
    #[cfg(unix)]
    fn hand_over(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, fchown};
        let owner = fs::metadata(&self.path).or_else(|_| fs::metadata(folder_of(&self.path)))?;
        if file.metadata()?.uid() == 0 && owner.uid() != 0 {
            fchown(file, Some(owner.uid()), Some(owner.gid()))?;
        }
        Ok(())
    }

    #[cfg(not(unix))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "the other systems have no such owners"
    )]
    fn hand_over(&self, _file: &File) -> io::Result<()> {
        Ok(())
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    }

    fn unreadable(&self, error: io::Error) -> TokenError {
        TokenError::Unreadable { path: self.path.clone(), error }
    }

    fn unwritable(&self, error: io::Error) -> TokenError {
        TokenError::Unwritable { path: self.path.clone(), error }
    }
}

/// The id in a token that the request shows, if it looks like one at all.
pub(crate) fn id_of(shown: &str) -> Option<&str> {
    let (id, secret) = shown.strip_prefix("rvl_")?.split_once('_')?;
    (id.len() == ID_CHARS && secret.len() == 2 * SECRET_BYTES).then_some(id)
}

fn generate(name: &str, scope: AccessScope, now: Time, expires_at: Option<Time>) -> NewToken {
    let id = base32(&random::<ID_CHARS>());
    let secret = format!("rvl_{id}_{}", hex(&random::<SECRET_BYTES>()));
    let sha256 = hash(&secret);
    let token = StoredToken { id, name: name.to_owned(), scope, sha256, created_at: now, expires_at };
    NewToken { token, secret }
}

/// A text that cannot be guessed.
pub(crate) fn random_text() -> String {
    hex(&random::<SECRET_BYTES>())
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("a system without random numbers can keep no secret");
    bytes
}

/// One base32 character for each byte; 32 divides 256, so all are equally likely.
fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn hash(shown: &str) -> String {
    hex(&Sha256::digest(shown))
}

fn check_name(name: &str) -> Result<(), TokenError> {
    let fits = (1..=NAME_CHARS_MAX).contains(&name.chars().count());
    if fits && !name.chars().any(char::is_control) { Ok(()) } else { Err(TokenError::InvalidName) }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that only its owner may read and write.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Folders that only their owner may enter.
fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Makes a rename durable. Only Unix can, and needs to.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
