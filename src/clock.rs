//! The time of day, from a clock that may stand anywhere: a time that no calendar has is the nearest one that it has.
//! The only place that asks for it. Must not be used to measure how long something takes.

use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Returns the time.
pub fn now() -> Timestamp {
    timestamp(SystemTime::now())
}

/// Returns the time in the person's time zone.
pub fn local() -> Zoned {
    now().to_zoned(TimeZone::system())
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
