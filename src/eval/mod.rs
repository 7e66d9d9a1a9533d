//! Measures how good an audit is: recorded sessions with a known truth are laid out again and
//! audited, and the findings are compared with the truth. Must not read the person's settings,
//! except for the client to ask.
//!
//! `case` reads a case, `layout` puts its session and its workspace on disk. `stored` has the
//! recorded answers of a case and a second reader that gives them, `replies` writes prompts and
//! reads new answers to them, `lying` makes false ones up. `run` audits, `checked` applies the
//! checks to one proposal, `matching` compares findings with the truth, `score` counts and defines
//! the goals, `tables` prints.

pub mod case;
pub mod checked;
pub mod layout;
pub mod lying;
pub mod matching;
pub mod replies;
pub mod run;
pub mod score;
pub mod stored;
pub mod tables;
