//! A decision joined with the notes on it. Pure.

use crate::log::note::{FindingOutcome, Label, NoteLine};
use crate::log::summary::Summary;
use crate::log::{LabelNote, Note, OutcomeNote, Record};

/// A decision and the notes on it: a [`Summary`] where many are listed or counted, a [`Record`]
/// where it is shown whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotated<D> {
    /// The decision.
    pub decision: D,
    /// All notes on it, oldest first.
    pub notes: Vec<NoteLine>,
    /// What the notes say of each of its findings, in their order.
    pub findings: Vec<FindingNotes>,
    /// What a person says of it as a whole.
    pub label: Option<LabelNote>,
}

/// What the notes say of one finding: the newest of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingNotes {
    /// What became of it.
    pub outcome: Option<OutcomeNote>,
    /// What a person says of it, or of the decision as a whole.
    pub label: Option<LabelNote>,
}

impl<D> Annotated<D> {
    /// Joins a decision that has `findings` findings with its notes, oldest first. A note on a
    /// finding that is not there counts for nothing.
    fn join(decision: D, findings: usize, notes: Vec<NoteLine>) -> Self {
        let mut findings = vec![FindingNotes::default(); findings];
        let mut label = None;
        for line in &notes {
            let number = match &line.note {
                Note::Outcome(note) => Some(note.finding),
                Note::Label(note) => note.finding,
            };
            let about = match number {
                Some(number) => number.checked_sub(1).and_then(|at| findings.get_mut(at..=at)),
                None => Some(&mut findings[..]),
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
                label = Some(note.clone());
            }
        }
        Self { decision, notes, findings, label }
    }
}

impl Annotated<Summary> {
    /// A decision with its notes, oldest first.
    pub fn new(summary: Summary, notes: Vec<NoteLine>) -> Self {
        let findings = summary.findings.len();
        Self::join(summary, findings, notes)
    }

    /// The same decision with its whole record.
    pub fn into_record(self) -> serde_json::Result<Annotated<Record>> {
        let decision = serde_json::from_str(&self.decision.line)?;
        Ok(Annotated { decision, notes: self.notes, findings: self.findings, label: self.label })
    }
}

impl FindingNotes {
    /// What became of the finding.
    pub fn outcome(&self) -> Option<FindingOutcome> {
        self.outcome.as_ref().map(|note| note.outcome)
    }

    /// What a person says of it.
    pub fn label(&self) -> Option<Label> {
        self.label.as_ref().map(|note| note.label)
    }

    /// Whether the finding was right, as far as that is known. A person's word counts before the
    /// agent's. A dispute makes it wrong, unless a reader that was asked again does not agree: then
    /// nothing is known. What was ignored says nothing either way.
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
        let whole = block.clone().into_record().expect("a record");
        assert_eq!((whole.findings, whole.decision.findings.len()), (block.findings.clone(), 2));
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
