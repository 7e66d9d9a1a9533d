//! The timeline of a session: edits, commands with how each ended and the end of its output,
//! subagents, what the agent told the person, and the position of each ask. Pure. Must not reorder
//! anything, or leave out an entry without a mark.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::JudgedUntil;
use super::line::{indented, lines, name, one_line};
use crate::paths::seen_from;
use crate::session::{Command, CommandEnd, Delegation, Outcome, Remark, Session, Touch};
use crate::shell::Action;
use crate::text::ends;
use crate::text::{first_part, last_part};

/// How much is shown of a command's output: of a check, of git and of any failure; of any other; of
/// one that only reads.
pub const TELLING_OUTPUT: usize = 900;
pub const PLAIN_OUTPUT: usize = 280;
pub const READING_OUTPUT: usize = 200;
/// The same, when there is little room.
pub const TELLING_OUTPUT_SHORT: usize = 300;
/// How much is shown of a command line, of a message and of a report.
pub const LINE: usize = 600;
pub const LINE_SHORT: usize = 160;
pub const SAID: usize = 900;
pub const SAID_SHORT: usize = 260;
pub const REPORT: usize = 1_600;
pub const REPORT_SHORT: usize = 400;

/// How much is shown of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Nothing,
    Short,
    Full,
}

#[derive(Debug, Clone, Copy)]
enum Entry<'a> {
    Ask(usize),
    Edits(&'a Touch, usize),
    Run(&'a Command),
    Said(&'a Remark),
    Subagent(&'a Delegation),
}

impl Entry<'_> {
    /// How informative an entry is: the least informative are shortened first.
    fn weight(&self) -> u8 {
        match self {
            Self::Run(command) if command.line.only_reads() && !has_failed(command) => 0,
            Self::Run(command) if !is_telling(command) => 1,
            Self::Said(remark) if !remark.ends_turn => 1,
            Self::Run(_) | Self::Said(_) => 2,
            Self::Edits(..) | Self::Subagent(_) | Self::Ask(_) => 3,
        }
    }
}

/// Returns the timeline within `room` bytes, with a summary of what was judged before.
pub fn timeline(session: &Session, judged: Option<&JudgedUntil>, room: usize) -> String {
    let from = judged.map_or(0, |judged| judged.at + 1);
    let entries = entries(session, from);
    let mut text = String::new();
    if from > 0 {
        text.push_str(&summary(session, from));
    }
    if session.forgotten.commands || session.forgotten.files {
        text.push_str("[… this session is long: its oldest edits and commands are not kept …]\n");
    }
    let room = room.saturating_sub(text.len());
    let texts = fit(&entries, session.cwd.as_deref(), room);
    let only_reads = |entry: &Entry<'_>| entry.weight() == 0;
    let reads_left_out =
        entries.iter().zip(&texts).filter(|(entry, text)| text.is_none() && only_reads(entry)).count();
    if reads_left_out > 0 {
        let _ = writeln!(text, "[… {reads_left_out} commands that only look are not shown …]");
    }
    let mut left_out = 0;
    for (entry, entry_text) in entries.iter().zip(texts) {
        let Some(entry_text) = entry_text else {
            left_out += usize::from(!only_reads(entry));
            continue;
        };
        mark_left_out(&mut text, &mut left_out);
        text.push_str(&entry_text);
    }
    mark_left_out(&mut text, &mut left_out);
    if text.is_empty() { "(nothing was done)".to_owned() } else { text.trim_end().to_owned() }
}

/// Writes the entries within `room` bytes; `None` for those that are left out. The least
/// informative give way first, the oldest before the newest.
fn fit(entries: &[Entry<'_>], cwd: Option<&str>, room: usize) -> Vec<Option<String>> {
    let texts =
        |detail| -> Vec<String> { entries.iter().map(|entry| write_entry(entry, detail, cwd)).collect() };
    let full = texts(Detail::Full);
    let mut bytes: usize = full.iter().map(String::len).sum();
    if bytes <= room {
        return full.into_iter().map(Some).collect();
    }
    let short = texts(Detail::Short);
    let weights: Vec<u8> = entries.iter().map(Entry::weight).collect();
    let mut details = vec![Detail::Full; entries.len()];
    let length = |at: usize, detail: Detail| match detail {
        Detail::Full => full[at].len(),
        Detail::Short => short[at].len(),
        Detail::Nothing => 0,
    };
    'fitting: for detail in [Detail::Short, Detail::Nothing] {
        for weight in 0..=3 {
            for at in 0..entries.len() {
                if bytes <= room {
                    break 'fitting;
                }
                let may_go = detail == Detail::Short || weight < 3 || at + NEWEST < entries.len();
                if weights[at] == weight && details[at] > detail && may_go {
                    bytes = bytes + length(at, detail) - length(at, details[at]);
                    details[at] = detail;
                    if detail == Detail::Nothing {
                        bytes = bytes + MARK - MARK * neighbours_left_out(&details, at);
                    }
                }
            }
        }
    }
    let texts = details.into_iter().zip(full.into_iter().zip(short));
    let chosen = texts.map(|(detail, (full, short))| match detail {
        Detail::Full => Some(full),
        Detail::Short => Some(short),
        Detail::Nothing => None,
    });
    chosen.collect()
}

/// The length of the mark for entries that are left out.
pub const MARK: usize = 48;

/// Returns how many neighbours of an entry are left out: it shares a mark with each of them.
fn neighbours_left_out(details: &[Detail], at: usize) -> usize {
    let is_left_out = |at: Option<usize>| at.and_then(|at| details.get(at)) == Some(&Detail::Nothing);
    usize::from(is_left_out(at.checked_sub(1))) + usize::from(is_left_out(Some(at + 1)))
}

/// How many of the newest entries are never left out.
pub const NEWEST: usize = 12;

fn mark_left_out(text: &mut String, left_out: &mut usize) {
    if *left_out > 0 {
        let _ = writeln!(text, "[… {left_out} entries are not shown …]");
        *left_out = 0;
    }
}

/// Returns the entries from a row of the session on, in order. Consecutive edits of one file are
/// one entry.
fn entries(session: &Session, from: usize) -> Vec<Entry<'_>> {
    let mut all: Vec<(usize, u8, Entry<'_>)> = Vec::new();
    let asks = session.asks.iter().enumerate().filter(|(_, ask)| ask.at >= from);
    all.extend(asks.map(|(number, ask)| (ask.at, 0, Entry::Ask(number + 1))));
    let remarks = session.remarks.iter().filter(|remark| remark.at >= from);
    all.extend(remarks.map(|remark| (remark.at, 1, Entry::Said(remark))));
    let delegations = session.delegations.iter().filter(|delegation| delegation.at >= from);
    all.extend(delegations.map(|delegation| (delegation.at, 2, Entry::Subagent(delegation))));
    let touches = session.touches.iter().filter(|touch| touch.at >= from);
    all.extend(touches.map(|touch| (touch.at, 3, Entry::Edits(touch, 1))));
    let commands = session.commands.iter().filter(|command| command.at >= from);
    all.extend(commands.map(|command| (command.at, 3, Entry::Run(command))));
    all.sort_by_key(|(at, order, _)| (*at, *order));
    let mut entries: Vec<Entry<'_>> = Vec::with_capacity(all.len());
    for (_, _, entry) in all {
        if let Entry::Edits(touch, _) = entry
            && let Some(Entry::Edits(last, times)) = entries.last_mut()
            && last.path == touch.path
            && last.tool == touch.tool
            && last.outcome == touch.outcome
            && last.agent == touch.agent
        {
            *times += 1;
            continue;
        }
        entries.push(entry);
    }
    entries
}

fn write_entry(entry: &Entry<'_>, detail: Detail, root: Option<&str>) -> String {
    let is_short = detail == Detail::Short;
    let cap = |full: usize, short: usize| if is_short { short } else { full };
    match entry {
        Entry::Ask(number) => format!("-- the person's ask {number} --\n"),
        Entry::Said(remark) => {
            let when = if remark.ends_turn { "agent, at the end of the turn" } else { "agent" };
            format!("{when}: {}\n", one_line(&both_ends(&remark.text, cap(SAID, SAID_SHORT))))
        }
        Entry::Edits(touch, times) => {
            let times = if *times > 1 { format!(" ×{times}") } else { String::new() };
            let end = match &touch.outcome {
                Outcome::Done => String::new(),
                Outcome::Failed(why) => format!(" FAILED: {}", one_line(&first_part(why, 160))),
                Outcome::Unanswered => " (no result recorded)".to_owned(),
            };
            let path = name(seen_from(root, &touch.path));
            format!("{} {path}{times}{end}{}\n", touch.tool.name(), by(touch.agent.as_deref()))
        }
        Entry::Run(command) => run(command, cap(LINE, LINE_SHORT), output_cap(command, is_short)),
        Entry::Subagent(delegation) => {
            let end = match &delegation.outcome {
                Outcome::Done => "its report",
                Outcome::Failed(_) => "it failed",
                Outcome::Unanswered => "no report recorded",
            };
            let mut text = format!(
                "subagent ({}) \"{}\"; {end}:\n",
                one_line(&delegation.agent_type),
                one_line(&delegation.description)
            );
            for line in lines(&both_ends(&delegation.report, cap(REPORT, REPORT_SHORT))) {
                let _ = writeln!(text, "  | {line}");
            }
            text
        }
    }
}

fn by(agent: Option<&str>) -> String {
    agent.map(|agent| format!(" (by subagent {})", one_line(agent))).unwrap_or_default()
}

fn output_cap(command: &Command, is_short: bool) -> usize {
    if is_telling(command) {
        if is_short { TELLING_OUTPUT_SHORT } else { TELLING_OUTPUT }
    } else if is_short {
        0
    } else if command.line.only_reads() {
        READING_OUTPUT
    } else {
        PLAIN_OUTPUT
    }
}

fn has_failed(command: &Command) -> bool {
    matches!(command.end, CommandEnd::Failed(_) | CommandEnd::Interrupted)
}

/// Returns whether a command's output is likely to settle something: a check, git, the forge, or a
/// failure.
fn is_telling(command: &Command) -> bool {
    let line = &command.line;
    has_failed(command) || line.check().is_some() || line.uses_version_control()
}

/// Writes a command with how it ended and the end of its output. Further lines of a long command
/// are indented, so that none passes for an entry of its own.
fn run(command: &Command, line_cap: usize, output_cap: usize) -> String {
    let line = both_ends(command.line.trim(), line_cap);
    let mut text = format!("$ {}", indented(&line, "    "));
    let end = match command.end {
        CommandEnd::Succeeded if command.line.hides_exit_status() => {
            "ok (but a pipe, `||` or `;` hides the exit code: only the output tells)".to_owned()
        }
        CommandEnd::Succeeded => "ok".to_owned(),
        CommandEnd::Failed(Some(code)) => format!("FAILED, exit code {code}"),
        CommandEnd::Failed(None) => "FAILED".to_owned(),
        CommandEnd::Interrupted => "interrupted".to_owned(),
        CommandEnd::Background => "sent to the background: its end is not known".to_owned(),
        CommandEnd::Unanswered => "no result recorded".to_owned(),
    };
    let _ = writeln!(text, "\n  => {end}{}", by(command.agent.as_deref()));
    if output_cap > 0 {
        let output = last_part(command.output.trim_end(), output_cap);
        for line in lines(&output).filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(text, "  | {line}");
        }
    }
    text
}

/// Summarises what was done before the timeline begins, in a few lines.
fn summary(session: &Session, from: usize) -> String {
    let asks = session.asks.iter().filter(|ask| ask.at < from).count();
    let root = session.cwd.as_deref();
    let mut files: BTreeMap<&str, usize> = BTreeMap::new();
    for touch in session.done_touches().filter(|touch| touch.at < from) {
        *files.entry(seen_from(root, &touch.path)).or_default() += 1;
    }
    let commands: Vec<&Command> = session.commands.iter().filter(|command| command.at < from).collect();
    let mut last_runs: BTreeMap<Action, &Command> = BTreeMap::new();
    for command in &commands {
        if let Some(check) = command.line.check() {
            last_runs.insert(check, command);
        }
    }
    let mut text = format!(
        "(Up to here the session was judged at an earlier stop, and nothing was held: {asks} asks, {} files edited, {} commands.",
        files.len(),
        commands.len()
    );
    if !files.is_empty() {
        let names: Vec<_> = files.keys().copied().take(40).map(name).collect();
        let more = if files.len() > names.len() { ", …" } else { "" };
        let _ = write!(text, "\nEdited: {}{more}", names.join(", "));
    }
    text.push_str(")\n");
    for command in last_runs.values() {
        text.push_str("(earlier) ");
        text.push_str(&run(command, LINE_SHORT, TELLING_OUTPUT_SHORT));
    }
    text
}

/// Returns the start and the end of a long text. Its mark and its shares are part of the recorded
/// prompts.
pub fn both_ends(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let (start, end) = ends(text, cap * 2 / 3, cap / 3);
    format!("{start} [… {} bytes cut …] {end}", text.len() - start.len() - end.len())
}
