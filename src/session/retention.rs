//! Bounds the size of a session: old entries are shortened, then dropped. Pure. Must not lose what tells how a session
//! ended, nor drop anything without saying so ([`Forgotten`]).
//!
//! What is dropped depends on the rows alone, never on how often they were read, so that a session read in pieces is the
//! same as one read at once.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::session::{Command, CommandEnd, Outcome, Session};
use crate::text::{first_part, last_part, start_and_end};

/// What was dropped from a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// How much of the work done.
    pub work: usize,
    #[serde(default)]
    pub asks: usize,
    /// How many of the agent's remarks.
    #[serde(default)]
    pub remarks: usize,
    /// Whether any file that was changed is not named in it any more.
    pub files: bool,
    pub commands: bool,
    /// The position of the newest entry that was dropped: nothing is missing after that.
    pub until: usize,
}

/// Commands: when to trim them, and how many of the newest are left as they are.
const COMMANDS: usize = 1_200;
const COMMAND_BYTES: usize = 384 << 10;
const NEWEST_COMMANDS: usize = 300;
const NEWEST_COMMAND_BYTES: usize = 128 << 10;
/// How much is kept of the line of an older command and, where it did not succeed, of its output. A cut text with its
/// mark must not be longer than one that is left as it is, or it would be cut again and again.
const OLD_COMMAND_PART: usize = 120;
const OLD_COMMAND_WHOLE: usize = 160;
/// How much is kept of the line and the output of an older check, as long as there is room: the output says whether the
/// tests passed.
const OLD_CHECK_PART: usize = 440;
const OLD_CHECK_WHOLE: usize = 480;
const OLD_CHECK_BYTES: usize = 64 << 10;
/// How many older commands are kept. With the newest ones this is well below the number at which they are trimmed.
const OLD_COMMANDS: usize = 500;

/// Touches: when to trim them, and how many of the newest stay in any case.
const TOUCHES: usize = 900;
const NEWEST_TOUCHES: usize = 300;
/// How many are left where a session changed that many files.
const LEAST_TOUCHES: usize = 600;
/// Bytes of changes: when to trim them; half of it is left.
const CHANGE_BYTES: usize = 256 << 10;

/// Asks: when to trim them, and how many of the newest are left as they are. Older ones are cut to their start and end,
/// and dropped only where that is still too much.
const ASKS: usize = 400;
const ASK_BYTES: usize = 192 << 10;
const NEWEST_ASKS: usize = 200;
const NEWEST_ASK_BYTES: usize = 48 << 10;
const OLD_ASK_PART: usize = 440;
const OLD_ASK_WHOLE: usize = 480;
const MOST_ASK_BYTES: usize = 144 << 10;

/// Remarks: when to trim them, and how many of the newest are left. Of older ones those stay that the person had read
/// when they asked for more.
const REMARKS: usize = 600;
const REMARK_BYTES: usize = 192 << 10;
const NEWEST_REMARKS: usize = 150;
const NEWEST_REMARK_BYTES: usize = 48 << 10;
const OLD_REMARKS: usize = 200;
const OLD_REMARK_BYTES: usize = 96 << 10;

/// Reports of subagents: when to trim them, how much of the newest stays, and how much of each older one.
const REPORT_BYTES: usize = 192 << 10;
const NEWEST_REPORT_BYTES: usize = 64 << 10;
const OLD_REPORT_PART: usize = 440;
const OLD_REPORT_WHOLE: usize = 480;

/// Lists of which only the newest entries matter.
const READS: usize = 500;
const DELEGATIONS: usize = 200;
const PLANS: usize = 16;
const OTHER_TOOLS: usize = 256;

/// The sizes in bytes of the parts of a session that can grow, and how many entries were dropped from its lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Of command lines and outputs.
    pub commands: usize,
    pub changes: usize,
    pub asks: usize,
    pub remarks: usize,
    /// Of subagents' reports.
    pub reports: usize,
    /// Delegations that were dropped: the others are numbered from there.
    pub dropped_delegations: usize,
    /// The same for files that were read.
    pub dropped_reads: usize,
}

