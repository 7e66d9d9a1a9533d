//! How much of a session is kept: takes a session that has grown long, gives one that has not, and says what moved
//! where. Pure. Must not lose what tells how a session ended, nor forget without saying so ([`Forgotten`]).
//!
//! What is kept depends on the rows alone, never on how often they were read, so that a session read in pieces
//! is the same as one read at once.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{CommandEnd, Outcome, Session};
use crate::text::{first_part, last_part};

/// What is no longer in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// How much of the work done.
    pub work: usize,
    /// How many of the asks that may want work.
    pub wants: usize,
    /// Whether any file that was changed is not named any more.
    pub files: bool,
    /// Whether any command is not there any more.
    pub commands: bool,
    /// Where the newest of what was forgotten stood: whatever came after that is whole.
    pub until: usize,
}

/// Commands: when to tidy up, and what is left as it was then.
const COMMANDS: usize = 1_200;
const COMMAND_BYTES: usize = 192 << 10;
const NEWEST_COMMANDS: usize = 300;
const NEWEST_COMMAND_BYTES: usize = 96 << 10;
/// How much is kept of an older command, of its line and, where it did not end well, of its output. A cut text with its mark must not be
/// longer than one that is left as it is, or it would be cut again and again.
const OLD_COMMAND_PART: usize = 120;
const OLD_COMMAND_WHOLE: usize = 160;
/// How many of those are kept. With the newest ones this is well below the mark at which to tidy up.
const OLD_COMMANDS: usize = 500;

/// Touches: when to tidy up, and how many of the newest stay whatever they are.
const TOUCHES: usize = 900;
const NEWEST_TOUCHES: usize = 300;
/// How many are left in the end, where a session changed that many files.
const LEAST_TOUCHES: usize = 600;
/// How much is kept of what edits put where, in all; half of it stays.
const CHANGE_BYTES: usize = 256 << 10;

const ASKS: usize = 400;
const ASK_BYTES: usize = 96 << 10;
const NEWEST_ASKS: usize = 200;
const NEWEST_ASK_BYTES: usize = 48 << 10;

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
    /// Of changes.
    pub changes: usize,
    /// Of asks.
    pub asks: usize,
    /// How many delegations are no longer listed: those that are go on counting from there.
    pub delegations: usize,
}

/// Where the entries of a list are now, by where they were; `None` for what is gone.
pub type Moved = Vec<Option<usize>>;

/// Forgets old commands, if there are too many.
pub fn tidy_commands(session: &mut Session, weights: &mut Weights) -> Option<Moved> {
    if session.commands.len() <= COMMANDS && weights.commands <= COMMAND_BYTES {
        return None;
    }
    let mut bytes = 0;
    let newest = session.commands.iter().rev().take(NEWEST_COMMANDS).take_while(|command| {
        bytes += command.line.len() + command.output.len();
        bytes <= NEWEST_COMMAND_BYTES
    });
    let old = session.commands.len() - newest.count();
    let gone = old.saturating_sub(OLD_COMMANDS);
    for command in &mut session.commands[gone..old] {
        shorten(&mut command.line, first_part);
        if command.end == CommandEnd::Succeeded {
            command.output = String::new();
        } else {
            shorten(&mut command.output, last_part);
        }
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
    session.naming.commands.follow(&moved);
    Some(moved)
}

fn shorten(text: &mut String, part: fn(&str, usize) -> String) {
    if text.len() > OLD_COMMAND_WHOLE {
        *text = part(text, OLD_COMMAND_PART);
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
    session.naming.touches.follow(&moved);
    session.naming.notes.follow(&moved);
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

/// Forgets old asks, if there are too many. The first one says what the session is about, and stays.
pub fn tidy_asks(session: &mut Session, weights: &mut Weights) {
    if session.asks.len() <= ASKS && weights.asks <= ASK_BYTES {
        return;
    }
    let mut bytes = 0;
    let newest = session.asks.iter().rev().take(NEWEST_ASKS).take_while(|ask| {
        bytes += ask.text.len();
        bytes <= NEWEST_ASK_BYTES
    });
    let old = session.asks.len() - newest.count().max(1);
    let gone = 1.min(old)..old;
    session.masked.asks -= gone.clone().filter(|at| *at < session.masked.asks).count();
    session.naming.asks.lose(gone.clone());
    session.naming.pages.lose(gone.clone());
    for ask in session.asks.drain(gone) {
        session.forgotten.wants += usize::from(ask.may_want_work());
    }
    (session.counted.asks, session.counted.wants) = (0, 0);
    weights.asks = session.asks.iter().map(|ask| ask.text.len()).sum();
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
    session.masked.delegations = session.masked.delegations.saturating_sub(handed);
    newest(&mut session.plans, PLANS);
    newest(&mut session.rejected_plans, PLANS);
    newest(&mut session.other_calls, OTHER_TOOLS);
    let read = if session.reads.len() > READS { newest(&mut session.reads, READS) } else { 0 };
    session.naming.reads.lose(0..read);
    read > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Ask, Change, Command, EditTool, Original, Touch};

    fn command(at: usize, line: &str) -> Command {
        Command { line: line.into(), at, end: CommandEnd::Succeeded, output: "x".repeat(600), agent: None }
    }

    fn touch(at: usize, path: &str) -> Touch {
        Touch {
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
        let ask = |at: usize| Ask { text: format!("please write part number {at} of it"), at };
        let mut session = Session { asks: (0..401).map(ask).collect(), ..Session::default() };
        tidy_asks(&mut session, &mut Weights::default());
        assert_eq!((session.asks.len(), session.asks[0].at, session.asks[1].at), (201, 0, 201));
        assert_eq!(session.forgotten.wants, 200);
    }
}
