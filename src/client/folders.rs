//! The client's folders of plans and transcripts, and its open session. Must not accept a folder
//! outside the project from a settings file, which may come with a checkout.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::env_vars;
use crate::client::row::rows_of;
use crate::client::settings::Scope;
use crate::client::settings::registered_hooks::{Owner, our_hooks};
use crate::env::Env;
use crate::files::{open_regular, read_bounded};

/// Returns the folder of all transcripts, with a subfolder for each project.
pub fn projects_folder(client_config_dir: &Path) -> PathBuf {
    client_config_dir.join("projects")
}

/// Returns the transcript folder of sessions started in `cwd`, which must be a real path.
pub fn project_folder(client_config_dir: &Path, cwd: &Path) -> PathBuf {
    projects_folder(client_config_dir).join(project_name(cwd))
}

/// Returns the client's name for a project: its path, with a dash for every character but ASCII
/// letters and digits.
pub fn project_name(cwd: &Path) -> String {
    cwd.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Returns the client's list of installed plugins.
pub fn installed_plugins(client_config_dir: &Path) -> PathBuf {
    client_config_dir.join("plugins").join("installed_plugins.json")
}

/// Returns the client's list of marketplaces that were added.
pub fn known_marketplaces(client_config_dir: &Path) -> PathBuf {
    client_config_dir.join("plugins").join("known_marketplaces.json")
}

/// Returns the client's plan folders: the one that its settings name, if that is inside the
/// project, and its default.
pub fn plan_folders(env: &Env, project: &Path) -> Vec<PathBuf> {
    Settings::read(env, project).plan_folders(env, project)
}

/// The client's settings files that exist and can be read, the strongest first.
#[derive(Debug)]
pub struct Settings(Vec<(Scope, PathBuf, Value)>);

impl Settings {
    pub fn read(env: &Env, project: &Path) -> Self {
        let files = Scope::ALL.into_iter().filter_map(|scope| Some((scope, scope.file(env, project)?)));
        Self(
            files
                .filter_map(|(scope, file)| Some((scope, json_in(&file)?, file)))
                .map(|(scope, json, file)| (scope, file, json))
                .collect(),
        )
    }

    pub fn plan_folders(&self, env: &Env, project: &Path) -> Vec<PathBuf> {
        let configured = self.0.iter().find_map(|(_, _, settings)| settings["plansDirectory"].as_str());
        let inside =
            configured.map(|folder| project.join(folder)).filter(|folder| is_inside(folder, project));
        inside.into_iter().chain(env_vars::config_dir(env).map(|own| own.join("plans"))).collect()
    }

    /// Returns what is wrong with the hook's registrations: the client obeys `asyncRewake`, we obey
    /// `--background`, and one without the other is neither mode. Registrations of plugins are not
    /// checked.
    pub fn registration_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (scope, file, settings) in &self.0 {
            let found = our_hooks(settings, &Owner::Settings(*scope))
                .into_iter()
                .filter_map(|ours| ours.mode_fault());
            faults.extend(found.map(|(what, next)| {
                format!("{}: the hook is registered with {what}: {next}", file.display())
            }));
        }
        faults.dedup();
        faults
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// Its id, which `/clear` changes.
    pub session: String,
    /// Whether it is interactive; false under `-p`.
    pub is_interactive: bool,
    /// The start of the current turn, in milliseconds since 1970.
    pub busy_since_ms: Option<i64>,
}

/// Returns the open session of the client that runs us, from the client's file about its process.
/// Seen in 2.1.221 and 2.1.325; 2.1.136 writes such files but does not give its process id to its
/// hooks.
pub fn open_session(env: &Env) -> Option<OpenSession> {
    let process: u32 = env.text(env_vars::PID)?.parse().ok()?;
    let file = env_vars::config_dir(env)?.join("sessions").join(format!("{process}.json"));
    let note = json_in(&file)?;
    let text = |key: &str| note.get(key).and_then(Value::as_str);
    let is_busy = text("status").is_some_and(|status| status != "idle");
    Some(OpenSession {
        session: text("sessionId")?.to_owned(),
        is_interactive: text("entrypoint") == Some("cli"),
        busy_since_ms: note.get("statusUpdatedAt").and_then(Value::as_i64).filter(|_| is_busy),
    })
}

/// Files of the client's internal helpers, which have copied rows or no work at all.
const NOT_WORKERS: &[&str] = &["agent-acompact-", "agent-aprompt_suggestion-"];

/// The first version that keeps a session's subagents in a folder of the session's own.
const OWN_FOLDER_SINCE: [u32; 3] = [2, 1, 17];

/// Returns the transcripts of a session's subagents: in a folder of their own from 2.1.17 on,
/// beside it in 2.0.x.
pub fn subagent_transcripts(transcript: &Path, version: Option<&str>) -> Vec<PathBuf> {
    let own = agent_files(&transcript.with_extension("").join("subagents"));
    // The folder of all sessions can be long, so it is only searched for a client that puts them
    // there.
    if !own.is_empty() || version.and_then(version_numbers).is_some_and(|version| version >= OWN_FOLDER_SINCE)
    {
        return own;
    }
    let Some((folder, session)) =
        transcript.parent().zip(transcript.file_stem().and_then(|stem| stem.to_str()))
    else {
        return Vec::new();
    };
    agent_files(folder).into_iter().filter(|file| session_in_rows(file).as_deref() == Some(session)).collect()
}

/// Returns the subagents' transcripts in a folder, sorted by name.
fn agent_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("agent-")
                && name.ends_with(".jsonl")
                && !NOT_WORKERS.iter().any(|start| name.starts_with(start))
                && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
        .map(|entry| entry.path())
        .collect();
    files.sort_unstable();
    files
}

