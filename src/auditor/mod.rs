//! The second opinion: a sealed `claude -p` that is shown the evidence and asked for the drift.
//!
//! `prompt` writes the question, `client` finds the program, `flags` finds out what it understands, `seal`
//! makes the command line, `reply` reads what comes back, `verdict` is the answer itself, `ways` has who can be
//! asked. Its failures are
//! values, carried to the decision; none of them is an error of ours.

pub mod client;
pub mod flags;
pub mod prompt;
pub mod reply;
pub mod seal;
pub mod verdict;
pub mod ways;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use prompt::{Prompt, Prompts};
pub use verdict::{Proposal, Verdict};
pub use ways::{Auditor, RecordedReply, SealedClient};

use crate::child::{self, Ended, Ending};
use crate::text::last_part;
use seal::Seal;

/// What became of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditorOutcome {
    /// It answered, and the answer fits the schema.
    Answered(Verdict),
    /// It did not answer in time, and is gone.
    TimedOut(Duration),
    /// It could not be asked, or could not answer.
    Unavailable(Unavailable),
    /// It answered with something that does not count.
    Unreadable(String),
    /// The client that runs us wants us to end.
    Interrupted(&'static str),
}

/// Why there was no auditor to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No client on this machine.
    #[error("no `claude` program was found (looked at {looked_at})")]
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
    #[error("the client is not logged in where hooks run ({0})")]
    NotLoggedIn(String),
    /// The service says: later.
    #[error("the model's service is limiting requests ({0})")]
    RateLimited(String),
    /// The account says: no more.
    #[error("the account's budget is spent ({0})")]
    OverBudget(String),
    /// Another answer of the service.
    #[error("the model's service failed ({0})")]
    ServiceFailed(String),
    /// The client itself failed.
    #[error("the client failed ({0})")]
    Crashed(String),
}

/// What an audit cost, as far as the client tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
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

/// One audit: how it was asked, what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditorRun {
    /// What became of it.
    pub outcome: AuditorOutcome,
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

impl AuditorRun {
    /// An audit for which nobody was asked.
    pub fn not_asked(outcome: AuditorOutcome) -> Self {
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

/// The most that an auditor may print.
const STDOUT_CAP: usize = 4 << 20;
const STDERR_CAP: usize = 64 << 10;
/// How much of what it printed is kept.
const REPLY_CAP: usize = 256 << 10;
/// How often a refused flag is taken out before we give up.
const MOST_TRIES: usize = 6;
/// What a new try needs to be worth it.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// One question to one client.
pub struct Asking<'a> {
    /// The program.
    pub client: PathBuf,
    /// Which model.
    pub model: &'a str,
    /// What to ask.
    pub prompt: &'a Prompt,
    /// For how long, all tries together.
    pub deadline: Duration,
    /// Where the client keeps its own files.
    pub client_config_dir: Option<PathBuf>,
    /// What is known of the client's flags; changed when one is refused.
    pub known: &'a dyn flags::KnownClients,
}

impl Asking<'_> {
    /// Asks, and gives what came of it. A flag that the client refuses is taken out, and remembered.
    pub fn ask(self) -> AuditorRun {
        let started = Instant::now();
        let left = |started: Instant| self.deadline.saturating_sub(started.elapsed());
        let mut flags = match self.known.flags_of(&self.client) {
            Some(flags) => flags,
            None => match flags::probe(&self.client, left(started)) {
                Ok(flags) => {
                    self.known.remember(&self.client, &flags);
                    flags
                }
                Err(outcome) => return self.run_of(outcome, Vec::new(), started, None),
            },
        };
        let mut tries = 0;
        loop {
            tries += 1;
            let seal = match Seal::new(&flags, self.model, self.prompt) {
                Ok(seal) => seal,
                Err(error) => {
                    let why = Unavailable::Crashed(format!("no empty folder to run it in: {error}"));
                    return self.run_of(AuditorOutcome::Unavailable(why), Vec::new(), started, None);
                }
            };
            let ended = child::run(seal.job(&self.client, left(started), STDOUT_CAP, STDERR_CAP));
            tracing::debug!(how = ?ended.how, ms = ended.duration.as_millis(), "auditor ended");
            if let Some(folder) = &self.client_config_dir {
                seal.remove_session_file(folder);
            }
            if let Some(refused) = reply::refused_flag(&ended)
                && flags.remove(&refused)
                && tries < MOST_TRIES
                && left(started) > LEAST_TIME
            {
                tracing::debug!(flag = refused, "the client refused a flag");
                self.known.remember(&self.client, &flags);
                continue;
            }
            let outcome = outcome_of(&ended, &self.client, seal.has_schema());
            return self.run_of(outcome, seal.flag_names(), started, Some(&ended));
        }
    }

    fn run_of(
        &self,
        outcome: AuditorOutcome,
        flags: Vec<String>,
        started: Instant,
        ended: Option<&Ended>,
    ) -> AuditorRun {
        let raw_reply = ended.map(|ended| {
            let mut text = last_part(&String::from_utf8_lossy(&ended.stdout), REPLY_CAP);
            if !ended.stderr.is_empty() {
                text.push_str("\n--- stderr ---\n");
                text.push_str(&String::from_utf8_lossy(&ended.stderr));
            }
            text
        });
        AuditorRun {
            outcome,
            client: Some(self.client.clone()),
            flags,
            duration: started.elapsed(),
            usage: ended.map(|ended| reply::usage_of(&ended.stdout)).unwrap_or_default(),
            raw_reply: raw_reply.unwrap_or_default(),
        }
    }
}

/// What an ending means. The only place that says so.
fn outcome_of(ended: &Ended, client: &std::path::Path, has_schema: bool) -> AuditorOutcome {
    let crashed = |why: String| AuditorOutcome::Unavailable(Unavailable::Crashed(why));
    match &ended.how {
        Ending::NotStarted(error) => AuditorOutcome::Unavailable(Unavailable::NotStarted {
            program: client.display().to_string(),
            why: error.to_string(),
        }),
        Ending::TimedOut => AuditorOutcome::TimedOut(ended.duration),
        Ending::Interrupted(signal) => AuditorOutcome::Interrupted(signal),
        Ending::Flooded => AuditorOutcome::Unreadable(format!("it printed more than {STDOUT_CAP} bytes")),
        Ending::Signaled(signal) => crashed(format!("it was ended by signal {signal}")),
        Ending::Exited(code) => reply::outcome_of_exit(*code, &ended.stdout, &ended.stderr, has_schema),
    }
}
