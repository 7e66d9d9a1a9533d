//! One call of a model: the question, the trait that answers it, and every way in which it can end.
//! Failures are values for the decision, not errors of the program.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Returns why an answer does not fit its question.
pub type AnswerCheck = fn(&str) -> Result<(), String>;

/// A question, ready to send.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub system: String,
    pub text: String,
    /// The JSON schema of the answer, on one line.
    pub schema: String,
    /// Validates an answer: not every client enforces the schema.
    pub check: AnswerCheck,
}

impl Prompt {
    /// Returns system prompt and message as one text, for people.
    pub fn whole(&self) -> String {
        format!("{}\n\n{}", self.system, self.text)
    }

    /// Returns the length of [`Self::whole`].
    pub fn bytes(&self) -> usize {
        self.whole().len()
    }
}

/// A model that can be asked, live or recorded.
pub trait Reader {
    /// Asks, and returns by the deadline.
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun;
    /// The log's name for this way of asking.
    fn backend(&self) -> &'static str;
    /// The log's name for the model.
    fn model(&self) -> &str;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReaderOutcome {
    /// It answered: JSON that passed [`Prompt::check`].
    Answered(String),
    NotAsked,
    /// It did not answer in time and was killed.
    TimedOut(Duration),
    /// It could not be asked, or could not answer.
    Unavailable(Unavailable),
    Unreadable(String),
    /// A newer stop of the same session took over while it was asked.
    Superseded,
    /// A signal asked us to end.
    Interrupted(&'static str),
}

impl ReaderOutcome {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Answered(_) => "answered",
            Self::NotAsked => "not-asked",
            Self::TimedOut(_) => "timed-out",
            Self::Unavailable(_) => "unavailable",
            Self::Unreadable(_) => "unreadable",
            Self::Superseded => "superseded",
            Self::Interrupted(_) => "interrupted",
        }
    }

    /// Returns the details beyond the name.
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::TimedOut(after) => Some(format!("after {:.1} s", after.as_secs_f64())),
            Self::Unavailable(why) => Some(why.to_string()),
            Self::Unreadable(why) => Some(why.clone()),
            Self::Interrupted(signal) => Some((*signal).to_owned()),
            Self::Answered(_) | Self::NotAsked | Self::Superseded => None,
        }
    }
}

/// Why a model could not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error(
        "no `claude` program was found (looked at {looked_at}); PUNCHLIST_CLAUDE or `[auditor] client` can name it"
    )]
    NotFound { looked_at: String },
    #[error("{program} could not be started: {why}")]
    NotStarted { program: String, why: String },
    /// The client has no login that it can use from inside a hook.
    #[error(
        "the client is not logged in where hooks run ({0}); log in with `claude`, or set ANTHROPIC_API_KEY"
    )]
    NotLoggedIn(String),
    #[error("the model's service is limiting requests ({0})")]
    RateLimited(String),
    #[error("the account's budget is spent ({0})")]
    OverBudget(String),
    /// The person's own limit on calls or money is reached.
    #[error("{0}")]
    BudgetSpent(String),
    #[error("too little of the hook's time was left")]
    NoTime,
    #[error("the model's service failed ({0})")]
    ServiceFailed(String),
    #[error("the client failed ({0})")]
    Crashed(String),
}

/// What a call cost, as far as the client reports it. The log uses longer names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens that were not cached.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Tokens that came from the provider's cache.
    #[serde(rename = "cache_read_tokens")]
    pub cache_read: u64,
    /// Tokens that were written to the provider's cache.
    #[serde(rename = "cache_write_tokens")]
    pub cache_write: u64,
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Returns all input tokens, cached or not.
    pub fn total_input(&self) -> u64 {
        self.input + self.cache_read + self.cache_write
    }

    /// Returns the sum of several calls.
    pub fn sum<'a>(usages: impl IntoIterator<Item = &'a Self>) -> Self {
        usages.into_iter().fold(Self::default(), |sum, one| Self {
            input: sum.input + one.input,
            output: sum.output + one.output,
            cache_read: sum.cache_read + one.cache_read,
            cache_write: sum.cache_write + one.cache_write,
            cost_usd: [sum.cost_usd, one.cost_usd].into_iter().flatten().reduce(|one, other| one + other),
        })
    }
}

/// One call and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct ReaderRun {
    pub outcome: ReaderOutcome,
    pub client: Option<PathBuf>,
    /// The flags that were passed, without their values.
    pub flags: Vec<String>,
    /// From the question to the outcome, retries included.
    pub duration: Duration,
    pub usage: Usage,
    /// What was printed, unchanged.
    pub raw_reply: String,
}

impl ReaderRun {
    /// Returns the run of a call for which no program was started.
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
