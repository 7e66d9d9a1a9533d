//! Whether everything is in place: takes what was looked up, gives a tick or a cross and a next step for each. Pure: the
//! looking itself is `commands::doctor`'s.
//!
//! `client` judges the program that is asked, `registration` how the hook is registered, `settings` the config, `memory` the state
//! folder, `past` the log, `gate` the three sessions that were played through the hook, `question` what the model answered.

pub mod client;
pub mod gate;
pub mod memory;
pub mod past;
pub mod question;
pub mod registration;
pub mod settings;

use serde::Serialize;

/// The number of the JSON's format. Fields may be added under it; none is renamed or given another meaning.
pub const SCHEMA: u32 = 1;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// As it should be.
    Fine,
    /// Worth knowing; nothing has to be done.
    Note,
    /// Something is to be done.
    Fault,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is about, in a word.
    pub name: &'static str,
    /// How it is.
    pub mark: Mark,
    /// What was found.
    pub found: String,
    /// What to do about it.
    pub next: Option<String>,
}

impl Check {
    /// As it should be.
    pub fn fine(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fine, found: found.into(), next: None }
    }

    /// Worth knowing.
    pub fn note(name: &'static str, found: impl Into<String>, next: Option<String>) -> Self {
        Self { name, mark: Mark::Note, found: found.into(), next }
    }

    /// Something is to be done.
    pub fn fault(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self { name, mark: Mark::Fault, found: found.into(), next: Some(next.into()) }
    }
}

/// All of it; as it stands, the JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`]
    pub schema: u32,
    /// Our version.
    pub version: &'static str,
    /// Whether nothing is to be done.
    pub fine: bool,
    /// Every check, in order.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// Puts the checks together.
    pub fn new(checks: Vec<Check>) -> Self {
        let fine = checks.iter().all(|check| check.mark != Mark::Fault);
        Self { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), fine, checks }
    }

    /// How many things are to be done.
    pub fn faults(&self) -> usize {
        self.checks.iter().filter(|check| check.mark == Mark::Fault).count()
    }
}
