//! The state folder: what is kept from one stop to the next, such as how often a session was
//! blocked, what its last audit saw, and a client's flags. A cache that can't be read counts as
//! absent. Must not lose a session's counters silently: if they can't be read or written, or
//! something else wrote them, the caller gets an error.

mod allowed;
mod loops;
mod newest_stop;
mod pending_notices;
mod sealed;
mod shell;
mod spending;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checks::Passed;
use crate::checks::hold::Hold;
use crate::client::program::{ClientStamp, FlagCache, Flags};
use crate::env::{self, Env};
use crate::evidence::FileCache;
use crate::followup::{Dispute, PendingBlock};
use crate::ids::ContentId;
use crate::private_file::{self, Access, Durability};

pub use crate::state::newest_stop::{Acquired, NewestStop, stop_name};
pub use allowed::{allowed, load_config};
pub use loops::RunLock;
pub use pending_notices::Line;
pub use shell::Shell;
pub use switch::{SwitchedOff, Switches, Thrown};

/// The notice that the budget of blocks is spent.
pub const BLOCK_BUDGET: &str = "block-budget";

#[derive(Debug, Clone)]
pub struct StateFolder {
    root: PathBuf,
    /// Whether other users could write to it until it was opened.
    pub was_writable_by_others: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    pub blocks: u32,
    /// How many model calls were made for it.
    #[serde(skip_serializing_if = "is_zero")]
    pub reader_calls: u32,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub blocked_by: BTreeMap<String, u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, Passed>,
    /// The checks that it is blocked for, until they pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_checks: BTreeMap<String, Hold>,
    /// When each of its agents was last blocked, in milliseconds since 1970.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub blocked_ms: BTreeMap<String, i64>,
    /// The newest block only kept the session working: what it has done since is checked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept_working: bool,
    /// What the last audit of each of its agents saw; the main agent's name is empty.
    pub audits: BTreeMap<String, LastAudit>,
    /// Names of the notices that the person has seen: once is enough.
    #[serde(rename = "told")]
    pub shown_notices: BTreeSet<String>,
    /// Notices for the next stop that has room for them: a block has none.
    #[serde(rename = "untold", skip_serializing_if = "Vec::is_empty")]
    pub pending_notices: Vec<String>,
    /// The names of those that are shown once, by their lines.
    #[serde(rename = "untold_names", skip_serializing_if = "BTreeMap::is_empty")]
    pub pending_names: BTreeMap<String, String>,
    /// What its agents disputed, by the grounds of each finding, for which they are not blocked
    /// again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub disputed: BTreeMap<String, Dispute>,
    /// Digests of the switch, the configs and the registration when the session began, or when the
    /// person was last told of a change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub surroundings: BTreeMap<String, String>,
    /// The last start at which it was given what the config names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SessionState {
    /// Resets all counters of blocks. What was audited, shown and disputed stays.
    pub fn count_anew(&mut self) {
        self.blocks = 0;
        self.kept_working = false;
        self.shown_notices.remove(BLOCK_BUDGET);
        self.held_checks.clear();
        self.blocked_by.clear();
    }
}

/// A start of a session, as one of its hooks saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Given {
    /// Why it started, in the client's word.
    pub source: String,
    /// The client's process, if it is known.
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
    /// How many rows the session had.
    pub rows: usize,
    /// Whether it did not block: what it saw need not be judged again.
    pub was_clean: bool,
    /// The files that were changed by then, each with the hash of its content.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// When it was decided, in milliseconds since 1970.
    pub decided_ms: i64,
    /// A digest of the final message that it judged.
    pub message: String,
}

/// What one stop changes in the state of its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateChange {
    pub audit: Option<LastAudit>,
    /// Names of the notices that the person is shown.
    pub shown_notices: BTreeSet<String>,
    pub checks: BTreeMap<String, Passed>,
    /// The checks that it is blocked for; `None` for one that passes now.
    pub held_checks: BTreeMap<String, Option<Hold>>,
    /// The session's surroundings, if they are known or recorded from now on.
    pub surroundings: Option<BTreeMap<String, String>>,
}

impl StateChange {
    /// Adds another gate's changes.
    pub fn extend(&mut self, other: &Self) {
        self.audit = other.audit.clone().or(self.audit.take());
        self.shown_notices.extend(other.shown_notices.iter().cloned());
        self.checks.extend(other.checks.clone());
        self.held_checks.extend(other.held_checks.clone());
        self.surroundings = other.surroundings.clone().or(self.surroundings.take());
    }

