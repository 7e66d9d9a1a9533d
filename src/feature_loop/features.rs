//! The list of features: takes the text of `feature_list.json`, as people and agents write it, gives the features in
//! their order; and changes one mark in it where it stands. Pure. Must not lose a byte of what it does not change.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::ContentId;

/// The names under which a list of features is found in an object, in the order of trust.
const LISTS: [&str; 8] =
    ["features", "userStories", "user_stories", "stories", "tasks", "items", "requirements", "tests"];
/// The names of what tells that a feature works.
const PASSES: [&str; 6] = ["passes", "passed", "passing", "done", "completed", "complete"];
/// The same for a word.
const STATES: [&str; 2] = ["status", "state"];
/// What such a word is when it works.
const WORDS: [&str; 10] =
    ["true", "yes", "pass", "passes", "passed", "passing", "done", "complete", "completed", "verified"];
/// The names of a feature's title and of its description.
const TITLES: [&str; 2] = ["title", "name"];
const DESCRIPTIONS: [&str; 5] = ["description", "story", "feature", "summary", "text"];
/// The names of how it is tried.
const STEPS: [&str; 7] = [
    "steps", "acceptance", "acceptanceCriteria", "acceptance_criteria", "criteria", "test_steps", "testSteps",
];

/// How deep groups of features may stand in each other.
const DEEPEST: usize = 4;

/// One feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// What it is known by: its id, else a name made of its words.
    pub key: String,
    /// Its id, as the file has it.
    pub id: Option<String>,
    /// What it is, in one line.
    pub description: String,
    /// How it is tried.
    pub steps: Vec<String>,
    /// Whether it works.
    pub passes: bool,
}

impl Feature {
    /// A name made of what is asked for: another one when that is rewritten.
    pub fn content(&self) -> String {
        let mut name = ContentId::default();
        name.add(&self.description);
        self.steps.iter().for_each(|step| name.add(step));
        name.finish()
    }

    /// What people call it: its id, else its first words.
    pub fn called(&self) -> String {
        self.id.clone().unwrap_or_else(|| shortened(&self.description))
    }
}

/// The first words of a description.
pub(crate) fn shortened(text: &str) -> String {
    const LETTERS: usize = 48;
    if text.chars().count() <= LETTERS {
        return text.to_owned();
    }
    format!("{}…", text.chars().take(LETTERS - 1).collect::<String>().trim_end())
}

/// Reads a list.
pub fn read(text: &str) -> Result<Vec<Feature>, String> {
    let text = without_mark(text);
    if text.trim_matches(['\0', ' ', '\n', '\r', '\t']).is_empty() {
        return Err("it is empty".into());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let list = list_in(&value).ok_or("there is no list of features in it")?;
    let mut features = Vec::new();
    gather(list, 0, &mut features);
    tell_apart(&mut features);
    Ok(features)
}

/// Some editors begin a file with a mark that is no part of it.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The list in what a file holds.
fn list_in(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(_) => Some(value),
        Value::Object(fields) => {
            LISTS.iter().find_map(|name| fields.get(*name).filter(|list| list.is_array() || list.is_object()))
        }
        _ => None,
    }
}

fn gather(list: &Value, depth: usize, into: &mut Vec<Feature>) {
    let each: Vec<(Option<&str>, &Value)> = match list {
        Value::Array(list) => list.iter().map(|one| (None, one)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, one)| (Some(name.as_str()), one)).collect(),
        _ => return,
    };
    for (name, one) in each {
        match one {
            Value::String(text) if !text.trim().is_empty() => {
                into.push(feature(name, text, &[], false));
            }
            Value::Object(fields) => {
                // A group, such as a phase with its features.
                let inner =
                    LISTS.iter().find_map(|list| fields.get(*list).filter(|inner| holds_features(inner)));
                match inner {
                    Some(inner)
                        if depth < DEEPEST && !PASSES.iter().any(|name| fields.contains_key(*name)) =>
                    {
                        gather(inner, depth + 1, into);
                    }
                    _ => into.push(of_fields(name, fields)),
                }
            }
            _ => {}
        }
    }
}

