//! `punchlist log`: what was decided, read by people. Nothing but `label` and `prune` changes anything.

mod choice;
mod export;
mod follow;
mod label;
mod list;
mod out;
mod path;
mod prune;
mod replay;
mod report;
mod show;
mod stats;

use std::io;
use std::path::PathBuf;

use super::complain;
use crate::cli::LogCommand;
use crate::cli::log::LogArgs;
use crate::config::LogConfig;
use crate::env::Env;
use crate::exit;
use crate::log::DecisionLog;
use crate::log::decision_ref::{HELD, LAST, NotOne, Which};
use crate::log::filter::{Filter, Verdict};
use crate::log::reader::{Lines, Look, Pages};
use crate::log::seen::Seen;
use crate::state::StateFolder;
use crate::text::counted;

pub(super) use list::one_line;

/// Why something could not be done, in words.
type Refusal = String;

/// What all of them work with.
#[derive(Debug)]
struct Desk<'a> {
    env: &'a Env,
    state: PathBuf,
    log: DecisionLog,
}

/// Runs it on this process's stdout.
pub fn run(args: &LogArgs, config: &LogConfig, env: &Env) -> u8 {
    let state = StateFolder::find(env).root().to_path_buf();
    let desk = Desk { env, log: DecisionLog::in_folder(&state), state };
    let done = match &args.command {
        None => list::run(&args.list, &desk),
        Some(LogCommand::List(args)) => list::run(args, &desk),
        Some(LogCommand::Stats(args)) => stats::run(args, &desk),
        Some(LogCommand::Label(args)) => label::run(args, &desk),
        Some(LogCommand::Export(args)) => export::run(args, &desk),
        Some(LogCommand::Prune(args)) => prune::run(args, config, &desk),
        Some(LogCommand::Path { json }) => path::run(*json, &desk),
        Some(LogCommand::Show(args)) => show::run(args, &desk),
        Some(LogCommand::Report(args)) => report::run(args, &desk),
    };
    match done {
        Ok(()) => exit::OK,
        Err(why) => {
            complain(&why);
            exit::FAILED
        }
    }
}

impl Desk<'_> {
    /// The decision that a person names, and which of its findings, counted from 0.
    fn the_one<'p>(
        &self,
        pages: &'p Pages,
        words: &str,
        lines: Lines,
    ) -> Result<(Seen<'p>, Option<usize>), Refusal> {
        let refusal = |why: NotOne| match why {
            NotOne::Empty => self.nothing_yet(),
            why => why.to_string(),
        };
        let which = Which::of(words).map_err(refusal)?;
        let newest = (which.id == LAST || which.id == HELD).then_some(1);
        let verdicts = if which.id == HELD { vec![Verdict::Block] } else { Vec::new() };
        let filter = Filter { verdicts, ..Filter::default() };
        let look = pages.look(&filter, newest, lines).map_err(|error| self.unreadable(&error))?;
        let place = which.place(look.seen.iter().map(|seen| seen.glance.id.as_ref())).map_err(refusal)?;
        let Some(seen) = look.seen.into_iter().nth(place) else { return Err(self.nothing_yet()) };
        let finding = which.finding_of(&seen.glance.id, seen.glance.findings.len()).map_err(refusal)?;
        Ok((seen, finding))
    }

    /// Says that there is no decision at all.
    fn nothing_yet(&self) -> Refusal {
        format!(
            "{}: once the hook is registered, each stop of a session adds one, in {}",
            NotOne::Empty,
            self.log.folder().display()
        )
    }

    /// Says that the log can't be read.
    fn unreadable(&self, error: &io::Error) -> Refusal {
        format!("the log in {} can't be read: {error}", self.log.folder().display())
    }

    /// Says on stderr what had to be passed over.
    fn tell_of_noise(&self, look: &Look<'_>) {
        let torn =
            (look.torn > 0).then(|| format!("{} that can't be read", counted(look.torn, "line", "lines")));
        let newer = (look.newer > 0)
            .then(|| format!("{} written by a newer punchlist", counted(look.newer, "line", "lines")));
        let noise: Vec<_> = torn.into_iter().chain(newer).collect();
        if !noise.is_empty() {
            complain(&format!("passed over in {}: {}", self.log.folder().display(), noise.join(", ")));
        }
    }

    /// Says on stderr why there is nothing to show.
    fn tell_of_nothing(&self, look: &Look<'_>) {
        if look.decisions > 0 {
            complain(&format!(
                "none of the {} in the log that were looked at is meant by these filters",
                counted(look.decisions, "decision", "decisions")
            ));
        } else {
            complain(&self.nothing_yet());
        }
    }
}
