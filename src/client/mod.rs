//! Everything that is Claude Code's: how it starts a hook and what it may be answered, the rows of its transcripts, its
//! folders and settings files, its flags, and the sealed call of a model. Another agent's CLI would stand beside it.

pub mod claude_args;
pub mod flags;
pub mod folders;
pub mod hook_input;
pub mod hook_reply;
pub mod json_scan;
pub mod locate;
pub mod reply;
pub mod row;
pub mod sealed_call;
pub mod settings;
