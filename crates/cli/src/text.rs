//! Moments and lengths of time for people.

use rival::Time;

/// A moment, in UTC: `2026-11-15 14:30:00`.
pub(crate) fn moment(at: Time) -> String {
    let text = at.to_string();
    text.split_once('.').map_or(text.clone(), |(whole, _)| whole.replace('T', " "))
}

/// A moment, in UTC, as short as it can be told from `now`: `14:30:00` today, else `11-15 14:30`, else `2025-11-15`.
pub(crate) fn recent(at: Time, now: Time) -> String {
    let (at, now) = (moment(at), moment(now));
    match (at.get(..10) == now.get(..10), at.get(..4) == now.get(..4)) {
        (true, _) => at.get(11..).unwrap_or(&at).to_owned(),
        (false, true) => at.get(5..16).unwrap_or(&at).to_owned(),
        (false, false) => at.get(..10).unwrap_or(&at).to_owned(),
    }
}

/// The time of day, in UTC, to the millisecond.
pub(crate) fn clock(at: Time) -> String {
    let text = at.to_string();
    text.split_once('T').map_or(text.clone(), |(_, clock)| clock.trim_end_matches('Z').to_owned())
}

/// A length of time, in the two largest units: `7 ms`, `0.8 s`, `42.0 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`.
pub(crate) fn length(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0 if ms < 100 => format!("{ms} ms"),
        0..60 => format!("{s}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {} s", s / 60, s % 60),
        3_600..86_400 => format!("{} h {} min", s / 3_600, s / 60 % 60),
        _ => format!("{} d {} h", s / 86_400, s / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(moment(Time(951_782_400_999)), "2000-02-29 00:00:00");
        assert_eq!(clock(Time(951_782_400_999)), "00:00:00.999");
        let (at, hour, year) = (951_782_400_999, 3_600_000, 8_784 * 3_600_000);
        let told = [at + hour, at + 30 * hour, at + year].map(|now| recent(Time(at), Time(now)));
        assert_eq!(told, ["00:00:00", "02-29 00:00", "2000-02-29"]);
        let shown = [7, 849, 59_999, 61_000, 7_800_000, 360_000_000].map(length);
        assert_eq!(shown, ["7 ms", "0.8 s", "59.9 s", "1 min 1 s", "2 h 10 min", "4 d 4 h"]);
    }
}