/// Parses `2.1.17`.
fn version_numbers(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

/// Returns the session that the first rows of a transcript name.
pub fn session_in_rows(file: &Path) -> Option<String> {
    let start = BufReader::new(open_regular(file).ok()?.take(1 << 20));
    start.lines().map_while(Result::ok).find_map(|line| {
        let mut session = None;
        rows_of(line.as_bytes(), |row| session = session.take().or_else(|| row.session_id.owned()));
        session
    })
}

/// The largest settings file that is read: a checkout may bring one of any size.
pub const MOST_SETTINGS: u64 = 4 << 20;

/// Returns the JSON of one of the client's files; `None` if there is none that can be read.
pub fn json_in(file: &Path) -> Option<Value> {
    serde_json::from_str(&read_bounded(open_regular(file).ok()?, MOST_SETTINGS).ok()?).ok()
}

fn is_inside(folder: &Path, project: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real(folder).starts_with(real(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_settings_win_and_a_folder_outside_does_not_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let (project, home) = (folder.path().join("w"), folder.path().join("home"));
        let env = Env::from_pairs([("HOME", &home)]);
        let own = home.join(".claude/plans");
        let set = |file: &str, plans: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, format!("{{\"plansDirectory\":\"{plans}\"}}")).expect("written");
        };
        assert_eq!(plan_folders(&env, &project), std::slice::from_ref(&own));
        for (file, plans) in [
            ("home/.claude/settings.json", "mine"),
            ("w/.claude/settings.json", "ours"),
            ("w/.claude/settings.local.json", "here"),
        ] {
            fs::create_dir_all(project.join(plans)).expect("made");
            set(file, plans);
            assert_eq!(plan_folders(&env, &project), [project.join(plans), own.clone()], "{file}");
        }
        fs::create_dir_all(folder.path().join("outside")).expect("made");
        set("w/.claude/settings.local.json", "../outside");
        assert_eq!(plan_folders(&env, &project), [own]);
    }

    #[test]
    fn the_open_session_is_read_from_the_clients_file_about_its_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Env::from_pairs([
            ("CLAUDE_CONFIG_DIR", folder.path().as_os_str()),
            (env_vars::PID, "7".as_ref()),
        ]);
        assert_eq!(open_session(&env), None);
        let open = |note: &str| {
            fs::create_dir_all(folder.path().join("sessions")).expect("made");
            fs::write(folder.path().join("sessions/7.json"), note).expect("written");
            open_session(&env)
        };
        let idle = OpenSession { session: "s".into(), is_interactive: true, busy_since_ms: None };
        let note = r#"{"pid":7,"sessionId":"s","entrypoint":"cli","status":"idle","statusUpdatedAt":5}"#;
        assert_eq!(open(note), Some(idle.clone()));
        let busy = OpenSession { busy_since_ms: Some(5), ..idle.clone() };
        assert_eq!(open(&note.replace("idle", "busy")), Some(busy));
        // Under `-p`, 2.1.221 writes no status.
        let printing = OpenSession { is_interactive: false, ..idle };
        assert_eq!(open(r#"{"sessionId":"s","entrypoint":"sdk-cli"}"#), Some(printing));
        assert_eq!(open("{"), None);
    }

    #[test]
    fn a_registration_that_is_neither_mode_says_what_to_change() {
        let folder = tempfile::tempdir().expect("a folder");
        let (project, home) = (folder.path().join("w"), folder.path().join("home"));
        let env = Env::from_pairs([("HOME", &home)]);
        let faults = |hooks: &str| {
            let path = home.join(".claude/settings.json");
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{hooks}]}}]}}}}"#)).expect("written");
            let faults = Settings::read(&env, &project).registration_faults();
            faults.join("\n").replace(&folder.path().display().to_string(), "[folder]")
        };
        assert_eq!(faults(r#"{"command":"punchlist hook"},{"command":"other hook","asyncRewake":true}"#), "");
        assert_eq!(
            faults(r#"{"command":"punchlist hook --background"}"#),
            "[folder]/home/.claude/settings.json: the hook is registered with --background without \"asyncRewake\": \
             add \"asyncRewake\": true, or take --background out"
        );
        assert_eq!(faults("7"), "");
    }
}
