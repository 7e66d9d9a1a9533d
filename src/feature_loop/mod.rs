//! The feature loop: a list of features, a session that is handed one after another until all of them work, and what is
//! remembered of it. Takes the list, the progress file and the transcript, gives the next step.
//!
//! `features` and `progress` read and change the two files' texts, `memory` is what a loop remembers, `step` decides what
//! comes next, `words` says it: all pure. `disk`, `context` and `trace` are the edges: the two files, the end of a
//! transcript, and whether anything moved in the workspace. `round` puts them together. What is remembered is kept by
//! `state::loops`.

pub mod change_probe;
pub mod context;
pub mod disk;
pub mod features;
pub mod progress;
pub mod prompts;
pub mod round;
pub mod state;
pub mod step;

pub use crate::feature_loop::state::Loop;
pub use features::Feature;
pub use progress::Status;
pub use step::{Limits, Step};
