//! The decision log: what was decided, why, and on what grounds; and beside it what was sent and what came
//! back. Append-only, one JSON object a line, one file a month.

pub mod csv;
pub mod figures;
pub mod filter;
pub mod glance;
pub mod keepsakes;
pub mod labels;
pub mod listing;
pub mod note;
pub mod pages;
pub mod parts;
pub mod projects;
pub mod prune;
pub mod record;
pub mod replayed;
pub mod scene;
pub mod seen;
pub mod stats;
pub mod store;
pub mod told;
pub mod when;
pub mod which;
pub mod wire;

pub use note::{LabelNote, Note, OutcomeNote};
pub use record::Record;
pub use scene::Scene;
pub use store::DecisionLog;
pub use told::Told;
