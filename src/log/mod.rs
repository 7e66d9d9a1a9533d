//! The decision log: what was decided, why, and on what grounds; and beside it what was sent and what came
//! back. Append-only, one JSON object a line, one file a month.

pub mod keepsakes;
pub mod record;
pub mod store;

pub use record::Record;
pub use store::DecisionLog;
