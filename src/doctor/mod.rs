//! Checks whether everything is in place: one mark and one next step for each check. Must not
//! change anything of the person's, or run anything but the client and this program.

pub mod client;
pub mod config;
pub mod fleet;
pub mod gate;
pub mod registration;
pub mod state;

use serde::Serialize;

/// The version of the JSON format. A version may gain fields; none is renamed or changes its
/// meaning.
pub const SCHEMA: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    Fine,
    /// Worth knowing; nothing has to be done.
    Note,
    /// Something has to be done.
    Fault,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its subject, in one word.
    pub name: &'static str,
    pub mark: Mark,
    pub found: String,
    pub next: Option<String>,
}

impl Check {
    pub fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fine, found: found.into(), next: None }
    }

    pub fn note(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, mark: Mark::Note, found: found.into(), next: Some(next.into()) }
    }

    pub fn fault(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fault, found: found.into(), next: Some(next.into()) }
    }
}

/// All checks; serialized, they are the JSON output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    pub schema: u32,
    pub version: &'static str,
    /// Returns whether there is no fault.
    pub fine: bool,
    pub checks: Vec<Check>,
}

impl Diagnosis {
    pub fn new(checks: Vec<Check>) -> Self {
        let fine = checks.iter().all(|check| check.mark != Mark::Fault);
        Self { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), fine, checks }
    }

    pub fn faults(&self) -> usize {
        self.checks.iter().filter(|check| check.mark == Mark::Fault).count()
    }
}
