//! Removing what is old or too much from the state folder: whole files, once a day and quietly
//! ([`tidy`]), or because a person asks for it, and then the old lines of the oldest month, too
//! ([`prune`]). Never removes the newest month, and for a while nothing that waits to be shipped.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use jiff::Timestamp;
use serde::Serialize;
use walkdir::WalkDir;

use super::DecisionLog;
use crate::log::query::Line;
use crate::private_file::{self, Access, Durability};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The extensions of files that can be rebuilt from transcripts and files, and how long they are
/// kept.
const CACHES: [&str; 2] = ["cursor", "files"];
const KEEP_CACHES: Duration = Duration::from_secs(14 * 24 * 3600);

/// How long what waits to be shipped is kept at least, whatever its size: a database that is down
/// for longer is one that nobody misses.
const KEEP_WAITING: Duration = Duration::from_secs(180 * 24 * 3600);

/// Where what waits to be shipped begins in a file of the log; its end where nothing does.
pub type WaitingFrom<'a> = &'a dyn Fn(&Path, &File) -> u64;

/// What a file of the state folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// It can be rebuilt.
    Cache,
    /// An artifact of an audit.
    Audit,
    /// The state of a session.
    Session,
    /// A month of the log.
    Month,
}

/// A file of the state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredFile {
    path: PathBuf,
    kind: FileKind,
    age: Duration,
    bytes: u64,
}

/// What was removed, or would be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Whole files and their sizes.
    pub files: Vec<(FileKind, PathBuf, u64)>,
    /// Lines of months that stay: how many, and their bytes.
    pub lines: Vec<(PathBuf, usize, u64)>,
    /// Months of which something stays only since it waits to be shipped.
    pub waiting: Vec<PathBuf>,
    /// How many bytes are left.
    pub left: u64,
}

impl Pruned {
    pub fn bytes(&self) -> u64 {
        let files: u64 = self.files.iter().map(|(_, _, bytes)| bytes).sum();
        files + self.lines.iter().map(|(_, _, bytes)| bytes).sum::<u64>()
    }
}

/// The file whose time is when files were last removed.
const STAMP: &str = "tidied";

/// If more time than this has passed, the clock may have jumped: files that look old because of it
/// are left for another day.
const CLOCK_JUMP: Duration = Duration::from_secs(7 * 24 * 3600);

/// Removes whole files that are too old or too much, at most once a day.
pub fn tidy(state: &Path, keep: Duration, max_size: u64, now: SystemTime, waiting_from: WaitingFrom<'_>) {
    let stamp = state.join(STAMP);
    let since =
        fs::symlink_metadata(&stamp).and_then(|meta| meta.modified()).map(|at| now.duration_since(at));
    if matches!(since, Ok(Ok(since)) if since < DAY)
        || private_file::write(&stamp, b"", Durability::Lazy).is_err()
    {
        return;
    }
    sweep(state, now);
    // Without a stamp nothing is known of the clock.
    if matches!(since, Ok(Ok(since)) if since <= CLOCK_JUMP) {
        tidy_now(state, keep, max_size, now, waiting_from);
    }
}

/// The prefix of `tempfile`'s files, and how long a process may need one.
const TEMPORARY: &str = ".tmp";
const IN_THE_MAKING: Duration = Duration::from_secs(3600);

/// Removes temporary files of processes that ended while writing.
fn sweep(state: &Path, now: SystemTime) {
    let entries = WalkDir::new(state).min_depth(1).max_depth(2).into_iter().filter_map(Result::ok);
    let is_left = |entry: &walkdir::DirEntry| {
        let changed = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        // A file from the future was written before the clock was set back.
        let age = changed.map(|at| now.duration_since(at).unwrap_or(Duration::MAX));
        entry.file_type().is_file()
            && entry.file_name().to_string_lossy().starts_with(TEMPORARY)
            && age.is_some_and(|age| age > IN_THE_MAKING)
    };
    for entry in entries.filter(is_left) {
        let _ = fs::remove_file(entry.path());
    }
}

fn tidy_now(state: &Path, keep: Duration, max_size: u64, now: SystemTime, waiting_from: WaitingFrom<'_>) {
    let limits = Limits { keep, max_size, now, waiting_from };
    for file in surplus(state, &limits, &BTreeMap::new()).0 {
        let _ = fs::remove_file(&file.path);
    }
}

