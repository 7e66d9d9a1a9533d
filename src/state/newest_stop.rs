//! Which stop of an agent is the newest, for background audits: a later stop supersedes one that is
//! still being audited, and a second hook of the same stop does not.
//!
//! A file names the newest stop. It is changed only under the session's lock and replaced
//! atomically, so what is read within [`StateFolder::update_session`] stays true until that ends.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::client::hook_input::HookInput;
use crate::ids::{ContentId, new_id};
use crate::private_file::{self, Access};
use crate::state::{StateFolder, StopLock, read_json, write_json};

/// How long a superseded audit may take to end its reader and release its lock. It notices within a
/// tenth of a second. After this we go on beside it: its decision no longer counts.
const HAND_OVER: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

/// One hook's claim to decide one stop as the newest.
#[derive(Debug)]
pub struct NewestStop<'a> {
    state: &'a StateFolder,
    session: &'a str,
    agent: &'a str,
    mark: Mark,
}

/// The newest stop, as stored in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// The name of the stop, the same for two hooks of it.
    stop: String,
    /// The name of the hook that decides it.
    hook: String,
    /// When that hook started, in milliseconds since 1970.
    started_ms: i64,
}

#[derive(Debug)]
pub enum Acquired {
    /// This process decides the stop, until a newer one comes.
    Lock {
        lock: StopLock,
        /// Another hook has already decided the same stop.
        is_second: bool,
    },
    InHand,
    Superseded,
}

impl<'a> NewestStop<'a> {
    /// Returns a claim that is not written yet.
    pub fn new(state: &'a StateFolder, session: &'a str, input: &'a HookInput, started_ms: i64) -> Self {
        let agent = input.agent_id.as_deref().unwrap_or_default();
        Self { state, session, agent, mark: Mark { stop: stop_name(input), hook: new_id(), started_ms } }
    }

    fn file(&self) -> PathBuf {
        self.state.stop_file(self.session, self.agent, "newest")
    }

    fn newest(&self) -> Option<Mark> {
        read_json(&self.file())
    }

    /// Writes the claim, takes the lock, and waits for the audit that is superseded to release it.
    pub fn acquire(&self) -> Acquired {
        // If no file can be created, no block can be counted, so none will be given.
        let nothing_kept = Acquired::Lock { lock: StopLock(None), is_second: false };
        let Ok(turn) = self.state.session_turn(self.session) else { return nothing_kept };
        let place = self.state.stop_file(self.session, self.agent, "stop");
        let Ok(place) = private_file::open(&place, Access::Write) else { return nothing_kept };
        let newest = self.newest();
        let is_second = newest.as_ref().is_some_and(|newest| newest.stop == self.mark.stop);
        if is_second && is_held(&place) {
            return Acquired::InHand;
        }
        if !is_second && newest.is_some_and(|newest| self.is_older_than(&newest)) {
            return Acquired::Superseded;
        }
        if write_json(&self.file(), &self.mark).is_err() {
            return nothing_kept;
        }
        // Under the session's lock: a second hook of this stop must not find the lock free.
        let mut is_waiting = is_held(&place);
        drop(turn);
        let asked = Instant::now();
        while is_waiting && asked.elapsed() < HAND_OVER {
            if !self.is_newest() {
                return Acquired::Superseded;
            }
            std::thread::sleep(LOOK);
            is_waiting = is_held(&place);
        }
        Acquired::Lock { lock: StopLock(Some(place)), is_second }
    }

    /// Supersedes an older stop that is still being audited, for a stop that is skipped itself.
    pub fn supersede_older(&self) {
        if !self.file().exists() {
            return;
        }
        let Ok(_turn) = self.state.session_turn(self.session) else { return };
        if self.newest().is_some_and(|newest| newest.stop != self.mark.stop && !self.is_older_than(&newest)) {
            // If it can't be written, the older audit may still see that the session has gone on.
            let _ = write_json(&self.file(), &self.mark);
        }
    }

    /// Returns whether no newer stop has come, which is assumed if that can't be read.
    pub fn is_newest(&self) -> bool {
        self.newest().is_none_or(|newest| newest.hook == self.mark.hook)
    }

    /// Returns whether another stop's hook was started after this one. A start in the future means
    /// that the clock jumped back.
    fn is_older_than(&self, other: &Mark) -> bool {
        (self.mark.started_ms.saturating_add(1)..=crate::clock::now().as_millisecond())
            .contains(&other.started_ms)
    }
}

/// Returns a name for a stop, from input that all its hooks share. The transcript's length is not
/// part of it: it grows while two hooks of one stop are being started. Clients before 2.1.145 send
/// no prompt id; two of their stops with the same text are one, and the first audit finds out by
/// itself that the session has moved on.
pub fn stop_name(input: &HookInput) -> String {
    let mut name = ContentId::default();
    for part in [&input.prompt_id, &input.last_assistant_message] {
        name.add(part.as_deref().unwrap_or_default());
    }
    name.add([u8::from(input.stop_hook_active)]);
    name.finish()
}

