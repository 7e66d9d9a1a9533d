//! `punchlist loop` as people run it: its commands, and the run that starts one scripted session after another.

#![cfg(unix)]

mod commands;
mod desk;
mod gate;
#[path = "../support/ground.rs"]
mod ground;
#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "each of the targets that share it leaves a part of it alone")]
mod processes;
#[path = "../support/ran.rs"]
mod ran;
mod run;
mod signals;
