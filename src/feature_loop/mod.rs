//! The feature loop: a list of features that sessions work through one by one until all pass.
//!
//! Pure: `features` and `progress` parse and edit the loop's two files, `claims` weighs marks that
//! were set, `state` is what is saved between rounds and decides what comes next, `prompts`
//! words it, `question` is what a reader is asked. Edges: `disk` (the two
//! files), `context` (the end of a transcript), `change_probe` (did the workspace change?),
//! `verify` (commands that show whether a feature passes).
//! `snapshot` combines them. `state::loops` saves a [`LoopState`]. Must not decide about a stop.

pub mod change_probe;
pub mod claims;
pub mod context;
pub mod disk;
pub mod features;
pub mod progress;
pub mod prompts;
pub mod question;
pub mod snapshot;
pub mod state;
pub mod verify;

pub use features::Feature;
pub use progress::Status;
pub use state::{LoopState, Step};
