//! Numbers and texts at and beside the bounds of both sides.

use serde_json::{Number, Value};

use crate::flat::FlatView;
use crate::judge::format_sample;
use crate::kinds::KindSet;
use crate::node::{NumberBound, SchemaNode};
use crate::number::{from_whole, whole};
use crate::workspace::Workspace;

/// Longer texts are not made.
const LENGTH_MAX: u64 = 2_000;

/// Scalars that the left side may allow and the right side may refuse.
pub(super) fn scalars(space: &Workspace, view: &FlatView, to: &SchemaNode) -> Vec<Value> {
    let mut found = Vec::new();
    if view.kinds.meets(KindSet::NUMBER) {
        let bounds = [&view.low, &view.high, &to.number.low, &to.number.high];
        let multiples = view.multiples.iter().chain(&to.number.multiple);
        found.extend(numbers(bounds.into_iter().flatten(), multiples));
    }
    if view.kinds.meets(KindSet::STRING) {
        let lengths = [Some(to.string.min), to.string.max];
        let patterns = view.patterns.iter().chain(&to.string.pattern);
        let formats = view.formats.iter().chain(&to.string.format);
        found.extend(texts(space, view, lengths.into_iter().flatten(), patterns, formats));
    }
    found
}

/// Numbers at the bounds and around them, and multiples.
pub(super) fn numbers<'a>(
    bounds: impl Iterator<Item = &'a NumberBound>,
    multiples: impl Iterator<Item = &'a Number>,
) -> Vec<Value> {
    let mut found = vec![Value::from(0), Value::from(1), Value::from(-1), Value::from(0.5), Value::from(7)];
    let mut places: Vec<Number> = bounds.map(|bound| bound.value.clone()).collect();
    let multiples: Vec<Number> = multiples.cloned().collect();
    found.extend(multiples.iter().flat_map(around));
    for multiple in &multiples {
        let Some(step) = whole(multiple).filter(|step| *step > 0) else { continue };
        // The first multiples inside of each bound.
        let near = places.iter().filter_map(whole).flat_map(|place| {
            let below = place - place.rem_euclid(step);
            [below - step, below, below + step]
        });
        found.extend(near.filter_map(from_whole));
    }
    places.dedup();
    found.extend(places.iter().flat_map(around));
    found
}

fn around(number: &Number) -> Vec<Value> {
    let mut found = vec![Value::Number(number.clone())];
    match whole(number) {
        Some(number) => {
            let near = [number - 1, number + 1, number.saturating_mul(2), number.saturating_mul(3)];
            found.extend(near.into_iter().filter_map(from_whole));
        }
        None => {
            let float = number.as_f64().unwrap_or_default();
            found.extend([float.floor(), float.ceil(), float * 2.0].map(Value::from));
        }
    }
    let float = number.as_f64().unwrap_or_default();
    found.extend([float - 0.5, float + 0.5, float + 0.25, float + 0.001, float - 0.001].map(Value::from));
    found
}

/// Texts of lengths at the bounds and around them, and such as match.
pub(super) fn texts<'a>(
    space: &Workspace,
    view: &FlatView,
    lengths: impl Iterator<Item = u64>,
    patterns: impl Iterator<Item = &'a String>,
    formats: impl Iterator<Item = &'a String>,
) -> Vec<Value> {
    let mut found: Vec<Value> = ["", "text", "0", "-"].map(Value::from).to_vec();
    found.extend(formats.filter_map(|format| format_sample(format)).map(Value::from));
    for pattern in patterns {
        let samples = space.pattern(pattern).map(|pattern| pattern.samples()).unwrap_or_default();
        found.extend(samples.into_iter().map(Value::from));
    }
    let own = [Some(view.min_length), view.max_length].into_iter().flatten();
    let mut lengths: Vec<u64> =
        lengths.chain(own).flat_map(|it| [it.saturating_sub(1), it, it.saturating_add(1)]).collect();
    lengths.sort_unstable();
    lengths.dedup();
    for length in lengths.into_iter().filter(|length| *length <= LENGTH_MAX) {
        let length = usize::try_from(length).unwrap_or_default();
        found.extend(["a", "A", "0", "!", " "].map(|text| Value::from(text.repeat(length))));
    }
    found
}
