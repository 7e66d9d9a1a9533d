//! Writes the sections of a prompt from session, plan, files and git, each within its share of the
//! room. Pure. Must not leave out a file's name, even if its content is left out, and must not let
//! a value inside a line pass for another line.

use std::fmt::Write;

use serde::Serialize;

use super::budget::{both_ends_within, end_within, newest_within, start_within};
use super::line::{indented, name, one_line};
use super::timeline::{both_ends, timeline};
use super::{
    Entered, Evidence, FileChange, FileEvidence, FileState, JudgedUntil, Limit, NamedIn, Repository,
};
use crate::finding::{ClaimedIn, Finding};
use crate::paths::seen_from;
use crate::plan::Plan;
use crate::session::{Outcome, Session};

/// The shares of the sections that do not depend on file contents, in hundredths of the whole.
pub const PLAN_SHARE: usize = 24;
pub const PLAN_DIFF_SHARE: usize = 10;
pub const ASKS_SHARE: usize = 14;
pub const TASKS_SHARE: usize = 5;
pub const TIMELINE_SHARE: usize = 28;
pub const GIT_SHARE: usize = 5;
pub const MESSAGE_SHARE: usize = 12;
/// No ask is longer than this, however much room there is.
pub const MAX_OF_ASK: usize = 8 << 10;
/// No ask is cut to less than this, however many there are.
pub const MIN_OF_ASK: usize = 160;
/// How much is shown of an ask that was judged before.
pub const JUDGED_ASK: usize = 240;
/// Room for a file's line and the marks around its content, without its name.
pub const FILE_HEADER: usize = 170;
/// How many files have a line in any case, and how much of the room for files (in hundredths) all
/// lines may take, so that a thousand names leave room for content.
pub const LEAST_LISTED: usize = 150;
pub const LINES_SHARE: usize = 60;

/// The sections of a prompt that do not depend on file contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sections {
    /// The plan as it is now.
    pub plan: String,
    /// What changed in it since the session began.
    pub plan_diff: String,
    /// What the person asked, in order.
    pub asks: String,
    /// The task list.
    pub tasks: String,
    /// Edits, commands and messages in order.
    pub timeline: String,
    /// The agent's final message.
    pub message: String,
}

impl Sections {
    /// Writes the sections, each within its share of `max_bytes`.
    pub fn new(
        session: &Session,
        plan: Option<&Plan>,
        judged: Option<&JudgedUntil>,
        max_bytes: usize,
    ) -> Self {
        let share = |hundredths: usize| max_bytes * hundredths / 100;
        let message = session.final_message.as_deref().unwrap_or("(the agent ended without a word)");
        Self {
            plan: plan_text(plan, session.cwd.as_deref(), share(PLAN_SHARE)),
            plan_diff: plan_diff(plan, share(PLAN_DIFF_SHARE)),
            asks: asks_text(session, judged, share(ASKS_SHARE)),
            tasks: tasks_text(session, share(TASKS_SHARE)),
            timeline: timeline(session, judged, share(TIMELINE_SHARE)),
            message: both_ends_within(message, share(MESSAGE_SHARE)).text,
        }
    }

    /// Returns how many bytes of the prompt they take.
    pub fn bytes(&self) -> usize {
        let all = [&self.plan, &self.plan_diff, &self.asks, &self.tasks, &self.timeline, &self.message];
        all.iter().map(|part| part.len()).sum()
    }
}

/// Returns the room for [`git_text`].
pub fn git_room(max_bytes: usize) -> usize {
    max_bytes * GIT_SHARE / 100
}

/// Returns the room for the lines of files.
pub fn lines_room(files: usize) -> usize {
    files * LINES_SHARE / 100
}

fn plan_text(plan: Option<&Plan>, cwd: Option<&str>, room: usize) -> String {
    let Some(plan) = plan else { return "(no plan is in play)".to_owned() };
    let text = both_ends_within(plan.text.trim_end(), room).text;
    match &plan.path {
        Some(path) => format!("(its file: {})\n{text}", name(seen_from(cwd, path))),
        None => text,
    }
}

fn plan_diff(plan: Option<&Plan>, room: usize) -> String {
    let diff = plan.and_then(Plan::diff);
    match (plan, diff) {
        (None, _) => String::new(),
        (Some(plan), None) if plan.before.is_some() => "(nothing)".to_owned(),
        (Some(_), None) => "(what it was before is not known)".to_owned(),
        (Some(_), Some(diff)) => both_ends_within(diff.trim_end(), room).text,
    }
}

/// An ask with its number, and whether it was judged before.
type NumberedAsk<'a> = (usize, &'a str, bool);

