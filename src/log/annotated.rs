//! Takes decisions and what was said of them later, gives each decision with all that is known of it. Pure.

use std::collections::HashMap;

use crate::log::note::{FindingOutcome, Judgement};
use crate::log::{LabelNote, Note, OutcomeNote, Record};

/// A decision, and what is known of it by now.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The decision.
    pub record: Record,
    /// What became of each of its findings, in their order.
    pub fates: Vec<Fate>,
    /// What a person says of it as a whole.
    pub label: Option<LabelNote>,
}

/// What is known of one finding by now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fate {
    /// What became of it.
    pub outcome: Option<OutcomeNote>,
    /// What a person says of it, or of the decision as a whole.
    pub label: Option<LabelNote>,
}

impl Fate {
    /// Whether the finding was right, as far as that is known.
    pub fn was_right(&self) -> Option<bool> {
        let outcome = self.outcome.as_ref();
        let was_wrong = outcome.and_then(|note| note.was_wrong);
        was_right(outcome.map(|note| note.outcome), was_wrong, self.label.as_ref().map(|note| note.label))
    }
}

/// Whether a finding was right: a person's word counts before the agent's. A dispute makes it wrong, unless a reader that
/// was asked again does not agree (`was_wrong` is `Some(false)`): then one word stands against another, and nothing is
/// known. What was ignored says nothing.
pub fn was_right(
    outcome: Option<FindingOutcome>,
    was_wrong: Option<bool>,
    label: Option<Judgement>,
) -> Option<bool> {
    match (label, outcome) {
        (Some(label), _) => Some(label == Judgement::Right),
        (None, Some(FindingOutcome::Fixed)) => Some(true),
        (None, Some(FindingOutcome::Disputed)) => (was_wrong != Some(false)).then_some(false),
        (None, Some(FindingOutcome::Ignored) | None) => None,
    }
}

/// Puts each note to its decision; both come oldest first, and the newest note of several counts. A note on what is
/// not there is passed over.
pub fn join(records: Vec<Record>, notes: Vec<Note>) -> Vec<Told> {
    let mut all: Vec<_> = records
        .into_iter()
        .map(|record| Told { fates: vec![Fate::default(); record.findings.len()], record, label: None })
        .collect();
    let places: HashMap<String, usize> =
        all.iter().enumerate().map(|(at, told)| (told.record.id.clone(), at)).collect();
    for note in notes {
        let (of, finding) = match &note {
            Note::Outcome(note) => (&note.of, Some(note.finding)),
            Note::Label(note) => (&note.of, note.finding),
        };
        let Some(told) = places.get(of).map(|&at| &mut all[at]) else { continue };
        let fate = finding.map(|number| number.checked_sub(1).and_then(|at| told.fates.get_mut(at)));
        match (note, fate) {
            (Note::Outcome(note), Some(Some(fate))) => fate.outcome = Some(note),
            (Note::Label(note), Some(Some(fate))) => fate.label = Some(note),
            (Note::Label(note), None) => {
                told.fates.iter_mut().for_each(|fate| fate.label = Some(note.clone()));
                told.label = Some(note);
            }
            (_, Some(None)) | (Note::Outcome(_), None) => (),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::tests::record;

    fn note(json: &str) -> Note {
        let json = json.replacen('{', r#"{"schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","#, 1);
        serde_json::from_str(&json).expect("a note")
    }

    fn block() -> Record {
        let finding = r#"{"category":"A","status":"confirmed","source":"facts","kind":"missing",
            "claim":"q","path":null,"why":"w","settle":"s","check":"c","step":null}"#;
        let finding: crate::finding::Finding = serde_json::from_str(finding).expect("a finding");
        Record { findings: vec![finding.clone(), finding], ..record("b") }
    }

    #[test]
    fn each_note_finds_its_finding_and_the_newest_counts() {
        let notes = vec![
            note(r#"{"kind":"outcome","finding":1,"outcome":"ignored"}"#),
            note(r#"{"kind":"outcome","finding":1,"outcome":"fixed"}"#),
            note(r#"{"kind":"label","label":"wrong"}"#),
            note(r#"{"kind":"label","finding":2,"label":"right"}"#),
            note(r#"{"kind":"outcome","finding":3,"outcome":"fixed"}"#),
            note(r#"{"kind":"outcome","finding":0,"outcome":"fixed"}"#),
        ];
        let told = join(vec![record("a"), block()], notes);
        assert_eq!((told[0].fates.len(), &told[0].label), (0, &None));
        let outcomes: Vec<_> =
            told[1].fates.iter().map(|fate| fate.outcome.as_ref().map(|note| note.outcome)).collect();
        assert_eq!(outcomes, [Some(FindingOutcome::Fixed), None]);
        assert_eq!(told[1].fates.iter().map(Fate::was_right).collect::<Vec<_>>(), [Some(false), Some(true)]);
        assert_eq!(told[1].label.as_ref().map(|note| note.label), Some(Judgement::Wrong));
    }

    #[test]
    fn what_was_ignored_says_nothing_of_who_was_right() {
        assert_eq!(was_right(Some(FindingOutcome::Ignored), Some(false), None), None);
        assert_eq!(was_right(None, None, None), None);
        assert_eq!(was_right(Some(FindingOutcome::Fixed), Some(false), None), Some(true));
    }

    #[test]
    fn a_dispute_counts_unless_a_reader_that_was_asked_again_says_otherwise() {
        let disputed = |was_wrong, label| was_right(Some(FindingOutcome::Disputed), was_wrong, label);
        assert_eq!(disputed(None, None), Some(false), "nobody was asked");
        assert_eq!(disputed(Some(true), None), Some(false));
        assert_eq!(disputed(Some(false), None), None);
        for was_wrong in [None, Some(true), Some(false)] {
            assert_eq!(disputed(was_wrong, Some(Judgement::Right)), Some(true));
            assert_eq!(disputed(was_wrong, Some(Judgement::Wrong)), Some(false));
        }
    }
}
