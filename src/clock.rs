//! The time of day, and the only code that asks for it. A system clock outside the calendar's range
//! gives the nearest valid time. Must not be used to measure durations.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Returns the time.
pub fn now() -> Timestamp {
    timestamp(SystemTime::now())
}

/// Returns the time in the person's time zone.
pub fn local() -> Zoned {
    now().to_zoned(zone())
}

/// Returns the person's time zone. Without a variable that names another it is in the system's own
/// file; to find it by its name, the whole folder of zones would be listed at every stop.
fn zone() -> TimeZone {
    let is_named = std::env::var_os("TZ").is_some();
    let file = if is_named { None } else { std::fs::read("/etc/localtime").ok() };
    let of_file = file.and_then(|bytes| TimeZone::tzif("local", &bytes).ok());
    of_file.unwrap_or_else(TimeZone::system)
}

fn timestamp(time: SystemTime) -> Timestamp {
    let is_past = time < SystemTime::UNIX_EPOCH;
    Timestamp::try_from(time).unwrap_or(if is_past { Timestamp::MIN } else { Timestamp::MAX })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_zone_of_the_systems_file_is_the_one_that_is_found_by_its_name() {
        for time in ["2026-01-15T12:00:00Z", "2026-07-15T12:00:00Z"] {
            let time: Timestamp = time.parse().expect("a time");
            assert_eq!(zone().to_offset(time), TimeZone::system().to_offset(time));
        }
    }

    #[test]
    fn a_clock_that_jumped_far_was_a_panic() {
        let far = Duration::from_secs(1 << 39);
        let (future, past) = (SystemTime::UNIX_EPOCH + far, SystemTime::UNIX_EPOCH - far);
        assert_eq!((timestamp(future), timestamp(past)), (Timestamp::MAX, Timestamp::MIN));
        assert_eq!(timestamp(SystemTime::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
        for end in [Timestamp::MAX, Timestamp::MIN] {
            assert!(!end.to_zoned(TimeZone::system()).to_string().is_empty());
            assert!(!format!("{end:.3} {}", end.strftime("%Y-%m.jsonl")).is_empty());
        }
    }
}
