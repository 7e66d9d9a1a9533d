//! `punchlist log list`: decisions, one a line. Changes nothing.

use jiff::tz::TimeZone;

use super::{Context, Result, filter_args, follow, output};
use crate::cli::log::ListArgs;
use crate::log::{Record, query};
use crate::render::json;
use crate::render::listing::{Setting, listing};

/// Runs the command.
pub(super) fn run(args: &ListArgs, context: &Context<'_>) -> Result {
    if args.follow {
        return follow::run(args, context);
    }
    let now = filter_args::now();
    let found = context.query(&filter_args::filter(&args.filter)?, args.last)?;
    if args.json {
        return output::print(json::lines(&found.decisions).as_bytes());
    }
    if found.decisions.is_empty() {
        context.complain_of_nothing(&found);
        return Ok(());
    }
    let width = output::width();
    let setting = Setting { zone: now.time_zone().clone(), width, head: width.is_some(), indent: 0 };
    output::page_from_end(&listing(&found.decisions, &setting), context.env)
}

/// One decision as a line of the list.
pub(in crate::commands) fn one_line(record: &Record) -> String {
    let log = serde_json::to_string(record).unwrap_or_default();
    let setting = Setting { zone: TimeZone::system(), width: None, head: false, indent: 0 };
    let line = listing(&query::parse(&log).decisions, &setting);
    anstream::adapter::strip_str(line.trim_end()).to_string()
}
