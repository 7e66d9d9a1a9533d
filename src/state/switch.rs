//! The person's switch, and what `install` created. One file has every switch that is off, and is
//! absent if there is none: a stop pays one failed open for it. A switch that can't be read counts
//! as on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::sealed::is_sealed;
use super::{Shell, StateFolder, read_cache, read_json, update_json, write_json};
use crate::client::settings::registration::Created;
use crate::ids::ContentId;

/// Every switch that is off.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Switches {
    /// Folders, with everything inside them.
    pub projects: BTreeMap<PathBuf, Thrown>,
    pub sessions: BTreeMap<String, Thrown>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thrown {
    /// When it was switched, in milliseconds since 1970.
    pub at_ms: i64,
    /// Whether a command of a client's session did it.
    pub in_session: bool,
    /// The shell in whose terminal it was typed.
    pub shell: Option<Shell>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    pub what: String,
    pub thrown: Thrown,
    /// Whether punchlist wrote it, and nobody has changed it since.
    pub is_ours: bool,
}

impl SwitchedOff {
    /// Returns whether a person set it: in a terminal that is still open, and that no agent opened.
    pub fn is_persons(&self) -> bool {
        self.is_ours && !self.thrown.in_session && self.thrown.shell.is_some_and(Shell::is_a_persons)
    }
}

/// A session that was switched off longer ago than this is over.
const FORGET_MS: i64 = 90 * 24 * 3600 * 1000;

impl Switches {
    /// Returns every folder that is off and contains `project`.
    pub fn covering(&self, project: &Path) -> Vec<PathBuf> {
        let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
        let covers = |folder: &&PathBuf| project.starts_with(folder) || real.starts_with(folder);
        self.projects.keys().filter(covers).cloned().collect()
    }

    fn of_stop(&self, project: &Path, session: &str, is_ours: bool) -> Option<SwitchedOff> {
        let by_session = self.sessions.iter().find(|(start, _)| session.starts_with(start.as_str()));
        if let Some((_, thrown)) = by_session {
            return Some(SwitchedOff { what: "for this session".into(), thrown: *thrown, is_ours });
        }
        let folder = self.covering(project).pop()?;
        let thrown = self.projects.get(&folder).copied().unwrap_or_default();
        Some(SwitchedOff { what: format!("for {}", folder.display()), thrown, is_ours })
    }
}

impl StateFolder {
    pub fn switch_file(&self) -> PathBuf {
        self.root.join("off.json")
    }

    /// Returns every switch that is off.
    pub fn switches(&self) -> Switches {
        read_json(&self.switch_file()).unwrap_or_default()
    }

    /// Returns what lets the stops of this session through, if anything does.
    pub fn switched_off(&self, project: &Path, session: &str) -> Option<SwitchedOff> {
        let bytes = read_cache(&self.switch_file());
        let switches: Switches = serde_json::from_slice(&bytes).ok()?;
        switches.of_stop(project, session, is_sealed(&bytes, &self.switch_file()))
    }

    /// Changes switches, under a lock.
    pub fn throw<T>(&self, now_ms: i64, change: impl FnOnce(&mut Switches) -> T) -> io::Result<T> {
        update_json(&self.switch_file(), true, |switches: &mut Switches| {
            let result = change(switches);
            switches.sessions.retain(|_, thrown| now_ms.saturating_sub(thrown.at_ms) < FORGET_MS);
            result
        })
    }

    fn receipt_file(&self, settings: &Path) -> PathBuf {
        let name = ContentId::digest(settings.to_string_lossy().as_bytes());
        self.root.join("installs").join(format!("{name}.json"))
    }

    /// Returns what `install` created in and around a settings file; `None` if there is no receipt.
    pub fn receipt(&self, settings: &Path) -> Option<BTreeSet<Created>> {
        read_json(&self.receipt_file(settings))
    }

