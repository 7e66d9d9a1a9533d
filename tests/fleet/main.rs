//! What several machines share, on a real `PostgreSQL` that the tests make and stop themselves.
//! Where there is none, what needs it is skipped aloud; `PUNCHLIST_POSTGRES=required` makes that a
//! failure.
#![cfg(unix)]

#[path = "../support/postgres.rs"]
mod postgres;
#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod processes;
#[path = "../support/test_machine.rs"]
mod test_machine;
#[path = "../program/test_project.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod test_project;
#[path = "../program/transcript.rs"]
#[expect(dead_code, reason = "shared with the tests of the program, which need more of it")]
mod transcript;

mod claims;
mod commands;
mod compose;
mod machines;
#[cfg(feature = "fleet")]
mod privacy;
mod proxy;
#[cfg(feature = "fleet")]
mod receiver;
mod registry;
mod rights;
mod spool;
#[cfg(feature = "fleet")]
mod telemetry;
mod tls;
mod trials;
