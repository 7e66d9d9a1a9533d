//! What happened in a transcript that was made up: written beside it, and compared with what is
//! read from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All that a reader of the transcript should find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Truth {
    /// The session's id.
    pub(crate) session: String,
    /// Where it worked.
    pub(crate) cwd: String,
    /// The client's version.
    pub(crate) version: String,
    /// When the first row was written.
    pub(crate) started: String,
    /// When the last row was written.
    pub(crate) ended: String,
    /// How many bytes the transcript has.
    pub(crate) bytes: u64,
    /// How many lines.
    pub(crate) lines: usize,
    /// How many rows of a kind that is read: `user`, `assistant`, `attachment`.
    pub(crate) rows: usize,
    /// How many rows there are of each kind.
    pub(crate) kinds: BTreeMap<String, usize>,
    /// Lines that are torn.
    pub(crate) torn: usize,
    /// The person's words, in order.
    pub(crate) asks: Vec<String>,
    /// Every call that would change a file, in order.
    pub(crate) touches: Vec<TouchTruth>,
    /// Files that were read, each once, in order.
    pub(crate) reads: Vec<String>,
    /// Commands, in order.
    pub(crate) commands: Vec<CommandTruth>,
    /// The task list as it was left: text and status.
    pub(crate) todos: Vec<(String, String)>,
    /// Helpers: description, kind, and whether it ended well.
    pub(crate) delegations: Vec<(String, String, bool)>,
    /// Other tools that were used, in the order in which they came up.
    pub(crate) other_tools: Vec<String>,
    /// The final message.
    pub(crate) final_message: String,
    /// How many subagents' transcripts stand beside it.
    pub(crate) subagents: usize,
}

/// One call that would change a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TouchTruth {
    /// The file.
    pub(crate) path: String,
    /// With what.
    pub(crate) tool: String,
    /// How it ended.
    pub(crate) end: TouchEnd,
    /// What stood there before the session, where this is the first change of the file.
    pub(crate) before: Before,
    /// Whether a subagent did it.
    pub(crate) by_subagent: bool,
}

/// How a change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TouchEnd {
    /// Written.
    Done,
    /// Refused.
    Failed,
    /// No result.
    Unanswered,
}

/// What stood there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Before {
    /// Not the first change, or none.
    Untold,
    /// Nothing.
    Nothing,
    /// A text of that length and hash.
    Text {
        /// In bytes.
        bytes: usize,
        /// [`hash`]
        hash: u64,
    },
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandTruth {
    /// As written.
    pub(crate) line: String,
    /// How it ended.
    pub(crate) end: CommandEnd,
    /// The last of what it printed, a few dozen bytes.
    pub(crate) output_end: String,
    /// Whether a subagent ran it.
    pub(crate) by_subagent: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CommandEnd {
    /// Well.
    Succeeded,
    /// With that code.
    Failed(i32),
    /// By the person.
    Interrupted,
    /// It runs on.
    Background,
    /// No result.
    Unanswered,
}

/// A text's name (FNV-1a): short, and the same everywhere.
pub(crate) fn hash(text: &[u8]) -> u64 {
    text.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
