//! The gates beside the audit.

mod checklist;
mod checks;
mod keep_alive;
