//! `punchlist log report`: writes the decisions that are meant as one page, and may open it. Must not change the log,
//! and must not lose what stands under the page's name unless the new page is whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Desk, Refusal, choice, complain, out};
use crate::cli::log::{FilterArgs, ReportArgs};
use crate::files::write_whole;
use crate::log::artifacts;
use crate::log::filter::Filter;
use crate::log::parallel::in_parts;
use crate::log::reader::{Lines, Look, Pages};
use crate::log::stats::stats;
use crate::log::{Note, Record, Told, annotated};
use crate::render::counted;
use crate::render::page::{About, Page, Room, page};
use crate::text::in_bytes;

/// How long is waited for the news that no browser could be started.
const OPENING: Duration = Duration::from_secs(2);

/// Runs it.
pub(super) fn run(args: &ReportArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let file = if args.output == Path::new("-") { None } else { Some(place(&args.output)?) };
    if file.is_none() && args.open {
        return Err("--open needs a file to open: name one with -o".into());
    }
    let now = choice::now();
    let filter = choice::filter(&args.filter, &now)?;
    let pages = Pages::of(&desk.log);
    let look = pages.look(&filter, None, Lines::Wanted).map_err(|error| desk.unreadable(&error))?;
    desk.tell_of_noise(&look);
    if look.seen.is_empty() {
        desk.tell_of_nothing(&look);
    }
    let (told, strange) = told(&look);
    let stats = stats(&look.seen, now.time_zone());
    let about = About {
        made: now.timestamp(),
        zone: now.time_zone(),
        only: only(args, &filter, now.time_zone()),
        torn: look.torn + look.newer + strange,
        repeats: &stats.repeats,
        room: Room::default(),
    };
    let page = page(&told, &about, |id| artifacts::scene(&desk.state, id));
    let Some(file) = file else { return out::print(page.text.as_bytes()) };
    write_whole(&file, page.text.as_bytes()).map_err(|error| format!("-o {}: {error}", file.display()))?;
    out::print(told_of(&page, &file).as_bytes())?;
    if args.open
        && let Err(why) = open(&file)
    {
        complain(&format!(
            "the page can't be opened from here ({why}); open it yourself: {}",
            file.display()
        ));
    }
    Ok(())
}

/// Which decisions the page is about, in words, if not about all.
fn only(args: &ReportArgs, filter: &Filter, zone: &TimeZone) -> Option<String> {
    let FilterArgs { project, session, decision, category, cause, outcome, grep, since: _, until: _ } =
        &args.filter;
    let time = |ms: Option<i64>| {
        let time = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok())?;
        Some(time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string())
    };
    let one_of = |names: Vec<&str>| (!names.is_empty()).then(|| names.join(" or "));
    let words = [
        ("since", time(filter.since)),
        ("before", time(filter.until)),
        ("of project", project.clone()),
        ("of session", session.clone()),
        ("decided", one_of(decision.iter().map(|verdict| verdict.name()).collect())),
        ("with category", one_of(category.iter().map(|category| category.name()).collect())),
        ("for", one_of(cause.iter().map(|cause| cause.name()).collect())),
        ("that became", one_of(outcome.iter().map(|outcome| outcome.name()).collect())),
        ("with the words", grep.clone()),
    ];
    let words: Vec<_> =
        words.into_iter().filter_map(|(name, what)| Some(format!("{name} {}", what?))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Where the page goes, if it may go there.
fn place(output: &Path) -> Result<PathBuf, Refusal> {
    let refuse = |why: &str| Err(format!("-o {}: {why}", output.display()));
    let Ok(path) = std::path::absolute(output) else { return refuse("that is no path") };
    match fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => return refuse("that is a folder; name a file in it"),
        // What is renamed over a device or a pipe is in its place from then on.
        Ok(meta) if !meta.is_file() => return refuse("that is no regular file; -o - prints the page"),
        _ => {}
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(path),
        _ => refuse("there is no such folder"),
    }
}

/// The decisions as they were written, with all that is known of them; and how many of them are not ours to understand.
fn told(look: &Look<'_>) -> (Vec<Told>, usize) {
    let read = in_parts(&look.seen, |part| {
        let (mut records, mut notes): (Vec<Record>, Vec<Note>) = (Vec::new(), Vec::new());
        for seen in part {
            if let Ok(record) = serde_json::from_slice(seen.glance.line) {
                records.push(record);
                notes.extend(seen.notes.iter().map(|noted| noted.note.clone()));
            }
        }
        (records, notes)
    });
    let (records, notes): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let (records, notes): (Vec<_>, Vec<_>) =
        (records.into_iter().flatten().collect(), notes.into_iter().flatten().collect());
    let strange = look.seen.len() - records.len();
    (annotated::join(records, notes), strange)
}

/// What came of it, for the person.
fn told_of(page: &Page, file: &Path) -> String {
    let size = in_bytes(page.text.len() as u64);
    let mut text =
        format!("{}: {}, {size}\n", file.display(), counted(page.decisions, "decision", "decisions"));
    if page.scenes_left_out > 0 {
        text += &format!(
            "  it has no room for what {} looked at\n",
            counted(page.scenes_left_out, "older audit", "older audits")
        );
    }
    if page.stories_left_out > 0 {
        text += &format!(
            "  it has no room for the findings and files of {}\n",
            counted(page.stories_left_out, "older decision", "older decisions")
        );
    }
    text
}

/// Opens a file with what the system opens such files with. Does not wait for it to be closed.
fn open(file: &Path) -> Result<(), String> {
    let mut command = opener();
    let name = command.get_program().to_string_lossy().into_owned();
    let quiet = command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no {name}"),
        _ => format!("{name}: {error}"),
    })?;
    let started = Instant::now();
    while started.elapsed() < OPENING {
        match child.try_wait() {
            Ok(Some(ended)) if ended.success() => return Ok(()),
            Ok(Some(ended)) => return Err(format!("{name}: {ended}")),
            Ok(None) => sleep(Duration::from_millis(20)),
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    // It shows the page itself, and is left to it.
    Ok(())
}

#[cfg(target_os = "macos")]
fn opener() -> Command {
    Command::new("open")
}

#[cfg(windows)]
fn opener() -> Command {
    // `start` takes its first argument in quotes for a window's title.
    let mut command = Command::new("cmd");
    command.args(["/C", "start", ""]);
    command
}

#[cfg(not(any(target_os = "macos", windows)))]
fn opener() -> Command {
    Command::new("xdg-open")
}
