//! The grammar of refs.
//!
//! ```text
//! ref   = "@" root part*          the whole text; the value keeps its type
//! text  = (words | "@{" root part* "}")*      always a text
//! root  = letters, digits, "_", "-"
//! part  = "." key | "[" digits "]" | "[" quoted key "]"
//! ```
//!
//! A text that begins with `@@` begins with a literal `@`, and `@@{` is a literal `@{` anywhere. Any other `@` inside of a text
//! is itself: `a@b.example` is no ref.

use rival_schema::PathSegment;

use crate::decode::is_name_char;
use crate::read_json::shortened;

/// The most parts of a ref.
const PARTS_MAX: usize = 100;
/// The longest part of a ref, in bytes. Names that were probably meant are looked for among all others.
pub(crate) const PART_MAX: usize = 512;

/// A text of a document, as refs divide it.
#[derive(Clone, Debug, PartialEq)]
pub enum RefText {
    /// No ref in it; escapes are taken away.
    Literal(String),
    /// The value that a ref leads to.
    Ref(DocumentRef),
    /// A text with refs in it.
    Text(Vec<TextPiece>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextPiece {
    /// Itself.
    Words(String),
    /// The value that a ref leads to.
    Ref(DocumentRef),
}

/// A ref: where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentRef {
    /// `input`, `item`, `index`, `output`, the name of an item or of a step.
    pub root: String,
    /// The way into it; of a step it begins with `output`.
    pub path: Vec<PathSegment>,
    /// Where it begins in its text, in bytes.
    pub at: usize,
    /// As it is written, with its `@`.
    pub written: String,
}

/// A text that begins as a ref and is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RefError {
    /// Where in the text, in bytes.
    pub at: usize,
    /// The ref as far as it was read.
    pub written: String,
    /// What is wrong.
    pub message: String,
}

impl RefText {
    /// Reads a text; all refs that are wrong are named.
    pub fn parse(text: &str) -> Result<RefText, Vec<RefError>> {
        if text.starts_with('@') && !text.starts_with("@@") && !text.starts_with("@{") {
            return whole_ref(text).map(RefText::Ref).map_err(|error| vec![error]);
        }
        let mut scan = TextScan { text, at: 0, words: String::new(), pieces: Vec::new(), errors: Vec::new() };
        // At the beginning `@@` is an escape; `@@{` is one anywhere, and the scan sees to it.
        if text.starts_with("@@") && !text.starts_with("@@{") {
            scan.at = 1;
            scan.words.push('@');
            scan.at += 1;
        }
        scan.run();
        if !scan.errors.is_empty() {
            return Err(scan.errors);
        }
        if scan.pieces.is_empty() {
            return Ok(RefText::Literal(scan.words));
        }
        scan.end_words();
        Ok(RefText::Text(scan.pieces))
    }
}

fn whole_ref(text: &str) -> Result<DocumentRef, RefError> {
    let mut cursor = RefCursor { text, start: 0, at: 1 };
    let reference = cursor.reference()?;
    if cursor.at < text.len() {
        let shown = cursor.next_char();
        return Err(cursor.error(format!(
            "a ref cannot have {shown} here; inside of a text write `@{{…}}`, and for a text that begins with `@` write `@@`"
        )));
    }
    Ok(reference)
}

struct TextScan<'a> {
    text: &'a str,
    at: usize,
    words: String,
    pieces: Vec<TextPiece>,
    errors: Vec<RefError>,
}

impl TextScan<'_> {
    fn run(&mut self) {
        while let Some(found) = self.text[self.at..].find('@') {
            let (at, rest) = (self.at + found, &self.text[self.at + found..]);
            self.words.push_str(&self.text[self.at..at]);
            if rest.starts_with("@@{") {
                self.words.push_str("@{");
                self.at = at + 3;
            } else if rest.starts_with("@{") {
                self.place(at);
            } else {
                self.words.push('@');
                self.at = at + 1;
            }
        }
        self.words.push_str(&self.text[self.at..]);
    }

    fn end_words(&mut self) {
        if !self.words.is_empty() {
            self.pieces.push(TextPiece::Words(std::mem::take(&mut self.words)));
        }
    }

    /// One `@{…}`.
    fn place(&mut self, start: usize) {
        let mut cursor = RefCursor { text: self.text, start, at: start + 2 };
        let reference = cursor.reference().and_then(|reference| {
            if cursor.take('}') {
                return Ok(reference);
            }
            let shown = cursor.next_char();
            Err(cursor.error(format!("a ref in a text ends with `}}`, and here is {shown}")))
        });
        match reference {
            Ok(mut reference) => {
                reference.written = self.text[start..cursor.at].to_owned();
                self.end_words();
                self.pieces.push(TextPiece::Ref(reference));
                self.at = cursor.at;
            }
            Err(error) => {
                let end = self.text[start..].find('}').map_or(self.text.len(), |end| start + end + 1);
                self.at = end.max(start + 2);
                self.errors.push(error);
            }
        }
    }
}

