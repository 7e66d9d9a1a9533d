//! Getting the gate in and switching it, as a person does: what is printed, and what is left of the
//! files.

mod commands;
mod everywhere;
mod files;
pub(crate) mod machine;
mod plugin;
mod screenshot;
mod switch;