/// Removes files and lines that are too old, and files over the size limit; with `dry_run`, only
/// reports which.
pub fn prune(
    state: &Path,
    keep: Duration,
    max_size: u64,
    now: Timestamp,
    dry_run: bool,
    waiting_from: WaitingFrom<'_>,
) -> io::Result<Pruned> {
    let log = DecisionLog::in_folder(state);
    let mut pruned = Pruned::default();
    let since = now.checked_sub(keep).unwrap_or(Timestamp::MIN);
    let waiting_since = now.checked_sub(keep.max(KEEP_WAITING)).unwrap_or(Timestamp::MIN);
    let month = since.strftime("%Y-%m").to_string();
    let is_after = |line: &[u8], since: Timestamp| match Line::parse(&String::from_utf8_lossy(line)) {
        Some(Line::Decision(decision)) => decision.at >= since,
        Some(Line::Note(note)) => note.note.time().parse::<Timestamp>().is_ok_and(|at| at >= since),
        // Written by a newer version: keep.
        Some(Line::Newer) => true,
        Some(Line::Torn) | None => false,
    };
    // A file has nothing newer than its month, whenever it was last written.
    for path in log.files() {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name > month {
            continue;
        }
        let length = fs::metadata(&path)?.len();
        let only_waits = Cell::new(false);
        let kept = |line: &[u8], waits: bool| {
            let is_recent = is_after(line, since);
            only_waits.set(!is_recent && waits && is_after(line, waiting_since));
            is_recent || only_waits.get()
        };
        let (lines, bytes) = log.cut_before(&path, dry_run, |file| waiting_from(&path, file), kept)?;
        if only_waits.get() {
            pruned.waiting.push(path.clone());
        }
        if lines > 0 && bytes == length {
            pruned.files.push((FileKind::Month, path, bytes));
        } else if lines > 0 {
            pruned.lines.push((path, lines, bytes));
        }
    }
    // In a dry run these bytes are still there.
    let lines = pruned.lines.iter().map(|(path, _, bytes)| (path.clone(), *bytes));
    let months = pruned.files.iter().map(|(_, path, bytes)| (path.clone(), *bytes));
    let gone = if dry_run { lines.chain(months).collect() } else { BTreeMap::new() };
    let limits = Limits { keep, max_size, now: SystemTime::from(now), waiting_from };
    let (surplus, left) = surplus(state, &limits, &gone);
    for StoredFile { path, kind, bytes, .. } in surplus {
        if !dry_run {
            match fs::remove_file(&path) {
                // A stop is tidying at the same time.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                removed => removed?,
            }
        }
        pruned.files.push((kind, path, bytes));
    }
    if !dry_run {
        private_file::write(&state.join(STAMP), b"", Durability::Lazy)?;
    }
    pruned.left = left;
    Ok(pruned)
}

/// How much is kept, and for how long.
struct Limits<'a> {
    keep: Duration,
    max_size: u64,
    now: SystemTime,
    waiting_from: WaitingFrom<'a>,
}

impl Limits<'_> {
    /// Whether something in a file waits to be shipped, and not for too long.
    fn waits(&self, file: &StoredFile) -> bool {
        let waits = |open: File| {
            let length = open.metadata().map_or(0, |meta| meta.len());
            (self.waiting_from)(&file.path, &open) < length
        };
        file.kind == FileKind::Month
            && file.age <= self.keep.max(KEEP_WAITING)
            && private_file::open(&file.path, Access::Read).is_ok_and(waits)
    }
}

