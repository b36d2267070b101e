//! Frames as bytes: a length of four bytes, little endian, then as many bytes of JSON.

use std::io::{self, Read};

use serde::Serialize;

const PREFIX: usize = 4;
/// Room for what one read may bring.
const ROOM: usize = 64 * 1024;
/// A buffer that grew beyond this is given back when it is empty.
const KEPT: usize = 1024 * 1024;

/// Appends a frame.
///
/// # Errors
///
/// Never for the frames of [`crate::frame`]: all that they hold is JSON already. One over 4 GiB is refused.
pub fn put(out: &mut Vec<u8>, frame: &impl Serialize) -> io::Result<()> {
    let start = begin(out);
    serde_json::to_writer(&mut *out, frame)?;
    end(out, start)
}

/// Appends a frame that is text already, in parts.
pub(crate) fn put_parts(out: &mut Vec<u8>, parts: &[&[u8]]) -> io::Result<()> {
    let start = begin(out);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    end(out, start)
}

fn begin(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; PREFIX]);
    out.len()
}

fn end(out: &mut [u8], start: usize) -> io::Result<()> {
    let length = u32::try_from(out.len() - start).map_err(io::Error::other)?;
    out[start - PREFIX..start].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Cuts what a socket brings into frames.
#[derive(Debug, Default)]
pub struct FrameSplitter {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl FrameSplitter {
    /// Reads once; 0 when the other side is gone.
    ///
    /// # Errors
    ///
    /// What reading says.
    pub fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        self.make_room();
        let read = read(&mut self.bytes[self.end..])?;
        self.end += read;
        Ok(read)
    }

    /// Takes bytes that came another way.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            // Reading from a slice cannot fail, and gives something as long as there is something.
            let _ = self.fill(|room| bytes.read(room));
        }
    }

    /// The next frame's JSON, if all of it is here.
    pub fn next_frame(&mut self) -> Option<&[u8]> {
        let from = self.start + PREFIX;
        let to = from + self.length()?;
        if to > self.end {
            return None;
        }
        self.start = to;
        Some(&self.bytes[from..to])
    }

    fn length(&self) -> Option<usize> {
        let prefix = self.bytes.get(self.start..self.end)?.first_chunk::<PREFIX>()?;
        Some(u32::from_le_bytes(*prefix) as usize)
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT {
                self.bytes = Vec::new();
            }
        }
        let wanted = self.length().map_or(ROOM, |length| ROOM.max(PREFIX + length));
        if self.start + wanted > self.bytes.len() || self.end == self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() < wanted.max(self.end + 1) {
            self.bytes.resize(wanted.max(self.end + ROOM), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(texts: &[String]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in texts {
            put_parts(&mut bytes, &[text.as_bytes()]).unwrap();
        }
        bytes
    }

    #[test]
    fn frames_are_cut_wherever_reads_end() {
        let texts: Vec<String> = (0..40)
            .map(|n| "x".repeat(n * n * 300 + n))
            .chain([String::new(), "y".repeat(3 * KEPT)])
            .collect();
        let bytes = frames(&texts);
        for step in [1000, 4099, 65536, 1 << 22] {
            let mut splitter = FrameSplitter::default();
            let mut got = Vec::new();
            for chunk in bytes.chunks(step) {
                splitter.feed(chunk);
                while let Some(frame) = splitter.next_frame() {
                    got.push(String::from_utf8(frame.to_vec()).unwrap());
                }
            }
            assert!(got == texts, "step {step}");
        }
    }
}
