//! What a server's error means. Must not show a password.

use std::error::Error as _;

use tokio_postgres::error::SqlState;
use tokio_rustls::rustls;

use crate::database::DatabaseError;

/// The error that a person is shown.
pub(super) fn refusal(error: &tokio_postgres::Error, server: &str) -> DatabaseError {
    let server = server.to_owned();
    let Some(db) = error.as_db_error() else {
        // The cause says more than "error connecting to server".
        let cause = error.source().map(ToString::to_string);
        let why = cause.unwrap_or_else(|| error.to_string());
        return if is_of_tls(error) {
            DatabaseError::Untrusted { server, why }
        } else if error.to_string().starts_with("invalid configuration") {
            // The server asks for a password, and the URL has none.
            DatabaseError::BadUrl(why)
        } else {
            DatabaseError::Unreachable { server, why }
        };
    };
    let (code, why) = (db.code(), db.message().to_owned());
    match code {
        code if is_conflict(code) => DatabaseError::Conflict { server },
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => DatabaseError::NoRights { server, why },
        code if [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME].contains(code) => {
            DatabaseError::NoSchema { server }
        }
        code if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
            .contains(code) =>
        {
            DatabaseError::NotLetIn { server, why }
        }
        code if *code == SqlState::INVALID_CATALOG_NAME => DatabaseError::NoDatabase { server },
        code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => DatabaseError::ReadOnly { server },
        code if [
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::TOO_MANY_CONNECTIONS,
        ]
        .contains(code) =>
        {
            DatabaseError::Unreachable { server, why }
        }
        code if *code == SqlState::INVALID_SQL_STATEMENT_NAME => DatabaseError::NotPrepared { server },
        code if is_of_data(code, db.constraint()) => DatabaseError::BadData { server, why },
        _ => DatabaseError::Failed { server, why },
    }
}

/// Whether the data of a statement is at fault, and not the server, its settings or its tables: a
/// value that is no time or no text there, one that a column must have, a check of the table, or
/// one too large for an index. A row for which there is no partition has the code of a check, and
/// no check's name.
fn is_of_data(code: &SqlState, constraint: Option<&str>) -> bool {
    code.code().starts_with("22")
        || *code == SqlState::NOT_NULL_VIOLATION
        || *code == SqlState::CHECK_VIOLATION && constraint.is_some()
        || *code == SqlState::PROGRAM_LIMIT_EXCEEDED
}

/// Whether the server was reached and its certificate refused: no later try changes that.
fn is_of_tls(error: &tokio_postgres::Error) -> bool {
    let io = error.source().and_then(|cause| cause.downcast_ref::<std::io::Error>());
    io.and_then(std::io::Error::get_ref)
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<rustls::Error>)
}

/// Whether the same transaction, run again, may succeed.
fn is_conflict(code: &SqlState) -> bool {
    *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED
}
