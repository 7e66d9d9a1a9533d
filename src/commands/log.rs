//! `punchlist log`: the decisions, for people. Only `label` and `prune` change anything.

mod follow;
mod prune;
mod replay;
mod report;
mod show;

use std::io;
use std::path::PathBuf;

use jiff::Zoned;
use serde_json::json;

use super::{Result, complain, output};
use crate::cli::log::{
    ExportArgs, ExportFormat, FilterArgs, LabelArgs, ListArgs, LogArgs, LogCommand, StatsArgs,
};
use crate::config::{Config, FleetConfig};
use crate::env::Env;
use crate::exit;
use crate::fleet::copy::Copier;
use crate::fleet::decisions::store_note;
use crate::fleet::{connect, shared_log};
use crate::log::decision_ref::{DecisionRef, DecisionRefError, HELD, LAST};
use crate::log::filter::{DecisionKind, Filter, ProjectFilter};
use crate::log::note::{LabelNote, Note};
use crate::log::query::Found;
use crate::log::stats::stats;
use crate::log::{Annotated, DecisionLog};
use crate::render::charts::{self, charts};
use crate::render::listing::{Setting, listing};
use crate::render::{csv, json as json_lines};
use crate::state::StateFolder;
use crate::text::counted;

#[derive(Debug)]
struct Context<'a> {
    env: &'a Env,
    state: PathBuf,
    log: DecisionLog,
    fleet: &'a FleetConfig,
    /// In the person's time zone.
    now: Zoned,
}

pub(super) fn run(args: &LogArgs, config: &Config, env: &Env) -> Result {
    let state = StateFolder::find(env)?.root().to_path_buf();
    let now = crate::clock::local();
    let context = Context { env, log: DecisionLog::in_folder(&state), state, fleet: &config.fleet, now };
    match &args.command {
        None => list(&args.list, &context),
        Some(LogCommand::List(args)) => list(args, &context),
        Some(LogCommand::Stats(args)) => print_stats(args, &context),
        Some(LogCommand::Label(args)) => label(args, &context),
        Some(LogCommand::Export(args)) => export(args, &context),
        Some(LogCommand::Prune(args)) => prune::run(args, config, &context),
        Some(LogCommand::Path { json }) => print_path(*json, &context),
        Some(LogCommand::Show(args)) => show::run(args, &context),
        Some(LogCommand::Report(args)) => report::run(args, &context),
    }
}

fn list(args: &ListArgs, context: &Context<'_>) -> Result {
    if args.follow && args.filter.fleet {
        return Err("--follow goes on with this machine's log; leave out --fleet".into());
    }
    if args.follow {
        return follow::run(args, context);
    }
    let found = context.query(&args.filter, args.last)?;
    if args.json {
        return output::print_raw(json_lines::lines(&found.decisions).as_bytes());
    }
    if found.decisions.is_empty() {
        return Ok(context.complain_of_nothing(&found));
    }
    output::page_from_end(&listing(&found.decisions, &context.list_setting()), context.env)
}

fn print_stats(args: &StatsArgs, context: &Context<'_>) -> Result {
    let found = context.query(&args.filter, None)?;
    let stats = stats(&found.decisions, context.now.time_zone());
    if args.json {
        return output::print_json(&stats);
    }
    if found.decisions.is_empty() {
        return Ok(context.complain_of_nothing(&found));
    }
    let width = output::terminal_width();
    let setting = charts::Setting { width: width.unwrap_or(100).min(100), blocks: width.is_some() };
    output::page(&charts(&stats, setting), context.env)
}

/// Appends a person's verdict on a decision; changes no existing line.
fn label(args: &LabelArgs, context: &Context<'_>) -> Result {
    let (annotated, finding) = context.find_one(&args.of, args.fleet)?;
    let (record, finding) = (&annotated.decision, finding.map(|at| at + 1));
    let (label, now) = (args.judgement, crate::clock::now());
    let note = LabelNote { note: args.note.clone(), ..LabelNote::new(&record.id, finding, label, now) };
    let note = Note::Label(note);
    if args.fleet {
        let copier = Copier { machine: "", with_evidence: context.fleet.ship_evidence };
        store_note(&mut connect(context.fleet)?, &copier.note(&note))?;
        if args.note.is_some() && !context.fleet.ship_evidence {
            complain("the label is shared, and your note is not: [fleet] ship_evidence is off");
        }
    } else {
        context.log.append_notes(std::slice::from_ref(&note), now).map_err(|error| {
            format!("the log in {} can't be written: {error}", context.log.folder().display())
        })?;
    }
    if args.json {
        return output::print_raw((serde_json::to_string(&note)? + "\n").as_bytes());
    }
    let (what, was) = match (finding, record.findings.len()) {
        (Some(number), _) => (format!("finding {number} of {}", record.id), "was"),
        (None, 0) => (record.id.clone(), "was"),
        (None, count) => (format!("{} and its {}", record.id, counted(count, "finding", "findings")), "were"),
    };
    output::print_raw(format!("Noted: {what} {was} {}.\n", label.name()).as_bytes())
}

