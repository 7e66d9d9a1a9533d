//! Runs programs and takes their times, in turns, so that whatever else the machine does hits all
//! of them alike.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Why a row can't be told. A child that failed must not look like a fast one.
pub(crate) type Fault = String;

/// A run that ended well.
#[derive(Debug)]
pub(crate) struct Ran {
    /// From before its start to after its end.
    pub(crate) time: Duration,
    /// What it printed, if that was kept.
    pub(crate) stdout: String,
}

/// Runs a command that has to end with one of `codes`.
fn run(command: &mut Command, stdin: &[u8], codes: &[i32], keep: bool) -> Result<Ran, Fault> {
    let shown = format!("{command:?}");
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(if keep { Stdio::piped() } else { Stdio::null() })
        .stderr(Stdio::null())
        .spawn()
        .map_err(|why| format!("{shown}: {why}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that never looks at its input may be gone by now.
        let _ = pipe.write_all(stdin);
    }
    let output = child.wait_with_output().map_err(|why| format!("{shown}: {why}"))?;
    let time = started.elapsed();
    match output.status.code() {
        Some(code) if codes.contains(&code) => {
            Ok(Ran { time, stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
        }
        _ => Err(format!("{shown}: {}", output.status)),
    }
}

/// Runs a command whose output does not matter.
pub(crate) fn timed(command: &mut Command, stdin: &[u8]) -> Result<Ran, Fault> {
    run(command, stdin, &[0], false)
}

/// Runs a command whose output does.
pub(crate) fn heard(command: &mut Command, codes: &[i32]) -> Result<Ran, Fault> {
    run(command, b"", codes, true)
}

/// The times of one thing that was measured.
#[derive(Debug, Default, Clone)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// The least, in milliseconds.
    pub(crate) fn least(&self) -> f64 {
        self.0.iter().min().copied().unwrap_or_default().as_secs_f64() * 1e3
    }

    /// How many there are.
    pub(crate) fn rounds(&self) -> usize {
        self.0.len()
    }
}

/// One thing to measure: told the round, does it once and gives its time.
pub(crate) type Runner<'a> = Box<dyn FnMut() -> Result<Duration, Fault> + 'a>;

/// How often something is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    /// As a rule.
    pub(crate) many: usize,
    /// Where one round takes more than a second.
    pub(crate) few: usize,
}

/// Measures them in turns. The first round is for warming up and does not count.
pub(crate) fn in_turns<const N: usize>(
    rounds: Rounds,
    mut runners: [Runner<'_>; N],
) -> Result<[Times; N], Fault> {
    let mut times = [const { Times(Vec::new()) }; N];
    let begun = Instant::now();
    for runner in &mut runners {
        runner()?;
    }
    let wanted = if begun.elapsed() > Duration::from_secs(1) { rounds.few } else { rounds.many };
    for _ in 0..wanted {
        for (runner, times) in runners.iter_mut().zip(&mut times) {
            times.0.push(runner()?);
        }
    }
    Ok(times)
}
