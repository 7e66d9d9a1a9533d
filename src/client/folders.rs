//! Where the client itself keeps what: takes its settings files and a folder, gives the folders of its plans and
//! of its transcripts, and the session that it has open. Must not take a folder outside the project from a file that a checkout may bring along.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::client::env_vars;
use crate::client::settings::files::Scope;
use crate::client::settings::registered_hooks::{Owner, our_hooks};
use crate::env::Env;
use crate::files::open_regular;

/// The folder of all transcripts, one folder in it for each project.
pub fn projects_folder(client_config_dir: &Path) -> PathBuf {
    client_config_dir.join("projects")
}

/// The folder with the transcripts of the sessions that were started in `cwd`, which must be a real path.
pub fn project_folder(client_config_dir: &Path, cwd: &Path) -> PathBuf {
    projects_folder(client_config_dir).join(project_name(cwd))
}

/// The client's name for a project: its path, with everything that is no ASCII letter or digit as a dash.
pub fn project_name(cwd: &Path) -> String {
    cwd.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The client's plan folders: the one that its settings name, where that is in the project, and its own.
pub fn plan_folders(env: &Env, project: &Path) -> Vec<PathBuf> {
    Settings::read(env, project).plan_folders(env, project)
}

/// The client's settings files, as far as they are there and can be read; the nearest first.
#[derive(Debug)]
pub struct Settings(Vec<(Scope, PathBuf, Value)>);

impl Settings {
    /// Reads those of a project and the person's own.
    pub fn read(env: &Env, project: &Path) -> Self {
        let files = Scope::ALL.into_iter().filter_map(|scope| Some((scope, scope.file(env, project)?)));
        Self(
            files
                .filter_map(|(scope, file)| Some((scope, json_in(&file)?, file)))
                .map(|(scope, json, file)| (scope, file, json))
                .collect(),
        )
    }

    /// See [`plan_folders`].
    pub fn plan_folders(&self, env: &Env, project: &Path) -> Vec<PathBuf> {
        let configured = self.0.iter().find_map(|(_, _, settings)| settings["plansDirectory"].as_str());
        let inside =
            configured.map(|folder| project.join(folder)).filter(|folder| is_inside(folder, project));
        inside.into_iter().chain(env_vars::config_dir(env).map(|own| own.join("plans"))).collect()
    }

    /// What is wrong with how the hook is registered: the client goes by `asyncRewake`, we go by `--background`, and one
    /// without the other is neither mode. (What a plugin registers is not looked at.)
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

/// The session that the client has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// Its id: another one after a `/clear`.
    pub session: String,
    /// Whether somebody sits before it; `-p` is nobody.
    pub is_interactive: bool,
    /// Since when a turn is under way, in milliseconds since 1970, if one is.
    pub busy_since_ms: Option<i64>,
}

/// The session that the client which runs us has open, as its own note on its process says. Seen in 2.1.221 and 2.1.325;
/// older ones write such notes (2.1.136), and do not tell their hooks which is theirs.
pub fn open_session(env: &Env) -> Option<OpenSession> {
    let process: u32 = env.text(env_vars::PID)?.parse().ok()?;
    let note = env_vars::config_dir(env)?.join("sessions").join(format!("{process}.json"));
    let note = json_in(&note)?;
    let text = |key: &str| note.get(key).and_then(Value::as_str);
    let is_busy = text("status").is_some_and(|status| status != "idle");
    Some(OpenSession {
        session: text("sessionId")?.to_owned(),
        is_interactive: text("entrypoint") == Some("cli"),
        busy_since_ms: note.get("statusUpdatedAt").and_then(Value::as_i64).filter(|_| is_busy),
    })
}

fn json_in(file: &Path) -> Option<Value> {
    serde_json::from_str(&std::io::read_to_string(open_regular(file).ok()?).ok()?).ok()
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
    fn the_clients_note_on_its_process_tells_which_session_is_open() {
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
            faults(r#"{"command":"/bin/punchlist","args":["hook","--background"],"asyncRewake":true}"#),
            ""
        );
        assert_eq!(
            faults(r#"{"command":"punchlist hook","asyncRewake":true}"#),
            "[folder]/home/.claude/settings.json: the hook is registered with \"asyncRewake\" without --background: \
             register `punchlist hook --background`, or take \"asyncRewake\" out"
        );
        assert_eq!(
            faults(r#"{"command":"punchlist hook --background"}"#),
            "[folder]/home/.claude/settings.json: the hook is registered with --background without \"asyncRewake\": \
             add \"asyncRewake\": true, or take --background out"
        );
        assert_eq!(faults("7"), "");
    }
}
