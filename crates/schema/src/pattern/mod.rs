//! Regular expressions of ECMA-262, as far as a match can be decided without backtracking.
//!
//! `pattern` and `patternProperties` need them: to judge literals and names, and to find texts that match. What is not
//! supported (groups that are referred to, looking behind, properties of Unicode) is not guessed at: there is no
//! [`TextPattern`] then.

mod parse;
mod program;
mod sample;

use std::rc::Rc;

use program::PatternProgram;

/// A part of an expression.
#[derive(Clone, Debug)]
pub(crate) enum PatternPart {
    /// One character of these, or not of these.
    Class(CharClass),
    /// One after another.
    Sequence(Vec<PatternPart>),
    /// One of them.
    Either(Vec<PatternPart>),
    /// So many times.
    Repeat {
        part: Box<PatternPart>,
        min: u32,
        max: Option<u32>,
    },
    Start,
    End,
    /// `\b`, or `\B`.
    WordEdge {
        negated: bool,
    },
    /// `(?=…)`, or `(?!…)`.
    Look {
        part: Box<PatternPart>,
        negated: bool,
    },
}

/// A set of characters as ranges.
#[derive(Clone, Debug, Default)]
pub(crate) struct CharClass {
    pub(crate) ranges: Vec<(char, char)>,
    pub(crate) negated: bool,
}

impl CharClass {
    pub(crate) fn has(&self, c: char) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != self.negated
    }
}

/// A regular expression that can be decided.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    part: Rc<PatternPart>,
    program: Rc<PatternProgram>,
}

impl TextPattern {
    /// `None` where the expression is malformed, or needs what is not supported.
    pub(crate) fn parse(source: &str) -> Option<TextPattern> {
        let part = parse::parse(source)?;
        let program = Rc::new(PatternProgram::of(&part)?);
        Some(TextPattern { part: Rc::new(part), program })
    }

    /// Whether it matches anywhere in the text, `None` where that would be too much work; and how many steps that took.
    pub(crate) fn matches(&self, text: &str) -> (Option<bool>, usize) {
        self.program.matches(text)
    }

    /// Texts that match, the shortest first.
    pub(crate) fn samples(&self) -> Vec<String> {
        let mut found = sample::samples(&self.part);
        found.retain(|text| self.matches(text).0 == Some(true));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts that match a pattern, and texts that do not, separated by spaces.
    #[track_caller]
    fn check(pattern: &str, good: &str, bad: &str) {
        let compiled = TextPattern::parse(pattern).unwrap_or_else(|| panic!("{pattern} is not supported"));
        for (texts, expected) in [(good, true), (bad, false)] {
            for text in texts.split(' ').filter(|text| !text.is_empty()) {
                assert_eq!(compiled.matches(text).0, Some(expected), "{pattern} on {text:?}");
            }
        }
        assert!(!compiled.samples().is_empty(), "no sample of {pattern}");
    }

    #[test]
    fn texts_are_matched() {
        check("a", "a ba xax", "b A");
        check("^a$", "a", "aa ba");
        check("^[a-z]+$", "a abc", "A a1 ä");
        check("^[^a-c]$", "d é", "a b dd");
        check("^(a|bc){2,3}$", "aa abc bcbcbc", "a bc aaaa");
        check("^a?b*c+$", "c abbc bcc", "ab aac");
        check(r"^\d{3}-\d{4}$", "555-1234", "5555-123 a55-1234");
        check(r"^\w+@\w+\.\w{2,}$", "a@b.de", "a@b a@b.c @b.de");
        check(r"^-?[0-9]+([.][0-9]+)?$", "1 -1 1.5 -10.25", "x 1. .5 --1");
        check(r"^(?!foo)[a-z]+$", "bar fo", "foo foobar");
        check(r"^(?=.*\d)[a-z\d]+$", "a1 1", "abc");
        check(r"\bcat\b", "cat", "concat cats");
        check(r"^[\w.-]+$", "a.b-c_d", "a/b");
        check(r"^\u0041\x42$", "AB", "ab");
        check("^.{2}$", "ab äö", "a abc");
        check("^(?:(?:a|b)c)*?$", "ac acbc", "a");
        check("^[]$|^x$", "x", "y");
        check(r"^\/\*$", "/*", "//");
        check("^a{2}$", "aa", "a aaa");
        check("^(?<year>[0-9]{4})$", "2024", "24");
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        for pattern in
            [r"(a)\1", "(?<=a)b", r"\p{L}", "a**", "(a", "a)", "[b-a]", "a{3,2}", "*", r"\k<a>", "a{99999}"]
        {
            assert!(TextPattern::parse(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn evil_patterns_end() {
        let evil = TextPattern::parse("^(a+)+$").unwrap();
        assert_eq!(evil.matches(&("a".repeat(1000) + "b")).0, Some(false));
        assert!(TextPattern::parse(&"(".repeat(5000)).is_none());
        assert!(TextPattern::parse(&format!("{}a{}", "(".repeat(5000), ")".repeat(5000))).is_none());
        assert!(TextPattern::parse("((a{100}){100}){100}").is_none());
    }
}
