//! `loop pass`: marks features in the list. Changes nothing else in it.

use super::super::say::say;
use super::LoopContext;
use crate::cli::loops::LoopPassArgs;
use crate::exit;
use crate::feature_loop::disk;
use crate::text::harmless;

/// Runs `loop pass`.
pub(super) fn run(context: &LoopContext<'_>, args: &LoopPassArgs) -> Result<u8, String> {
    let folder = context.folder();
    let state = context.state.loop_of(&folder).unwrap_or_else(|| context.new_loop(&folder));
    for feature in &args.features {
        disk::set_passes(&folder, &state.features, feature, !args.undo)?;
    }
    let list = disk::read_features(&folder, &state.features)?;
    let passing = list.iter().filter(|feature| feature.passes).count();
    let what = if args.undo { "open again" } else { "passes" };
    let text = format!("{}: {what}; {passing} of {} pass now\n", args.features.join(", "), list.len());
    Ok(say(&harmless(&text), exit::OK))
}
