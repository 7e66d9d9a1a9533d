//! Adds our hook to the text of a settings file, updates it, or removes it. Pure. Must leave
//! everything else as it is, and verifies that it did. A command line that the person has
//! customised (a variable before it, a wrapper) is not rewritten.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::client::settings::Scope;
use crate::client::settings::json_edit::{push, remove, set};
use crate::client::settings::registered_hooks::{
    EVENTS, OurHook, Owner, PROMPT_SUBMIT, SESSION_START, is_our_plugin, is_our_status_line, is_ours,
    our_hooks,
};

/// The timeout that the hook is registered with unless the config needs more, in seconds.
pub const HOOK_TIMEOUT: u64 = 120;

/// The timeout of events that only read a few files, in seconds.
const START_TIMEOUT: u64 = 10;

/// What the client shows in its spinner while a stop's hook runs (2.1.325; older ones ignore it).
const STATUS_MESSAGE: &str = "punchlist checks this stop";

/// Returns the message of an event's hook. What only reads a few files is over before anybody could
/// read one.
fn status_message(event: &str) -> Option<&'static str> {
    (![SESSION_START, PROMPT_SUBMIT].contains(&event)).then_some(STATUS_MESSAGE)
}

/// How punchlist is to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The start of its command lines: the program, and the guard before it in case it is gone.
    pub program: String,
    /// The shortest timeout that leaves room for the readers, in seconds.
    pub min_timeout: u64,
    /// The timeout to set if there is none, or one below `min_timeout`.
    pub timeout: u64,
    /// Whether the turn ends without waiting for the hook; `None` keeps the registered mode.
    pub background: Option<bool>,
    /// Whether to register for `SubagentStop`, too.
    pub subagents: bool,
    /// Whether to set the status line, too, if none is set.
    pub status_line: bool,
}

/// The key of the status line in the client's settings.
pub const STATUS_LINE: &str = "statusLine";
/// After how many seconds the client asks for it again: by itself it does so when the agent's last
/// words are there, which is before the stop is decided (2.1.325).
const REFRESH: &str = "refreshInterval";
const REFRESH_SECONDS: u32 = 5;

/// Something that `install` created and `uninstall` may remove. The names are in the receipts on
/// disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Created {
    Folder,
    File,
    Hooks,
    Stop,
    SubagentStop,
    SessionStart,
    UserPromptSubmit,
}

impl Created {
    /// The container for each of [`EVENTS`].
    const OF_EVENTS: [Self; EVENTS.len()] =
        [Self::Stop, Self::SubagentStop, Self::SessionStart, Self::UserPromptSubmit];
}

#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    pub text: String,
    /// The containers that this edit created.
    pub created: Vec<Created>,
    /// The person's own command lines, which were not changed.
    pub custom: Vec<String>,
}

/// Why a text can't be edited.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum Fault {
    #[error("is not valid JSON ({0})")]
    NotJson(String),
    /// It has comments, which the client rejects, too.
    #[error("has comments in it, and JSON knows none ({0})")]
    Comments(String),
    #[error("has something else than {wanted} in {place}")]
    Other { place: String, wanted: &'static str },
    /// The edit would have changed more than our hook, which is a bug.
    #[error("could not be edited without changing more than the hook, which is a fault of punchlist")]
    TooMuch,
}

pub fn register(text: &str, wanted: &Wanted) -> Result<Edited, Fault> {
    let before = read(text)?;
    let mut edited = Edited { text: text.to_owned(), created: Vec::new(), custom: Vec::new() };
    for event in EVENTS {
        let mut wanted = wanted.clone();
        match event {
            "Stop" => {}
            PROMPT_SUBMIT if !is_background(&read(&edited.text)?) => {
                edited.text = without_prompt(&edited.text)?;
                continue;
            }
            SESSION_START | PROMPT_SUBMIT => {
                wanted = Wanted {
                    min_timeout: START_TIMEOUT,
                    timeout: START_TIMEOUT,
                    background: Some(false),
                    ..wanted
                };
            }
            // One that is already registered is updated even without `--subagents`.
            _ if !wanted.subagents && ours_on(&read(&edited.text)?, event).is_empty() => continue,
            // In the background, a subagent's findings would wake the main agent.
            _ => wanted.background = Some(false),
        }
        register_on(event, &wanted, &mut edited)?;
    }
    // Ours is updated even without `--statusline`; another one stays.
    let is_ours = before.get(STATUS_LINE).map(is_our_status_line);
    if is_ours.unwrap_or(wanted.status_line) {
        // The person's other settings for it, such as its padding or interval, stay.
        let mut line = before.get(STATUS_LINE).cloned().unwrap_or_else(|| json!({}));
        line["type"] = "command".into();
        line["command"] = format!("{} statusline", wanted.program).into();
        if line.get(REFRESH).is_none() {
            line[REFRESH] = REFRESH_SECONDS.into();
        }
        if before.get(STATUS_LINE) != Some(&line) {
            edited.text = set(&edited.text, STATUS_LINE, &line.to_string()).ok_or(Fault::TooMuch)?;
        }
    }
    same_but_ours(&before, &read(&edited.text)?).then_some(edited).ok_or(Fault::TooMuch)
}

