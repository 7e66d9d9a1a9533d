//! The rows of the table: what was measured, what it may be at the most, whether it holds; and how they are printed.

use serde::Serialize;

/// In what a row is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    /// As a multiple of something.
    Times,
    /// In megabytes.
    Megabytes,
    /// In bytes.
    Bytes,
    /// In milliseconds.
    Milliseconds,
    /// In things.
    Count,
}

/// One row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// What it is about.
    pub(crate) name: String,
    /// What came out.
    pub(crate) measured: f64,
    /// In what.
    pub(crate) unit: Unit,
    /// What it may be; a row with no such number is there for comparison.
    pub(crate) most: Option<f64>,
    /// What it should be.
    pub(crate) aim: Option<f64>,
    /// The figures behind it.
    pub(crate) note: String,
    /// Whether it comes out the same each time, on any machine.
    pub(crate) exact: bool,
}

impl Row {
    /// A row that has to hold.
    pub(crate) fn new(name: &str, measured: f64, unit: Unit, most: f64) -> Self {
        Self {
            name: name.to_owned(),
            measured,
            unit,
            most: Some(most),
            aim: None,
            note: String::new(),
            exact: false,
        }
    }

    /// A row for comparison.
    pub(crate) fn beside(name: &str, measured: f64, unit: Unit) -> Self {
        Self { most: None, ..Self::new(name, measured, unit, 0.0) }
    }

    /// With what it should be.
    pub(crate) fn aim(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }

    /// With the figures behind it.
    pub(crate) fn note(self, note: String) -> Self {
        Self { note, ..self }
    }

    /// As one that comes out the same each time.
    pub(crate) fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    /// Whether it holds.
    pub(crate) fn verdict(&self) -> Verdict {
        match (self.most, self.aim) {
            (None, _) => Verdict::Beside,
            (Some(_), Some(aim)) if self.measured <= aim => Verdict::Aimed,
            (Some(most), _) if self.measured <= most => Verdict::Holds,
            (Some(most), _) if self.measured <= most * 1.2 => Verdict::Over,
            _ => Verdict::Missed,
        }
    }

    fn shown(&self, number: f64) -> String {
        match self.unit {
            Unit::Times => format!("{number:.2} ×"),
            Unit::Megabytes => format!("{number:.1} MB"),
            Unit::Bytes => format!("{number:.0} B"),
            Unit::Milliseconds => format!("{number:.2} ms"),
            Unit::Count => format!("{number:.0}"),
        }
    }
}

/// What is to be said of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As good as it should be.
    Aimed,
    /// Within what it may be.
    Holds,
    /// Over it by less than a fifth.
    Over,
    /// Over it by more.
    Missed,
    /// Nothing: there for comparison.
    Beside,
}

impl Verdict {
    fn words(self) -> &'static str {
        match self {
            Self::Aimed => "holds, as aimed",
            Self::Holds => "holds",
            Self::Over => "over, within a fifth",
            Self::Missed => "MISSED",
            Self::Beside => "",
        }
    }
}

/// The table as text.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let (rows, beside): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.most.is_some());
    let widest = |rows: &[&Row]| rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let width = widest(&rows).max(widest(&beside));
    text += &format!(
        "{:width$}  {:>12} {:>12} {:>9}  {:20}  {}\n",
        "", "measured", "at the most", "aim", "", "from"
    );
    for row in rows {
        let most = row.most.map(|most| row.shown(most)).unwrap_or_default();
        let aim = row.aim.map(|aim| row.shown(aim)).unwrap_or_default();
        text += &format!(
            "{:width$}  {:>12} {most:>12} {aim:>9}  {:20}  {}\n",
            row.name,
            row.shown(row.measured),
            row.verdict().words(),
            row.note
        );
    }
    if !beside.is_empty() {
        text += "\nfor comparison\n";
    }
    for row in beside {
        text += &format!("{:width$}  {:>12}  {}\n", row.name, row.shown(row.measured), row.note);
    }
    text
}
