//! The decision log: what was decided, why, and on what grounds; beside it, what was sent to the
//! readers and what came back. Append-only, one JSON object per line, one file per month.

pub mod annotated;
pub mod artifacts;
pub mod decision_ref;
pub mod filter;
pub mod note;
pub mod prune;
pub mod query;
pub mod record;
pub mod replay_diff;
pub mod stats;
pub mod store;
pub mod time_arg;

pub use annotated::Annotated;
pub use artifacts::Snapshot;
pub use note::{LabelNote, Note, OutcomeNote};
pub use record::Record;
pub use store::DecisionLog;
