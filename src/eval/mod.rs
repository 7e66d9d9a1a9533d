//! Measures how good an audit is: recorded sessions with a known truth are laid out again and
//! audited, and the findings are compared with the truth. Must not read the person's settings, except
//! for the client to ask.
//!
//! `case` reads a case, `layout` (with `commits`) puts its session and its workspace on disk.
//! `stored` has the readers' answers of a case, `replies` new ones to prompts that `prompts` wrote;
//! `second` and `lying` are readers that give them. `run` audits, `checked` applies the checks to one
//! proposal, `matching` compares findings with the truth, `score` counts, `goals` says what is
//! wanted, `tables` prints.

pub mod case;
pub mod checked;
mod commits;
pub mod goals;
pub mod layout;
pub mod lying;
pub mod matching;
pub mod prompts;
pub mod replies;
pub mod run;
pub mod score;
pub mod second;
pub mod stored;
pub mod tables;
