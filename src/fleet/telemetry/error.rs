//! What can go wrong with the collector. Each message says what happened, and none has a password
//! in it.

/// Why the collector refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TelemetryError {
    #[error("this build of punchlist has no telemetry; build it with the feature `fleet`")]
    NotBuilt,
    #[error("the collector is named wrongly: {0}")]
    BadUrl(String),
    #[error("{server} can't be reached ({why})")]
    Unreachable { server: String, why: String },
    #[error("{server} did not answer in time")]
    Slow { server: String },
    #[error("{server} refuses what it is sent ({status})")]
    Refused { server: String, status: u16 },
    /// It will never take this message, and may take a part of it.
    #[error("{server} can't take a record ({status})")]
    Unfit { server: String, status: u16 },
}