struct RefCursor<'a> {
    text: &'a str,
    /// Where the ref begins.
    start: usize,
    at: usize,
}

impl<'a> RefCursor<'a> {
    fn reference(&mut self) -> Result<DocumentRef, RefError> {
        let root = self.run(is_name_char);
        if root.is_empty() {
            let shown = self.next_char();
            return Err(self.error(format!(
                "a ref begins with `input`, `item` or the name of a step, and here is {shown}; write `@@` for a text that begins with `@`"
            )));
        }
        let root = self.bounded(root)?.to_owned();
        let mut path = Vec::new();
        loop {
            let segment = if self.take('.') {
                self.key()?
            } else if self.take('[') {
                self.bracket()?
            } else {
                break;
            };
            if path.len() == PARTS_MAX {
                return Err(self.error(format!("a ref has at most {PARTS_MAX} parts")));
            }
            path.push(segment);
        }
        let written = self.text[self.start..self.at].to_owned();
        Ok(DocumentRef { root, path, at: self.start, written })
    }

    fn key(&mut self) -> Result<PathSegment, RefError> {
        let key = self.run(is_key_char);
        if key.is_empty() {
            let shown = self.next_char();
            return Err(self.error(format!("a name is missing: here is {shown}")));
        }
        let key = self.bounded(key)?;
        Ok(index(key).map_or_else(|| PathSegment::Key(key.to_owned()), PathSegment::Index))
    }

    /// What stands in brackets: a number, or any key in quotes.
    fn bracket(&mut self) -> Result<PathSegment, RefError> {
        let quote = self.text[self.at..].chars().next().filter(|c| matches!(c, '"' | '\''));
        let segment = if let Some(quote) = quote {
            self.at += 1;
            let key = self.run(|c| c != quote);
            if !self.take(quote) {
                return Err(self.error(format!("a key in quotes ends with `{quote}`")));
            }
            PathSegment::Key(self.bounded(key)?.to_owned())
        } else {
            let digits = self.run(|c| c.is_ascii_digit());
            match index(digits) {
                Some(index) => PathSegment::Index(index),
                None => {
                    let message =
                        "brackets have a whole number in them, or a key in quotes: `[0]`, `['a key']`";
                    return Err(self.error(message.to_owned()));
                }
            }
        };
        if !self.take(']') {
            let shown = self.next_char();
            return Err(self.error(format!("a bracket ends with `]`, and here is {shown}")));
        }
        Ok(segment)
    }

    fn run(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let run = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    fn bounded(&self, part: &'a str) -> Result<&'a str, RefError> {
        if part.len() > PART_MAX {
            return Err(self.error(format!("a part of a ref has at most {PART_MAX} bytes")));
        }
        Ok(part)
    }

    fn take(&mut self, c: char) -> bool {
        let is_there = self.text[self.at..].starts_with(c);
        self.at += if is_there { c.len_utf8() } else { 0 };
        is_there
    }

    fn next_char(&self) -> String {
        match self.text[self.at..].chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end".to_owned(),
        }
    }

    fn error(&self, message: String) -> RefError {
        RefError { at: self.at, written: shortened(&self.text[self.start..self.at]), message }
    }
}

/// What keys are made of when they are not in quotes.
fn is_key_char(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '.' | '[' | ']' | '{' | '}' | '@' | '"' | '\'')
}

/// A number as an index; `007` and what is too large for a list are keys.
fn index(text: &str) -> Option<usize> {
    let is_plain = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    text.parse::<u32>().ok().filter(|_| is_plain).map(|index| index as usize)
}
