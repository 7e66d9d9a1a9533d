//! Which decisions the arguments mean, here and now: takes them as they were typed, gives a filter. Must not look at the log.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::Refusal;
use crate::cli::log::FilterArgs;
use crate::log::filter::{Filter, WhichProject, Words};
use crate::log::time_arg::Moment;

/// What time it is, where the person is.
pub(super) fn now() -> Zoned {
    Timestamp::now().to_zoned(TimeZone::system())
}

/// The filter that is meant.
pub(super) fn filter(args: &FilterArgs, now: &Zoned) -> Result<Filter, Refusal> {
    let moment = |moment: Option<Moment>, at: fn(Moment, &Zoned) -> Option<Timestamp>, name: &str| {
        moment.map_or(Ok(None), |moment| {
            let time = at(moment, now).ok_or_else(|| format!("{name}: there is no such time"))?;
            Ok::<_, Refusal>(Some(time.as_millisecond()))
        })
    };
    let (since, until) =
        (moment(args.since, Moment::start, "--since")?, moment(args.until, Moment::end, "--until")?);
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err("--since is not before --until".to_owned());
    }
    Ok(Filter {
        project: args.project.as_deref().map(which_project),
        session: args.session.clone(),
        since,
        until,
        verdicts: args.decision.clone(),
        categories: args.category.clone(),
        causes: args.cause.clone(),
        outcomes: args.outcome.clone(),
        text: args.grep.as_deref().map(Words::new),
    })
}

/// A word is a name, unless it can only be a path.
fn which_project(word: &str) -> WhichProject {
    let is_path = word.contains(['/', '\\']) || word == "." || word == "..";
    if !is_path {
        return WhichProject::Named(word.to_owned());
    }
    let path = std::fs::canonicalize(word).or_else(|_| std::path::absolute(word));
    WhichProject::At(path.map_or_else(|_| word.to_owned(), |path| path.display().to_string()))
}
