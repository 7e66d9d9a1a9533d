//! What was sent and what came back, kept beside the log under the decision's id; and the room that all of
//! it may take. Must not keep what was not masked, and must not cost a stop much: tidying is done at most once
//! a day.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use walkdir::WalkDir;

use crate::files::write_whole;
use crate::log::Snapshot;

/// The most that is kept of one prompt or reply.
const MOST_BYTES: usize = 1 << 20;
/// How often is tidied.
const TIDY_EVERY: Duration = Duration::from_secs(24 * 3600);

fn folder(state: &Path) -> PathBuf {
    state.join("audits")
}

/// Where something of one decision is kept. An id that somebody wrote into a log must not lead out of the folder.
fn place(state: &Path, id: &str, name: &str) -> PathBuf {
    folder(state).join(format!("{}.{name}", id.replace(['/', '\\'], "_")))
}

/// Keeps what the first reader is asked and what is asked about. Both come masked, as all that is kept here.
pub fn keep_asked(state: &Path, id: &str, prompt: &str, scene: &Snapshot) {
    keep(state, id, "prompt.md", prompt);
    keep_scene(state, id, scene);
}

/// Keeps what came back.
pub fn keep_reply(state: &Path, id: &str, reply: &str) {
    keep(state, id, "reply.txt", reply);
}

/// Keeps what the second reader was asked beyond the evidence, and what it answered.
pub fn keep_second(state: &Path, id: &str, task: &str, reply: &str) {
    keep(state, id, "second.md", task);
    keep(state, id, "second-reply.txt", reply);
}

/// Keeps what one audit looked at. It comes bounded.
pub fn keep_scene(state: &Path, id: &str, scene: &Snapshot) {
    let path = place(state, id, "scene.json");
    let bytes = serde_json::to_vec(scene).map_err(io::Error::other);
    told(bytes.and_then(|bytes| write_whole(&path, &bytes)), &path);
}

fn keep(state: &Path, id: &str, name: &str, text: &str) {
    let path = place(state, id, name);
    let end = text.floor_char_boundary(MOST_BYTES);
    let kept: &[u8] =
        if end < text.len() { &[&text.as_bytes()[..end], CUT].concat() } else { text.as_bytes() };
    told(write_whole(&path, kept), &path);
}

/// What stands where something is missing.
const CUT: &[u8] = "\n[… cut …]\n".as_bytes();

/// The log says what was decided; what is kept beside it is not worth a word to anybody.
fn told(kept: io::Result<()>, path: &Path) {
    if let Err(error) = kept {
        tracing::debug!(%error, path = %path.display(), "it could not be kept");
    }
}

/// What one audit looked at, if it was kept and still is.
pub fn scene(state: &Path, id: &str) -> Option<Snapshot> {
    serde_json::from_slice(&fs::read(place(state, id, "scene.json")).ok()?).ok()
}

/// What was sent, if it is still there.
pub fn prompt(state: &Path, id: &str) -> io::Result<String> {
    fs::read_to_string(place(state, id, "prompt.md"))
}

/// What came back, if it is still there.
pub fn reply(state: &Path, id: &str) -> io::Result<String> {
    fs::read_to_string(place(state, id, "reply.txt"))
}

/// What the second reader was asked beyond the evidence, and what it answered, if they are still there.
pub fn second(state: &Path, id: &str) -> io::Result<(String, String)> {
    let task = fs::read_to_string(place(state, id, "second.md"))?;
    Ok((task, fs::read_to_string(place(state, id, "second-reply.txt"))?))
}

/// What a file of the state folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// What can be made again.
    Cache,
    /// What the readers were sent, what they answered, what an audit looked at.
    Audit,
    /// What is remembered of a session.
    Session,
    /// A month of the log.
    Month,
}

/// A file that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Where.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// How long ago it was written.
    pub age: Duration,
    /// How long it is.
    pub bytes: u64,
}

/// What can be made again from transcripts and files, and for how long it is worth its room.
const CACHES: [&str; 2] = ["cursor", "files"];
const KEEP_CACHES: Duration = Duration::from_secs(14 * 24 * 3600);

/// Takes out what is too old, and the oldest of what is too much: what can be made again first, then prompts and
/// replies, then what is remembered of sessions, then whole months of the log, but never the newest.
pub fn tidy(state: &Path, keep: Duration, max_size: u64) {
    let stamp = state.join("tidied");
    let now = SystemTime::now();
    let tidied = fs::metadata(&stamp).and_then(|meta| meta.modified());
    if tidied.is_ok_and(|at| now.duration_since(at).unwrap_or_default() < TIDY_EVERY)
        || fs::write(&stamp, "").is_err()
    {
        return;
    }
    tidy_now(state, keep, max_size, now);
}

fn tidy_now(state: &Path, keep: Duration, max_size: u64, now: SystemTime) {
    for kept in too_old_or_too_much(state, keep, max_size, now, &BTreeMap::new()).0 {
        let _ = fs::remove_file(&kept.path);
    }
}

