//! Takes decisions at a glance and the notes on them, gives each with all that is known of it by now: what
//! [`crate::log::annotated`] does for whole records. Pure.

use std::collections::HashMap;

use super::Note;
use super::note::{FindingOutcome, Judgement};
use crate::log::annotated::was_right;
use crate::log::summary::{Noted, Summary};

/// A decision and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen<'a> {
    /// The decision. In a place of its own: thousands of them are moved about.
    pub glance: Box<Summary<'a>>,
    /// What was said of it, oldest first.
    pub notes: Vec<Noted<'a>>,
    /// What became of each of its findings, in their order; nothing where nothing was said.
    pub fates: Vec<Known>,
    /// What a person says of it as a whole.
    pub label: Option<Judgement>,
}

/// What is known of one finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Known {
    /// What became of it.
    pub became: Option<FindingOutcome>,
    /// What a reader that was asked again says of it, as the note has it.
    pub was_wrong: Option<bool>,
    /// What a person says of it, or of the decision as a whole.
    pub label: Option<Judgement>,
}

impl Known {
    /// Whether the finding was right, as far as that is known.
    pub fn was_right(self) -> Option<bool> {
        was_right(self.became, self.was_wrong, self.label)
    }
}

impl<'a> Seen<'a> {
    /// A decision with its notes, oldest first: the newest counts.
    pub fn new(glance: impl Into<Box<Summary<'a>>>, notes: Vec<Noted<'a>>) -> Self {
        let glance = glance.into();
        let mut fates = vec![Known::default(); if notes.is_empty() { 0 } else { glance.findings.len() }];
        let mut whole = None;
        for noted in &notes {
            let (number, outcome, label) = match &noted.note {
                Note::Outcome(note) => (Some(note.finding), Some((note.outcome, note.was_wrong)), None),
                Note::Label(note) => (note.finding, None, Some(note.label)),
            };
            if number.is_none() {
                whole = label.or(whole);
            }
            // A number that is none of its findings' is meant for nobody.
            let meant = match number {
                Some(number) => {
                    number.checked_sub(1).and_then(|at| fates.get_mut(at..=at)).unwrap_or_default()
                }
                None => &mut fates[..],
            };
            for fate in meant {
                if let Some((became, was_wrong)) = outcome {
                    (fate.became, fate.was_wrong) = (Some(became), was_wrong);
                }
                fate.label = label.or(fate.label);
            }
        }
        Self { glance, notes, fates, label: whole }
    }

    /// What is known of the finding at this place, counted from 0.
    pub fn fate(&self, at: usize) -> Known {
        self.fates.get(at).copied().unwrap_or_default()
    }
}

/// Puts each note to its decision; both come oldest first. A note on what is not there is passed over.
pub fn join<'a, G: Into<Box<Summary<'a>>>>(
    glances: impl IntoIterator<Item = G>,
    notes: Vec<Noted<'a>>,
) -> Vec<Seen<'a>> {
    let mut by_decision: HashMap<String, Vec<Noted<'a>>> = HashMap::new();
    for noted in notes {
        by_decision.entry(noted.of().to_owned()).or_default().push(noted);
    }
    let seen = glances.into_iter().map(|glance| {
        let glance: Box<Summary<'a>> = glance.into();
        let notes = by_decision.remove(glance.id.as_ref()).unwrap_or_default();
        Seen::new(glance, notes)
    });
    seen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::summary::Line;
    use crate::log::{Record, annotated};

    const LINES: &str = r#"
{"schema":1,"id":"a","time":"2026-10-01T00:00:00Z","session":null,"project":null,"event":"Stop","decision":"allow","cause":"clean"}
{"schema":1,"id":"b","time":"2026-10-01T00:00:00Z","session":null,"project":null,"event":"Stop","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed","source":"facts","kind":"missing","why":"w","settle":"s","check":"c"},{"category":"A","status":"confirmed","source":"facts","kind":"missing","why":"w","settle":"s","check":"c"}]}
{"schema":1,"id":"c","time":"2026-10-01T00:00:00Z","session":null,"project":null,"event":"Stop","decision":"block","cause":"findings","findings":[{"category":"A","status":"confirmed"},{"category":"A","status":"confirmed"}]}
{"kind":"outcome","schema":2,"id":"n1","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"ignored"}
{"kind":"outcome","schema":2,"id":"n2","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"fixed"}
{"kind":"outcome","schema":2,"id":"n9","time":"2026-10-01T00:00:00Z","of":"c","finding":1,"outcome":"disputed","was_wrong":false}
{"kind":"outcome","schema":2,"id":"n10","time":"2026-10-01T00:00:00Z","of":"c","finding":2,"outcome":"disputed","was_wrong":true}
{"kind":"label","schema":2,"id":"n3","time":"2026-10-01T00:00:00Z","of":"b","label":"wrong"}
{"kind":"label","schema":2,"id":"n4","time":"2026-10-01T00:00:00Z","of":"b","finding":2,"label":"right"}
{"kind":"outcome","schema":2,"id":"n5","time":"2026-10-01T00:00:00Z","of":"b","finding":3,"outcome":"fixed"}
{"kind":"outcome","schema":2,"id":"n6","time":"2026-10-01T00:00:00Z","of":"b","finding":0,"outcome":"fixed"}
{"kind":"label","schema":2,"id":"n7","time":"2026-10-01T00:00:00Z","of":"a","label":"wrong"}
{"kind":"label","schema":2,"id":"n8","time":"2026-10-01T00:00:00Z","of":"gone","label":"wrong"}"#;

    #[test]
    fn a_glance_knows_what_is_told_of_the_whole_record() {
        let (mut glances, mut lines, mut records, mut notes) = (vec![], vec![], vec![], vec![]);
        for line in LINES.lines() {
            match Line::of(line.as_bytes()) {
                Some(Line::Decision(glance)) => {
                    glances.push(*glance);
                    records.push(serde_json::from_str::<Record>(line).expect("a record"));
                }
                Some(Line::Note(note)) => {
                    notes.push(note.note.clone());
                    lines.push(*note);
                }
                None => {}
                other => panic!("{other:?}"),
            }
        }
        let (seen, told) = (join(glances, lines), annotated::join(records, notes));
        assert_eq!((seen.len(), seen[0].notes.len(), seen[1].notes.len()), (3, 1, 6));
        for (seen, told) in seen.iter().zip(&told) {
            let right = |at: usize| seen.fate(at).was_right();
            let rights: Vec<_> = (0..told.fates.len()).map(right).collect();
            assert_eq!(rights, told.fates.iter().map(annotated::Fate::was_right).collect::<Vec<_>>());
            assert_eq!(seen.label, told.label.as_ref().map(|note| note.label));
        }
        assert_eq!(seen[1].fate(0).became, Some(FindingOutcome::Fixed));
        let disputed = [seen[2].fate(0).was_right(), seen[2].fate(1).was_right()];
        assert_eq!(disputed, [None, Some(false)], "a reader was asked again of both");
    }
}
