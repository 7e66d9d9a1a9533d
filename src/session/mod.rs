//! What happened: a session folded from its transcript and its subagents' transcripts.
//!
//! `batches` and `reader` give lines, `scan` and `lines` split them into rows, `ledger` folds rows
//! into a [`Session`] of bounded size (`bounds`), `cursor` remembers how far that went, `absorb`
//! puts a subagent's work in its place, `load` puts a whole session together. Only `batches`,
//! `reader`, `originals` and `load` touch the disk.

pub mod absorb;
pub mod ahead;
pub mod asks;
pub mod builder;
pub mod early_results;
pub mod file_history;
pub mod line_reader;
pub mod list;
pub mod load;
pub mod long_line;
pub mod reader;
pub mod results;
pub mod resume;
pub mod retention;
pub mod seen_ids;

use serde::{Deserialize, Serialize};

use crate::shell::CommandLine;
use crate::text::normalise::bare;

pub use crate::session::builder::SessionBuilder;
pub use crate::session::file_history::Recorded;
pub use crate::session::retention::Forgotten;
pub use list::{Entries, List};

/// Something the person asked for, in their own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The words.
    pub text: String,
    /// Where in the session it stands: actions with a higher number came after it.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
}

/// A message of the main agent that was not its final one: what it told the person on the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The words, start and end where they are long.
    pub text: String,
    /// Where in the session.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
    /// Whether the agent ended a turn with it. The others stand before a tool call of the same
    /// turn.
    #[serde(default)]
    pub ends_turn: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFile {
    /// The path as the call gave it.
    pub path: String,
    /// Where in the session it was read first; where `text` is known, where that was read.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
    /// What a Markdown file held when it was first read whole (`originals`). Unknown for all
    /// others.
    pub text: Original,
}

/// The tool with which a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EditTool {
    /// A whole file.
    Write,
    /// One replacement.
    Edit,
    /// Several replacements at once (to 1.0.128).
    MultiEdit,
    /// A notebook's cell.
    NotebookEdit,
}

impl EditTool {
    /// The tool of that name, if it changes files.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "Write" => Some(Self::Write),
            "Edit" => Some(Self::Edit),
            "MultiEdit" => Some(Self::MultiEdit),
            "NotebookEdit" => Some(Self::NotebookEdit),
            _ => None,
        }
    }

    /// The client's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Write => "Write",
            Self::Edit => "Edit",
            Self::MultiEdit => "MultiEdit",
            Self::NotebookEdit => "NotebookEdit",
        }
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It did what it was asked.
    Done,
    /// It did not: the first words of why.
    Failed(String),
    /// No result in the transcript.
    Unanswered,
}

/// What a file was before the session changed it, as far as the transcript tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Original {
    /// The transcript does not say.
    Unknown,
    /// There was no such file.
    Absent,
    Text(String),
    /// The text that stands there in the transcript. It is read when it is needed (`originals`).
    Recorded(Recorded),
}

impl Original {
    /// The text, if it is held here.
    pub fn held(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unknown | Self::Absent | Self::Recorded(_) => None,
        }
    }
}

/// One change of one file, tried or done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The path as the call gave it; absolute from the real client.
    pub path: String,
    pub tool: EditTool,
    /// Where in the session.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What was there before; kept only for the first change of each file that was done.
    pub original: Original,
    /// Which subagent did it, if one did.
    pub agent: Option<String>,
    /// What was put in the place of what; kept for the newest change of each file that was done, and for all of a
    /// Markdown file's.
    pub change: Option<Change>,
    /// Where the transcript tells that, if it was not read from there yet (`originals`).
    #[serde(default)]
    pub change_at: Option<ChangeAt>,
}

/// Where a transcript holds what a change put in the place of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeAt {
    /// What was taken out; `None` for a whole file.
    pub old: Option<Recorded>,
    /// What was put in.
    pub new: Recorded,
}

/// What a change put in the place of what, each cut at its end where it is long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What was taken out; empty for a whole file.
    pub old: String,
    /// What was put in.
    pub new: String,
}

/// A tool whose calls leave no other trace here: another server's, a web search, a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherCall {
    /// The tool's name.
    pub tool: String,
    /// Where in the session it was called last.
    pub at: usize,
}

/// How a shell command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnd {
    /// Exit code 0, or no word of a failure.
    Succeeded,
    /// It failed, with this exit code where one is named.
    Failed(Option<i32>),
    /// The person or a timeout ended it.
    Interrupted,
    /// It was sent to the background: its end is not known.
    Background,
    /// No result in the transcript.
    Unanswered,
}

/// One shell command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The command line.
    pub line: String,
    /// Where in the session.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
    pub end: CommandEnd,
    /// The last part of what it printed.
    pub output: String,
    /// Which subagent ran it, if one did.
    pub agent: Option<String>,
}

/// One entry of the session's own task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// The client's id, where it has one.
    pub id: Option<String>,
    /// Its words.
    pub text: String,
    /// `pending`, `in_progress`, `completed`, …
    pub status: String,
}

/// A plan that the person accepted in this session, or with which it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedPlan {
    /// Its text; some calls name only the file.
    pub text: Option<String>,
    /// Its file, where one is named.
    pub path: Option<String>,
    /// The client's short name for it: the file is `<plans>/<slug>.md`.
    pub slug: Option<String>,
    /// Where in the session.
    pub at: usize,
}

