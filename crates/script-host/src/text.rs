//! Strings and bytes.

#![expect(clippy::needless_pass_by_value, reason = "rquickjs gives arguments by value")]

use rquickjs::function::This;
use rquickjs::{Ctx, Error, Exception, Function, Object, Result, String as JsString, TypedArray};
use sha2::{Digest, Sha256};

/// What the bytes 0x80 to 0x9f are in windows-1252, which is what the web calls latin1 and ascii.
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// A string of JavaScript. Halves of characters become U+FFFD.
pub(crate) fn plain(text: &JsString<'_>) -> Result<String> {
    match text.to_string() {
        Err(Error::Utf8(_)) => {
            let class: Object<'_> = text.ctx().globals().get("String")?;
            let whole: Function<'_> = class.get::<_, Object<'_>>("prototype")?.get("toWellFormed")?;
            whole.call((This(text.clone()),))
        }
        other => other,
    }
}

/// JSON in which no half of a character is escaped: Rust's strings cannot have one. `JSON.stringify` escapes nothing
/// else like that.
pub(crate) fn well_formed(json: String) -> String {
    if !json.contains(r"\ud") {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.as_str();
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = &rest[at..];
        // An escape is two characters, or six; JSON.stringify writes no broken ones.
        let length = if escape.starts_with(r"\u") { 6 } else { 2 }.min(escape.len());
        out.push_str(if escape.starts_with(r"\ud") { r"\ufffd" } else { &escape[..length] });
        rest = &escape[length..];
    }
    out.push_str(rest);
    out
}

/// A copy of an array's bytes; none if it was given away.
#[expect(unsafe_code, reason = "the bytes are JavaScript's; they are copied at once")]
pub(crate) fn bytes(array: &TypedArray<'_, u8>) -> Option<Vec<u8>> {
    // SAFETY: no JavaScript runs between here and the end of the copy, so nothing moves or frees the bytes.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec)
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(crate) fn digest(text: JsString<'_>) -> Result<String> {
    let digest = Sha256::digest(plain(&text)?.as_bytes());
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// UTF-8.
pub(crate) fn encode<'js>(ctx: Ctx<'js>, text: JsString<'js>) -> Result<TypedArray<'js, u8>> {
    TypedArray::new_copy(ctx, plain(&text)?)
}

/// The opposite, from one of the encodings that the web cannot do without.
pub(crate) fn decode(ctx: Ctx<'_>, array: TypedArray<'_, u8>, label: String, fatal: bool) -> Result<String> {
    let bytes = bytes(&array).unwrap_or_default();
    let decoded = match label.as_str() {
        "utf-8" => String::from_utf8(bytes).map_err(|error| lossy_utf8(error.as_bytes())),
        "utf-16le" => utf16(&bytes),
        "windows-1252" => Ok(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
        other => return Err(Exception::throw_range(&ctx, &format!("unknown encoding `{other}`"))),
    };
    match decoded {
        Ok(text) => Ok(text),
        Err(_) if fatal => Err(Exception::throw_type(&ctx, &format!("the bytes are not {label}"))),
        Err(lossy) => Ok(lossy),
    }
}

fn lossy_utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn utf16(bytes: &[u8]) -> std::result::Result<String, String> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    match String::from_utf16(&units) {
        Ok(text) if odd.is_empty() => Ok(text),
        _ => Err(String::from_utf16_lossy(&units) + if odd.is_empty() { "" } else { "\u{fffd}" }),
    }
}

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_characters_are_replaced() {
        for (json, expected) in [
            (r#"{"a":"\ud83d"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"\\ud83d"}"#, r#"{"a":"\\ud83d"}"#),
            (r#"{"a":"\\\ud83d\n"}"#, r#"{"a":"\\\ufffd\n"}"#),
            (r#"{"a":"\u0001é"}"#, r#"{"a":"\u0001é"}"#),
        ] {
            assert_eq!(well_formed(json.to_owned()), expected);
        }
    }
}
