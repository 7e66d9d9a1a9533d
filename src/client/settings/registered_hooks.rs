//! Recognises our hook in the client's settings. Pure, and the only place that decides which hooks
//! are ours: `install` edits them, the doctor judges them, a stop reports faults in them.

use std::time::Duration;

use serde_json::Value;

use crate::client::settings::Scope;

/// The events that punchlist registers for.
pub const EVENTS: [&str; 4] = ["Stop", "SubagentStop", SESSION_START, PROMPT_SUBMIT];

/// Always registered, so that `[memory]` can be set later without a second `install`.
pub const SESSION_START: &str = "SessionStart";

/// Registered beside a stop that nobody waits for: at the next prompt the client shows what such a
/// stop left to be told (2.1.136 to 2.1.325).
pub const PROMPT_SUBMIT: &str = "UserPromptSubmit";

/// The command in a file that teammates share: finds the program on PATH, and does nothing if it is
/// missing.
pub const ON_PATH: &str = "! command -v punchlist >/dev/null 2>&1 || punchlist";

/// Returns the start of a command line that runs a program by its path. Where the program is gone,
/// as after an upgrade that put it elsewhere, the one on PATH is run in its place; with neither,
/// the stop goes through silently: otherwise the client complains to the person at every stop.
pub fn by_path(path: &str) -> String {
    format!("{SET}{}{OR_ON_PATH}", quoted(path))
}

/// What stands before and after the program's path.
const SET: &str = "p=";
const OR_ON_PATH: &str = r#"; test -x "$p" || p=$(command -v punchlist) || p=:; "$p""#;

/// How an older registration by path begins, which looks nowhere else.
const BY_PATH_ALONE: &str = "test ! -x ";

/// Returns a command line of [`by_path`] without what looks for the program.
fn found_by_path(command: &str) -> Option<String> {
    let (path, rest) = command.strip_prefix(SET)?.split_once(OR_ON_PATH)?;
    Some(format!("{path}{rest}"))
}

/// Quotes a path for the shell, if that is needed.
pub fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%,=:".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

/// The client's default timeout of a hook, in seconds.
const CLIENT_TIMEOUT: u64 = 600;

/// The owner of a file with hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    Managed,
    /// A person or a project.
    Settings(Scope),
    Plugin(String),
}

impl Owner {
    pub fn name(&self) -> String {
        match self {
            Self::Managed => "managed".into(),
            Self::Settings(scope) => scope.name().into(),
            Self::Plugin(name) => format!("plugin {name}"),
        }
    }

    /// Returns whether it is our own plugin, whose hook is a script that looks for the program.
    pub fn is_our_plugin(&self) -> bool {
        matches!(self, Self::Plugin(name) if is_our_plugin(name))
    }
}

pub fn is_our_plugin(name: &str) -> bool {
    name.split('@').next() == Some("punchlist")
}

/// One registration of our hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurHook {
    pub event: &'static str,
    /// The index of its group under the event, and its index in the group.
    pub place: (usize, usize),
    /// The command line, without the test whether the program exists.
    pub line: String,
    /// Whether it is as `install` or the README writes it, rather than the person's own command
    /// line.
    pub is_plain: bool,
    /// The program, unless only a shell can resolve it.
    pub program: Option<String>,
    /// What is run from PATH where the program is gone.
    pub fallback: Option<&'static str>,
    /// The client's timeout, in seconds.
    pub timeout: u64,
    /// The timeout given with `--hook-timeout`, in seconds.
    pub hook_timeout: Option<u64>,
    pub is_background: bool,
    /// Whether it has `asyncRewake`: the client does not wait for it.
    pub is_async: bool,
}

/// Returns every hook of ours in a file of this owner.
pub fn our_hooks(settings: &Value, owner: &Owner) -> Vec<OurHook> {
    let of_event = |event: &'static str| {
        let groups = settings["hooks"][event].as_array().into_iter().flatten().enumerate();
        let hooks = groups.flat_map(|(group, value)| {
            let hooks = value["hooks"].as_array().into_iter().flatten().enumerate();
            hooks.map(move |(at, hook)| ((group, at), hook))
        });
        hooks.filter_map(move |(place, hook)| our_hook(hook, event, place, owner.is_our_plugin()))
    };
    EVENTS.into_iter().flat_map(of_event).collect()
}

pub fn is_ours(hook: &Value) -> bool {
    our_hook(hook, EVENTS[0], (0, 0), false).is_some()
}

