//! The ways to get a second opinion: the client, sealed, or a reply that was recorded earlier.

use std::time::Duration;

use super::flags::KnownClients;
use super::{Asking, AuditorOutcome, AuditorRun, Prompt, client, reply};
use crate::config::AuditorConfig;
use crate::env::Env;

/// Who is asked for a second opinion.
pub trait Auditor {
    /// Asks, for so long at the most.
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> AuditorRun;
    /// How the log names this way of asking.
    fn backend(&self) -> &'static str;
    /// How the log names the model.
    fn model(&self) -> &str;
}

/// The client, sealed.
pub struct SealedClient<'a> {
    /// Where the environment says that the client is.
    pub env: &'a Env,
    /// Which client and model the person wants.
    pub config: &'a AuditorConfig,
    /// What is known of clients.
    pub known: &'a dyn KnownClients,
}

impl Auditor for SealedClient<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> AuditorRun {
        match client::find(self.env, self.config.client.as_ref()) {
            Ok(client) => Asking {
                client,
                model: &self.config.model,
                prompt,
                deadline,
                client_config_dir: self.env.client_config_dir(),
                known: self.known,
            }
            .ask(),
            Err(why) => AuditorRun::not_asked(AuditorOutcome::Unavailable(why)),
        }
    }

    fn backend(&self) -> &'static str {
        "claude"
    }

    fn model(&self) -> &str {
        &self.config.model
    }
}

/// A reply of the client as it was printed once. Nobody is asked.
#[derive(Debug)]
pub struct RecordedReply<'a>(pub &'a str);

impl Auditor for RecordedReply<'_> {
    fn ask(&mut self, _prompt: &Prompt, _deadline: Duration) -> AuditorRun {
        let outcome = reply::outcome_of_exit(0, self.0.as_bytes(), b"", true);
        let usage = reply::usage_of(self.0.as_bytes());
        AuditorRun { usage, raw_reply: self.0.to_owned(), ..AuditorRun::not_asked(outcome) }
    }

    fn backend(&self) -> &'static str {
        "recorded"
    }

    fn model(&self) -> &'static str {
        "recorded"
    }
}
