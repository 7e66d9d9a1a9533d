//! What can go wrong with the fleet's database. Each message says what happened and what to do, and none
//! has a password in it.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use super::is_conflict;

/// Why the database refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    #[error("the fleet's database is named wrongly: {0}")]
    BadUrl(String),
    #[error("{server} can't be reached ({why}); `punchlist fleet doctor` looks closer")]
    Unreachable { server: String, why: String },
    #[error("{server} did not answer in time; `punchlist fleet doctor` looks closer")]
    Slow { server: String },
    #[error("{server} lets nobody in by this name and password ({why})")]
    NotLetIn { server: String, why: String },
    #[error(
        "{server}: this role lacks a right ({why}); docs/fleet.md has the rights that a role needs, to be pasted"
    )]
    NoRights { server: String, why: String },
    #[error("{server} has no tables of punchlist: run `punchlist fleet migrate` as the database's owner")]
    NoSchema { server: String },
    #[error(
        "{server} has tables of an older punchlist (version {found}, this one needs {known}): run `punchlist fleet \
         migrate` as the database's owner"
    )]
    OlderSchema { server: String, found: i64, known: i64 },
    #[error(
        "{server} has tables of a newer punchlist (version {found}, this one knows {known}): update punchlist here"
    )]
    NewerSchema { server: String, found: i64, known: i64 },
    #[error("{server}: others were in the way again and again: try again")]
    Conflict { server: String },
    #[error("{server}: {why}")]
    Failed { server: String, why: String },
}

impl DatabaseError {
    pub(super) fn from_postgres(error: &tokio_postgres::Error, server: &str) -> Self {
        let server = server.to_owned();
        let Some(db) = error.as_db_error() else {
            // The cause says more than "error connecting to server".
            let cause = error.source().map(ToString::to_string);
            let why = cause.unwrap_or_else(|| error.to_string());
            return Self::Unreachable { server, why };
        };
        let (code, why) = (db.code(), db.message().to_owned());
        match code {
            code if is_conflict(code) => Self::Conflict { server },
            code if *code == SqlState::INSUFFICIENT_PRIVILEGE => Self::NoRights { server, why },
            code if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) => {
                Self::NoSchema { server }
            }
            code if [
                SqlState::INVALID_PASSWORD,
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                SqlState::INVALID_CATALOG_NAME,
            ]
            .contains(code) =>
            {
                Self::NotLetIn { server, why }
            }
            code if [
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
                SqlState::TOO_MANY_CONNECTIONS,
            ]
            .contains(code) =>
            {
                Self::Unreachable { server, why }
            }
            _ => Self::Failed { server, why },
        }
    }

    /// Whether it may be over in a moment.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Slow { .. } | Self::Conflict { .. })
    }
}
