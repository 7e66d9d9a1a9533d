//! `punchlist log report`: writes decisions as one page, and may open it. Does not change the log,
//! and replaces a file only with a complete page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Context, Result, complain, filter_of, output};
use crate::cli::log::{FilterArgs, ReportArgs};
use crate::env::Env;
use crate::exit;
use crate::files::{Durability, write_whole};
use crate::log::artifacts;
use crate::log::filter::Filter;
use crate::log::stats::stats;
use crate::render::page::{About, Page, Room, page};
use crate::text::{counted, in_bytes};

/// How long a browser has to fail before it counts as started.
const OPENING: Duration = Duration::from_secs(2);

pub(super) fn run(args: &ReportArgs, context: &Context<'_>) -> Result {
    let file = if args.output == Path::new("-") { None } else { Some(target(&args.output)?) };
    if file.is_none() && args.open {
        return Err("--open needs a file to open: name one with -o".into());
    }
    let (now, filter) = (&context.now, filter_of(&args.filter)?);
    let found = context.query(&args.filter, None)?;
    if found.decisions.is_empty() {
        context.complain_of_nothing(&found);
    }
    let stats = stats(&found.decisions, now.time_zone());
    let about = About {
        made: now.timestamp(),
        zone: now.time_zone(),
        only: only(args, &filter, now.time_zone()),
        torn: found.torn + found.newer,
        repeats: &stats.repeats,
        room: Room::default(),
    };
    let page = page(&found.decisions, &about, |id| artifacts::snapshot(&context.state, id));
    let Some(file) = file else { return output::print_raw(page.text.as_bytes()) };
    write_whole(&file, page.text.as_bytes(), Durability::Lazy)
        .map_err(|error| format!("-o {}: {error}", file.display()))?;
    output::print_raw(summary(&page, &file).as_bytes())?;
    if args.open
        && let Err(why) = open(&file, context.env)
    {
        complain(&format!(
            "the page can't be opened from here ({why}); open it yourself: {}",
            file.display()
        ));
    }
    Ok(exit::OK)
}

fn only(args: &ReportArgs, filter: &Filter, zone: &TimeZone) -> Option<String> {
    let FilterArgs {
        fleet,
        machine,
        project,
        session,
        decision,
        category,
        cause,
        outcome,
        advisory,
        grep,
        since: _,
        until: _,
    } = &args.filter;
    let time =
        |time: Option<Timestamp>| Some(time?.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
    let one_of = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(" or "));
    let words = [
        ("since", time(filter.since)),
        ("before", time(filter.until)),
        ("of machine", machine.clone()),
        ("of project", project.clone()),
        ("of session", session.clone()),
        ("decided", one_of(decision.iter().map(|verdict| verdict.name()).collect())),
        ("with category", one_of(category.iter().map(|category| category.name()).collect())),
        ("for", one_of(cause.iter().map(|cause| cause.name()).collect())),
        ("that became", one_of(outcome.iter().map(|outcome| outcome.name()).collect())),
        ("with advisory", one_of(advisory.iter().map(|kind| kind.name()).collect())),
        ("with the words", grep.clone()),
    ];
    let whole = (*fleet && machine.is_none()).then(|| "of every machine of the fleet".to_owned());
    let words = words.into_iter().filter_map(|(name, what)| Some(format!("{name} {}", what?)));
    let words: Vec<_> = whole.into_iter().chain(words).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns where to write the page, if that is allowed.
fn target(output: &Path) -> Result<PathBuf> {
    let refuse = |why: &str| Err(format!("-o {}: {why}", output.display()).into());
    let Ok(path) = std::path::absolute(output) else { return refuse("that is no path") };
    match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => return refuse("that is a folder; name a file in it"),
        // A rename would replace the device or pipe with the page.
        Ok(meta) if !meta.is_file() => return refuse("that is no regular file; -o - prints the page"),
        _ => {}
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(path),
        _ => refuse("there is no such folder"),
    }
}

/// Says what the page has, and what was left out for size.
fn summary(page: &Page, file: &Path) -> String {
    let size = in_bytes(page.text.len() as u64);
    let mut text =
        format!("{}: {}, {size}\n", file.display(), counted(page.decisions, "decision", "decisions"));
    if page.snapshots_left_out > 0 {
        text += &format!(
            "  it has no room for what {} looked at\n",
            counted(page.snapshots_left_out, "older audit", "older audits")
        );
    }
    if page.details_left_out > 0 {
        text += &format!(
            "  it has no room for the findings and files of {}\n",
            counted(page.details_left_out, "older decision", "older decisions")
        );
    }
    text
}

/// Opens a file with the system's program for it, without waiting for it to be closed.
fn open(file: &Path, env: &Env) -> Result<()> {
    let (name, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        // `start` takes a first argument in quotes as the window's title.
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(env.program(name).ok_or_else(|| format!("there is no {name}"))?);
    let quiet = command.args(args).arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().map_err(|error| format!("{name}: {error}"))?;
    let started = Instant::now();
    while started.elapsed() < OPENING {
        match child.try_wait() {
            Ok(Some(ended)) if ended.success() => return Ok(()),
            Ok(Some(ended)) => return Err(format!("{name}: {ended}").into()),
            Ok(None) => sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("{name}: {error}").into()),
        }
    }
    // It shows the page itself, and keeps running.
    Ok(())
}
