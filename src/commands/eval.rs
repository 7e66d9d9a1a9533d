//! `punchlist eval`: audits recorded cases and prints how good that was. Must not change anything but the file
//! that it is asked to write.

use std::io::Write as _;
use std::path::Path;

use serde::Serialize;

use super::{complain, progress};
use crate::cli::EvalArgs;
use crate::env::Env;
use crate::eval::case::{Case, Part};
use crate::eval::run::{CaseResult, Mode, run_all};
use crate::eval::score::Score;
use crate::eval::{goals, tables};
use crate::exit;

/// What `--json` writes.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    version: &'static str,
    mode: Mode,
    goals_missed: &'a [String],
    not_recorded: &'a [String],
    scores: Vec<(&'static str, Score)>,
    cases: &'a [CaseResult],
}

/// Runs it on this process's stdout.
pub fn run(args: &EvalArgs, env: &Env) -> u8 {
    match evaluate(args, env) {
        Ok(code) => code,
        Err(why) => {
            complain(&why);
            exit::COULD_NOT
        }
    }
}

fn evaluate(args: &EvalArgs, env: &Env) -> Result<u8, String> {
    let cases =
        Case::read_all(&args.folder, args.part, args.case.as_deref()).map_err(|why| why.to_string())?;
    let (cases, unrecorded): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|case| case.transcript().is_file());
    let not_recorded: Vec<String> = unrecorded.into_iter().map(|case| case.name).collect();
    let bar = progress::bar(cases.len(), "cases");
    let results = run_all(&cases, args.auditor, env, &|| bar.inc()).map_err(|why| why.to_string())?;
    drop(bar);
    let score = Score::of(&results);
    let mut missed = goals::missed(&score, args.auditor);
    if !not_recorded.is_empty() {
        missed.push(format!("{} cases are not recorded: {}", not_recorded.len(), not_recorded.join(", ")));
    }
    let mut text = tables::report(&results, args.auditor, args.verbose);
    text.push_str(&if missed.is_empty() {
        "Every goal is met.\n".to_owned()
    } else {
        format!(
            "Goals missed ({})\n\n{}\n",
            missed.len(),
            missed.iter().map(|m| format!("  {m}\n")).collect::<String>()
        )
    });
    if let Some(path) = &args.json {
        let scores = [Part::Tuning, Part::HeldOut]
            .map(|part| (part.name(), Score::of(results.iter().filter(|result| result.part == part))));
        let report = Report {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            mode: args.auditor,
            goals_missed: &missed,
            not_recorded: &not_recorded,
            scores: scores.into_iter().chain([("all", score)]).collect(),
            cases: &results,
        };
        write_json(path, &report)?;
    }
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
    Ok(if args.strict && !missed.is_empty() { exit::FAILED } else { exit::OK })
}

fn write_json(path: &Path, report: &Report<'_>) -> Result<(), String> {
    let json = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    std::fs::write(path, json + "\n").map_err(|error| format!("{}: {error}", path.display()))
}
