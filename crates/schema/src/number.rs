//! Numbers compared as the numbers that they are, not as floats.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Beyond this a float is not made an integer: what it counts is lost anyway.
const WHOLE_MAX: f64 = 1e30;

/// The whole number that this is; `1.0` is one, as in JSON Schema since draft-06.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    if let Some(it) = number.as_i64() {
        return Some(i128::from(it));
    }
    if let Some(it) = number.as_u64() {
        return Some(i128::from(it));
    }
    let float = number.as_f64()?;
    let is_whole = float.fract() == 0.0 && float.abs() < WHOLE_MAX;
    #[expect(clippy::cast_possible_truncation, reason = "whole, and far inside of the range")]
    is_whole.then_some(float as i128)
}

/// Whether this is a whole number.
pub(crate) fn is_integer(number: &Number) -> bool {
    whole(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The order of two numbers, exact also where one is a float and the other an integer that no float holds.
pub(crate) fn compare(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => compare_whole(left, float(right)),
        (None, Some(right)) => compare_whole(right, float(left)).reverse(),
        (None, None) => float(left).total_cmp(&float(right)),
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::INFINITY)
}

/// An integer against a float that has a fraction or is huge.
fn compare_whole(left: i128, right: f64) -> Ordering {
    if right.abs() >= WHOLE_MAX {
        return if right > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "the floor is whole, and inside of the range")]
    let floor = right.floor() as i128;
    if left <= floor { Ordering::Less } else { Ordering::Greater }
}

/// Whether the number is a multiple; `None` where fractions would have to be divided, on which validators differ.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> Option<bool> {
    match (whole(number), whole(of)) {
        (Some(0), _) => Some(true),
        (_, Some(0)) => None,
        (Some(number), Some(of)) => Some(number % of == 0),
        (None, Some(_)) if !is_integer(number) => Some(false),
        _ => (number == of).then_some(true),
    }
}

/// A number that JSON can hold.
pub(crate) fn from_whole(number: i128) -> Option<Value> {
    let small = i64::try_from(number).ok().map(Value::from);
    small.or_else(|| u64::try_from(number).ok().map(Value::from))
}

/// Whether two values are the same in JSON Schema: `1` and `1.0` are.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn number(value: impl Into<Value>) -> Number {
        value.into().as_number().unwrap().clone()
    }

    #[test]
    fn integers_that_no_float_holds_are_told_apart() {
        let (big, bigger) =
            (number(json!(9_007_199_254_740_993_i64)), number(json!(9_007_199_254_740_992.0)));
        assert_eq!(compare(&big, &bigger), Ordering::Greater);
        assert_eq!(compare(&number(json!(1)), &number(json!(1.5))), Ordering::Less);
        assert_eq!(compare(&number(json!(-1)), &number(json!(-1.5))), Ordering::Greater);
        assert_eq!(compare(&number(json!(u64::MAX)), &number(json!(1e300))), Ordering::Less);
        assert_eq!(compare(&number(json!(2.0)), &number(json!(2))), Ordering::Equal);
    }

    #[test]
    fn multiples_of_fractions_are_left_open() {
        assert_eq!(is_multiple(&number(json!(6)), &number(json!(3))), Some(true));
        assert_eq!(is_multiple(&number(json!(7)), &number(json!(3))), Some(false));
        assert_eq!(is_multiple(&number(json!(1.5)), &number(json!(3))), Some(false));
        assert_eq!(is_multiple(&number(json!(0.3)), &number(json!(0.1))), None);
    }

    #[test]
    fn numbers_inside_of_values_are_compared_as_numbers() {
        assert!(equal(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 1, "b": 1})));
    }
}
