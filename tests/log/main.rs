//! The log as people read it: the real binary on a made-up year of decisions, with torn, older, newer and half-written lines
//! among them. Nothing here leaves the machine.

#[path = "../support/ran.rs"]
mod ran;
#[path = "../support/year.rs"]
mod year;

mod commands;
mod desk;
mod follow;
mod list;
mod mix;
#[cfg(target_os = "linux")]
mod terminal;
