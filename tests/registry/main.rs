//! The registry as people and agents use it: the real binary, many of it at once, on one state folder. Nothing here leaves the
//! machine.
#![cfg(unix)]

#[path = "../support/ran.rs"]
mod ran;

mod commands;
mod desk;
mod json;
mod many;
mod status;
