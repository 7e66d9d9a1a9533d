//! How good an audit is: recorded sessions with a known truth are laid out again, audited, and what
//! was found is held against what is there to be found.
//!
//! `case` reads a case, `layout` (with `commits`) puts its session and its workspace on disk.
//! `stored` has what readers said of it once, `replies` and `numbers` what they said of prompts that
//! `prompts` wrote; `told` and `second` are readers that say it again. `run` audits, `matching`
//! holds findings against the truth, `score` counts, `goals` says what is wanted, `tables` prints.

pub mod case;
mod commits;
pub mod goals;
pub mod layout;
pub mod lying;
pub mod matching;
pub mod numbers;
pub mod prompts;
pub mod replies;
pub mod run;
pub mod score;
pub mod second;
pub mod stored;
pub mod tables;
pub mod told;