/// Whether a list holds objects that say whether they work; steps in words are no features.
fn holds_features(list: &Value) -> bool {
    let is_feature = |one: &Value| {
        let marks = PASSES.iter().chain(&STATES).chain(&["id", "steps"]);
        one.as_object().is_some_and(|fields| marks.clone().any(|name| fields.contains_key(*name)))
    };
    match list {
        Value::Array(list) => !list.is_empty() && list.iter().all(is_feature),
        Value::Object(fields) => !fields.is_empty() && fields.values().all(is_feature),
        _ => false,
    }
}

fn of_fields(name: Option<&str>, fields: &serde_json::Map<String, Value>) -> Feature {
    let text = |names: &[&str]| {
        names
            .iter()
            .find_map(|name| fields.get(*name)?.as_str())
            .map(str::trim)
            .filter(|text| !text.is_empty())
    };
    let id = fields.get("id").and_then(as_text).or_else(|| name.map(String::from));
    let description = match (text(&TITLES), text(&DESCRIPTIONS)) {
        (Some(title), Some(description)) if title != description => format!("{title}: {description}"),
        (title, description) => description.or(title).unwrap_or_default().to_owned(),
    };
    let steps = STEPS.iter().find_map(|name| fields.get(*name)).map(steps_of).unwrap_or_default();
    let mark = PASSES.iter().find_map(|name| fields.get(*name));
    let mark = mark.or_else(|| STATES.iter().find_map(|name| fields.get(*name)));
    feature(id.as_deref(), &description, &steps, mark.is_some_and(is_yes))
}

fn feature(id: Option<&str>, description: &str, steps: &[String], passes: bool) -> Feature {
    let description = one_line(description);
    let id = id.map(one_line).filter(|id| !id.is_empty());
    let key = id.clone().unwrap_or_else(|| ContentId::of(&description)[..12].to_owned());
    Feature { key, id, description, steps: steps.to_vec(), passes }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn is_yes(value: &Value) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(word) => WORDS.contains(&word.trim().to_lowercase().as_str()),
        _ => false,
    }
}

fn steps_of(value: &Value) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::Object(fields) => {
            let names = DESCRIPTIONS.iter().chain(&TITLES).chain(&["step", "action"]);
            names.clone().find_map(|name| fields.get(*name)).and_then(as_text)
        }
        value => as_text(value),
    };
    let steps: Vec<String> = match value {
        Value::Array(list) => list.iter().filter_map(one).collect(),
        Value::String(text) => text.lines().map(String::from).collect(),
        _ => Vec::new(),
    };
    steps.iter().map(|step| one_line(step)).filter(|step| !step.is_empty()).collect()
}

/// Two features of one key are two features all the same.
fn tell_apart(features: &mut [Feature]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for feature in features {
        let count = seen.entry(feature.key.clone()).or_default();
        *count += 1;
        if *count > 1 {
            feature.key = format!("{}~{count}", feature.key);
        }
    }
}

/// The same text with the mark of one feature set, and not another byte changed. `which` is its id or its key.
pub fn with_mark(text: &str, which: &str, passes: bool) -> Result<String, String> {
    let features = read(text)?;
    let at = features.iter().position(|feature| feature.id.as_deref() == Some(which) || feature.key == which);
    let at = at.ok_or_else(|| {
        let known: Vec<_> = features.iter().map(Feature::called).collect();
        format!("there is no feature \"{which}\" in it; there are {}", known.join(", "))
    })?;
    let mut places = Vec::new();
    let body = without_mark(text);
    let whole: &RawValue = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let list = raw_list(whole.get()).ok_or("there is no list of features in it")?;
    raw_features(list, 0, &mut places);
    let place = *places.get(at).ok_or("the feature can't be found in it again")?;
    let word = if passes { "true" } else { "false" };
    let changed = match raw_mark(place) {
        Some(Mark::Yes(old)) => replaced(text, old, word),
        Some(Mark::Word(old)) => replaced(text, old, if passes { "\"done\"" } else { "\"open\"" }),
        None => {
            let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(place)
                .map_err(|_| "the feature is not an object, and has no room for a mark")?;
            let comma = if fields.is_empty() { "" } else { ", " };
            replaced(text, &place[..1], &format!("{{\"passes\": {word}{comma}"))
        }
    };
    let again = read(&changed)?;
    if again.get(at).is_some_and(|feature| feature.passes == passes) {
        Ok(changed)
    } else {
        Err("the mark did not take".into())
    }
}

