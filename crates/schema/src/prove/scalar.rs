//! Numbers and texts.

use serde_json::Number;

use super::{ProofResult, doubt};
use crate::flat::FlatView;
use crate::kinds::KindSet;
use crate::node::{NumberBound, NumberRules, StringRules};
use crate::number::{compare, is_multiple};

pub(super) fn prove_number(view: &FlatView, rules: &NumberRules) -> ProofResult {
    for (wanted, known, is_low) in [(&rules.low, &view.low, true), (&rules.high, &view.high, false)] {
        if let Some(wanted) = wanted
            && !known.as_ref().is_some_and(|known| wanted.covers(known, is_low))
        {
            let word = if is_low { "above" } else { "below" };
            return doubt(format!("it may be a number that is not {word} {}", wanted.value));
        }
    }
    if let Some(wanted) = &rules.multiple
        && !is_always_multiple(view, wanted)
    {
        return doubt(format!("it may be a number that is no multiple of {wanted}"));
    }
    Ok(())
}

fn is_always_multiple(view: &FlatView, wanted: &Number) -> bool {
    let is_one = is_multiple(&Number::from(1), wanted) == Some(true);
    let is_integer = view.kinds.both(KindSet::NUMBER) == KindSet::INTEGER;
    (is_one && is_integer) || view.multiples.iter().any(|known| is_multiple(known, wanted) == Some(true))
}

impl NumberBound {
    /// Whether all numbers inside of another bound are inside of this one.
    fn covers(&self, other: &NumberBound, is_low: bool) -> bool {
        let order = compare(&other.value, &self.value);
        let order = if is_low { order } else { order.reverse() };
        order.is_gt() || (order.is_eq() && (!self.exclusive || other.exclusive))
    }
}

/// Patterns that match every text.
const MATCH_ALL: [&str; 4] = ["", "^", ".*", "^.*"];

pub(super) fn prove_string(view: &FlatView, rules: &StringRules) -> ProofResult {
    if rules.min > view.min_length {
        return doubt(format!("it may be shorter than {} characters", rules.min));
    }
    if let Some(max) = rules.max
        && view.max_length.is_none_or(|known| known > max)
    {
        return doubt(format!("it may be longer than {max} characters"));
    }
    if let Some(pattern) = &rules.pattern
        && !MATCH_ALL.contains(&pattern.as_str())
        && !view.patterns.contains(pattern)
    {
        return doubt(format!("it is not known to match the pattern `{pattern}`"));
    }
    if let Some(format) = &rules.format
        && !view.formats.contains(format)
    {
        return doubt(format!("it is not known to have the format `{format}`"));
    }
    Ok(())
}
