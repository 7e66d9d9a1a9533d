//! The hook's registrations in the client's settings files, and what is wrong with each.

use std::collections::BTreeSet;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Check, Mark};
use crate::client::folders::MOST_SETTINGS;
use crate::client::settings::registered_hooks::{OurHook, Owner, PROMPT_SUBMIT, SESSION_START, our_hooks};
use crate::client::settings::registration::HOOK_TIMEOUT;
use crate::client::settings::{Scope, managed_file};
use crate::client::{env_vars, folders};
use crate::config::Config;
use crate::env::Env;
use crate::files::{open_regular, read_bounded};

/// A file of the client that may register hooks.
#[derive(Debug, Clone)]
struct HookFile {
    owner: Owner,
    path: String,
    /// Its JSON, or why it can't be read.
    content: Result<Value, String>,
}

pub fn checks(env: &Env, project: &Path, config: &Config) -> Vec<Check> {
    judge(&settings_files(env, project), config, &|program, owner| is_there(env, program, owner))
}

/// Returns every settings file that exists, the strongest first, and the hook files of every
/// enabled plugin.
fn settings_files(env: &Env, project: &Path) -> Vec<HookFile> {
    let own =
        Scope::ALL.into_iter().filter_map(|scope| Some((Owner::Settings(scope), scope.file(env, project)?)));
    let mut files: Vec<HookFile> = Vec::new();
    for (owner, path) in iter::once((Owner::Managed, managed_file())).chain(own) {
        // In the home folder, the project's file is the person's.
        let is_known = files.iter().any(|file| Path::new(&file.path) == path);
        files.extend(settings_file(owner, &path).filter(|_| !is_known));
    }
    let plugins = env_vars::config_dir(env).map(|folder| plugin_hooks(&folder, &files)).unwrap_or_default();
    files.extend(plugins);
    files
}