/// Writes every ask, with its number; long ones are cut first, so that none is left out.
fn asks_text(session: &Session, judged: Option<&JudgedUntil>, room: usize) -> String {
    let asks: Vec<NumberedAsk<'_>> = session
        .asks
        .iter()
        .enumerate()
        .map(|(at, ask)| (at + 1, ask.text.trim(), judged.is_some_and(|judged| ask.at <= judged.at)))
        .collect();
    if asks.is_empty() {
        return "(none)".to_owned();
    }
    let mut text = String::new();
    if session.forgotten.asks > 0 {
        text.push_str("[… older asks are not kept …]\n");
    }
    let smaller = |cap: usize| (cap * 3 / 4).max(MIN_OF_ASK);
    // Numbers and indents come on top: where the words alone do not fit, nothing is written yet.
    let words = |cap: usize| asks.iter().map(|ask| ask.1.len().min(cap_of(*ask, cap))).sum::<usize>();
    let mut cap = MAX_OF_ASK;
    while cap > MIN_OF_ASK && words(cap) > room {
        cap = smaller(cap);
    }
    let write_asks = |cap: usize| asks.iter().map(|ask| write_ask(*ask, cap)).collect::<String>();
    let mut entries = write_asks(cap);
    while cap > MIN_OF_ASK && text.len() + entries.len() > room {
        cap = smaller(cap);
        entries = write_asks(cap);
    }
    text.push_str(&entries);
    end_within(text.trim_end(), room.max(MIN_OF_ASK)).text
}

/// Writes an ask with its number. Further lines are indented, so that none passes for another ask.
fn write_ask(ask: NumberedAsk<'_>, cap: usize) -> String {
    format!("{}. {}\n", ask.0, indented(&both_ends(ask.1, cap_of(ask, cap)), "   "))
}

fn cap_of((_, _, was_judged): NumberedAsk<'_>, cap: usize) -> usize {
    if was_judged { cap.min(JUDGED_ASK) } else { cap }
}

fn tasks_text(session: &Session, room: usize) -> String {
    if session.todos.is_empty() {
        return "(the session kept none)".to_owned();
    }
    let tasks = session.todos.iter();
    let tasks = tasks.map(|todo| format!("- [{}] {}\n", one_line(&todo.status), one_line(&todo.text)));
    newest_within(&tasks.collect::<Vec<_>>(), room)
}

/// Writes what git reports, within `room` bytes.
pub fn git_text(repository: Option<&Repository>, room: usize) -> String {
    let Some(git) = repository else { return "(no git repository, or it did not answer)".to_owned() };
    let mut text = format!("branch: {}", git.branch.as_deref().map_or("(none: detached)".into(), one_line));
    match &git.upstream {
        Some(upstream) => {
            let _ = writeln!(
                text,
                ", follows {}: {} commits not pushed, {} only there",
                one_line(&upstream.name),
                upstream.ahead,
                upstream.behind
            );
        }
        None => text.push_str(", follows no branch of a remote: none of its commits is known to be pushed\n"),
    }
    if git.commits.is_empty() {
        text.push_str("commits in the time of this session: none\n");
    } else {
        text.push_str("commits in the time of this session, newest first:\n");
        for commit in git.commits.iter().take(25) {
            let other = if commit.is_on_branch { "" } else { " (on another branch)" };
            let files: Vec<String> =
                commit.files.iter().take(8).map(|file| name(file).into_owned()).collect();
            let more = if commit.files.len() > files.len() { ", …" } else { "" };
            let _ = writeln!(
                text,
                "- {} {}{other} [{}{more}]",
                commit.id,
                one_line(&commit.subject),
                files.join(", ")
            );
        }
    }
    if git.uncommitted.is_empty() {
        text.push_str("not committed: nothing\n");
    } else {
        let files: Vec<String> = git
            .uncommitted
            .iter()
            .take(60)
            .map(|file| format!("{} {}", file.letters, name(&file.path)))
            .collect();
        let more = git.uncommitted.len() - files.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let _ = writeln!(text, "not committed: {}{more}", files.join("; "));
    }
    for stash in git.stashes.iter().take(10) {
        let _ = writeln!(text, "stashed: {} {}", one_line(&stash.name), one_line(&stash.subject));
    }
    start_within(text.trim_end(), room).text
}

/// Returns what is at a path, and what happened to it in the session.
pub fn on_disk(file: &FileEvidence) -> String {
    let state = match &file.state {
        FileState::File { bytes } => format!("exists ({bytes} bytes)"),
        FileState::Folder => "is a folder".to_owned(),
        FileState::Missing { elsewhere: None } => "does not exist".to_owned(),
        FileState::Missing { elsewhere: Some(there) } => {
            format!("is not there, but {} exists", name(there))
        }
        FileState::Outside => "is outside the workspace".to_owned(),
        FileState::Unreadable(why) => format!("can't be read ({})", one_line(why)),
    };
    let change = match file.change {
        FileChange::Created => ", new in this session",
        FileChange::Modified => ", changed in this session",
        FileChange::Deleted => ", was there and is gone",
        FileChange::Unchanged => ", as it was before this session",
        FileChange::Unknown => "",
    };
    let tools = tools(file);
    let how = match (tools.is_empty(), file.was_changed()) {
        (false, _) => format!(" (by {tools})"),
        (true, true) => " (not by an edit tool: by a command, a generator or another program)".to_owned(),
        (true, false) => String::new(),
    };
    format!("{state}{change}{how}")
}