/// The files that are too old, and the oldest of those that are too much, and how many bytes are
/// left without them: caches first, then artifacts, then sessions, then months. `gone` are bytes of
/// files that do not count any more.
fn surplus(state: &Path, limits: &Limits<'_>, gone: &BTreeMap<PathBuf, u64>) -> (Vec<StoredFile>, u64) {
    let Limits { keep, max_size, now, .. } = *limits;
    let list = |name: &str, kind: FileKind| {
        let entries = WalkDir::new(state.join(name)).min_depth(1).max_depth(1).into_iter();
        let files = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_file());
        let stored = files.filter_map(|entry| {
            let meta = entry.metadata().ok()?;
            let age = now.duration_since(meta.modified().ok()?).unwrap_or_default();
            let gone = gone.get(entry.path()).copied().unwrap_or(0);
            let bytes = meta.len().saturating_sub(gone);
            let is_cache =
                entry.path().extension().is_some_and(|ext| CACHES.iter().any(|cache| ext == *cache));
            let kind = if kind == FileKind::Session && is_cache { FileKind::Cache } else { kind };
            (gone == 0 || bytes > 0).then(|| StoredFile { path: entry.into_path(), kind, age, bytes })
        });
        let mut stored: Vec<StoredFile> = stored.collect();
        stored.sort_by_key(|file| std::cmp::Reverse(file.age));
        stored
    };
    let (audits, sessions) = (list("audits", FileKind::Audit), list("sessions", FileKind::Session));
    let mut months = list("decisions", FileKind::Month);
    let mut total: u64 = audits.iter().chain(&sessions).chain(&months).map(|file| file.bytes).sum();
    months.pop();
    let (caches, sessions): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|file| file.kind == FileKind::Cache);
    // The counters of a blocked session must stay while it may go on.
    let sessions = sessions.into_iter().filter(|file| file.age > keep);
    let files = caches.into_iter().chain(audits).chain(sessions).chain(months);
    let mut surplus = Vec::new();
    for file in files {
        let keep = if file.kind == FileKind::Cache { keep.min(KEEP_CACHES) } else { keep };
        if (file.age > keep || total > max_size) && !limits.waits(&file) {
            total -= file.bytes;
            surplus.push(file);
        }
    }
    (surplus, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing waits.
    const ALL_SHIPPED: fn(&Path, &File) -> u64 = |_, _| u64::MAX;

    /// Writes files of some bytes and days of age, tidies, and returns what is left.
    fn tidied(files: &[(&str, usize, u64)], max_size: u64) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes, days_old) in files {
            write(folder.path(), name, *bytes, *days_old);
        }
        tidy_now(folder.path(), 90 * DAY, max_size, SystemTime::now(), &ALL_SHIPPED);
        left(folder.path())
    }

    fn write(state: &Path, name: &str, bytes: usize, days_old: u64) {
        let path = state.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(&path, vec![b'x'; bytes]).expect("written");
        let then = SystemTime::now() - Duration::from_secs(days_old * 24 * 3600);
        fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(then)).expect("dated");
    }

    fn left(state: &Path) -> Vec<String> {
        let files = WalkDir::new(state).sort_by_file_name().into_iter().filter_map(Result::ok);
        files
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| entry.path().strip_prefix(state).expect("below").display().to_string())
            .collect()
    }

    #[test]
    fn caches_go_first() {
        let files = [
            ("sessions/old.cursor", 10, 15),
            ("sessions/old.json", 10, 15),
            ("sessions/new.cursor", 10, 3),
            ("sessions/new.files", 900, 2),
            ("audits/a.prompt.md", 10, 60),
        ];
        assert_eq!(tidied(&files, 100), ["audits/a.prompt.md", "sessions/old.json"]);
    }

    #[test]
    fn what_is_old_goes_and_the_newest_month_stays() {
        let files = [
            ("audits/a.prompt.md", 10, 100),
            ("audits/b.prompt.md", 10, 1),
            ("decisions/2026-01.jsonl", 10, 120),
            ("decisions/2026-02.jsonl", 10, 95),
            ("sessions/a.json", 10, 100),
            ("sessions/b.json", 10, 1),
        ];
        assert_eq!(
            tidied(&files, 1_000),
            ["audits/b.prompt.md", "decisions/2026-02.jsonl", "sessions/b.json"]
        );
    }

    #[test]
    fn what_is_too_much_goes_oldest_first_and_no_counter_with_it() {
        let files = [
            ("audits/a", 100, 3),
            ("audits/b", 100, 2),
            ("audits/c", 100, 1),
            ("sessions/s.json", 100, 5),
            ("decisions/x.jsonl", 100, 5),
        ];
        assert_eq!(tidied(&files, 300), ["audits/c", "decisions/x.jsonl", "sessions/s.json"]);
    }

    #[test]
    fn it_is_done_once_a_day() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "audits/a", 10, 100);
        write(folder.path(), "tidied", 0, 2);
        tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now(), &ALL_SHIPPED);
        assert_eq!(left(folder.path()), ["tidied"]);
        write(folder.path(), "audits/b", 10, 100);
        tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now(), &ALL_SHIPPED);
        assert_eq!(left(folder.path()), ["audits/b", "tidied"]);
    }

    #[test]
    fn a_clock_that_jumped_lost_counters_and_months() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = ["decisions/2026-09.jsonl", "decisions/2026-10.jsonl", "sessions/s.json"];
        for name in files {
            write(folder.path(), name, 10, 1);
        }
        tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now() + 365 * DAY, &ALL_SHIPPED);
        let all = [files.as_slice(), &["tidied"]].concat();
        assert_eq!(left(folder.path()), all, "at the first stop of all");
        for jump in [365, 3_650, 100_000] {
            tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now() + jump * DAY, &ALL_SHIPPED);
            assert_eq!(left(folder.path()), all, "{jump} days ahead");
            let stamp =
                fs::File::options().write(true).open(folder.path().join("tidied")).expect("the stamp");
            stamp.set_modified(SystemTime::now() + jump * DAY).expect("set");
            tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now(), &ALL_SHIPPED);
            assert_eq!(left(folder.path()), all, "and back");
        }
    }

    #[test]
    fn what_a_killed_process_left_stayed_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "sessions/.tmpOld", 10, 1);
        write(folder.path(), "sessions/.tmpNew", 10, 0);
        write(folder.path(), ".tmpOld", 10, 1);
        tidy(folder.path(), 90 * DAY, 1_000, SystemTime::now(), &ALL_SHIPPED);
        assert_eq!(left(folder.path()), ["sessions/.tmpNew", "tidied"]);
    }

    #[test]
    fn what_waited_to_be_shipped_was_taken_for_old_or_too_much() {
        let files = [
            ("decisions/2026-01.jsonl", 10, 190),
            ("decisions/2026-02.jsonl", 10, 170),
            ("decisions/2026-03.jsonl", 10, 80),
            ("decisions/2026-04.jsonl", 10, 1),
        ];
        for (shipped, max_size, expected) in
            [(10, 1_000, "03 04"), (9, 1_000, "02 03 04"), (10, 5, "04"), (9, 5, "02 03 04")]
        {
            let folder = tempfile::tempdir().expect("a folder");
            for (name, bytes, days_old) in files {
                write(folder.path(), name, bytes, days_old);
            }
            tidy_now(folder.path(), 90 * DAY, max_size, SystemTime::now(), &|_, _| shipped);
            let left = left(folder.path()).join(" ");
            assert_eq!(
                left.replace("decisions/2026-", "").replace(".jsonl", ""),
                expected,
                "{shipped} {max_size}"
            );
        }
    }

    #[test]
    fn a_line_that_waits_stays_for_half_a_year_and_is_told_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let line = |id: &str, time: &str| {
            format!(
                "{{\"id\":\"{id}\",\"time\":\"{time}T00:00:00Z\",\"decision\":\"allow\",\"cause\":\"clean\"}}\n"
            )
        };
        let (one, other) = (line("a", "2026-05-01"), line("b", "2026-05-02"));
        let path = folder.path().join("decisions/2026-05.jsonl");
        fs::create_dir_all(folder.path().join("decisions")).expect("made");
        let shipped = one.len() as u64;
        let pruned = |now: &str, waiting_from: WaitingFrom<'_>| {
            fs::write(&path, format!("{one}{other}")).expect("written");
            let now = format!("{now}T00:00:00Z").parse().expect("a time");
            let pruned = prune(folder.path(), 30 * DAY, 1_000, now, false, waiting_from).expect("pruned");
            (pruned.lines.len() + pruned.files.len(), pruned.waiting.len())
        };
        assert_eq!(pruned("2026-08-01", &ALL_SHIPPED), (1, 0));
        assert!(!path.exists());
        assert_eq!(pruned("2026-08-01", &|_, _| shipped), (1, 1));
        assert_eq!(fs::read_to_string(&path).expect("there"), other);
        assert_eq!(pruned("2026-12-01", &|_, _| shipped), (1, 0));
        assert!(!path.exists(), "it waited for too long");
    }
}
