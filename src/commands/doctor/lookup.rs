//! What `doctor` looks up: the client, the settings files, the hooks of plugins, the state folder,
//! the log. Must not judge any of it, nor run anything but the client, with arguments that it
//! answers without its model.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use walkdir::WalkDir;

use crate::child::{Ended, Ending};
use crate::client::env_vars;
use crate::client::program::{find, run_plain};
use crate::client::settings::Scope;
use crate::client::settings::registered_hooks::Owner;
use crate::config::Config;
use crate::doctor::Check;
use crate::doctor::client::{ClientAnswers, has_auth_command};
use crate::doctor::registration::HookFile;
use crate::doctor::state::{DAYS, folder_check};
use crate::env::Env;
use crate::files::{in_private_folder, open_regular};
use crate::log::{DecisionLog, Record};
use crate::state::StateFolder;

/// How long the client may take for each answer.
const DEADLINE: Duration = Duration::from_secs(20);

/// Asks the client about itself; or returns why there is none.
pub(super) fn client(env: &Env, config: &Config) -> Result<ClientAnswers, String> {
    let path = find(env, config.auditor.client.as_deref()).map_err(|why| why.to_string())?;
    let version = ask(&path, &["--version"]).map(|said| said.trim().to_owned());
    let help = ask(&path, &["--help"]).unwrap_or_default();
    // Not logged in is exit code 1, with the answer on stdout.
    let auth = || run(&path, &["auth", "status", "--json"]).stdout;
    let auth = has_auth_command(&help).then(|| String::from_utf8_lossy(&auth()).into_owned());
    Ok(ClientAnswers {
        path: path.display().to_string(),
        version,
        help,
        auth,
        has_setup_token: env.get(env_vars::OAUTH_TOKEN).is_some(),
    })
}

fn run(client: &Path, args: &[&str]) -> Ended {
    run_plain(client, args, &[env_vars::OAUTH_TOKEN], DEADLINE)
}

fn ask(client: &Path, args: &[&str]) -> Result<String, String> {
    let ended = run(client, args);
    match ended.how {
        Ending::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        Ending::Exited(code) => Err(format!("exit code {code}")),
        Ending::TimedOut => Err(format!("nothing in {} s", DEADLINE.as_secs())),
        Ending::NotStarted(error) => Err(error.to_string()),
        how => Err(format!("{how:?}")),
    }
}

/// Returns every settings file that exists, the strongest first, and the hook files of every
/// enabled plugin.
pub(super) fn settings_files(env: &Env, project: &Path) -> Vec<HookFile> {
    let own =
        Scope::ALL.into_iter().filter_map(|scope| Some((Owner::Settings(scope), scope.file(env, project)?)));
    let mut files: Vec<HookFile> = Vec::new();
    for (owner, path) in iter::once((Owner::Managed, managed_settings())).chain(own) {
        // In the home folder, the project's file and the person's are the same.
        let is_known = files.iter().any(|file| Path::new(&file.path) == path);
        files.extend(settings_file(owner, &path).filter(|_| !is_known));
    }
    let plugins = env_vars::config_dir(env).map(|folder| plugin_hooks(&folder, &files)).unwrap_or_default();
    files.extend(plugins);
    files
}

/// Reads a file; `None` where there is none.
fn settings_file(owner: Owner, path: &Path) -> Option<HookFile> {
    let content = match open_regular(path).and_then(io::read_to_string) {
        Ok(text) if text.trim().is_empty() => Ok(Value::Null),
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return None;
        }
        Err(error) => Err(error.to_string()),
    };
    Some(HookFile { owner, path: path.display().to_string(), content })
}

/// Returns the hook files of enabled plugins, by the client's list of what is installed. `settings`
/// has the settings files, the strongest first; a plugin that none of them enables does not count.
fn plugin_hooks(client_config_dir: &Path, settings: &[HookFile]) -> Vec<HookFile> {
    let list = client_config_dir.join("plugins").join("installed_plugins.json");
    let Some(Ok(list)) = settings_file(Owner::Settings(Scope::User), &list).map(|file| file.content) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for (name, installed) in list["plugins"].as_object().into_iter().flatten() {
        let switch = settings.iter().find_map(|file| file.content.as_ref().ok()?["enabledPlugins"].get(name));
        if switch != Some(&Value::Bool(true)) {
            continue;
        }
        // An object up to 2.0, a list of them by scope later.
        let installs = installed.as_array().map_or_else(|| vec![installed], |list| list.iter().collect());
        let mut folders: Vec<PathBuf> = installs
            .into_iter()
            .filter_map(|install| install["installPath"].as_str().map(PathBuf::from))
            .collect();
        folders.dedup();
        for folder in folders {
            files.extend(hook_files(name, &folder));
        }
    }
    files
}

fn hook_files(name: &str, folder: &Path) -> Vec<HookFile> {
    let owner = || Owner::Plugin(name.to_owned());
    let mut files: Vec<_> =
        settings_file(owner(), &folder.join("hooks").join("hooks.json")).into_iter().collect();
    // A manifest may contain them.
    if let Some(manifest) = settings_file(owner(), &folder.join(".claude-plugin").join("plugin.json"))
        && let Ok(content) = &manifest.content
        && content["hooks"].is_object()
    {
        let inner = if content["hooks"]["hooks"].is_object() {
            &content["hooks"]["hooks"]
        } else {
            &content["hooks"]
        };
        files.push(HookFile { content: Ok(json!({ "hooks": inner })), ..manifest });
    }
    files
}