fn settings_file(owner: Owner, path: &Path) -> Option<HookFile> {
    let content = match open_regular(path).and_then(|file| read_bounded(file, MOST_SETTINGS)) {
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
    let switches =
        || settings.iter().filter_map(|file| file.content.as_ref().ok()?["enabledPlugins"].as_object());
    let names: BTreeSet<&String> = switches().flat_map(|switches| switches.keys()).collect();
    let is_on =
        |name: &String| switches().find_map(|switches| switches.get(name)) == Some(&Value::Bool(true));
    let installed = json_in(&folders::installed_plugins(client_config_dir));
    let marketplaces = json_in(&folders::known_marketplaces(client_config_dir)).unwrap_or_default();
    let mut files = Vec::new();
    for name in names.into_iter().filter(|name| is_on(name)) {
        let mut folders: Vec<PathBuf> = match &installed {
            // An object up to 2.0, a list of them by scope later.
            Some(list) => {
                let installs = &list["plugins"][name];
                let installs =
                    installs.as_array().map_or_else(|| vec![installs], |list| list.iter().collect());
                installs
                    .into_iter()
                    .filter_map(|one| one["installPath"].as_str().map(PathBuf::from))
                    .collect()
            }
            None => folder_in_marketplace(name, &marketplaces).into_iter().collect(),
        };
        folders.dedup();
        for folder in folders {
            files.extend(hook_files(name, &folder));
        }
    }
    files
}

/// Returns where a client without a list of installed plugins runs one (2.0.32): in the folder of
/// its marketplace.
fn folder_in_marketplace(name: &str, marketplaces: &Value) -> Option<PathBuf> {
    let (plugin, marketplace) = name.split_once('@')?;
    let folder = Path::new(marketplaces[marketplace]["installLocation"].as_str()?);
    let offered = json_in(&folder.join(".claude-plugin").join("marketplace.json"))?;
    let offered = offered["plugins"].as_array()?.iter().find(|one| one["name"] == plugin)?;
    // Without the `.` of `./plugin`.
    Some(folder.join(offered["source"].as_str()?).components().collect())
}

fn json_in(path: &Path) -> Option<Value> {
    settings_file(Owner::Settings(Scope::User), path)?.content.ok()
}

fn hook_files(name: &str, folder: &Path) -> Vec<HookFile> {
    let owner = || Owner::Plugin(name.to_owned());
    let mut files: Vec<_> =
        settings_file(owner(), &folder.join("hooks").join("hooks.json")).into_iter().collect();
    // A manifest may contain hooks.
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

/// Returns whether a program can be started by its name or path. Our plugin's script looks in two
/// more folders than PATH.
fn is_there(env: &Env, program: &str, owner: &Owner) -> bool {
    let home = env.home().unwrap_or_default();
    let mut folders = vec![];
    if matches!(owner, Owner::Plugin(_)) {
        folders.push(env.path("CARGO_HOME").unwrap_or_else(|| home.join(".cargo")).join("bin"));
        folders.push(home.join(".local").join("bin"));
    }
    let more = std::env::join_paths(folders).ok();
    [env.get("PATH"), more].into_iter().any(|path| which::which_in(program, path, &home).is_ok())
}

fn fault(found: impl Into<String>, next: impl Into<String>) -> Check {
    Check::fault("hook", found, next)
}

fn note(found: impl Into<String>, next: impl Into<String>) -> Check {
    Check::note("hook", found, next)
}

/// `is_there` tells whether a program that such a file names can be started.
fn judge(files: &[HookFile], config: &Config, is_there: &dyn Fn(&str, &Owner) -> bool) -> Vec<Check> {
    let unreadable = files.iter().filter_map(|file| Some((&file.path, file.content.as_ref().err()?)));
    let unreadable =
        unreadable.map(|(path, why)| fault(format!("{path}: {why}"), "fix it: a hook in it can't be seen"));
    let mut checks: Vec<Check> = unreadable.collect();
    let of_file = |file: &HookFile| {
        file.content.as_ref().map(|content| our_hooks(content, &file.owner)).unwrap_or_default()
    };
    let all: Vec<(&HookFile, OurHook)> =
        files.iter().flat_map(|file| of_file(file).into_iter().map(move |hook| (file, hook))).collect();
    let of_stop = all.iter().filter(|(_, hook)| hook.event == "Stop").count();
    if of_stop == 0 {
        checks.push(fault(
            "not registered on Stop in any settings file or plugin",
            "`punchlist install` registers it for this project, `punchlist install --user` for all of yours",
        ));
    }
    for (file, hook) in &all {
        let faults = faults(&file.owner, hook, config, is_there);
        // A tick above a cross on the same registration would be misread.
        let mark = if faults.is_empty() { Mark::Fine } else { Mark::Note };
        let mode = if hook.is_async { ", in the background" } else { "" };
        let OurHook { event, line, timeout, .. } = hook;
        let (path, owner) = (&file.path, file.owner.name());
        let found = format!("{event} in {path} ({owner}): `{line}`, {timeout} s{mode}");
        checks.push(Check { mark, ..Check::fine("hook", found) });
        checks.extend(faults);
    }
    if of_stop > 1 {
        checks.push(note(
            format!("registered {of_stop} times on Stop; each stop is still audited only once"),
            "one of them is enough; `punchlist uninstall` takes out what `install` put in",
        ));
    }
    if config.memory.is_set() && !all.iter().any(|(_, hook)| hook.event == SESSION_START) {
        checks.push(fault(
            "[memory] is set, and the hook is not registered on SessionStart: no session is given it",
            "`punchlist install` adds it to what is registered",
        ));
    }
    // The plugin's stops are waited for.
    let is_background =
        all.iter().any(|(_, hook)| hook.event == "Stop" && hook.is_async && hook.is_background);
    if is_background && !all.iter().any(|(_, hook)| hook.event == PROMPT_SUBMIT) {
        checks.push(note(
            "the hook runs in the background, and is not registered on UserPromptSubmit: what it has to tell waits until \
             the session is resumed or compacted",
            "`punchlist install` adds it to what is registered",
        ));
    }
    let is_managed = all.iter().any(|(file, _)| file.owner == Owner::Managed);
    for file in files.iter().filter(|file| !matches!(file.owner, Owner::Plugin(_))) {
        let (Ok(content), path) = (&file.content, &file.path) else { continue };
        if content["disableAllHooks"] == true {
            let next = "take \"disableAllHooks\" out: no hook runs with it";
            checks.push(fault(format!("{path} switches all hooks off"), next));
        }
        if file.owner == Owner::Managed && content["allowManagedHooksOnly"] == true && !is_managed {
            let next = "ask whoever manages it to register punchlist there";
            checks.push(fault(format!("{path} allows managed hooks only"), next));
        }
    }
    checks
}

fn faults(
    owner: &Owner,
    hook: &OurHook,
    config: &Config,
    is_there: &dyn Fn(&str, &Owner) -> bool,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let gone = hook.program.as_ref().filter(|program| !is_there(program, owner));
    if let Some(program) = gone.filter(|_| hook.fallback.is_some_and(|other| is_there(other, owner))) {
        checks.push(note(
            format!("there is no program {program}; the punchlist on the PATH is run in its place"),
            "`punchlist install` registers that one by its own path",
        ));
    } else if let Some(program) = gone {
        let next = match owner {
            Owner::Plugin(_) => "put it on the PATH, or `npm install -g punchlist`",
            _ => "`punchlist install` registers this one by its own path",
        };
        checks.push(fault(format!("there is no program {program}"), next));
    }
    let (timeout, expected) = (hook.timeout, hook.hook_timeout.unwrap_or(HOOK_TIMEOUT));
    if timeout < expected {
        checks.push(fault(
            format!("the client ends it after {timeout} s, but it counts on {expected} s"),
            format!("raise \"timeout\" to {expected}, or register `--hook-timeout {timeout}`"),
        ));
    }
    if let Some((what, next)) = hook.mode_fault() {
        checks.push(fault(format!("registered with {what}"), next));
    } else if hook.is_async && hook.event != "Stop" {
        let found = match hook.event {
            SESSION_START => "a session does not wait for what it is to be given in the background",
            PROMPT_SUBMIT => "a prompt does not wait for what is to be shown in the background",
            _ => "a subagent is gone when its audit ends in the background",
        };
        let event = hook.event;
        let next = format!("register {event} without --background and without \"asyncRewake\"");
        checks.push(fault(found, next));
    }
    // No reader is asked when a session starts, nor at a prompt.
    if [SESSION_START, PROMPT_SUBMIT].contains(&hook.event) {
        return checks;
    }
    let time = timeout.min(expected);
    let (reader, longest) = (config.auditor.timeout.as_secs(), config.longest_stop().as_secs());
    if reader >= time {
        checks.push(note(
            format!("the first reader may take {reader} s, but the hook has {time} s"),
            format!(
                "raise \"timeout\" and --hook-timeout over {reader}, or lower `[auditor] timeout`: it is cut short until then"
            ),
        ));
    } else if (!config.checks.is_empty() || config.feature_loop.verify.is_some()) && longest >= time {
        checks.push(note(
            format!("checks and first reader together may take {longest} s, but the hook has {time} s"),
            "`punchlist install` raises it: a check that takes long is cut short until then",
        ));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    fn file(owner: Owner, content: Value) -> HookFile {
        let path = format!("/{}.json", owner.name().replace(' ', "-"));
        HookFile { owner, path, content: Ok(content) }
    }

    fn with(hook: &Value) -> Value {
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "other hook"}, hook]}]}})
    }

    /// One line for each check, its mark first.
    fn lines_with(files: &[HookFile], config: &Config) -> Vec<String> {
        let line = |check: Check| {
            let mark = ["+", ".", "-"][check.mark as usize];
            let next = check.next.map(|next| format!(" -> {next}")).unwrap_or_default();
            format!("{mark} {}{next}", check.found)
        };
        judge(files, config, &|program, _| program != "/gone/punchlist").into_iter().map(line).collect()
    }

    fn lines(files: &[HookFile]) -> Vec<String> {
        lines_with(files, &Config::default())
    }

    #[test]
    fn a_registration_is_listed_and_its_absence_is_a_fault() {
        let hook = json!({"command": "/x/punchlist", "args": ["hook"]});
        assert_eq!(
            lines(&[file(Owner::Settings(Scope::User), with(&hook))]),
            ["+ Stop in /user.json (user): `/x/punchlist hook`, 600 s"]
        );
        let none = "- not registered on Stop in any settings file or plugin -> `punchlist install` registers it for this \
                    project, `punchlist install --user` for all of yours";
        assert_eq!(lines(&[]), [none]);
        assert_eq!(lines(&[file(Owner::Settings(Scope::User), json!({"hooks": 7}))]), [none]);
    }

    #[test]
    fn our_plugin_needs_the_program_on_the_path() {
        let hook = json!({"command": "sh \"${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh\"", "timeout": 120});
        let content = json!({"hooks": {"Stop": [{"hooks": [hook]}]}});
        let plugin = |name: &str| [file(Owner::Plugin(name.into()), content.clone())];
        let found = judge(&plugin("punchlist@m"), &Config::default(), &|program, _| program != "punchlist");
        let found: Vec<_> = found.iter().map(|check| check.found.as_str()).collect();
        assert_eq!(
            found,
            [
                "Stop in /plugin-punchlist@m.json (plugin punchlist@m): `sh \"${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh\"`, 120 s",
                "there is no program punchlist"
            ]
        );
        assert!(lines(&plugin("other@m"))[0].starts_with("- not registered on Stop"));
    }

    #[test]
    fn each_fault_says_what_to_change() {
        let hook = json!({"command": "/gone/punchlist hook", "timeout": 30, "asyncRewake": true});
        insta::assert_snapshot!(lines(&[file(Owner::Settings(Scope::Local), with(&hook))]).join("\n"));
    }

    #[test]
    fn session_start_has_checks_of_its_own() {
        let stop = json!({"command": "punchlist hook", "timeout": 120});
        let with_start = |start: Value| {
            let mut content = with(&stop);
            content["hooks"]["SessionStart"] = json!([{"hooks": [start]}]);
            [file(Owner::Settings(Scope::User), content)]
        };
        let fine = with_start(json!({"command": "punchlist hook --hook-timeout 10", "timeout": 10}));
        assert_eq!(
            lines(&fine)[1],
            "+ SessionStart in /user.json (user): `punchlist hook --hook-timeout 10`, 10 s"
        );
        let behind = json!({"command": "punchlist hook --hook-timeout 10 --background", "timeout": 10, "asyncRewake": true});
        assert_eq!(
            lines(&with_start(behind))[2],
            "- a session does not wait for what it is to be given in the background -> register SessionStart without \
             --background and without \"asyncRewake\""
        );
        let mut config = Config::default();
        config.memory.mandates.push("Be kind.".into());
        assert_eq!(
            lines_with(&[file(Owner::Settings(Scope::User), with(&stop))], &config)[1],
            "- [memory] is set, and the hook is not registered on SessionStart: no session is given it -> `punchlist \
             install` adds it to what is registered"
        );
        assert_eq!(lines_with(&fine, &config).len(), 2);
    }

    #[test]
    fn what_runs_in_the_background_needs_a_prompt_to_tell_anything() {
        let stop = json!({"command": "punchlist hook --background", "timeout": 120, "asyncRewake": true});
        let missing = ". the hook runs in the background, and is not registered on UserPromptSubmit: what it has to tell \
                       waits until the session is resumed or compacted -> `punchlist install` adds it to what is registered";
        assert_eq!(lines(&[file(Owner::Settings(Scope::User), with(&stop))])[1..], [missing]);
        let with_prompt = |prompt: Value| {
            let mut content = with(&stop);
            content["hooks"]["UserPromptSubmit"] = json!([{"hooks": [prompt]}]);
            lines(&[file(Owner::Settings(Scope::User), content)])
        };
        let fine = json!({"command": "punchlist hook --hook-timeout 10", "timeout": 10});
        assert_eq!(
            with_prompt(fine)[1..],
            ["+ UserPromptSubmit in /user.json (user): `punchlist hook --hook-timeout 10`, 10 s"]
        );
        let behind = json!({"command": "punchlist hook --hook-timeout 10 --background", "timeout": 10, "asyncRewake": true});
        assert_eq!(
            with_prompt(behind)[2],
            "- a prompt does not wait for what is to be shown in the background -> register UserPromptSubmit without \
             --background and without \"asyncRewake\""
        );
    }

    #[test]
    fn two_registrations_a_plugin_and_disabled_hooks_are_reported() {
        let hook = json!({"command": "punchlist hook", "timeout": 120});
        let mut managed = json!({"allowManagedHooksOnly": true});
        managed["disableAllHooks"] = json!(true);
        let broken = HookFile {
            owner: Owner::Settings(Scope::Project),
            path: "/broken.json".into(),
            content: Err("line 1: no JSON".into()),
        };
        let files = [
            file(Owner::Managed, managed),
            broken,
            file(Owner::Settings(Scope::User), with(&hook)),
            file(Owner::Plugin("tools@m".into()), with(&hook)),
        ];
        insta::assert_snapshot!(lines(&files).join("\n"));
    }

    #[test]
    fn a_settings_file_that_is_no_json_is_returned_and_one_that_is_missing_is_not() {
        let folder = Folder::new(&[]);
        let env = Env::from_pairs([("HOME", folder.path())]);
        let work = folder.root();
        let ours = |files: Vec<HookFile>| -> Vec<HookFile> {
            files.into_iter().filter(|file| file.owner != Owner::Managed).collect()
        };
        assert_eq!(ours(settings_files(&env, &work)).len(), 0);
        folder.write("../.claude/settings.json", "{\"a\": 1} // mine");
        folder.write(".claude/settings.local.json", "{}");
        folder.write(".claude/settings.json", "");
        let files = ours(settings_files(&env, &work));
        assert_eq!(
            files.iter().map(|file| &file.owner).collect::<Vec<_>>(),
            [Scope::Local, Scope::Project, Scope::User].map(Owner::Settings).each_ref()
        );
        assert_eq!(
            files[2].content.as_ref().expect_err("no JSON"),
            "not JSON: trailing characters at line 1 column 10"
        );
        // In the home folder two of the names are the same file.
        assert_eq!(ours(settings_files(&env, folder.path())).len(), 1);
    }

    #[test]
    fn only_the_hooks_of_enabled_plugins_count() {
        let folder = Folder::new(&[]);
        let write = |path: &str, value: &Value| folder.write(path, &value.to_string());
        let at = |name: &str| folder.root().join(name).display().to_string();
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
        let found = plugin_hooks(&folder.root(), &settings);
        let names: Vec<_> = found.iter().map(|file| &file.owner).collect();
        assert_eq!(names, [&Owner::Plugin("inline@m".into()), &Owner::Plugin("on@m".into())]);
        assert_eq!(found[0].content.as_ref().expect("JSON")["hooks"]["Stop"], json!([1]));
        assert_eq!(plugin_hooks(&folder.path().join("none"), &settings).len(), 0);
    }

    /// Seen with 2.0.32, which writes no list of what is installed.
    #[test]
    fn a_plugin_of_a_client_that_lists_none_was_not_found() {
        let folder = Folder::new(&[]);
        let at = folder.root().join("checkout").display().to_string();
        let known = json!({"m": {"source": {"source": "directory", "path": at}, "installLocation": at}});
        folder.write("plugins/known_marketplaces.json", &known.to_string());
        let offered = json!({"name": "m", "plugins": [{"name": "p", "source": "./plugin"}]});
        folder.write("checkout/.claude-plugin/marketplace.json", &offered.to_string());
        folder.write("checkout/plugin/hooks/hooks.json", r#"{"hooks": {"Stop": [1]}}"#);
        let settings = [HookFile {
            owner: Owner::Settings(Scope::User),
            path: "s".into(),
            content: Ok(json!({"enabledPlugins": {"p@m": true, "other@m": true, "p@elsewhere": true}})),
        }];
        let found = plugin_hooks(&folder.root(), &settings);
        let owners: Vec<_> = found.iter().map(|file| &file.owner).collect();
        assert_eq!(owners, [&Owner::Plugin("p@m".into())]);
        // One that keeps a list has not installed what is not on it.
        folder.write("plugins/installed_plugins.json", r#"{"version": 2, "plugins": {}}"#);
        assert_eq!(plugin_hooks(&folder.root(), &settings).len(), 0);
    }
}
