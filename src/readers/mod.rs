//! The two readers of an audit: the first proposes what drifts, the second tries to refute what
//! would block. [`prompt`] writes their questions, [`answer`] parses their answers,
//! [`proposal_checks`] filters the proposals in between, [`second`] applies the verdicts,
//! [`budget`] limits the calls, [`recorded`] plays back recorded replies. The call itself is the
//! client's.

pub mod answer;
pub mod budget;
pub mod prompt;
pub mod proposal_checks;
pub mod recorded;
pub mod second;

pub use crate::client::call::{Prompt, Reader, ReaderOutcome, ReaderRun, Unavailable, Usage};
pub use crate::client::sealed_call::SealedClient;
pub use answer::{Answer, CandidateOpinion, Proposal, Verdict};
pub use budget::{Budget, Limit, Readers, Second};
pub use prompt::Prompts;
pub use recorded::{RecordedReplies, RecordedReply};
