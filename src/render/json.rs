//! Decisions for other programs: each line of the log joined with its notes. Pure.
//! `docs/log-json.md` documents it.

use crate::log::{Annotated, Note};

/// Returns one line for each decision.
pub fn lines(all: &[Annotated]) -> String {
    all.iter().map(line).collect()
}

/// Returns one decision, with a newline.
pub fn line(annotated: &Annotated) -> String {
    let line = &annotated.line;
    let open = line.strip_suffix('}').unwrap_or(line);
    let notes = |is_wanted: fn(&Note) -> bool| {
        let notes = annotated.notes.iter().filter(|line| is_wanted(&line.note));
        notes.map(|line| line.line.as_str()).collect::<Vec<_>>().join(",")
    };
    format!(
        "{open},\"outcomes\":[{}],\"labels\":[{}]}}\n",
        notes(|note| matches!(note, Note::Outcome(_))),
        notes(|note| matches!(note, Note::Label(_))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::annotated;

    #[test]
    fn a_record_stands_as_it_is_with_the_notes_on_it() {
        let decision = r#"{"id":"b","time":"2026-10-01T00:00:00Z","new_field":{"x":1}}"#;
        let outcome = r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"fixed"}"#;
        let label =
            r#"{"kind":"label","schema":2,"id":"m","time":"2026-10-01T00:00:00Z","of":"b","label":"right"}"#;
        let open = decision.strip_suffix('}').expect("an object");
        assert_eq!(lines(&annotated(decision)), format!("{open},\"outcomes\":[],\"labels\":[]}}\n"));
        assert_eq!(
            lines(&annotated(&[decision, outcome, label].join("\n"))),
            format!("{open},\"outcomes\":[{outcome}],\"labels\":[{label}]}}\n")
        );
    }
}