/// The new index of each entry of a list, by its old one; `None` for one that was dropped.
pub type Moved = Vec<Option<usize>>;

/// Shortens and drops old commands, if there are too many.
pub fn trim_commands(session: &mut Session, sizes: &mut Sizes) -> Option<Moved> {
    if session.commands.len() <= COMMANDS && sizes.commands <= COMMAND_BYTES {
        return None;
    }
    let lengths = session.commands.iter().map(|command| command.line.len() + command.output.len());
    let old = session.commands.len() - count_newest(lengths, NEWEST_COMMANDS, NEWEST_COMMAND_BYTES);
    let gone = old.saturating_sub(OLD_COMMANDS);
    let mut room = OLD_CHECK_BYTES;
    for command in session.commands[gone..old].iter_mut().rev() {
        room = shorten_command(command, room);
    }
    let moved = (0..session.commands.len()).map(|at| at.checked_sub(gone)).collect::<Moved>();
    for command in session.commands.drain(..gone) {
        session.forgotten.commands = true;
        session.forgotten.until = session.forgotten.until.max(command.at);
        // It counts as work even if it only looked: the count must not get less.
        session.forgotten.work += usize::from(command.end != CommandEnd::Unanswered);
    }
    sizes.commands = session.commands.iter().map(|command| command.line.len() + command.output.len()).sum();
    session.masked.commands = count_left(&moved[..session.masked.commands]);
    Some(moved)
}

/// Shortens an older command; returns how much of the room for checks is left.
fn shorten_command(command: &mut Command, room: usize) -> usize {
    if is_check(command) {
        shorten(command.line.text_mut(), OLD_CHECK_WHOLE, |line| first_part(line, OLD_CHECK_PART));
        shorten(&mut command.output, OLD_CHECK_WHOLE, |output| last_part(output, OLD_CHECK_PART));
        if let Some(left) = room.checked_sub(command.line.len() + command.output.len()) {
            return left;
        }
    }
    shorten(command.line.text_mut(), OLD_COMMAND_WHOLE, |line| first_part(line, OLD_COMMAND_PART));
    if command.end == CommandEnd::Succeeded {
        command.output = String::new();
    } else {
        shorten(&mut command.output, OLD_COMMAND_WHOLE, |output| last_part(output, OLD_COMMAND_PART));
    }
    room
}

/// Returns whether the output of a command says how the work stands: tests, builds, lints, git and gh.
fn is_check(command: &Command) -> bool {
    command.line.check().is_some() || command.line.runs_any(&["git", "gh"])
}

fn shorten(text: &mut String, whole: usize, part: impl Fn(&str) -> String) {
    if text.len() > whole {
        *text = part(text);
    }
}

