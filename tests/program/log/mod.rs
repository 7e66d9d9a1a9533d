//! The log as people read it: a made-up year of decisions, with torn, older, newer and half-written
//! lines among them.

mod commands;
mod follow;
mod list;
pub(crate) mod machine;
mod mix;
mod show;
#[cfg(target_os = "linux")]
mod terminal;
