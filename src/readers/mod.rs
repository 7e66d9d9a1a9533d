//! The readers: sealed calls of a model that is shown the evidence. The first proposes what drifts, the second tries to
//! refute what would hold. `sealed` asks the client, `recorded` plays back what was said once, `lying` makes things up, to
//! see what the checks make of it.
//!
//! `prompt` writes the question, `answer` is what may come back, `checks` stands between the two readers. `client` finds the
//! program, `flags` finds out what it understands, `seal` makes the command line, `reply` reads what comes back. A reader's
//! failures are values, carried to the decision; none of them is an error of ours.

pub mod answer;
pub mod budget;
pub mod checks;
pub mod prompt;
pub mod recorded;
pub mod second;

pub use crate::client::call::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable, Usage};
pub use crate::client::sealed_call::SealedClient;
pub use answer::{Answer, Opinion, Proposal, Verdict};
pub use prompt::Prompts;
pub use recorded::{RecordedReplies, RecordedReply};
