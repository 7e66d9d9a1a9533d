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
//! The modules stand below in the order in which data passes them, and no two of them need each
//! other. The middle (`session::ledger`, `plan`, `facts`, `advisories`, `readers::checks` and
//! `second`, `decision`, `followup`) is pure: values in, values out, no clock, no disk, no
//! environment. The edges (`config`, `settings::place`, `state`, `session::batches`, `originals`
//! and `load`, `evidence::workspace` and `git`, `globbed`, `child`, `gates::sight`, `log::store`,
//! `query`, `prune` and `artifacts`) touch the world and decide nothing. `audit`, `gates` and
//! `commands` put them together.
//!
//! What every stop would have to do again is remembered: `session::cursor` how far a transcript
//! was read and what came of it, `evidence::memory` what a file showed; `kept` turns both into
//! bytes, `state` keeps them.
//!
//! Beside the audit stand the other gates, one file each in `gates`, each with its table in
//! `config::gates` and its page in `docs/gates`: what they decide by themselves is pure and has a
//! module of its own where it is more than a page (`checks`, `feature_loop`, `tasks`).
//!
//! After a block the next stop tells what became of it: `gates::block_followup` looks again,
//! `followup` says what that means, and `log` has it beside the decision. `page` makes one HTML
//! page of all that.
//!
//! A session that starts, goes on or was compacted is given what its config names:
//! `session_start`.
//!
//! `settings` knows the client's settings files and how the hook is registered in them; `install`
//! edits them where they stand.
//!
//! `registry` keeps tasks and the workers that do them, `tasks` looks a session's up, there or
//! elsewhere.
//!
//! `saved` finds and audits sessions that are over, `report` sets what came of it, `stage` lays
//! recorded ones out again, `doctor` judges whether everything is in place, `eval` measures all of
//! it on cases whose truth is known.

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
pub mod commands;
pub mod config;
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
pub mod followup;
pub mod gates;
pub mod globs;
pub mod hook;
pub mod ids;
pub mod log;
pub mod past_sessions;
pub mod paths;
pub mod plan;
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