/// The settings file of an organisation.
fn managed_settings() -> PathBuf {
    let folder = if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else if cfg!(windows) {
        r"C:\Program Files\ClaudeCode"
    } else {
        "/etc/claude-code"
    };
    Path::new(folder).join("managed-settings.json")
}

/// Whether a program can be started by its name or path. Our plugin's script looks in two more
/// folders than the PATH.
pub(super) fn is_there(env: &Env, program: &str, owner: &Owner) -> bool {
    let home = env.home().unwrap_or_default();
    let mut folders = vec![];
    if matches!(owner, Owner::Plugin(_)) {
        folders.push(env.path("CARGO_HOME").unwrap_or_else(|| home.join(".cargo")).join("bin"));
        folders.push(home.join(".local").join("bin"));
    }
    let more = std::env::join_paths(folders).ok();
    [env.get("PATH"), more].into_iter().any(|path| which::which_in(program, path, &home).is_ok())
}

/// Checks the state folder by writing a file and removing it: permissions alone do not say whether
/// that works.
pub(super) fn state_folder(state: &StateFolder) -> Check {
    let root = state.root();
    let written = in_private_folder(root, || tempfile::NamedTempFile::new_in(root));
    let sizes = WalkDir::new(root).into_iter().filter_map(Result::ok);
    let sizes = sizes.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
    let error = written.err().map(|error| error.to_string());
    folder_check(&root.display().to_string(), sizes.map(|meta| meta.len()).sum(), error.as_deref())
}

/// Returns the records of the last days, and whether the log has any record.
pub(super) fn recent_records(state: &StateFolder) -> (Vec<Record>, bool) {
    let since = Timestamp::now().checked_sub((DAYS * 24).hours()).unwrap_or(Timestamp::UNIX_EPOCH);
    let (mut records, mut has_any) = (Vec::new(), false);
    let _ = DecisionLog::in_folder(state.root()).read(|record| {
        has_any = true;
        if record.time.parse::<Timestamp>().is_ok_and(|time| time >= since) {
            records.push(record);
        }
    });
    (records, has_any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Mark;

    #[test]
    fn a_settings_file_that_is_no_json_is_returned_and_one_that_is_missing_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Env::from_pairs([("HOME", folder.path())]);
        let work = folder.path().join("w");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        let ours = |files: Vec<HookFile>| -> Vec<HookFile> {
            files.into_iter().filter(|file| file.owner != Owner::Managed).collect()
        };
        assert_eq!(ours(settings_files(&env, &work)).len(), 0);
        write(".claude/settings.json", "{\"a\": 1} // mine");
        write("w/.claude/settings.local.json", "{}");
        write("w/.claude/settings.json", "");
        let files = ours(settings_files(&env, &work));
        assert_eq!(
            files.iter().map(|file| &file.owner).collect::<Vec<_>>(),
            [Scope::Local, Scope::Project, Scope::User].map(Owner::Settings).each_ref()
        );
        assert_eq!(
            files[2].content.as_ref().expect_err("no JSON"),
            "not JSON: trailing characters at line 1 column 10"
        );
        // In the home folder two of the names mean one file.
        assert_eq!(ours(settings_files(&env, folder.path())).len(), 1);
    }

    #[test]
    fn checking_the_state_folder_leaves_it_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "12345").expect("written");
        let check = state_folder(&StateFolder::at(folder.path()));
        assert_eq!((check.mark, check.found.ends_with(", 5 B")), (Mark::Fine, true), "{}", check.found);
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
        std::fs::write(folder.path().join("file"), "").expect("written");
        assert_eq!(state_folder(&StateFolder::at(folder.path().join("file/state"))).mark, Mark::Fault);
    }

    #[test]
    fn only_the_hooks_of_enabled_plugins_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, value: &Value| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, value.to_string()).expect("written");
        };
        let at = |name: &str| folder.path().join(name).display().to_string();
        write("on/hooks/hooks.json", &json!({"hooks": {"Stop": []}}));
        write("inline/.claude-plugin/plugin.json", &json!({"hooks": {"Stop": [1]}}));
        write("off/hooks/hooks.json", &json!({"hooks": {}}));
        write(
            "plugins/installed_plugins.json",
            &json!({"version": 2, "plugins": {
                "on@m": [{"scope": "user", "installPath": at("on")}],
                "inline@m": {"installPath": at("inline")},
                "off@m": [{"installPath": at("off")}],
                "unsaid@m": [{"installPath": at("off")}],
            }}),
        );
        let switches = |value: Value| HookFile {
            owner: Owner::Settings(Scope::User),
            path: "s".into(),
            content: Ok(json!({ "enabledPlugins": value })),
        };
        let settings = [
            switches(json!({"off@m": false})),
            switches(json!({"on@m": true, "inline@m": true, "off@m": true})),
        ];
        let found = plugin_hooks(folder.path(), &settings);
        let names: Vec<_> = found.iter().map(|file| &file.owner).collect();
        assert_eq!(names, [&Owner::Plugin("inline@m".into()), &Owner::Plugin("on@m".into())]);
        assert_eq!(found[0].content.as_ref().expect("JSON")["hooks"]["Stop"], json!([1]));
        assert_eq!(plugin_hooks(&folder.path().join("none"), &settings).len(), 0);
    }
}
