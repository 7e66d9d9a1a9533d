//! Telemetry as a destination of the spool: decisions and notes as log records of OTLP, and
//! metrics. Off unless the person names a collector of their own. What goes out is the fleet's copy
//! of a line, and nothing else of it.
//!
//! A record that was sent and whose answer was lost is sent again: OTLP has no way to store it
//! once. Both have the same `log.record.uid`, by which the semantic conventions let whoever reads
//! them drop one. Metrics are sums of what the spool has passed, see [`totals`], so that nothing is
//! counted twice.
//!
//! The messages are the official ones (`opentelemetry-proto`); the SDK's meters count what one
//! process does, and here every stop is a process.

mod error;
pub mod metric;
pub mod snapshot;
pub mod totals;

#[cfg(not(feature = "fleet"))]
mod absent;
#[cfg(feature = "fleet")]
mod collector;
#[cfg(feature = "fleet")]
mod messages;

use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

#[cfg(not(feature = "fleet"))]
pub use absent::Collector;
#[cfg(feature = "fleet")]
pub use collector::Collector;
pub use error::TelemetryError;
use totals::{Series, Totals};

use super::copy::Copier;
use super::machine_name;
use super::spool::{Copied, Destination, ShipError};
use crate::config::FleetConfig;
use crate::database::Patience;
use crate::decision::Action;
use crate::ids::ContentId;
use crate::log::query::Line;
use crate::log::{Annotated, Note};
use crate::registry::project::{project_of, shared_name};

/// One log record.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub event: &'static str,
    pub id: String,
    /// The decision that it is, or is about.
    pub decision: String,
    pub at: Timestamp,
    pub is_warning: bool,
    pub attributes: Vec<(&'static str, String)>,
    pub body: Value,
}

/// Who exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub machine: String,
    /// The same as long as machine and state folder are, since sums are those of a state folder.
    pub instance: String,
}

impl Service {
    fn new(machine: String, state: &Path) -> Self {
        let mut id = ContentId::default();
        id.add("4d63009a-8d0f-11ee-aad7-4c796ed8e320");
        id.add(&machine);
        id.add(state.as_os_str().as_encoded_bytes());
        let id = id.finish();
        // A UUID of version 8: made of a hash of our own.
        let instance =
            [&id[..8], &id[8..12], &format!("8{}", &id[13..16]), &format!("a{}", &id[17..20]), &id[20..]];
        Self { machine, instance: instance.join("-") }
    }
}

/// The collector, what was counted so far, and what is so at the moment.
#[derive(Debug)]
pub struct Telemetry<'a> {
    url: &'a str,
    config: &'a FleetConfig,
    service: Service,
    collector: Option<Collector>,
    totals: Totals,
    gauges: Vec<Series>,
}

impl<'a> Telemetry<'a> {
    pub fn new(url: &'a str, state: &Path, config: &'a FleetConfig) -> Self {
        let service = Service::new(machine_name(config), state);
        Self { url, config, service, collector: None, totals: Totals::default(), gauges: Vec::new() }
    }

    /// The same, which tells of queues, workers and precision as well.
    #[must_use]
    pub fn with_gauges(self, state: &Path) -> Self {
        Self { gauges: snapshot::gauges(state, self.config), ..self }
    }

    /// Asks the collector for an answer, and returns its name.
    pub fn reach(&self, patience: Patience) -> Result<String, TelemetryError> {
        let collector = Collector::new(self.url)?;
        collector.send_entries(&self.service, &[], patience)?;
        Ok(collector.server().to_owned())
    }

    fn collector(&mut self) -> Result<&Collector, TelemetryError> {
        match &mut self.collector {
            Some(collector) => Ok(collector),
            none => Ok(none.insert(Collector::new(self.url)?)),
        }
    }

    /// Counts a line, and returns its record.
    fn take(&mut self, line: Line) -> Option<Entry> {
        let copier = Copier { machine: &self.service.machine, with_evidence: self.config.ship_evidence };
        match line {
            Line::Decision(decided) => {
                let project = project_name(decided.decision.project.as_deref());
                let body = copier.decision(&decided.decision, project.as_deref());
                self.totals.count_decision(&decided, project.as_deref().unwrap_or("unknown"));
                Some(decision_entry(&decided, project, body))
            }
            Line::Note(note) => {
                let body = copier.note(&note.note);
                let folder = match &note.note {
                    Note::Outcome(note) => note.project.as_deref(),
                    Note::Label(_) => None,
                };
                let project = project_name(folder);
                self.totals.count_note(&note.note, project.as_deref().unwrap_or("unknown"));
                note_entry(&note.note, body)
            }
            Line::Newer | Line::Torn => None,
        }
    }
}

impl Destination for Telemetry<'_> {
    type Copy = Entry;

    fn name(&self) -> &'static str {
        "telemetry"
    }

    fn resume(&mut self, carried: &Value) {
        self.totals = serde_json::from_value(carried.clone()).unwrap_or_default();
    }

    fn carried(&self) -> Value {
        serde_json::to_value(&self.totals).unwrap_or_default()
    }

    fn copy(&mut self, line: &str) -> Copied<Entry> {
        match Line::parse(line) {
            None => Copied::Empty,
            Some(line) => self.take(line).map_or(Copied::Unreadable, Copied::Copy),
        }
    }

    fn store(&mut self, entries: &[Entry], patience: Patience) -> Result<usize, ShipError> {
        let service = self.service.clone();
        Ok(self.collector()?.send_entries(&service, entries, patience)?)
    }

    fn finish(&mut self, patience: Patience) -> Result<(), ShipError> {
        let series: Vec<Series> = self.totals.series.iter().chain(&self.gauges).cloned().collect();
        if series.is_empty() {
            return Ok(());
        }
        let (service, start_ms) = (self.service.clone(), self.totals.start_ms);
        Ok(self.collector()?.send_series(&service, start_ms, &series, patience)?)
    }
}

fn project_name(folder: Option<&str>) -> Option<String> {
    folder.map(|folder| shared_name(&project_of(Path::new(folder))))
}

fn decision_entry(decided: &Annotated, project: Option<String>, body: Value) -> Entry {
    let record = &decided.decision;
    let action = if record.decision == Action::Block { "block" } else { "allow" };
    let mut attributes =
        vec![(metric::DECISION, action.to_owned()), (metric::CAUSE, record.cause.name().to_owned())];
    attributes.extend(project.map(|project| (metric::PROJECT, project)));
    attributes.extend(record.session.clone().map(|session| ("session.id", session)));
    Entry {
        event: "punchlist.decision",
        id: record.id.clone(),
        decision: record.id.clone(),
        at: decided.at,
        is_warning: record.decision == Action::Block || decided.is_unchecked(),
        attributes,
        body,
    }
}

fn note_entry(note: &Note, body: Value) -> Option<Entry> {
    let (id, event, attributes) = match note {
        Note::Outcome(note) => {
            let category = note.category.map(|category| (metric::CATEGORY, category.name().to_owned()));
            let outcome = (metric::OUTCOME, note.outcome.name().to_owned());
            (&note.id, "punchlist.outcome", [outcome].into_iter().chain(category).collect())
        }
        Note::Label(note) => {
            (&note.id, "punchlist.label", vec![("punchlist.label", note.label.name().to_owned())])
        }
    };
    let at = note.time().parse().ok()?;
    let decision = note.decision().to_owned();
    Some(Entry { event, id: id.clone(), decision, at, is_warning: false, attributes, body })
}