fn our_hook(hook: &Value, event: &'static str, place: (usize, usize), is_plugin: bool) -> Option<OurHook> {
    let command = hook["command"].as_str()?;
    let args: Vec<_> = hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_on_path = command.starts_with(ON_PATH);
    // With `args` the client runs the command without a shell.
    let mut words = if hook["args"].is_array() { vec![command.to_owned()] } else { unguarded_words(command) };
    words.extend(args.iter().map(|arg| (*arg).to_owned()));
    let found = call_in(&words);
    if found.is_none() && !is_plugin {
        return None;
    }
    // The plugin's script passes its own flags on.
    let flags_of_script = || words.iter().skip_while(|word| !word.starts_with("--")).cloned().collect();
    let (before, flags) = found.unwrap_or_else(|| (words.len(), flags_of_script()));
    let program = match words.first() {
        _ if is_plugin => Some("punchlist".to_owned()),
        Some(first) if before == 0 && !is_on_path && !first.contains(['$', '~', '`']) => Some(first.clone()),
        _ => None,
    };
    let (hook_timeout, are_known) = read_flags(&flags);
    let is_by_path = before == 0 && command.starts_with(BY_PATH_ALONE);
    let shown = command.split_once(" || ").filter(|_| is_by_path).map_or(command, |(_, rest)| rest);
    let found_by_path = found_by_path(command);
    let shown = found_by_path.as_deref().unwrap_or(shown);
    Some(OurHook {
        event,
        place,
        line: std::iter::once(shown).chain(args).collect::<Vec<_>>().join(" "),
        is_plain: before == 0 && are_known,
        program,
        fallback: found_by_path.is_some().then_some("punchlist"),
        timeout: hook["timeout"]
            .as_f64()
            .map_or(CLIENT_TIMEOUT, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, 1e6)).as_secs()),
        hook_timeout,
        is_background: flags.iter().any(|word| word == "--background"),
        is_async: hook["asyncRewake"] == true,
    })
}

/// Returns whether a `statusLine` of the settings is the one that `install` writes.
pub fn is_our_status_line(status_line: &Value) -> bool {
    let words = status_line["command"].as_str().map(unguarded_words).unwrap_or_default();
    matches!(words.as_slice(), [program, command] if is_program(program) && command == "statusline")
}

/// Returns the words of a command line without the guard of [`ON_PATH`] or [`by_path`].
fn unguarded_words(command: &str) -> Vec<String> {
    if let Some(rest) = command.strip_prefix(ON_PATH) {
        return shell_words(&format!("punchlist{rest}"));
    }
    if let Some(found) = found_by_path(command) {
        return shell_words(&found);
    }
    let words = shell_words(command);
    match words.as_slice() {
        [test, not, flag, guarded, or, program, ..]
            if [test, not, flag, or] == ["test", "!", "-x", "||"] && guarded == program =>
        {
            words[5..].to_vec()
        }
        _ => words,
    }
}

fn is_program(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name == "punchlist" || name.eq_ignore_ascii_case("punchlist.exe")
}

/// Returns the index of `punchlist` in `punchlist hook`, and the words after that.
fn call_in(words: &[String]) -> Option<(usize, Vec<String>)> {
    let here = words.windows(2).position(|two| is_program(&two[0]) && two[1] == "hook");
    if let Some(at) = here {
        return Some((at, words[at + 2..].to_vec()));
    }
    // The script of `sh -c '…'` is one word.
    let inner = words.iter().filter(|word| word.contains(char::is_whitespace)).map(|word| shell_words(word));
    inner.filter_map(|inner| call_in(&inner)).map(|(_, flags)| (words.len(), flags)).next()
}

/// Returns the value of `--hook-timeout`, and whether all of these are flags of `hook`.
fn read_flags(flags: &[String]) -> (Option<u64>, bool) {
    let (mut timeout, mut are_known) = (None, true);
    let mut flags = flags.iter().map(String::as_str);
    while let Some(flag) = flags.next() {
        let value = match flag {
            "--background" => continue,
            "--hook-timeout" => flags.next(),
            other => other.strip_prefix("--hook-timeout="),
        };
        let number = value.and_then(|value| value.parse().ok());
        are_known &= number.is_some();
        timeout = timeout.or(number);
    }
    (timeout, are_known)
}

impl OurHook {
    /// Returns what is wrong and what to change, if `asyncRewake`, which the client obeys, and
    /// `--background`, which we obey, disagree.
    pub fn mode_fault(&self) -> Option<(&'static str, &'static str)> {
        match (self.is_async, self.is_background) {
            (true, false) => Some((
                "\"asyncRewake\" without --background",
                "register `punchlist hook --background`, or take \"asyncRewake\" out",
            )),
            (false, true) => Some((
                "--background without \"asyncRewake\"",
                "add \"asyncRewake\": true, or take --background out",
            )),
            _ => None,
        }
    }
}