    /// Applies it to the state of the session of this agent.
    pub fn apply(self, agent: &str, session: &mut SessionState) {
        session.audits.extend(self.audit.map(|audit| (agent.to_owned(), audit)));
        session.shown_notices.extend(self.shown_notices);
        session.checks.extend(self.checks);
        for (check, hold) in self.held_checks {
            match hold {
                Some(hold) => drop(session.held_checks.insert(check, hold)),
                None => drop(session.held_checks.remove(&check)),
            }
        }
        session.surroundings = self.surroundings.unwrap_or_else(|| std::mem::take(&mut session.surroundings));
    }
}

/// The lock of one stop. The kernel releases it with the process, however that ends.
#[derive(Debug)]
pub struct StopLock(#[expect(dead_code, reason = "held, not read")] Option<File>);

impl StateFolder {
    /// Returns `PUNCHLIST_HOME`, else the XDG state folder. Fails if somebody else can change it.
    pub fn find(env: &Env) -> io::Result<Self> {
        let state = || env.path("XDG_STATE_HOME").or_else(|| Some(env.home()?.join(".local").join("state")));
        let (root, claimed) = match env.path(env::HOME).or_else(|| Some(state()?.join("punchlist"))) {
            Some(root) => (root.clone(), private_file::claim_folder(&root)),
            None => (homeless_folder(), private_file::claim_folder_among_others(&homeless_folder())),
        };
        claimed.map(|was_writable_by_others| Self { root, was_writable_by_others }).map_err(unusable)
    }

    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), was_writable_by_others: false }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn session_file(&self, session: &str) -> PathBuf {
        self.root.join("sessions").join(format!("{}.json", file_name(session)))
    }

    /// Returns the state of a session. Content that punchlist did not write is an error of the kind
    /// `InvalidData`.
    pub fn session(&self, session: &str) -> io::Result<SessionState> {
        let path = self.session_file(session);
        let Some(bytes) = private_file::read(&path)? else { return Ok(SessionState::default()) };
        let known = if sealed::is_sealed(&bytes, &path) { serde_json::from_slice(&bytes).ok() } else { None };
        known.ok_or_else(|| {
            let why = format!("{}: not as punchlist wrote it", path.display());
            io::Error::new(io::ErrorKind::InvalidData, why)
        })
    }

    /// Changes the state of a session, under a lock. A counted block is on disk when this returns.
    pub fn update_session(&self, session: &str, change: impl FnOnce(&mut SessionState)) -> io::Result<()> {
        let _turn = self.session_turn(session)?;
        let before = self.session(session)?;
        let mut after = before.clone();
        change(&mut after);
        if after == before { Ok(()) } else { self.write_session(session, &before, &after) }
    }

    /// Whether an agent of the session stopped before.
    pub fn stopped_before(&self, session: &str, agent: &str) -> bool {
        fs::symlink_metadata(self.stop_file(session, agent, "stop")).is_ok_and(|meta| meta.len() > 0)
    }

    /// Whether there is a state of the session, of whatever kind.
    pub fn has_session(&self, session: &str) -> bool {
        let file = fs::symlink_metadata(self.session_file(session));
        !file.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Replaces a state that can't be used.
    pub fn replace_session(&self, session: &str, state: &SessionState) -> io::Result<()> {
        let _turn = self.session_turn(session)?;
        self.write_session(session, &SessionState::default(), state)
    }

    fn write_session(&self, session: &str, before: &SessionState, after: &SessionState) -> io::Result<()> {
        let path = self.session_file(session);
        if *after == SessionState::default() {
            return fs::remove_file(&path);
        }
        let is_counted = after.blocks > before.blocks || after.blocked_by != before.blocked_by;
        let durability = if is_counted { Durability::Synced } else { Durability::Lazy };
        let json = serde_json::to_vec(after).map_err(io::Error::other)?;
        private_file::write(&path, &sealed::seal(json, &path), durability)
    }

    /// Returns the sessions whose state was written since `since_ms`, newest first: id, time
    /// (milliseconds since 1970), state.
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
            let state = self.session(&id).ok()?;
            Some((id, changed_ms, state))
        };
        files.into_iter().filter_map(read).take(most).collect()
    }

    /// Returns the cache of the files that one agent's last audit looked at.
    pub fn evidence(&self, session: &str, agent: &str) -> FileCache {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let kept = read_cache(&self.stop_file(session, agent, "files"));
        FileCache::decode(&kept, now.as_nanos())
    }

    /// Writes the cache of the files that this audit looked at. A failure only costs time at the
    /// next stop.
    pub fn save_evidence(&self, session: &str, agent: &str, cache: &FileCache) {
        if let Some(bytes) = cache.encode() {
            write_cache(&self.stop_file(session, agent, "files"), &bytes);
        }
    }

    /// Returns the resume points of one agent's transcripts, as bytes; empty if there are none.
    pub fn cursors(&self, session: &str, agent: &str) -> Vec<u8> {
        read_cache(&self.stop_file(session, agent, "cursor"))
    }

    /// Writes the resume points of the transcripts of one agent of a session.
    pub fn save_cursors(&self, session: &str, agent: &str, bytes: &[u8]) {
        write_cache(&self.stop_file(session, agent, "cursor"), bytes);
    }

    /// The block of one agent's last stop whose outcome is not known yet. Where there is none it
    /// costs a failed open.
    pub fn pending(&self, session: &str, agent: &str) -> io::Result<Option<PendingBlock>> {
        let path = self.stop_file(session, agent, "held");
        // One that is torn tells nothing.
        Ok(private_file::read(&path)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Removes it. Returns whether it was this process that did.
    pub fn take_pending(&self, session: &str, agent: &str) -> bool {
        fs::remove_file(self.stop_file(session, agent, "held")).is_ok()
    }

    pub fn save_pending(&self, session: &str, agent: &str, pending: &PendingBlock) -> io::Result<()> {
        write_json(&self.stop_file(session, agent, "held"), pending)
    }

    /// Locks the state of a session until the file is dropped.
    fn session_turn(&self, session: &str) -> io::Result<File> {
        private_file::lock(&self.session_file(session).with_extension("lock"))
    }

    fn stop_file(&self, session: &str, agent: &str, kind: &str) -> PathBuf {
        let name =
            if agent.is_empty() { file_name(session) } else { file_name(&format!("{session}.{agent}")) };
        self.root.join("sessions").join(format!("{name}.{kind}"))
    }

    /// Locks the stop of an agent, which has a name. The client runs a hook twice, at the same time,
    /// if it is registered twice: another hook that has this very stop is waited for until
    /// `deadline`, and then it is `None`. A holder that does not name this stop, such as an older
    /// stop, is waited for briefly, and then ignored.
    pub fn lock_stop(&self, session: &str, agent: &str, stop: &str, deadline: Instant) -> Option<StopLock> {
        let path = self.stop_file(session, agent, "stop");
        let Ok(mut file) = private_file::open(&path, Access::Write) else { return Some(StopLock(None)) };
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if read_cache(&path) == stop.as_bytes() => {
                    if Instant::now() >= deadline {
                        return None;
                    }
                    std::thread::sleep(NAMED_WITHIN / 20);
                }
                Err(TryLockError::WouldBlock) if asked.elapsed() < NAMED_WITHIN => {
                    std::thread::sleep(NAMED_WITHIN / 20);
                }
                Err(TryLockError::WouldBlock) => return Some(StopLock(None)),
                Ok(()) | Err(TryLockError::Error(_)) => break,
            }
        }
        let written =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(stop.as_bytes()));
        tracing::debug!(ok = written.is_ok(), "the stop is named");
        Some(StopLock(Some(file)))
    }

    fn clients_file(&self) -> PathBuf {
        self.root.join("clients.json")
    }
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