enum Mark<'a> {
    Yes(&'a str),
    Word(&'a str),
}

fn raw_mark(feature: &str) -> Option<Mark<'_>> {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(feature).ok()?;
    let find = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)).map(|raw| raw.get());
    find(&PASSES).map(Mark::Yes).or_else(|| find(&STATES).map(Mark::Word))
}

/// A text with a part of itself replaced; `old` has to be a slice of it.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let at = (old.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    format!("{}{new}{}", &text[..at], &text[at + old.len()..])
}

/// The list, as [`list_in`] finds it, in the text itself.
fn raw_list(text: &str) -> Option<&str> {
    if text.starts_with('[') {
        return Some(text);
    }
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text).ok()?;
    LISTS
        .iter()
        .find_map(|name| fields.get(*name).map(|raw| raw.get()).filter(|raw| raw.starts_with(['[', '{'])))
}

/// The features of a list, as [`gather`] finds them, in the text itself.
fn raw_features<'a>(list: &'a str, depth: usize, into: &mut Vec<&'a str>) {
    let each: Vec<&str> = if list.starts_with('[') {
        serde_json::from_str::<Vec<&RawValue>>(list).unwrap_or_default().iter().map(|raw| raw.get()).collect()
    } else {
        raw_values(list)
    };
    for one in each {
        let Ok(value) = serde_json::from_str::<Value>(one) else { continue };
        match &value {
            Value::String(text) if !text.trim().is_empty() => into.push(one),
            Value::Object(fields) => {
                let inner = LISTS.iter().find(|list| fields.get(**list).is_some_and(holds_features));
                let inner = inner
                    .filter(|_| depth < DEEPEST && !PASSES.iter().any(|name| fields.contains_key(*name)));
                let raw = inner.and_then(|name| {
                    let raw: BTreeMap<Cow<'_, str>, &'a RawValue> = serde_json::from_str(one).ok()?;
                    raw.get(*name).map(|raw| raw.get())
                });
                match raw {
                    Some(raw) => raw_features(raw, depth + 1, into),
                    None => into.push(one),
                }
            }
            _ => {}
        }
    }
}

/// The values of an object, in the order in which [`Value`] has them: by their names.
fn raw_values(object: &str) -> Vec<&str> {
    let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object).unwrap_or_default();
    fields.into_values().map(RawValue::get).collect()
}

/// A list of features made of a Markdown list: what stands in a line of its own is a feature, what is indented below it
/// is a step.
pub fn from_markdown(text: &str) -> Vec<Value> {
    let mut features: Vec<(String, bool, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let inner = line.trim_start();
        let item =
            ["- ", "* ", "+ "].iter().find_map(|mark| inner.strip_prefix(mark)).or_else(|| numbered(inner));
        let Some(item) = item else { continue };
        let (mark, words) = match item.split_once(']') {
            Some((mark, words)) if ["[ ", "[x", "[X"].contains(&mark) => (mark, words),
            _ => ("[ ", item),
        };
        let words = one_line(words);
        match features.last_mut() {
            Some((_, _, steps)) if inner.len() < line.len() => steps.push(words),
            _ if words.is_empty() => {}
            _ => features.push((words, mark != "[ ", Vec::new())),
        }
    }
    let values = features.into_iter().enumerate().map(|(at, (description, passes, steps))| {
        serde_json::json!({ "id": format!("F{:03}", at + 1), "description": description, "steps": steps, "passes": passes })
    });
    values.collect()
}

fn numbered(line: &str) -> Option<&str> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    (digits > 0).then(|| line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") ")))?
}

#[cfg(test)]
mod tests;
