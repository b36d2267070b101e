//! Time zones, from the database that is part of the program: hosts read no files.

#![expect(clippy::needless_pass_by_value, reason = "rquickjs gives arguments by value")]
#![expect(clippy::cast_precision_loss, reason = "seconds of the years that are asked for are exact")]

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use rquickjs::{Ctx, Exception, Result, TypedArray};

/// Changes are counted up to the year 2100; from then on the last offset stays.
const LAST: i64 = 4_102_444_800;

/// The names of all zones.
pub(super) fn names() -> Vec<String> {
    TimeZoneDatabase::bundled().available().map(|name| name.as_str().to_owned()).collect()
}

/// When the offset of a zone changed: seconds since 1970, the offset in seconds, 1 if it is summer time.
pub(super) fn changes(ctx: Ctx<'_>, name: String) -> Result<TypedArray<'_, f64>> {
    let zone = TimeZoneDatabase::bundled().get(&name);
    let zone = zone.map_err(|error| Exception::throw_range(&ctx, &error.to_string()))?;
    TypedArray::new(ctx, numbers(&zone))
}

fn numbers(zone: &TimeZone) -> Vec<f64> {
    let first = zone.to_offset_info(Timestamp::MIN);
    // Before anything that a date can be.
    let mut numbers =
        vec![-1e15, f64::from(first.offset().seconds()), f64::from(u8::from(first.dst().is_dst()))];
    for change in zone.following(Timestamp::MIN).take_while(|it| it.timestamp().as_second() < LAST) {
        let is_summer = f64::from(u8::from(change.dst().is_dst()));
        let since = change.timestamp().as_second() as f64;
        numbers.extend([since, f64::from(change.offset().seconds()), is_summer]);
    }
    numbers
}
