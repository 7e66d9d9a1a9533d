//! The program as the client and a person run it: the real binary, a scripted client in place of
//! `claude`, and what it answers, prints, writes and leaves running. The modules have the names of
//! those in `src`. Nothing here leaves the machine: no network, no account.
//!
//! `test_project` builds and runs one stop, `transcript` writes what the session did,
//! `saved_session` puts it where the client keeps it, `shown_commands` reads the commands out of
//! the docs.
#![cfg(unix)]

#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "shared with the tests of child processes, which need more of it")]
mod processes;
#[path = "../support/sample_log.rs"]
mod sample_log;
#[path = "../support/test_machine.rs"]
mod test_machine;

mod saved_session;
mod shown_commands;
mod test_project;
mod transcript;

mod advisories;
mod audit;
mod child;
mod cli;
mod client;
mod completions;
mod config;
mod docs;
mod doctor;
mod eval;
mod evidence;
mod feature_loop;
mod followup;
mod gates;
mod hook;
mod install;
mod killed;
mod log;
mod packages;
mod page;
mod past_sessions;
mod readers;
mod redact;
mod registry;

mod state;
mod tasks;
mod timing;
