//! The feature list: parses `feature_list.json` as people and agents write it, and changes one
//! feature's mark in place. Pure. Must not change any other byte of the text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::ids::ContentId;
use crate::text::shorten;

/// Fields that may hold the list, most trusted first.
const LISTS: [&str; 8] =
    ["features", "userStories", "user_stories", "stories", "tasks", "items", "requirements", "tests"];
/// Fields that say, as a boolean, that a feature passes.
const PASSES: [&str; 6] = ["passes", "passed", "passing", "done", "completed", "complete"];
/// Fields that say it as a word.
const STATES: [&str; 2] = ["status", "state"];
/// Words that mean "passes".
const PASS_WORDS: [&str; 10] =
    ["true", "yes", "pass", "passes", "passed", "passing", "done", "complete", "completed", "verified"];
const TITLES: [&str; 2] = ["title", "name"];
const DESCRIPTIONS: [&str; 5] = ["description", "story", "feature", "summary", "text"];
const STEPS: [&str; 7] = [
    "steps", "acceptance", "acceptanceCriteria", "acceptance_criteria", "criteria", "test_steps", "testSteps",
];

/// How deep groups of features may be nested.
const MAX_DEPTH: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// Unique in the list: its id, else a hash of its description.
    pub key: String,
    pub id: Option<String>,
    /// On one line.
    pub description: String,
    /// How to try it.
    pub steps: Vec<String>,
    pub passes: bool,
    /// The command that shows whether it passes.
    pub verify: Option<String>,
}

impl Feature {
    /// A hash of what is asked for.
    pub fn content_id(&self) -> String {
        let mut id = ContentId::default();
        id.add(&self.description);
        self.steps.iter().for_each(|step| id.add(step));
        self.verify.iter().for_each(|run| id.add(run));
        id.finish()
    }

    /// Its id, else its first words.
    pub fn display_name(&self) -> String {
        self.id.clone().unwrap_or_else(|| shorten(&self.description, 48))
    }
}

/// Parses a list.
pub fn parse(text: &str) -> Result<Vec<Feature>, String> {
    Ok(entries(text)?.into_iter().map(|entry| entry.feature).collect())
}

/// A feature and where it stands in the text.
struct Entry<'a> {
    feature: Feature,
    raw: &'a str,
}

type RawObject<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

fn entries(text: &str) -> Result<Vec<Entry<'_>>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_matches(['\0', ' ', '\n', '\r', '\t']).is_empty() {
        return Err("it is empty".into());
    }
    let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let list = match value {
        Value::Array(_) => Some(text),
        Value::Object(_) => {
            let fields: RawObject<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let is_list = |raw: &&str| raw.starts_with(['[', '{']);
            LISTS.iter().find_map(|name| fields.get(*name).map(|raw| raw.get()).filter(is_list))
        }
        _ => None,
    };
    let mut entries = Vec::new();
    collect(list.ok_or("there is no list of features in it")?, 0, &mut entries);
    make_keys_unique(&mut entries);
    Ok(entries)
}

/// Collects the features of a JSON array, or of an object whose keys are their ids.
fn collect<'a>(list: &'a str, depth: usize, into: &mut Vec<Entry<'a>>) {
    let items: Vec<(Option<Cow<'a, str>>, &'a RawValue)> = if list.trim_start().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        items.into_iter().map(|raw| (None, raw)).collect()
    } else {
        let fields: RawObject<'a> = serde_json::from_str(list).unwrap_or_default();
        fields.into_iter().map(|(name, raw)| (Some(name), raw)).collect()
    };
    for (name, raw) in items {
        let (name, raw) = (name.as_deref(), raw.get());
        match serde_json::from_str(raw) {
            Ok(Value::String(text)) if !text.trim().is_empty() => {
                into.push(Entry { feature: feature(name, &text, &[], false), raw });
            }
            Ok(Value::Object(fields)) => {
                // A group, such as a phase with its features.
                let is_group = depth < MAX_DEPTH && !PASSES.iter().any(|name| fields.contains_key(*name));
                let inner = LISTS.iter().find(|list| fields.get(**list).is_some_and(holds_features));
                match inner.filter(|_| is_group).and_then(|inner| raw_field(raw, inner)) {
                    Some(inner) => collect(inner, depth + 1, into),
                    None => into.push(Entry { feature: parse_feature(name, &fields), raw }),
                }
            }
            _ => {}
        }
    }
}

fn raw_field<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let fields: RawObject<'a> = serde_json::from_str(object).ok()?;
    fields.get(name).map(|raw| raw.get())
}

/// Whether every item has a mark, an id or steps. A list of plain steps is no list of features.
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

fn parse_feature(name: Option<&str>, fields: &serde_json::Map<String, Value>) -> Feature {
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
    let steps = STEPS.iter().find_map(|name| fields.get(*name)).map(parse_steps).unwrap_or_default();
    let mark = PASSES.iter().find_map(|name| fields.get(*name));
    let mark = mark.or_else(|| STATES.iter().find_map(|name| fields.get(*name)));
    let verify = text(&["verify"]).map(String::from);
    Feature { verify, ..feature(id.as_deref(), &description, &steps, mark.is_some_and(means_pass)) }
}