fn export(args: &ExportArgs, context: &Context<'_>) -> Result {
    let found = context.query(&args.filter, None)?;
    match args.format {
        ExportFormat::Jsonl => output::print_raw(json_lines::lines(&found.decisions).as_bytes()),
        ExportFormat::Csv => output::print_raw(&csv::csv(&found.decisions)?),
    }
}

fn print_path(as_json: bool, context: &Context<'_>) -> Result {
    let folder = context.log.folder().display().to_string();
    if !as_json {
        return output::print_raw(format!("{folder}\n").as_bytes());
    }
    let files: Vec<_> = context.log.files().iter().map(|file| file.display().to_string()).collect();
    let audits = context.state.join("audits").display().to_string();
    output::print_json(&json!({ "folder": folder, "files": files, "audits": audits }))
}

/// Returns the filter that the arguments describe.
fn filter_of(args: &FilterArgs) -> Result<Filter> {
    let (since, until) = (args.since.map(|time| time.start), args.until.map(|time| time.end));
    if since.zip(until).is_some_and(|(since, until)| since >= until) {
        return Err("--since is not before --until".into());
    }
    Ok(Filter {
        project: args.project.as_deref().map(project),
        machine: args.machine.clone(),
        session: args.session.clone(),
        since,
        until,
        decisions: args.decision.clone(),
        categories: args.category.clone(),
        causes: args.cause.clone(),
        outcomes: args.outcome.clone(),
        advisories: args.advisory.clone(),
        text: args.grep.clone(),
    })
}

impl Context<'_> {
    fn list_setting(&self) -> Setting {
        let width = output::terminal_width();
        Setting { zone: self.now.time_zone().clone(), width, head: width.is_some(), indent: 0 }
    }

    /// Queries the log of this machine, or the fleet's.
    fn find(&self, filter: &Filter, last: Option<usize>, of_fleet: bool) -> Result<Found> {
        if of_fleet {
            return Ok(shared_log::query(&mut connect(self.fleet)?, filter, last)?);
        }
        Ok(self.log.query(filter, last).map_err(|error| self.unreadable(&error))?)
    }

    /// Queries, and reports on stderr which lines had to be skipped.
    fn query(&self, args: &FilterArgs, last: Option<usize>) -> Result<Found> {
        let found = self.find(&filter_of(args)?, last, args.fleet)?;
        let lines = |count: usize, words: &str| {
            (count > 0).then(|| format!("{} {words}", counted(count, "line", "lines")))
        };
        let skipped =
            [lines(found.torn, "that can't be read"), lines(found.newer, "written by a newer punchlist")];
        let skipped: Vec<_> = skipped.into_iter().flatten().collect();
        if !skipped.is_empty() {
            complain(&format!("skipped in {}: {}", self.log.folder().display(), skipped.join(", ")));
        }
        Ok(found)
    }

    /// Returns the decision that a person names, and the position of its finding, if one is named.
    fn find_one(&self, words: &str, of_fleet: bool) -> Result<(Annotated, Option<usize>)> {
        let refuse = |error: DecisionRefError| match error {
            DecisionRefError::Empty => self.nothing_yet(),
            error => error.to_string(),
        };
        let reference = DecisionRef::parse(words).map_err(refuse)?;
        let last = (reference.id == LAST || reference.id == HELD).then_some(1);
        let decisions = if reference.id == HELD { vec![DecisionKind::Block] } else { Vec::new() };
        let filter = Filter { decisions, ..Filter::default() };
        let mut decisions = self.find(&filter, last, of_fleet)?.decisions;
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

    /// Reports on stderr why there is nothing to show.
    fn complain_of_nothing(&self, found: &Found) -> u8 {
        if found.scanned > 0 {
            complain(&format!("none of the {} matches", counted(found.scanned, "decision", "decisions")));
        } else {
            complain(&self.nothing_yet());
        }
        exit::OK
    }
}

/// Parses a project: a name, unless it can only be a path.
fn project(word: &str) -> ProjectFilter {
    let is_path = word.contains(['/', '\\']) || word == "." || word == "..";
    if !is_path {
        return ProjectFilter::Named(word.to_owned());
    }
    let path = std::fs::canonicalize(word).or_else(|_| std::path::absolute(word));
    ProjectFilter::At(path.map_or_else(|_| word.to_owned(), |path| path.display().to_string()))
}
