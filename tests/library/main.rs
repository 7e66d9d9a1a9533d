//! The library from outside: recorded sessions with a known truth, whole trips through an audit,
//! child processes, and how the modules of `src` hang together.

#[path = "../support/secret_shapes/mod.rs"]
mod secret_shapes;

mod advisories;
mod audit;
mod bench_table;
mod bench_transcripts;
mod cases;
mod child;
mod config;
mod evidence;
mod facts;
mod fuzz;
mod hostile_texts;
mod log;
mod module_graph;
mod plan;
mod promises;
mod readers;
mod redact;
mod reference;
mod registration;
mod registry;
mod scripted_client;
mod sealed_git;
mod session;
mod supply_chain;
mod telemetry;
mod trips;
mod workspace;
