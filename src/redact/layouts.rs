//! Finds secrets whose name stands on another line than they do: lists and blocks below a key,
//! columns below a head. Must not look further than a bounded number of lines, nor judge values
//! (that is `values`).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Find;
use crate::redact::assignments::{is_secret_name, may_name_a_secret};
use crate::redact::values::{has_letters_and_digits, is_stand_in};

/// More lines of a block, a list or a table are not read.
const MOST_LINES: usize = 200;

/// Where a list in brackets begins, behind its key and the sign.
static OPEN_BRACKET: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[:=][ \t]{0,4}\[").expect("a valid pattern"));

/// A longer list in brackets is not read, and no longer name.
const LONGEST_LIST: usize = 2_000;
const LONGEST_NAME: usize = 80;

static LITERAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#""([^"\n]{3,200})"|'([^'\n]{3,200})'"#).expect("a valid pattern"));

pub(super) fn finds(text: &str) -> Vec<Find> {
    // Every layout has the name of a secret in it.
    if !may_name_a_secret(text) {
        return Vec::new();
    }
    let mut finds = below_keys(text);
    finds.extend(in_brackets(text));
    finds.extend(in_columns(text));
    finds
}

/// `passwords` names what `password` names.
fn is_name(name: &str) -> bool {
    is_secret_name(name) || name.strip_suffix('s').is_some_and(is_secret_name)
}

/// Whether a value is one of such a name: a token may be a parser's, and a number may count them.
fn is_guarded(name: &str, value: &str) -> bool {
    let is_token = name.to_lowercase().trim_end_matches('s').ends_with("token");
    has_letters_and_digits(value) || !is_token && value.bytes().any(|b| !b.is_ascii_digit())
}

fn is_value(value: &str) -> bool {
    let is_plain = value.len() >= 3 && !value.contains([':', '(', '{', '[', '<', '$']);
    is_plain && !is_stand_in(value) && value.bytes().any(|b| b.is_ascii_alphanumeric())
}

/// Returns the indentation and the name of a key that has nothing behind it on its line but,
/// perhaps, the mark of a block; and whether there is one.
fn open_key(line: &str) -> Option<(usize, &str, bool)> {
    let content = line.trim_end();
    let without_mark =
        content.trim_end_matches(['+', '-', '0', '1', '2', '4', '8']).trim_end_matches(['|', '>']);
    let is_block = without_mark.len() < content.len();
    let head = without_mark.trim_end().strip_suffix(':')?;
    let indent = head.len() - head.trim_start().len();
    let name = head.trim_start().trim_start_matches("- ").trim_matches(['"', '\'', ' ']);
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b) || !b.is_ascii();
    let is_plain = (2..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_name);
    is_plain.then_some((indent, name, is_block))
}

/// What stands in a block or a list below a key.
fn below_keys(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let (mut at, mut done) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        // What stands below a key was looked at.
        if at <= done {
            continue;
        }
        let Some((indent, name, is_block)) = open_key(line) else { continue };
        if if is_block { is_secret_name(name) } else { is_name(name) } {
            done = below_key(text, at, (indent, name, is_block), &mut finds);
        }
    }
    finds
}

/// Returns where it ends.
fn below_key(
    text: &str,
    start: usize,
    (indent, name, is_block): (usize, &str, bool),
    finds: &mut Vec<Find>,
) -> usize {
    let mut at = start;
    for line in text[start..].split_inclusive('\n').take(MOST_LINES) {
        let content = line.trim();
        let content_at = at + (line.len() - line.trim_start().len());
        let is_deeper = line.len() - line.trim_start().len() > indent;
        let item = content.strip_prefix("- ").map(str::trim);
        let value = match item {
            _ if content.is_empty() => "",
            Some(item) if !is_block => item.trim_matches(['"', '\'', ',']),
            _ if is_block && is_deeper => content,
            _ => return at,
        };
        let is_item = is_value(value) && !value.contains(' ') && is_guarded(name, value);
        if is_item || is_block && !value.is_empty() && !is_stand_in(value) {
            let from = content_at + content.find(value).unwrap_or(0);
            finds.push(Find { range: from..from + value.len(), kind: "password" });
        }
        at += line.len();
    }
    at
}

