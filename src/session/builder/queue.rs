//! The prompts that the person typed while the agent worked, as far as the transcript shows. Must
//! not grow with the transcript.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::session::builder::ASK_CAP;
use crate::text::start_and_end;

/// How many prompts may wait, and how many that were taken up are kept.
const MOST: usize = 32;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Queue {
    /// Oldest first; empty texts stand in for entries that are not text.
    waiting: VecDeque<String>,
    /// The hashes of prompts that were taken up in the middle of a turn, and may be recorded again.
    taken_up: VecDeque<u64>,
}

impl Queue {
    pub(super) fn add(&mut self, text: &str) {
        self.waiting.truncate(MOST - 1);
        self.waiting.push_back(start_and_end(text.trim(), ASK_CAP));
    }

    /// Takes the oldest prompt.
    pub(super) fn take(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    pub(super) fn note_taken_up(&mut self, ask: u64) {
        self.taken_up.truncate(MOST - 1);
        self.taken_up.push_back(ask);
    }

    /// Returns whether this prompt was taken up in the middle of a turn; true once for each time.
    pub(super) fn was_taken_up(&mut self, ask: u64) -> bool {
        let place = self.taken_up.iter().position(|taken| *taken == ask);
        place.is_some_and(|place| self.taken_up.remove(place).is_some())
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.waiting.iter().map(String::as_str)
    }
}
