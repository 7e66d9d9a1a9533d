//! Checks that a person set: which of them are due, what became of one that ran, and what an agent is told of it. Pure; the
//! gate `gates::checks` runs them.

pub mod due;
pub mod excerpt;
pub mod ran;

pub use due::{Passed, due};
pub use ran::{Ran, Verdict};