/// Splits a command line into words and removes quotes. Expands nothing.
pub fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None) => word.get_or_insert_default().extend(chars.next()),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(hook: &Value) -> Option<OurHook> {
        our_hook(hook, "Stop", (0, 0), false)
    }

    #[test]
    fn a_hook_of_ours_is_recognised_in_every_form() {
        for (hook, is_plain, program) in [
            (json!({"command": "punchlist hook"}), true, Some("punchlist")),
            (
                json!({"command": "/x/punchlist", "args": ["hook", "--background"]}),
                true,
                Some("/x/punchlist"),
            ),
            (json!({"command": "\"/a b/punchlist\" hook --hook-timeout=60"}), true, Some("/a b/punchlist")),
            (json!({"command": format!("{ON_PATH} hook --hook-timeout 120")}), true, None),
            (
                json!({"command": r"C:\bin\punchlist.exe", "args": ["hook"]}),
                true,
                Some(r"C:\bin\punchlist.exe"),
            ),
            (json!({"command": "~/bin/punchlist hook"}), true, None),
            (
                json!({"command": format!("{} hook --hook-timeout 120", by_path("/a b/punchlist"))}),
                true,
                Some("/a b/punchlist"),
            ),
            (
                json!({"command": "test ! -x '/a b/punchlist' || '/a b/punchlist' hook --hook-timeout 9"}),
                true,
                Some("/a b/punchlist"),
            ),
            (json!({"command": "test ! -x /a/punchlist || /b/punchlist hook"}), false, None),
            (json!({"command": "p=/a/punchlist; \"$p\" hook || punchlist hook"}), false, None),
            (json!({"command": "punchlist hook --trace"}), false, Some("punchlist")),
            (json!({"command": "RUST_LOG=debug punchlist hook"}), false, None),
            (json!({"command": "command -v punchlist >/dev/null && punchlist hook"}), false, None),
            (json!({"command": "sh -c 'exec punchlist hook --background'"}), false, None),
        ] {
            let ours = found(&hook).unwrap_or_else(|| panic!("{hook}"));
            assert_eq!((ours.is_plain, ours.program.as_deref()), (is_plain, program), "{hook}");
        }
        let ours = found(&json!({"command": format!("{} hook", by_path("/a b/punchlist"))})).expect("ours");
        assert_eq!((ours.line.as_str(), ours.fallback), ("'/a b/punchlist' hook", Some("punchlist")));
        for other in ["other hook", "punchlist log", "echo punchlist's hook", "./punchlist-hook.sh hook", ""]
        {
            assert_eq!(found(&json!({"command": other})), None, "{other}");
        }
        assert_eq!(found(&json!({"args": ["hook"]})), None);
        assert_eq!(found(&json!(7)), None);
    }

    #[test]
    fn a_status_line_is_ours_only_as_install_writes_it() {
        for (command, is_ours) in [
            (format!("{ON_PATH} statusline"), true),
            (format!("{} statusline", by_path("/x/punchlist")), true),
            ("punchlist statusline".to_owned(), true),
            ("punchlist statusline; date".to_owned(), false),
            ("~/.claude/line.sh".to_owned(), false),
        ] {
            assert_eq!(is_our_status_line(&json!({ "command": command })), is_ours, "{command}");
        }
        assert!(!is_our_status_line(&json!(7)));
    }

    #[test]
    fn flags_and_settings_are_both_read() {
        let ours =
            found(&json!({"command": "punchlist hook --hook-timeout 60 --background", "timeout": 30.5}));
        let ours = ours.expect("ours");
        assert_eq!(
            (ours.timeout, ours.hook_timeout, ours.is_background, ours.is_async),
            (30, Some(60), true, false)
        );
        assert_eq!(ours.mode_fault().expect("neither mode").0, "--background without \"asyncRewake\"");
        let awaited = found(&json!({"command": "punchlist hook", "asyncRewake": true})).expect("ours");
        assert_eq!(awaited.mode_fault().expect("neither mode").0, "\"asyncRewake\" without --background");
        let plain = found(&json!({"command": "punchlist hook"})).expect("ours");
        assert_eq!((plain.timeout, plain.hook_timeout, plain.mode_fault()), (CLIENT_TIMEOUT, None, None));
    }

    #[test]
    fn every_hook_of_our_plugin_is_ours() {
        let content = json!({"hooks": {"Stop": [{"hooks": [{"command": "sh stop.sh --hook-timeout 10"}]}], "PreToolUse": [{"hooks": [{"command": "x"}]}]}});
        let lines = |owner: Owner| {
            let hooks = our_hooks(&content, &owner);
            hooks.into_iter().map(|hook| (hook.hook_timeout, hook.program)).collect::<Vec<_>>()
        };
        let ours = vec![(Some(10), Some("punchlist".to_owned()))];
        assert_eq!(lines(Owner::Plugin("punchlist@m".into())), ours);
        assert_eq!(lines(Owner::Plugin("punchlists@m".into())), []);
        assert_eq!(lines(Owner::Settings(Scope::User)), []);
    }
}
