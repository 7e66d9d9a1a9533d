//! Reading a whole transcript: its time against `wc -l`, at two sizes, and the most memory that it takes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use punchlist::shell::CommandLine;

use crate::bench::{Bench, size};
use crate::measure::{Fault, Ran, Rounds, Runner, Times, heard, in_turns};
use crate::rows::{Row, Unit};
use crate::scene::BenchProject;
use crate::transcripts::truth::{CommandEnd, TouchEnd, hash};
use crate::transcripts::{Odd, Spec, Truth};

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

/// Whether a reader finds what the session came to: all its work, however much of it is kept one by one, and how it ended.
fn check(scene: &BenchProject) -> Result<(), Fault> {
    let (truth, ran) = (&scene.truth, run_fold(&scene.transcript, &["--more"])?);
    let done = truth.touches.iter().filter(|touch| touch.end == TouchEnd::Done).count();
    let ended = truth.commands.iter().filter(|command| command.end != CommandEnd::Unanswered);
    let (looks, effective): (Vec<_>, Vec<_>) =
        ended.partition(|command| CommandLine::parse(&command.line).only_reads());
    // A command that is no longer kept counts as work, whatever it was.
    let (least, work) = ((done + effective.len()) as u64, said(&ran, "work")?);
    same("pieces of work", work, work.clamp(least, least + looks.len() as u64))?;
    same("final messages", said(&ran, "final-message")?, hash(truth.final_message.as_bytes()) >> 32)?;
    let asks = said(&ran, "asks")?;
    same("prompts", asks, asks.clamp(NEWEST_ASKS.min(truth.asks.len() as u64), truth.asks.len() as u64))
}

fn folder(scene: &BenchProject) -> Runner<'_> {
    Box::new(|| Ok(fold(&scene.transcript, &scene.truth)?.time))
}

/// `wc -l`, which has to count all lines.
fn counter(scene: &BenchProject) -> Runner<'_> {
    Box::new(|| {
        let mut command = Command::new("wc");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let ran = heard(command.arg("-l").arg(&scene.transcript), &[0])?;
        let lines = ran.stdout.split(' ').next().unwrap_or_default();
        if lines != scene.truth.lines.to_string() {
            return Err(format!("wc counts {lines} lines of {}", scene.truth.lines));
        }
        Ok(ran.time)
    })
}

/// The first read, at both sizes.
pub(crate) fn first_read(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let (middle, large) = bench.middle_and_large()?;
    check(middle)?;
    check(large)?;
    let [wc, read] = in_turns(sizes.rounds, [counter(middle), folder(middle)])?;
    let mut rows = vec![
        Row::new(
            &format!("first read of {}, over wc -l", size(sizes.middle)),
            read.least() / wc.least(),
            Unit::Times,
            6.0,
        )
        .aim(2.2)
        .note(against(&read, "wc", &wc)),
    ];
    rows.extend(others(middle, &wc));
    let [wc, at_middle, at_large] = in_turns(sizes.rounds, [counter(large), folder(middle), folder(large)])?;
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    let larger = large.truth.bytes as f64 / middle.truth.bytes as f64;
    rows.insert(
        1,
        Row::new(
            &format!("the same at {}, over {larger:.1} × that time", size(sizes.large)),
            at_large.least() / at_middle.least() / larger,
            Unit::Times,
            1.15,
        )
        .note(against(&at_large, &size(sizes.middle), &at_middle)),
    );
    rows.push(
        Row::beside(
            &format!("first read of {}, over wc -l", size(sizes.large)),
            at_large.least() / wc.least(),
            Unit::Times,
        )
        .note(against(&at_large, "wc", &wc)),
    );
    bench.rows.extend(rows);
    Ok(())
}

/// Two least times, in words.
fn against(one: &Times, name: &str, other: &Times) -> String {
    format!("{:.1} ms, {name} {:.1} ms, least of {}", one.least(), other.least(), one.rounds())
}

/// What others take only to parse the same file, where they are there.
fn others(scene: &BenchProject, wc: &Times) -> Vec<Row> {
    const PYTHON: &str =
        "import json,sys\nn=0\nfor line in open(sys.argv[1],'rb'):\n    json.loads(line)\n    n+=1\nprint(n)";
    const NODE: &str = "let n=0;for(const line of require('fs').readFileSync(process.argv[1],'latin1').split('\\n'))if(line){JSON.parse(line);n++};console.log(n)";
    let path = scene.transcript.display().to_string();
    let programs: [(&str, &[&str]); 3] = [
        ("jq", &["-c", ".type", &path]),
        ("python3", &["-c", PYTHON, &path]),
        ("node", &["-e", NODE, &path]),
    ];
    let mut rows = Vec::new();
    for (program, args) in programs {
        let once = || {
            let mut command = Command::new(program);
            heard(command.args(args), &[0]).map(|ran| ran.time)
        };
        let runner: Runner<'_> = Box::new(once);
        if let Ok([times]) = in_turns(Rounds { many: 3, few: 2 }, [runner]) {
            rows.push(
                Row::beside(
                    &format!("{program}, parsing the same, over wc -l"),
                    times.least() / wc.least(),
                    Unit::Times,
                )
                .note(against(&times, "wc", wc)),
            );
        }
    }
    rows
}

/// The most memory that reading takes.
pub(crate) fn memory(bench: &mut Bench) -> Result<(), Fault> {
    let sizes = bench.sizes;
    let peak = |scene: &BenchProject| -> Result<f64, Fault> {
        let mut peak = 0.0_f64;
        for _ in 0..3 {
            peak = peak.max(fold(&scene.transcript, &scene.truth)?.peak_mb);
        }
        Ok(peak)
    };
    let (middle, large) = bench.middle_and_large()?;
    let (at_middle, at_large) = (peak(middle)?, peak(large)?);
    let (commands, edits) = (middle.truth.commands.len(), middle.truth.touches.len());
    let note = |scene: &BenchProject| {
        let truth = &scene.truth;
        format!("{} commands, {} changes", truth.commands.len(), truth.touches.len())
    };
    let mut rows = vec![
        Row::new(&format!("peak memory at {}", size(sizes.middle)), at_middle, Unit::Megabytes, 16.0)
            .note(note(middle)),
        Row::new(&format!("peak memory at {}", size(sizes.large)), at_large, Unit::Megabytes, 16.0)
            .note(note(large)),
        Row::new("and what it grew by between them", at_large - at_middle, Unit::Megabytes, 1.0),
    ];
    let odd = Odd { long_line: usize::try_from(sizes.middle).unwrap_or(usize::MAX), ..Odd::default() };
    let scene = BenchProject::of(&Spec { odd, ..Spec::of(2_000_000) })?;
    let name = format!("peak memory with a single line of {}", size(sizes.middle));
    rows.push(Row::new(&name, peak(&scene)?, Unit::Megabytes, 32.0));
    drop(scene);
    let as_few = Spec { commands: Some(commands), edits: Some(edits), ..Spec::of(sizes.large) };
    let scene = BenchProject::of(&as_few)?;
    let name = format!("peak memory at {}, no more work than at {}", size(sizes.large), size(sizes.middle));
    rows.push(Row::beside(&name, peak(&scene)?, Unit::Megabytes).note(note(&scene)));
    bench.rows.extend(rows);
    Ok(())
}
