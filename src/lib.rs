//! Punchlist: what the contract says and the building does not, for coding agents.
//!
//! A Stop hook for Claude Code. An agent says "done"; punchlist reads the plan, the session and
//! the disk, lets two sealed readers read them too, checks what they say, and lets the session
//! end, or not, with a list.
//!
//! ```text
//! hook input ─▶ gates ─▶ decision ─▶ reply (stdout, stderr, exit code) + decision log
//!                 │
//!                 └─ audit gate:
//!                    transcript ─▶ session ─┐               ┌─▶ first reader ─▶ checks ─▶ second reader ─┐
//!                    plan file  ─▶ plan ────┼─▶ evidence ───┤   (what drifts?)  (hard)    (is it so?)    ├─▶ findings
//!                    disk, git  ─▶ workspace┘               └─▶ facts (what the disk alone proves) ──────┘
//! ```
//!
//! # Words
//!
//! One word for one thing, in code, docs and on screen.
//!
//! - **Session** ([`session`]): what happened, read from the transcript and its subagents': the
//!   person's asks, edits and commands with how each ended, the task list, the final message.
//! - **Plan** ([`plan`]): what was promised: as it was when the session began or was approved, as
//!   it is now; split into **steps** (mark, text, paths and symbols named).
//! - **Evidence** ([`evidence`]): plan, session and disk side by side, for one audit: the
//!   sections of the prompt, each bounded; what is left out is said.
//! - **Fact** ([`facts`]): something that the disk, git or an exit code proves with no reading of
//!   prose.
//! - **Reader** ([`readers`]): a sealed call of the model. The first proposes, the second tries
//!   to refute. In the config and the log the table and the field of the first are named
//!   `auditor`.
//! - **Proposal** ([`readers::Proposal`]): what a reader says. **Finding** ([`finding`]): a
//!   proposal or a fact after the checks: category, status, claim, proof, path, why, what would
//!   settle it, source.
//! - **Checks** ([`readers::checks`]): what stands between the readers. Hard and pure; none of
//!   them reads prose.
//! - **Advisory** ([`advisories`]): shown to the person, never blocks.
//!
//! # The map
//!
//! No two modules need each other (a test reads the graph). From the outside in:
//!
//! | module | what it is |
//! | --- | --- |
//! | [`cli`], [`commands`] | arguments as typed; one thin file for each command |
//! | [`hook`] | the whole path of a stop on one page (`hook::stop`), and of a session's start |
//! | [`client`] | everything that is Claude Code's: hook input and reply, rows, settings, flags, folders, the sealed call |
//! | [`gates`] | everything that may block a stop: one trait, one file a gate |
//! | [`session`], [`plan`] | what happened; what was promised |
//! | [`workspace`], [`redact`] | disk, git and diffs; secrets |
//! | [`shell`], [`paths`], [`text`] | what a command line does; what kind of file a path is; cutting and comparing text |
//! | [`evidence`] | plan, session and disk side by side; the sections of the prompt and their budget |
//! | [`facts`], [`advisories`] | what the disk alone proves; what the person should know; one file a rule |
//! | [`readers`] | both readers' prompts, answers and budgets, and the checks between them |
//! | [`audit`] | one audit, whoever wants it: evidence, readers, findings, outcome |
//! | [`finding`], [`decision`] | one line of the list; outcomes to an answer, in one exhaustive match |
//! | [`followup`] | what became of a block |
//! | [`checks`], [`feature_loop`], [`tasks`], [`registry`] | what the other gates rest on |
//! | [`state`], [`config`] | what lasts from stop to stop; the settings, each key written once |
//! | [`log`], [`render`] | the decision log: record, store, query; every form in which people and programs see something |
//! | [`past_sessions`], [`sandbox`], [`eval`], [`doctor`] | sessions that are over; recorded ones laid out again; measured; whether all is in place |
//! | [`private_file`], [`clock`] | files that are the person's alone, and bounded waits for them; the time of day |
//! | [`child`] | one program in a process group of its own, under one deadline; nobody of it is left, however we end |
//!
//! The middle is pure: values in, values out, no clock, no disk, no environment (`plan`, `shell`,
//! `facts`, `advisories`, `readers::checks`, `decision`, `followup`, `render`). The edges touch the
//! world and decide nothing (`workspace`, `state`, `child`, `client::sealed_call`,
//! `session::load`, `log::store`). A reader's failures are values, carried to `decision`.
//!
//! `docs/architecture.md` follows one stop through these files as data.

#![forbid(unsafe_code)]

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub mod advisories;
pub mod audit;
pub mod cache_codec;
pub mod checks;
pub mod child;
pub mod cli;
pub mod client;
pub mod clock;
pub mod commands;
pub mod config;
pub mod database;
pub mod decision;
pub mod doctor;
pub mod env;
pub mod eval;
pub mod evidence;
pub mod exit;
pub mod facts;
pub mod feature_loop;
pub mod files;
pub mod finding;
pub mod fleet;
pub mod followup;
pub mod gates;
pub mod globs;
pub mod hook;
pub mod ids;
pub mod log;
pub mod past_sessions;
pub mod paths;
pub mod plan;
pub mod private_file;
pub mod readers;
pub mod redact;
pub mod registry;
pub mod render;
pub mod sandbox;
pub mod session;
pub mod shell;
pub mod state;
pub mod tasks;
pub mod text;
pub mod timing;
pub mod workspace;