/// Returns whether nobody waits for a stop, as the settings register it.
fn is_background(settings: &Value) -> bool {
    ours_on(settings, "Stop").iter().any(|ours| ours.is_async && ours.is_background)
}

/// Returns the text without our hook on a prompt: where stops are waited for, nothing is left to be
/// told at one.
fn without_prompt(text: &str) -> Result<String, Fault> {
    let mut text = text.to_owned();
    let here = ours_on(&read(&text)?, PROMPT_SUBMIT);
    for ours in here.iter().rev() {
        text = without(&text, PROMPT_SUBMIT, ours.place)?;
    }
    let is_empty = read(&text)?["hooks"][PROMPT_SUBMIT].as_array().is_some_and(Vec::is_empty);
    if !here.is_empty() && is_empty {
        text = remove(&text, &format!("hooks/{PROMPT_SUBMIT}")).ok_or(Fault::TooMuch)?;
    }
    Ok(text)
}

fn register_on(event: &'static str, wanted: &Wanted, edited: &mut Edited) -> Result<(), Fault> {
    let value = read(&edited.text)?;
    let here = ours_on(&value, event);
    let Some((first, others)) = here.split_first() else {
        return add(&value, event, wanted, edited);
    };
    for other in others.iter().rev() {
        edited.text = without(&edited.text, event, other.place)?;
    }
    let (group, at) = first.place;
    let hook = &value["hooks"][event][group]["hooks"][at];
    if !first.is_plain {
        edited.custom.push(first.line.clone());
        return Ok(());
    }
    let timeout = hook["timeout"].as_u64().filter(|seconds| *seconds >= wanted.min_timeout);
    let timeout = timeout.unwrap_or(wanted.timeout);
    let background = wanted.background.unwrap_or(first.is_async && first.is_background);
    let mut change = |key: &str, new: Option<Value>| {
        let path = format!("hooks/{event}/{group}/hooks/{at}/{key}");
        if hook.get(key) != new.as_ref() {
            let changed = match new {
                Some(new) => set(&edited.text, &path, &new.to_string()),
                None => remove(&edited.text, &path),
            };
            edited.text = changed.ok_or(Fault::TooMuch)?;
        }
        Ok(())
    };
    change("command", Some(wanted.command(timeout, background).into()))?;
    change("args", None)?;
    change("timeout", Some(timeout.into()))?;
    change("asyncRewake", background.then_some(Value::Bool(true)))?;
    // A message that somebody else wrote stays.
    match hook.get("statusMessage") {
        Some(_) => Ok(()),
        None => change("statusMessage", status_message(event).map(Value::from)),
    }
}

