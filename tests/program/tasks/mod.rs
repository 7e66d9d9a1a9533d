//! Pending tasks from each of their sources.

mod http;
mod sources;
