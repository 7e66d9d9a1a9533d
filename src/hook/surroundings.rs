//! What decides about the gate and lies in files: the switch, both configs, and what the client's
//! settings say of punchlist. A change during a session is seen by what is there, whoever made it
//! and by whatever means, and told once. A switch that was thrown in the person's own terminal is
//! told in milder words: an agent can open one, too. Must not decide about the stop.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Value;

use crate::client::env_vars;
use crate::client::settings::Scope;
use crate::client::settings::registered_hooks::{Owner, our_hooks};
use crate::config::{own_file, project_file};
use crate::files::{changed_at, open_regular};
use crate::gates::StopContext;
use crate::ids::ContentId;
use crate::state::SwitchedOff;

/// What is there now, and what changed during the session.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// A digest of each by its name; empty for what does not exist.
    pub digests: BTreeMap<String, String>,
    /// A description of each change.
    pub changes: Vec<String>,
    /// Who threw the switch that lets this stop through, if that was during the session.
    pub thrown: Option<String>,
}

/// A larger file is not a config or settings that anybody wrote.
const MOST_BYTES: u64 = 1 << 20;

/// The names of the switch, and of what a person has allowed the project, among the digests; the
/// others are paths.
const SWITCH: &str = "switch";
const ALLOWED: &str = "allowed";

impl Surroundings {
    /// Reads the current files, and compares them with what was there when the session began. `off`
    /// is the switch in our own state that lets this stop through.
    pub fn look(stop: &StopContext<'_>, off: Option<&SwitchedOff>) -> Self {
        let known = &stop.saved().surroundings;
        let began = if known.is_empty() { began_at(stop) } else { None };
        let mut found = Self::default();
        for (path, digest, words) in files(stop) {
            let name = path.display().to_string();
            let is_changed = match known.get(&name) {
                Some(before) => *before != digest,
                None => is_since(began, &path),
            };
            if is_changed {
                found.changes.push(words);
            }
            found.digests.insert(name, digest);
        }
        let (digest, words) = allowed(stop);
        let is_allowed_anew = match known.get(ALLOWED) {
            Some(before) => *before != digest,
            None => !digest.is_empty() && is_since(began, &stop.state.allowed_file()),
        };
        found.changes.extend(words.filter(|_| is_allowed_anew));
        found.digests.insert(ALLOWED.to_owned(), digest);
        let digest = off.map(|off| ContentId::digest(format!("{off:?}"))).unwrap_or_default();
        let is_thrown = match known.get(SWITCH) {
            Some(before) => *before != digest,
            None => is_since(began, &stop.state.switch_file()),
        };
        // The time in a switch is what the clock said, and a clock can be told anything.
        let is_dated = |off: &SwitchedOff| known.contains_key(SWITCH) || is_newer(off, began);
        let words = |off| if is_dated(off) { thrower(off) } else { OLDER.to_owned() };
        found.thrown = off.filter(|_| is_thrown).map(words);
        found.digests.insert(SWITCH.to_owned(), digest);
        found
    }

