//! How much of a session is kept: takes a session that has grown long, gives one that has not, and says what moved
//! where. Pure. Must not lose what tells how a session ended, nor forget without saying so ([`Forgotten`]).
//!
//! What is kept depends on the rows alone, never on how often they were read, so that a session read in pieces
//! is the same as one read at once.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::session::{Command, CommandEnd, Outcome, Session};
use crate::shell::CommandLine;
use crate::text::{first_part, last_part, start_and_end};

/// What is no longer in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// How much of the work done.
    pub work: usize,
    #[serde(default)]
    pub asks: usize,
    /// How many of the agent's remarks.
    #[serde(default)]
    pub remarks: usize,
    /// Whether any file that was changed is not named any more.
    pub files: bool,
    /// Whether any command is not there any more.
    pub commands: bool,
    /// Where the newest of what was forgotten stood: whatever came after that is whole.
    pub until: usize,
}

/// Commands: when to tidy up, and what is left as it was then.
const COMMANDS: usize = 1_200;
const COMMAND_BYTES: usize = 384 << 10;
const NEWEST_COMMANDS: usize = 300;
const NEWEST_COMMAND_BYTES: usize = 128 << 10;
/// How much is kept of an older command, of its line and, where it did not end well, of its output. A cut text with its mark must not be
/// longer than one that is left as it is, or it would be cut again and again.
const OLD_COMMAND_PART: usize = 120;
const OLD_COMMAND_WHOLE: usize = 160;
/// How much is kept of an older check, of its line and of its output, as long as there is room:
/// whether the tests passed is told by what they printed.
const OLD_CHECK_PART: usize = 440;
const OLD_CHECK_WHOLE: usize = 480;
const OLD_CHECK_BYTES: usize = 64 << 10;
/// How many of those are kept. With the newest ones this is well below the mark at which to tidy up.
const OLD_COMMANDS: usize = 500;

/// Touches: when to tidy up, and how many of the newest stay whatever they are.
const TOUCHES: usize = 900;
const NEWEST_TOUCHES: usize = 300;
/// How many are left in the end, where a session changed that many files.
const LEAST_TOUCHES: usize = 600;
/// How much is kept of what edits put where, in all; half of it stays.
const CHANGE_BYTES: usize = 256 << 10;

/// Asks: when to tidy up, and what is left as it was then. Of older ones the start and the end
/// stay, and only where that is still too much they go.
const ASKS: usize = 400;
const ASK_BYTES: usize = 192 << 10;
const NEWEST_ASKS: usize = 200;
const NEWEST_ASK_BYTES: usize = 48 << 10;
const OLD_ASK_PART: usize = 440;
const OLD_ASK_WHOLE: usize = 480;
const MOST_ASK_BYTES: usize = 144 << 10;

/// Remarks: when to tidy up, and what is left as it was then. Of older ones only those stay that
/// the person had read when they asked for more.
const REMARKS: usize = 600;
const REMARK_BYTES: usize = 192 << 10;
const NEWEST_REMARKS: usize = 150;
const NEWEST_REMARK_BYTES: usize = 48 << 10;
const OLD_REMARKS: usize = 200;
const OLD_REMARK_BYTES: usize = 96 << 10;

/// Reports of subagents: when to tidy up, how much of the newest stays, and how much of each older
/// one.
const REPORT_BYTES: usize = 192 << 10;
const NEWEST_REPORT_BYTES: usize = 64 << 10;
const OLD_REPORT_PART: usize = 440;
const OLD_REPORT_WHOLE: usize = 480;

/// Lists of which only the newest entries matter.
const READS: usize = 500;
const DELEGATIONS: usize = 200;
const PLANS: usize = 16;
const OTHER_TOOLS: usize = 256;

/// How many bytes the parts of a session take that can grow, counted as they come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    /// Of command lines and outputs.
    pub commands: usize,
    pub changes: usize,
    pub asks: usize,
    pub remarks: usize,
    /// Of subagents' reports.
    pub reports: usize,
    /// How many delegations are no longer listed: those that are go on counting from there.
    pub delegations: usize,
    /// The same for files that were read.
    pub reads: usize,
}

/// Where the entries of a list are now, by where they were; `None` for what is gone.
pub type Moved = Vec<Option<usize>>;