fn in_brackets(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    for open in OPEN_BRACKET.find_iter(text) {
        let name_at = text.ceil_char_boundary(open.start().saturating_sub(LONGEST_NAME));
        let before = text[name_at..open.start()].trim_end_matches([' ', '\t', '"', '\'', '\\']);
        let name =
            before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').next().unwrap_or_default();
        if !is_name(name) {
            continue;
        }
        let limit = text.floor_char_boundary(text.len().min(open.end() + LONGEST_LIST));
        let inside = &text[open.end()..limit];
        let inside = &inside[..inside.find(']').unwrap_or(inside.len())];
        for literal in LITERAL.captures_iter(inside) {
            let Some(value) = literal.get(1).or_else(|| literal.get(2)) else { continue };
            let is_long = value.len() >= 6 && is_value(value.as_str()) && !value.as_str().contains(' ');
            // Names of fields are listed behind such a key, too.
            if is_long && (has_letters_and_digits(value.as_str()) || name.ends_with("words")) {
                finds.push(Find {
                    range: open.end() + value.start()..open.end() + value.end(),
                    kind: "password",
                });
            }
        }
    }
    finds
}

/// What stands in a column whose head is a secret's name.
fn in_columns(text: &str) -> Vec<Find> {
    let mut finds = Vec::new();
    let mut table: Option<Table> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        match &mut table {
            Some(head) if head.left > 0 && cells(content, head.delimiter).len() == head.columns => {
                head.left -= 1;
                for (column, name) in &head.secret {
                    let cell = cells(content, head.delimiter)[*column].clone();
                    let value = &content[cell.clone()];
                    let is_secret = is_value(value) && !value.contains(' ') && value.len() >= 4;
                    if is_secret && is_guarded(name, value) && (has_letters_and_digits(value) || head.is_csv)
                    {
                        finds.push(Find { range: at + cell.start..at + cell.end, kind: "password" });
                    }
                }
            }
            _ => table = Table::with_head(content),
        }
        at += line.len();
    }
    finds
}

struct Table {
    delimiter: char,
    columns: usize,
    /// Which of them have a secret's name, and that.
    secret: Vec<(usize, String)>,
    is_csv: bool,
    /// How many lines it may have still.
    left: usize,
}

impl Table {
    /// Returns the table that a line is the head of, if one of its columns has a secret's name and
    /// all are names.
    fn with_head(line: &str) -> Option<Self> {
        const LONGEST_HEAD: usize = 400;
        if line.len() > LONGEST_HEAD {
            return None;
        }
        let delimiter = ['|', ',', ';', '\t'].into_iter().find(|delimiter| line.contains(*delimiter))?;
        let may_be_in_head =
            |c: char| c.is_alphanumeric() || c.is_whitespace() || c == delimiter || "_-.\"".contains(c);
        let names_secret =
            |lower: &str| ["pass", "secret", "token", "pwd"].iter().any(|word| lower.contains(word));
        if !line.chars().all(may_be_in_head) || !names_secret(&line.to_lowercase()) {
            return None;
        }
        let heads = cells(line, delimiter);
        let is_head = |cell: &Range<usize>| {
            let name = &line[cell.clone()];
            name.len() <= 40 && name.chars().all(|c| c.is_alphanumeric() || "_- .".contains(c))
        };
        let is_secret = |(at, cell): (usize, &Range<usize>)| {
            let name = line[cell.clone()].to_lowercase();
            // A single word: a sentence has commas, too.
            (!name.contains(' ') && is_name(&name)).then_some((at, name))
        };
        let secret: Vec<(usize, String)> = heads.iter().enumerate().filter_map(is_secret).collect();
        let is_table = heads.len() >= 2 && heads.iter().all(is_head) && !secret.is_empty();
        let is_csv = delimiter != '|';
        is_table.then_some(Self { delimiter, columns: heads.len(), secret, is_csv, left: MOST_LINES })
    }
}

/// Returns the cells of a line, without blanks and quotes at their ends.
fn cells(line: &str, delimiter: char) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut at = 0;
    for cell in line.split(delimiter) {
        let bare = cell.trim().trim_matches('"');
        let start = at + cell.find(bare).unwrap_or(0);
        cells.push(start..start + bare.len());
        at += cell.len() + delimiter.len_utf8();
    }
    cells
}
