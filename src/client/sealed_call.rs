//! The client, sealed: takes a prompt and a deadline, finds the program and what it understands, runs it, and
//! gives what came of it. Must not run longer than the deadline, all tries together.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::child::{self, Ended, Ending};
use crate::client::claude_args::Seal;
use crate::client::flags;
use crate::client::flags::{Flags, KnownClients};
use crate::client::{locate, reply};
use crate::config::AuditorConfig;
use crate::env::Env;
use crate::readers::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable};
use crate::text::last_part;

/// The most that the client may print.
const STDOUT_CAP: usize = 4 << 20;
const STDERR_CAP: usize = 64 << 10;
/// How much of what it printed is kept.
const REPLY_CAP: usize = 256 << 10;
/// How often a refused flag is taken out before we give up.
const MOST_TRIES: usize = 6;
/// What a new try needs to be worth it.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// The client, sealed.
pub struct SealedClient<'a> {
    /// Where the environment says that the client is.
    pub env: &'a Env,
    /// Which client the person wants.
    pub config: &'a AuditorConfig,
    /// Which model is asked.
    pub model: &'a str,
    /// What is known of clients; added to when a flag is refused.
    pub known: &'a dyn KnownClients,
    /// Whether the answer is still wanted, where that can change.
    pub is_wanted: Option<&'a dyn Fn() -> bool>,
}

impl Reader for SealedClient<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        let started = Instant::now();
        let client = match locate::find(self.env, self.config.client.as_ref()) {
            Ok(client) => client,
            Err(why) => return ReaderRun::not_asked(ReaderOutcome::Unavailable(why)),
        };
        let left = || deadline.saturating_sub(started.elapsed());
        let run = self.flags_of(&client, left()).and_then(|flags| self.run(&client, flags, prompt, left));
        let run = run.unwrap_or_else(ReaderRun::not_asked);
        ReaderRun { client: Some(client), duration: started.elapsed(), ..run }
    }

    fn backend(&self) -> &'static str {
        "claude"
    }

    fn model(&self) -> &str {
        self.model
    }
}

impl SealedClient<'_> {
    /// What this client understands: asked once, remembered from then on.
    fn flags_of(&self, client: &Path, left: Duration) -> Result<Flags, ReaderOutcome> {
        if let Some(flags) = self.known.flags_of(client) {
            return Ok(flags);
        }
        let flags = flags::probe(client, left)?;
        self.known.remember(client, &flags);
        Ok(flags)
    }

    /// Runs the client. A flag that it refuses is taken out, and that is remembered.
    fn run(
        &self,
        client: &Path,
        mut flags: Flags,
        prompt: &Prompt,
        left: impl Fn() -> Duration,
    ) -> Result<ReaderRun, ReaderOutcome> {
        let mut tries = 0;
        loop {
            tries += 1;
            let mut seal = Seal::new(&flags, self.model, prompt).map_err(|error| {
                let why = format!("no empty folder to run it in: {error}");
                ReaderOutcome::Unavailable(Unavailable::Crashed(why))
            })?;
            let job = seal.job(client, left(), STDOUT_CAP, STDERR_CAP);
            let ended = match self.is_wanted {
                Some(is_wanted) => child::run_while(job, is_wanted),
                None => child::run(job),
            };
            tracing::debug!(how = ?ended.how, ms = ended.duration.as_millis(), "auditor ended");
            if let Some(folder) = self.env.client_config_dir() {
                seal.remove_session_file(&folder);
            }
            if let Some(refused) = reply::refused_flag(&ended)
                && flags.remove(&refused)
                && tries < MOST_TRIES
                && left() > LEAST_TIME
            {
                tracing::debug!(flag = refused, "the client refused a flag");
                self.known.remember(client, &flags);
                continue;
            }
            let outcome = outcome_of(&ended, client, seal.has_schema(), prompt.check);
            return Ok(ReaderRun {
                flags: seal.flag_names(),
                usage: reply::usage_of(&ended.stdout),
                raw_reply: raw_reply(&ended),
                ..ReaderRun::not_asked(outcome)
            });
        }
    }
}

/// What it printed, for the log.
fn raw_reply(ended: &Ended) -> String {
    let mut text = last_part(&String::from_utf8_lossy(&ended.stdout), REPLY_CAP);
    if !ended.stderr.is_empty() {
        text.push_str("\n--- stderr ---\n");
        text.push_str(&String::from_utf8_lossy(&ended.stderr));
    }
    text
}

/// What an ending means. The only place that says so.
fn outcome_of(ended: &Ended, client: &Path, has_schema: bool, check: reply::Check) -> ReaderOutcome {
    let crashed = |why: String| ReaderOutcome::Unavailable(Unavailable::Crashed(why));
    match &ended.how {
        Ending::NotStarted(error) => ReaderOutcome::Unavailable(Unavailable::NotStarted {
            program: client.display().to_string(),
            why: error.to_string(),
        }),
        Ending::TimedOut => ReaderOutcome::TimedOut(ended.duration),
        Ending::Unwanted => ReaderOutcome::Superseded,
        Ending::Interrupted(signal) => ReaderOutcome::Interrupted(signal),
        Ending::Flooded => ReaderOutcome::Unreadable(format!("it printed more than {STDOUT_CAP} bytes")),
        Ending::Signaled(signal) => crashed(format!("it was ended by signal {signal}")),
        Ending::Exited(code) => {
            reply::outcome_of_exit(*code, &ended.stdout, &ended.stderr, has_schema, check)
        }
    }
}