/// Forgets old commands, if there are too many.
pub fn tidy_commands(session: &mut Session, weights: &mut Weights) -> Option<Moved> {
    if session.commands.len() <= COMMANDS && weights.commands <= COMMAND_BYTES {
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
        // Whether it only looked is not asked: work must not get less by being forgotten, that is all.
        session.forgotten.work += usize::from(command.end != CommandEnd::Unanswered);
    }
    weights.commands = session.commands.iter().map(|command| command.line.len() + command.output.len()).sum();
    (session.counted.commands, session.counted.effects) = (0, 0);
    session.masked.commands = still_there(&moved[..session.masked.commands]);
    Some(moved)
}

/// Shortens an older command; returns how much of the room for checks is left.
fn shorten_command(command: &mut Command, room: usize) -> usize {
    if is_check(&command.line) {
        shorten(&mut command.line, OLD_CHECK_WHOLE, |line| first_part(line, OLD_CHECK_PART));
        shorten(&mut command.output, OLD_CHECK_WHOLE, |output| last_part(output, OLD_CHECK_PART));
        if let Some(left) = room.checked_sub(command.line.len() + command.output.len()) {
            return left;
        }
    }
    shorten(&mut command.line, OLD_COMMAND_WHOLE, |line| first_part(line, OLD_COMMAND_PART));
    if command.end == CommandEnd::Succeeded {
        command.output = String::new();
    } else {
        shorten(&mut command.output, OLD_COMMAND_WHOLE, |output| last_part(output, OLD_COMMAND_PART));
    }
    room
}

/// Returns whether the output of a command says how the work stands: tests, builds, lints, git and
/// gh.
fn is_check(line: &str) -> bool {
    let line = CommandLine::parse(line);
    line.check().is_some() || line.runs_any(&["git", "gh"])
}

fn shorten(text: &mut String, whole: usize, part: impl Fn(&str) -> String) {
    if text.len() > whole {
        *text = part(text);
    }
}

