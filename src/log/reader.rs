//! The log's files as bytes, read when they are looked at and side by side; and all that is known of the decisions in
//! them. Takes which decisions are meant, gives them, oldest first. Must not write, and must not be stopped by a line
//! that can't be read or that is being written right now.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use jiff::Timestamp;

use crate::log::DecisionLog;
use crate::log::filter::Filter;
use crate::log::seen::{Seen, join};
use crate::log::summary::{Line, Noted, Summary};

/// The files of the log, oldest first.
#[derive(Debug)]
pub struct Pages {
    paths: Vec<PathBuf>,
    texts: Vec<OnceLock<Vec<u8>>>,
    fault: Mutex<Option<io::Error>>,
}

/// Whether what is seen is wanted with its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// It is.
    Wanted,
    /// It is not.
    Unwanted,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Look<'a> {
    /// The decisions that are meant, oldest first.
    pub seen: Vec<Seen<'a>>,
    /// How many lines could not be read.
    pub torn: usize,
    /// How many lines a newer punchlist wrote.
    pub newer: usize,
    /// How many decisions were looked at, meant or not.
    pub decisions: usize,
}

/// What one file holds.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "they are moved thrice, and each is long")]
struct Page<'a> {
    glances: Vec<Box<Summary<'a>>>,
    notes: Vec<Noted<'a>>,
    torn: usize,
    newer: usize,
    decisions: usize,
}

impl Pages {
    /// The files of a log.
    pub fn of(log: &DecisionLog) -> Self {
        let paths = log.files();
        let texts = paths.iter().map(|_| OnceLock::new()).collect();
        Self { paths, texts, fault: Mutex::new(None) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Looks through them; for the `last` few that are meant, no further back than these need. What is seen has its line
    /// only where lines are wanted: to keep them all takes longer than to look at them.
    pub fn look(&self, filter: &Filter, last: Option<usize>, lines: Lines) -> io::Result<Look<'_>> {
        let lines = if filter.text.is_some() { Lines::Wanted } else { lines };
        let first = filter.since.map_or(0, |since| self.first_with(since));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (mut look, mut notes, mut glances) =
            (Look::default(), Vec::new(), Vec::<Box<Summary<'_>>>::new());
        let mut end = self.paths.len();
        // A note stands behind its decision, so that a file and all behind it are enough for what is in it.
        while end > first {
            let from = if last.is_some() { end.saturating_sub(cores).max(first) } else { first };
            let mut pages = self.pages(from..end, filter, cores, lines);
            end = from;
            let mut older_notes = Vec::new();
            let mut older = Vec::new();
            for page in &mut pages {
                older_notes.append(&mut page.notes);
                older.append(&mut page.glances);
                look.torn += page.torn;
                look.newer += page.newer;
                look.decisions += page.decisions;
            }
            older_notes.append(&mut notes);
            older.append(&mut glances);
            (notes, glances) = (older_notes, older);
            if let Some(last) = last
                && end > first
                && glances.len() >= last
            {
                // Which of these are meant may hang on their notes.
                let seen = join(glances.clone(), notes.clone());
                if seen.iter().filter(|seen| filter.takes(seen)).count() >= last {
                    break;
                }
            }
        }
        if let Some(fault) = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(fault);
        }
        // Stops that end at the same time may be written down the other way round.
        if !glances.is_sorted_by_key(|glance| glance.ms) {
            glances.sort_by_key(|glance| glance.ms);
        }
        look.seen = join(glances, notes);
        look.seen.retain(|seen| filter.takes(seen));
        if let Some(last) = last {
            look.seen.drain(..look.seen.len().saturating_sub(last));
        }
        Ok(look)
    }

    /// The first file that may hold something from then on: a line is written when it is decided or later, so that no
    /// file holds what is newer than its month.
    fn first_with(&self, since: i64) -> usize {
        let Ok(since) = Timestamp::from_millisecond(since) else { return 0 };
        let month = since.strftime("%Y-%m").to_string();
        let is_before = |path: &PathBuf| {
            let name = path.file_stem().map(|name| name.to_string_lossy());
            name.is_some_and(|name| is_month(&name) && *name < *month)
        };
        self.paths.iter().position(|path| !is_before(path)).unwrap_or(self.paths.len())
    }

    fn pages(
        &self,
        files: std::ops::Range<usize>,
        filter: &Filter,
        cores: usize,
        lines: Lines,
    ) -> Vec<Page<'_>> {
        let (next, end) = (AtomicUsize::new(files.start), files.end);
        let mut pages: Vec<(usize, Page<'_>)> = std::thread::scope(|scope| {
            let work = || {
                let mut done = Vec::new();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= end {
                        return done;
                    }
                    let page = match lines {
                        Lines::Wanted => page(self.text(at), filter),
                        Lines::Unwanted => self.told(bare_page(&self.paths[at], filter)),
                    };
                    done.push((at, page));
                }
            };
            let helpers: Vec<_> = (1..cores.min(files.len())).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for helper in helpers {
                done.extend(helper.join().unwrap_or_default());
            }
            done
        });
        pages.sort_by_key(|(at, _)| *at);
        pages.into_iter().map(|(_, page)| page).collect()
    }

    fn text(&self, at: usize) -> &[u8] {
        self.texts[at].get_or_init(|| self.told(fs::read(&self.paths[at])))
    }

    /// What was read, or nothing, and the fault is kept.
    fn told<T: Default>(&self, read: io::Result<T>) -> T {
        read.unwrap_or_else(|error| {
            // It was there a moment ago: somebody tidies.
            if error.kind() != io::ErrorKind::NotFound {
                *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            T::default()
        })
    }
}

