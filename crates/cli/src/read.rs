//! Files and stdin, read on a thread apart: a pipe may have nothing to say for ever, and the command must still hear
//! signals.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tokio::sync::oneshot;

/// The text of a file, or of stdin for `-`, if it has no more than `max_bytes`.
pub(crate) async fn text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let (tell, told) = oneshot::channel();
    let path = path.to_owned();
    // Not one of the runtime's threads: the runtime would wait for it at the end.
    std::thread::Builder::new().name("rival-read".to_owned()).spawn(move || {
        // A command that has ended needs no answer.
        let _ = tell.send(read(&path, max_bytes));
    })?;
    told.await.map_err(io::Error::other)?
}

fn read(path: &Path, max_bytes: u64) -> io::Result<String> {
    if path == Path::new("-") {
        bounded(io::stdin().lock(), max_bytes)
    } else {
        bounded(File::open(path)?, max_bytes)
    }
}

fn bounded(reader: impl Read, max_bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    let read = reader.take(max_bytes.saturating_add(1)).read_to_string(&mut text)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > max_bytes {
        let error = format!("it has more than {} MiB", max_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, error));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read_for_ever() {
        assert_eq!(bounded(&b"12345"[..], 5).unwrap(), "12345");
        let error = bounded(io::repeat(b'x'), 1 << 20).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it has more than 1 MiB")
        );
    }
}
