//! The sealed call: runs the client on one prompt and names how that ended. Must not run longer
//! than the deadline, all tries together.

use std::path::Path;
use std::time::{Duration, Instant};

use super::call::{AnswerCheck, Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable};
use super::claude_args::SealedCommand;
use super::program::{self, FlagCache, Flags};
use super::{env_vars, reply};
use crate::child::{self, Ended, Ending};
use crate::env::Env;
use crate::text::last_part;

/// The most that the client may print.
const STDOUT_CAP: usize = 4 << 20;
const STDERR_CAP: usize = 64 << 10;
/// The most of it that the log gets.
const REPLY_CAP: usize = 256 << 10;
/// The most calls for one question: each but the first drops a flag that the client refused.
const MAX_TRIES: usize = 6;
/// With less time left another try is not worth it.
const MIN_TIME: Duration = Duration::from_millis(500);

/// The client, run with no tools, hooks, settings or memory.
pub struct SealedClient<'a> {
    /// Where the client is looked for.
    pub env: &'a Env,
    /// The configured program, if any.
    pub program: Option<&'a Path>,
    /// The model to ask.
    pub model: &'a str,
    /// The flags of clients that were run before.
    pub flag_cache: &'a dyn FlagCache,
    /// Whether the answer is still wanted; asked while the client runs.
    pub is_wanted: Option<&'a dyn Fn() -> bool>,
}

impl Reader for SealedClient<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        let started = Instant::now();
        let client = match program::find(self.env, self.program) {
            Ok(client) => client,
            Err(why) => return ReaderRun::not_asked(ReaderOutcome::Unavailable(why)),
        };
        let left = || deadline.saturating_sub(started.elapsed());
        let run = self.flags(&client, left()).and_then(|flags| self.run(&client, flags, prompt, left));
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
    fn flags(&self, client: &Path, left: Duration) -> Result<Flags, ReaderOutcome> {
        if let Some(flags) = self.flag_cache.get(client) {
            return Ok(flags);
        }
        let flags = Flags::probe(client, left)?;
        self.flag_cache.put(client, &flags);
        Ok(flags)
    }

    /// Runs the client; runs it again without a flag that it refuses, since help texts list flags
    /// that some builds reject.
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
            let mut command = SealedCommand::new(&flags, self.model, prompt).map_err(|error| {
                let why = format!("no empty folder to run it in: {error}");
                ReaderOutcome::Unavailable(Unavailable::Crashed(why))
            })?;
            let job = command.job(client, left(), STDOUT_CAP, STDERR_CAP);
            let ended = match self.is_wanted {
                Some(is_wanted) => child::run_while(job, is_wanted),
                None => child::run(job),
            };
            tracing::debug!(how = ?ended.how, ms = ended.duration.as_millis(), "auditor ended");
            if let Some(folder) = env_vars::config_dir(self.env) {
                command.remove_session_file(&folder);
            }
            if let Some(refused) = reply::refused_flag(&ended)
                && flags.remove(&refused)
                && tries < MAX_TRIES
                && left() > MIN_TIME
            {
                tracing::debug!(flag = refused, "the client refused a flag");
                self.flag_cache.put(client, &flags);
                continue;
            }
            let outcome = outcome(&ended, client, command.has_schema(), prompt.check);
            return Ok(ReaderRun {
                flags: command.flag_names(),
                usage: reply::usage(&ended.stdout),
                raw_reply: raw_reply(&ended),
                ..ReaderRun::not_asked(outcome)
            });
        }
    }
}

/// What was printed, for the log.
fn raw_reply(ended: &Ended) -> String {
    let mut text = last_part(&String::from_utf8_lossy(&ended.stdout), REPLY_CAP);
    if !ended.stderr.is_empty() {
        text.push_str("\n--- stderr ---\n");
        text.push_str(&String::from_utf8_lossy(&ended.stderr));
    }
    text
}

/// Says what an ending means. The only place that does.
fn outcome(ended: &Ended, client: &Path, has_schema: bool, check: AnswerCheck) -> ReaderOutcome {
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
        Ending::Exited(code) => reply::exit_outcome(*code, &ended.stdout, &ended.stderr, has_schema, check),
    }
}
