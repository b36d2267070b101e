//! Secrets are taken out of whatever is written: results, failures, lines of logs, answers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";
/// A shorter text is found in too much that is no secret.
pub const SECRET_BYTES_MIN: usize = 6;
/// A line of a secret of several lines counts by itself from this length on.
const LINE_BYTES_MIN: usize = 12;

/// What `encodeURIComponent` leaves as it is, and what RFC 3986 does.
const COMPONENT: &AsciiSet = &RESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// What forms leave as it is, but for spaces.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// Finds secrets in texts, also as JSON, URLs, base64 and hexadecimal digits write them.
#[derive(Clone, Default)]
pub struct SecretRedactor {
    search: Option<AhoCorasick>,
    /// The longest form of a secret.
    longest: usize,
}

impl fmt::Debug for SecretRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretRedactor").finish_non_exhaustive()
    }
}

impl SecretRedactor {
    /// Takes out these secrets. Those with fewer than [`SECRET_BYTES_MIN`] bytes stay.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let forms: BTreeSet<String> = secrets.into_iter().flat_map(forms_of).collect();
        let longest = forms.iter().map(String::len).max().unwrap_or_default();
        let search = (!forms.is_empty()).then(|| {
            let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
            built.expect("some short texts are no large automaton")
        });
        Self { search, longest }
    }

    /// The text without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_up_to(text, text.len())
    }

    /// The beginning of a line of which not all may be there, without secrets: neither whole ones nor one that is cut off.
    pub(crate) fn cut_line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut end = line.len().saturating_sub(self.longest);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        self.text_up_to(line, end)
    }

    fn text_up_to<'a>(&self, text: &'a str, end: usize) -> Cow<'a, str> {
        let Some(search) = &self.search else { return Cow::Borrowed(&text[..end]) };
        let (mut clean, mut from) = (String::new(), 0);
        for found in search.find_iter(text) {
            if found.start() >= end {
                break;
            }
            clean.push_str(&text[from..found.start()]);
            clean.push_str(REDACTED);
            from = found.end();
        }
        match from {
            0 => Cow::Borrowed(&text[..end]),
            from => Cow::Owned(clean + text.get(from..end).unwrap_or_default()),
        }
    }

    /// JSON without secrets, in texts, keys and numbers. Everything else stays as it is written.
    pub fn json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let Some(search) = &self.search else { return Cow::Borrowed(json) };
        // A text without escapes is what it says.
        if !json.contains('\\') && !search.is_match(json) {
            return Cow::Borrowed(json);
        }
        let (mut clean, mut rest) = (String::with_capacity(json.len()), json);
        while let Some(first) = rest.bytes().next() {
            let length = match first {
                b'"' => string_length(rest),
                _ => rest.find('"').unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length);
            match first {
                b'"' => self.push_string(token, &mut clean),
                _ => self.push_plain(token, &mut clean),
            }
            rest = after;
        }
        Cow::Owned(clean)
    }

    fn push_string(&self, token: &str, clean: &mut String) {
        let Ok(text) = serde_json::from_str::<Cow<'_, str>>(token) else { return clean.push_str(token) };
        match self.text(&text) {
            Cow::Borrowed(_) => clean.push_str(token),
            Cow::Owned(text) => clean.push_str(&serde_json::to_string(&text).expect("a text is JSON")),
        }
    }

    /// What stands between texts. A number that has a secret becomes a text, so that it stays JSON.
    fn push_plain(&self, between: &str, clean: &mut String) {
        let is_mark = |c: char| matches!(c, '{' | '}' | '[' | ']' | ',' | ':') || c.is_ascii_whitespace();
        let mut rest = between;
        while let Some(first) = rest.chars().next() {
            let length = match is_mark(first) {
                true => first.len_utf8(),
                false => rest.find(is_mark).unwrap_or(rest.len()),
            };
            let (token, after) = rest.split_at(length);
            match self.text(token) {
                Cow::Borrowed(token) => clean.push_str(token),
                Cow::Owned(_) => clean.push_str(&format!("\"{REDACTED}\"")),
            }
            rest = after;
        }
    }
}

/// The length of the string that JSON begins with.
fn string_length(json: &str) -> usize {
    let (mut escaped, mut length) = (false, 1);
    for byte in json.bytes().skip(1) {
        length += 1;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => break,
            _ => {}
        }
    }
    length
}

/// A secret as it may be written.
fn forms_of(secret: &str) -> BTreeSet<String> {
    let trimmed = secret.trim();
    let lines = trimmed.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN);
    let whole = [secret, trimmed].into_iter().filter(|text| text.trim().len() >= SECRET_BYTES_MIN);
    let mut forms = BTreeSet::new();
    for text in whole.chain(lines) {
        forms.extend(text_forms(text));
        // Servers read headers byte by byte.
        if !text.is_ascii() {
            forms.extend(text_forms(&text.bytes().map(char::from).collect::<String>()));
        }
        forms.extend(base64_forms(text.as_bytes()));
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        forms.insert(hex.to_uppercase());
        forms.insert(hex);
    }
    forms
}

fn text_forms(text: &str) -> Vec<String> {
    let forms = [vec![text.to_owned()], json_forms(text).to_vec(), url_forms(text)];
    forms.concat()
}

