//! What decides about the gate and lies in files: the switch, both configs, and what the client's settings say of
//! punchlist. A change during a session is seen by what is there, whoever made it and by whatever means, and told once.
//! A switch that was thrown in the person's own terminal is honoured silently. Must not decide about the stop.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Value;

use crate::client::settings::Scope;
use crate::client::settings::registered_hooks::{Owner, our_hooks};
use crate::config::{own_file, project_file};
use crate::files::{changed_at, open_regular};
use crate::gates::StopContext;
use crate::ids::ContentId;
use crate::state::SwitchedOff;

/// What is there now, and what of it changed during the session.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// A digest of each by its name; empty for what is not there.
    pub digests: BTreeMap<String, String>,
    /// What changed, each in words.
    pub changes: Vec<String>,
    /// Who threw the switch that lets this stop through, where the person should know.
    pub thrown: Option<String>,
}

/// More is no config or settings that anybody wrote.
const MOST_BYTES: u64 = 1 << 20;

/// The name of the switch among the digests; the others are paths.
const SWITCH: &str = "switch";

impl Surroundings {
    /// Looks at what is there, and compares it with what was there when the session began. `off` is the switch in our
    /// own state that lets this stop through.
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
        let digest = off.map(|off| ContentId::of(format!("{off:?}"))).unwrap_or_default();
        let is_thrown = match known.get(SWITCH) {
            Some(before) => *before != digest,
            // One that says of itself that it is older is believed, if punchlist wrote it.
            None => is_since(began, &stop.state.switch_file()) && off.is_some_and(|off| is_newer(off, began)),
        };
        found.thrown = off.filter(|off| is_thrown && !off.is_persons()).map(thrower);
        found.digests.insert(SWITCH.to_owned(), digest);
        found
    }

    /// All that the person should know, in one line.
    pub fn words(&self) -> Option<String> {
        let all: Vec<&str> = self.thrown.iter().chain(&self.changes).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

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
    } else if off.thrown.in_session {
        format!("by the agent itself{at}")
    } else {
        format!("{} from no terminal that is open now", at.trim_start())
    };
    format!("it was switched off during this session, {who}. `punchlist on` switches it on again")
}

/// Whether a file was changed since. Its time of change can't be set, other than the one of its content.
fn is_since(began: Option<SystemTime>, path: &Path) -> bool {
    let changed = path.metadata().ok().and_then(|meta| changed_at(&meta));
    began.zip(changed).is_some_and(|(began, changed)| changed > began)
}

/// When the session began: the client makes its transcript then. `None` where the file system does not tell.
fn began_at(stop: &StopContext<'_>) -> Option<SystemTime> {
    stop.input.transcript_path.as_ref()?.metadata().ok()?.created().ok()
}

/// Each file with its digest, and how a change of it is told.
fn files(stop: &StopContext<'_>) -> Vec<(PathBuf, String, String)> {
    let configs = [Some(project_file(stop.project)), own_file(stop.env)].into_iter().flatten();
    let configs = configs.map(|path| {
        let digest = bytes_of(&path).map(ContentId::of).unwrap_or_default();
        let words = format!("{} was changed during this session", path.display());
        (path, digest, words)
    });
    let settings =
        Scope::ALL.into_iter().filter_map(|scope| Some((scope, scope.file(stop.env, stop.project)?)));
    let settings = settings.map(|(scope, path)| {
        let json = bytes_of(&path).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let digest = json.map(|json| settings_digest(&json, scope)).unwrap_or_default();
        let words = format!("what {} says of punchlist was changed during this session", path.display());
        (path, digest, words)
    });
    configs.chain(settings).collect()
}

/// A digest of what a settings file says of punchlist: its hooks, whether hooks run at all, and the variables that
/// move or switch it; empty where it says nothing. The client itself changes the rest while a session runs.
fn settings_digest(json: &Value, scope: Scope) -> String {
    let is_ours = |name: &str| name.starts_with("PUNCHLIST_") || name.starts_with("XDG_");
    let variables = json["env"].as_object().into_iter().flatten().filter(|(name, _)| is_ours(name));
    let mut said: Vec<String> = variables.map(|(name, value)| format!("{name}={value}")).collect();
    said.extend(json.get("disableAllHooks").map(|value| format!("disableAllHooks={value}")));
    let hooks = our_hooks(json, &Owner::Settings(scope)).into_iter();
    said.extend(hooks.map(|hook| format!("{} {} {} {}", hook.event, hook.line, hook.timeout, hook.is_async)));
    if said.is_empty() { String::new() } else { ContentId::of(said.join("\n")) }
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
            &hook.replace("hook\"", "hook --hook-timeout 1\""),
        ] {
            assert_ne!(digest(hook), digest(other), "{other}");
        }
    }
}
