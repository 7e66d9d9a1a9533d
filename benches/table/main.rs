//! What punchlist costs, as ratios in one run: `cargo bench --bench table`. Prints a table, and fails where a row does
//! not hold by a fifth. `cargo bench --bench table -- --help` says what else there is.

#![expect(clippy::print_stdout, reason = "the table is the point")]

#[path = "../transcripts/mod.rs"]
mod transcripts;

mod cli;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, GenerateArgs};

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        Some(Command::Fold { transcript }) => fold(&transcript),
        Some(Command::Generate(args)) => generate(&args),
        None => ExitCode::FAILURE,
    }
}

/// Reads a transcript as an audit does, and says what it cost: the child that is measured.
fn fold(transcript: &std::path::Path) -> ExitCode {
    let loaded = punchlist::session::load::load_saved(transcript);
    let session = &loaded.session;
    println!("rows {}", session.rows);
    println!("touches {}", session.touches.len());
    println!("commands {}", session.commands.len());
    println!("asks {}", session.asks.len());
    println!("oversized {}", session.skipped.oversized);
    // The most memory this process ever had, as Linux counts it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    println!("peak {}", peak.trim().trim_end_matches(" kB"));
    if let Some(problem) = &loaded.problem {
        eprintln!("{problem}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn generate(args: &GenerateArgs) -> ExitCode {
    let workspace = args.workspace.clone().unwrap_or_else(|| args.transcript.with_extension("workspace"));
    let started = std::time::Instant::now();
    match transcripts::generate(&args.spec(), &args.transcript, &workspace) {
        Ok(truth) => {
            let took = started.elapsed().as_millis().max(1);
            let speed = u128::from(truth.bytes) / 1000 / took;
            println!(
                "{} bytes, {} lines, {} rows that are read, {} changes, {} commands, {} asks; {speed} MB/s",
                truth.bytes,
                truth.lines,
                truth.rows,
                truth.touches.len(),
                truth.commands.len(),
                truth.asks.len()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", args.transcript.display());
            ExitCode::FAILURE
        }
    }
}