/// What is to go, in that order, and how many bytes are left without it. So many bytes of some files count as gone `already`.
pub fn too_old_or_too_much(
    state: &Path,
    keep: Duration,
    max_size: u64,
    now: SystemTime,
    already: &BTreeMap<PathBuf, u64>,
) -> (Vec<Kept>, u64) {
    let list = |name: &str, kind: Kind| -> Vec<Kept> {
        let mut all: Vec<_> = WalkDir::new(state.join(name))
            .min_depth(1)
            .max_depth(1)
            .into_iter()
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_file())
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                let age = now.duration_since(meta.modified().ok()?).unwrap_or_default();
                let gone = already.get(entry.path()).copied().unwrap_or(0);
                let bytes = meta.len().saturating_sub(gone);
                (gone == 0 || bytes > 0).then(|| Kept { path: entry.into_path(), kind, age, bytes })
            })
            .collect();
        all.sort_by_key(|kept| std::cmp::Reverse(kept.age));
        all
    };
    let (audits, mut sessions) = (list("audits", Kind::Audit), list("sessions", Kind::Session));
    let mut months = list("decisions", Kind::Month);
    let newest_month = months.pop();
    let mut total: u64 =
        [&audits, &sessions, &months].iter().flat_map(|list| list.iter()).map(|kept| kept.bytes).sum();
    total += newest_month.map_or(0, |month| month.bytes);
    for kept in &mut sessions {
        if kept.path.extension().is_some_and(|kind| CACHES.iter().any(|cache| kind == *cache)) {
            kept.kind = Kind::Cache;
        }
    }
    let (caches, sessions): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|kept| kept.kind == Kind::Cache);
    // A session that was held must not be forgotten while it may go on.
    let sessions = sessions.into_iter().filter(|kept| kept.age > keep);
    let caches = caches.into_iter().map(|kept| (kept, keep.min(KEEP_CACHES)));
    let others = audits.into_iter().chain(sessions).chain(months).map(|kept| (kept, keep));
    let mut gone = Vec::new();
    for (kept, keep) in caches.chain(others) {
        if kept.age > keep || total > max_size {
            total -= kept.bytes;
            gone.push(kept);
        }
    }
    (gone, total)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn what_can_be_made_again_goes_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path();
        write(state, "sessions/old.cursor", 10, 15);
        write(state, "sessions/old.json", 10, 15);
        write(state, "sessions/new.cursor", 10, 3);
        write(state, "sessions/new.files", 900, 2);
        write(state, "audits/a.prompt.md", 10, 60);
        tidy_now(state, DAY * 90, 100, SystemTime::now());
        assert_eq!(left(state), ["audits/a.prompt.md", "sessions/old.json"]);
    }

    #[test]
    fn what_is_old_goes_and_the_newest_month_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, days) in [
            ("audits/a.prompt.md", 100),
            ("audits/b.prompt.md", 1),
            ("decisions/2026-01.jsonl", 120),
            ("decisions/2026-02.jsonl", 95),
            ("sessions/a.json", 100),
            ("sessions/b.json", 1),
        ] {
            write(folder.path(), name, 10, days);
        }
        tidy_now(folder.path(), 90 * DAY, 1_000, SystemTime::now());
        assert_eq!(left(folder.path()), ["audits/b.prompt.md", "decisions/2026-02.jsonl", "sessions/b.json"]);
    }

    #[test]
    fn what_is_too_much_goes_oldest_first_and_no_counter_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, days) in [
            ("audits/a", 3),
            ("audits/b", 2),
            ("audits/c", 1),
            ("sessions/s.json", 5),
            ("decisions/x.jsonl", 5),
        ] {
            write(folder.path(), name, 100, days);
        }
        tidy_now(folder.path(), 90 * DAY, 300, SystemTime::now());
        assert_eq!(left(folder.path()), ["audits/c", "decisions/x.jsonl", "sessions/s.json"]);
    }

    #[test]
    fn it_is_done_once_a_day() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "audits/a", 10, 100);
        tidy(folder.path(), 90 * DAY, 1_000);
        assert_eq!(left(folder.path()), ["tidied"]);
        write(folder.path(), "audits/b", 10, 100);
        tidy(folder.path(), 90 * DAY, 1_000);
        assert_eq!(left(folder.path()), ["audits/b", "tidied"]);
    }

    #[test]
    fn an_id_does_not_lead_out_of_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        fs::create_dir_all(state.join("audits")).expect("made");
        fs::write(folder.path().join("secret.prompt.md"), "theirs").expect("written");
        assert!(prompt(&state, "../../secret").is_err());
        assert!(prompt(&state, &folder.path().join("secret").display().to_string()).is_err());
        keep_reply(&state, "../../x", "ours");
        assert!(!folder.path().join("x.reply.txt").exists());
        assert_eq!(reply(&state, "../../x").ok().as_deref(), Some("ours"));
    }

    #[test]
    fn a_long_reply_is_cut_and_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        keep_reply(folder.path(), "id", &"é".repeat(MOST_BYTES));
        let reply = fs::read_to_string(folder.path().join("audits/id.reply.txt")).expect("there");
        assert!(reply.ends_with("\n[… cut …]\n") && reply.len() < MOST_BYTES + 40);
    }
}
