//! What happened: a session built from its transcript and its subagents' transcripts.
//!
//! `transcript` reads lines, `client::row` parses them into rows, `builder` folds rows into a
//! [`Session`] of bounded size (`retention`), `resume` stores how far that went, `absorb` merges a
//! subagent's work, `load` reads a whole session. Only `transcript`, `file_history` and `load`
//! touch the disk.
//!
//! In every entry `at` is its position in the session, which is the number of its row, and `time`
//! is the time of that row, in milliseconds since 1970, if it has one.

pub mod absorb;
pub mod builder;
pub mod file_history;
pub mod load;
pub mod resume;
pub mod retention;
pub mod transcript;

use serde::{Deserialize, Serialize};

use crate::shell::CommandLine;
use crate::text::normalise::bare;

pub use crate::client::tool_call::{EditTool, Todo};
pub use crate::client::tool_result::CommandEnd;
pub use crate::session::builder::SessionBuilder;
pub use crate::session::file_history::Recorded;
pub use crate::session::retention::Forgotten;

/// Something the person asked for, in their own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    pub text: String,
    /// Its position in the session: actions with a higher number came after it.
    pub at: usize,
    pub time: Option<i64>,
}

/// A message of the main agent that was not its final one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The text, or the start and end of a long one.
    pub text: String,
    pub at: usize,
    pub time: Option<i64>,
    /// Whether the agent ended a turn with it. The others are before a tool call of the same turn.
    pub ends_turn: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFile {
    pub path: String,
    /// The position of the first read or, if `text` is known, of the read that returned it.
    pub at: usize,
    pub time: Option<i64>,
    /// The text of a Markdown file when it was first read whole (`file_history`). Unknown for all
    /// others.
    pub text: Original,
}

/// How a call ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    Done,
    /// It failed; has the start of the reason.
    Failed(String),
    /// No result in the transcript.
    #[default]
    Unanswered,
}

/// A file's content before the session changed it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Original {
    /// The transcript does not say.
    #[default]
    Unknown,
    /// There was no such file.
    Absent,
    Text(String),
    /// The text at this position in the transcript, which is read when it is needed
    /// (`file_history`).
    Recorded(Recorded),
}

impl Original {
    /// Returns the text, if it was read.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unknown | Self::Absent | Self::Recorded(_) => None,
        }
    }
}

/// One change of one file, attempted or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The path as the call gave it; absolute from the real client.
    pub path: String,
    pub tool: EditTool,
    pub at: usize,
    pub time: Option<i64>,
    pub outcome: Outcome,
    /// The content before; only for the first successful change of each file.
    pub original: Original,
    /// Which subagent did it, if one did.
    pub agent: Option<String>,
    /// The replaced text; for the newest successful change of each file, and for all of a Markdown
    /// file's.
    pub change: Option<Change>,
    /// Its position in the transcript, if it was not read yet (`file_history`).
    pub change_at: Option<ChangeAt>,
}

/// The position of a replacement in a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeAt {
    /// What was removed; `None` for a whole file.
    pub old: Option<Recorded>,
    pub new: Recorded,
}

/// A replacement, with long texts cut at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What was removed; empty for a whole file.
    pub old: String,
    pub new: String,
}

/// A tool whose calls have no list of their own: another server's, a web search, a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCall {
    pub tool: String,
    /// The position of its last call.
    pub at: usize,
}

/// One shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    pub line: CommandLine,
    pub at: usize,
    pub time: Option<i64>,
    /// When its result was written, in milliseconds since 1970.
    pub ended: Option<i64>,
    pub end: CommandEnd,
    /// The end of what it printed.
    pub output: String,
    /// Which subagent ran it, if one did.
    pub agent: Option<String>,
}

/// A plan that the person accepted in this session, or that the session was opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedPlan {
    /// Its text; some calls name only the file.
    pub text: Option<String>,
    /// Its file, if one is named.
    pub path: Option<String>,
    /// The client's short name for it: the file is `<plans>/<slug>.md`.
    pub slug: Option<String>,
    pub at: usize,
}

