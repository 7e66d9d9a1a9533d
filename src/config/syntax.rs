//! What is no TOML in a config file: costs the key that it is in, or the rest of a table whose head can't be read, and
//! nothing else. Must not put a key into another table than the person did.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::parse::{line_and_column, located, without_secrets};

/// Parses a text, without what is no TOML in it and what depends on that; returns the errors beside it.
pub(super) fn recovered<'t>(text: &'t str, file: &str) -> (DeTable<'t>, Vec<ConfigError>) {
    let (document, faults) = DeTable::parse_recoverable(text);
    let mut document = document.into_inner();
    let (mut errors, mut lost): (Vec<ConfigError>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let mut spans = Vec::new();
    spans_of(&document, text, &mut spans);
    let mut faults: Vec<_> = faults.iter().map(|fault| (fault.span().unwrap_or_default(), fault)).collect();
    faults.sort_by_key(|(span, _)| span.start);
    for (span, fault) in faults {
        if lost.iter().any(|lost| lost.contains(&span.start) || lost.end == span.start) {
            continue;
        }
        if fault.message() == "duplicate key" {
            errors.push(duplicate(&document, text, file, span));
            continue;
        }
        errors.push(located(fault, text, file, "not TOML"));
        let is_in = |entry: &&Range<usize>| entry.start <= span.start && span.start <= entry.end;
        lost.push(spans.iter().find(is_in).cloned().unwrap_or_else(|| rest_of_table(text, span.start)));
    }
    remove(&mut document, &lost);
    (document, errors)
}

/// Where each key and its value stand, to the end of the line at least.
fn spans_of(table: &DeTable<'_>, text: &str, spans: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        match value.get_ref() {
            DeValue::Table(inner) => spans_of(inner, text, spans),
            DeValue::Array(list) if list.iter().any(is_table) => {
                for one in list.iter() {
                    if let DeValue::Table(inner) = one.get_ref() {
                        spans_of(inner, text, spans);
                    }
                }
            }
            _ => {
                let end = value.span().end.max(key.span().end);
                let line_end =
                    text[text.floor_char_boundary(end)..].find('\n').map_or(text.len(), |at| end + at);
                spans.push(key.span().start..line_end);
            }
        }
    }
}

fn is_table(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_))
}

/// From the line of a place to the next head of a table.
fn rest_of_table(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].match_indices('\n').map(|(end, _)| at + end + 1);
    let end = end.into_iter().find(|next| text[*next..].trim_start_matches([' ', '\t']).starts_with('['));
    start..end.unwrap_or(text.len())
}

/// Removes every key that stands in a range.
fn remove(table: &mut DeTable<'_>, lost: &[Range<usize>]) {
    let is_lost = |at: usize| lost.iter().any(|lost| lost.contains(&at));
    let mut gone: Vec<String> = Vec::new();
    for (key, value) in table.iter_mut() {
        let is_left = match value.get_mut() {
            DeValue::Table(inner) => {
                remove(inner, lost);
                !inner.is_empty() || !is_lost(key.span().start)
            }
            DeValue::Array(list) if list.iter().any(is_table) => {
                for one in list.iter_mut() {
                    if let DeValue::Table(inner) = one.get_mut() {
                        remove(inner, lost);
                    }
                }
                true
            }
            _ => !is_lost(key.span().start),
        };
        if !is_left {
            gone.push(key.get_ref().to_string());
        }
    }
    for key in gone {
        table.remove(key.as_str());
    }
}

/// Says which key stands there twice, and where. Of two keys the first counts; the keys of two tables are put together.
fn duplicate(document: &DeTable<'_>, text: &str, file: &str, second: Range<usize>) -> ConfigError {
    let (line, column) = line_and_column(text, second.start);
    let name = text.get(second.clone()).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
    let lines: Vec<&str> = text.lines().take(line).collect();
    let head = |line: &&&str| line.trim_start().starts_with('[');
    let is_head = lines.last().is_some_and(|line| head(&line));
    let table = lines.iter().rev().find(head).map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        line.trim().trim_matches(['[', ']']).trim().to_owned()
    });
    let path = match &table {
        Some(table) if !is_head => format!("{table}.{name}"),
        _ => table.filter(|_| is_head).unwrap_or_else(|| name.clone()),
    };
    let first = place_of(document, &path, second.start).map(|at| line_and_column(text, at).0);
    let first = first.map_or_else(String::new, |first| format!(" on line {first}"));
    let (key, why) = if is_head {
        let why = format!(
            "duplicate key: the table begins{first} already; one head is enough, the keys of both count"
        );
        (format!("[{path}]"), why)
    } else {
        (path, format!("duplicate key: it is set{first} already, and that counts; take one of them out"))
    };
    ConfigError::Bad { file: file.to_owned(), line, column, key: without_secrets(&key, ""), why }
}

/// Where a key stands for the last time before a place.
fn place_of(document: &DeTable<'_>, path: &str, before: usize) -> Option<usize> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (key, value) = document.get_key_value(first)?;
    match (rest, value.get_ref()) {
        (None, _) => Some(key.span().start).filter(|start| *start < before),
        (Some(rest), DeValue::Table(inner)) => place_of(inner, rest, before),
        (Some(rest), DeValue::Array(list)) => list.iter().rev().find_map(|one| match one.get_ref() {
            DeValue::Table(inner) => place_of(inner, rest, before),
            _ => None,
        }),
        _ => None,
    }
}