/// Returns a session's id as a file name; an unsafe one becomes its hash.
fn file_name(id: &str) -> String {
    let plain = !id.is_empty()
        && id.len() <= 128
        && !id.starts_with('.')
        && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if plain {
        return id.to_owned();
    }
    ContentId::digest(id)
}

/// How long a hook may take from locking its stop to naming the stop in the lock.
const NAMED_WITHIN: Duration = Duration::from_millis(600);

#[expect(clippy::needless_pass_by_value, reason = "the form of `map_err`")]
fn unusable(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the state folder can't be used: {error}"))
}

/// Returns the state folder for a user without a home: in the system's folder for the user, else in
/// the temporary one.
#[cfg(unix)]
fn homeless_folder() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    let own = PathBuf::from(format!("/run/user/{user}"));
    if own.is_dir() { own.join("punchlist") } else { std::env::temp_dir().join(format!("punchlist-{user}")) }
}

#[cfg(not(unix))]
fn homeless_folder() -> PathBuf {
    std::env::temp_dir().join("punchlist")
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&private_file::read(path).ok()??).ok()
}

/// Changes the content of a file, under a lock beside it. A file that becomes empty is removed.
fn update_json<T, R>(path: &Path, is_sealed: bool, change: impl FnOnce(&mut T) -> R) -> io::Result<R>
where
    T: Clone + Default + PartialEq + Serialize + DeserializeOwned,
{
    let _turn = private_file::lock(&path.with_extension("lock"))?;
    let bytes = private_file::read(path)?.unwrap_or_default();
    let before: T = serde_json::from_slice(&bytes).unwrap_or_default();
    let mut value = before.clone();
    let result = change(&mut value);
    if value == before {
        return Ok(result);
    }
    if value == T::default() {
        fs::remove_file(path)?;
        return Ok(result);
    }
    let json = serde_json::to_vec(&value).map_err(io::Error::other)?;
    let json = if is_sealed { sealed::seal(json, path) } else { json };
    private_file::write(path, &json, Durability::Lazy)?;
    Ok(result)
}

