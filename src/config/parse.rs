//! One config file: parses TOML key by key. A wrong key costs only that key: it is removed and
//! reported, with its position and the allowed values, and the rest counts. Must not quote a
//! secret.

use serde::Deserialize as _;
use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reference::settings;
use super::{Config, ConfigError, Instead, syntax};
use crate::redact::mask;
use crate::text::harmless;

/// Parsing stops after this many errors: each costs time, and nobody reads more of them.
const MOST_ERRORS: usize = 30;
/// An entry with more wrong keys than this is dropped as a whole.
const MOST_REMOVALS: usize = 8;

/// The valid part of a file, and its errors.
#[derive(Debug, Default)]
pub struct Parsed {
    pub table: toml::Table,
    /// In the order of the text.
    pub errors: Vec<ConfigError>,
}

impl Config {
    /// Parses the text of a config file that must have no error. `file` is its name in errors.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let Parsed { table, errors } = parse(text, file);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => table.try_into().map_err(|error| located(&error, text, file, "top level")),
        }
    }
}

/// Parses the text of a config file. `file` is its name in errors.
pub fn parse(text: &str, file: &str) -> Parsed {
    let (right, mut errors) = syntax::without_faults(text, file);
    let (document, faults) = DeTable::parse_recoverable(&right);
    errors.extend(syntax::duplicates(document.get_ref(), &faults, text, file));
    let mut table = toml::Table::new();
    let mut unknown = String::new();
    for entry in entries(document.get_ref()) {
        if entry.table == unknown {
            continue;
        }
        if errors.len() >= MOST_ERRORS {
            let why = format!("{MOST_ERRORS} errors are enough: the rest of the file is ignored");
            errors.push(ConfigError::Unreadable { file: file.to_owned(), why });
            break;
        }
        let (right, mut wrong) = entry.checked(text, file);
        let is_unknown =
            |error: &ConfigError| matches!(error, ConfigError::Bad { key, .. } if *key == entry.table);
        if wrong.iter().any(is_unknown) {
            entry.table.clone_into(&mut unknown);
        }
        errors.append(&mut wrong);
        append(&mut table, right.unwrap_or_default());
    }
    errors.sort_by_key(|error| match error {
        ConfigError::Bad { line, column, .. } => (*line, *column),
        ConfigError::Unreadable { .. } | ConfigError::LeftAside { .. } => (usize::MAX, 0),
    });
    Parsed { table, errors }
}

/// One key of a table with its value, or one table of a `[[list]]`.
#[derive(Debug)]
struct Entry<'d> {
    table: &'d str,
    /// A document with only this entry.
    alone: DeTable<'d>,
    /// Its index in a list.
    index: Option<usize>,
}

/// Returns all entries of a file. A table without keys is one, too: its name may be wrong.
fn entries<'d>(document: &'d DeTable<'d>) -> Vec<Entry<'d>> {
    let mut entries = Vec::new();
    for (name, value) in document {
        let table: &str = name.get_ref();
        let mut add = |value: Spanned<DeValue<'d>>, index| {
            let mut alone = DeTable::new();
            alone.insert(name.clone(), value);
            entries.push(Entry { table, alone, index });
        };
        match value.get_ref() {
            DeValue::Table(keys) if !keys.is_empty() => {
                for (key, inner) in keys {
                    for (one, index) in elements(inner) {
                        let mut only = DeTable::new();
                        only.insert(key.clone(), one);
                        add(Spanned::new(value.span(), DeValue::Table(only)), index);
                    }
                }
            }
            _ => elements(value).into_iter().for_each(|(one, index)| add(one, index)),
        }
    }
    entries
}

/// Splits a list of tables into lists of one.
fn elements<'d>(value: &Spanned<DeValue<'d>>) -> Vec<(Spanned<DeValue<'d>>, Option<usize>)> {
    match value.get_ref() {
        DeValue::Array(list) if list.iter().any(|one| matches!(one.get_ref(), DeValue::Table(_))) => {
            let alone = |(index, one): (usize, &Spanned<DeValue<'d>>)| {
                let mut only = toml::de::DeArray::new();
                only.push(one.clone());
                (Spanned::new(value.span(), DeValue::Array(only)), Some(index))
            };
            list.iter().enumerate().map(alone).collect()
        }
        _ => vec![(value.clone(), None)],
    }
}

