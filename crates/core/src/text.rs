//! Characters that people cannot see, or that change what they see of others.

/// Whether a character is a control character, or an invisible or reordering one: in an id or a tag it would make two of
/// them look the same, and in a terminal it could do something, or show text in another order than it has.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            // The soft hyphen, the grapheme joiner, fillers, vowel signs and separators that show nothing.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{3164}' | '\u{ffa0}'
            // Marks, embeddings, overrides and isolates of right-to-left text.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // Of no width; ends of lines and paragraphs; invisible operators; the byte order mark; annotations; tags.
            | '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_hidden_and_letters_of_all_scripts_are_not() {
        let hidden =
            "\0\n\x1b\x7f\u{85}\u{9b}\u{ad}\u{200b}\u{200f}\u{202e}\u{2028}\u{2066}\u{2069}\u{feff}\u{e0041}";
        assert!(hidden.chars().all(is_hidden));
        assert!(!"az09-_.~#äßйא\u{5d1}ب漢한😀 \u{301}".chars().any(is_hidden));
    }
}
