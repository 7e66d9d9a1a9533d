//! The client's wire format: what a Stop hook is given, and what it may answer.

pub mod input;
pub mod reply;

pub use input::{BackgroundTask, Event, HookInput, InputError};
pub use reply::Reply;
