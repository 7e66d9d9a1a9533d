//! The hook's registrations in the client's settings files, and what is wrong with each. Pure.

use serde_json::Value;

use super::{Check, Mark};
use crate::client::settings::registered_hooks::{OurHook, Owner, SESSION_START, our_hooks};
use crate::client::settings::registration::HOOK_TIMEOUT;
use crate::config::{Config, Mode};

/// A file of the client that may register hooks.
#[derive(Debug, Clone)]
pub struct HookFile {
    /// Whose it is.
    pub owner: Owner,
    pub path: String,
    /// Its JSON, or why it can't be read.
    pub content: Result<Value, String>,
}

/// One registration of our hook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Registration {
    owner: Owner,
    path: String,
    hook: OurHook,
}

fn registrations(files: &[HookFile]) -> Vec<Registration> {
    let of_file = |file: &HookFile| {
        let hooks = file.content.as_ref().map(|content| our_hooks(content, &file.owner)).unwrap_or_default();
        let (owner, path) = (file.owner.clone(), file.path.clone());
        hooks.into_iter().map(move |hook| Registration { owner: owner.clone(), path: path.clone(), hook })
    };
    files.iter().flat_map(of_file).collect()
}

/// Checks all registrations. `is_there` says whether a program that such a file names can be
/// started.
pub fn checks(files: &[HookFile], config: &Config, is_there: &dyn Fn(&str, &Owner) -> bool) -> Vec<Check> {
    const NAME: &str = "hook";
    let mut checks: Vec<Check> = files.iter().filter_map(unreadable).collect();
    let all = registrations(files);
    let of_stop: Vec<_> = all.iter().filter(|one| one.hook.event == "Stop").collect();
    if of_stop.is_empty() {
        checks.push(Check::fault(
            NAME,
            "not registered on Stop in any settings file or plugin",
            "`punchlist install` registers it for this project, `punchlist install --user` for all of yours",
        ));
    }
    for one in &all {
        let faults = faults(one, config, is_there);
        // A tick above a cross on the same registration would be misread.
        let mark = if faults.is_empty() { Mark::Fine } else { Mark::Note };
        checks.push(Check { mark, ..summary(one) });
        checks.extend(faults);
    }
    if of_stop.len() > 1 {
        let found =
            format!("registered {} times on Stop; each stop is audited once all the same", of_stop.len());
        checks.push(Check::note(
            NAME,
            found,
            Some("one of them is enough; `punchlist uninstall` takes out what `install` put in".into()),
        ));
    }
    if config.memory.is_set() && !all.iter().any(|one| one.hook.event == SESSION_START) {
        checks.push(Check::fault(
            NAME,
            "[memory] is set, and the hook is not registered on SessionStart: no session is given it",
            "`punchlist install` adds it to what is registered",
        ));
    }
    checks.extend(disabled(files, &all));
    checks
}

fn summary(one: &Registration) -> Check {
    let mode = if one.hook.is_async { ", in the background" } else { "" };
    let found = format!(
        "{} in {} ({}): `{}`, {} s{mode}",
        one.hook.event,
        one.path,
        one.owner.name(),
        one.hook.line,
        one.hook.timeout
    );
    Check::fine("hook", found)
}

