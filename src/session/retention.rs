//! Bounds the size of a session: old entries are shortened, then dropped. Pure. Must not lose what
//! tells how a session ended, or drop anything without recording it ([`Forgotten`]).
//!
//! What is dropped depends on the rows alone, never on how often they were read, so that reading a
//! session in pieces gives the same result as reading it at once.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::session::{Command, CommandEnd, Outcome, Session, Touch};
use crate::shell::CommandLine;
use crate::text::{first_part, last_part, start_and_end};

/// What was dropped from a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    pub work: usize,
    pub asks: usize,
    pub remarks: usize,
    /// Whether it no longer names every file that was changed.
    pub files: bool,
    pub commands: bool,
    /// The position of the newest dropped entry: nothing is missing after it.
    pub until: usize,
}

/// How much is kept of each older text.
const OLD_PART: usize = 440;
/// The maximum length of the mark in a cut text: a text with its mark must not be cut again.
const MARK: usize = 40;

/// Commands: when to trim them, and how many of the newest stay unchanged.
const COMMANDS: usize = 1_200;
const COMMAND_BYTES: usize = 384 << 10;
const NEWEST_COMMANDS: usize = 300;
const NEWEST_COMMAND_BYTES: usize = 128 << 10;
/// How much is kept of an older command's line and, if it did not succeed, of its output.
const OLD_COMMAND_PART: usize = 120;
/// The room for the output of older checks, which shows whether the tests passed.
const OLD_CHECK_BYTES: usize = 64 << 10;
/// How many older commands are kept. Together with the newest this is well below the number that
/// triggers trimming.
const OLD_COMMANDS: usize = 500;

/// Touches: when to trim them, and how many of the newest stay in any case.
const TOUCHES: usize = 900;
const NEWEST_TOUCHES: usize = 300;
/// How many are left if a session changed that many files.
const LEAST_TOUCHES: usize = 600;
/// Bytes of changes: when to trim them; half of them stay.
const CHANGE_BYTES: usize = 256 << 10;

/// Asks: when to trim them, and how many of the newest stay unchanged. Older ones are cut to their
/// start and end, and dropped only if that is still too much.
const ASKS: usize = 400;
const ASK_BYTES: usize = 192 << 10;
const NEWEST_ASKS: usize = 200;
const NEWEST_ASK_BYTES: usize = 48 << 10;
const MOST_ASK_BYTES: usize = 144 << 10;

/// Remarks: when to trim them, and how many of the newest stay. Of the older ones, those stay that
/// the person had read when they asked for more.
const REMARKS: usize = 600;
const REMARK_BYTES: usize = 192 << 10;
const NEWEST_REMARKS: usize = 150;
const NEWEST_REMARK_BYTES: usize = 48 << 10;
const OLD_REMARKS: usize = 200;
const OLD_REMARK_BYTES: usize = 96 << 10;

/// Reports of subagents: when to trim them, and how much of the newest stays.
const REPORT_BYTES: usize = 192 << 10;
const NEWEST_REPORT_BYTES: usize = 64 << 10;

/// Lists of which only the newest entries matter.
const READS: usize = 500;
const DELEGATIONS: usize = 200;
const PLANS: usize = 16;
const OTHER_TOOLS: usize = 256;

/// How much is kept of a rejected plan, and of all tasks together: they are parsed, and nobody
/// writes more.
const CLAIM_BYTES: usize = 128 << 10;
/// How much is kept of a task, however many there are.
const LEAST_OF_TASK: usize = 60;

/// Cuts long tasks and plans before anything parses them.
pub fn bound_claims(session: &mut Session) {
    session.rejected_plans.iter_mut().for_each(|plan| shorten(plan, CLAIM_BYTES, first_part));
    let tasks = &mut session.todos;
    let bytes: usize = tasks.iter().map(|task| task.text.len() + task.status.len()).sum();
    if bytes > CLAIM_BYTES {
        let each = (CLAIM_BYTES / tasks.len()).max(LEAST_OF_TASK);
        for task in tasks {
            shorten(&mut task.text, each, start_and_end);
            shorten(&mut task.status, LEAST_OF_TASK, first_part);
        }
    }
}

/// The new index of each entry of a list, by its old one; `None` for one that was dropped.
pub type Moved = Vec<Option<usize>>;

/// How the lists that pending calls refer to have changed; `None` for a list that was not trimmed.
#[derive(Debug, Default)]
pub struct Trimmed {
    pub commands: Option<Moved>,
    pub touches: Option<Moved>,
    pub delegations: Option<Moved>,
    pub reads: Option<Moved>,
}