impl Entry<'_> {
    /// Returns the valid part of it, and the errors.
    fn checked(&self, text: &str, file: &str) -> (Option<toml::Table>, Vec<ConfigError>) {
        let mut document = self.alone.clone();
        let mut errors = Vec::new();
        for _ in 0..=MOST_REMOVALS {
            let deserializer = toml::Deserializer::from(Spanned::new(0..0, document.clone()));
            let Err(error) = serde_path_to_error::deserialize::<_, Config>(deserializer) else {
                let deserializer = toml::Deserializer::from(Spanned::new(0..0, document));
                return (toml::Table::deserialize(deserializer).ok(), errors);
            };
            let path: Vec<&Segment> = error.path().iter().collect();
            let is_removed = remove(&mut document, &path);
            // A field that is missing because it was wrong has been reported already.
            if errors.is_empty() || !error.inner().message().starts_with("missing field") {
                errors.push(located(error.inner(), text, file, &self.key(&error.path().to_string())));
            }
            if !is_removed || document.values().all(|value| is_empty(value.get_ref())) {
                break;
            }
        }
        if let (Some(_), Some(ConfigError::Bad { instead, .. })) = (self.index, errors.last_mut()) {
            *instead = Instead::Said("the table is ignored without it".to_owned());
        }
        (None, errors)
    }

    /// Returns the name of a key in the file, from its path in the document with only this entry.
    fn key(&self, path: &str) -> String {
        match self.index {
            _ if path == "." => "top level".to_owned(),
            None => path.to_owned(),
            Some(index) => {
                let (list, key) = path.split_once("[0]").unwrap_or((path, ""));
                let table = match self.name() {
                    Some(name) => format!("{list} \"{name}\""),
                    None => format!("{list} number {}", index + 1),
                };
                let key = key.trim_start_matches('.');
                if key.is_empty() { table } else { format!("{table}, {key}") }
            }
        }
    }

    /// Returns the `name` in a table of a list.
    fn name(&self) -> Option<&str> {
        let DeValue::Array(list) = self.alone.values().next()?.get_ref() else { return None };
        let DeValue::Table(table) = list.first()?.get_ref() else { return None };
        table.get("name")?.get_ref().as_str().filter(|name| !name.trim().is_empty())
    }
}