fn add(value: &Value, event: &'static str, wanted: &Wanted, edited: &mut Edited) -> Result<(), Fault> {
    let group = format!(r#"{{"hooks":[{}]}}"#, wanted.hook(event));
    let created = match event {
        "SubagentStop" => Created::SubagentStop,
        SESSION_START => Created::SessionStart,
        PROMPT_SUBMIT => Created::UserPromptSubmit,
        _ => Created::Stop,
    };
    let has = |value: &Value, key| value.get(key).is_some();
    let text = &edited.text;
    let added = if !has(value, "hooks") {
        edited.created.extend([Created::Hooks, created]);
        set(text, "hooks", &format!(r#"{{"{event}":[{group}]}}"#))
    } else if !has(&value["hooks"], event) {
        edited.created.push(created);
        set(text, &format!("hooks/{event}"), &format!("[{group}]"))
    } else {
        push(text, &format!("hooks/{event}"), &group)
    };
    edited.text = added.ok_or(Fault::TooMuch)?;
    Ok(())
}

/// Removes the hook, and the containers that it leaves empty: those that `install` created, or all
/// of them if there is no receipt.
pub fn unregister(text: &str, created: Option<&[Created]>) -> Result<String, Fault> {
    let before = read(text)?;
    let mut text = text.to_owned();
    let may_go = |what: Created| created.is_none_or(|created| created.contains(&what));
    let mut is_changed = false;
    for (event, container) in EVENTS.into_iter().zip(Created::OF_EVENTS) {
        let here = ours_on(&read(&text)?, event);
        for ours in here.iter().rev() {
            text = without(&text, event, ours.place)?;
        }
        let is_empty = read(&text)?["hooks"][event].as_array().is_some_and(Vec::is_empty);
        if !here.is_empty() && is_empty && may_go(container) {
            text = remove(&text, &format!("hooks/{event}")).ok_or(Fault::TooMuch)?;
        }
        is_changed |= !here.is_empty();
    }
    let is_empty = read(&text)?["hooks"].as_object().is_some_and(Map::is_empty);
    if is_changed && is_empty && may_go(Created::Hooks) {
        text = remove(&text, "hooks").ok_or(Fault::TooMuch)?;
    }
    if before.get(STATUS_LINE).is_some_and(is_our_status_line) {
        text = remove(&text, STATUS_LINE).ok_or(Fault::TooMuch)?;
    }
    same_but_ours(&before, &read(&text)?).then_some(text).ok_or(Fault::TooMuch)
}

/// Returns whether a settings file registers punchlist, on any event or as the status line.
pub fn is_registered(settings: &Value) -> bool {
    EVENTS.iter().any(|event| !ours_on(settings, event).is_empty())
        || settings.get(STATUS_LINE).is_some_and(is_our_status_line)
}

/// Returns the name of our plugin, if a settings file enables it.
pub fn plugin(settings: &Value) -> Option<&str> {
    let plugins = settings["enabledPlugins"].as_object()?;
    let is_on = |value: &Value| !matches!(value, Value::Bool(false) | Value::Null);
    plugins.iter().find(|(name, value)| is_our_plugin(name) && is_on(value)).map(|(name, _)| name.as_str())
}

impl Wanted {
    fn command(&self, timeout: u64, background: bool) -> String {
        let background = if background { " --background" } else { "" };
        format!("{} hook --hook-timeout {timeout}{background}", self.program)
    }

    /// Returns the hook of an event as JSON.
    fn hook(&self, event: &str) -> String {
        let background = self.background.unwrap_or(false);
        let command = json!(self.command(self.timeout, background));
        let rewake = if background { r#","asyncRewake":true"# } else { "" };
        let status = status_message(event).map(|text| format!(r#","statusMessage":{}"#, json!(text)));
        let status = status.unwrap_or_default();
        format!(r#"{{"type":"command","command":{command},"timeout":{}{rewake}{status}}}"#, self.timeout)
    }
}

fn read(text: &str) -> Result<Value, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
        let place = format!("line {}, column {}", error.line(), error.column());
        // The error is at the first wrong character, or just after it.
        let rest = |back| line.get(error.column().saturating_sub(back)..).unwrap_or_default();
        let is_comment =
            [1, 2].iter().any(|back| rest(*back).starts_with("//") || rest(*back).starts_with("/*"));
        if is_comment { Fault::Comments(place) } else { Fault::NotJson(error.to_string()) }
    })?;
    let other = |place: &str, wanted| Fault::Other { place: place.to_owned(), wanted };
    if !value.is_object() {
        return Err(other("place of its settings", "an object"));
    }
    let Some(hooks) = value.get("hooks") else { return Ok(value) };
    if !hooks.is_object() {
        return Err(other("\"hooks\"", "an object"));
    }
    for event in EVENTS {
        if hooks.get(event).is_some_and(|groups| !groups.is_array()) {
            return Err(other(&format!("\"hooks.{event}\""), "an array"));
        }
    }
    Ok(value)
}

/// Returns our hooks on an event. The scope makes no difference.
fn ours_on(settings: &Value, event: &str) -> Vec<OurHook> {
    let ours = our_hooks(settings, &Owner::Settings(Scope::User));
    ours.into_iter().filter(|ours| ours.event == event).collect()
}

/// Returns the text without one hook, and without its group if that has nothing else.
fn without(text: &str, event: &str, (group, at): (usize, usize)) -> Result<String, Fault> {
    let value = read(text)?;
    let own = &value["hooks"][event][group];
    let is_alone = own["hooks"].as_array().is_some_and(|hooks| hooks.len() == 1);
    let says_nothing =
        own.as_object().is_some_and(|own| own.keys().all(|key| key == "hooks" || key == "matcher"));
    let group = format!("hooks/{event}/{group}");
    let path = if is_alone && says_nothing { group } else { format!("{group}/hooks/{at}") };
    remove(text, &path).ok_or(Fault::TooMuch)
}

/// Returns whether two settings are equal apart from our hooks and empty containers.
fn same_but_ours(before: &Value, after: &Value) -> bool {
    let rest = |settings: &Value| {
        let mut rest = settings.clone();
        if rest.get(STATUS_LINE).is_some_and(is_our_status_line)
            && let Some(settings) = rest.as_object_mut()
        {
            settings.remove(STATUS_LINE);
        }
        let Some(hooks) = rest.get_mut("hooks").and_then(Value::as_object_mut) else { return rest };
        for event in EVENTS {
            let Some(groups) = hooks.get_mut(event).and_then(Value::as_array_mut) else { continue };
            for group in groups.iter_mut() {
                if let Some(hooks) = group.get_mut("hooks").and_then(Value::as_array_mut) {
                    hooks.retain(|hook| !is_ours(hook));
                }
            }
            groups.retain(|group| group["hooks"].as_array().is_none_or(|hooks| !hooks.is_empty()));
            if groups.is_empty() {
                hooks.remove(event);
            }
        }
        if hooks.is_empty()
            && let Some(settings) = rest.as_object_mut()
        {
            settings.remove("hooks");
        }
        rest
    };
    rest(before) == rest(after)
}
