//! A decision joined with the notes on it: the input of lists, figures, pages and exports. Pure.

use jiff::Timestamp;

use crate::decision::{Action, could_not_check};
use crate::finding::{Category, Finding, Status};
use crate::log::filter::DecisionKind;
use crate::log::note::{FindingOutcome, Label, NoteLine};
use crate::log::record::{self, ReaderRecord};
use crate::log::{LabelNote, Note, OutcomeNote, Record};
use crate::readers::Usage;
use crate::timing;

/// The name of the audit among the gates.
pub const AUDIT: &str = "audit";

/// A decision and the notes on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotated {
    pub decision: Record,
    pub at: Timestamp,
    /// The cause, as written by the version that logged it; empty if it has none.
    pub cause: String,
    /// The line of the log, which may have fields that are unknown here.
    pub line: String,
    /// All notes on it, oldest first.
    pub notes: Vec<NoteLine>,
    /// The notes on each of its findings, in their order.
    pub findings: Vec<FindingNotes>,
    /// A person's label of it as a whole.
    pub label: Option<LabelNote>,
}

/// The notes on one finding: the newest of each kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FindingNotes {
    /// Its outcome.
    pub outcome: Option<OutcomeNote>,
    /// A person's label of it, or of the decision as a whole.
    pub label: Option<LabelNote>,
}

impl Annotated {
    /// Returns whether plan, session and disk were looked at.
    pub fn was_audited(&self) -> bool {
        let gates = &self.decision.gates;
        let of_audits = ["clean", "findings", "only-unverified", "only-ignored", "moved-on"];
        let is_cause = of_audits.contains(&self.cause.as_str());
        self.decision.auditor.is_some()
            || is_cause && (gates.is_empty() || gates.iter().any(|gate| gate.gate == AUDIT))
    }

    /// Returns the gates that checked it: the name of each, whether it blocked, and whether it
    /// could not check. The audit counts if there was something to audit.
    pub fn gates(&self) -> Vec<(&str, bool, bool)> {
        let gates = &self.decision.gates;
        let looked = |gate: &&record::GateRecord| gate.gate != AUDIT || self.was_audited();
        let each = gates.iter().filter(looked);
        let mut all: Vec<_> = each
            .map(|gate| (gate.gate.as_str(), gate.outcome == "hold", gate.outcome == "could-not-check"))
            .collect();
        if gates.is_empty() && self.was_audited() {
            all.push((AUDIT, self.kind() == DecisionKind::Block, self.is_unchecked()));
        }
        all
    }

    /// Adds its notes, oldest first, to the decision. A note on a finding that does not exist is
    /// ignored.
    #[must_use]
    pub(super) fn with_notes(mut self, notes: Vec<NoteLine>) -> Self {
        for line in &notes {
            let number = match &line.note {
                Note::Outcome(note) => Some(note.finding),
                Note::Label(note) => note.finding,
            };
            let about = match number {
                Some(number) => number.checked_sub(1).and_then(|at| self.findings.get_mut(at..=at)),
                None => Some(&mut self.findings[..]),
            };
            for finding in about.unwrap_or_default() {
                match &line.note {
                    Note::Outcome(note) => finding.outcome = Some(note.clone()),
                    Note::Label(note) => finding.label = Some(note.clone()),
                }
            }
            if let Note::Label(note) = &line.note
                && note.finding.is_none()
            {
                self.label = Some(note.clone());
            }
        }
        self.notes = notes;
        self
    }

    /// Returns what was decided.
    pub fn kind(&self) -> DecisionKind {
        match (self.decision.decision, self.decision.would_block) {
            (Action::Block, _) => DecisionKind::Block,
            (Action::Allow, true) => DecisionKind::WouldBlock,
            (Action::Allow, false) => DecisionKind::Allow,
        }
    }

    /// Returns whether the stop went through because it could not be checked.
    pub fn is_unchecked(&self) -> bool {
        self.kind() == DecisionKind::Allow && could_not_check(&self.cause)
    }

    /// Returns each finding with its notes.
    pub fn with_findings(&self) -> impl Iterator<Item = (&Finding, &FindingNotes)> {
        self.decision.findings.iter().zip(&self.findings)
    }

    /// Returns how many findings have a status, of one category or of all.
    pub fn count(&self, status: Status, category: Option<Category>) -> usize {
        let findings = self.decision.findings.iter().filter(|finding| finding.status == status);
        findings.filter(|finding| category.is_none_or(|category| finding.category == category)).count()
    }

    /// Returns the readers that took part.
    pub fn readers(&self) -> impl Iterator<Item = &ReaderRecord> {
        self.decision.auditor.iter().chain(&self.decision.second_reader)
    }