/// Shortens and drops old entries of lists that are too long.
pub fn trim(session: &mut Session) -> Trimmed {
    trim_asks(session);
    trim_remarks(session);
    trim_reports(session);
    keep_newest(&mut session.plans, PLANS);
    keep_newest(&mut session.rejected_plans, PLANS);
    keep_newest(&mut session.other_calls, OTHER_TOOLS);
    Trimmed {
        commands: trim_commands(session),
        touches: trim_touches(session),
        delegations: trim_delegations(session),
        reads: keep_newest(&mut session.reads, READS),
    }
}

/// Drops the entries of a list that do not stay; the first `masked` entries of the list are masked.
fn retain<T>(
    list: &mut Vec<T>,
    masked: &mut usize,
    stays: impl Fn(usize) -> bool,
    mut drop: impl FnMut(&T),
) -> Moved {
    let mut moved = Moved::new();
    let mut left = 0;
    list.retain(|entry| {
        let stay = stays(moved.len());
        moved.push(stay.then_some(left));
        left += usize::from(stay);
        if !stay {
            drop(entry);
        }
        stay
    });
    *masked = moved[..*masked].iter().flatten().count();
    moved
}

/// Halves a list of which only the newest entries matter, if it is too long.
fn keep_newest<T>(list: &mut Vec<T>, most: usize) -> Option<Moved> {
    let old = list.len().checked_sub(most / 2).filter(|_| list.len() > most)?;
    Some(retain(list, &mut 0, |at| at >= old, |_| ()))
}

/// Returns how many entries at the end of a list fit within limits of entries and bytes.
fn count_newest(lengths: impl DoubleEndedIterator<Item = usize>, most: usize, most_bytes: usize) -> usize {
    let mut bytes = 0;
    let is_within = |length: &usize| {
        bytes += length;
        bytes <= most_bytes
    };
    lengths.rev().take(most).take_while(is_within).count()
}

fn shorten(text: &mut String, part: usize, cut: fn(&str, usize) -> String) {
    if text.len() > part + MARK {
        *text = cut(text, part);
    }
}

fn trim_commands(session: &mut Session) -> Option<Moved> {
    let lengths = session.commands.iter().map(|command| command.line.len() + command.output.len());
    if session.commands.len() <= COMMANDS && lengths.clone().sum::<usize>() <= COMMAND_BYTES {
        return None;
    }
    let old = session.commands.len() - count_newest(lengths, NEWEST_COMMANDS, NEWEST_COMMAND_BYTES);
    let gone = old.saturating_sub(OLD_COMMANDS);
    let mut room = OLD_CHECK_BYTES;
    for command in session.commands[gone..old].iter_mut().rev() {
        room = shorten_command(command, room);
    }
    let forgotten = &mut session.forgotten;
    let masked = &mut session.masked.commands;
    Some(retain(
        &mut session.commands,
        masked,
        |at| at >= gone,
        |command| {
            forgotten.commands = true;
            forgotten.until = forgotten.until.max(command.at);
            // It counts as work even if it only read: the count must not decrease.
            forgotten.work += usize::from(command.end != CommandEnd::Unanswered);
        },
    ))
}

/// Shortens an older command; returns how much of the room for checks is left.
fn shorten_command(command: &mut Command, room: usize) -> usize {
    if is_check(&command.line) {
        shorten(command.line.text_mut(), OLD_PART, first_part);
        shorten(&mut command.output, OLD_PART, last_part);
        if let Some(left) = room.checked_sub(command.line.len() + command.output.len()) {
            return left;
        }
    }
    shorten(command.line.text_mut(), OLD_COMMAND_PART, first_part);
    if command.end == CommandEnd::Succeeded {
        command.output = String::new();
    } else {
        shorten(&mut command.output, OLD_COMMAND_PART, last_part);
    }
    room
}

/// Returns whether the output of a command shows the state of the work: tests, builds, lints, git
/// and gh.
fn is_check(line: &CommandLine) -> bool {
    line.check().is_some() || line.runs_any(&["git", "gh"])
}

/// Drops the changes of old touches, then the touches. The first and the last successful touch of
/// each file stay.
fn trim_touches(session: &mut Session) -> Option<Moved> {
    drop_changes(session);
    let touches = &session.touches;
    if touches.len() <= TOUCHES {
        return None;
    }
    let old = touches.len() - NEWEST_TOUCHES;
    let (mut first, mut last) = (HashMap::new(), HashMap::new());
    for (at, touch) in touches.iter().enumerate().filter(|(_, touch)| touch.outcome == Outcome::Done) {
        first.entry(touch.path.as_str()).or_insert(at);
        last.insert(touch.path.as_str(), at);
    }
    let tells = |at: usize, touch: &Touch| {
        let is_end = [&first, &last].iter().any(|ends| ends.get(touch.path.as_str()) == Some(&at));
        at >= old || is_end || touch.outcome == Outcome::Unanswered
    };
    let mut stays: BTreeSet<usize> = (0..touches.len()).filter(|at| tells(*at, &touches[*at])).collect();
    while stays.len() > LEAST_TOUCHES {
        stays.pop_first();
    }
    let named: HashSet<String> = stays.iter().map(|at| touches[*at].path.clone()).collect();
    let forgotten = &mut session.forgotten;
    let masked = &mut session.masked.touches;
    Some(retain(
        &mut session.touches,
        masked,
        |at| stays.contains(&at),
        |touch| {
            forgotten.until = forgotten.until.max(touch.at);
            forgotten.work += usize::from(touch.outcome == Outcome::Done);
            forgotten.files |= !named.contains(&touch.path);
        },
    ))
}

