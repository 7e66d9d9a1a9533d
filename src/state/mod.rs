//! The state folder: what lasts from one stop to the next, such as how often a session was blocked, what its last
//! audit saw, which flags a client has. What can't be read counts as never written. Must not lose a session's count
//! in silence: one that can't be written is an error to the caller.

mod allowed;
mod loops;
mod newest_stop;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checks::Passed;
use crate::checks::hold::Hold;
use crate::client::program::{ClientStamp, FlagCache, Flags};
use crate::env::{self, Env};
use crate::evidence::FileCache;
use crate::files::{in_private_folder, write_whole};
use crate::followup::{Dispute, PendingBlock};
use crate::ids::ContentId;

pub use crate::state::newest_stop::{Acquired, NewestStop};
pub use loops::RunLock;
pub use switch::{SwitchedOff, Switches, Thrown};

/// The name under which `told` has that the budget of blocks is spent.
pub const BLOCK_BUDGET: &str = "block-budget";

#[derive(Debug, Clone)]
pub struct StateFolder {
    root: PathBuf,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    pub blocks: u32,
    /// How many calls of a model were made for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub reader_calls: u32,
    #[serde(alias = "held_by", skip_serializing_if = "BTreeMap::is_empty")]
    pub blocked_by: BTreeMap<String, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, Passed>,
    /// The checks for which it was held, until they pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_checks: BTreeMap<String, Hold>,
    /// When each of its agents was blocked last, in milliseconds since 1970.
    #[serde(alias = "held_ms", skip_serializing_if = "BTreeMap::is_empty")]
    pub blocked_ms: BTreeMap<String, i64>,
    /// The newest block was one that only keeps the session at work: what it does since is checked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept_working: bool,
    /// What the last audit of each of its agents saw; the main agent's name is empty.
    pub audits: BTreeMap<String, LastAudit>,
    /// Names of the advisories that the person was told of: once is enough.
    pub told: BTreeSet<String>,
    /// What its agents disputed, by the grounds of each finding: they are not blocked for it again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub disputed: BTreeMap<String, Dispute>,
    /// The start at which it was last given what the config names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SessionState {
    pub fn has_counts(&self) -> bool {
        self.blocks > 0 || self.kept_working || !self.blocked_by.is_empty()
    }

    /// Sets all counts of blocks to zero. What was audited, told and disputed stays.
    pub fn count_anew(&mut self) {
        self.blocks = 0;
        self.kept_working = false;
        self.told.remove(BLOCK_BUDGET);
        self.held_checks.clear();
        self.blocked_by.clear();
    }
}

/// A session's start, as one hook of it saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Given {
    /// Why it started, in the client's word.
    pub source: String,
    /// The client's process, where it tells that.
    pub client: String,
    /// When the hook was started, in milliseconds since 1970.
    pub at_ms: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastAudit {
    /// How much work the session had done by then.
    pub work: usize,
    pub finished: usize,
    /// How far the session had come.
    pub rows: usize,
    /// Whether it did not block: what it saw need not be judged again.
    pub was_clean: bool,
    /// The files that were changed by then, each with the hash of what it held.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// When it was decided, in milliseconds since 1970.
    pub decided_ms: i64,
}

/// What one stop changes in the state of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChange {
    pub audit: Option<LastAudit>,
    /// Names of the advisories that the person is told of.
    pub told: BTreeSet<String>,
    pub checks: BTreeMap<String, Passed>,
    /// The checks that it is held for; `None` for one that passes now.
    pub held_checks: BTreeMap<String, Option<Hold>>,
}

impl StateChange {
    /// Adds what another gate changes.
    pub fn extend(&mut self, other: &Self) {
        self.audit = other.audit.clone().or(self.audit.take());
        self.told.extend(other.told.iter().cloned());
        self.checks.extend(other.checks.clone());
        self.held_checks.extend(other.held_checks.clone());
    }