/// Forgets old touches, if there are too many: of each file the first and the last change that were done tell the
/// story. What old edits put where goes first.
pub fn tidy_touches(session: &mut Session, weights: &mut Weights) -> Option<Moved> {
    if weights.changes > CHANGE_BYTES {
        forget_changes(session, weights);
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
    let mut too_many = stays.iter().filter(|stays| **stays).count().saturating_sub(LEAST_TOUCHES);
    for stays in stays.iter_mut().filter(|stays| **stays) {
        if too_many == 0 {
            break;
        }
        *stays = false;
        too_many -= 1;
    }
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
    session.masked.touches = still_there(&moved[..session.masked.touches]);
    session.counted.done = None;
    Some(moved)
}

fn still_there(moved: &[Option<usize>]) -> usize {
    moved.iter().flatten().count()
}

fn forget_changes(session: &mut Session, weights: &mut Weights) {
    let mut left = 0;
    for touch in session.touches.iter_mut().rev() {
        let bytes = touch.change.as_ref().map_or(0, |change| change.old.len() + change.new.len());
        if bytes > 0 && left + bytes > CHANGE_BYTES / 2 {
            touch.forget_change();
            // From here on nothing older is kept either: what is known of edits has one edge.
            left = CHANGE_BYTES;
        } else {
            left += bytes;
        }
    }
    let kept = session.touches.iter().filter_map(|touch| touch.change.as_ref());
    weights.changes = kept.map(|change| change.old.len() + change.new.len()).sum();
}

/// Shortens old asks, and forgets some, if there are too many. The first one says what the session
/// is about, and stays.
pub fn tidy_asks(session: &mut Session, weights: &mut Weights) {
    if session.asks.len() <= ASKS && weights.asks <= ASK_BYTES {
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
    weights.asks = session.asks.iter().map(|ask| ask.text.len()).sum();
}

/// Returns how many entries at the end of a list fit into a number of entries and a number of
/// bytes.
fn count_newest(lengths: impl DoubleEndedIterator<Item = usize>, most: usize, most_bytes: usize) -> usize {
    let mut bytes = 0;
    let is_within = |length: &usize| {
        bytes += length;
        bytes <= most_bytes
    };
    lengths.rev().take(most).take_while(is_within).count()
}

/// Forgets old remarks, if there are too many, but for those with which a turn ended or after which
/// the person spoke.
pub fn tidy_remarks(session: &mut Session, weights: &mut Weights) {
    if session.remarks.len() <= REMARKS && weights.remarks <= REMARK_BYTES {
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
    weights.remarks = session.remarks.iter().map(|remark| remark.text.len()).sum();
}

/// Shortens the reports of older subagents, if there are too many.
pub fn tidy_reports(session: &mut Session, weights: &mut Weights) {
    if weights.reports <= REPORT_BYTES {
        return;
    }
    let lengths = session.delegations.iter().map(|delegation| delegation.report.len());
    let old = session.delegations.len() - count_newest(lengths, DELEGATIONS, NEWEST_REPORT_BYTES);
    for delegation in &mut session.delegations[..old] {
        shorten(&mut delegation.report, OLD_REPORT_WHOLE, |text| start_and_end(text, OLD_REPORT_PART));
    }
    weights.reports = session.delegations.iter().map(|delegation| delegation.report.len()).sum();
}

/// Keeps the newest entries of the lists of which only those matter. Says whether the files that were read are
/// fewer now.
pub fn tidy_lists(session: &mut Session, weights: &mut Weights) -> bool {
    fn newest<T>(list: &mut Vec<T>, most: usize) -> usize {
        let old = if list.len() > most { list.len() - most / 2 } else { 0 };
        list.drain(..old);
        old
    }
    let handed = newest(&mut session.delegations, DELEGATIONS);
    if handed > 0 {
        // What a helper did may not be seen: as little can be said of what was never done.
        session.forgotten.commands = true;
        let until = session.delegations.first().map_or(0, |delegation| delegation.at);
        session.forgotten.until = session.forgotten.until.max(until);
    }
    weights.delegations += handed;
    if handed > 0 {
        weights.reports = session.delegations.iter().map(|delegation| delegation.report.len()).sum();
    }
    session.masked.delegations = session.masked.delegations.saturating_sub(handed);
    newest(&mut session.plans, PLANS);
    newest(&mut session.rejected_plans, PLANS);
    newest(&mut session.other_calls, OTHER_TOOLS);
    let read = if session.reads.len() > READS { newest(&mut session.reads, READS) } else { 0 };
    weights.reads += read;
    read > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Ask, Change, Command, EditTool, Original, Remark, Touch};

    fn command(at: usize, line: &str) -> Command {
        Command {
            time: None,
            line: line.into(),
            at,
            end: CommandEnd::Succeeded,
            output: "x".repeat(600),
            agent: None,
        }
    }

    fn touch(at: usize, path: &str) -> Touch {
        Touch {
            time: None,
            path: path.into(),
            tool: EditTool::Edit,
            at,
            outcome: Outcome::Done,
            original: Original::Unknown,
            agent: None,
            change_at: None,
            change: Some(Change { old: "a".repeat(400), new: "b".repeat(400) }),
        }
    }

    #[test]
    fn a_session_of_ordinary_length_is_left_alone() {
        let mut session = Session {
            commands: vec![command(1, "ls")].into(),
            touches: vec![touch(1, "a")].into(),
            ..Session::default()
        };
        let before = session.clone();
        let mut weights = Weights::default();
        assert!(
            tidy_commands(&mut session, &mut weights).is_none()
                && tidy_touches(&mut session, &mut weights).is_none()
        );
        tidy_asks(&mut session, &mut weights);
        assert!(!tidy_lists(&mut session, &mut weights));
        assert_eq!(session, before);
    }

    #[test]
    fn old_commands_are_cut_and_then_forgotten_and_work_is_still_counted() {
        let lines = (0..2_000).map(|at| command(at, "make install"));
        let mut session = Session { commands: lines.collect(), ..Session::default() };
        let before = session.work_done();
        let mut weights = Weights::default();
        let moved = tidy_commands(&mut session, &mut weights).expect("tidied");
        assert_eq!(session.work_done(), before);
        assert!(session.forgotten.until > 0 && session.forgotten.commands);
        assert!(session.commands.len() <= NEWEST_COMMANDS + OLD_COMMANDS);
        assert_eq!(
            session.commands.last().map(|command| command.output.len()),
            Some(600),
            "the newest are whole"
        );
        let old = session.commands.first().expect("one");
        assert!(old.line == "make install" && old.output.is_empty(), "{old:?}");
        for (was, now) in moved.iter().enumerate().filter_map(|(was, now)| Some((was, (*now)?))) {
            assert_eq!(session.commands[now].at, was, "each is where it is said to be");
        }
        assert_eq!(
            weights.commands,
            session.commands.iter().map(|c| c.line.len() + c.output.len()).sum::<usize>()
        );
    }

    #[test]
    fn of_each_file_the_first_and_the_last_change_stay() {
        let touches = (0..1_600).map(|at| touch(at, &format!("src/{}.rs", at % 10)));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        let before = session.work_done();
        let mut weights = Weights { changes: CHANGE_BYTES + 1, ..Weights::default() };
        tidy_touches(&mut session, &mut weights).expect("tidied");
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
        assert!(weights.changes <= CHANGE_BYTES / 2);
    }

    #[test]
    fn more_files_than_are_kept_are_said_to_be_forgotten() {
        let touches = (0..901).map(|at| touch(at, &format!("src/{at}.rs")));
        let mut session = Session { touches: touches.collect(), ..Session::default() };
        tidy_touches(&mut session, &mut Weights::default()).expect("tidied");
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
        let mut weights = Weights::default();
        tidy_lists(&mut session, &mut weights);
        assert_eq!((session.delegations.len(), weights.delegations), (100, 101));
        assert_eq!((session.forgotten.commands, session.forgotten.until), (true, 101));
    }

    #[test]
    fn the_first_ask_and_the_newest_stay() {
        let ask = |at: usize| Ask { time: None, text: format!("please write part number {at} of it"), at };
        let mut session = Session { asks: (0..401).map(ask).collect(), ..Session::default() };
        tidy_asks(&mut session, &mut Weights::default());
        assert_eq!((session.asks.len(), session.asks[0].at, session.asks[1].at), (201, 0, 201));
    }

    #[test]
    fn what_old_tests_and_git_printed_stays() {
        let lines = ["cd web && cargo test", "git push", "timeout 60 gh pr create", "make install"];
        let mut session = Session {
            commands: (0..1_201).map(|at| command(at, lines[at % 4])).collect(),
            ..Session::default()
        };
        tidy_commands(&mut session, &mut Weights::default()).expect("tidied");
        let old = session.commands.len() - NEWEST_COMMANDS.min(NEWEST_COMMAND_BYTES / 620);
        for (line, is_kept) in lines.into_iter().zip([true, true, true, false]) {
            let command =
                session.commands[..old].iter().rev().find(|command| command.line == line).expect("one");
            assert_eq!(command.output.ends_with("xx"), is_kept, "{line}");
        }
        let old_checks = session.commands[..old].iter().map(|command| command.output.len()).sum::<usize>();
        assert!(old_checks <= OLD_CHECK_BYTES, "{old_checks}");
    }

    #[test]
    fn long_asks_are_shortened_before_any_is_forgotten() {
        let ask = |at: usize| Ask { time: None, text: format!("please {} thanks", "x".repeat(8_000)), at };
        let mut session = Session { asks: (0..40).map(ask).collect(), ..Session::default() };
        let mut weights = Weights { asks: ASK_BYTES + 1, ..Weights::default() };
        tidy_asks(&mut session, &mut weights);
        assert_eq!((session.asks.len(), session.forgotten.asks), (40, 0));
        assert!(session.asks[1].text.len() <= OLD_ASK_WHOLE && session.asks[1].text.ends_with("thanks"));
        assert!(session.asks[0].text.len() > 8_000 && session.asks[39].text.len() > 8_000);
        assert!(weights.asks <= ASK_BYTES / 2);
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
            asks: vec![ask(20), ask(100)].into(),
            ..Session::default()
        };
        session.masked.remarks = 400;
        let mut weights = Weights { remarks: REMARK_BYTES + 1, ..Weights::default() };
        tidy_remarks(&mut session, &mut weights);
        let old: Vec<usize> = session.remarks.iter().map(|remark| remark.at).take(3).collect();
        assert_eq!(old, [19, 41, 99]);
        assert_eq!(session.remarks.last().map(|remark| remark.at), Some(799));
        assert_eq!(session.remarks.len() + session.forgotten.remarks, 400);
        assert_eq!(session.masked.remarks, session.remarks.len());
        assert!(weights.remarks < REMARK_BYTES / 2);
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
        let mut weights = Weights { reports: REPORT_BYTES + 1, ..Weights::default() };
        tidy_reports(&mut session, &mut weights);
        let old = &session.delegations[0].report;
        assert!(old.len() <= OLD_REPORT_WHOLE && old.starts_with("start") && old.ends_with("end"));
        assert!(session.delegations[69].report.len() > 3_000 && weights.reports < REPORT_BYTES);
    }
}