/// Drops the changes of old touches and then the touches, if there are too many. Of each file the first and the last
/// touch that was done stay.
pub fn trim_touches(session: &mut Session, sizes: &mut Sizes) -> Option<Moved> {
    if sizes.changes > CHANGE_BYTES {
        drop_changes(session, sizes);
    }
    if session.touches.len() <= TOUCHES {
        return None;
    }
    let old = session.touches.len() - NEWEST_TOUCHES;
    let (mut first, mut last) = (HashMap::new(), HashMap::new());
    for (at, touch) in session.touches.iter().enumerate().filter(|(_, touch)| touch.outcome == Outcome::Done)
    {
        first.entry(touch.path.as_str()).or_insert(at);
        last.insert(touch.path.as_str(), at);
    }
    let mut stays: Vec<bool> = session
        .touches
        .iter()
        .enumerate()
        .map(|(at, touch)| {
            let path = touch.path.as_str();
            let tells = [&first, &last].iter().any(|places| places.get(path) == Some(&at));
            at >= old || tells || touch.outcome == Outcome::Unanswered
        })
        .collect();
    let too_many = stays.iter().filter(|stays| **stays).count().saturating_sub(LEAST_TOUCHES);
    stays.iter_mut().filter(|stays| **stays).take(too_many).for_each(|stays| *stays = false);
    let named: HashSet<String> = session
        .touches
        .iter()
        .zip(&stays)
        .filter(|(_, stays)| **stays)
        .map(|(touch, _)| touch.path.clone())
        .collect();
    let mut at = 0;
    let mut kept = 0;
    let mut moved = Moved::new();
    let forgotten = &mut session.forgotten;
    session.touches.retain(|touch| {
        let stay = stays[at];
        if !stay {
            forgotten.until = forgotten.until.max(touch.at);
            forgotten.work += usize::from(touch.outcome == Outcome::Done);
            forgotten.files |= !named.contains(&touch.path);
        }
        at += 1;
        moved.push(stay.then_some(kept));
        kept += usize::from(stay);
        stay
    });
    session.masked.touches = count_left(&moved[..session.masked.touches]);
    Some(moved)
}

fn count_left(moved: &[Option<usize>]) -> usize {
    moved.iter().flatten().count()
}

fn drop_changes(session: &mut Session, sizes: &mut Sizes) {
    let mut left = 0;
    for touch in session.touches.iter_mut().rev() {
        let bytes = touch.change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
        if bytes > 0 && left + bytes > CHANGE_BYTES / 2 {
            touch.forget_change();
            // Nothing older stays either, so that all changes from one touch on are known.
            left = CHANGE_BYTES;
        } else {
            left += bytes;
        }
    }
    let kept = session.touches.iter().filter_map(|touch| touch.change.as_ref());
    sizes.changes = kept.map(|change| change.old.len() + change.new.len()).sum();
}

/// Shortens and drops old asks, if there are too many. The first one says what the session is about, and stays.
pub fn trim_asks(session: &mut Session, sizes: &mut Sizes) {
    if session.asks.len() <= ASKS && sizes.asks <= ASK_BYTES {
        return;
    }
    let newest = count_newest(session.asks.iter().map(|ask| ask.text.len()), NEWEST_ASKS, NEWEST_ASK_BYTES);
    let old = session.asks.len() - newest.max(1);
    for ask in session.asks[..old].iter_mut().skip(1) {
        shorten(&mut ask.text, OLD_ASK_WHOLE, |text| start_and_end(text, OLD_ASK_PART));
    }
    let most = if session.asks.len() > ASKS { NEWEST_ASKS } else { ASKS };
    let kept = count_newest(session.asks.iter().map(|ask| ask.text.len()), most, MOST_ASK_BYTES);
    let old = session.asks.len() - kept.max(1);
    let gone = 1.min(old)..old;
    session.masked.asks -= gone.clone().filter(|at| *at < session.masked.asks).count();
    session.forgotten.asks += session.asks.drain(gone).count();
    sizes.asks = session.asks.iter().map(|ask| ask.text.len()).sum();
}

/// Returns how many entries at the end of a list fit into a number of entries and a number of bytes.
fn count_newest(lengths: impl DoubleEndedIterator<Item = usize>, most: usize, most_bytes: usize) -> usize {
    let mut bytes = 0;
    let is_within = |length: &usize| {
        bytes += length;
        bytes <= most_bytes
    };
    lengths.rev().take(most).take_while(is_within).count()
}

