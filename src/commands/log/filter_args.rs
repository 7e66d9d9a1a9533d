//! The filter that arguments mean here and now. Does not read the log.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::Result;
use crate::cli::log::FilterArgs;
use crate::log::filter::{Filter, ProjectFilter};

/// The time now, in the person's time zone.
pub(super) fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::system())
}

/// Returns the filter.
pub(super) fn filter(args: &FilterArgs) -> Result<Filter> {
    let (since, until) = (args.since.map(|time| time.start), args.until.map(|time| time.end));
    if since.zip(until).is_some_and(|(since, until)| since >= until) {
        return Err("--since is not before --until".to_owned());
    }
    Ok(Filter {
        project: args.project.as_deref().map(project),
        session: args.session.clone(),
        since,
        until,
        decisions: args.decision.clone(),
        categories: args.category.clone(),
        causes: args.cause.clone(),
        outcomes: args.outcome.clone(),
        text: args.grep.clone(),
    })
}

/// A word is a name, unless it can only be a path.
fn project(word: &str) -> ProjectFilter {
    let is_path = word.contains(['/', '\\']) || word == "." || word == "..";
    if !is_path {
        return ProjectFilter::Named(word.to_owned());
    }
    let path = std::fs::canonicalize(word).or_else(|_| std::path::absolute(word));
    ProjectFilter::At(path.map_or_else(|_| word.to_owned(), |path| path.display().to_string()))
}