/// Work handed to a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delegation {
    /// Its short title.
    pub description: String,
    pub agent_type: String,
    /// How the call ended.
    pub outcome: Outcome,
    /// What it reported, start and end where that is long. Empty as long as it has not: a call that
    /// only sent the subagent to the background reports nothing.
    #[serde(default)]
    pub report: String,
    /// The subagent's id; its transcript is `agent-<id>.jsonl`.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Where in the session.
    pub at: usize,
    /// When, in milliseconds since 1970; `None` where the row does not say.
    #[serde(default)]
    pub time: Option<i64>,
}

/// What could not be used of a transcript. Counted, so that the log can say how much was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Lines that are not JSON, whole or in part (torn, cut, noise).
    pub unreadable: usize,
    /// Rows of a type that we do not know.
    pub unknown: usize,
    /// Lines longer than we are willing to hold.
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
    /// Nothing yet.
    #[default]
    Empty,
    /// The agent's words.
    Words,
    /// A tool call that has no result yet.
    OpenCall,
    /// A tool's result.
    Result,
    Prompt,
}

/// What happened in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The session's id.
    pub id: Option<String>,
    /// Where it was started.
    pub cwd: Option<String>,
    /// The client's version.
    pub version: Option<String>,
    /// When its first row was written, in the client's words.
    pub started: Option<String>,
    /// When its newest row was written.
    pub ended: Option<String>,
    /// The person's asks, in order.
    pub asks: List<Ask>,
    /// File changes, in order.
    pub touches: List<Touch>,
    /// What the agent told the person on the way, in order.
    #[serde(default)]
    pub remarks: List<Remark>,
    /// Files that were read, each once.
    pub reads: List<ReadFile>,
    /// Shell commands, in order.
    pub commands: List<Command>,
    /// The task list as it stands.
    pub todos: Vec<Todo>,
    /// Other tools that were called, each once.
    #[serde(default)]
    pub other_calls: Vec<OtherCall>,
    /// Accepted plans, oldest first.
    pub plans: Vec<ApprovedPlan>,
    /// Texts of the plans that the person turned down and did not take up later.
    #[serde(default)]
    pub rejected_plans: Vec<String>,
    /// What was handed to subagents.
    pub delegations: Vec<Delegation>,
    pub final_message: Option<String>,
    /// Where the agent's newest tool call stands, of whatever tool: those of other servers leave no other trace.
    #[serde(default)]
    pub last_call: usize,
    /// What the transcript ends on.
    pub tail: Tail,
    /// How many rows were folded.
    pub rows: usize,
    /// What could not be used.
    pub skipped: Skipped,
    /// What was there and is not kept.
    #[serde(default)]
    pub forgotten: Forgotten,
    /// How far the work was counted already.
    #[serde(default)]
    pub counted: Counted,
    /// How far it was masked already.
    #[serde(default)]
    pub masked: Masked,
    /// The transcripts that it was read from; [`Recorded`] refers to them.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// The entries at the start of each list that hold no secret any more, and how many they held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    pub asks: usize,
    pub commands: usize,
    pub delegations: usize,
    #[serde(default)]
    pub remarks: usize,
    pub touches: usize,
    /// How many secrets were masked in them.
    pub count: usize,
}

/// What was counted: of a list the entries at its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub commands: usize,
    /// How many of them may have had effects.
    pub effects: usize,
    /// How many changes were done, of all; `None` when one has come or gone, or has ended since.
    pub done: Option<usize>,
}

impl Session {
    /// Changes that were done.
    pub fn done_touches(&self) -> impl Iterator<Item = &Touch> {
        self.touches.iter().filter(|touch| touch.outcome == Outcome::Done)
    }

    /// How much real work the session has done so far: files changed and commands that may have changed
    /// something. It only grows, so that "since the last audit" is a comparison.
    pub fn work_done(&self) -> usize {
        let uncounted = self.commands.since(self.counted.commands).iter();
        self.forgotten.work
            + self.counted.done.unwrap_or_else(|| self.done_touches().count())
            + self.counted.effects
            + uncounted.filter(|command| command.may_have_effects()).count()
    }

    /// Counts what was done, so that it need not be counted again. What ends later is counted then.
    pub fn count_work(&mut self) {
        let new = self.commands.since(self.counted.commands).iter();
        self.counted.effects += new.filter(|command| command.may_have_effects()).count();
        self.counted.commands = self.commands.len();
        self.counted.done = Some(self.counted.done.unwrap_or_else(|| self.done_touches().count()));
    }
}

impl Command {
    /// Parses its line. Nothing is cached: masking and retention change the line.
    pub fn parsed(&self) -> CommandLine {
        CommandLine::parse(&self.line)
    }

    /// Whether it succeeded, and nothing on its line hides that it did not.
    pub fn has_passed(&self) -> bool {
        self.end == CommandEnd::Succeeded && !self.parsed().hides_exit_status()
    }

    /// Whether a quote is of its line or of what it printed; white space and marks do not count.
    pub fn is_quoted_by(&self, quote: &str) -> bool {
        let (quote, line) = (bare(quote), bare(&self.line));
        !quote.is_empty()
            && !line.is_empty()
            && (line.contains(&quote) || quote.contains(&line) || bare(&self.output).contains(&quote))
    }

    /// Whether it may have changed anything: it ran, and it is not one that only looks.
    pub fn may_have_effects(&self) -> bool {
        self.end != CommandEnd::Unanswered && !self.parsed().only_reads()
    }
}
