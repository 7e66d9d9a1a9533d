//! The hooks of the plugins that are switched on: takes the client's own note of what is installed (`plugins/installed_plugins.json`),
//! gives their hook files. Must not guess: a plugin that no settings file switches on does not count.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::look::settings_file;
use crate::client::settings::files::Scope;
use crate::client::settings::registered_hooks::Owner;
use crate::doctor::registration::SettingsFile;

/// The hook files. `settings` has the settings files, the strongest first.
pub(super) fn of(client_config_dir: &Path, settings: &[SettingsFile]) -> Vec<SettingsFile> {
    let note = client_config_dir.join("plugins").join("installed_plugins.json");
    let Some(Ok(note)) = settings_file(Owner::Settings(Scope::User), &note).map(|file| file.content) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for (name, installed) in note["plugins"].as_object().into_iter().flatten() {
        let switch = settings.iter().find_map(|file| file.content.as_ref().ok()?["enabledPlugins"].get(name));
        if switch != Some(&Value::Bool(true)) {
            continue;
        }
        // One install is an object to 2.0, a list of them, by scope, later.
        let installs = installed.as_array().map_or_else(|| vec![installed], |list| list.iter().collect());
        let mut folders: Vec<PathBuf> = installs
            .into_iter()
            .filter_map(|install| install["installPath"].as_str().map(PathBuf::from))
            .collect();
        folders.dedup();
        for folder in folders {
            files.extend(hooks_of(name, &folder));
        }
    }
    files
}

fn hooks_of(name: &str, folder: &Path) -> Vec<SettingsFile> {
    let owner = || Owner::Plugin(name.to_owned());
    let mut files: Vec<_> =
        settings_file(owner(), &folder.join("hooks").join("hooks.json")).into_iter().collect();
    // A manifest may have them in itself.
    if let Some(manifest) = settings_file(owner(), &folder.join(".claude-plugin").join("plugin.json"))
        && let Ok(content) = &manifest.content
        && content["hooks"].is_object()
    {
        let inner = if content["hooks"]["hooks"].is_object() {
            &content["hooks"]["hooks"]
        } else {
            &content["hooks"]
        };
        files.push(SettingsFile { content: Ok(json!({ "hooks": inner })), ..manifest });
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hooks_of_plugins_that_are_switched_on_count() {
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
        let switches = |value: Value| SettingsFile {
            owner: Owner::Settings(Scope::User),
            path: "s".into(),
            content: Ok(json!({ "enabledPlugins": value })),
        };
        let settings = [
            switches(json!({"off@m": false})),
            switches(json!({"on@m": true, "inline@m": true, "off@m": true})),
        ];
        let found = of(folder.path(), &settings);
        let names: Vec<_> = found.iter().map(|file| &file.owner).collect();
        assert_eq!(names, [&Owner::Plugin("inline@m".into()), &Owner::Plugin("on@m".into())]);
        assert_eq!(found[0].content.as_ref().expect("JSON")["hooks"]["Stop"], json!([1]));
        assert_eq!(of(&folder.path().join("none"), &settings).len(), 0);
    }
}
