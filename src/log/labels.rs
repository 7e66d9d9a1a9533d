//! Whether a person called a finding right: takes the log, looks for that one word in it. Must not read more of a line
//! than tells that it is no label.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::{DecisionLog, LabelNote, Note};
use crate::log::note::Judgement;

/// Whether the newest label on a finding of a decision, counted from 1, says that it was right. A label on the decision
/// as a whole counts for each of its findings.
pub fn is_upheld(log: &DecisionLog, decision: &str, finding: usize) -> bool {
    let mut newest = None;
    for path in log.files() {
        let Ok(file) = File::open(path) else { continue };
        for line in BufReader::new(file).split(b'\n').map_while(Result::ok) {
            let Some(label) = label_in(&line) else { continue };
            if label.of == decision && label.finding.is_none_or(|number| number == finding) {
                newest = Some(label.label);
            }
        }
    }
    newest == Some(Judgement::Right)
}

fn label_in(line: &[u8]) -> Option<LabelNote> {
    // The kind is what a note begins with.
    const MARK: &[u8] = b"\"kind\":\"label\"";
    let start = &line[..line.len().min(MARK.len() + 8)];
    start.windows(MARK.len()).any(|part| part == MARK).then_some(())?;
    match serde_json::from_slice(line) {
        Ok(Note::Label(label)) => Some(label),
        Ok(Note::Outcome(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::log::note::SCHEMA;
    use crate::log::record::tests::record;

    #[test]
    fn the_newest_word_of_a_person_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = DecisionLog::in_folder(folder.path());
        assert!(!is_upheld(&log, "b", 1));
        let now = Timestamp::now();
        log.append(&record("b"), now).expect("written");
        let label = |finding, label| {
            let note = Note::Label(LabelNote {
                schema: SCHEMA,
                id: "n".into(),
                time: format!("{now}"),
                of: "b".into(),
                finding,
                label,
                note: None,
            });
            log.append_notes(&[note], now).expect("written");
        };
        label(Some(1), Judgement::Right);
        assert!(is_upheld(&log, "b", 1) && !is_upheld(&log, "b", 2) && !is_upheld(&log, "c", 1));
        label(None, Judgement::Wrong);
        assert!(!is_upheld(&log, "b", 1));
        label(None, Judgement::Right);
        assert!(is_upheld(&log, "b", 1) && is_upheld(&log, "b", 2));
    }
}