fn feature(id: Option<&str>, description: &str, steps: &[String], passes: bool) -> Feature {
    let description = one_line(description);
    let id = id.map(one_line).filter(|id| !id.is_empty());
    let key = id.clone().unwrap_or_else(|| ContentId::digest(&description)[..12].to_owned());
    Feature { key, id, description, steps: steps.to_vec(), passes, verify: None }
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

fn means_pass(value: &Value) -> bool {
    match value {
        Value::Bool(passes) => *passes,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(word) => PASS_WORDS.contains(&word.trim().to_lowercase().as_str()),
        _ => false,
    }
}

fn parse_steps(value: &Value) -> Vec<String> {
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

/// Numbers the later ones of features that share a key.
fn make_keys_unique(entries: &mut [Entry<'_>]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for Entry { feature, .. } in entries {
        let count = counts.entry(feature.key.clone()).or_default();
        *count += 1;
        if *count > 1 {
            feature.key = format!("{}~{count}", feature.key);
        }
    }
}

/// Returns the text with the mark of one feature set; `which` is its id or key.
pub fn set_passes(text: &str, which: &str, passes: bool) -> Result<String, String> {
    let entries = entries(text)?;
    let is_it = |entry: &Entry<'_>| entry.feature.id.as_deref() == Some(which) || entry.feature.key == which;
    let at = entries.iter().position(is_it).ok_or_else(|| {
        let names: Vec<_> = entries.iter().map(|entry| entry.feature.display_name()).collect();
        format!("there is no feature \"{which}\" in it; there are {}", names.join(", "))
    })?;
    let raw = entries[at].raw;
    let fields: RawObject<'_> =
        serde_json::from_str(raw).map_err(|_| "the feature is not an object, and has no room for a mark")?;
    let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name)).map(|raw| raw.get());
    let changed = if let Some(old) = field(&PASSES) {
        replace_slice(text, old, if passes { "true" } else { "false" })
    } else if let Some(old) = field(&STATES) {
        replace_slice(text, old, if passes { "\"done\"" } else { "\"open\"" })
    } else {
        let comma = if fields.is_empty() { "" } else { ", " };
        replace_slice(text, &raw[..1], &format!("{{\"passes\": {passes}{comma}"))
    };
    if parse(&changed)?.get(at).is_some_and(|feature| feature.passes == passes) {
        Ok(changed)
    } else {
        Err("the mark did not take".into())
    }
}

/// Replaces a part of a text; `part` must be a slice of it.
fn replace_slice(text: &str, part: &str, new: &str) -> String {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    format!("{}{new}{}", &text[..start], &text[start + part.len()..])
}