/// In a string of JSON that is inside of a text.
fn json_forms(text: &str) -> [String; 4] {
    let quoted = serde_json::to_string(text).expect("a text is JSON");
    let inside = quoted[1..quoted.len() - 1].to_owned();
    let ascii: String = inside.chars().flat_map(escaped).collect();
    [inside.replace('/', "\\/"), ascii.replace('/', "\\/"), inside, ascii]
}

fn escaped(c: char) -> Vec<char> {
    if c.is_ascii() {
        return vec![c];
    }
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units).iter();
    units.flat_map(|unit| format!("\\u{unit:04x}").chars().collect::<Vec<_>>()).collect()
}

fn url_forms(text: &str) -> Vec<String> {
    let mut forms: Vec<String> =
        [RESERVED, COMPONENT, FORM].map(|set| utf8_percent_encode(text, set).to_string()).into();
    forms.push(forms[2].replace("%20", "+"));
    let lower: Vec<String> = forms.iter().map(|form| lower_escapes(form)).collect();
    forms.extend(lower);
    forms
}

/// `%2F` as `%2f`.
fn lower_escapes(form: &str) -> String {
    let mut parts = form.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at(part.len().min(2));
        format!("{text}%{}{rest}", digits.to_lowercase())
    })
}

/// Base64 of the secret, also where it stands in the middle of what was encoded: what no neighbour changes.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3_usize {
        let padded = [vec![0; before], secret.to_vec()].concat();
        for engine in [&STANDARD, &URL_SAFE] {
            let encoded = engine.encode(&padded);
            let bare = encoded.trim_end_matches('=');
            let end = if padded.len() % 3 == 0 { bare.len() } else { bare.len() - 1 };
            let start = [0, 2, 3][before];
            if end > start + SECRET_BYTES_MIN {
                forms.push(bare[start..end].to_owned());
            }
        }
        // Whole, so that nothing of the end is left either.
        if before == 0 {
            forms.extend([STANDARD.encode(secret), URL_SAFE.encode(secret)]);
            forms.extend(
                [STANDARD.encode(secret), URL_SAFE.encode(secret)]
                    .map(|form| form.trim_end_matches('=').to_owned()),
            );
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "s3cr3t/\"wörd\" + more";

    fn redactor() -> SecretRedactor {
        SecretRedactor::new([SECRET])
    }

    #[test]
    fn a_secret_is_found_as_it_is_written_in_many_places() {
        let json = serde_json::to_string(SECRET).unwrap();
        let twice = serde_json::to_string(&json).unwrap();
        let basic = |user: &str| STANDARD.encode(format!("{user}:{SECRET}:x"));
        for text in [
            format!("got {SECRET}!"),
            format!("body {json}"),
            utf8_percent_encode(SECRET, COMPONENT).to_string(),
            utf8_percent_encode(SECRET, NON_ALPHANUMERIC).to_string().to_lowercase(),
            STANDARD.encode(SECRET),
            URL_SAFE.encode(SECRET),
        ] {
            let clean = redactor().text(&text).into_owned();
            assert!(clean.contains(REDACTED), "{text} -> {clean}");
        }
        for user in ["", "a", "ab", "abc"] {
            let (text, clean) = (basic(user), redactor().text(&basic(user)).into_owned());
            assert!(clean.contains(REDACTED), "{text} -> {clean}");
        }
        // What a text of JSON holds is JSON again.
        assert!(redactor().json(&twice).contains(REDACTED));
    }

    #[test]
    fn what_is_redacted_in_json_is_json_and_the_rest_is_as_it_was_written() {
        let redactor = SecretRedactor::new(["123456", "swordfish"]);
        let json = r#"{"a": 9123456.50, "sword\u0066ish": ["x\u00e9", 1.0, 99999999999999999999], "b":"-swordfish-" ,"c":true}"#;
        let clean = redactor.json(json).into_owned();
        assert_eq!(
            clean,
            r#"{"a": "[redacted]", "[redacted]": ["x\u00e9", 1.0, 99999999999999999999], "b":"-[redacted]-" ,"c":true}"#
        );
        assert!(matches!(redactor.json(r#"{"n":1}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn a_line_that_is_cut_does_not_end_with_the_beginning_of_a_secret() {
        let redactor = SecretRedactor::new(["swordfish"]);
        let line = format!("{}sword", "x".repeat(100));
        assert!(!redactor.cut_line(&line).contains("sword"));
        let whole = format!("swordfish{}swordfish{}", "x".repeat(50), "y".repeat(200));
        let clean = redactor.cut_line(&whole).into_owned();
        assert_eq!(clean.matches(REDACTED).count(), 2, "{clean}");
    }

    #[test]
    fn what_is_too_short_to_be_a_secret_stays() {
        let redactor = SecretRedactor::new(["", "abc", "  "]);
        assert_eq!(redactor.text("abc abc"), "abc abc");
    }

    #[test]
    fn each_line_of_a_key_is_a_secret() {
        let redactor =
            SecretRedactor::new(["-----BEGIN KEY-----\nMIIEvQIBADANBg\nQIBADANBgkqhk\n-----END KEY-----\n"]);
        assert_eq!(redactor.text("at MIIEvQIBADANBg"), "at [redacted]");
    }
}
