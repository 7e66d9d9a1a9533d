//! Where the client itself keeps what: takes its settings files and a folder, gives the folders of its plans and
//! of its transcripts. Must not take a folder outside the project from a file that a checkout may bring along.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

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
    let own = env.client_config_dir();
    let settings = [
        Some(project.join(".claude").join("settings.local.json")),
        Some(project.join(".claude").join("settings.json")),
        own.as_ref().map(|own| own.join("settings.json")),
    ];
    let configured = settings.into_iter().flatten().find_map(|file| plans_directory(&file));
    let inside = configured.map(|folder| project.join(folder)).filter(|folder| is_inside(folder, project));
    inside.into_iter().chain(own.map(|own| own.join("plans"))).collect()
}

fn plans_directory(settings: &Path) -> Option<String> {
    let settings: Value =
        serde_json::from_str(&std::io::read_to_string(open_regular(settings).ok()?).ok()?).ok()?;
    Some(settings.get("plansDirectory")?.as_str()?.to_owned())
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
}
