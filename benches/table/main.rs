//! What punchlist costs, as ratios in one run: `cargo bench --bench table`. Prints a table, and
//! fails where a row is over its limit by more than a fifth. `cargo bench --bench table -- --help`
//! says what else there is.

#![expect(clippy::print_stdout, reason = "the table is the point")]

#[path = "../../tests/support/sample_log.rs"]
mod sample_log;
#[path = "../transcripts/mod.rs"]
mod transcripts;

mod audits;
mod bench;
mod cli;
mod instructions;
mod log;
mod measure;
mod people;
mod project;
mod reading;
mod rows;
mod stops;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::bench::{Bench, Sizes};
use crate::cli::{Cli, Command, GenerateArgs, TableArgs};
use crate::measure::Fault;
use crate::rows::table;

/// A group of rows.
type Group = fn(&mut Bench) -> Result<(), Fault>;

/// All of them, by the names that `--only` takes.
const GROUPS: [(&str, Group); 8] = [
    ("read", reading::first_read),
    ("memory", reading::memory),
    ("later", stops::later_stops),
    ("fast", stops::fast_path),
    ("whole", audits::whole_hook),
    ("all", audits::all_sessions),
    ("log", log::log),
    ("people", people::people),
];

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ended = match &cli.command {
        Some(Command::Fold { transcript, more }) => fold(transcript, *more).map(|()| true),
        Some(Command::Generate(args)) => generate(args).map(|()| true),
        Some(Command::Year { state, records, seed }) => {
            let written = sample_log::write_year(state, *seed, *records);
            written.map(|()| true).map_err(|why| format!("{}: {why}", state.display()))
        }
        None if cli.table.instructions => instructions::run(cli.table.bless),
        None => measure_all(&cli.table),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Measures and prints; gives whether everything holds.
fn measure_all(args: &TableArgs) -> Result<bool, Fault> {
    let mut bench = Bench::new(if args.quick { Sizes::QUICK } else { Sizes::FULL });
    let mut faults = Vec::new();
    for (name, group) in GROUPS {
        if !args.only.is_empty() && !args.only.iter().any(|wanted| wanted == name) {
            continue;
        }
        eprintln!("measuring: {name}");
        if let Err(why) = group(&mut bench) {
            faults.push(format!("{name}: {why}"));
        }
    }
    let slack = bench.sizes.slack;
    print!("{}", table(&bench.rows, slack));
    for why in &bench.skipped {
        println!("SKIPPED {why}");
    }
    for why in &faults {
        println!("FAILED {why}");
    }
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&bench.rows).map_err(|why| why.to_string())?;
        std::fs::write(path, json + "\n").map_err(|why| format!("{}: {why}", path.display()))?;
    }
    if args.quick {
        println!("Small sizes and few rounds: only counts are judged, no times.");
    }
    Ok(faults.is_empty() && !bench.rows.iter().any(|row| row.misses(slack)))
}

/// Reads a transcript as an audit does, and says what it cost: the child that is measured.
fn fold(transcript: &Path, more: bool) -> Result<(), Fault> {
    let loaded = punchlist::session::load::load_saved(transcript);
    let session = &loaded.session;
    println!("rows {}", session.rows);
    println!("oversized {}", session.skipped.oversized);
    if more {
        println!("work {}", session.work_done());
        println!("asks {}", session.asks.len());
        let last_words = session.final_message.as_deref().unwrap_or_default();
        println!("final-message {}", transcripts::truth::hash(last_words.as_bytes()) >> 32);
    }
    // The most memory this process ever had, as Linux counts it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    println!("peak {}", peak.trim().trim_end_matches(" kB"));
    loaded.problem.map_or(Ok(()), Err)
}

fn generate(args: &GenerateArgs) -> Result<(), Fault> {
    let workspace = args.workspace.clone().unwrap_or_else(|| args.transcript.with_extension("workspace"));
    let started = std::time::Instant::now();
    let truth = transcripts::generate(&args.spec(), &args.transcript, &workspace)
        .map_err(|why| format!("{}: {why}", args.transcript.display()))?;
    let speed = u128::from(truth.bytes) / 1000 / started.elapsed().as_millis().max(1);
    println!(
        "{} bytes, {} lines, {} rows that are read, {} changes, {} commands, {} asks; {speed} MB/s",
        truth.bytes,
        truth.lines,
        truth.rows,
        truth.touches.len(),
        truth.commands.len(),
        truth.asks.len()
    );
    Ok(())
}