fn drop_changes(session: &mut Session) {
    let bytes = |touch: &Touch| touch.change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
    if session.touches.iter().map(bytes).sum::<usize>() <= CHANGE_BYTES {
        return;
    }
    let kept = count_newest(session.touches.iter().map(bytes), usize::MAX, CHANGE_BYTES / 2);
    let old = session.touches.len() - kept;
    // Those without text have its position, which is short.
    let has_text = |touch: &&mut Touch| touch.change.is_some();
    session.touches[..old].iter_mut().filter(has_text).for_each(Touch::forget_change);
}

/// Shortens and drops old asks. The first one says what the session is about, and stays.
fn trim_asks(session: &mut Session) {
    let lengths = |session: &Session| session.asks.iter().map(|ask| ask.text.len()).collect::<Vec<_>>();
    if session.asks.len() <= ASKS && lengths(session).iter().sum::<usize>() <= ASK_BYTES {
        return;
    }
    let newest = count_newest(lengths(session).into_iter(), NEWEST_ASKS, NEWEST_ASK_BYTES);
    let old = session.asks.len() - newest.max(1);
    for ask in session.asks[..old].iter_mut().skip(1) {
        shorten(&mut ask.text, OLD_PART, start_and_end);
    }
    let most = if session.asks.len() > ASKS { NEWEST_ASKS } else { ASKS };
    let kept = count_newest(lengths(session).into_iter(), most, MOST_ASK_BYTES);
    let old = session.asks.len() - kept.max(1);
    let (forgotten, masked) = (&mut session.forgotten.asks, &mut session.masked.asks);
    retain(&mut session.asks, masked, |at| at == 0 || at >= old, |_| *forgotten += 1);
}

/// Drops old remarks, except those that ended a turn or that the person answered.
fn trim_remarks(session: &mut Session) {
    let remarks = &session.remarks;
    let lengths = remarks.iter().map(|remark| remark.text.len());
    if remarks.len() <= REMARKS && lengths.clone().sum::<usize>() <= REMARK_BYTES {
        return;
    }
    let old = remarks.len() - count_newest(lengths, NEWEST_REMARKS, NEWEST_REMARK_BYTES);
    let is_answered = |index: usize| {
        let next = remarks.get(index + 1).map_or(usize::MAX, |next| next.at);
        session.asks.iter().any(|ask| remarks[index].at < ask.at && ask.at <= next)
    };
    let read: Vec<usize> =
        (0..old).filter(|index| remarks[*index].ends_turn || is_answered(*index)).collect();
    let lengths = read.iter().map(|index| remarks[*index].text.len());
    let kept = count_newest(lengths, OLD_REMARKS, OLD_REMARK_BYTES);
    let kept: HashSet<usize> = read.into_iter().rev().take(kept).collect();
    let (forgotten, masked) = (&mut session.forgotten.remarks, &mut session.masked.remarks);
    retain(&mut session.remarks, masked, |at| at >= old || kept.contains(&at), |_| *forgotten += 1);
}

/// Shortens the reports of older subagents.
fn trim_reports(session: &mut Session) {
    let lengths = session.delegations.iter().map(|delegation| delegation.report.len());
    if lengths.clone().sum::<usize>() <= REPORT_BYTES {
        return;
    }
    let old = session.delegations.len() - count_newest(lengths, DELEGATIONS, NEWEST_REPORT_BYTES);
    for delegation in &mut session.delegations[..old] {
        shorten(&mut delegation.report, OLD_PART, start_and_end);
    }
}