fn read_cache(path: &Path) -> Vec<u8> {
    private_file::read(path).ok().flatten().unwrap_or_default()
}

fn write_cache(path: &Path, bytes: &[u8]) {
    if let Err(error) = private_file::write(path, bytes, Durability::Lazy) {
        tracing::debug!(%error, "a cache could not be written");
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    private_file::write(path, &serde_json::to_vec(value).map_err(io::Error::other)?, Durability::Lazy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_remembered() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        assert_eq!(state.session("s").expect("read"), SessionState::default());
        state.update_session("s", |session| session.blocks += 1).expect("written");
        state.update_session("s", |session| session.blocks += 1).expect("written");
        assert_eq!(state.session("s").expect("read").blocks, 2);
    }

    #[test]
    fn a_counter_that_could_not_be_read_counted_as_absent() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, file) = (StateFolder::at(folder.path()), folder.path().join("sessions/s.json"));
        state.update_session("s", |session| session.blocks = 2).expect("written");
        let ours = fs::read_to_string(&file).expect("there");
        for by_hand in ["{\"blocks\":", "{}", "", "{\"blocks\":1}", &ours.replace(":2", ":1")] {
            fs::write(&file, by_hand).expect("written");
            let kind = |result: io::Result<()>| result.expect_err("not ours").kind();
            assert_eq!(kind(state.session("s").map(drop)), io::ErrorKind::InvalidData, "{by_hand}");
            let counted = state.update_session("s", |session| session.blocks += 1);
            assert_eq!(kind(counted), io::ErrorKind::InvalidData, "{by_hand}");
            assert_eq!(fs::read_to_string(&file).expect("there"), by_hand, "nothing is written over it");
        }
        fs::remove_file(&file).expect("gone");
        fs::create_dir(&file).expect("a folder in its place");
        assert!(state.session("s").is_err() && state.update_session("s", |s| s.blocks += 1).is_err());
        fs::remove_dir(&file).expect("gone");
        state.replace_session("s", &SessionState { blocks: 2, ..SessionState::default() }).expect("written");
        assert_eq!(state.session("s").expect("read").blocks, 2);
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
        assert_eq!(StateFolder::at(folder.path()).session("s").expect("read").blocks, 160);
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
        let first = state.lock_stop("s", "", "one", Instant::now());
        assert!(first.is_some());
        assert!(state.lock_stop("s", "", "one", Instant::now()).is_none(), "the same stop");
        assert!(state.lock_stop("s", "agent", "one", Instant::now()).is_some(), "another agent's stop");
        drop(first);
        assert!(
            state.lock_stop("s", "", "one", Instant::now()).is_some(),
            "it was decided, which the state tells"
        );
    }

    #[test]
    fn whoever_held_the_lock_on_a_stop_kept_it_from_being_checked() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let _held = private_file::lock(&folder.path().join("sessions/s.stop")).expect("free");
        assert!(state.lock_stop("s", "", "one", Instant::now()).is_some());
    }

    #[cfg(unix)]
    #[test]
    fn with_no_home_a_folder_that_anybody_could_have_made_was_believed() {
        let folder = homeless_folder();
        let user = rustix::process::geteuid().as_raw().to_string();
        assert!(folder.to_string_lossy().contains(&user), "{folder:?}");
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
