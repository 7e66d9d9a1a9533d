//! What the readers have cost today, all sessions together. What can't be read counts as nothing spent, and what can't be
//! written is not counted: a limit on money is the person's convenience, no promise of ours.

use std::io;
use std::path::PathBuf;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{StateFolder, lock_file, read_json, write_json};

/// The spending of one day.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Spending {
    /// Which day, such as `2026-11-18`.
    day: String,
    dollars: f64,
}

impl StateFolder {
    fn spending_file(&self) -> PathBuf {
        self.root().join("spending.json")
    }

    /// How much was spent on a day, in dollars.
    pub fn spent_on(&self, day: Date) -> f64 {
        let known: Spending = read_json(&self.spending_file()).unwrap_or_default();
        if known.day == day.to_string() { known.dollars } else { 0.0 }
    }

    /// Adds to what was spent on a day.
    pub fn spend(&self, day: Date, dollars: f64) -> io::Result<()> {
        let path = self.spending_file();
        let lock = lock_file(&path.with_extension("lock"))?;
        lock.lock()?;
        let dollars = self.spent_on(day) + dollars;
        write_json(&path, &Spending { day: day.to_string(), dollars })
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn each_day_begins_with_nothing_spent() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (today, tomorrow) = (date(2026, 11, 18), date(2026, 11, 19));
        state.spend(today, 0.25).expect("written");
        state.spend(today, 0.5).expect("written");
        assert!((state.spent_on(today) - 0.75).abs() < 1e-9);
        assert!(state.spent_on(tomorrow).abs() < 1e-9);
        state.spend(tomorrow, 0.1).expect("written");
        assert!(state.spent_on(today).abs() < 1e-9);
    }
}
