//! What is no TOML in a config file: costs the key that it is in, or the rest of a table whose head can't be read, and
//! nothing else. Must not put a key into another table than the person did.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::parse::{line_and_column, located, without_secrets};

/// A file with more places than these that are no TOML is not read at all.
const MOST_PLACES: usize = 10;
/// The parser's word for a key that stands there twice.
const DUPLICATE: &str = "duplicate key";

/// Returns a text with blanks in the place of what is no TOML and of what depends on that, and the errors beside it.
/// Everything else stays where it was.
pub(super) fn without_faults(text: &str, file: &str) -> (String, Vec<ConfigError>) {
    let (mut left, mut errors) = (text.to_owned(), Vec::new());
    for _ in 0..MOST_PLACES {
        let (document, faults) = DeTable::parse_recoverable(&left);
        let places = faults.iter().filter(|fault| fault.message() != DUPLICATE);
        let first = places.map(|fault| (fault.span().map_or(0, |span| span.start), fault));
        let Some((at, fault)) = first.min_by_key(|(at, _)| *at) else { return (left, errors) };
        errors.push(located(fault, text, file, "not TOML"));
        let lost = entry_at(document.get_ref(), &left, at).unwrap_or_else(|| rest_of_table(&left, at));
        left = blanked(&left, lost);
    }
    let why = format!("more than {MOST_PLACES} places are not TOML: nothing of it counts");
    errors.push(ConfigError::Unreadable { file: file.to_owned(), why });
    (String::new(), errors)
}

/// Says which keys stand there twice, and where. Of two keys the first counts; the keys of two tables are put together.
pub(super) fn duplicates(
    document: &DeTable<'_>,
    faults: &[toml::de::Error],
    text: &str,
    file: &str,
) -> Vec<ConfigError> {
    let twice = faults.iter().filter(|fault| fault.message() == DUPLICATE).filter_map(toml::de::Error::span);
    twice.map(|second| duplicate(document, text, file, second)).collect()
}

/// Returns from where to where the key goes in whose value a place is, to the end of its line at least.
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

/// From the line of a place to the next head of a table.
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

/// Puts a blank in the place of each byte of a range, so that everything else stays where it was.
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
    let (key, first, why) = match heads.last() {
        Some((at, table)) if *at == line => {
            let first = heads.iter().find(|(at, other)| *at < line && other == table).map(|(at, _)| *at);
            (format!("[{table}]"), first, "one head is enough, the keys of both count")
        }
        head => {
            let path = head.map_or_else(|| name.to_owned(), |(_, table)| format!("{table}.{name}"));
            let first = place_of(document, &path, second.start).map(|at| line_and_column(text, at).0);
            (path, first, "the first one counts")
        }
    };
    let first = first.map_or_else(String::new, |first| format!(" on line {first}"));
    let why = format!("duplicate key: it stands{first} already; {why}");
    ConfigError::Bad { file: file.to_owned(), line, column, key: without_secrets(&key, ""), why }
}

/// The name in the head of a table.
fn named(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim().trim_matches(['[', ']']).trim()
}

/// Where a key stands for the last time before a place.
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
