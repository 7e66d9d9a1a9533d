//! What `doctor` looks up: the client, the settings files, the state folder, the log. Gives what is there, and judges nothing.
//! Must not run anything but the client, and that only with words which it answers by itself.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use walkdir::WalkDir;

use super::plugins;
use crate::child::{Ended, Ending};
use crate::client::env_vars;
use crate::client::program::{find, run_plain};
use crate::client::settings::files::Scope;
use crate::client::settings::registered_hooks::Owner;
use crate::config::Config;
use crate::doctor::client::{ClientLook, knows_auth};
use crate::doctor::memory::MemoryLook;
use crate::doctor::past;
use crate::doctor::registration::SettingsFile;
use crate::env::Env;
use crate::files::{in_private_folder, open_regular};
use crate::log::{DecisionLog, Record};
use crate::state::StateFolder;

/// How long the client may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// The client, and what it says of itself.
pub(super) fn client(env: &Env, config: &Config) -> ClientLook {
    let path = match find(env, config.auditor.client.as_deref()) {
        Ok(path) => path,
        Err(why) => return ClientLook::Missing(why.to_string()),
    };
    let version = ask(&path, &["--version"]).map(|said| said.trim().to_owned());
    let help = ask(&path, &["--help"]).unwrap_or_default();
    let auth = knows_auth(&help).then(|| said_anyway(&path, &["auth", "status", "--json"]));
    ClientLook::Found {
        path: path.display().to_string(),
        version,
        help,
        auth,
        has_setup_token: env.get(env_vars::OAUTH_TOKEN).is_some(),
    }
}

fn run(client: &Path, args: &[&str]) -> Ended {
    run_plain(client, args, &[env_vars::OAUTH_TOKEN], PATIENCE)
}

fn ask(client: &Path, args: &[&str]) -> Result<String, String> {
    let ended = run(client, args);
    match ended.how {
        Ending::Exited(0) => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        Ending::Exited(code) => Err(format!("exit code {code}")),
        Ending::TimedOut => Err(format!("nothing in {} s", PATIENCE.as_secs())),
        Ending::NotStarted(error) => Err(error.to_string()),
        how => Err(format!("{how:?}")),
    }
}

/// What it printed, however it ended: a client that is not logged in says so with exit code 1.
fn said_anyway(client: &Path, args: &[&str]) -> String {
    String::from_utf8_lossy(&run(client, args).stdout).into_owned()
}

/// Every settings file that is there, the strongest first, and the hooks of every plugin that is switched on.
pub(super) fn settings_files(env: &Env, project: &Path) -> Vec<SettingsFile> {
    let own =
        Scope::ALL.into_iter().filter_map(|scope| Some((Owner::Settings(scope), scope.file(env, project)?)));
    let mut files: Vec<SettingsFile> = Vec::new();
    for (owner, path) in iter::once((Owner::Managed, managed_settings())).chain(own) {
        // In the home folder, the project's own file and the person's are one.
        let is_known = files.iter().any(|file| Path::new(&file.path) == path);
        files.extend(settings_file(owner, &path).filter(|_| !is_known));
    }
    let plugins = env_vars::config_dir(env).map(|folder| plugins::of(&folder, &files)).unwrap_or_default();
    files.extend(plugins);
    files
}

/// A file that is there.
pub(super) fn settings_file(owner: Owner, path: &Path) -> Option<SettingsFile> {
    let content = match open_regular(path).and_then(io::read_to_string) {
        Ok(text) if text.trim().is_empty() => Ok(Value::Null),
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return None;
        }
        Err(error) => Err(error.to_string()),
    };
    Some(SettingsFile { owner, path: path.display().to_string(), content })
}

/// Where an organisation's settings are.
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

/// Whether a program can be started by its name or path. The plugin looks beyond the PATH, where `cargo install` puts it.
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

/// The state folder. A file is written there and removed again, since nothing else tells whether one can be.
pub(super) fn memory(state: &StateFolder) -> MemoryLook {
    let root = state.root();
    let written = in_private_folder(root, || tempfile::NamedTempFile::new_in(root));
    let sizes = WalkDir::new(root).into_iter().filter_map(Result::ok);
    let sizes = sizes.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
    MemoryLook {
        path: root.display().to_string(),
        writable: written.map(drop).map_err(|error| error.to_string()),
        bytes: sizes.map(|meta| meta.len()).sum(),
    }
}

/// The records of the last days, and whether there are any older ones.
pub(super) fn past(state: &StateFolder) -> (Vec<Record>, bool) {
    let since = Timestamp::now().checked_sub((past::DAYS * 24).hours()).unwrap_or(Timestamp::UNIX_EPOCH);
    let (mut records, mut ever) = (Vec::new(), false);
    let _ = DecisionLog::in_folder(state.root()).read(|record| {
        ever = true;
        if record.time.parse::<Timestamp>().is_ok_and(|time| time >= since) {
            records.push(record);
        }
    });
    (records, ever)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_settings_file_that_is_no_json_is_told_and_one_that_is_missing_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let env = Env::from_pairs([("HOME", folder.path())]);
        let work = folder.path().join("w");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        let ours = |files: Vec<SettingsFile>| -> Vec<SettingsFile> {
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
    fn the_state_folder_is_tried_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a"), "12345").expect("written");
        let look = memory(&StateFolder::at(folder.path()));
        assert_eq!((look.writable, look.bytes), (Ok(()), 5));
        assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 1);
        std::fs::write(folder.path().join("file"), "").expect("written");
        assert!(memory(&StateFolder::at(folder.path().join("file/state"))).writable.is_err());
    }
}
