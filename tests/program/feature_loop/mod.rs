//! `punchlist loop`: its commands, and the run that starts one scripted session after another.

mod commands;
mod gate;
pub(crate) mod machine;
mod run;
mod signals;
mod verified;