    /// Returns everything the person should know, on one line.
    pub fn message(&self) -> Option<String> {
        let all: Vec<&str> = self.thrown.iter().chain(&self.changes).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// How a switch is told that says it is older than the session, in a file that was changed since.
const OLDER: &str = "it is off by a switch from before this session, in a file that was changed during it, \
                     maybe for another project. `punchlist on` switches it on again";

fn is_newer(off: &SwitchedOff, began: Option<SystemTime>) -> bool {
    let thrown = u64::try_from(off.thrown.at_ms).map(Duration::from_millis).unwrap_or_default();
    !off.is_ours
        || began.is_none_or(|began| SystemTime::UNIX_EPOCH.checked_add(thrown).is_none_or(|at| at >= began))
}

fn thrower(off: &SwitchedOff) -> String {
    let at = Timestamp::from_millisecond(off.thrown.at_ms).ok();
    let at = at.map(|at| at.strftime(" at %H:%M UTC").to_string()).unwrap_or_default();
    let who = if !off.is_ours {
        "by hand, in off.json".to_owned()
    } else if off.is_persons() {
        return format!("it was switched off{at} from a terminal. `punchlist on` switches it on again");
    } else if off.thrown.in_session {
        // The agent, or the person's own slash command: the client runs both.
        format!("from within it{at}")
    } else {
        let at = at.trim_start();
        let comma = if at.is_empty() { "" } else { ", " };
        format!("{at}{comma}not from an open terminal")
    };
    format!("it was switched off during this session, {who}. `punchlist on` switches it on again")
}

/// A digest of what a person has allowed this project, and how a change of it is told; empty where
/// that is nothing.
fn allowed(stop: &StopContext<'_>) -> (String, Option<String>) {
    let file = stop.state.allowed_file();
    let Some(allowed) = stop.state.allowed_if_sealed(stop.project) else {
        let words =
            format!("{} was written by hand during this session: nothing in it counts", file.display());
        return (ContentId::digest("by hand"), Some(words));
    };
    let words = "what this project may do was changed during this session, by `punchlist allow`".to_owned();
    let ids: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let digest = if ids.is_empty() { String::new() } else { ContentId::digest(ids.join("\n")) };
    (digest, Some(words))
}

/// Whether a file was changed since. Its time of change can't be set, other than the one of its
/// content.
fn is_since(began: Option<SystemTime>, path: &Path) -> bool {
    let changed = path.metadata().ok().and_then(|meta| changed_at(&meta));
    began.zip(changed).is_some_and(|(began, changed)| changed > began)
}

/// Returns when the session began, which is when the client creates its transcript. `None` if the
/// file system does not record that. (The client's own start would be too early: it writes its
/// settings after that.)
fn began_at(stop: &StopContext<'_>) -> Option<SystemTime> {
    stop.input.transcript_path.as_ref()?.metadata().ok()?.created().ok()
}

/// Returns each file with its digest, and the description of a change.
fn files(stop: &StopContext<'_>) -> Vec<(PathBuf, String, String)> {
    let configs = [Some(project_file(stop.project)), own_file(stop.env)].into_iter().flatten();
    let configs = configs.map(|path| {
        let digest = bytes_of(&path).map(ContentId::digest).unwrap_or_default();
        let words = format!("{} was changed during this session", path.display());
        (path, digest, words)
    });
    let settings =
        Scope::ALL.into_iter().filter_map(|scope| Some((scope, scope.file(stop.env, stop.project)?)));
    let settings = settings.map(|(scope, path)| {
        let bytes = bytes_of(&path).unwrap_or_default();
        // The client may read what a strict parser does not.
        let digest = match serde_json::from_slice(&bytes) {
            Ok(json) => settings_digest(&json, scope),
            Err(_) if bytes.is_empty() => String::new(),
            Err(_) => ContentId::digest(&bytes),
        };
        let words = format!("what {} says about punchlist was changed during this session", path.display());
        (path, digest, words)
    });
    configs.chain(settings).collect()
}

/// Variables that decide which programs run, or where they look and send.
const STEERING: [&str; 7] = [
    "PATH",
    "HOME",
    env_vars::CONFIG_DIR,
    env_vars::EXECPATH,
    "ANTHROPIC_BASE_URL",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
];

/// Returns a digest of what a settings file says about punchlist: its hooks, whether hooks run at
/// all, and the variables that move, disable or steer it; empty if it says nothing. The client itself
/// changes the rest while a session runs.
fn settings_digest(json: &Value, scope: Scope) -> String {
    let matters =
        |name: &str| name.starts_with("PUNCHLIST_") || name.starts_with("XDG_") || STEERING.contains(&name);
    let variables = json["env"].as_object().into_iter().flatten().filter(|(name, _)| matters(name));
    let mut said: Vec<String> = variables.map(|(name, value)| format!("{name}={value}")).collect();
    said.extend(json.get("disableAllHooks").map(|value| format!("disableAllHooks={value}")));
    let hooks = our_hooks(json, &Owner::Settings(scope)).into_iter();
    said.extend(hooks.map(|hook| format!("{} {} {} {}", hook.event, hook.line, hook.timeout, hook.is_async)));
    if said.is_empty() { String::new() } else { ContentId::digest(said.join("\n")) }
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_writes_into_its_settings_is_no_change() {
        let digest = |json: &str| settings_digest(&serde_json::from_str(json).expect("json"), Scope::User);
        assert_eq!(digest(r#"{"permissions":{"allow":["Bash"]},"env":{"A":"1"}}"#), "");
        let hook = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"punchlist hook"}]}]}}"#;
        assert_ne!(digest(hook), "");
        assert_eq!(digest(hook), digest(&hook.replace("{\"hooks\":{", "{\"model\":\"x\",\"hooks\":{")));
        for other in [
            "{}",
            r#"{"disableAllHooks":true}"#,
            r#"{"env":{"PUNCHLIST_OFF":"1"}}"#,
            r#"{"env":{"PUNCHLIST_HOME":"/tmp/x"}}"#,
            r#"{"env":{"PATH":"/tmp/x:/usr/bin"}}"#,
            r#"{"env":{"LD_PRELOAD":"/tmp/x.so"}}"#,
            r#"{"env":{"ANTHROPIC_BASE_URL":"http://localhost:1"}}"#,
            &hook.replace("hook\"", "hook --hook-timeout 1\""),
        ] {
            assert_ne!(digest(hook), digest(other), "{other}");
        }
    }
}
