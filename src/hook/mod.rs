//! The client's wire format: what a Stop hook is given, and what it may answer.

pub mod session_start;
pub mod skip;
pub mod stop;

pub use crate::client::hook_input::{BackgroundTask, Event, HookInput, InputError};
pub use crate::client::hook_reply::Reply;
