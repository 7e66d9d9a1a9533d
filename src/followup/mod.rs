//! What became of a block: takes the findings that held a stop and what there is at the session's next one, says of each
//! whether it was fixed, disputed or ignored. Pure: whoever asks has read the session, looked at the disk and asked a reader.
//!
//! `pending` is what is remembered of a block until then, `settled` tells what disk and plan settle by themselves, `question`
//! is what a reader is asked about the rest, `past_disputes` keeps what was disputed from being held again.

pub mod past_disputes;
pub mod pending;
pub mod question;
pub mod settled;

pub use pending::{Held, PendingBlock};

use crate::log::note::FindingOutcome;
use crate::paths::base_name;
use crate::text::normalise::{bare, names_file};
use question::State;

/// What became of one finding, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What became of it.
    pub became: FindingOutcome,
    /// How that is known, in words.
    pub why: String,
    /// Whether a reader that was asked once more says that the finding was never right: it counts as wrong. Nothing where
    /// none was asked.
    pub was_wrong: Option<bool>,
}

/// What a reader says of a finding, and why.
pub type Said = (State, String);

/// What became of a finding: what disk or plan settle is fixed, whatever is said of it; a reader has the word on the rest.
/// Where none was to be had, a final message that names the finding is a dispute.
pub fn outcome(
    held: &Held,
    settled: Option<String>,
    said: Option<Said>,
    message: &str,
    has_moved: bool,
) -> Outcome {
    let asked = said.is_some();
    let plain = |became, why: String| Outcome { became, why, was_wrong: asked.then_some(false) };
    let is_named = names(message, held);
    match (settled, said) {
        (Some(how), _) => plain(FindingOutcome::Fixed, how),
        (None, Some((State::Fixed, why))) => plain(FindingOutcome::Fixed, why),
        (None, Some((State::Wrong, why))) => {
            Outcome { became: FindingOutcome::Disputed, why, was_wrong: Some(true) }
        }
        (None, Some((State::Stands, why))) if is_named => plain(
            FindingOutcome::Disputed,
            format!("the final message speaks of it, and a reader says that it still stands: {why}"),
        ),
        (None, Some((State::Stands, why))) => {
            plain(FindingOutcome::Ignored, format!("it still stands: {why}"))
        }
        (None, None) if is_named => {
            plain(FindingOutcome::Disputed, "the final message speaks of it".to_owned())
        }
        (None, None) if has_moved => {
            plain(FindingOutcome::Fixed, "what it speaks of was changed since".to_owned())
        }
        (None, None) => plain(
            FindingOutcome::Ignored,
            "nothing was done about it, and the final message does not name it".to_owned(),
        ),
    }
}

/// Whether a text names a finding: by its file, or by the words that it rests on.
pub fn names(text: &str, held: &Held) -> bool {
    /// Fewer letters than this stand in many a text.
    const LEAST: usize = 12;
    let finding = &held.finding;
    let by_path = finding.path.as_deref().is_some_and(|path| names_file(text, base_name(path)));
    let claim = bare(&finding.claim);
    by_path || claim.len() >= LEAST && bare(text).contains(&claim)
}

#[cfg(test)]
mod tests;
