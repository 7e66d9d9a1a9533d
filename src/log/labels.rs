//! Whether a person called a finding right. Runs at a stop, so that it parses no line but labels.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::{DecisionLog, LabelNote, Note};
use crate::log::note::Label;

/// Whether the newest label on a finding of a decision, counted from 1, says that it was right. A
/// label on the decision as a whole counts for each of its findings.
pub fn is_upheld(log: &DecisionLog, decision: &str, finding: usize) -> bool {
    let files = log.files().into_iter().filter_map(|path| File::open(path).ok());
    let lines = files.flat_map(|file| BufReader::new(file).split(b'\n').map_while(Result::ok));
    let labels = lines.filter_map(|line| parse_label(&line));
    let about_it =
        |label: &LabelNote| label.of == decision && label.finding.is_none_or(|number| number == finding);
    labels.filter(about_it).last().is_some_and(|newest| newest.label == Label::Right)
}

fn parse_label(line: &[u8]) -> Option<LabelNote> {
    if !line.starts_with(b"{\"kind\":\"label\"") {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(Note::Label(label)) => Some(label),
        Ok(Note::Outcome(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::testing::record;

    #[test]
    fn the_newest_word_of_a_person_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = DecisionLog::in_folder(folder.path());
        assert!(!is_upheld(&log, "b", 1));
        let now = Timestamp::now();
        log.append(&record("b"), now).expect("written");
        let label = |finding, label| {
            let note = Note::Label(LabelNote::new("b", finding, label, now));
            log.append_notes(&[note], now).expect("written");
        };
        label(Some(1), Label::Right);
        assert!(is_upheld(&log, "b", 1) && !is_upheld(&log, "b", 2) && !is_upheld(&log, "c", 1));
        label(None, Label::Wrong);
        assert!(!is_upheld(&log, "b", 1));
        label(None, Label::Right);
        assert!(is_upheld(&log, "b", 1) && is_upheld(&log, "b", 2));
    }
}
