//! The text of an expression to its parts.

use super::{CharClass, PatternPart};

/// Groups inside of groups.
const DEPTH_MAX: u32 = 50;

pub(super) fn parse(source: &str) -> Option<PatternPart> {
    let mut parser = PatternParser { rest: source.chars().collect(), at: 0, depth: 0 };
    let part = parser.either()?;
    (parser.at == parser.rest.len()).then_some(part)
}

struct PatternParser {
    rest: Vec<char>,
    at: usize,
    depth: u32,
}

impl PatternParser {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, text: &str) -> bool {
        let matches = text.chars().enumerate().all(|(at, c)| self.rest.get(self.at + at) == Some(&c));
        if matches {
            self.at += text.chars().count();
        }
        matches
    }

    fn either(&mut self) -> Option<PatternPart> {
        let mut parts = vec![self.sequence()?];
        while self.take("|") {
            parts.push(self.sequence()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { PatternPart::Either(parts) })
    }

    fn sequence(&mut self) -> Option<PatternPart> {
        let mut parts = Vec::new();
        while let Some(c) = self.peek() {
            if c == '|' || c == ')' {
                break;
            }
            let part = self.atom()?;
            parts.push(self.repeated(part)?);
        }
        Some(PatternPart::Sequence(parts))
    }

    fn repeated(&mut self, part: PatternPart) -> Option<PatternPart> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => self.counts()?,
            _ => return Some(part),
        };
        // The sign itself, or the brace that closes the counts.
        self.at += 1;
        // Laziness changes which text is matched, not whether one is.
        self.take("?");
        let is_twice = matches!(self.peek(), Some('*' | '+' | '?' | '{'));
        let is_edge = matches!(
            part,
            PatternPart::Start | PatternPart::End | PatternPart::WordEdge { .. } | PatternPart::Look { .. }
        );
        if is_twice || is_edge || max.is_some_and(|max| max < min) {
            return None;
        }
        Some(PatternPart::Repeat { part: Box::new(part), min, max })
    }

    /// Of `{2}`, `{2,}` and `{2,3}`, up to the brace that closes it.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        self.at += 1;
        let min = self.decimal()?;
        let max = if self.take(",") {
            if self.peek() == Some('}') { None } else { Some(self.decimal()?) }
        } else {
            Some(min)
        };
        (self.peek() == Some('}')).then_some((min, max))
    }

    fn decimal(&mut self) -> Option<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.rest[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn atom(&mut self) -> Option<PatternPart> {
        Some(match self.next()? {
            '^' => PatternPart::Start,
            '$' => PatternPart::End,
            '.' => PatternPart::Class(CharClass { ranges: line_ends(), negated: true }),
            '(' => return self.group(),
            '[' => PatternPart::Class(self.class()?),
            '\\' => return self.escape_atom(),
            '*' | '+' | '?' | '{' | '}' | ']' | ')' => return None,
            c => single(c),
        })
    }

    fn group(&mut self) -> Option<PatternPart> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let look = if self.take("?=") {
            Some(false)
        } else if self.take("?!") {
            Some(true)
        } else {
            None
        };
        if look.is_none() && !self.take("?:") && self.take("?") {
            // A name; its group is never referred to, because references are not supported.
            if !self.take("<") || matches!(self.peek(), Some('=' | '!')) {
                return None;
            }
            while self.next()? != '>' {}
        }
        let part = self.either()?;
        self.depth -= 1;
        if !self.take(")") {
            return None;
        }
        Some(match look {
            Some(negated) => PatternPart::Look { part: Box::new(part), negated },
            None => part,
        })
    }

    fn escape_atom(&mut self) -> Option<PatternPart> {
        match self.peek()? {
            'b' | 'B' => Some(PatternPart::WordEdge { negated: self.next()? == 'B' }),
            _ => Some(PatternPart::Class(self.escape()?)),
        }
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Option<CharClass> {
        let c = self.next()?;
        let negated = c.is_ascii_uppercase();
        let one = match c {
            'd' | 'D' => return Some(CharClass { ranges: vec![('0', '9')], negated }),
            'w' | 'W' => return Some(CharClass { ranges: word_ranges(), negated }),
            's' | 'S' => return Some(CharClass { ranges: spaces(), negated }),
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.hex(2)?,
            'u' if self.take("{") => self.braced()?,
            'u' => self.hex(4)?,
            c if c.is_ascii_alphanumeric() => return None,
            c => c,
        };
        Some(CharClass { ranges: vec![(one, one)], negated: false })
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let text: String = self.rest.get(self.at..self.at + digits)?.iter().collect();
        self.at += digits;
        char::from_u32(u32::from_str_radix(&text, 16).ok()?)
    }

    fn braced(&mut self) -> Option<char> {
        let start = self.at;
        while self.next()? != '}' {}
        let text: String = self.rest[start..self.at - 1].iter().collect();
        char::from_u32(u32::from_str_radix(&text, 16).ok()?)
    }

    fn class(&mut self) -> Option<CharClass> {
        let mut class = CharClass { ranges: Vec::new(), negated: self.take("^") };
        loop {
            if self.take("]") {
                return Some(class);
            }
            let first = self.class_item()?;
            let [(low, same)] = first.ranges.as_slice() else {
                class.ranges.extend(positive(first)?);
                continue;
            };
            let is_single = low == same && !first.negated;
            let is_range = self.peek() == Some('-') && self.rest.get(self.at + 1) != Some(&']');
            if !is_single || !is_range {
                class.ranges.extend(positive(first)?);
                continue;
            }
            self.at += 1;
            let last = self.class_item()?;
            match last.ranges.as_slice() {
                [(high, same)] if high == same && !last.negated && low <= high => {
                    class.ranges.push((*low, *high));
                }
                _ => return None,
            }
        }
    }

    fn class_item(&mut self) -> Option<CharClass> {
        match self.next()? {
            '\\' if self.take("b") => Some(CharClass { ranges: vec![('\u{8}', '\u{8}')], negated: false }),
            '\\' => self.escape(),
            c => Some(CharClass { ranges: vec![(c, c)], negated: false }),
        }
    }
}

/// The ranges of a class inside of a class; one that is negated would have to be turned round.
fn positive(class: CharClass) -> Option<Vec<(char, char)>> {
    if !class.negated {
        return Some(class.ranges);
    }
    let mut ranges = class.ranges;
    ranges.sort_unstable();
    let mut found = Vec::new();
    let mut next = '\0';
    for (first, last) in ranges {
        if next < first {
            found.push((next, char::from_u32(u32::from(first) - 1)?));
        }
        next = char::from_u32(u32::from(last) + 1)?;
    }
    found.push((next, char::MAX));
    Some(found)
}

fn single(c: char) -> PatternPart {
    PatternPart::Class(CharClass { ranges: vec![(c, c)], negated: false })
}

fn line_ends() -> Vec<(char, char)> {
    vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]
}

pub(super) fn word_ranges() -> Vec<(char, char)> {
    vec![('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]
}

fn spaces() -> Vec<(char, char)> {
    let singles =
        ['\u{a0}', '\u{1680}', '\u{2028}', '\u{2029}', '\u{202f}', '\u{205f}', '\u{3000}', '\u{feff}'];
    let ranges = [('\t', '\r'), (' ', ' '), ('\u{2000}', '\u{200a}')];
    let mut all: Vec<_> = singles.into_iter().map(|c| (c, c)).chain(ranges).collect();
    all.sort_unstable();
    all
}