    /// Returns every call of a model: the readers', what another gate asked, and what was asked
    /// about the findings at the next stop.
    pub fn calls(&self) -> impl Iterator<Item = &Usage> {
        let of_gates = self.decision.gates.iter().filter_map(|gate| gate.usage.as_ref());
        let of_outcomes = self.findings.iter().filter_map(|notes| notes.outcome.as_ref()?.usage.as_ref());
        self.readers().map(|reader| &reader.usage).chain(of_gates).chain(of_outcomes)
    }

    /// Returns how many tokens were read and written.
    pub fn tokens(&self) -> (u64, u64) {
        let all = Usage::sum(self.calls());
        (all.total_input(), all.output)
    }

    /// Returns what all calls cost, in dollars, as far as the client reports it.
    pub fn cost_usd(&self) -> Option<f64> {
        record::total_cost(self.calls())
    }

    /// Returns how long a phase took, in milliseconds.
    pub fn phase(&self, name: &str) -> Option<f64> {
        self.decision.phases_ms.get(name).copied()
    }

    /// Returns how long it took without the readers, in milliseconds. Their time is taken from the
    /// phases, or else from their own records.
    pub fn own_ms(&self) -> Option<f64> {
        let own = |reader: &Option<ReaderRecord>| {
            reader.as_ref().filter(|reader| reader.was_asked()).map_or(0.0, |reader| reader.duration_ms)
        };
        let first = self.phase(timing::AUDITOR).unwrap_or_else(|| own(&self.decision.auditor));
        let second = self.phase(timing::SECOND_READER).unwrap_or_else(|| own(&self.decision.second_reader));
        self.phase(timing::TOTAL).map(|total| (total - (first + second)).max(0.0))
    }
}

impl FindingNotes {
    /// Returns the outcome of the finding.
    pub fn outcome(&self) -> Option<FindingOutcome> {
        self.outcome.as_ref().map(|note| note.outcome)
    }

    /// Returns a person's label of it.
    pub fn label(&self) -> Option<Label> {
        self.label.as_ref().map(|note| note.label)
    }

    /// Returns whether the finding was right, as far as that is known. A person's label takes
    /// precedence over the agent. A dispute makes it wrong, unless a reader that was asked again
    /// disagrees: then nothing is known. An ignored finding tells nothing either way.
    pub fn was_right(&self) -> Option<bool> {
        if let Some(label) = self.label() {
            return Some(label == Label::Right);
        }
        let note = self.outcome.as_ref()?;
        match note.outcome {
            FindingOutcome::Fixed => Some(true),
            FindingOutcome::Disputed => (note.was_wrong != Some(false)).then_some(false),
            FindingOutcome::Ignored => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    const LOG: &str = r#"
{"id":"a","time":"2026-10-01T00:00:00Z","decision":"allow","cause":"clean"}
{"id":"b","time":"2026-10-01T00:00:01Z","decision":"block","findings":[{"category":"A"},{"category":"A"}]}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"ignored"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"fixed"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","label":"wrong"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":2,"label":"right"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":3,"outcome":"fixed"}
{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":0,"outcome":"fixed"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"a","label":"wrong"}
{"kind":"label","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"gone","label":"wrong"}"#;

    #[test]
    fn each_note_finds_its_finding_and_the_newest_counts() {
        let all = annotated(LOG);
        assert_eq!((all.len(), all[0].findings.len(), all[0].notes.len()), (2, 0, 1));
        let block = &all[1];
        let outcomes: Vec<_> = block.findings.iter().map(FindingNotes::outcome).collect();
        assert_eq!(outcomes, [Some(FindingOutcome::Fixed), None]);
        let right: Vec<_> = block.findings.iter().map(FindingNotes::was_right).collect();
        assert_eq!(right, [Some(false), Some(true)]);
        assert_eq!(block.label.as_ref().map(|note| note.label), Some(Label::Wrong));
        assert_eq!(block.decision.findings.len(), 2);
    }

    #[test]
    fn a_persons_word_counts_first_and_a_dispute_unless_a_reader_disagrees() {
        for (outcome, label, expected) in [
            ("", "", None),
            (r#""ignored""#, "", None),
            (r#""fixed""#, "", Some(true)),
            (r#""disputed""#, "", Some(false)),
            (r#""disputed","was_wrong":true"#, "", Some(false)),
            (r#""disputed","was_wrong":false"#, "", None),
            (r#""disputed","was_wrong":false"#, "wrong", Some(false)),
            (r#""disputed","was_wrong":true"#, "right", Some(true)),
        ] {
            let mut log =
                r#"{"id":"b","time":"2026-10-01T00:00:01Z","findings":[{"category":"A"}]}"#.to_owned();
            let note = r#"{"schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"#;
            if !outcome.is_empty() {
                log += &format!("\n{note}\"kind\":\"outcome\",\"outcome\":{outcome}}}");
            }
            if !label.is_empty() {
                log += &format!("\n{note}\"kind\":\"label\",\"label\":\"{label}\"}}");
            }
            assert_eq!(annotated(&log)[0].findings[0].was_right(), expected, "{outcome} {label}");
        }
    }
}
