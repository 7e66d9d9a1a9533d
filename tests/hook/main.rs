//! The program as the client and a person run it: the real binary, a scripted client in place of `claude`, and the three
//! channels of its answer, its log and the processes it leaves, looked at from the outside.
//!
//! `scene` builds and runs one stop, `transcript` writes what the session did, `saved` puts it where the client keeps it,
//! `shown` reads the commands out of the docs. The other modules are the tests, by what they look at. Nothing here leaves
//! the machine: no network, no account.
#![cfg(unix)]

#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "shared with tests/child.rs, which needs more of it")]
mod processes;
mod saved;
mod scene;
mod shown;
mod transcript;

mod advice;
mod aside;
mod audit;
mod audit_all;
mod auditor;
mod background;
mod budget;
mod checklist;
mod checks;
mod config;
mod cost;
mod docs;
mod doctor;
mod eval;
mod gate;
mod input;
mod keep_alive;
mod languages;
mod message;
mod outcomes;
mod planless;
mod prompt;
mod seal;
mod second;
mod secrets;
mod session_start;
mod settings;
mod shell;
mod show;
mod signals;
mod state;
#[cfg(target_os = "linux")]
mod streams;
mod switch;
mod tasks;
mod tasks_http;
mod together;
mod trace;
mod usage;
