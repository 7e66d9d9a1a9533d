//! The Stop and `SessionStart` hooks, end to end.

mod background;
mod decision;
mod merge;
mod message;
mod planless;
mod session_start;
mod skip;
mod statusline;
#[cfg(target_os = "linux")]
mod streams;
mod switch;