fn faults(one: &Registration, config: &Config, is_there: &dyn Fn(&str, &Owner) -> bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut fault = |found: String, next: &str| checks.push(Check::fault("hook", found, next));
    if let Some(program) = one.hook.program.as_ref().filter(|program| !is_there(program, &one.owner)) {
        let next = match one.owner {
            Owner::Plugin(_) => "put it on the PATH, or `cargo install --path .` in a checkout of punchlist",
            _ => "`punchlist install` registers this one by its own path",
        };
        fault(format!("there is no program {program}"), next);
    }
    let (timeout, expected) = (one.hook.timeout, one.hook.hook_timeout.unwrap_or(HOOK_TIMEOUT));
    if timeout < expected {
        fault(
            format!("the client ends it after {timeout} s, but it counts on {expected} s"),
            &format!("raise \"timeout\" to {expected}, or register `--hook-timeout {timeout}`"),
        );
    }
    if let Some((what, next)) = one.hook.mode_fault() {
        fault(format!("registered with {what}"), next);
    } else if one.hook.is_async && one.hook.event != "Stop" {
        let event = one.hook.event;
        let found = if event == SESSION_START {
            "a session does not wait for what it is to be given in the background"
        } else {
            "a subagent is gone when its audit ends in the background"
        };
        let next = format!("register {event} without --background and without \"asyncRewake\"");
        fault(found.to_owned(), &next);
    }
    let registered = if one.hook.is_background { Mode::Background } else { Mode::Hold };
    if one.hook.event == "Stop"
        && let Some(why) = config.audit.mode.fault(registered)
    {
        let (found, next) = why.rsplit_once("; ").map_or((why.as_str(), ""), |(found, next)| (found, next));
        fault(found.to_owned(), next);
    }
    // No reader is asked when a session starts.
    if one.hook.event == SESSION_START {
        return checks;
    }
    let time = timeout.min(expected);
    let (reader, longest) = (config.auditor.timeout.as_secs(), config.longest_stop().as_secs());
    if reader >= time {
        let found = format!("the first reader may take {reader} s, but the hook has {time} s");
        let next = format!(
            "raise \"timeout\" and --hook-timeout over {reader}, or lower `[auditor] timeout`: it is cut short until then"
        );
        checks.push(Check::note("hook", found, Some(next)));
    } else if !config.checks.is_empty() && longest >= time {
        let found =
            format!("checks and first reader together may take {longest} s, but the hook has {time} s");
        let next = "`punchlist install` raises it: a check that takes long is cut short until then";
        checks.push(Check::note("hook", found, Some(next.to_owned())));
    }
    checks
}

fn unreadable(file: &HookFile) -> Option<Check> {
    let why = file.content.as_ref().err()?;
    let next = "mend it: a hook in it can't be seen";
    Some(Check::fault("hook", format!("{}: {why}", file.path), next))
}

/// Reports settings that keep every hook from running.
fn disabled(files: &[HookFile], all: &[Registration]) -> Vec<Check> {
    let mut checks = Vec::new();
    for file in files.iter().filter(|file| !matches!(file.owner, Owner::Plugin(_))) {
        let Ok(content) = &file.content else { continue };
        if content["disableAllHooks"] == true {
            let next = "take \"disableAllHooks\" out: no hook runs with it";
            checks.push(Check::fault("hook", format!("{} switches all hooks off", file.path), next));
        }
        let is_ours_managed = all.iter().any(|one| one.owner == Owner::Managed);
        if file.owner == Owner::Managed && content["allowManagedHooksOnly"] == true && !is_ours_managed {
            let next = "ask whoever manages it to register punchlist there";
            checks.push(Check::fault("hook", format!("{} allows managed hooks only", file.path), next));
        }
    }
    checks
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::settings::Scope;

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
            let mark = match check.mark {
                Mark::Fine => "+",
                Mark::Note => ".",
                Mark::Fault => "-",
            };
            format!(
                "{mark} {}{}",
                check.found,
                check.next.map(|next| format!(" -> {next}")).unwrap_or_default()
            )
        };
        checks(files, config, &|program, _| program != "/gone/punchlist").into_iter().map(line).collect()
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
        let found = checks(&plugin("punchlist@m"), &Config::default(), &|program, _| program != "punchlist");
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
    fn a_mode_that_the_registration_contradicts_is_a_fault() {
        let mut config = Config::default();
        config.audit.mode = Mode::Background;
        let hook = json!({"command": "punchlist hook", "timeout": 120});
        insta::assert_snapshot!(
            lines_with(&[file(Owner::Settings(Scope::User), with(&hook))], &config).join("\n")
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
}
