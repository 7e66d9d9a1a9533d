//! Everything specific to Claude Code: the only part that knows its formats, folders, flags and
//! variables. Only this client is supported; another agent's CLI would need a module like this one,
//! which provides:
//!
//! - what a hook is given, and the reply that blocks a stop or speaks to the person
//!   ([`hook_input::HookInput`], [`hook_reply::Reply`]);
//! - a transcript's rows ([`row`], [`json_scan`]): prompts, tool calls and their results
//!   ([`prompt`], [`tool_call`], [`tool_result`]);
//! - where plans, transcripts and the open session are found ([`folders`], [`env_vars`]);
//! - the hook's registration: reading, adding and removing it, everything else left alone
//!   ([`settings`]);
//! - a call of the model without tools, hooks, settings or memory, as a [`call::Reader`]
//!   ([`sealed_call::SealedClient`]).
//!
//! The sealed call consists of [`program`] (finds the program, its flags and its environment) and
//! [`reply`] (what it printed).
//!
//! Must not depend on the config, the session or the readers' questions: those are layers above.

pub mod call;
pub mod env_vars;
pub mod feedback;
pub mod folders;
pub mod hook_input;
pub mod hook_reply;
pub mod json_scan;
pub mod program;
pub mod prompt;
pub mod reply;
pub mod row;
pub mod sealed_call;
pub mod settings;
pub mod tool_call;
pub mod tool_result;
