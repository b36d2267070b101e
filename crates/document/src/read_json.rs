//! From text to JSON with places.

use serde_json::Number;

use crate::json::{JsonNode, ObjectMember, PlacedJson, PlacedText};
use crate::place::SourcePlace;

/// The longest text of a document, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How deep a document nests. The data of a template may nest twice as deep (each object may have to be quoted), and stays
/// within the depth of a value that a plan can hold.
pub const DOCUMENT_DEPTH_MAX: usize = 50;

/// A text that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct JsonError {
    /// Where.
    pub place: SourcePlace,
    /// What is wrong.
    pub fault: JsonFault,
}

/// What makes a text no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonFault {
    /// It is too long.
    #[error("a document has at most {DOCUMENT_BYTES_MAX} bytes, and this one has {0}")]
    TooLong(usize),
    /// It nests too deep.
    #[error("a document nests at most {DOCUMENT_DEPTH_MAX} levels")]
    TooDeep,
    /// Something else than what may stand here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What may stand here.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A text with an escape that is none, or a control character.
    #[error("{0}")]
    BadText(&'static str),
    /// A number that is none, or cannot be kept.
    #[error("`{0}` is no number that can be kept")]
    BadNumber(String),
    /// A key that is there before.
    #[error("the key `{0}` is there twice")]
    DuplicateKey(String),
}

impl PlacedJson {
    /// Reads a text. Keys that are there twice are all named; anything else that is wrong ends the reading.
    pub fn read(text: &str) -> Result<PlacedJson, Vec<JsonError>> {
        if text.len() > DOCUMENT_BYTES_MAX {
            let fault = JsonFault::TooLong(text.len());
            return Err(vec![JsonError { place: SourcePlace::START, fault }]);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader =
            JsonReader { text, at: 0, line: 1, marked: 0, column: 1, depth: 0, duplicates: Vec::new() };
        match reader.document() {
            Ok(json) if reader.duplicates.is_empty() => Ok(json),
            Ok(_) => Err(reader.duplicates),
            Err(error) => {
                reader.duplicates.push(error);
                Err(reader.duplicates)
            }
        }
    }
}

struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// A place of the line whose column is known. Columns are counted from there, so that one long line costs no more than
    /// many short ones.
    marked: usize,
    column: u32,
    depth: usize,
    duplicates: Vec<JsonError>,
}

impl<'a> JsonReader<'a> {
    fn document(&mut self) -> Result<PlacedJson, JsonError> {
        let json = self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the document"));
        }
        Ok(json)
    }

    fn place(&mut self) -> SourcePlace {
        let before = SourcePlace { line: self.line, column: self.column };
        let place = before.after(&self.text[self.marked..self.at]);
        (self.marked, self.column) = (self.at, place.column);
        place
    }

    fn error(&mut self, fault: JsonFault) -> JsonError {
        JsonError { place: self.place(), fault }
    }

    fn unexpected(&mut self, expected: &'static str) -> JsonError {
        let found = match self.text[self.at..].chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the text".to_owned(),
        };
        self.error(JsonFault::Unexpected { expected, found })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line = self.line.saturating_add(1);
                    (self.marked, self.column) = (self.at + 1, 1);
                }
                b' ' | b'\t' | b'\r' => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self) -> Result<PlacedJson, JsonError> {
        self.skip_space();
        let place = self.place();
        let node = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::list)?,
            Some(b'"') => JsonNode::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(PlacedJson { place, node })
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<JsonNode, JsonError>,
    ) -> Result<JsonNode, JsonError> {
        if self.depth == DOCUMENT_DEPTH_MAX {
            return Err(self.error(JsonFault::TooDeep));
        }
        self.depth += 1;
        self.at += 1;
        let node = read(self)?;
        self.depth -= 1;
        Ok(node)
    }

    fn list(&mut self) -> Result<JsonNode, JsonError> {
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(JsonNode::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.take(b']') {
                return Ok(JsonNode::List(items));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<JsonNode, JsonError> {
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(JsonNode::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in quotes"));
            }
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            members.push(ObjectMember { key, value: self.value()? });
            if self.take(b'}') {
                self.note_duplicates(&members);
                return Ok(JsonNode::Object(members));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    /// Later members would win in most readers: what an author wrote first would be lost without a word.
    fn note_duplicates(&mut self, members: &[ObjectMember]) {
        let mut keys: Vec<&PlacedText> = members.iter().map(|member| &member.key).collect();
        keys.sort_by_key(|key| (key.as_str(), key.place()));
        for pair in keys.windows(2) {
            if pair[0].as_str() == pair[1].as_str() {
                let fault = JsonFault::DuplicateKey(shortened(pair[1].as_str()));
                self.duplicates.push(JsonError { place: pair[1].place(), fault });
            }
        }
    }

    fn string(&mut self) -> Result<PlacedText, JsonError> {
        let place = self.place();
        let start = self.at + 1;
        let mut is_escaped = false;
        let mut end = start;
        loop {
            match self.text.as_bytes().get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_escaped = true;
                    let is_control = matches!(self.text.as_bytes().get(end + 1), Some(0..0x20));
                    end += if is_control { 1 } else { 2 };
                }
                Some(0..0x20) => {
                    self.at = end;
                    let message =
                        "a text has no line breaks and control characters: write `\\n`, `\\t`, `\\u001b`";
                    return Err(self.error(JsonFault::BadText(message)));
                }
                Some(_) => end += 1,
                None => return Err(self.error(JsonFault::BadText("a text that does not end"))),
            }
        }
        let raw = &self.text[start..end];
        let text = if is_escaped {
            serde_json::from_str(&self.text[self.at..=end])
                .map_err(|_| self.error(JsonFault::BadText("a text with an escape that is none")))?
        } else {
            raw.to_owned()
        };
        self.at = end + 1;
        Ok(PlacedText::new(text, place, is_escaped.then(|| raw.into())))
    }

    fn number(&mut self) -> Result<JsonNode, JsonError> {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let text: &'a str = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let Ok(number) = serde_json::from_str::<Number>(text) else {
            return Err(self.error(JsonFault::BadNumber(shortened(text))));
        };
        self.at += text.len();
        let exact = significant(text) == significant(&number.to_string());
        Ok(JsonNode::Number { number, exact })
    }

    fn word(&mut self) -> Result<JsonNode, JsonError> {
        let words =
            [("null", JsonNode::Null), ("true", JsonNode::Bool(true)), ("false", JsonNode::Bool(false))];
        for (word, node) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(node);
            }
        }
        Err(self.unexpected("a value"))
    }
}

/// The digits that matter in a number, and the power of ten of the last one: the same for `1.50e2` and `150`.
fn significant(number: &str) -> (bool, String, i64) {
    let is_negative = number.starts_with('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = whole.chars().chain(fraction.chars()).filter(char::is_ascii_digit).collect();
    let digits = digits.trim_start_matches('0');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return (false, String::new(), 0);
    }
    let dropped = i64::try_from(digits.len() - kept.len()).unwrap_or(i64::MAX);
    let fraction = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let exponent = exponent.parse::<i64>().unwrap_or(i64::MAX);
    (is_negative, kept.to_owned(), exponent.saturating_sub(fraction).saturating_add(dropped))
}

/// A text that is short enough for a message.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
