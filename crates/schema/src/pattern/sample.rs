//! Texts that an expression may match: short ones, and some that take other ways through it.

use super::{CharClass, PatternPart};

/// Texts kept at each part.
const SAMPLES_MAX: usize = 6;

/// Characters of a sample.
const LENGTH_MAX: usize = 2_000;

/// Looking ahead is left out of account: the caller matches what comes of it.
pub(super) fn samples(part: &PatternPart) -> Vec<String> {
    let mut found = of(part);
    found.sort_by_key(|text| text.chars().count());
    found.dedup();
    found
}

fn of(part: &PatternPart) -> Vec<String> {
    match part {
        PatternPart::Class(class) => class_samples(class),
        PatternPart::Start | PatternPart::End | PatternPart::WordEdge { .. } => vec![String::new()],
        PatternPart::Look { part, negated } => {
            let mut found = vec![String::new()];
            if !negated {
                found.extend(of(part));
            }
            found.truncate(SAMPLES_MAX);
            found
        }
        PatternPart::Either(parts) => limited(parts.iter().flat_map(|part| of(part).into_iter().take(2))),
        PatternPart::Sequence(parts) => sequence(parts),
        PatternPart::Repeat { part, min, max } => {
            let most = max.unwrap_or(u32::MAX);
            let counts = [*min, min.saturating_add(1).min(most), min.saturating_add(7).min(most)];
            let below = of(part);
            let repeated = counts.iter().filter_map(|count| repeat(below.first()?, *count));
            let others = below.iter().skip(1).filter_map(|text| repeat(text, (*min).max(1).min(most)));
            limited(repeated.chain(others))
        }
    }
}

fn repeat(text: &str, count: u32) -> Option<String> {
    let count = count as usize;
    (text.len().saturating_mul(count) <= LENGTH_MAX).then(|| text.repeat(count))
}

/// The first text of each part, and each other text of a part among the first ones of the rest.
fn sequence(parts: &[PatternPart]) -> Vec<String> {
    let parts: Vec<Vec<String>> = parts.iter().map(of).collect();
    let Some(first) = parts.iter().map(|texts| texts.first().cloned()).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let mut found = vec![first.concat()];
    for (at, texts) in parts.iter().enumerate() {
        for text in texts.iter().skip(1) {
            let mut changed = first.clone();
            changed[at] = text.clone();
            found.push(changed.concat());
        }
    }
    found.retain(|text| text.len() <= LENGTH_MAX);
    // The longest ways last: those are the ones that a limit may drop.
    limited(found.into_iter())
}

fn class_samples(class: &CharClass) -> Vec<String> {
    let common = ['a', '0', 'A', ' ', '-', '_', '.', '/', '@', 'z', '9', '1', 'é', '日'];
    let ends = class.ranges.iter().flat_map(|(first, last)| [*first, *last]);
    let found = common.into_iter().chain(ends).filter(|c| class.has(*c));
    limited(found.map(String::from))
}

fn limited(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in texts {
        if found.len() == SAMPLES_MAX {
            break;
        }
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}