fn tools(file: &FileEvidence) -> String {
    let notes = file.touches.iter().map(|touch| {
        let end = match &touch.outcome {
            Outcome::Done => "",
            Outcome::Failed(_) => ", which failed",
            Outcome::Unanswered => ", no result recorded",
        };
        let times = if touch.times > 1 { format!(" ×{}", touch.times) } else { String::new() };
        let by = touch
            .agent
            .as_deref()
            .map(|agent| format!(" of subagent {}", one_line(agent)))
            .unwrap_or_default();
        format!("{}{times}{by}{end}", one_line(&touch.tool))
    });
    notes.take(6).collect::<Vec<_>>().join(", ")
}

fn named_in(file: &FileEvidence) -> String {
    let mut by: Vec<String> = Vec::new();
    let steps: Vec<String> = file.steps().take(8).map(|number| number.to_string()).collect();
    if !steps.is_empty() {
        by.push(format!("the plan (step {})", steps.join(", ")));
    }
    for (who, words) in
        [(NamedIn::Message, "the final message"), (NamedIn::Task, "a task"), (NamedIn::Ask, "an ask")]
    {
        if file.named_in.contains(&who) {
            by.push(words.to_owned());
        }
    }
    by.join(", ")
}

/// Writes a line for every file, then the contents, within `room` bytes.
pub fn files_text(evidence: &Evidence, fence: &str, room: usize) -> String {
    let files = &evidence.files;
    if files.is_empty() {
        return "(no file changed, and none is named)".to_owned();
    }
    let mut text = String::new();
    let mut more = 0;
    for (at, file) in files.iter().enumerate() {
        if at >= LEAST_LISTED && text.len() > lines_room(room) {
            more = files.len() - at;
            break;
        }
        let named = named_in(file);
        let named = if named.is_empty() { String::new() } else { format!("; named in {named}") };
        let shown = match &file.entered {
            Entered::Whole => "; its content is below".to_owned(),
            Entered::Diff => "; what changed in it is below".to_owned(),
            Entered::Cut(_) => "; a part of it is below".to_owned(),
            Entered::LeftOut(why) if file.was_changed() => format!("; not shown: {}", why.reason()),
            Entered::LeftOut(_) => String::new(),
        };
        let _ = writeln!(text, "{}: {}{named}{shown}", name(&file.name), on_disk(file));
    }
    if more > 0 {
        let _ = writeln!(text, "[… {more} more files are not listed …]");
    }
    if evidence.unlisted > 0 {
        let _ = writeln!(
            text,
            "[… {} more files that changed, by no edit tool and named by nobody, are not listed …]",
            evidence.unlisted
        );
    }
    for limit in evidence.limits.iter().filter(|limit| !matches!(limit, Limit::Changes(_))) {
        let _ = writeln!(text, "[… {}: what was not looked at proves nothing …]", limit.describe());
    }
    for file in files.iter().filter(|file| !file.text.is_empty()) {
        let shown = match &file.entered {
            Entered::Whole => "whole".to_owned(),
            Entered::Diff => "diff against what it was before the session".to_owned(),
            Entered::Cut(missing) => {
                format!("cut, {missing} bytes are not shown: what is not shown proves nothing")
            }
            Entered::LeftOut(_) => continue,
        };
        let _ = writeln!(
            text,
            "\n{} ({shown}):\n<<{fence} content>>\n{}\n<<{fence} end content>>",
            name(&file.name),
            file.text.trim_end()
        );
    }
    start_within(text.trim_end(), room).text
}

/// Writes what the program found by itself, numbered, so that the reader can agree or dispute.
pub fn candidates_text(facts: &[Finding]) -> String {
    let lines: Vec<_> = facts
        .iter()
        .enumerate()
        .map(|(at, fact)| {
            let path = fact.path.as_ref().map(|path| format!(" [{}]", name(path))).unwrap_or_default();
            format!(
                "{}. {} \"{}\"{path}: {}",
                at + 1,
                fact.category.name(),
                one_line(&fact.claim),
                one_line(&fact.why)
            )
        })
        .collect();
    if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n") }
}

/// Returns the text in which a claim must be found: the plan's, the message's, the tasks' or the
/// asks'.
pub fn claims_text(evidence: &Evidence, claimed_in: ClaimedIn) -> String {
    let session = &evidence.session;
    match claimed_in {
        ClaimedIn::Plan => {
            let plan = evidence.plan.as_ref();
            let now = plan.map(|plan| plan.text.clone()).unwrap_or_default();
            let before = plan.and_then(|plan| plan.before.as_ref()).map(|before| before.text.clone());
            [now, before.unwrap_or_default()].join("\n")
        }
        ClaimedIn::Message => session.final_message.clone().unwrap_or_default(),
        ClaimedIn::Tasks => session
            .todos
            .iter()
            .map(|todo| format!("- [{}] {}", todo.status, todo.text))
            .collect::<Vec<_>>()
            .join("\n"),
        ClaimedIn::Asks => session.asks.iter().map(|ask| ask.text.as_str()).collect::<Vec<_>>().join("\n"),
        ClaimedIn::Nowhere => String::new(),
    }
}
