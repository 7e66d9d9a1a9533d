//! A reply that was saved once, as the client printed it or the answer alone: gives what it says. Must not ask
//! anybody.

use std::time::Duration;

use super::{Answer, Prompt, Reader, ReaderRun, reply};

/// The reply.
#[derive(Debug)]
pub struct RecordedReply<'a>(pub &'a str);

impl RecordedReply<'_> {
    /// What it says, as the answer of a reader.
    pub fn replay(&self) -> ReaderRun {
        self.replay_as(Answer::check)
    }

    fn replay_as(&self, check: reply::Check) -> ReaderRun {
        let outcome = reply::outcome_of_saved(self.0, check);
        let usage = reply::usage_of(self.0.as_bytes());
        ReaderRun { usage, raw_reply: self.0.to_owned(), ..ReaderRun::not_asked(outcome) }
    }
}

impl Reader for RecordedReply<'_> {
    fn ask(&mut self, prompt: &Prompt, _deadline: Duration) -> ReaderRun {
        self.replay_as(prompt.check)
    }

    fn backend(&self) -> &'static str {
        "recorded"
    }

    fn model(&self) -> &'static str {
        "recorded"
    }
}