/// Makes features of a Markdown list; indented items are the steps of the item above.
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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn summaries(text: &str) -> Vec<(String, bool, usize)> {
        let features = parse(text).expect("features");
        features.into_iter().map(|feature| (feature.key, feature.passes, feature.steps.len())).collect()
    }

    fn one(text: &str) -> Feature {
        let mut features = parse(text).expect("features");
        assert_eq!(features.len(), 1, "{features:?}");
        features.remove(0)
    }

    #[test]
    fn a_list_and_an_object_with_a_list_are_parse() {
        let plain =
            r#"[{"category":"functional","description":"New chat","steps":["Open","Click"],"passes":false}]"#;
        let feature = one(plain);
        assert_eq!((feature.id, feature.description.as_str(), feature.verify), (None, "New chat", None));
        assert_eq!((feature.steps, feature.passes), (vec!["Open".to_owned(), "Click".into()], false));
        let ralph = r#"{"branchName":"ralph/x","userStories":[{"id":"US-001","title":"Add a field","description":"As a user …",
            "acceptanceCriteria":["Typecheck passes"],"priority":1,"passes":true,"notes":""}]}"#;
        let feature = one(ralph);
        assert_eq!(
            (feature.id.as_deref(), feature.description.as_str()),
            (Some("US-001"), "Add a field: As a user …")
        );
        assert_eq!((feature.steps.len(), feature.passes), (1, true));
        let statuses = r#"{"project":"x","rules":{"valid_status":["pending","done"]},"features":[
            {"id":1,"name":"auth","title":"Login","description":"JWT","acceptance":["401"],"status":"done"},
            {"id":2,"name":"b","description":"c","status":"in_progress"}, {"id":2,"description":"again"}]}"#;
        assert_eq!(
            summaries(statuses),
            [("1".into(), true, 1), ("2".into(), false, 0), ("2~2".into(), false, 0)]
        );
        let phases = r#"{"phases":[{"id":"P0"}],"features":[{"name":"Base","features":[{"id":"a","done":true},{"id":"b","steps":"one\n\ntwo"}]},"c"]}"#;
        let words = ContentId::digest("c")[..12].to_owned();
        assert_eq!(summaries(phases), [("a".into(), true, 0), ("b".into(), false, 2), (words, false, 0)]);
        let by_id = r#"{"features":{"F1":{"description":"x","passes":"yes"},"F2":{"description":"y","passes":null}}}"#;
        assert_eq!(summaries(by_id), [("F1".into(), true, 0), ("F2".into(), false, 0)]);
        assert_eq!(summaries("\u{feff}[]"), []);
        let verified = one(r#"[{"id":"F1","verify":" npm test -- cart "}]"#);
        assert_eq!(verified.verify.as_deref(), Some("npm test -- cart"));
        assert_ne!(verified.content_id(), one(r#"[{"id":"F1"}]"#).content_id());
    }

    #[test]
    fn what_is_no_list_says_what_is_wrong() {
        for (text, said) in [
            ("", "it is empty"),
            (" \n\0", "it is empty"),
            ("[{\"id\": 1,", "it is not JSON: EOF while parsing a value at line 1 column 10"),
            ("{\"version\": 1}", "there is no list of features in it"),
            ("7", "there is no list of features in it"),
        ] {
            assert_eq!(parse(text).expect_err("a fault"), said, "{text:?}");
        }
    }

    #[test]
    fn a_mark_is_set_where_it_stands_and_nothing_else_changes() {
        let text = "{\n  \"v\": 1e2, \"features\": [\n    {\"id\": 7, \"x\": {\"b\": [1,2],\"a\":1},\"passes\" :false },\n    { \"id\":\"b\" },\n    {}, {\"id\":\"s\",\"status\": \"in_progress\"}\n  ],\"z\":null}\r\n";
        let seven = set_passes(text, "7", true).expect("changed");
        assert_eq!(seven, text.replace("\"passes\" :false", "\"passes\" :true"));
        assert_eq!(set_passes(&seven, "7", false).expect("back"), text);
        let b = set_passes(text, "b", true).expect("changed");
        assert_eq!(b, text.replace("{ \"id\":\"b\" }", "{\"passes\": true,  \"id\":\"b\" }"));
        let s = set_passes(text, "s", true).expect("changed");
        assert_eq!(s, text.replace("\"in_progress\"", "\"done\""));
        assert_eq!(
            set_passes("[{\"id\":\"a\"},{\"description\":\"later\"}]", "c", true).expect_err("none"),
            "there is no feature \"c\" in it; there are a, later"
        );
        assert!(set_passes("[\"words\"]", &ContentId::digest("words")[..12], true).is_err());
    }

    #[test]
    fn a_markdown_list_becomes_features() {
        let made = from_markdown(
            "# Shop\n\n- [x] Log in\n  - open the page\n  - type\n- [ ] Log out\n1. Pay\n\nwords\n",
        );
        let list = parse(&json!({ "features": made }).to_string()).expect("features");
        let summary: Vec<_> = list
            .iter()
            .map(|f| (f.display_name(), f.description.as_str(), f.passes, f.steps.len()))
            .collect();
        assert_eq!(
            summary,
            [
                ("F001".to_owned(), "Log in", true, 2),
                ("F002".into(), "Log out", false, 0),
                ("F003".into(), "Pay", false, 0)
            ]
        );
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-z \\n\"\\\\é]{0,8}".prop_map(Value::from),
        ];
        let names = prop_oneof![
            Just("features".to_owned()),
            Just("id".into()),
            Just("passes".into()),
            Just("status".into()),
            Just("steps".into()),
            Just("description".into()),
            Just("tasks".into()),
            "[a-z\"\\\\]{0,4}".prop_map(String::from),
        ];
        leaf.prop_recursive(5, 60, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::vec((names.clone(), inner), 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn remove_marks(value: &mut Value) {
        match value {
            Value::Array(list) => list.iter_mut().for_each(remove_marks),
            Value::Object(fields) => {
                PASSES.iter().chain(&STATES).for_each(|name| drop(fields.remove(*name)));
                fields.values_mut().for_each(remove_marks);
            }
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn whatever_is_marked_only_its_mark_changes(value in any_json(), passes in any::<bool>()) {
            let text = serde_json::to_string_pretty(&value).expect("text");
            for feature in parse(&text).unwrap_or_default() {
                let Ok(changed) = set_passes(&text, &feature.key, passes) else { continue };
                let (before, after) = (parse(&text).expect("before"), parse(&changed).expect("after"));
                prop_assert_eq!(before.len(), after.len());
                let at = before.iter().position(|one| one.key == feature.key || one.id.as_ref() == Some(&feature.key));
                for (index, (old, new)) in before.iter().zip(&after).enumerate() {
                    if Some(index) == at {
                        prop_assert_eq!(&Feature { passes, ..old.clone() }, new);
                    } else {
                        prop_assert_eq!(old, new);
                    }
                }
                let (mut before, mut after): (Value, Value) = (value.clone(), serde_json::from_str(&changed).expect("JSON"));
                remove_marks(&mut before);
                remove_marks(&mut after);
                prop_assert_eq!(before, after, "what is not known is kept");
            }
        }
    }
}
