//! What JSON can say and readers would change: keys that an object has twice, and numbers that a double cannot hold.

use std::borrow::Cow;

/// A whole number that JavaScript would round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InexactNumber {
    /// Where it is, as `a.b[0]`; empty for the value itself.
    pub path: String,
    /// The same as a JSON pointer.
    pub pointer: String,
    /// As it is written.
    pub number: String,
    /// What it would become.
    pub rounded: String,
}

/// An object that has a key twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DuplicateKey {
    /// The object, as `a.b[0]`; empty for the value itself.
    pub(crate) path: String,
    pub(crate) key: String,
}

/// Whole numbers of up to this many digits are exact in a double.
const SAFE_DIGITS: usize = 15;

/// The first whole number that a double cannot hold, if there is one. Numbers with a fraction or an exponent are doubles
/// wherever they are read.
pub fn inexact_number(json: &str) -> Option<InexactNumber> {
    if !has_long_number(json) {
        return None;
    }
    let mut scan = JsonScan::new(json);
    while let Some(token) = scan.next() {
        if let JsonToken::Number(number) = token
            && let Some(rounded) = rounded(number)
        {
            let (path, pointer) = (scan.path(), scan.pointer());
            return Some(InexactNumber { path, pointer, number: number.to_owned(), rounded });
        }
    }
    None
}

/// Whether there are more digits in a row than are always exact; in strings, too.
fn has_long_number(json: &str) -> bool {
    let mut row = 0;
    json.bytes().any(|byte| {
        row = if byte.is_ascii_digit() { row + 1 } else { 0 };
        row > SAFE_DIGITS
    })
}

/// What a whole number becomes as a double, if that is another one.
fn rounded(number: &str) -> Option<String> {
    if number.len() <= SAFE_DIGITS || number.contains(['.', 'e', 'E']) {
        return None;
    }
    let double: f64 = number.parse().ok()?;
    Some(double.to_string()).filter(|rounded| rounded != number)
}

/// The first object that has a key twice, if there is one.
pub(crate) fn duplicate_key(json: &str) -> Option<DuplicateKey> {
    if !json.contains('{') {
        return None;
    }
    let mut scan = JsonScan::new(json);
    while let Some(token) = scan.next() {
        if let JsonToken::End(JsonLevel::Object { mut keys, .. }) = token {
            keys.sort_unstable();
            if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                return Some(DuplicateKey { path: scan.path(), key: pair[0].to_string() });
            }
        }
    }
    None
}

enum JsonToken<'a> {
    Number(&'a str),
    End(JsonLevel<'a>),
    Other,
}

enum JsonLevel<'a> {
    Object { keys: Vec<Cow<'a, str>> },
    Array { index: usize },
}

/// Goes through text that is known to be JSON.
struct JsonScan<'a> {
    json: &'a str,
    at: usize,
    levels: Vec<JsonLevel<'a>>,
    /// The next string is a key.
    expects_key: bool,
}

impl<'a> JsonScan<'a> {
    fn new(json: &'a str) -> Self {
        Self { json, at: 0, levels: Vec::new(), expects_key: false }
    }

    fn next(&mut self) -> Option<JsonToken<'a>> {
        let byte = *self.json.as_bytes().get(self.at)?;
        let begin = self.at;
        self.at += 1;
        match byte {
            b'{' => {
                self.levels.push(JsonLevel::Object { keys: Vec::new() });
                self.expects_key = true;
            }
            b'[' => {
                self.levels.push(JsonLevel::Array { index: 0 });
                self.expects_key = false;
            }
            b'}' | b']' => {
                self.expects_key = false;
                return self.levels.pop().map(JsonToken::End);
            }
            b',' => match self.levels.last_mut() {
                Some(JsonLevel::Array { index }) => *index += 1,
                Some(JsonLevel::Object { .. }) => self.expects_key = true,
                None => {}
            },
            b'"' => self.string(begin),
            b'-' | b'0'..=b'9' => {
                let rest = &self.json[begin..];
                let is_part =
                    |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.bytes().take_while(|byte| is_part(*byte)).count();
                self.at = begin + length;
                return Some(JsonToken::Number(&rest[..length]));
            }
            _ => {}
        }
        Some(JsonToken::Other)
    }

    /// Goes to the end of a string, and keeps it if it is a key.
    fn string(&mut self, begin: usize) {
        let bytes = self.json.as_bytes();
        let mut is_plain = true;
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => {
                    is_plain = false;
                    self.at += 1;
                }
                b'"' => break,
                _ => {}
            }
        }
        if !std::mem::take(&mut self.expects_key) {
            return;
        }
        let text = self.json.get(begin..self.at).unwrap_or_default();
        let key = match serde_json::from_str::<String>(text) {
            Ok(key) if !is_plain => Cow::Owned(key),
            _ => Cow::Borrowed(text.trim_matches('"')),
        };
        if let Some(JsonLevel::Object { keys }) = self.levels.last_mut() {
            keys.push(key);
        }
    }

    /// Where it is: `a.b[0]`.
    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            match level {
                JsonLevel::Array { index } => path.push_str(&format!("[{index}]")),
                JsonLevel::Object { keys } => {
                    path.push_str(if path.is_empty() { "" } else { "." });
                    path.push_str(keys.last().map_or("", |key| key));
                }
            }
        }
        path
    }

    /// The same as a JSON pointer.
    fn pointer(&self) -> String {
        let segment = |level: &JsonLevel<'_>| match level {
            JsonLevel::Array { index } => format!("/{index}"),
            JsonLevel::Object { keys } => {
                let key = keys.last().map_or("", |key| key);
                format!("/{}", key.replace('~', "~0").replace('/', "~1"))
            }
        };
        self.levels.iter().map(segment).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_that_a_double_cannot_hold_are_found_where_they_are() {
        let found =
            inexact_number(r#"{"a":"1234567890123456789","b/c":[1,{"id":9007199254740993}]}"#).unwrap();
        assert_eq!((found.path.as_str(), found.pointer.as_str()), ("b/c[1].id", "/b~1c/1/id"));
        assert_eq!((found.number.as_str(), found.rounded.as_str()), ("9007199254740993", "9007199254740992"));
        assert_eq!(inexact_number("18446744073709551615").unwrap().path, "");
        assert_eq!(inexact_number("[-9007199254740993]").unwrap().rounded, "-9007199254740992");
    }

    #[test]
    fn what_javascript_writes_it_can_read() {
        for number in [
            "9007199254740991",
            "9007199254740992",
            "100000000000000000000",
            "-0",
            "0.1234567890123456789",
            "1e300",
        ] {
            assert_eq!(inexact_number(&format!("[{number}]")), None, "{number}");
        }
    }

    #[test]
    fn keys_that_are_there_twice_are_found() {
        let found = |json: &str| duplicate_key(json).map(|it| (it.path, it.key));
        assert_eq!(found(r#"{"a":1,"b":{"a":1},"c":["a","a"]}"#), None);
        assert_eq!(found(r#"{"a":1,"b":2,"a":3}"#), Some((String::new(), "a".to_owned())));
        assert_eq!(found(r#"{"x":[0,{"k":1,"\u006b":2}]}"#), Some(("x[1]".to_owned(), "k".to_owned())));
        assert_eq!(found(r#"{"\"":1,"b":"\"a\":","a":2}"#), None);
    }
}
