//! The hook: what happens at a stop (`stop`, the whole path on one page) and at the start of a
//! session. Must not contain the rules of a gate, which are in `gates`.

pub mod block_followup;
pub mod config_faults;
pub mod interrupt;
pub mod notices;
pub mod prompt_submit;
pub mod record;
pub mod recount;
pub mod session_start;
pub mod skip;
pub mod stop;
pub mod surroundings;

pub use crate::client::hook_input::HookInput;
