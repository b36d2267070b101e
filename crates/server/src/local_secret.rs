//! What makes a person at the server's machine an admin without a token: a secret in a file that only the server's user
//! can read. A web page, a script's request and other users of the machine can reach the port, but not the file.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

/// What every such secret begins with; no token does.
pub const PREFIX: &str = "rvl_local_";

/// The secret of a server that runs. Its file is there for as long as this is.
#[derive(Debug)]
pub(crate) struct LocalSecret {
    path: PathBuf,
    shown: LocalSecretFile,
}

/// What the file of a server says.
#[derive(Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct LocalSecretFile {
    /// Where the server listens: a client sends the secret to this address only.
    pub listen: SocketAddr,
    /// To be sent as a bearer token.
    pub secret: String,
}

impl std::fmt::Debug for LocalSecretFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalSecretFile").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// What a server's file says; `None` if there is none, or it is no such file.
pub fn read(path: &Path) -> Option<LocalSecretFile> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Removes what a server left that was killed.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl LocalSecret {
    /// Makes a new secret and writes it, in the place of what an earlier server left.
    pub(crate) fn write(path: &Path, listen: SocketAddr) -> io::Result<Self> {
        let mut random = [0_u8; 32];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let shown = LocalSecretFile { listen, secret: format!("{PREFIX}{hex}") };
        remove(path)?;
        let mut options = fs::OpenOptions::new();
        // Never through a link, and never into a file that others have opened.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(&serde_json::to_vec(&shown)?)?;
        Ok(Self { path: path.to_owned(), shown })
    }

    /// Whether this is the secret, in a time that tells nothing about it.
    pub(crate) fn is(&self, shown: &str) -> bool {
        self.shown.secret.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl Drop for LocalSecret {
    fn drop(&mut self) {
        // The next server on the same store may have written its own already.
        if read(&self.path).as_ref() == Some(&self.shown) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_for_its_owner_and_goes_with_the_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rival.db.secret");
        let listen = "127.0.0.1:7878".parse().unwrap();
        let first = LocalSecret::write(&path, listen).unwrap();
        let shown = read(&path).unwrap();
        assert_eq!(shown.listen, listen);
        assert!(first.is(&shown.secret) && !first.is(PREFIX) && !first.is(""));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let second = LocalSecret::write(&path, listen).unwrap();
        assert!(!second.is(&shown.secret));
        // The first leaves the file of the second alone.
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }
}
