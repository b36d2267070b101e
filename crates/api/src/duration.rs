//! Lengths of time as people write them, in queries, settings and arguments: `500ms`, `30s`, `5m`, `1h`, `2d`.

use std::time::Duration;

/// What a length of time looks like, for messages.
pub const EXPECTED: &str = "a length of time such as 500ms, 30s, 5m, 1h";

/// Reads a length of time.
pub fn parse(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(unit_ms)?))
}

/// Writes one in the form that [`parse`] reads.
pub fn show(time: Duration) -> String {
    let ms = time.as_millis();
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let whole = units.into_iter().find(|(unit, _)| ms > 0 && ms.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{ms}ms"), |(unit, word)| format!("{}{word}", ms / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_read() {
        for text in ["0ms", "500ms", "30s", "90s", "5m", "36h", "2d"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
        for wrong in
            ["", "5", "s", "-5s", "1.5s", "5 s", "5sec", "99999999999999999999s", "18446744073709551615h"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
