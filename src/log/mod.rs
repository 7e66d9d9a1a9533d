//! The decision log: what was decided, why, and on what grounds; and beside it what was sent and what came
//! back. Append-only, one JSON object a line, one file a month.

pub mod annotated;
pub mod artifacts;
pub mod decision_ref;
pub mod filter;
pub mod labels;
pub mod note;
pub mod parallel;
pub mod projects;
pub mod prune;
pub mod reader;
pub mod record;
pub mod replayed;
pub mod seen;
pub mod snapshot;
pub mod stats;
pub mod store;
pub mod summary;
pub mod time_arg;

pub use crate::log::annotated::Told;
pub use crate::log::snapshot::Snapshot;
pub use note::{LabelNote, Note, OutcomeNote};
pub use record::Record;
pub use store::DecisionLog;
