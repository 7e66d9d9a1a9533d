//! Decisions for other programs: takes them, gives each as it stands in the log with what was said of it joined in, one a
//! line. Pure. `docs/log-json.md` documents it.

use super::Note;
use super::glance::Noted;
use super::parts::in_parts;
use super::seen::Seen;

/// One line for each.
pub fn lines(all: &[Seen<'_>]) -> Vec<u8> {
    let parts = in_parts(all, |part| {
        let mut text = Vec::with_capacity(part.iter().map(|seen| seen.glance.line.len() + 32).sum());
        for seen in part {
            write_line(&mut text, seen);
        }
        text
    });
    parts.concat()
}

/// One decision, with its line end. What is no JSON, as it may be where a disk was full, is left out.
pub fn write_line(text: &mut Vec<u8>, seen: &Seen<'_>) {
    let line = String::from_utf8_lossy(seen.glance.line);
    let Some(open) = line.strip_suffix('}') else { return };
    text.extend_from_slice(open.as_bytes());
    let list = |text: &mut Vec<u8>, name: &str, takes: fn(&Note) -> bool| {
        text.extend_from_slice(format!(",\"{name}\":[").as_bytes());
        let noted: Vec<&Noted<'_>> = seen.notes.iter().filter(|noted| takes(&noted.note)).collect();
        for (at, noted) in noted.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            text.extend_from_slice(String::from_utf8_lossy(noted.line).as_bytes());
        }
        text.push(b']');
    };
    list(text, "outcomes", |note| matches!(note, Note::Outcome(_)));
    list(text, "labels", |note| matches!(note, Note::Label(_)));
    text.extend_from_slice(b"}\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::glance::{Glance, Line};
    use crate::log::seen::join;

    #[test]
    fn a_record_stands_as_it_is_with_what_was_said_of_it() {
        let decision = r#"{"id":"b","time":"2026-10-01T00:00:00Z","new_field":{"x":1}}"#;
        let outcome = r#"{"kind":"outcome","schema":2,"id":"n","time":"2026-10-01T00:00:00Z","of":"b","finding":1,"outcome":"fixed"}"#;
        let label =
            r#"{"kind":"label","schema":2,"id":"m","time":"2026-10-01T00:00:00Z","of":"b","label":"right"}"#;
        let read = |line: &'static str| Line::of(line.as_bytes());
        let Some(Line::Decision(glance)) = read(decision) else { panic!("no decision") };
        let notes = [outcome, label].map(|line| match read(line) {
            Some(Line::Note(noted)) => *noted,
            _ => panic!("no note"),
        });
        let of = |glance: Glance<'static>, notes: Vec<Noted<'static>>| {
            String::from_utf8(lines(&join([glance], notes))).expect("text")
        };
        let bare = decision.trim_end_matches('}').to_owned() + "}";
        assert_eq!(of(*glance.clone(), vec![]), format!("{bare},\"outcomes\":[],\"labels\":[]}}\n"));
        let told = of(*glance, notes.to_vec());
        assert_eq!(told, format!("{bare},\"outcomes\":[{outcome}],\"labels\":[{label}]}}\n"));
    }
}