fn is_empty(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(table) => table.values().all(|value| is_empty(value.get_ref())),
        DeValue::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// Removes what is at a path: a key, or one table of a list. A list with a wrong value is removed
/// as a whole. Returns whether anything was there.
fn remove(table: &mut DeTable<'_>, path: &[&Segment]) -> bool {
    let [Segment::Map { key }, rest @ ..] = path else { return false };
    match (table.get_mut(key.as_str()).map(Spanned::get_mut), rest) {
        (Some(DeValue::Table(inner)), [_, ..]) => remove(inner, rest),
        (Some(DeValue::Array(list)), [Segment::Seq { index }, rest @ ..]) => {
            match (list.get_mut(*index).map(Spanned::get_mut), rest) {
                (Some(DeValue::Table(inner)), [_, ..]) => remove(inner, rest),
                _ => table.remove(key.as_str()).is_some(),
            }
        }
        (Some(_), _) => table.remove(key.as_str()).is_some(),
        (None, _) => false,
    }
}

/// Adds an entry to what was read before: keys to their table, tables to their list.
fn append(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => append(into, from),
            (Some(toml::Value::Array(into)), toml::Value::Array(from)) => into.extend(from),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// Returns the line and the column of an offset in a text, both starting at 1.
pub(super) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    (before.matches('\n').count() + 1, column)
}

/// Adds to a parser's error its position in the text, and the key that was probably meant.
pub(super) fn located(error: &toml::de::Error, text: &str, file: &str, key: &str) -> ConfigError {
    let at = error.span().map_or(0, |span| span.start);
    let (line, column) = line_and_column(text, at);
    let why = without_secrets(error.message().trim(), text.lines().nth(line - 1).unwrap_or_default());
    let belongs = |table| format!("`{}` belongs in {table}", key.rsplit('.').next().unwrap_or(key));
    let similar = || similar_word(&why).map(|word| format!("did you mean `{word}`?"));
    let hint = table_of(key, &why).map(belongs).or_else(similar);
    // The key is named before it.
    let expected = why.strip_prefix("unknown field ").and_then(|rest| rest.split_once(", "));
    let instead = if expected.is_some() { Instead::Nothing } else { Instead::Default };
    let why = match (hint, expected) {
        (Some(hint), Some(_)) => format!("unknown key ({hint})"),
        (Some(hint), None) => format!("{} ({hint})", in_plain_words(&why, key)),
        (None, Some((_, expected))) => format!("unknown key, {expected}"),
        (None, None) => in_plain_words(&why, key),
    };
    ConfigError::Bad { file: file.to_owned(), line, column, key: without_secrets(key, ""), why, instead }
}

/// Returns what serde says of a wrong value in the words of a config file.
fn in_plain_words(why: &str, key: &str) -> String {
    if let Some(rest) = why.strip_prefix("unknown variant ") {
        return rest.replacen(", expected", " is not a value here, expected", 1);
    }
    let found = why.strip_prefix("invalid type: ").or_else(|| why.strip_prefix("invalid value: "));
    let Some((found, expected)) = found.and_then(|rest| rest.split_once(", expected ")) else {
        return why.to_owned();
    };
    if (found, expected) == ("map", "a sequence") && !key.contains('.') {
        return format!("one table where there may be several: write [[{key}]]");
    }
    let found = match found.split_once(' ') {
        Some(("string" | "integer" | "boolean" | "floating", value)) => value.trim_start_matches("point "),
        _ => match found {
            "map" => "a table",
            "sequence" => "a list",
            other => other,
        },
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "a table",
        "a boolean" => "true or false",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    format!("{expected} is expected, not {found}")
}

/// Returns a parser's message without the secrets that it quotes, and without terminal control
/// sequences. `line` is the line that it is about, where secrets are recognised.
pub(super) fn without_secrets(words: &str, line: &str) -> String {
    let masked = mask(words);
    let is_safe = masked.count == 0 && mask(line).count == 0;
    let words = if is_safe {
        words.to_owned()
    } else {
        // The text from the first quote to the last may be the value.
        let quote = |letter: char| letter == '"' || letter == '`';
        match (masked.text.find(quote), masked.text.rfind(quote)) {
            (Some(from), Some(to)) => {
                format!("{}a value that looks like a secret{}", &masked.text[..from], &masked.text[to + 1..])
            }
            _ => masked.text,
        }
    };
    harmless(&words).replace(['\n', '\t'], " ")
}

/// Returns the table that has this key, if another table lacks it.
fn table_of(key: &str, message: &str) -> Option<String> {
    if !message.starts_with("unknown field") {
        return None;
    }
    let name = key.rsplit('.').next().unwrap_or(key);
    let all = settings();
    let mut tables: Vec<String> =
        all.iter().filter(|setting| setting.key == name).map(super::reference::Setting::head).collect();
    tables.dedup();
    // A name that several tables have is more likely misspelt than misplaced, unless it has no
    // table at all.
    (tables.len() == 1 || !key.contains('.')).then(|| tables.join(" or ")).filter(|tables| !tables.is_empty())
}

/// From this ratio of shared letters on, a word counts as a misspelling of another.
const SIMILAR: f32 = 0.6;
/// The longest name that is compared with the others.
const LONGEST_WORD: usize = 64;

/// Returns the allowed word that is most like the unknown one; serde's message names all of them.
fn similar_word(message: &str) -> Option<&str> {
    let mut words = message.split('`').skip(1).step_by(2);
    let is_unknown = ["unknown field", "unknown variant"].iter().any(|start| message.starts_with(start));
    let unknown = words.next().filter(|word| is_unknown && word.len() <= LONGEST_WORD)?.to_lowercase();
    let ratio = |word: &str| similar::TextDiff::from_chars(unknown.as_str(), word).ratio();
    let rated = words.map(|word| (ratio(&word.to_lowercase()), word));
    let likely = rated.filter(|(ratio, _)| *ratio >= SIMILAR);
    likely.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, word)| word)
}
