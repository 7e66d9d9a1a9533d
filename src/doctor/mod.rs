//! Judges whether everything is in place: one mark and one next step for each thing that was looked
//! up. Pure: `commands::doctor` does the looking up.

pub mod client;
pub mod config;
pub mod gate;
pub mod registration;
pub mod state;

use serde::Serialize;

/// The version of the JSON format. Fields may be added under it; none is renamed or changes its
/// meaning.
pub const SCHEMA: u32 = 1;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// All is well.
    Fine,
    /// Worth knowing; nothing has to be done.
    Note,
    /// Something has to be done.
    Fault,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its subject, in one word.
    pub name: &'static str,
    /// Its result.
    pub mark: Mark,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub next: Option<String>,
}

impl Check {
    /// Nothing to do.
    pub fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fine, found: found.into(), next: None }
    }

    /// Worth knowing.
    pub fn note(name: &'static str, found: impl Into<String>, next: Option<String>) -> Self {
        Self { name, mark: Mark::Note, found: found.into(), next }
    }

    /// Something has to be done.
    pub fn fault(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fault, found: found.into(), next: Some(next.into()) }
    }
}

/// All checks. Serialized, it is the JSON output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`]
    pub schema: u32,
    /// Our version.
    pub version: &'static str,
    /// Whether there is no fault.
    pub fine: bool,
    /// Every check, in order.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// Sums the checks up.
    pub fn new(checks: Vec<Check>) -> Self {
        let fine = checks.iter().all(|check| check.mark != Mark::Fault);
        Self { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), fine, checks }
    }

    /// Returns the number of faults.
    pub fn faults(&self) -> usize {
        self.checks.iter().filter(|check| check.mark == Mark::Fault).count()
    }
}
