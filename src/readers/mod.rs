//! The readers: sealed calls of a model that is shown the evidence. The first proposes what drifts, the second tries to
//! refute what would hold. `sealed` asks the client, `recorded` plays back what was said once, `lying` makes things up, to
//! see what the checks make of it.
//!
//! `prompt` writes the question, `answer` is what may come back, `checks` stands between the two readers. `client` finds the
//! program, `flags` finds out what it understands, `seal` makes the command line, `reply` reads what comes back. A reader's
//! failures are values, carried to the decision; none of them is an error of ours.

pub mod answer;
pub mod budget;
pub mod checks;
pub mod lying;
pub mod prompt;
pub mod recorded;
pub mod second;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use crate::client::sealed_call::SealedClient;
pub use answer::{Answer, Opinion, Proposal, Verdict};
pub use prompt::{Prompt, Prompts};
pub use recorded::{RecordedReplies, RecordedReply};

/// Who is asked.
pub trait Reader {
    /// Asks, for so long at the most.
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun;
    /// How the log names this way of asking.
    fn backend(&self) -> &'static str;
    /// How the log names the model.
    fn model(&self) -> &str;
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaderOutcome {
    /// It answered: JSON that fits the question's schema.
    Answered(String),
    /// Nobody was to be asked: what disk and session show is all there is.
    NotAsked,
    /// It did not answer in time, and is gone.
    TimedOut(Duration),
    /// It could not be asked, or could not answer.
    Unavailable(Unavailable),
    /// It answered with something that does not count.
    Unreadable(String),
    /// Nobody wanted its answer any more: a newer stop has taken over.
    Superseded,
    /// The client that runs us wants us to end.
    Interrupted(&'static str),
}

impl ReaderOutcome {
    /// As the log names it, and what there is to say beyond that.
    pub fn told(&self) -> (&'static str, Option<String>) {
        match self {
            Self::Answered(_) => ("answered", None),
            Self::NotAsked => ("not-asked", None),
            Self::TimedOut(after) => ("timed-out", Some(format!("after {:.1} s", after.as_secs_f64()))),
            Self::Unavailable(why) => ("unavailable", Some(why.to_string())),
            Self::Unreadable(why) => ("unreadable", Some(why.clone())),
            Self::Superseded => ("superseded", None),
            Self::Interrupted(signal) => ("interrupted", Some((*signal).to_owned())),
        }
    }
}

/// Why there was no reader to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No client on this machine.
    #[error(
        "no `claude` program was found (looked at {looked_at}); PUNCHLIST_CLAUDE or `[auditor] client` can name it"
    )]
    NotFound {
        /// Where.
        looked_at: String,
    },
    /// It would not start.
    #[error("{program} could not be started: {why}")]
    NotStarted {
        /// Which program.
        program: String,
        /// In the system's words.
        why: String,
    },
    /// It has no login that it can use from inside a hook.
    #[error(
        "the client is not logged in where hooks run ({0}); log in with `claude`, or set ANTHROPIC_API_KEY"
    )]
    NotLoggedIn(String),
    /// The service says: later.
    #[error("the model's service is limiting requests ({0})")]
    RateLimited(String),
    /// The account says: no more.
    #[error("the account's budget is spent ({0})")]
    OverBudget(String),
    /// The person's own limit on calls or money is reached.
    #[error("{0}")]
    BudgetSpent(String),
    /// The hook has to answer before a reader could.
    #[error("too little of the hook's time was left")]
    NoTime,
    /// Another answer of the service.
    #[error("the model's service failed ({0})")]
    ServiceFailed(String),
    /// The client itself failed.
    #[error("the client failed ({0})")]
    Crashed(String),
}

/// What a question cost, as far as the client tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens read anew.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens put into it.
    pub cache_write_tokens: u64,
    /// In dollars.
    pub cost_usd: Option<f64>,
}

/// One question: how it was asked, what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReaderRun {
    /// What became of it.
    pub outcome: ReaderOutcome,
    /// Which client was asked.
    pub client: Option<PathBuf>,
    /// With which flags, values left out.
    pub flags: Vec<String>,
    /// How long it took, all tries together.
    pub duration: Duration,
    /// What it cost.
    pub usage: Usage,
    /// What came back, as it came.
    pub raw_reply: String,
}

impl ReaderRun {
    /// A question for which nobody was asked.
    pub fn not_asked(outcome: ReaderOutcome) -> Self {
        Self {
            outcome,
            client: None,
            flags: Vec::new(),
            duration: Duration::ZERO,
            usage: Usage::default(),
            raw_reply: String::new(),
        }
    }
}
