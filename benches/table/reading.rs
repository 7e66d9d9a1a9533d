//! Reading a whole transcript: its time against `wc -l`, and the most memory that it takes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use punchlist::shell::CommandLine;

use crate::bench::{Bench, size};
use crate::measure::{Fault, Ran, Rounds, Runner, Times, heard, in_turns};
use crate::project::BenchProject;
use crate::rows::{Row, Unit};
use crate::transcripts::truth::{CommandEnd, TouchEnd, hash};
use crate::transcripts::{Generator, Odd, Spec, Truth};

/// What the child that reads says of itself.
struct Fold {
    time: Duration,
    peak_mb: f64,
}

/// Reads a transcript in a process of its own, which has to find as many rows as there are.
fn fold(transcript: &Path, truth: &Truth) -> Result<Fold, Fault> {
    let ran = run_fold(transcript, &[])?;
    // A line that is too long to be looked at is a row that is passed over, and told.
    let rows = said(&ran, "rows")? + said(&ran, "oversized")?;
    same("rows", rows, truth.rows as u64)?;
    let peak = said(&ran, "peak")?;
    if peak == 0 {
        return Err("the system does not say how much memory a process had at the most".to_owned());
    }
    #[expect(clippy::cast_precision_loss, reason = "kilobytes")]
    let peak_mb = peak as f64 / 1024.0;
    Ok(Fold { time: ran.time, peak_mb })
}

fn run_fold(transcript: &Path, more: &[&str]) -> Result<Ran, Fault> {
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut command = Command::new(own);
    heard(command.env_clear().arg("fold").args(more).arg(transcript), &[0])
}

fn said(ran: &Ran, name: &str) -> Result<u64, Fault> {
    let line = ran.stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).ok_or_else(|| format!("fold says no {name}"))
}

fn same(name: &str, read: u64, there: u64) -> Result<(), Fault> {
    if read == there { Ok(()) } else { Err(format!("{name}: {read} were read, {there} are there")) }
}

/// How many of the newest prompts have to be kept of a session that is too long to be kept whole.
const NEWEST_ASKS: u64 = 150;

/// Whether a reader finds what the session came to: all its work, however much of it is kept one by
/// one, and how it ended.
fn check(project: &BenchProject) -> Result<(), Fault> {
    let (truth, ran) = (&project.truth, run_fold(&project.transcript, &["--more"])?);
    let done = truth.touches.iter().filter(|touch| touch.end == TouchEnd::Done).count();
    let ended = truth.commands.iter().filter(|command| command.end != CommandEnd::Unanswered);
    let (looks, effective): (Vec<_>, Vec<_>) =
        ended.partition(|command| CommandLine::from(command.line.as_str()).only_reads());
    // A command that is no longer kept counts as work, whatever it was.
    let (least, work) = ((done + effective.len()) as u64, said(&ran, "work")?);
    same("pieces of work", work, work.clamp(least, least + looks.len() as u64))?;
    same("final messages", said(&ran, "final-message")?, hash(truth.final_message.as_bytes()) >> 32)?;
    let asks = said(&ran, "asks")?;
    same("prompts", asks, asks.clamp(NEWEST_ASKS.min(truth.asks.len() as u64), truth.asks.len() as u64))
}

fn folder(project: &BenchProject) -> Runner<'_> {
    Box::new(|| Ok(fold(&project.transcript, &project.truth)?.time))
}

/// `wc -l`, which has to count all lines.
fn counter(project: &BenchProject) -> Runner<'_> {
    Box::new(|| {
        let mut command = Command::new("wc");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let ran = heard(command.arg("-l").arg(&project.transcript), &[0])?;
        let lines = ran.stdout.split(' ').next().unwrap_or_default();
        if lines != project.truth.lines.to_string() {
            return Err(format!("wc counts {lines} lines of {}", project.truth.lines));
        }
        Ok(ran.time)
    })
}

pub(crate) fn first_read(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    for generator in Generator::ALL {
        let project = &*bench.project(generator, sizes.middle)?;
        check(project)?;
        let [wc, read] = in_turns(sizes.rounds, [counter(project), folder(project)])?;
        let name = format!("first read of {}, {}, over wc -l", size(sizes.middle), generator.name());
        let row = Row::new(name, read.least() / wc.least(), Unit::Times, 6.0).note(against(&read, "wc", &wc));
        let others = if generator == Generator::First { others(project, &wc) } else { Vec::new() };
        bench.rows.push(row);
        bench.rows.extend(others);
    }
    Ok(())
}

/// Returns two least times in words.
fn against(one: &Times, name: &str, other: &Times) -> String {
    format!("{:.1} ms, {name} {:.1} ms, least of {}", one.least(), other.least(), one.rounds())
}

/// Measures what others take only to parse the same file, where they are installed.
fn others(project: &BenchProject, wc: &Times) -> Vec<Row> {
    const PYTHON: &str =
        "import json,sys\nn=0\nfor line in open(sys.argv[1],'rb'):\n    json.loads(line)\n    n+=1\nprint(n)";
    const NODE: &str = "let n=0;for(const line of require('fs').readFileSync(process.argv[1],'latin1').split('\\n'))if(line){JSON.parse(line);n++};console.log(n)";
    let path = project.transcript.display().to_string();
    let programs: [(&str, &[&str]); 3] = [
        ("jq", &["-c", ".type", &path]),
        ("python3", &["-c", PYTHON, &path]),
        ("node", &["-e", NODE, &path]),
    ];
    let mut rows = Vec::new();
    for (program, args) in programs {
        let runner: Runner<'_> =
            Box::new(|| heard(Command::new(program).args(args), &[0]).map(|ran| ran.time));
        if let Ok([times]) = in_turns(Rounds { many: 3, few: 2 }, [runner]) {
            let name = format!("{program}, parsing the same, over wc -l");
            let row = Row::without_limit(name, times.least() / wc.least(), Unit::Times);
            rows.push(row.note(against(&times, "wc", wc)));
        }
    }
    rows
}

/// Measures the most memory that reading takes.
pub(crate) fn memory(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let peak = |project: &BenchProject| -> Result<f64, Fault> {
        let mut peak = 0.0_f64;
        for _ in 0..3 {
            peak = peak.max(fold(&project.transcript, &project.truth)?.peak_mb);
        }
        Ok(peak)
    };
    for generator in Generator::ALL {
        let [middle, large] = bench.projects(generator, [sizes.middle, sizes.large])?;
        let (at_middle, at_large) = (peak(middle)?, peak(large)?);
        let commands = large.truth.commands.len();
        let name = format!("peak memory at {}, {}", size(sizes.large), generator.name());
        let note = format!("{at_middle:.1} MB at {}; {commands} commands", size(sizes.middle));
        bench.rows.push(Row::new(name, at_large, Unit::Megabytes, 32.0).note(note));
        let name = format!("and over that at {}", size(sizes.middle));
        bench.rows.push(Row::new(name, at_large / at_middle, Unit::Times, 1.25));
    }
    let odd = Odd { long_line: usize::try_from(sizes.middle).unwrap_or(usize::MAX), ..Odd::default() };
    let project = BenchProject::of(&Spec { odd, ..Spec::of(2_000_000) })?;
    let name = format!("peak memory with a single line of {}", size(sizes.middle));
    bench.rows.push(Row::new(name, peak(&project)?, Unit::Megabytes, 32.0));
    Ok(())
}