    /// Applies it to the state of the session of this agent.
    pub fn apply(self, agent: &str, session: &mut SessionState) {
        session.audits.extend(self.audit.map(|audit| (agent.to_owned(), audit)));
        session.told.extend(self.told);
        session.checks.extend(self.checks);
        for (check, hold) in self.held_checks {
            match hold {
                Some(hold) => drop(session.held_checks.insert(check, hold)),
                None => drop(session.held_checks.remove(&check)),
            }
        }
    }
}

/// The lock on one stop. The kernel releases it with the process, however that ends.
#[derive(Debug)]
pub struct StopLock(#[expect(dead_code, reason = "held, not read")] Option<File>);

impl StateFolder {
    /// `PUNCHLIST_HOME`, else the XDG state folder.
    pub fn find(env: &Env) -> Self {
        let root = env.path(env::HOME).unwrap_or_else(|| {
            let state = env.path("XDG_STATE_HOME");
            let state = state.or_else(|| env.home().map(|home| home.join(".local").join("state")));
            state.unwrap_or_else(std::env::temp_dir).join("punchlist")
        });
        Self { root }
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn session_file(&self, session: &str) -> PathBuf {
        self.root.join("sessions").join(format!("{}.json", file_name(session)))
    }

    pub fn session(&self, session: &str) -> SessionState {
        read_json(&self.session_file(session)).unwrap_or_default()
    }

    /// Changes the state of a session, under a lock.
    pub fn update_session(&self, session: &str, change: impl FnOnce(&mut SessionState)) -> io::Result<()> {
        update_json(&self.session_file(session), change)
    }

    /// The sessions whose state was written since `since_ms`, newest first: id, when (milliseconds since 1970), state.
    pub fn recent_sessions(&self, most: usize, since_ms: i64) -> Vec<(String, i64, SessionState)> {
        let entries = fs::read_dir(self.root.join("sessions")).into_iter().flatten().filter_map(Result::ok);
        let mut files: Vec<(i64, PathBuf)> = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "json"))
            .filter_map(|path| {
                let changed = fs::metadata(&path).and_then(|meta| meta.modified()).ok()?;
                let since = changed.duration_since(SystemTime::UNIX_EPOCH).ok()?;
                Some((i64::try_from(since.as_millis()).ok()?, path))
            })
            .filter(|(changed_ms, _)| *changed_ms >= since_ms)
            .collect();
        files.sort_unstable_by(|one, other| other.cmp(one));
        let read = |(changed_ms, path): (i64, PathBuf)| {
            let id = path.file_stem()?.to_str()?.to_owned();
            Some((id, changed_ms, read_json(&path)?))
        };
        files.into_iter().filter_map(read).take(most).collect()
    }

    /// The cache of the files that one agent's last audit looked at.
    pub fn evidence(&self, session: &str, agent: &str) -> FileCache {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let kept = fs::read(self.stop_file(session, agent, "files")).unwrap_or_default();
        FileCache::decode(&kept, now.as_nanos())
    }

    /// Writes the cache of the files that this audit looked at. A failure costs time at the next stop, no more.
    pub fn keep_evidence(&self, session: &str, agent: &str, cache: &FileCache) {
        if let Some(bytes) = cache.encode() {
            write_cache(&self.stop_file(session, agent, "files"), &bytes);
        }
    }

    /// The resume points of the transcripts of one agent, as bytes; empty if there are none.
    pub fn cursors(&self, session: &str, agent: &str) -> Vec<u8> {
        fs::read(self.stop_file(session, agent, "cursor")).unwrap_or_default()
    }

    /// Writes the resume points of the transcripts of one agent of a session.
    pub fn keep_cursors(&self, session: &str, agent: &str, bytes: &[u8]) {
        write_cache(&self.stop_file(session, agent, "cursor"), bytes);
    }

    /// The block of one agent's last stop whose outcome is not known yet. Where there is none it costs a failed open.
    pub fn pending(&self, session: &str, agent: &str) -> Option<PendingBlock> {
        read_json(&self.stop_file(session, agent, "held"))
    }

    /// Removes it. Returns whether this process was the one that did.
    pub fn take_pending(&self, session: &str, agent: &str) -> bool {
        fs::remove_file(self.stop_file(session, agent, "held")).is_ok()
    }

    pub fn keep_pending(&self, session: &str, agent: &str, pending: &PendingBlock) -> io::Result<()> {
        write_json(&self.stop_file(session, agent, "held"), pending)
    }

    /// Locks the state of a session until the file is dropped.
    fn session_turn(&self, session: &str) -> io::Result<File> {
        let lock = lock_file(&self.session_file(session).with_extension("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn stop_file(&self, session: &str, agent: &str, kind: &str) -> PathBuf {
        let name =
            if agent.is_empty() { file_name(session) } else { file_name(&format!("{session}.{agent}")) };
        self.root.join("sessions").join(format!("{name}.{kind}"))
    }

    /// Locks the stop of an agent; `None` when another hook has it: the client runs a hook twice, at the same time, if
    /// it is registered twice.
    pub fn lock_stop(&self, session: &str, agent: &str) -> Option<StopLock> {
        let Ok(file) = lock_file(&self.stop_file(session, agent, "stop")) else {
            // Where no file can be made, no block can be counted, so none will be given.
            return Some(StopLock(None));
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Ok(()) | Err(TryLockError::Error(_)) => Some(StopLock(Some(file))),
        }
    }

    fn spending_file(&self) -> PathBuf {
        self.root.join("spending.json")
    }

    /// How much the readers of all sessions have cost on a day, in dollars. What can't be read counts
    /// as nothing spent: a limit on money is the person's convenience, no promise of ours.
    pub fn spent_on(&self, day: Date) -> f64 {
        let known: Spending = read_json(&self.spending_file()).unwrap_or_default();
        if known.day == day.to_string() { known.dollars } else { 0.0 }
    }

    pub fn spend(&self, day: Date, dollars: f64) -> io::Result<()> {
        update_json(&self.spending_file(), |known: &mut Spending| {
            let dollars = self.spent_on(day) + dollars;
            *known = Spending { day: day.to_string(), dollars };
        })
    }

    fn clients_file(&self) -> PathBuf {
        self.root.join("clients.json")
    }
}

/// The spending of one day, such as `2026-11-18`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Spending {
    day: String,
    dollars: f64,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Clients(Vec<(ClientStamp, Flags)>);

const MOST_CLIENTS: usize = 16;

impl FlagCache for StateFolder {
    fn get(&self, client: &Path) -> Option<Flags> {
        let stamp = ClientStamp::new(client)?;
        let Clients(known) = read_json(&self.clients_file())?;
        known.into_iter().find(|(known, _)| *known == stamp).map(|(_, flags)| flags)
    }

    fn put(&self, client: &Path, flags: &Flags) {
        let Some(stamp) = ClientStamp::new(client) else { return };
        let Clients(mut known) = read_json(&self.clients_file()).unwrap_or_default();
        known.retain(|(known, _)| *known != stamp);
        known.push((stamp, flags.clone()));
        let from = known.len().saturating_sub(MOST_CLIENTS);
        // A failure costs one `--help` at the next stop.
        let _ = write_json(&self.clients_file(), &Clients(known.split_off(from)));
    }
}

/// A session's id as a file name; one that could be something else becomes its hash.
fn file_name(id: &str) -> String {
    let plain = !id.is_empty()
        && id.len() <= 128
        && !id.starts_with('.')
        && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if plain {
        return id.to_owned();
    }
    ContentId::of(id)
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Changes what a file holds, under a lock beside it. A file that holds nothing any more is removed.
fn update_json<T, R>(path: &Path, change: impl FnOnce(&mut T) -> R) -> io::Result<R>
where
    T: Clone + Default + PartialEq + Serialize + DeserializeOwned,
{
    let turn = lock_file(&path.with_extension("lock"))?;
    turn.lock()?;
    let before: T = read_json(path).unwrap_or_default();
    let mut value = before.clone();
    let result = change(&mut value);
    if value != before {
        if value == T::default() { fs::remove_file(path)? } else { write_json(path, &value)? }
    }
    Ok(result)
}

fn lock_file(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    in_private_folder(folder, || OpenOptions::new().create(true).truncate(false).write(true).open(path))
}

fn write_cache(path: &Path, bytes: &[u8]) {
    if let Err(error) = write_whole(path, bytes) {
        tracing::debug!(%error, path = %path.display(), "a cache could not be written");
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write_whole(path, &serde_json::to_vec(value).map_err(io::Error::other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_remembered_and_a_broken_file_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        assert_eq!(state.session("s"), SessionState::default());
        state.update_session("s", |session| session.blocks += 1).expect("written");
        state.update_session("s", |session| session.blocks += 1).expect("written");
        assert_eq!(state.session("s").blocks, 2);
        fs::write(folder.path().join("sessions/s.json"), "{\"blocks\":").expect("broken");
        assert_eq!(state.session("s"), SessionState::default());
    }

    #[test]
    fn a_last_audit_of_an_older_format_does_not_lose_the_count_of_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let older = r#"{"blocks":2,"held_by":{"audit":2},"audits":{"":{"work":7,"asks":2,"clean":"d41d8cd9",
            "decided_ms":5}},"told":["x"]}"#;
        fs::create_dir_all(folder.path().join("sessions")).expect("made");
        fs::write(folder.path().join("sessions/s.json"), older).expect("written");
        let state = StateFolder::at(folder.path());
        let read = state.session("s");
        assert_eq!((read.blocks, read.blocked_by["audit"], read.told.contains("x")), (2, 2, true));
        assert_eq!(read.audits[""], LastAudit { work: 7, decided_ms: 5, ..LastAudit::default() });
        state.update_session("s", |session| session.blocks += 1).expect("written");
        assert_eq!(state.session("s").blocks, 3);
    }

    #[test]
    fn each_day_begins_with_nothing_spent() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (today, tomorrow) = (Date::constant(2026, 11, 18), Date::constant(2026, 11, 19));
        state.spend(today, 0.25).expect("written");
        state.spend(today, 0.5).expect("written");
        assert!((state.spent_on(today) - 0.75).abs() < 1e-9);
        assert!(state.spent_on(tomorrow).abs() < 1e-9);
        state.spend(tomorrow, 0.1).expect("written");
        assert!(state.spent_on(today).abs() < 1e-9);
    }

    #[test]
    fn many_writers_lose_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        StateFolder::at(folder.path())
                            .update_session("s", |s| s.blocks += 1)
                            .expect("written");
                    }
                });
            }
        });
        assert_eq!(StateFolder::at(folder.path()).session("s").blocks, 160);
    }

    #[test]
    fn an_id_that_climbs_stays_in_the_folder() {
        for id in ["../../etc/passwd", "", ".", "a/b", &"x".repeat(500)] {
            let name = file_name(id);
            assert!(!name.contains('/') && !name.starts_with('.') && name.len() == 32, "{id}: {name}");
        }
        assert_eq!(file_name("3f6c-a_1"), "3f6c-a_1");
    }

    #[test]
    fn a_stop_is_audited_by_one_hook_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let first = state.lock_stop("s", "");
        assert!(first.is_some());
        assert!(state.lock_stop("s", "").is_none(), "the same stop");
        assert!(state.lock_stop("s", "agent").is_some(), "another agent's stop");
        drop(first);
        assert!(state.lock_stop("s", "").is_some(), "a later stop");
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        StateFolder::at(folder.path().join("state")).update_session("s", |_| ()).expect("written");
        let mode = fs::metadata(folder.path().join("state/sessions")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