fn is_month(name: &str) -> bool {
    name.len() == 7
        && name
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 { byte == b'-' } else { byte.is_ascii_digit() })
}

fn page<'a>(text: &'a [u8], filter: &Filter) -> Page<'a> {
    let mut page = Page::default();
    page.take(text, true, filter, |glance| glance, |noted| noted);
    page
}

/// What a file holds, without its lines: read piece by piece into the same room.
fn bare_page(path: &Path, filter: &Filter) -> io::Result<Page<'static>> {
    let mut file = File::open(path)?;
    let mut page = Page::default();
    let mut text = vec![0; PIECE];
    let mut filled = 0;
    loop {
        if filled == text.len() {
            text.resize(text.len() * 2, 0);
        }
        let read = match file.read(&mut text[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        filled += read;
        let whole = memchr::memrchr(b'\n', &text[..filled]).map_or(0, |end| end + 1);
        let taken = if read == 0 { filled } else { whole };
        page.take(&text[..taken], read == 0, filter, |glance| Box::new(glance.into_bare()), Noted::into_bare);
        if read == 0 {
            return Ok(page);
        }
        text.copy_within(taken..filled, 0);
        filled -= taken;
    }
}

impl<'p> Page<'p> {
    /// Takes the lines of a text. Of one that `is_end` the last may lack its end.
    fn take<'a>(
        &mut self,
        text: &'a [u8],
        is_end: bool,
        filter: &Filter,
        glance: impl Fn(Box<Summary<'a>>) -> Box<Summary<'p>>,
        noted: impl Fn(Noted<'a>) -> Noted<'p>,
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let line;
            (line, rest) = match end {
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            match Line::of(line) {
                Some(Line::Decision(seen)) => {
                    self.decisions += 1;
                    if filter.may_take(&seen) {
                        self.glances.push(glance(seen));
                    }
                }
                Some(Line::Note(note)) => self.notes.push(noted(*note)),
                Some(Line::Newer) => self.newer += 1,
                // A line with no end is being written at this moment.
                Some(Line::Torn) => self.torn += usize::from(end.is_some() || !is_end),
                None => {}
            }
        }
    }
}

/// How much is read at once: what stays close to the processor.
const PIECE: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::filter::{OutcomeWord, Verdict};
    use crate::log::note::FindingOutcome;

    fn write(folder: &Path, month: &str, lines: &str) {
        let folder = folder.join("decisions");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{month}.jsonl")), lines).expect("written");
    }

    fn decision(id: &str, time: &str) -> String {
        format!(
            r#"{{"schema":1,"id":"{id}","time":"{time}","decision":"block","cause":"findings","findings":[{{}}]}}"#
        ) + "\n"
    }

    fn disputed(of: &str) -> String {
        format!(
            r#"{{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"{of}","finding":1,"outcome":"disputed"}}"#
        ) + "\n"
    }

    fn ids(folder: &Path, filter: &Filter, last: Option<usize>) -> (String, usize, usize) {
        let pages = Pages::of(&DecisionLog::in_folder(folder));
        let look = pages.look(filter, last, Lines::Unwanted).expect("readable");
        let with_lines = pages.look(filter, last, Lines::Wanted).expect("readable");
        assert_eq!(
            (look.torn, look.newer, look.seen.len()),
            (with_lines.torn, with_lines.newer, with_lines.seen.len())
        );
        assert!(with_lines.seen.iter().all(|seen| seen.glance.line.starts_with(b"{")));
        let ids: Vec<_> = look.seen.iter().map(|seen| seen.glance.id.to_string()).collect();
        (ids.join(" "), look.torn, look.newer)
    }

    fn three_months() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        write(
            folder.path(),
            "2026-08",
            &(decision("a", "2026-08-01T00:00:00Z") + &decision("b", "2026-08-31T00:00:00Z")),
        );
        // Decided in one month, written down in the next.
        let late = decision("c", "2026-08-31T23:59:59Z") + &decision("d", "2026-09-01T00:00:00Z");
        write(folder.path(), "2026-09", &(late + &disputed("b")));
        write(folder.path(), "2026-10", &(decision("e", "2026-10-01T00:00:00Z") + &disputed("a")));
        folder
    }

    #[test]
    fn decisions_come_oldest_first_and_the_last_ones_are_enough() {
        let folder = three_months();
        let every = Filter::default();
        for (last, expected) in [
            (None, "a b c d e"),
            (Some(1), "e"),
            (Some(3), "c d e"),
            (Some(5), "a b c d e"),
            (Some(9), "a b c d e"),
            (Some(0), ""),
        ] {
            assert_eq!(ids(folder.path(), &every, last), (expected.into(), 0, 0), "{last:?}");
        }
        let disputed = Filter {
            outcomes: vec![OutcomeWord::FindingOutcome(FindingOutcome::Disputed)],
            ..Filter::default()
        };
        assert_eq!(ids(folder.path(), &disputed, None).0, "a b");
        assert_eq!(ids(folder.path(), &disputed, Some(1)).0, "b", "its note is in another month");
        let none = Filter { verdicts: vec![Verdict::Allow], ..Filter::default() };
        assert_eq!(ids(folder.path(), &none, Some(1)).0, "");
    }

    #[test]
    fn months_before_the_wanted_time_are_not_read_and_nothing_is_lost_by_it() {
        let folder = three_months();
        let since =
            |time: &str| Filter { since: crate::log::summary::milliseconds(time), ..Filter::default() };
        assert_eq!(ids(folder.path(), &since("2026-08-31T12:00:00Z"), None).0, "c d e");
        write(folder.path(), "2026-08", "torn\n");
        assert_eq!(ids(folder.path(), &since("2026-09-01T00:00:00Z"), None), ("d e".into(), 0, 0));
        assert_eq!(ids(folder.path(), &Filter::default(), None), ("c d e".into(), 1, 0));
    }

    #[test]
    fn a_line_longer_than_what_is_read_at_once_is_read_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let long = format!(
            r#"{{"id":"long","time":"2026-10-01T00:00:01Z","cause":"clean","detail":"{}"}}"#,
            "x".repeat(3 * PIECE)
        );
        let around = |id: &str, second: u8| decision(id, &format!("2026-10-01T00:00:0{second}Z"));
        write(folder.path(), "2026-10", &format!("{}{long}\n{}", around("a", 0), around("b", 2)));
        assert_eq!(ids(folder.path(), &Filter::default(), None), ("a long b".into(), 0, 0));
    }

    #[test]
    fn stops_that_are_written_the_other_way_round_are_listed_by_time() {
        let folder = tempfile::tempdir().expect("a folder");
        write(
            folder.path(),
            "2026-10",
            &(decision("b", "2026-10-01T00:00:02Z") + &decision("a", "2026-10-01T00:00:01Z")),
        );
        assert_eq!(ids(folder.path(), &Filter::default(), None).0, "a b");
    }

    #[test]
    fn noise_is_counted_and_a_line_that_is_being_written_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let newer = r#"{"schema":9,"id":"z","time":"2026-10-01T00:00:00Z"}"#;
        let text = format!(
            "{}\0\0\0\n{{\"sch\n{newer}\n\n{}{{\"schema\":1,\"id\":\"to",
            decision("a", "2026-10-01T00:00:01Z"),
            decision("b", "2026-10-01T00:00:02Z")
        );
        write(folder.path(), "2026-10", &text);
        assert_eq!(ids(folder.path(), &Filter::default(), None), ("a b".into(), 1, 1));
        let whole = decision("c", "2026-10-01T00:00:03Z");
        write(folder.path(), "2026-11", whole.trim_end());
        assert_eq!(ids(folder.path(), &Filter::default(), None).0, "a b c", "a whole line may lack its end");
    }
}