fn trim_delegations(session: &mut Session) -> Option<Moved> {
    let moved = keep_newest(&mut session.delegations, DELEGATIONS)?;
    // A subagent may have run any command, so no command can be said never to have run.
    session.forgotten.commands = true;
    let until = session.delegations.first().map_or(0, |delegation| delegation.at);
    session.forgotten.until = session.forgotten.until.max(until);
    session.masked.delegations = moved[..session.masked.delegations].iter().flatten().count();
    Some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Change, Remark};
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
        let trimmed = trim(&mut session);
        assert!(trimmed.commands.is_none() && trimmed.touches.is_none());
        assert_eq!(session, before);
    }

    #[test]
    fn old_commands_are_cut_and_then_forgotten_and_work_is_still_counted() {
        let lines = (0..2_000).map(|at| command(at, "make install"));
        let mut session = Session { commands: lines.collect(), ..Session::default() };
        let before = session.work_done();
        let moved = trim_commands(&mut session).expect("tidied");
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
    }

    #[test]
    fn of_each_file_the_first_and_the_last_change_stay() {
        let touches = (0..1_600).map(|at| touch(at, &format!("src/{}.rs", at % 10)));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        let before = session.work_done();
        trim_touches(&mut session).expect("tidied");
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
        let changes = session.touches.iter().filter(|touch| touch.change.is_some()).count();
        assert!(changes * 800 <= CHANGE_BYTES / 2);
    }

    #[test]
    fn more_files_than_are_kept_are_said_to_be_forgotten() {
        let touches = (0..901).map(|at| touch(at, &format!("src/{at}.rs")));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        trim_touches(&mut session).expect("tidied");
        assert_eq!(
            (session.touches.len(), session.forgotten.work, session.forgotten.files),
            (600, 301, true)
        );
    }

    #[test]
    fn helpers_that_are_forgotten_leave_a_doubt() {
        let delegation = |at: usize| testing::delegation("look", at, "");
        let mut session = Session { delegations: (0..201).map(delegation).collect(), ..Session::default() };
        let moved = trim(&mut session).delegations.expect("tidied");
        assert_eq!((session.delegations.len(), moved[100], moved[101]), (100, None, Some(0)));
        assert_eq!((session.forgotten.commands, session.forgotten.until), (true, 101));
    }

    #[test]
    fn the_first_ask_and_the_newest_stay() {
        let ask = |at: usize| testing::ask(&format!("please write part number {at} of it"), at);
        let mut session = Session { asks: (0..401).map(ask).collect(), ..Session::default() };
        trim_asks(&mut session);
        assert_eq!((session.asks.len(), session.asks[0].at, session.asks[1].at), (201, 0, 201));
    }

    #[test]
    fn what_old_tests_and_git_printed_stays() {
        let lines = ["cd web && cargo test", "git push", "timeout 60 gh pr create", "make install"];
        let mut session = Session {
            commands: (0..1_201).map(|at| command(at, lines[at % 4])).collect(),
            ..Session::default()
        };
        trim_commands(&mut session).expect("tidied");
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
        let ask = |at: usize| testing::ask(&format!("please {} thanks", "x".repeat(8_000)), at);
        let mut session = Session { asks: (0..40).map(ask).collect(), ..Session::default() };
        trim_asks(&mut session);
        assert_eq!((session.asks.len(), session.forgotten.asks), (40, 0));
        assert!(session.asks[1].text.len() <= OLD_PART + MARK && session.asks[1].text.ends_with("thanks"));
        assert!(session.asks[0].text.len() > 8_000 && session.asks[39].text.len() > 8_000);
        assert!(session.asks.iter().map(|ask| ask.text.len()).sum::<usize>() <= ASK_BYTES / 2);
    }

    #[test]
    fn what_the_person_read_before_an_ask_outlives_other_remarks() {
        let remark = |at: usize| Remark {
            ends_turn: at == 41,
            ..testing::remark(&format!("{at} {}", "x".repeat(600)), at)
        };
        let ask = |at: usize| testing::ask("and more of it, please", at);
        let mut session = Session {
            remarks: (0..400).map(|n| remark(2 * n + 1)).collect(),
            asks: vec![ask(20), ask(100)],
            ..Session::default()
        };
        session.masked.remarks = 400;
        trim_remarks(&mut session);
        let old: Vec<usize> = session.remarks.iter().map(|remark| remark.at).take(3).collect();
        assert_eq!(old, [19, 41, 99]);
        assert_eq!(session.remarks.last().map(|remark| remark.at), Some(799));
        assert_eq!(session.remarks.len() + session.forgotten.remarks, 400);
        assert_eq!(session.masked.remarks, session.remarks.len());
        assert!(session.remarks.iter().map(|remark| remark.text.len()).sum::<usize>() < REMARK_BYTES / 2);
    }

    #[test]
    fn reports_of_older_subagents_are_shortened() {
        let report = format!("start {} end", "x".repeat(3_000));
        let delegation = |at: usize| testing::delegation("look", at, &report);
        let mut session = Session { delegations: (0..70).map(delegation).collect(), ..Session::default() };
        trim_reports(&mut session);
        let old = &session.delegations[0].report;
        assert!(old.len() <= OLD_PART + MARK && old.starts_with("start") && old.ends_with("end"));
        assert!(session.delegations[69].report.len() > 3_000);
        let bytes: usize = session.delegations.iter().map(|delegation| delegation.report.len()).sum();
        assert!(bytes < REPORT_BYTES);
    }
}
