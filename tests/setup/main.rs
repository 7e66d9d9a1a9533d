//! Getting the gate in and switching it, as a person does: the real binary in a home and a project of its own, what it
//! prints, and what it leaves of the files.
#![cfg(unix)]

mod desk;
mod files;
#[path = "../support/ground.rs"]
mod ground;
mod install;
mod picture;
mod plugin;
#[path = "../support/ran.rs"]
mod ran;
mod switch;
