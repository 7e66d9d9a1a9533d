//! Everything that is Claude Code's, and the only part that knows its formats, folders, flags and
//! variables. Only this client is supported; another agent's CLI would need a folder like this one,
//! which provides:
//!
//! - what a hook is given, and the reply that blocks a stop or speaks to the person
//!   ([`hook_input::HookInput`], [`hook_reply::Reply`]);
//! - a transcript's rows ([`row`], [`json_scan`]): prompts, tool calls and their results ([`prompt`],
//!   [`tool_call`], [`tool_result`]);
//! - where plans, transcripts and the open session are found ([`folders`], [`env_vars`]);
//! - the hook's registration: read, added, removed, everything else left alone ([`settings`]);
//! - a call of the model without tools, hooks, settings or memory, as a [`call::Reader`]
//!   ([`sealed_call::SealedClient`]).
//!
//! The sealed call consists of [`program`] (finds the program, its flags and its environment) and
//! [`reply`] (what came back).
//!
//! Nothing in here may need the config, the session or what readers are asked: those stand above.

pub mod call;
pub mod env_vars;
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
