//! `punchlist log list`: the decisions that are meant, one a line. Must not change anything.

use jiff::tz::TimeZone;

use super::{Desk, Refusal, choice, follow, out};
use crate::cli::log::ListArgs;
use crate::log::Record;
use crate::log::reader::{Lines, Pages};
use crate::log::seen::Seen;
use crate::log::summary::Line;
use crate::render::listing::{Setting, listing};

/// Runs it.
pub(super) fn run(args: &ListArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    if args.follow {
        return follow::run(args, desk);
    }
    let now = choice::now();
    let filter = choice::filter(&args.filter, &now)?;
    let pages = Pages::of(&desk.log);
    let lines = if args.json { Lines::Wanted } else { Lines::Unwanted };
    let look = pages.look(&filter, args.last, lines).map_err(|error| desk.unreadable(&error))?;
    desk.tell_of_noise(&look);
    if args.json {
        return out::print_records(&look.seen);
    }
    if look.seen.is_empty() {
        desk.tell_of_nothing(&look);
        return Ok(());
    }
    let width = out::width();
    let setting =
        Setting { zone: now.time_zone().clone(), width, head: width.is_some(), colours: out::colours() };
    let text = listing(&look.seen, &setting);
    // The process ends here: to give each of thousands back would take longer than to leave them.
    std::mem::forget(look);
    out::page_from_end(&text, desk.env)
}

/// A decision at a glance.
pub(in crate::commands) fn one_line(record: &Record) -> String {
    let json = serde_json::to_vec(record).unwrap_or_default();
    let Some(Line::Decision(glance)) = Line::of(&json) else { return String::new() };
    let setting = Setting { zone: TimeZone::system(), width: None, head: false, colours: false };
    listing(&[Seen::new(*glance, Vec::new())], &setting).trim_end().to_owned()
}
