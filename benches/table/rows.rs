//! The rows of the table: what was measured, what it may be at the most, and how they are printed.

use serde::Serialize;

/// In what a row is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Unit {
    Times,
    Megabytes,
    Milliseconds,
    Count,
}

/// One row.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) measured: f64,
    pub(crate) unit: Unit,
    /// A row without a limit is there for comparison.
    pub(crate) limit: Option<f64>,
    /// The figures behind it.
    pub(crate) note: String,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, measured: f64, unit: Unit, limit: f64) -> Self {
        Self { name: name.into(), measured, unit, limit: Some(limit), note: String::new() }
    }

    pub(crate) fn without_limit(name: impl Into<String>, measured: f64, unit: Unit) -> Self {
        Self { limit: None, ..Self::new(name, measured, unit, 0.0) }
    }

    pub(crate) fn note(self, note: String) -> Self {
        Self { note, ..self }
    }

    /// Returns whether the row is over its limit by more than `slack`, a factor. A limit of nothing
    /// has no slack.
    pub(crate) fn misses(&self, slack: f64) -> bool {
        self.limit.is_some_and(|limit| self.measured > if limit == 0.0 { 0.0 } else { limit * slack })
    }

    fn verdict(&self, slack: f64) -> &'static str {
        match self.limit {
            None => "",
            Some(limit) if self.measured <= limit => "holds",
            Some(_) if self.misses(slack) => "MISSED",
            Some(_) => "over, within the slack",
        }
    }

    fn in_unit(&self, number: f64) -> String {
        match self.unit {
            Unit::Times => format!("{number:.2} ×"),
            Unit::Megabytes => format!("{number:.1} MB"),
            Unit::Milliseconds => format!("{number:.1} ms"),
            Unit::Count => format!("{number:.0}"),
        }
    }
}

/// Returns the table as text: rows with a limit first, then those for comparison.
pub(crate) fn table(rows: &[Row], slack: f64) -> String {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = format!("{:width$}  {:>12} {:>12}  {:22}  from\n", "", "measured", "at most", "");
    let (limited, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.limit.is_some());
    for row in limited {
        let limit = row.limit.map(|limit| row.in_unit(limit)).unwrap_or_default();
        text += &format!(
            "{:width$}  {:>12} {limit:>12}  {:22}  {}\n",
            row.name,
            row.in_unit(row.measured),
            row.verdict(slack),
            row.note
        );
    }
    if !others.is_empty() {
        text += "\nfor comparison\n";
    }
    for row in others {
        text += &format!("{:width$}  {:>12}  {}\n", row.name, row.in_unit(row.measured), row.note);
    }
    text
}
