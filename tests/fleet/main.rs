//! What several machines share, on a real `PostgreSQL` that the tests make and stop themselves. Where there is
//! none, what needs it is skipped aloud; `PUNCHLIST_POSTGRES=required` makes that a failure.
#![cfg(unix)]

#[path = "../support/postgres.rs"]
mod postgres;
#[path = "../support/test_machine.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod test_machine;

mod commands;
mod machines;
mod proxy;
mod registry;
mod rights;
mod spool;
mod tls;
mod trials;
