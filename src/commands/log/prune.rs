//! `punchlist log prune`: removes what is too old or over the size limit, and reports it.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Context, Result, output};
use crate::cli::log::PruneArgs;
use crate::config::Config;
use crate::fleet;
use crate::log::prune::{FileKind, Pruned, prune};
use crate::text::{counted, in_bytes};

pub(super) fn run(args: &PruneArgs, config: &Config, context: &Context<'_>) -> Result {
    let log = &config.log;
    let (keep, max_size) = (args.keep.unwrap_or(log.keep), args.max_size.unwrap_or(log.max_size));
    let waiting_from = |path: &Path, file: &File| fleet::waiting_from(&context.state, config, path, file);
    let pruned = prune(&context.state, keep, max_size, crate::clock::now(), args.dry_run, &waiting_from)
        .map_err(|error| format!("{} can't be pruned: {error}", context.state.display()))?;
    if args.json {
        return output::print_json(&as_json(&pruned, args.dry_run));
    }
    let limits = format!("limits: {} and {}", days(keep), in_bytes(max_size));
    output::print_raw(
        summary(&pruned, &limits, args.dry_run, &context.state.display().to_string()).as_bytes(),
    )
}

fn summary(pruned: &Pruned, limits: &str, dry_run: bool, state: &str) -> String {
    let waiting: Vec<_> = pruned.waiting.iter().map(|path| stem(path)).collect();
    let waiting = if waiting.is_empty() {
        String::new()
    } else {
        format!("Kept anyway, not shipped yet: {} (`punchlist fleet push`).\n", waiting.join(", "))
    };
    if pruned.bytes() == 0 {
        return format!(
            "Nothing in {state} is too old or too large ({limits}); it takes {}.\n{waiting}",
            in_bytes(pruned.left)
        );
    }
    let mut text =
        format!("{} {state} ({limits}):\n", if dry_run { "Would be removed from" } else { "Removed from" });
    for (path, lines, bytes) in &pruned.lines {
        let lines = counted(*lines, "line", "lines");
        text += &format!("  {lines} of {} ({})\n", stem(path), in_bytes(*bytes));
    }
    for (kind, one, many) in KINDS {
        let these: Vec<_> = pruned.files.iter().filter(|(other, _, _)| *other == kind).collect();
        if these.is_empty() {
            continue;
        }
        let bytes = these.iter().map(|(_, _, bytes)| bytes).sum();
        let names: Vec<_> = these.iter().map(|(_, path, _)| stem(path)).collect();
        let names = if kind == FileKind::Month { format!(": {}", names.join(", ")) } else { String::new() };
        text += &format!("  {} ({}){names}\n", counted(these.len(), one, many), in_bytes(bytes));
    }
    let left = if dry_run { "would be left" } else { "are left" };
    text + &format!("{} in all; {} {left}.\n{waiting}", in_bytes(pruned.bytes()), in_bytes(pruned.left))
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

const KINDS: [(FileKind, &str, &str); 4] = [
    (FileKind::Month, "whole month of the log", "whole months of the log"),
    (FileKind::Audit, "artifact of an audit", "artifacts of audits"),
    (FileKind::Session, "session's state", "sessions' states"),
    (FileKind::Cache, "cache file", "cache files"),
];

fn as_json(pruned: &Pruned, dry_run: bool) -> serde_json::Value {
    let files: Vec<_> = pruned
        .files
        .iter()
        .map(|(kind, path, bytes)| json!({ "kind": kind, "path": path, "bytes": bytes }))
        .collect();
    let lines: Vec<_> = pruned
        .lines
        .iter()
        .map(|(path, lines, bytes)| json!({ "path": path, "lines": lines, "bytes": bytes }))
        .collect();
    json!({
        "dry_run": dry_run,
        "files": files,
        "lines": lines,
        "waiting": pruned.waiting,
        "bytes": pruned.bytes(),
        "left_bytes": pruned.left,
    })
}

fn days(keep: Duration) -> String {
    let seconds = keep.as_secs();
    if seconds.is_multiple_of(24 * 3600) {
        counted(usize::try_from(seconds / (24 * 3600)).unwrap_or(usize::MAX), "day", "days")
    } else {
        counted(usize::try_from(seconds / 60).unwrap_or(usize::MAX), "minute", "minutes")
    }
}
