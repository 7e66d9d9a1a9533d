//! Times in arguments, as people write them, resolved for the current time and zone.

use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// A time as a person means it: a moment, or a whole day or month.
#[derive(Debug, Clone, Copy)]
pub struct TimeArg {
    /// The start of it.
    pub start: Timestamp,
    /// The first moment after it; for a moment, the same as `start`.
    pub end: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write it like 7d, 36h, 2026-10-01, 2026-10, \"2026-10-01 14:00\", today or yesterday")]
pub struct TimeArgError;

impl FromStr for TimeArg {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        Self::parse(text, &crate::clock::local()).ok_or(TimeArgError)
    }
}

impl TimeArg {
    fn parse(text: &str, now: &Zoned) -> Option<Self> {
        let text = text.trim();
        let midnight = |day: Date| day.to_zoned(now.time_zone().clone()).ok().map(|at| at.timestamp());
        let from = |first: Date, length: Span| {
            Some(Self { start: midnight(first)?, end: midnight(first.checked_add(length).ok()?)? })
        };
        match text.to_ascii_lowercase().as_str() {
            "today" => return from(now.date(), 1.day()),
            "yesterday" => return from(now.date().yesterday().ok()?, 1.day()),
            _ => {}
        }
        let is_date = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_date {
            return from(text.parse().ok()?, 1.day());
        }
        let is_month = text.len() == 7 && text.as_bytes()[4] == b'-';
        if is_month && let Ok(first) = format!("{text}-01").parse() {
            return from(first, 1.month());
        }
        let start = if let Ok(exact) = text.parse::<Timestamp>() {
            exact
        } else if let Ok(local) = text.parse::<DateTime>() {
            local.to_zoned(now.time_zone().clone()).ok()?.timestamp()
        } else {
            let ago = text.parse::<Span>().ok().filter(|span| span.is_positive())?;
            now.checked_sub(ago).ok()?.timestamp()
        };
        Some(Self { start, end: start })
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    fn both(text: &str) -> (String, String) {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = "2026-10-15T12:30:00Z".parse::<Timestamp>().expect("a time").to_zoned(zone);
        let time_arg = TimeArg::parse(text, &now).expect(text);
        (time_arg.start.to_string(), time_arg.end.to_string())
    }

    #[test]
    fn a_time_is_meant_where_the_person_is() {
        for (text, start, end) in [
            ("7d", "2026-10-08T12:30:00Z", "2026-10-08T12:30:00Z"),
            ("36h", "2026-10-14T00:30:00Z", "2026-10-14T00:30:00Z"),
            ("2 weeks", "2026-10-01T12:30:00Z", "2026-10-01T12:30:00Z"),
            ("today", "2026-10-14T22:00:00Z", "2026-10-15T22:00:00Z"),
            ("yesterday", "2026-10-13T22:00:00Z", "2026-10-14T22:00:00Z"),
            ("2026-10-01", "2026-09-30T22:00:00Z", "2026-10-01T22:00:00Z"),
            ("2026-02", "2026-01-31T22:00:00Z", "2026-02-28T22:00:00Z"),
            ("2026-10-01 14:00", "2026-10-01T12:00:00Z", "2026-10-01T12:00:00Z"),
            ("2026-10-01T14:00:00Z", "2026-10-01T14:00:00Z", "2026-10-01T14:00:00Z"),
        ] {
            assert_eq!(both(text), (start.into(), end.into()), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_time() {
        for text in ["", "soon", "-7d", "2026-13-01", "2026-02-30", "0s", "7"] {
            assert_eq!(text.parse::<TimeArg>().map(|_| ()), Err(TimeArgError), "{text}");
        }
    }
}
