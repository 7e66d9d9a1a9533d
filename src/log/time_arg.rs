//! Times as people write them in arguments, and what they mean now and here. Pure.

use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan, Zoned};

/// A time as it was written.
#[derive(Debug, Clone, Copy)]
pub enum TimeArg {
    /// So long before now.
    Ago(Span),
    /// A whole day, so many days before today.
    DaysBefore(i64),
    /// A whole day.
    Day(Date),
    /// A whole month, by its first day.
    Month(Date),
    /// A time of a day, in the local time zone.
    Local(DateTime),
    /// A time with its zone.
    Exact(Timestamp),
}

/// It is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write it like 7d, 36h, 2026-10-01, 2026-10, \"2026-10-01 14:00\", today or yesterday")]
pub struct TimeArgError;

impl FromStr for TimeArg {
    type Err = TimeArgError;

    fn from_str(text: &str) -> Result<Self, TimeArgError> {
        let text = text.trim();
        match text.to_ascii_lowercase().as_str() {
            "today" => return Ok(Self::DaysBefore(0)),
            "yesterday" => return Ok(Self::DaysBefore(1)),
            _ => {}
        }
        if let Ok(exact) = text.parse() {
            return Ok(Self::Exact(exact));
        }
        let is_date = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_date {
            return text.parse().map(Self::Day).map_err(|_| TimeArgError);
        }
        let is_month = text.len() == 7 && text.as_bytes()[4] == b'-';
        if is_month && let Ok(first) = format!("{text}-01").parse() {
            return Ok(Self::Month(first));
        }
        if let Ok(local) = text.parse() {
            return Ok(Self::Local(local));
        }
        let span: Span = text.parse().map_err(|_| TimeArgError)?;
        if span.is_positive() { Ok(Self::Ago(span)) } else { Err(TimeArgError) }
    }
}

impl TimeArg {
    /// The first moment of it.
    pub fn start(self, now: &Zoned) -> Option<Timestamp> {
        let midnight = |day: Date| midnight(day, now.time_zone());
        match self {
            Self::Ago(span) => now.checked_sub(span).ok().map(|then| then.timestamp()),
            Self::DaysBefore(days) => midnight(now.date().checked_sub(days.days()).ok()?),
            Self::Day(day) | Self::Month(day) => midnight(day),
            Self::Local(local) => local.to_zoned(now.time_zone().clone()).ok().map(|at| at.timestamp()),
            Self::Exact(exact) => Some(exact),
        }
    }

    /// The first moment after it.
    pub fn end(self, now: &Zoned) -> Option<Timestamp> {
        let midnight = |day: Date| midnight(day, now.time_zone());
        match self {
            Self::DaysBefore(days) => midnight(now.date().checked_sub((days - 1).days()).ok()?),
            Self::Day(day) => midnight(day.checked_add(1.day()).ok()?),
            Self::Month(first) => midnight(first.checked_add(1.month()).ok()?),
            Self::Ago(_) | Self::Local(_) | Self::Exact(_) => self.start(now),
        }
    }
}

fn midnight(day: Date, zone: &TimeZone) -> Option<Timestamp> {
    day.to_zoned(zone.clone()).ok().map(|at| at.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> (String, String) {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = "2026-10-15T12:30:00Z".parse::<Timestamp>().expect("a time").to_zoned(zone);
        let time_arg: TimeArg = text.parse().expect(text);
        let text = |time: Option<Timestamp>| time.expect("in range").to_string();
        (text(time_arg.start(&now)), text(time_arg.end(&now)))
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
