//! The fleet's database as the rest of the program sees it: statements in, rows out, every call
//! with an end. Must not know what is kept there, and must not show a password.
//!
//! A build without the feature `fleet` has `absent` in place of `postgres`: it never connects and
//! says why.

mod error;
pub mod schema;
mod value;

#[cfg(not(feature = "fleet"))]
mod absent;
#[cfg(feature = "fleet")]
mod postgres;

use std::time::{Duration, Instant};

#[cfg(not(feature = "fleet"))]
pub use absent::Database;
pub use error::DatabaseError;
#[cfg(feature = "fleet")]
pub use postgres::Database;
pub use value::{Row, Value};

/// What a channel told those who listen to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub channel: String,
    pub payload: String,
}

/// How long calls may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Each call so long; a server that can't be reached is tried again for a few seconds.
    Each(Duration),
    /// All calls together, until then.
    Until(Instant),
}

impl Patience {
    /// How long the next call may take.
    pub fn left(self) -> Duration {
        match self {
            Self::Each(time) => time,
            Self::Until(end) => end.saturating_duration_since(Instant::now()),
        }
    }
}
