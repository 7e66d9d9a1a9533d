//! `punchlist log stats`: what the log comes to. Must not change anything.

use super::{Desk, Refusal, choice, out};
use crate::cli::log::StatsArgs;
use crate::log::reader::{Lines, Pages};
use crate::log::stats::stats;
use crate::render::charts::{Setting, figures};

/// The widest that figures are set; where nobody knows how wide the terminal is, they are set so.
const WIDEST: usize = 100;

/// Runs it.
pub(super) fn run(args: &StatsArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let now = choice::now();
    let filter = choice::filter(&args.filter, &now)?;
    let pages = Pages::of(&desk.log);
    let look = pages.look(&filter, None, Lines::Unwanted).map_err(|error| desk.unreadable(&error))?;
    desk.tell_of_noise(&look);
    let stats = stats(&look.seen, now.time_zone());
    if args.json {
        let json = serde_json::to_string_pretty(&stats).map_err(|error| error.to_string())?;
        return out::print(format!("{json}\n").as_bytes());
    }
    if look.seen.is_empty() {
        desk.tell_of_nothing(&look);
        return Ok(());
    }
    // The process ends here: to give each of thousands back would take longer than to leave them.
    std::mem::forget(look);
    let width = out::width();
    let setting = Setting {
        width: width.unwrap_or(WIDEST).min(WIDEST),
        colours: out::colours(),
        blocks: width.is_some(),
    };
    out::page(&figures(&stats, setting), desk.env)
}