/// Returns whether another process has the lock. If not, this one takes it.
fn is_held(place: &File) -> bool {
    matches!(place.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(prompt: &str) -> HookInput {
        let json = format!(r#"{{"session_id":"s","prompt_id":"{prompt}","last_assistant_message":"Done."}}"#);
        HookInput::parse(json.as_bytes()).expect("input")
    }

    fn now() -> i64 {
        crate::clock::now().as_millisecond()
    }

    #[test]
    fn the_same_stop_is_in_hand_and_a_newer_one_takes_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (first, second) = (stop("1"), stop("2"));
        let started = now();
        let one = NewestStop::new(&state, "s", &first, started);
        let Acquired::Lock { lock, is_second: false } = one.acquire() else { panic!("nobody else is there") };
        assert!(one.is_newest());
        assert!(matches!(NewestStop::new(&state, "s", &first, started + 1).acquire(), Acquired::InHand));
        assert!(one.is_newest());
        let newer = NewestStop::new(&state, "s", &second, started);
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| newer.acquire());
            while one.is_newest() {
                std::thread::sleep(LOOK);
            }
            drop(lock);
            assert!(matches!(taken.join().expect("taken"), Acquired::Lock { .. }));
        });
        assert!(newer.is_newest() && !one.is_newest());
        let again = NewestStop::new(&state, "s", &second, now()).acquire();
        assert!(matches!(again, Acquired::Lock { is_second: true, .. }), "the first hook of it has ended");
    }

    #[test]
    fn a_hook_that_comes_late_does_not_take_over_from_a_newer_stop() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (first, second) = (stop("1"), stop("2"));
        let started = now() - 10;
        let newer = NewestStop::new(&state, "s", &second, started + 5);
        assert!(matches!(newer.acquire(), Acquired::Lock { .. }));
        assert!(matches!(NewestStop::new(&state, "s", &first, started).acquire(), Acquired::Superseded));
        assert!(newer.is_newest());
        // The newer one's start is in the future of a clock that was set back.
        let ahead = NewestStop::new(&state, "s", &first, started + 3_600_000);
        assert!(matches!(ahead.acquire(), Acquired::Lock { .. }));
        assert!(matches!(NewestStop::new(&state, "s", &second, started).acquire(), Acquired::Lock { .. }));
    }

    #[test]
    fn a_stop_that_is_passed_by_takes_over_and_leaves_no_file_where_none_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (first, second) = (stop("1"), stop("2"));
        let aside = NewestStop::new(&state, "s", &second, now());
        aside.supersede_older();
        assert!(!folder.path().join("sessions").exists());
        let audited = NewestStop::new(&state, "s", &first, now() - 5);
        assert!(matches!(audited.acquire(), Acquired::Lock { .. }));
        NewestStop::new(&state, "s", &first, now()).supersede_older();
        assert!(audited.is_newest(), "the same stop");
        aside.supersede_older();
        assert!(!audited.is_newest());
    }

    /// Many hooks at once, two for each stop: a stop no longer counts once a newer one has claimed
    /// its place, and the newest of all decides.
    #[test]
    fn in_a_crowd_the_newest_has_the_last_word() {
        const STOPS: i64 = 8;
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let began = now() - STOPS;
        let said = std::sync::Mutex::new(Vec::new());
        let decide = |number: i64| {
            let input = stop(&number.to_string());
            let claim = NewestStop::new(&state, "s", &input, began + number);
            let Acquired::Lock { lock: _lock, .. } = claim.acquire() else { return };
            std::thread::sleep(Duration::from_millis(5));
            let speak = |_: &mut crate::state::SessionState| {
                if claim.is_newest() {
                    said.lock().expect("the list").push(number);
                }
            };
            state.update_session("s", speak).expect("written");
        };
        std::thread::scope(|scope| {
            for number in (0..STOPS).flat_map(|number| [number, number]) {
                let decide = &decide;
                scope.spawn(move || decide(number));
            }
        });
        let said = said.into_inner().expect("the list");
        assert!(said.is_sorted(), "{said:?}");
        assert_eq!(said.last(), Some(&(STOPS - 1)), "{said:?}");
    }

    #[test]
    fn other_agents_and_other_words_are_other_stops() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let main = stop("1");
        let json = br#"{"session_id":"s","prompt_id":"1","last_assistant_message":"Done.","agent_id":"a"}"#;
        let agent = HookInput::parse(json).expect("input");
        let claim = NewestStop::new(&state, "s", &main, now());
        let Acquired::Lock { lock: _lock, .. } = claim.acquire() else { panic!("nobody else is there") };
        assert!(matches!(NewestStop::new(&state, "s", &agent, now()).acquire(), Acquired::Lock { .. }));
        assert!(claim.is_newest());
        let other = HookInput { last_assistant_message: Some("Done again.".into()), ..main.clone() };
        assert_ne!(stop_name(&main), stop_name(&other));
    }
}