    /// Adds to the receipt of what was created.
    pub fn save_receipt(&self, settings: &Path, made: &[Created]) -> io::Result<()> {
        let mut all = self.receipt(settings).unwrap_or_default();
        all.extend(made);
        write_json(&self.receipt_file(settings), &all)?;
        update_json(&self.installs_file(), false, |files: &mut BTreeSet<PathBuf>| {
            files.insert(settings.to_path_buf());
        })
    }

    /// Forgets what was created. The file stays one of [`Self::installs`]: what remains in its
    /// project is to be found later, too.
    pub fn drop_receipt(&self, settings: &Path) {
        let _ = fs::remove_file(self.receipt_file(settings));
    }

    fn installs_file(&self) -> PathBuf {
        self.root.join("installs").join("files.json")
    }

    /// Returns the settings files that it was ever installed in.
    pub fn installs(&self) -> BTreeSet<PathBuf> {
        read_json(&self.installs_file()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Thrown = Thrown { at_ms: 1_000, in_session: false, shell: None };

    #[test]
    fn a_folder_is_off_with_all_that_is_in_it_and_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        state.throw(1_000, |all| all.projects.insert("/w/shop".into(), NOW)).expect("thrown");
        let what = |project: &str| state.switched_off(Path::new(project), "s").map(|off| off.what);
        assert_eq!(what("/w/shop").as_deref(), Some("for /w/shop"));
        assert_eq!(what("/w/shop/api").as_deref(), Some("for /w/shop"));
        assert_eq!((what("/w/shopping"), what("/w")), (None, None));
    }

    #[test]
    fn a_session_is_known_by_how_its_id_starts() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        state.throw(1_000, |all| all.sessions.insert("3f2a".into(), NOW)).expect("thrown");
        let off = state.switched_off(Path::new("/w"), "3f2a-77");
        assert_eq!(off, Some(SwitchedOff { what: "for this session".into(), thrown: NOW, is_ours: true }));
        let file = state.switch_file();
        let by_hand = fs::read_to_string(&file).expect("there").replace("1000", "2000");
        fs::write(&file, by_hand).expect("written");
        assert!(state.switched_off(Path::new("/w"), "3f2a-77").is_some_and(|off| !off.is_ours));
        assert_eq!(state.switched_off(Path::new("/w"), "4f2a-77"), None);
    }

    #[test]
    fn where_nothing_is_off_there_is_no_file_and_a_broken_one_is_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        state.throw(1_000, |all| all.projects.insert("/w".into(), NOW)).expect("thrown");
        assert!(folder.path().join("off.json").exists());
        state.throw(1_000, |all| all.projects.remove(Path::new("/w"))).expect("thrown");
        assert!(!folder.path().join("off.json").exists());
        state.throw(1_000, |all| all.projects.remove(Path::new("/w"))).expect("nothing to do");
        fs::write(folder.path().join("off.json"), "{").expect("broken");
        assert_eq!(state.switched_off(Path::new("/w"), "s"), None);
    }

    #[test]
    fn a_session_of_long_ago_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        state.throw(1_000, |all| all.sessions.insert("old".into(), NOW)).expect("thrown");
        let later = Thrown { at_ms: 2_000 + FORGET_MS, ..NOW };
        state.throw(later.at_ms, |all| all.sessions.insert("new".into(), later)).expect("thrown");
        assert_eq!(state.switches().sessions.into_keys().collect::<Vec<_>>(), ["new"]);
    }

    #[test]
    fn what_was_made_is_remembered_until_it_is_gone() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, file) = (StateFolder::at(folder.path()), Path::new("/w/.claude/settings.json"));
        assert_eq!(state.receipt(file), None);
        state.save_receipt(file, &[Created::Hooks]).expect("kept");
        state.save_receipt(file, &[Created::SubagentStop]).expect("kept");
        assert_eq!(state.receipt(file), Some([Created::Hooks, Created::SubagentStop].into()));
        assert_eq!(state.installs(), [file.to_path_buf()].into());
        state.drop_receipt(file);
        assert_eq!(state.receipt(file), None);
        assert_eq!(state.installs(), [file.to_path_buf()].into(), "what remains there is found later");
    }
}
