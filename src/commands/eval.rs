//! `punchlist eval`: audits recorded cases and prints how well that went, or writes the prompts for
//! them. Must not change anything but the files that it is asked to write.

use std::path::Path;

use serde::Serialize;

use super::Result;
use super::output::print_raw;
use super::progress::Progress;
use crate::cli::eval::{EvalArgs, EvalCommand, PromptsArgs};
use crate::env::Env;
use crate::eval::case::{Case, Part};
use crate::eval::replies::{self, Key, WantedPrompts};
use crate::eval::run::{Asking, CaseResult, ReaderChoice, SecondChoice, run_all};
use crate::eval::score::{Score, missed_goals};
use crate::eval::tables;
use crate::exit;
use crate::parallel;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    version: &'static str,
    reader: ReaderChoice,
    second: SecondChoice,
    goals_missed: &'a [String],
    not_recorded: &'a [String],
    scores: Vec<(&'static str, Score)>,
    cases: &'a [CaseResult],
}

pub(super) fn run(args: &EvalArgs, env: &Env) -> Result {
    match &args.command {
        Some(EvalCommand::Prompts(args)) => write_prompts(args),
        None => evaluate(args, env),
    }
}

/// Returns the recorded cases of a folder, and the names of the others.
fn recorded_cases(folder: &Path, part: Option<Part>, name: Option<&str>) -> Result<(Vec<Case>, Vec<String>)> {
    let cases = Case::read_all(folder, part, name)?;
    let (cases, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.transcript().is_file());
    Ok((cases, others.into_iter().map(|case| case.name).collect()))
}

fn evaluate(args: &EvalArgs, env: &Env) -> Result {
    let folder = args.folder.as_deref().ok_or("no folder of cases is named")?;
    let (cases, not_recorded) = recorded_cases(folder, args.part, args.case.as_deref())?;
    let new = args.replies.as_deref().zip(args.key.as_deref());
    let new = new.map(|(folder, key)| replies::open(folder, key)).transpose()?;
    let default = if new.is_some() { ReaderChoice::Recorded } else { ReaderChoice::None };
    let asking = Asking {
        reader: args.reader.unwrap_or(default),
        second: args.second,
        replies: new.as_ref(),
        record: args.record.as_deref(),
    };
    if asking.record.is_some() && asking.reader != ReaderChoice::Recorded {
        return Err("--record goes with --reader recorded alone".into());
    }
    let bar = Progress::start();
    let results = run_all(&cases, asking, env, &|| bar.inc(cases.len(), "cases"))?;
    drop(bar);
    let all = Score::from_results(&results);
    let of = |part: Part| Score::from_results(results.iter().filter(|result| result.part == part));
    let parts = [Part::Tuning, Part::HeldOut].map(|part| (part.name(), of(part)));
    let mut missed = missed_goals(&parts, &all, asking);
    if !not_recorded.is_empty() {
        missed.push(format!("{} cases are not recorded: {}", not_recorded.len(), not_recorded.join(", ")));
    }
    let mut text = tables::report(&results, asking.reader, args.verbose);
    text.push_str(&goals_text(&missed));
    if let Some(path) = &args.json {
        let report = Report {
            schema: 2,
            version: env!("CARGO_PKG_VERSION"),
            reader: asking.reader,
            second: asking.second,
            goals_missed: &missed,
            not_recorded: &not_recorded,
            scores: parts.into_iter().chain([("all", all)]).collect(),
            cases: &results,
        };
        let json = serde_json::to_string_pretty(&report)? + "\n";
        std::fs::write(path, json).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    print_raw(text.as_bytes())?;
    Ok(if args.strict && !missed.is_empty() { exit::FAILED } else { exit::OK })
}

fn goals_text(missed: &[String]) -> String {
    if missed.is_empty() {
        return "Every goal is met.\n".to_owned();
    }
    let lines: String = missed.iter().map(|missed| format!("  {missed}\n")).collect();
    format!("Goals missed ({})\n\n{lines}\n", missed.len())
}

fn write_prompts(args: &PromptsArgs) -> Result {
    let (cases, _) = recorded_cases(&args.folder, None, None)?;
    // Existing answers are numbered by the key that their prompts were written with.
    let key = if args.replies.is_some() { Key::read(&args.key)? } else { Key::new(&cases) };
    let new =
        args.replies.as_ref().map(|folder| replies::Replies { folder: folder.clone(), key: key.clone() });
    let wanted = WantedPrompts { out: &args.out, key: &key, second: args.second, replies: new.as_ref() };
    wanted.begin(&args.key)?;
    let bar = Progress::start();
    let count = || bar.inc(cases.len(), "prompts");
    let written = parallel::map(&cases, parallel::cores(), &count, |case| wanted.write(case))?;
    drop(bar);
    let count = written.iter().filter(|is_written| **is_written).count();
    let line = format!("{count} prompts of {} cases are in {}\n", cases.len(), args.out.display());
    print_raw(line.as_bytes())
}
