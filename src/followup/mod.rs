//! What became of a block: for each finding, whether it was fixed, disputed or ignored by the session's next stop.
//! Pure: `hook::block_followup` reads the session, looks at the disk and asks a reader.
//!
//! `pending` is what the state has of a block until then, `settled` what disk and plan settle by themselves,
//! `question` what a reader is asked about the rest, `past_disputes` what is not blocked for again.

pub mod past_disputes;
pub mod pending;
pub mod question;
pub mod settled;

pub use past_disputes::Dispute;
pub use pending::{PendingBlock, PendingFinding};

use crate::log::note::FindingOutcome;
use crate::paths::base_name;
use crate::text::normalise::{bare, names_file};
use question::{Reply, State};

/// What became of one finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Fixed, disputed or ignored.
    pub outcome: FindingOutcome,
    /// How that is known, in words.
    pub why: String,
    /// Whether a reader says that the finding was never right; `None` where none was asked.
    pub was_wrong: Option<bool>,
}

/// Resolves a finding. What disk or plan settle is fixed, whatever is said of it; a reader decides the rest. Where
/// none could be asked, a final message that names the finding is a dispute.
pub fn resolve(
    pending: &PendingFinding,
    settled: Option<String>,
    reply: Option<Reply>,
    message: &str,
    has_changed: bool,
) -> Resolution {
    use FindingOutcome::{Disputed, Fixed, Ignored};
    let was_wrong = reply.as_ref().map(|reply| settled.is_none() && reply.state == State::Wrong);
    let is_named = names(message, pending);
    let (outcome, why) = match (settled, reply) {
        (Some(how), _) => (Fixed, how),
        (None, Some(Reply { state: State::Fixed, why })) => (Fixed, why),
        (None, Some(Reply { state: State::Wrong, why })) => (Disputed, why),
        (None, Some(Reply { state: State::Stands, why })) if is_named => (
            Disputed,
            format!("the final message speaks of it, and a reader says that it still stands: {why}"),
        ),
        (None, Some(Reply { state: State::Stands, why })) => (Ignored, format!("it still stands: {why}")),
        (None, None) if is_named => (Disputed, "the final message speaks of it".to_owned()),
        (None, None) if has_changed => (Fixed, "what it speaks of was changed since".to_owned()),
        (None, None) => {
            (Ignored, "nothing was done about it, and the final message does not name it".to_owned())
        }
    };
    Resolution { outcome, why, was_wrong }
}

/// Whether a text names a finding: by its file, or by the words that it rests on.
pub fn names(text: &str, pending: &PendingFinding) -> bool {
    /// Fewer letters than this stand in many a text.
    const LEAST: usize = 12;
    let finding = &pending.finding;
    let by_path = finding.path.as_deref().is_some_and(|path| names_file(text, base_name(path)));
    let claim = bare(&finding.claim);
    by_path || claim.len() >= LEAST && bare(text).contains(&claim)
}

#[cfg(test)]
mod tests;