/// Work handed to a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    pub description: String,
    pub agent_type: String,
    pub outcome: Outcome,
    /// Its report, or the start and end of a long one. Empty until there is one: a call that only
    /// sent the subagent to the background reports nothing.
    pub report: String,
    /// The subagent's id; its transcript is `agent-<id>.jsonl`.
    pub agent_id: Option<String>,
    pub at: usize,
    pub time: Option<i64>,
}

/// How many lines of a transcript could not be used, for the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Lines that are not JSON, whole or in part (torn, cut, noise).
    pub unreadable: usize,
    /// Rows of an unknown type.
    pub unknown: usize,
    /// Lines too long to hold in memory.
    pub oversized: usize,
    /// Lines with bytes that are not UTF-8, read with those replaced.
    pub repaired: usize,
}

impl std::ops::AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.unreadable += other.unreadable;
        self.unknown += other.unknown;
        self.oversized += other.oversized;
        self.repaired += other.repaired;
    }
}

/// The last thing in the transcript that belongs to the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tail {
    #[default]
    Empty,
    Words,
    /// A tool call that has no result yet.
    OpenCall,
    Result,
    Prompt,
}

/// What happened in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: Option<String>,
    /// Where it was started.
    pub cwd: Option<String>,
    pub version: Option<String>,
    /// The timestamp of its first row, as written.
    pub started: Option<String>,
    /// The timestamp of its newest row.
    pub ended: Option<String>,
    pub asks: Vec<Ask>,
    pub touches: Vec<Touch>,
    /// The agent's messages before the final one, in order.
    pub remarks: Vec<Remark>,
    /// Files that were read, each once.
    pub reads: Vec<ReadFile>,
    pub commands: Vec<Command>,
    pub todos: Vec<Todo>,
    /// Other tools that were called, each once.
    pub other_calls: Vec<OtherCall>,
    pub plans: Vec<ApprovedPlan>,
    /// Texts of the plans that the person rejected and did not take up later.
    pub rejected_plans: Vec<String>,
    pub delegations: Vec<Delegation>,
    pub final_message: Option<String>,
    /// The position of the agent's newest call of any tool.
    pub last_call: usize,
    pub tail: Tail,
    pub rows: usize,
    pub skipped: Skipped,
    pub forgotten: Forgotten,
    pub masked: Masked,
    /// The transcripts that it was read from; [`Recorded`] refers to them.
    pub sources: Vec<String>,
}

/// How many entries at the start of each list are masked already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    pub asks: usize,
    pub commands: usize,
    pub delegations: usize,
    pub remarks: usize,
    pub touches: usize,
    /// How many secrets were masked in them.
    pub count: usize,
}

impl Session {
    /// Returns whether its transcript has rows, but none of Claude Code's.
    pub fn is_foreign(&self) -> bool {
        self.rows == 0 && self.skipped.unknown > 0
    }

    pub fn done_touches(&self) -> impl DoubleEndedIterator<Item = &Touch> {
        self.touches.iter().filter(|touch| touch.outcome == Outcome::Done)
    }

    /// Returns how much work the session has done: files changed and commands that may have changed
    /// something. It never decreases, so "since the last audit" is a comparison.
    pub fn work_done(&self) -> usize {
        let effects = self.commands.iter().filter(|command| command.may_have_effects()).count();
        self.forgotten.work + self.done_touches().count() + effects
    }
}

impl Command {
    /// Returns whether it succeeded, and nothing on its line hides a failure.
    pub fn has_passed(&self) -> bool {
        self.end == CommandEnd::Succeeded && !self.line.hides_exit_status()
    }

    /// Returns whether a quote is of its line or of its output; white space and Markdown marks do
    /// not count.
    pub fn is_quoted_by(&self, quote: &str) -> bool {
        let (quote, line) = (bare(quote), bare(&self.line));
        !quote.is_empty()
            && !line.is_empty()
            && (line.contains(&quote) || quote.contains(&line) || bare(&self.output).contains(&quote))
    }

    /// Returns whether it may have changed anything: it ran, and does more than read.
    pub fn may_have_effects(&self) -> bool {
        self.end != CommandEnd::Unanswered && !self.line.only_reads()
    }
}
