//! Server-sent events, as a client reads them.

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseMessage {
    /// Where to go on after it, if it says that.
    pub id: Option<String>,
    /// What kind it is; `message` if it does not say.
    pub event: String,
    /// What it says.
    pub data: String,
}

/// Puts lines together into events, however the bytes arrive.
#[derive(Debug, Default)]
pub struct SseReader {
    buffer: Vec<u8>,
    current: SseMessage,
    data: Vec<String>,
}

impl SseReader {
    /// Takes bytes of a stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event that is whole.
    pub fn take(&mut self) -> Option<SseMessage> {
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            if let Some(message) = self.line(line.trim_end_matches(['\n', '\r'])) {
                return Some(message);
            }
        }
        None
    }

    fn line(&mut self, line: &str) -> Option<SseMessage> {
        if line.is_empty() {
            let message = std::mem::take(&mut self.current);
            let data = std::mem::take(&mut self.data);
            // Without data it is a heartbeat.
            return (!data.is_empty()).then(|| SseMessage { data: data.join("\n"), ..message });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.current.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.current.event),
            "data" => self.data.push(value.to_owned()),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_arrive() {
        let text = ": heartbeat\n\nid: 7\nevent: callStarted\ndata: {\"a\":\ndata: 1}\n\r\nevent: log\ndata:x\n\nid: 8\n";
        let mut whole = SseReader::default();
        whole.push(text.as_bytes());
        let expected: Vec<SseMessage> = std::iter::from_fn(|| whole.take()).collect();
        assert_eq!(expected.len(), 2);
        assert_eq!((expected[0].id.as_deref(), &*expected[0].data), (Some("7"), "{\"a\":\n1}"));
        assert_eq!((expected[1].id.as_deref(), &*expected[1].event, &*expected[1].data), (None, "log", "x"));
        let mut bytewise = SseReader::default();
        let mut seen = Vec::new();
        for byte in text.bytes() {
            bytewise.push(&[byte]);
            seen.extend(bytewise.take());
        }
        assert_eq!(seen, expected);
    }
}
