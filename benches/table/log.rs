//! Reading the decision log: what `log` takes on a year of a small team, over `wc -l` of its files.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;
use crate::measure::{Fault, Runner, heard, in_turns, timed};
use crate::project::PUNCHLIST;
use crate::rows::{Row, Unit};
use crate::sample_log::write_year;

/// How many decisions a small team makes in a year.
const RECORDS: usize = 20_000;
/// How much more than `wc -l` a command may take, in milliseconds.
const MORE_MS: f64 = 300.0;

fn punchlist(state: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(PUNCHLIST);
    command.env_clear().env("PUNCHLIST_HOME", state).env("HOME", state).env("TZ", "Europe/Berlin");
    command.current_dir(state).arg("log").args(args);
    command
}

fn wc(files: &[PathBuf]) -> Command {
    let mut command = Command::new("wc");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).arg("-l").args(files);
    command
}

/// Each command on it.
pub(crate) fn log(bench: &mut Bench) -> Result<(), Fault> {
    let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
    let state = folder.path();
    write_year(state, 1, RECORDS).map_err(|why| why.to_string())?;
    let files = punchlist::log::DecisionLog::in_folder(state).files();
    let listed = heard(&mut punchlist(state, &["list"]), &[0])?.stdout.lines().count();
    if listed != RECORDS {
        return Err(format!("{listed} decisions are listed, {RECORDS} are there"));
    }
    for (name, args, has_to_hold) in [
        ("list", &["list"][..], true),
        ("list -n 20", &["list", "-n", "20"], true),
        ("list --outcome disputed", &["list", "--outcome", "disputed"], true),
        ("stats", &["stats"], true),
        ("list --json", &["list", "--json"], false),
        ("export --format csv", &["export", "--format", "csv"], false),
    ] {
        let counter: Runner<'_> = Box::new(|| Ok(timed(&mut wc(&files), b"")?.time));
        let reader: Runner<'_> = Box::new(|| Ok(timed(&mut punchlist(state, args), b"")?.time));
        let [lines, read] = in_turns(bench.sizes.rounds, [counter, reader])?;
        let name = format!("log {name} of {RECORDS} decisions, more than wc -l");
        let more = read.least() - lines.least();
        let row = if has_to_hold {
            Row::new(name, more, Unit::Milliseconds, MORE_MS)
        } else {
            Row::without_limit(name, more, Unit::Milliseconds)
        };
        let note = format!("{:.1} ms, wc {:.1} ms, least of {}", read.least(), lines.least(), read.rounds());
        bench.rows.push(row.note(note));
    }
    Ok(())
}
