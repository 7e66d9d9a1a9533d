//! Tables for a terminal: cells under titles, no line wider than the terminal. If not everything
//! fits, columns are left out or cells are cut; no line wraps. The text has colours, which the
//! printing code strips if they do not belong there. Pure.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::text::is_harmless;

const HEAD: Style = Style::new().bold();

#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    /// The column with the highest order is left out first if there is little room; 0 always stays.
    drop_order: u8,
    is_right: bool,
}

impl Column {
    /// Returns a column that is always shown.
    pub(crate) const fn fixed(title: &'static str) -> Self {
        Self { title, drop_order: 0, is_right: false }
    }

    /// Returns a column that may be left out: the higher its order, the sooner.
    pub(crate) const fn droppable(title: &'static str, drop_order: u8) -> Self {
        Self { title, drop_order, is_right: false }
    }

    /// Returns the same, aligned to the right.
    pub(crate) const fn right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Returns a cell in a style.
    pub(crate) fn styled(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: clean(text.as_ref()), style }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// A column that is shown: its index, and its width.
pub(crate) type Shown = (usize, usize);

/// Rows under columns.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    columns: &'a [Column],
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
    indent: usize,
    has_head: bool,
}

impl<'a> Table<'a> {
    /// Returns a table with an indent, with or without column titles. A column that is empty in
    /// every row is left out.
    pub(crate) fn new(columns: &'a [Column], rows: Vec<Vec<Cell>>, indent: usize, has_head: bool) -> Self {
        let widest = |at: usize| rows.iter().map(|row| width(&row[at].text)).max().unwrap_or(0);
        let widths = columns.iter().enumerate().map(|(at, column)| match widest(at) {
            0 => 0,
            widest if has_head => widest.max(column.title.width()),
            widest => widest,
        });
        Self { columns, widths: widths.collect(), rows, indent, has_head }
    }

    /// Returns the width at which every cell of a column fits.
    pub(crate) fn natural_width(&self, column: usize) -> usize {
        self.widths[column]
    }

    /// Renders the table within a width: the last column is cut down to `least`, then columns are
    /// left out.
    pub(crate) fn dropping(&self, most: Option<usize>, least: usize) -> String {
        let mut shown: Vec<Shown> =
            self.widths.iter().copied().enumerate().filter(|(_, width)| *width > 0).collect();
        if let Some(most) = most {
            let needed = |shown: &[Shown]| {
                let tail = shown.last().map_or(0, |(_, width)| *width);
                self.total(shown) - tail + tail.min(least)
            };
            while needed(&shown) > most {
                let next = shown.iter().enumerate().max_by_key(|(_, (at, _))| self.columns[*at].drop_order);
                match next {
                    Some((place, (at, _))) if self.columns[*at].drop_order > 0 => drop(shown.remove(place)),
                    _ => break,
                }
            }
            let over = self.total(&shown).saturating_sub(most);
            if let Some((_, last)) = shown.last_mut() {
                *last = last.saturating_sub(over).max(1);
            }
        }
        self.draw(&shown)
    }

    /// Renders the table in the first layout that fits, each a list of columns and their maximum
    /// widths; in the last one if none does. Without a width, in the first one, with nothing cut.
    pub(crate) fn first_fit(&self, layouts: &[Vec<Shown>], most: Option<usize>) -> String {
        let shown = |layout: &Vec<Shown>| -> Vec<Shown> {
            let cap = |(at, cap): &Shown| {
                (*at, if most.is_some() { self.widths[*at].min(*cap) } else { self.widths[*at] })
            };
            layout.iter().map(cap).filter(|(_, width)| *width > 0).collect()
        };
        let fits = |shown: &Vec<Shown>| most.is_none_or(|most| self.total(shown) <= most);
        let fitting = layouts.iter().map(shown).find(fits).or_else(|| layouts.last().map(shown));
        self.draw(&fitting.unwrap_or_default())
    }

    fn total(&self, shown: &[Shown]) -> usize {
        self.indent + shown.iter().map(|(_, width)| width + 2).sum::<usize>().saturating_sub(2)
    }

    /// Renders columns with the given widths.
    pub(crate) fn draw(&self, shown: &[Shown]) -> String {
        let mut text = String::new();
        if self.has_head {
            let titles = |at: usize| (self.columns[at].title, Style::new());
            let line = self.line(shown, titles);
            text += &format!("{HEAD}{line}{HEAD:#}\n");
        }
        for row in &self.rows {
            text += &self.line(shown, |at| (row[at].text.as_str(), row[at].style));
            text.push('\n');
        }
        text
    }

    fn line<'c>(&self, shown: &[Shown], cell: impl Fn(usize) -> (&'c str, Style)) -> String {
        let mut line = " ".repeat(self.indent);
        for (place, (at, most)) in shown.iter().enumerate() {
            let (words, style) = cell(*at);
            let words = cut(words, *most);
            let room = " ".repeat(most.saturating_sub(width(&words)));
            line += if place == 0 { "" } else { "  " };
            if self.columns[*at].is_right {
                line += &room;
            }
            if words.is_empty() || style == Style::new() {
                line += &words;
            } else {
                line += &format!("{style}{words}{style:#}");
            }
            if !self.columns[*at].is_right {
                line += &room;
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Returns a text on one line, with line ends and terminal control characters replaced by a mark.
pub(crate) fn clean(words: &str) -> String {
    words
        .chars()
        .map(|letter| if is_harmless(letter) { letter } else { char::REPLACEMENT_CHARACTER })
        .collect()
}

/// Returns as much of a text as fits, with a mark if some is missing.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut wide = 0;
    for letter in text.chars() {
        wide += letter.width().unwrap_or(0);
        if wide >= most {
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
            Column::fixed("id"),
            Column::droppable("queue", 2),
            Column::droppable("age", 1).right(),
            Column::droppable("note", 3),
            Column::fixed("title"),
        ];
        let row = |cells: [&str; 5]| cells.map(Cell::from).to_vec();
        let rows = vec![
            row(["t1", "default", "9 min", "", "mend the gate, which squeaks whenever the wind is up"]),
            row(["t12", "build", "1 h", "", "\u{1b}[2J漢字"]),
        ];
        anstream::adapter::strip_str(&Table::new(&columns, rows, 1, true).dropping(width, 24)).to_string()
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
