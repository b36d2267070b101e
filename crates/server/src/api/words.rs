//! Durations, times and lists as they are written in queries.

use std::time::Duration;

use rival_api::{TimeParam, duration};
use rival_core::{RunStatus, Seq, Time};
use serde_json::Value as Json;

use super::extract::bad_request;
use crate::problem::HttpProblem;

/// The longest that a request waits for a run.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(3600);

/// A duration that a request may wait.
pub(crate) fn wait(name: &str, text: &str) -> Result<Duration, HttpProblem> {
    let wrong =
        || bad_request(format!("`{name}` is `{text}`: write a duration such as 500ms, 30s, 5m or 1h"));
    match duration::parse(text).ok_or_else(wrong)? {
        long if long > WAIT_MAX => {
            Err(bad_request(format!("`{name}` is `{text}`: at most 1h, then ask again")))
        }
        short => Ok(short),
    }
}

/// Milliseconds since 1970, or RFC 3339 with a zone.
pub(crate) fn time(name: &str, text: &str) -> Result<Time, HttpProblem> {
    if let Ok(ms) = text.parse() {
        return Ok(Time(ms));
    }
    let parsed: Result<jiff::Timestamp, _> = text.parse();
    parsed.map(|at| Time(at.as_millisecond())).map_err(|_| {
        bad_request(format!(
            "`{name}` is `{text}`: write milliseconds since 1970, or a time such as 2026-11-15T14:30:00Z"
        ))
    })
}

/// A time in a body.
pub(crate) fn moment(name: &str, given: TimeParam) -> Result<Time, HttpProblem> {
    match given {
        TimeParam::Ms(ms) => Ok(Time(ms)),
        TimeParam::Text(text) => time(name, &text),
    }
}

/// A place in a list, from which on it is read.
pub(crate) fn place(name: &str, given: Option<i64>) -> Result<Option<Seq>, HttpProblem> {
    let place = |given| match u64::try_from(given) {
        Ok(place) => Ok(Seq(place)),
        Err(_) => Err(bad_request(format!("`{name}` is {given}: it cannot be less than 0"))),
    };
    given.map(place).transpose()
}

/// Where the page before ended.
pub(crate) fn cursor(text: &str) -> Result<i64, HttpProblem> {
    text.parse().map_err(|_| {
        bad_request(format!("`cursor` is `{text}`: give the cursor of the page before, as it is"))
    })
}

/// Where the page before ended, in a list whose items are numbered from 1.
pub(crate) fn seq_cursor(text: &str) -> Result<Seq, HttpProblem> {
    place("cursor", Some(cursor(text)?)).map(Option::unwrap_or_default)
}

/// `failed,cancelled`.
pub(crate) fn statuses(text: &str) -> Result<Vec<RunStatus>, HttpProblem> {
    if text.trim().is_empty() {
        return Err(no_status());
    }
    let words = text.split(',').map(str::trim);
    words.map(|word| word.parse().map_err(|error| bad_request(format!("{error}")))).collect()
}

/// An empty list could mean all or none, and a client that sends one by mistake means neither.
pub(crate) fn no_status() -> HttpProblem {
    bad_request("`status` is empty: name at least one, or leave it out for all")
}

/// A condition on an input: `customer.id=42`.
#[derive(Debug)]
pub(crate) struct InputCondition {
    path: Vec<String>,
    value: String,
}

impl InputCondition {
    pub(crate) fn parse(text: &str) -> Result<Self, HttpProblem> {
        match text.split_once('=') {
            Some((path, value)) if !path.is_empty() => {
                Ok(Self { path: path.split('.').map(str::to_owned).collect(), value: value.to_owned() })
            }
            _ => Err(bad_request(format!("`input` is `{text}`: write field=value, such as customer.id=42"))),
        }
    }

    /// Whether the field has this value: as a text, or as the JSON that it is written as.
    pub(crate) fn holds(&self, input: &Json) -> bool {
        let field = self.path.iter().try_fold(input, |at, key| match at {
            Json::Object(fields) => fields.get(key),
            Json::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        });
        field.is_some_and(|field| match field {
            Json::String(text) => *text == self.value,
            other => serde_json::from_str(&self.value).is_ok_and(|value: Json| value == *other),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_waits_for_an_hour_at_most() {
        let ms = |text| wait("wait", text).map(|it| it.as_millis()).ok();
        assert_eq!([ms("500ms"), ms("60m"), ms("1h")], [Some(500), Some(3_600_000), Some(3_600_000)]);
        assert_eq!([ms("61m"), ms("1d"), ms("30"), ms("")], [None; 4]);
    }

    #[test]
    fn times_are_milliseconds_or_rfc_3339() {
        let ms = |text| time("from", text).map(|at| at.0).ok();
        assert_eq!(ms("1700000000000"), Some(1_700_000_000_000));
        assert_eq!(ms("2023-11-14T22:13:20Z"), Some(1_700_000_000_000));
        assert_eq!(ms("2023-11-14T23:13:20+01:00"), Some(1_700_000_000_000));
        assert_eq!([ms("yesterday"), ms(""), ms("2023-11-14")], [None; 3]);
    }

    #[test]
    fn conditions_look_into_the_input() {
        let input = json!({"customer": {"id": 42, "name": "Ada", "vip": true}, "items": ["tea", {"n": 1}], "code": "7"});
        let holds = |text| InputCondition::parse(text).unwrap().holds(&input);
        for right in [
            "customer.id=42",
            "customer.name=Ada",
            "customer.vip=true",
            "items.0=tea",
            "items.1.n=1",
            "code=7",
        ] {
            assert!(holds(right), "{right}");
        }
        for wrong in
            ["customer.id=43", "customer=Ada", "nobody=1", "items.7=tea", "items.x=tea", "code=\"7\""]
        {
            assert!(!holds(wrong), "{wrong}");
        }
        assert!(InputCondition::parse("customer").is_err());
        assert!(InputCondition::parse("=1").is_err());
    }
}
