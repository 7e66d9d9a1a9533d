//! `punchlist log`: what was decided, read by people. Only `label` and `prune` change anything.

mod filter_args;
mod follow;
mod label;
mod list;
mod output;
mod prune;
mod replay;
mod report;
mod show;

use std::io;
use std::path::PathBuf;

use serde_json::json;

use super::complain;
use crate::cli::LogCommand;
use crate::cli::log::{ExportArgs, ExportFormat, LogArgs, StatsArgs};
use crate::config::LogConfig;
use crate::env::Env;
use crate::exit;
use crate::log::decision_ref::{DecisionRef, DecisionRefError, HELD, LAST};
use crate::log::filter::{DecisionKind, Filter};
use crate::log::query::Found;
use crate::log::stats::stats;
use crate::log::{Annotated, DecisionLog};
use crate::render::charts::{Setting, charts};
use crate::render::{csv, json as json_lines};
use crate::state::StateFolder;
use crate::text::counted;

pub(super) use list::one_line;

/// An error is a sentence for the person.
type Result<T = ()> = std::result::Result<T, String>;

/// The widest that text is set, and how wide it is set where the terminal does not say.
const MAX_WIDTH: usize = 100;

/// What all of the commands need.
#[derive(Debug)]
struct Context<'a> {
    env: &'a Env,
    state: PathBuf,
    log: DecisionLog,
}

/// Runs the command on this process's stdout.
pub fn run(args: &LogArgs, config: &LogConfig, env: &Env) -> u8 {
    let state = StateFolder::find(env).root().to_path_buf();
    let context = Context { env, log: DecisionLog::in_folder(&state), state };
    let result = match &args.command {
        None => list::run(&args.list, &context),
        Some(LogCommand::List(args)) => list::run(args, &context),
        Some(LogCommand::Stats(args)) => print_stats(args, &context),
        Some(LogCommand::Label(args)) => label::run(args, &context),
        Some(LogCommand::Export(args)) => export(args, &context),
        Some(LogCommand::Prune(args)) => prune::run(args, config, &context),
        Some(LogCommand::Path { json }) => print_path(*json, &context),
        Some(LogCommand::Show(args)) => show::run(args, &context),
        Some(LogCommand::Report(args)) => report::run(args, &context),
    };
    match result {
        Ok(()) => exit::OK,
        Err(why) => {
            complain(&why);
            exit::FAILED
        }
    }
}

fn print_stats(args: &StatsArgs, context: &Context<'_>) -> Result {
    let now = filter_args::now();
    let found = context.query(&filter_args::filter(&args.filter)?, None)?;
    let stats = stats(&found.decisions, now.time_zone());
    if args.json {
        return output::print_json(&stats);
    }
    if found.decisions.is_empty() {
        context.complain_of_nothing(&found);
        return Ok(());
    }
    let width = output::width();
    let setting = Setting { width: width.unwrap_or(MAX_WIDTH).min(MAX_WIDTH), blocks: width.is_some() };
    output::page(&charts(&stats, setting), context.env)
}

fn export(args: &ExportArgs, context: &Context<'_>) -> Result {
    let found = context.query(&filter_args::filter(&args.filter)?, None)?;
    match args.format {
        ExportFormat::Jsonl => output::print(json_lines::lines(&found.decisions).as_bytes()),
        ExportFormat::Csv => output::print(&csv::csv(&found.decisions).map_err(|error| error.to_string())?),
    }
}

fn print_path(as_json: bool, context: &Context<'_>) -> Result {
    let folder = context.log.folder();
    if !as_json {
        return output::print(format!("{}\n", folder.display()).as_bytes());
    }
    let files: Vec<_> = context.log.files().iter().map(|file| file.display().to_string()).collect();
    let audits = context.state.join("audits").display().to_string();
    output::print_json(&json!({ "folder": folder.display().to_string(), "files": files, "audits": audits }))
}

impl Context<'_> {
    /// Queries the log, and says on stderr which lines had to be skipped.
    fn query(&self, filter: &Filter, last: Option<usize>) -> Result<Found> {
        let found = self.log.query(filter, last).map_err(|error| self.unreadable(&error))?;
        let lines = |count: usize, words: &str| {
            (count > 0).then(|| format!("{} {words}", counted(count, "line", "lines")))
        };
        let skipped =
            [lines(found.torn, "that can't be read"), lines(found.newer, "written by a newer punchlist")];
        let skipped: Vec<_> = skipped.into_iter().flatten().collect();
        if !skipped.is_empty() {
            complain(&format!("passed over in {}: {}", self.log.folder().display(), skipped.join(", ")));
        }
        Ok(found)
    }

    /// Returns the decision that a person names, and the position of its finding, if one is named.
    fn find_one(&self, words: &str) -> Result<(Annotated, Option<usize>)> {
        let refuse = |error: DecisionRefError| match error {
            DecisionRefError::Empty => self.nothing_yet(),
            error => error.to_string(),
        };
        let reference = DecisionRef::parse(words).map_err(refuse)?;
        let last = (reference.id == LAST || reference.id == HELD).then_some(1);
        let decisions = if reference.id == HELD { vec![DecisionKind::Block] } else { Vec::new() };
        let found = self.log.query(&Filter { decisions, ..Filter::default() }, last);
        let mut decisions = found.map_err(|error| self.unreadable(&error))?.decisions;
        let ids: Vec<&str> = decisions.iter().map(|annotated| annotated.decision.id.as_str()).collect();
        let annotated = decisions.swap_remove(reference.position(&ids).map_err(refuse)?);
        let finding =
            reference.finding_position(&annotated.decision.id, annotated.findings.len()).map_err(refuse)?;
        Ok((annotated, finding))
    }

    fn nothing_yet(&self) -> String {
        format!(
            "{}: once the hook is registered, each stop of a session adds one, in {}",
            DecisionRefError::Empty,
            self.log.folder().display()
        )
    }

    fn unreadable(&self, error: &io::Error) -> String {
        format!("the log in {} can't be read: {error}", self.log.folder().display())
    }

    /// Says on stderr why there is nothing to show.
    fn complain_of_nothing(&self, found: &Found) {
        if found.scanned > 0 {
            complain(&format!(
                "none of the {} in the log that were looked at is meant by these filters",
                counted(found.scanned, "decision", "decisions")
            ));
        } else {
            complain(&self.nothing_yet());
        }
    }
}
