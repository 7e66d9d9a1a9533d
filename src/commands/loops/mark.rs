//! `loop pass`: sets marks in the list, one after another, each written whole. Changes nothing else in it.

use super::super::say::say;
use super::Desk;
use crate::cli::loops::LoopPassArgs;
use crate::exit;
use crate::feature_loop::disk;
use crate::text::harmless;

/// Runs it.
pub(super) fn run(desk: &Desk<'_>, args: &LoopPassArgs) -> Result<u8, String> {
    let folder = desk.folder();
    let memory = desk.state.loop_of(&folder).unwrap_or_else(|| desk.new_loop(&folder));
    for feature in &args.features {
        disk::mark(&folder, &memory.features, feature, !args.undo)?;
    }
    let list = disk::features(&folder, &memory.features)?;
    let passing = list.iter().filter(|feature| feature.passes).count();
    let what = if args.undo { "open again" } else { "passes" };
    let text = format!("{}: {what}; {passing} of {} pass now\n", args.features.join(", "), list.len());
    Ok(say(&harmless(&text), exit::OK))
}
