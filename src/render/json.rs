//! Decisions for other programs: takes them, gives each as it stands in the log with what was said of it joined in, one a
//! line. Pure. `docs/log-json.md` documents it.

use std::io::{self, Write};

use crate::log::Note;
use crate::log::seen::Seen;

/// How much is put together before it is written: a line is copied once, and into room that is there already.
const PIECE: usize = 1 << 20;

/// One line for each.
pub fn write_lines(out: &mut impl Write, all: &[Seen<'_>]) -> io::Result<()> {
    let mut text = Vec::with_capacity(PIECE + (PIECE >> 3));
    for seen in all {
        write_line(&mut text, seen);
        if text.len() >= PIECE {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// One decision, with its line end.
pub fn write_line(text: &mut Vec<u8>, seen: &Seen<'_>) {
    let Some(open) = seen.glance.line.strip_suffix(b"}") else { return };
    push_text(text, open);
    let list = |text: &mut Vec<u8>, name: &str, takes: fn(&Note) -> bool| {
        text.extend_from_slice(name.as_bytes());
        let noted = seen.notes.iter().filter(|noted| takes(&noted.note));
        for (at, noted) in noted.enumerate() {
            if at > 0 {
                text.push(b',');
            }
            push_text(text, noted.line);
        }
        text.push(b']');
    };
    list(text, ",\"outcomes\":[", |note| matches!(note, Note::Outcome(_)));
    list(text, ",\"labels\":[", |note| matches!(note, Note::Label(_)));
    text.extend_from_slice(b"}\n");
}

/// Bytes that are no text are told by the sign for that.
fn push_text(text: &mut Vec<u8>, bytes: &[u8]) {
    text.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::seen::join;
    use crate::log::summary::{Line, Noted, Summary};

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
        let of = |glance: Summary<'static>, notes: Vec<Noted<'static>>| {
            let mut text = Vec::new();
            write_lines(&mut text, &join([glance], notes)).expect("written");
            String::from_utf8(text).expect("text")
        };
        let bare = decision.trim_end_matches('}').to_owned() + "}";
        assert_eq!(of(*glance.clone(), vec![]), format!("{bare},\"outcomes\":[],\"labels\":[]}}\n"));
        let told = of(*glance, notes.to_vec());
        assert_eq!(told, format!("{bare},\"outcomes\":[{outcome}],\"labels\":[{label}]}}\n"));
    }

    #[test]
    fn what_is_no_text_is_told_as_such() {
        let line = b"{\"id\":\"a\",\"time\":\"2026-10-01T00:00:00Z\",\"detail\":\"\xff\"}";
        let Some(Line::Decision(glance)) = Line::of(line) else { panic!("no decision") };
        let mut text = Vec::new();
        write_line(&mut text, &Seen::new(glance, Vec::new()));
        let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(value["detail"], "\u{fffd}");
    }
}
