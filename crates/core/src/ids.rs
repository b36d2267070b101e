//! The small types that name things: runs, events, moments.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Names one run. Generated (UUIDv7) or chosen by the caller; cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String))]
pub struct RunId(Arc<str>);

impl RunId {
    /// A run id from any text; what is allowed in it is checked where runs are started.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the nth child of this run: `order-7~c1`.
    #[must_use]
    pub fn child(&self, n: u32) -> Self {
        Self::new(format!("{self}~c{n}"))
    }

    /// The id of the run that undoes this one, a completed child: `order-7~c1~undo`.
    #[must_use]
    pub fn undo(&self) -> Self {
        Self::new(format!("{self}~undo"))
    }

    /// The id of the run that starts what this one triggers: `order-7~triggers`. Retries of it are called after it.
    #[must_use]
    pub fn triggers(&self) -> Self {
        Self::new(format!("{self}~triggers"))
    }

    /// The id of the run that a trigger of this one starts, by the trigger's number and, if it has a list, the item's:
    /// `order-7~t0`, `order-7~t1.17`.
    #[must_use]
    pub fn triggered(&self, index: u32, item: Option<u32>) -> Self {
        match item {
            Some(item) => Self::new(format!("{self}~t{index}.{item}")),
            None => Self::new(format!("{self}~t{index}")),
        }
    }

    /// The id of the run that retries this one by itself: `order-7`, `order-7~1`, `order-7~2` …
    #[must_use]
    pub fn next_retry(&self) -> Self {
        let numbered = self.0.rsplit_once('~').and_then(|(id, n)| Some((id, n.parse::<u32>().ok()?)));
        let (id, n) = numbered.unwrap_or((&self.0, 0));
        Self::new(format!("{id}~{}", n.saturating_add(1)))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunId({})", self.0)
    }
}

impl From<&str> for RunId {
    fn from(id: &str) -> Self {
        Self::new(id)
    }
}

impl From<String> for RunId {
    fn from(id: String) -> Self {
        Self::new(id)
    }
}

/// The number of an event within its run: 1, 2, 3 … without gaps. Zero means "before the first".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first event.
    pub const ZERO: Self = Self(0);

    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A moment: milliseconds since the Unix epoch. Arithmetic saturates, and durations count in whole milliseconds.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use rival_core::Time;
///
/// let now = Time::from(SystemTime::now());
/// let later = now + Duration::from_secs(60);
/// assert_eq!(later.duration_since(now), Duration::from_secs(60));
/// assert_eq!(later - Duration::from_secs(60), now);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Time(pub i64);

impl Time {
    /// This moment plus a number of milliseconds.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// This moment minus a number of milliseconds.
    #[must_use]
    pub fn minus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX)))
    }

    /// Milliseconds from `earlier` to this moment; zero if `earlier` is later.
    pub fn ms_since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    pub fn duration_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.ms_since(earlier))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.plus_ms(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        self.minus_ms(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<SystemTime> for Time {
    fn from(moment: SystemTime) -> Self {
        match moment.duration_since(UNIX_EPOCH) {
            Ok(after) => Self(0) + after,
            Err(before) => Self(0) - before.duration(),
        }
    }
}

impl From<Time> for SystemTime {
    fn from(moment: Time) -> Self {
        let distance = Duration::from_millis(moment.0.unsigned_abs());
        let there =
            if moment.0 < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
        // Unix has all these moments; the calendars of other systems end some ten thousand years from now.
        there.unwrap_or(UNIX_EPOCH)
    }
}

/// In UTC, as RFC 3339 writes it: `2026-11-15T14:30:00.250Z`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
        let (year, month, day) = date(self.0.div_euclid(DAY_MS));
        let ms = self.0.rem_euclid(DAY_MS);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
    }
}

/// Year, month and day of a number of days since the Unix epoch. Counted in years that begin in March, so that the
/// day that leap years add is their last.
fn date(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 400 * 365 + 97;
    // From 1 March of the year 0 to 1 January 1970.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + next_year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_add_up_and_saturate() {
        let (then, day) = (Time(1_000), Duration::from_secs(24 * 3_600));
        assert_eq!((then + day).duration_since(then), day);
        assert_eq!(then.duration_since(then + day), Duration::ZERO);
        assert_eq!(then + day - day, then);
        assert_eq!((then + Duration::MAX, then - Duration::MAX), (Time(i64::MAX), Time(1_000 - i64::MAX)));
    }

    #[test]
    fn a_time_is_a_system_time_and_the_other_way_round() {
        for time in [Time(0), Time(1_709_251_199_250), Time(-1)] {
            assert_eq!(Time::from(SystemTime::from(time)), time);
        }
        assert_eq!(Time::from(UNIX_EPOCH + Duration::from_micros(1_500)), Time(1));
    }

    #[test]
    fn a_time_is_shown_as_a_date() {
        let shown = |ms: i64| Time(ms).to_string();
        assert_eq!(shown(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(shown(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(shown(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(shown(1_709_251_199_250), "2024-02-29T23:59:59.250Z");
        assert_eq!(shown(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(shown(253_402_300_799_999), "9999-12-31T23:59:59.999Z");
    }
}
