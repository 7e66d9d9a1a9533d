//! What several machines share, on a real `PostgreSQL` that the tests make and stop themselves. Where there is
//! none, what needs it is skipped aloud; `PUNCHLIST_POSTGRES=required` makes that a failure.
#![cfg(unix)]

#[path = "../support/postgres.rs"]
mod postgres;

mod registry;
