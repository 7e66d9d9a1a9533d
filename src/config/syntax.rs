//! TOML syntax errors in a config file: each one costs the key that it is in, or the rest of a
//! table whose header can't be read, and nothing else. Must not move a key to another table.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::parse::{line_and_column, located, without_secrets};
use super::{ConfigError, Instead};

/// A file with more syntax errors than this is not read at all.
const MOST_PLACES: usize = 10;
/// The parser's message for a key that is there twice.
const DUPLICATE: &str = "duplicate key";

/// Returns a text with syntax errors, and what depends on them, replaced by spaces, and the errors.
/// Everything else keeps its position.
pub(super) fn without_faults(text: &str, file: &str) -> (String, Vec<ConfigError>) {
    let (mut left, mut errors) = (text.to_owned(), Vec::new());
    for _ in 0..MOST_PLACES {
        let (document, faults) = DeTable::parse_recoverable(&left);
        let places = faults.iter().filter(|fault| fault.message() != DUPLICATE);
        let first = places.map(|fault| (fault.span().map_or(0, |span| span.start), fault));
        let Some((at, fault)) = first.min_by_key(|(at, _)| *at) else { return (left, errors) };
        let lost = entry_at(document.get_ref(), &left, at).unwrap_or_else(|| rest_of_table(&left, at));
        let mut error = located(fault, text, file, "not TOML");
        if let ConfigError::Bad { instead, .. } = &mut error {
            *instead = Instead::Said(ignored_lines(&left, &lost));
        }
        errors.push(error);
        left = blanked(&left, lost);
    }
    let why = format!("more than {MOST_PLACES} places are not TOML: nothing of it counts");
    errors.push(ConfigError::Unreadable { file: file.to_owned(), why });
    (String::new(), errors)
}

/// Says which lines do not count. What is blank already was said before, or is nothing.
fn ignored_lines(text: &str, lost: &Range<usize>) -> String {
    let part = &text[lost.clone()];
    let from = lost.start + (part.len() - part.trim_start().len());
    let to = (lost.start + part.trim_end().len()).max(from);
    match (line_and_column(text, from).0, line_and_column(text, to).0) {
        (from, to) if from < to => format!("lines {from} to {to} are ignored"),
        (line, _) => format!("line {line} is ignored"),
    }
}

/// Reports duplicate keys and their positions. The first of two keys counts; the keys of two tables
/// are merged.
pub(super) fn duplicates(
    document: &DeTable<'_>,
    faults: &[toml::de::Error],
    text: &str,
    file: &str,
) -> Vec<ConfigError> {
    let twice = faults.iter().filter(|fault| fault.message() == DUPLICATE).filter_map(toml::de::Error::span);
    twice.map(|second| duplicate(document, text, file, second)).collect()
}

/// Returns the range of the key whose value includes a position, to the end of its line at least.
fn entry_at(table: &DeTable<'_>, text: &str, at: usize) -> Option<Range<usize>> {
    table.iter().find_map(|(key, value)| {
        let tables: Vec<&DeTable<'_>> = match value.get_ref() {
            DeValue::Table(inner) => vec![inner],
            DeValue::Array(list) => list.iter().filter_map(as_table).collect(),
            _ => Vec::new(),
        };
        if !tables.is_empty() {
            return tables.into_iter().find_map(|inner| entry_at(inner, text, at));
        }
        let end = text.floor_char_boundary(value.span().end.max(key.span().end));
        let line_end = text[end..].find('\n').map_or(text.len(), |rest| end + rest);
        let entry = key.span().start..line_end;
        (entry.start <= at && at <= entry.end).then_some(entry)
    })
}

fn as_table<'t, 'd>(value: &'t Spanned<DeValue<'d>>) -> Option<&'t DeTable<'d>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Returns the range from the line of a position to the next table header.
fn rest_of_table(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut lines = text[at..].match_indices('\n').map(|(end, _)| at + end + 1);
    let end = lines.find(|next| is_head(&text[*next..]));
    start..end.unwrap_or(text.len())
}

fn is_head(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('[')
}

/// Replaces each byte of a range with a space, so that everything else keeps its position.
fn blanked(text: &str, lost: Range<usize>) -> String {
    let blanks: String =
        text[lost.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    format!("{}{blanks}{}", &text[..lost.start], &text[lost.end..])
}

fn duplicate(document: &DeTable<'_>, text: &str, file: &str, second: Range<usize>) -> ConfigError {
    let (line, column) = line_and_column(text, second.start);
    let name = text.get(second.clone()).unwrap_or_default().trim_matches(['"', '\'']);
    let heads: Vec<(usize, &str)> = text
        .lines()
        .take(line)
        .enumerate()
        .filter(|(_, line)| is_head(line))
        .map(|(at, line)| (at + 1, named(line)))
        .collect();
    let (key, first, instead) = match heads.last() {
        Some((at, table)) if *at == line => {
            let head = heads.iter().find(|(at, other)| *at < line && other == table).map(|(at, _)| *at);
            // `audit.enabled = true` makes a table without a head.
            let is_key = |line: &str| line.trim_start().starts_with(&format!("{table}."));
            let first = head.or_else(|| text.lines().take(line).position(is_key).map(|at| at + 1));
            (format!("[{table}]"), first, "the keys of both count")
        }
        head => {
            let path = head.map_or_else(|| name.to_owned(), |(_, table)| format!("{table}.{name}"));
            let first = place_of(document, &path, second.start).map(|at| line_and_column(text, at).0);
            (path, first, "the first one counts")
        }
    };
    let first = first.map_or_else(String::new, |first| format!(" on line {first}"));
    let why = format!("duplicate key: already set{first}");
    let (file, key) = (file.to_owned(), without_secrets(&key, ""));
    ConfigError::Bad { file, line, column, key, why, instead: Instead::Said(instead.to_owned()) }
}

/// Returns the name in a table header.
fn named(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim().trim_matches(['[', ']']).trim()
}

/// Returns the last position of a key before an offset.
fn place_of(document: &DeTable<'_>, path: &str, before: usize) -> Option<usize> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (key, value) = document.get_key_value(first)?;
    match (rest, value.get_ref()) {
        (None, _) => Some(key.span().start).filter(|start| *start < before),
        (Some(rest), DeValue::Table(inner)) => place_of(inner, rest, before),
        (Some(rest), DeValue::Array(list)) => {
            list.iter().rev().filter_map(as_table).find_map(|inner| place_of(inner, rest, before))
        }
        _ => None,
    }
}
