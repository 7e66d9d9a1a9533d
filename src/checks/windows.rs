//! When the commands of a session ran: what was written at another time is somebody else's. Pure.

use std::ops::RangeInclusive;

use crate::session::{CommandEnd, Session};

/// Times of one command, in nanoseconds since 1970.
pub type Window = RangeInclusive<u128>;

/// A file system may keep whole seconds only, and cut the rest off.
pub const COARSEST_NS: u128 = 1_000_000_000;

/// The kernel takes the time of a change from its last tick, a hundredth of a second ago at most.
const TICK_NS: u128 = 10_000_000;

/// Whether what was changed at a time was changed in one of the windows.
pub fn are_within(windows: &[Window], changed: u128) -> bool {
    let slack = if changed.is_multiple_of(COARSEST_NS) { COARSEST_NS } else { TICK_NS };
    windows.iter().any(|window| window.start().saturating_sub(slack) < changed && changed <= *window.end())
}

/// The times at which commands of a session may have changed something, those before `since` left
/// out. `started` is when it began, `now` this stop, all in milliseconds since 1970: for a command
/// whose times are not known, and for one that may run still.
pub fn windows(session: &Session, started: Option<i64>, now: i64, since: Option<i64>) -> Vec<Window> {
    let mut windows: Vec<Window> = session
        .commands
        .iter()
        .filter(|command| command.may_have_effects())
        .filter_map(|command| {
            let is_over = command.end != CommandEnd::Background;
            let end = command.ended.filter(|_| is_over).unwrap_or(now);
            Some(window(command.time.or(started)?, end))
        })
        .collect();
    // Of the oldest commands of a long session only their number is known.
    let first = session.commands.first().and_then(|command| command.time).unwrap_or(now);
    windows.extend(started.filter(|_| session.forgotten.commands).map(|started| window(started, first)));
    if let Some(since) = since.map(nanos) {
        windows.retain(|window| *window.end() >= since);
        for window in &mut windows {
            *window = since.max(*window.start())..=*window.end();
        }
    }
    windows
}

fn window(from_ms: i64, to_ms: i64) -> Window {
    // The end is a whole millisecond, and cut off.
    nanos(from_ms)..=nanos(to_ms) + 999_999
}

fn nanos(ms: i64) -> u128 {
    u128::try_from(ms).unwrap_or_default() * 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Command;
    use crate::testing::command;

    const SECOND: u128 = 1_000_000_000;

    fn at(line: &str, time: Option<i64>, ended: Option<i64>) -> Command {
        Command { time, ended, ..command(line, 1) }
    }

    fn is_within(session: &Session, second: u128) -> bool {
        are_within(&windows(session, Some(1_000), 90_000, None), second * SECOND)
    }

    /// What a person had saved a moment before made a check due.
    #[test]
    fn only_a_time_in_whole_seconds_may_lie_before_the_command() {
        let session =
            Session { commands: vec![at("make", Some(10_400), Some(12_000))], ..Session::default() };
        let windows = windows(&session, None, 90_000, None);
        let within = |ms: u128| are_within(&windows, ms * 1_000_000);
        assert!(!within(10_100) && !within(10_389));
        assert!(within(10_000), "in whole seconds, cut off");
        assert!(within(10_395) && within(10_400) && within(12_000) && !within(12_001));
    }

    #[test]
    fn what_was_changed_before_the_time_asked_for_is_left_out() {
        let commands = vec![at("make", Some(10_000), Some(12_000)), at("make b", Some(20_000), Some(25_000))];
        let session = Session { commands, ..Session::default() };
        let windows = windows(&session, None, 90_000, Some(22_500));
        assert_eq!(windows, [22_500_000_000..=25_000_999_999]);
    }

    #[test]
    fn what_was_written_while_no_command_ran_is_not_the_sessions() {
        let commands = vec![
            at("sed -i s/a/b/ x", Some(10_000), Some(12_000)),
            at("ls", Some(20_000), Some(22_000)),
            at("make", Some(30_000), Some(33_000)),
        ];
        let session = Session { commands, ..Session::default() };
        let within: Vec<u128> = (0..90).filter(|second| is_within(&session, *second)).collect();
        assert_eq!(within, [10, 11, 12, 30, 31, 32, 33]);
    }

    #[test]
    fn a_command_that_may_run_still_or_whose_times_nobody_knows_leaves_it_open() {
        let background = Command { end: CommandEnd::Background, ..at("make", Some(10_000), Some(10_100)) };
        for (commands, first) in [(vec![background], 10), (vec![at("make", None, None)], 1)] {
            let session = Session { commands, ..Session::default() };
            let within: Vec<u128> = (0..=90).filter(|second| is_within(&session, *second)).collect();
            assert_eq!((within.first(), within.last()), (Some(&first), Some(&90)));
        }
    }
}
