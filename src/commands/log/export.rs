//! `punchlist log export`: the decisions that are meant, for other programs. Must not change anything.

use super::{Desk, Refusal, choice, out};
use crate::cli::log::{ExportArgs, ExportFormat};
use crate::log::reader::{Lines, Pages};
use crate::render::csv;

/// Runs it.
pub(super) fn run(args: &ExportArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let filter = choice::filter(&args.filter, &choice::now())?;
    let lines = match args.format {
        ExportFormat::Jsonl => Lines::Wanted,
        ExportFormat::Csv => Lines::Unwanted,
    };
    let pages = Pages::of(&desk.log);
    let look = pages.look(&filter, None, lines).map_err(|error| desk.unreadable(&error))?;
    desk.tell_of_noise(&look);
    match args.format {
        ExportFormat::Jsonl => out::print_records(&look.seen),
        ExportFormat::Csv => out::print(&csv::csv(&look.seen).map_err(|error| error.to_string())?),
    }
}
