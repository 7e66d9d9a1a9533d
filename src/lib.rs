//! Punchlist: what the contract says and the building does not, for coding agents.
//!
//! A Stop hook for Claude Code. When an agent says "done", punchlist reads the plan, the session
//! and the disk, lets two sealed readers read them too, and checks what they say. Then it lets the
//! session end, or blocks it with a list.
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
//! One word for one thing, in code, in the docs and on screen.
//!
//! - **Session** ([`session`]): what happened, read from the transcript and its subagents': the
//!   person's asks, edits and commands with how each ended, the task list, the final message.
//! - **Plan** ([`plan`]): what was promised: before (when the session began or the plan was
//!   approved) and now, split into **steps** (mark, text, named paths and symbols).
//! - **Evidence** ([`evidence`]): plan, session and disk side by side, for one audit: the
//!   sections of the prompt, each bounded and with a note of what was left out.
//! - **Fact** ([`facts`]): something that the disk, git or an exit code proves without reading
//!   prose.
//! - **Reader** ([`readers`]): a sealed call of the model. The first proposes, the second tries
//!   to refute. The config's table and the log's field for the first are named `auditor`.
//! - **Proposal** ([`readers::Proposal`]): what a reader reports. **Finding** ([`finding`]): a
//!   proposal or a fact after the proposal checks: category, status, claim, proof, path, why,
//!   what would settle it, source.
//! - **Proposal checks** ([`readers::proposal_checks`]): the tests that a proposal of the first
//!   reader has to pass. Hard and pure; none of them reads prose.
//! - **Check** ([`checks`]): a command of the person's that has to pass before a session may end.
//! - **Advisory** ([`advisories`]): shown to the person, never blocks.
//!
//! # The map
//!
//! Modules depend on each other in one direction (a test checks the graph). From the outside in:
//!
//! | module | what it is |
//! | --- | --- |
//! | [`cli`], [`commands`] | arguments as typed; one thin file for each command |
//! | [`hook`] | the whole path of a stop on one page (`hook::stop`), and of a session's start |
//! | [`client`] | everything specific to Claude Code: hook input and reply, rows, settings, flags, folders, the sealed call |
//! | [`gates`] | everything that may block a stop: one trait, one file per gate |
//! | [`session`], [`plan`] | what happened; what was promised |
//! | [`workspace`], [`redact`] | disk, git and diffs; secrets |
//! | [`shell`], [`paths`], [`globs`], [`text`] | what a command line does; what kind of file a path is; globs of the config; cutting and comparing text |
//! | [`evidence`] | plan, session and disk side by side; the sections of the prompt and their budget |
//! | [`facts`], [`advisories`] | what the disk alone proves; what the person should know; one file per rule |
//! | [`readers`] | both readers' prompts, answers and budgets, and the proposal checks between them |
//! | [`audit`] | one audit, for any caller: evidence, readers, findings, outcome |
//! | [`finding`], [`decision`] | one line of the list; outcomes to an answer, in one exhaustive match |
//! | [`followup`] | the outcome of a block |
//! | [`checks`], [`feature_loop`], [`tasks`], [`registry`] | what the other gates are built on |
//! | [`fleet`], [`database`] | what several machines share: the spool and its destinations; statements in, rows out |
//! | [`state`], [`config`] | what is kept from stop to stop; the settings, each key written once |
//! | [`log`], [`render`] | the decision log: record, store, query; every format for people and programs |
//! | [`past_sessions`], [`sandbox`], [`eval`], [`doctor`] | saved sessions; recorded ones laid out again; measuring; whether everything is in place |
//! | [`private_file`], [`files`], [`cache_codec`] | files that only the person can change, with bounded waits; safe reads and atomic writes; the encoding of caches |
//! | [`clock`], [`timing`], [`ids`], [`env`](mod@env) | the time of day; our own time by phase; ids; environment variables |
//! | [`child`], [`parallel`], [`exit`] | one program in its own process group, under one deadline, killed with us; work on several threads; exit codes |
//! | `testing` | builders for tests (with the feature `testing`) |
//!
//! The middle is pure: values in, values out, no clock, no disk, no environment (`plan`, `shell`,
//! `facts`, `advisories`, `readers::proposal_checks`, `decision`, `followup`, `render`). The edges
//! touch the world and decide nothing (`workspace`, `state`, `child`, `client::sealed_call`,
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
pub mod parallel;
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
