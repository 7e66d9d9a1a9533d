//! A table for a terminal: takes columns, rows and a width, gives lines with colours that whoever prints them takes out where they do
//! not belong. Pure. Where not all fits, columns that say the least are left out, and the last one is cut; no line wraps.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::text::is_harmless;

const HEAD: Style = Style::new().bold();

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// How soon it is left out where there is little room; never where it is 0.
    pub(crate) leaves: u8,
    pub(crate) is_right: bool,
}

impl Column {
    /// One that stays.
    pub(crate) const fn stays(title: &'static str) -> Self {
        Self { title, leaves: 0, is_right: false }
    }

    /// One that may be left out: the higher, the sooner.
    pub(crate) const fn leaves(title: &'static str, leaves: u8) -> Self {
        Self { title, leaves, is_right: false }
    }

    /// The same with its numbers below each other.
    pub(crate) const fn right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

/// A cell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// In a style. What would steer a terminal or end the line is a mark.
    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        let clean = |letter: char| if is_harmless(letter) { letter } else { char::REPLACEMENT_CHARACTER };
        Self { text: text.as_ref().chars().map(clean).collect(), style }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// The lines, indented by `left`. The last column is cut down to `least` before another one goes. A column that is empty in every row is left out; without a width nothing else is.
pub(crate) fn table(
    columns: &[Column],
    rows: &[Vec<Cell>],
    width: Option<usize>,
    left: usize,
    least: usize,
) -> String {
    let natural = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width()).max();
    let mut shown: Vec<(usize, usize)> = (0..columns.len())
        .filter_map(|at| Some((at, natural(at).filter(|width| *width > 0)?.max(columns[at].title.width()))))
        .collect();
    let total = |shown: &[(usize, usize)]| {
        left + shown.iter().map(|(_, width)| width + 2).sum::<usize>().saturating_sub(2)
    };
    if let Some(most) = width {
        let needs = |shown: &[(usize, usize)]| {
            let room = shown.last().map_or(0, |(_, width)| *width);
            total(shown) - room + room.min(least)
        };
        while needs(&shown) > most {
            let next = shown.iter().enumerate().max_by_key(|(_, (at, _))| columns[*at].leaves);
            match next {
                Some((place, (at, _))) if columns[*at].leaves > 0 => drop(shown.remove(place)),
                _ => break,
            }
        }
        let over = total(&shown).saturating_sub(most);
        if let Some((_, last)) = shown.last_mut() {
            *last = last.saturating_sub(over).max(1);
        }
    }
    let mut text = String::new();
    let head: Vec<Cell> = columns.iter().map(|column| Cell::styled(column.title, HEAD)).collect();
    for row in std::iter::once(&head).chain(rows) {
        let mut line = " ".repeat(left);
        for (place, (at, width)) in shown.iter().enumerate() {
            let empty = Cell::default();
            let cell = row.get(*at).unwrap_or(&empty);
            let words = cut(&cell.text, *width);
            let room = " ".repeat(width.saturating_sub(words.width()));
            let gap = if place == 0 { "" } else { "  " };
            let style = cell.style;
            let is_last = place + 1 == shown.len();
            line.push_str(gap);
            if columns[*at].is_right {
                line.push_str(&room);
            }
            line.push_str(&format!("{style}{words}{style:#}"));
            if !columns[*at].is_right && !is_last {
                line.push_str(&room);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// As much of a text as fits, with a mark where some is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut width = 0;
    for letter in text.chars() {
        width += letter.width().unwrap_or(0);
        if width >= most {
            break;
        }
        cut.push(letter);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(width: Option<usize>) -> String {
        let columns = [
            Column::stays("id"),
            Column::leaves("queue", 2),
            Column::leaves("age", 1).right(),
            Column::leaves("note", 3),
            Column::stays("title"),
        ];
        let row = |cells: [&str; 5]| cells.map(Cell::from).to_vec();
        let rows = [
            row(["t1", "default", "9 min", "", "mend the gate, which squeaks whenever the wind is up"]),
            row(["t12", "build", "1 h", "", "\u{1b}[2J漢字"]),
        ];
        anstream::adapter::strip_str(&table(&columns, &rows, width, 1, 24)).to_string()
    }

    #[test]
    fn all_of_it_where_there_is_room() {
        insta::assert_snapshot!(set(None), @r"
         id   queue      age  title
         t1   default  9 min  mend the gate, which squeaks whenever the wind is up
         t12  build      1 h  �[2J漢字
        ");
    }

    #[test]
    fn where_there_is_little_the_last_is_cut_then_columns_leave() {
        for width in [20, 34, 40, 50, 60, 80] {
            let text = set(Some(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        }
        insta::assert_snapshot!(set(Some(48)), @r"
         id   queue      age  title
         t1   default  9 min  mend the gate, which sque…
         t12  build      1 h  �[2J漢字
        ");
        insta::assert_snapshot!(set(Some(38)), @r"
         id     age  title
         t1   9 min  mend the gate, which squ…
         t12    1 h  �[2J漢字
        ");
    }
}
