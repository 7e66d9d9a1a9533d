//! What the readers of all sessions have cost on a day. A limit on money is a convenience, not a
//! guarantee: must not fail a stop.

use std::io;
use std::path::PathBuf;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{StateFolder, read_json, update_json};

/// The spending of one day, such as `2026-11-18`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Spending {
    day: String,
    dollars: f64,
}

impl StateFolder {
    fn spending_file(&self) -> PathBuf {
        self.root.join("spending.json")
    }

    /// Returns how much the readers of all sessions have cost on a day, in dollars. What can't be
    /// read counts as nothing spent: a limit on money is a convenience, not a guarantee.
    pub fn spent_on(&self, day: Date) -> f64 {
        let known: Spending = read_json(&self.spending_file()).unwrap_or_default();
        if known.day == day.to_string() { known.dollars } else { 0.0 }
    }

    pub fn spend(&self, day: Date, dollars: f64) -> io::Result<()> {
        update_json(&self.spending_file(), false, |known: &mut Spending| {
            let dollars = self.spent_on(day) + dollars;
            *known = Spending { day: day.to_string(), dollars };
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_begins_with_nothing_spent() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = StateFolder::at(folder.path());
        let (today, tomorrow) = (Date::constant(2026, 11, 18), Date::constant(2026, 11, 19));
        state.spend(today, 0.25).expect("written");
        state.spend(today, 0.5).expect("written");
        assert!((state.spent_on(today) - 0.75).abs() < 1e-9);
        assert!(state.spent_on(tomorrow).abs() < 1e-9);
        state.spend(tomorrow, 0.1).expect("written");
        assert!(state.spent_on(today).abs() < 1e-9);
    }
}
