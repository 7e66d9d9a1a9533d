//! Tasks and workers: many processes at once on one state folder.

mod commands;
mod json;
pub(crate) mod machine;
mod many;
mod status;
