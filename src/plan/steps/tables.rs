//! Which rows of a table are steps, by the contents of its columns. Must not read the names of the
//! columns.

use std::ops::Range;

use super::{Mark, marks};

/// A row that is a step.
pub(super) struct Row {
    /// Its text in the source, without a leading number, and without the status if that is the
    /// first or the last cell.
    pub words: Range<usize>,
    pub mark: Mark,
    /// Whether a box shows its status.
    pub boxed: bool,
}

/// Returns the steps of a table, whose rows below the header are at `rows`: all of its rows if a
/// column has boxes or marks, or if the first one has numbers; else none.
pub(super) fn steps(source: &str, rows: &[Range<usize>]) -> Vec<Row> {
    let rows: Vec<Vec<Range<usize>>> = rows.iter().map(|row| cells(source, row)).collect();
    let status = status_column(source, &rows);
    let counts = counts(source, &rows);
    if status.is_none() && !counts {
        return Vec::new();
    }
    rows.iter().filter_map(|cells| step(source, cells, status, counts)).collect()
}

fn step(source: &str, cells: &[Range<usize>], status: Option<usize>, counts: bool) -> Option<Row> {
    let shown = status.and_then(|column| cells.get(column)).map(|cell| mark_of(&source[cell.clone()]));
    let (mark, boxed) = shown.unwrap_or((Mark::None, false));
    let first = usize::from(counts);
    let is_last = status.is_some_and(|column| column > first && column + 1 == cells.len());
    let kept = cells.get(first..cells.len() - usize::from(is_last))?;
    let mut words = kept.first()?.start..kept.last()?.end;
    // A box in the first cell is removed, and the text beside it stays.
    if status == Some(first) {
        let rest = marks::opening(&source[kept[0].clone()]).text;
        words.start = match (rest.is_empty(), kept.get(1)) {
            (true, next) => next?.start,
            (false, _) => kept[0].end - rest.len(),
        };
    }
    let is_struck = kept.iter().any(|cell| marks::is_struck(&source[cell.clone()]));
    let has_words = source[words.clone()].contains(char::is_alphanumeric);
    has_words.then_some(Row { words, mark: if is_struck { Mark::Abandoned } else { mark }, boxed })
}

/// Returns the cells of a row, without surrounding spaces.
fn cells(source: &str, row: &Range<usize>) -> Vec<Range<usize>> {
    let line = source[row.clone()].trim_end();
    let lead = line.len() - line.trim_start().len();
    let lead = lead + usize::from(line[lead..].starts_with('|'));
    let mut cells = Vec::new();
    let (mut from, mut escaped) = (lead, false);
    for (at, c) in line.char_indices().skip_while(|(at, _)| *at < lead) {
        if c == '|' && !escaped {
            cells.push(from..at);
            from = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    if from < line.len() {
        cells.push(from..line.len());
    }
    let trimmed = cells.into_iter().map(|cell| {
        let text = &line[cell.clone()];
        let start = cell.start + (text.len() - text.trim_start().len());
        row.start + start..row.start + start + text.trim().len()
    });
    trimmed.collect()
}

/// Returns the mark that a cell starts or ends with, and whether it is a box.
fn mark_of(cell: &str) -> (Mark, bool) {
    let opened = marks::opening(cell);
    match opened.mark {
        Mark::None => (marks::closing(cell).unwrap_or(Mark::None), false),
        mark => (mark, opened.boxed),
    }
}

/// Returns the column with boxes, or else the only one with symbols, which at least half of its
/// cells must have. Tables that compare things have symbols in several.
fn status_column(source: &str, rows: &[Vec<Range<usize>>]) -> Option<usize> {
    let columns = rows.iter().map(Vec::len).max()?;
    let mut boxes = vec![0; columns];
    let mut signs = vec![0; columns];
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            match mark_of(&source[cell.clone()]) {
                (Mark::None, _) => {}
                (_, true) => boxes[column] += 1,
                (_, false) => signs[column] += 1,
            }
        }
    }
    let most = (0..columns).rev().max_by_key(|column| boxes[*column])?;
    if boxes[most] > 0 {
        return Some(most);
    }
    let mut signed = (0..columns).filter(|column| signs[*column] > 0);
    let only = signed.next().filter(|_| signed.next().is_none())?;
    (signs[only] * 2 >= rows.len()).then_some(only)
}

/// Returns whether the first column is numbered: 1, 2, 3, or 1.1, 1.2, 2.1.
fn counts(source: &str, rows: &[Vec<Range<usize>>]) -> bool {
    let numbers: Option<Vec<Vec<u32>>> =
        rows.iter().map(|row| row.first().and_then(|cell| number(&source[cell.clone()]))).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.len() > 1) else { return false };
    let begins = numbers[0].iter().all(|part| *part <= 1);
    begins && numbers.windows(2).all(|pair| is_next(&pair[0], &pair[1]))
}

/// Returns whether a number follows another: its last part is one more, or an earlier part is and
/// new parts begin.
fn is_next(one: &[u32], other: &[u32]) -> bool {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    match (one.get(same), other.get(same)) {
        (Some(a), Some(b)) => a.checked_add(1) == Some(*b) && other[same + 1..].iter().all(|part| *part <= 1),
        (None, Some(b)) => *b <= 1,
        _ => false,
    }
}

fn number(cell: &str) -> Option<Vec<u32>> {
    let digits = cell.trim_matches(['*', '_', '`', '#', '.', ')', '(', ' ']);
    digits.split('.').map(|part| part.parse().ok().filter(|_| part.len() <= 3)).collect()
}