/// Drops old remarks, if there are too many, except those that ended a turn or that the person answered.
pub fn trim_remarks(session: &mut Session, sizes: &mut Sizes) {
    if session.remarks.len() <= REMARKS && sizes.remarks <= REMARK_BYTES {
        return;
    }
    let remarks = &session.remarks;
    let lengths = remarks.iter().map(|remark| remark.text.len());
    let old = remarks.len() - count_newest(lengths, NEWEST_REMARKS, NEWEST_REMARK_BYTES);
    let mut asks = session.asks.iter().map(|ask| ask.at).peekable();
    let mut stays: Vec<bool> = remarks.iter().map(|remark| remark.ends_turn).collect();
    for (index, remark) in remarks.iter().enumerate() {
        let next = remarks.get(index + 1).map_or(usize::MAX, |next| next.at);
        while asks.next_if(|ask| *ask <= remark.at).is_some() {}
        stays[index] |= index >= old || asks.peek().is_some_and(|ask| *ask <= next);
    }
    let (mut count, mut bytes) = (0, 0);
    for index in (0..old).rev().filter(|index| stays[*index]).collect::<Vec<_>>() {
        count += 1;
        bytes += remarks[index].text.len();
        stays[index] = count <= OLD_REMARKS && bytes <= OLD_REMARK_BYTES;
    }
    session.masked.remarks = stays[..session.masked.remarks].iter().filter(|stays| **stays).count();
    session.forgotten.remarks += stays.iter().filter(|stays| !**stays).count();
    let mut stays = stays.into_iter();
    session.remarks.retain(|_| stays.next().unwrap_or_default());
    sizes.remarks = session.remarks.iter().map(|remark| remark.text.len()).sum();
}

/// Shortens the reports of older subagents, if there are too many.
pub fn trim_reports(session: &mut Session, sizes: &mut Sizes) {
    if sizes.reports <= REPORT_BYTES {
        return;
    }
    let lengths = session.delegations.iter().map(|delegation| delegation.report.len());
    let old = session.delegations.len() - count_newest(lengths, DELEGATIONS, NEWEST_REPORT_BYTES);
    for delegation in &mut session.delegations[..old] {
        shorten(&mut delegation.report, OLD_REPORT_WHOLE, |text| start_and_end(text, OLD_REPORT_PART));
    }
    sizes.reports = session.delegations.iter().map(|delegation| delegation.report.len()).sum();
}

