//! Checks that a person set: which are due, how they ended, and what the agent is told. Pure: `gates::checks` runs
//! them.

pub mod due;
pub mod excerpt;
pub mod ran;

pub use due::{Passed, due};
pub use ran::{Ran, Verdict};
