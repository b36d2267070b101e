//! Addresses of what the API has.

use std::fmt::Write;

/// A run id or a name as one segment of a path, or as a value in a query.
pub fn path_segment(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' => encoded.push(char::from(byte)),
            other => {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_a_path_stays_one_part_of_it() {
        assert_eq!(path_segment("order-7"), "order-7");
        assert_eq!(path_segment("a/b?c#d%e é"), "a%2Fb%3Fc%23d%25e%20%C3%A9");
        assert_eq!(path_segment("../x~1_2"), "%2E%2E%2Fx%7E1%5F2");
    }
}