/// Drops the oldest entries of the lists of which only the newest matter.
pub fn trim_lists(session: &mut Session, sizes: &mut Sizes) {
    fn keep_newest<T>(list: &mut Vec<T>, most: usize) -> usize {
        let old = if list.len() > most { list.len() - most / 2 } else { 0 };
        list.drain(..old);
        old
    }
    let delegations = keep_newest(&mut session.delegations, DELEGATIONS);
    if delegations > 0 {
        // A subagent may have run any command: nothing can be said to have never been done.
        session.forgotten.commands = true;
        let until = session.delegations.first().map_or(0, |delegation| delegation.at);
        session.forgotten.until = session.forgotten.until.max(until);
        sizes.dropped_delegations += delegations;
        sizes.reports = session.delegations.iter().map(|delegation| delegation.report.len()).sum();
        session.masked.delegations = session.masked.delegations.saturating_sub(delegations);
    }
    keep_newest(&mut session.plans, PLANS);
    keep_newest(&mut session.rejected_plans, PLANS);
    keep_newest(&mut session.other_calls, OTHER_TOOLS);
    sizes.dropped_reads += keep_newest(&mut session.reads, READS);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Ask, Change, Command, Remark, Touch};
    use crate::testing;

    fn command(at: usize, line: &str) -> Command {
        Command { output: "x".repeat(600), ..testing::command(line, at) }
    }

    fn touch(at: usize, path: &str) -> Touch {
        let change = Some(Change { old: "a".repeat(400), new: "b".repeat(400) });
        Touch { change, ..testing::touch(path, at) }
    }

    #[test]
    fn a_session_of_ordinary_length_is_left_alone() {
        let mut session =
            Session { commands: vec![command(1, "ls")], touches: vec![touch(1, "a")], ..Session::default() };
        let before = session.clone();
        let mut sizes = Sizes::default();
        assert!(
            trim_commands(&mut session, &mut sizes).is_none()
                && trim_touches(&mut session, &mut sizes).is_none()
        );
        trim_asks(&mut session, &mut sizes);
        trim_lists(&mut session, &mut sizes);
        assert_eq!(session, before);
    }

    #[test]
    fn old_commands_are_cut_and_then_forgotten_and_work_is_still_counted() {
        let lines = (0..2_000).map(|at| command(at, "make install"));
        let mut session = Session { commands: lines.collect(), ..Session::default() };
        let before = session.work_done();
        let mut sizes = Sizes::default();
        let moved = trim_commands(&mut session, &mut sizes).expect("tidied");
        assert_eq!(session.work_done(), before);
        assert!(session.forgotten.until > 0 && session.forgotten.commands);
        assert!(session.commands.len() <= NEWEST_COMMANDS + OLD_COMMANDS);
        assert_eq!(
            session.commands.last().map(|command| command.output.len()),
            Some(600),
            "the newest are whole"
        );
        let old = session.commands.first().expect("one");
        assert!(*old.line == *"make install" && old.output.is_empty(), "{old:?}");
        for (was, now) in moved.iter().enumerate().filter_map(|(was, now)| Some((was, (*now)?))) {
            assert_eq!(session.commands[now].at, was, "each is where it is said to be");
        }
        assert_eq!(
            sizes.commands,
            session.commands.iter().map(|c| c.line.len() + c.output.len()).sum::<usize>()
        );
    }

    #[test]
    fn of_each_file_the_first_and_the_last_change_stay() {
        let touches = (0..1_600).map(|at| touch(at, &format!("src/{}.rs", at % 10)));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        let before = session.work_done();
        let mut sizes = Sizes { changes: CHANGE_BYTES + 1, ..Sizes::default() };
        trim_touches(&mut session, &mut sizes).expect("tidied");
        assert_eq!(session.work_done(), before);
        assert_eq!(session.touches.len(), NEWEST_TOUCHES + 10);
        assert_eq!(
            session.touches[..10].iter().map(|t| t.at).collect::<Vec<_>>(),
            (0..10).collect::<Vec<_>>()
        );
        assert!(!session.forgotten.files, "every file is still named");
        assert!(
            session.touches[0].change.is_none() && session.touches.last().is_some_and(|t| t.change.is_some())
        );
        assert!(sizes.changes <= CHANGE_BYTES / 2);
    }

    #[test]
    fn more_files_than_are_kept_are_said_to_be_forgotten() {
        let touches = (0..901).map(|at| touch(at, &format!("src/{at}.rs")));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        trim_touches(&mut session, &mut Sizes::default()).expect("tidied");
        assert_eq!(
            (session.touches.len(), session.forgotten.work, session.forgotten.files),
            (600, 301, true)
        );
    }

    #[test]
    fn helpers_that_are_forgotten_leave_a_doubt() {
        let delegation = |at: usize| crate::session::Delegation {
            time: None,
            report: String::new(),
            agent_id: None,
            description: "look".into(),
            agent_type: "general-purpose".into(),
            outcome: Outcome::Done,
            at,
        };
        let mut session = Session { delegations: (0..201).map(delegation).collect(), ..Session::default() };
        let mut sizes = Sizes::default();
        trim_lists(&mut session, &mut sizes);
        assert_eq!((session.delegations.len(), sizes.dropped_delegations), (100, 101));
        assert_eq!((session.forgotten.commands, session.forgotten.until), (true, 101));
    }

    #[test]
    fn the_first_ask_and_the_newest_stay() {
        let ask = |at: usize| Ask { time: None, text: format!("please write part number {at} of it"), at };
        let mut session = Session { asks: (0..401).map(ask).collect(), ..Session::default() };
        trim_asks(&mut session, &mut Sizes::default());
        assert_eq!((session.asks.len(), session.asks[0].at, session.asks[1].at), (201, 0, 201));
    }

    #[test]
    fn what_old_tests_and_git_printed_stays() {
        let lines = ["cd web && cargo test", "git push", "timeout 60 gh pr create", "make install"];
        let mut session = Session {
            commands: (0..1_201).map(|at| command(at, lines[at % 4])).collect(),
            ..Session::default()
        };
        trim_commands(&mut session, &mut Sizes::default()).expect("tidied");
        let old = session.commands.len() - NEWEST_COMMANDS.min(NEWEST_COMMAND_BYTES / 620);
        for (line, is_kept) in lines.into_iter().zip([true, true, true, false]) {
            let command =
                session.commands[..old].iter().rev().find(|command| *command.line == *line).expect("one");
            assert_eq!(command.output.ends_with("xx"), is_kept, "{line}");
        }
        let old_checks = session.commands[..old].iter().map(|command| command.output.len()).sum::<usize>();
        assert!(old_checks <= OLD_CHECK_BYTES, "{old_checks}");
    }

    #[test]
    fn long_asks_are_shortened_before_any_is_forgotten() {
        let ask = |at: usize| Ask { time: None, text: format!("please {} thanks", "x".repeat(8_000)), at };
        let mut session = Session { asks: (0..40).map(ask).collect(), ..Session::default() };
        let mut sizes = Sizes { asks: ASK_BYTES + 1, ..Sizes::default() };
        trim_asks(&mut session, &mut sizes);
        assert_eq!((session.asks.len(), session.forgotten.asks), (40, 0));
        assert!(session.asks[1].text.len() <= OLD_ASK_WHOLE && session.asks[1].text.ends_with("thanks"));
        assert!(session.asks[0].text.len() > 8_000 && session.asks[39].text.len() > 8_000);
        assert!(sizes.asks <= ASK_BYTES / 2);
    }

    #[test]
    fn what_the_person_read_before_an_ask_outlives_other_remarks() {
        let remark = |at: usize| Remark {
            text: format!("{at} {}", "x".repeat(600)),
            at,
            time: None,
            ends_turn: at == 41,
        };
        let ask = |at: usize| Ask { time: None, text: "and more of it, please".into(), at };
        let mut session = Session {
            remarks: (0..400).map(|n| remark(2 * n + 1)).collect(),
            asks: vec![ask(20), ask(100)],
            ..Session::default()
        };
        session.masked.remarks = 400;
        let mut sizes = Sizes { remarks: REMARK_BYTES + 1, ..Sizes::default() };
        trim_remarks(&mut session, &mut sizes);
        let old: Vec<usize> = session.remarks.iter().map(|remark| remark.at).take(3).collect();
        assert_eq!(old, [19, 41, 99]);
        assert_eq!(session.remarks.last().map(|remark| remark.at), Some(799));
        assert_eq!(session.remarks.len() + session.forgotten.remarks, 400);
        assert_eq!(session.masked.remarks, session.remarks.len());
        assert!(sizes.remarks < REMARK_BYTES / 2);
    }

    #[test]
    fn reports_of_older_subagents_are_shortened() {
        let delegation = |at: usize| crate::session::Delegation {
            description: "look".into(),
            agent_type: String::new(),
            outcome: Outcome::Done,
            report: format!("start {} end", "x".repeat(3_000)),
            agent_id: None,
            at,
            time: None,
        };
        let mut session = Session { delegations: (0..70).map(delegation).collect(), ..Session::default() };
        let mut sizes = Sizes { reports: REPORT_BYTES + 1, ..Sizes::default() };
        trim_reports(&mut session, &mut sizes);
        let old = &session.delegations[0].report;
        assert!(old.len() <= OLD_REPORT_WHOLE && old.starts_with("start") && old.ends_with("end"));
        assert!(session.delegations[69].report.len() > 3_000 && sizes.reports < REPORT_BYTES);
    }
}
