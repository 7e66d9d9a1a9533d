//! A reply that was saved once, as the client printed it or the answer alone: gives what it says. Must not ask
//! anybody.

use std::time::Duration;

use super::{Auditor, AuditorRun, Prompt, reply};

/// The reply.
#[derive(Debug)]
pub struct RecordedReply<'a>(pub &'a str);

impl RecordedReply<'_> {
    /// What it says, with nobody's prompt.
    pub fn replay(&self) -> AuditorRun {
        let outcome = reply::outcome_of_saved(self.0);
        let usage = reply::usage_of(self.0.as_bytes());
        AuditorRun { usage, raw_reply: self.0.to_owned(), ..AuditorRun::not_asked(outcome) }
    }
}

impl Auditor for RecordedReply<'_> {
    fn ask(&mut self, _prompt: &Prompt, _deadline: Duration) -> AuditorRun {
        self.replay()
    }

    fn backend(&self) -> &'static str {
        "recorded"
    }

    fn model(&self) -> &'static str {
        "recorded"
    }
}
