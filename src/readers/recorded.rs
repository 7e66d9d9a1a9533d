//! Recorded replies, as the client printed them or just the answers. Must not ask a model.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Answer, Prompt, Reader, ReaderOutcome, ReaderRun};
use crate::client::call::AnswerCheck;
use crate::client::reply;

/// The same reply to every question.
#[derive(Debug)]
pub struct RecordedReply<'a>(pub &'a str);

impl RecordedReply<'_> {
    pub fn replay(&self) -> ReaderRun {
        self.replay_as(Answer::check)
    }

    fn replay_as(&self, check: AnswerCheck) -> ReaderRun {
        let outcome = reply::recorded_outcome(self.0, check);
        let usage = reply::usage(self.0.as_bytes());
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

/// Several replies, one for each question in turn.
#[derive(Debug)]
pub struct RecordedReplies<'a> {
    replies: VecDeque<&'a str>,
}

impl<'a> RecordedReplies<'a> {
    /// Questions after the last reply are not answered.
    pub fn new(replies: &[&'a str]) -> Self {
        Self { replies: replies.iter().copied().collect() }
    }
}

impl Reader for RecordedReplies<'_> {
    fn ask(&mut self, prompt: &Prompt, deadline: Duration) -> ReaderRun {
        match self.replies.pop_front() {
            Some(reply) => RecordedReply(reply).ask(prompt, deadline),
            None => {
                ReaderRun::not_asked(ReaderOutcome::Unreadable("no reply was recorded for it".to_owned()))
            }
        }
    }

    fn backend(&self) -> &'static str {
        "recorded"
    }

    fn model(&self) -> &'static str {
        "recorded"
    }
}
