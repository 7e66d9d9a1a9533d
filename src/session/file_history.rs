//! The content of files before the session and of edits, read from their recorded positions in the
//! transcripts. Touches the disk; must not read what nobody needs. A position with unexpected
//! content is ignored.
//!
//! These texts are the largest part of a long transcript, and an audit needs few of them. They are
//! people's files, secrets and all: between stops only the positions are stored.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::client::json_scan::{Raw, Scan, is_place_to_cut};
use crate::client::tool_result::FileText;
use crate::files::{open_regular, read_at};
use crate::session::{Change, ChangeAt, Original, Outcome, ReadFile, Session, Touch};

/// The position of a text in a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// The index of the session's [source](Session::sources).
    pub source: usize,
    /// The offset of the JSON string.
    pub at: u64,
    /// Its length, quotes included.
    pub bytes: u32,
}

impl Recorded {
    /// Returns the position of a value in the line at offset `line_at` of the first source.
    pub fn new(raw: Raw<'_>, line_at: u64) -> Self {
        let bytes = u32::try_from(raw.json().len()).unwrap_or_default();
        Self { source: 0, at: line_at + raw.at() as u64, bytes }
    }

    /// Returns the same position with this many sources before its own.
    #[must_use]
    pub fn shift_source(self, sources: usize) -> Self {
        Self { source: self.source + sources, ..self }
    }
}

/// The largest useful size of a file's text before the session, as the transcript writes it.
const ORIGINAL_CAP: usize = 512 << 10;
/// Its largest size if its position in the transcript is not known, so that the text itself is
/// stored.
const INLINE_CAP: usize = 32 << 10;

impl Original {
    /// Returns a file's text from the line at offset `line_at`: its position or, if that is
    /// unknown, the text itself.
    pub fn new(text: FileText<'_>, line_at: Option<u64>) -> Self {
        let raw = match text {
            FileText::Unknown => return Self::Unknown,
            FileText::Absent => return Self::Absent,
            FileText::Text(raw) => raw,
        };
        match line_at {
            Some(line_at) if raw.json().len() <= ORIGINAL_CAP => Self::Recorded(Recorded::new(raw, line_at)),
            None if raw.json().len() <= INLINE_CAP => {
                raw.text().map_or(Self::Unknown, |text| Self::Text(text.into_owned()))
            }
            _ => Self::Unknown,
        }
    }
}

/// Returns what an edit replaced, and with what: the positions in the transcript or, if `line_at`
/// is unknown, the texts.
pub(super) fn change_of(
    change: Option<(Option<Raw<'_>>, Raw<'_>)>,
    line_at: Option<u64>,
) -> (Option<Change>, Option<ChangeAt>) {
    let Some((old, new)) = change else { return (None, None) };
    if let Some(line_at) = line_at {
        let (old, new) = (old.map(|old| Recorded::new(old, line_at)), Recorded::new(new, line_at));
        return (None, Some(ChangeAt { old, new }));
    }
    let start = |raw: Raw<'_>| raw.start(CHANGE_CAP);
    let old = old.map_or(Some(String::new()), start);
    (old.zip(start(new)).map(|(old, new)| Change { old, new }), None)
}

impl Touch {
    /// Drops what it changed.
    pub fn forget_change(&mut self) {
        (self.change, self.change_at) = (None, None);
    }
}

/// How much is used of what an edit removed and of what it inserted.
pub const CHANGE_CAP: usize = 8 << 10;

/// How much is read for one session.
const MOST_BYTES: u64 = 16 << 20;

/// What is needed about a touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Nothing,
    Change,
    /// The change, and the file before it.
    All,
}

/// Reads the texts of the touches that are `wanted` into the session. What exceeds a limit stays
/// unknown.
pub fn fetch(session: &mut Session, wanted: impl Fn(&Touch) -> Wanted) {
    let mut texts = RecordedTexts::new(&session.sources);
    for touch in session.touches.iter_mut().filter(|touch| touch.outcome == Outcome::Done) {
        let wanted = wanted(touch);
        if wanted == Wanted::All {
            touch.original = texts.original(&touch.original);
        }
        if wanted != Wanted::Nothing
            && let Some(ChangeAt { old, new }) = touch.change_at.take()
        {
            let old = old.map_or(Some(String::new()), |old| texts.start_of(old));
            touch.change = old.zip(texts.start_of(new)).map(|(old, new)| Change { old, new });
        }
    }
}

/// Returns the text of a file when it was first read whole, if the transcript has it.
pub fn text_of_read(session: &Session, read: &ReadFile) -> Option<String> {
    RecordedTexts::new(&session.sources).original(&read.text).text().map(str::to_owned)
}

/// Reads texts from a session's transcripts.
#[derive(Debug)]
pub struct RecordedTexts {
    sources: Vec<String>,
    bytes_left: u64,
}

impl RecordedTexts {
    pub fn new(sources: &[String]) -> Self {
        Self { sources: sources.to_vec(), bytes_left: MOST_BYTES }
    }

    /// Returns a file's earlier content, with its text read.
    pub fn original(&mut self, original: &Original) -> Original {
        match original {
            Original::Recorded(place) => {
                let literal = self.read(*place, u64::from(place.bytes));
                let text = literal.and_then(|literal| serde_json::from_slice(&literal).ok());
                text.map_or(Original::Unknown, Original::Text)
            }
            known => known.clone(),
        }
    }

    /// Returns the first [`CHANGE_CAP`] bytes of a text.
    fn start_of(&mut self, place: Recorded) -> Option<String> {
        // An escape is at most six times as long as its character.
        let bytes = u64::from(place.bytes).min(CHANGE_CAP as u64 * 7);
        let mut literal = self.read(place, bytes)?;
        if bytes < u64::from(place.bytes) {
            let end = (1..literal.len()).rev().take(CHANGE_CAP).find(|at| is_place_to_cut(&literal, *at))?;
            literal.truncate(end);
            literal.push(b'"');
        }
        Scan::new(&literal).value().ok()?.start(CHANGE_CAP)
    }

    fn read(&mut self, place: Recorded, bytes: u64) -> Option<Vec<u8>> {
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        let file = open_regular(Path::new(self.sources.get(place.source)?)).ok()?;
        read_at(&file, place.at, bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn session(path: &str, places: &[(u64, u32)]) -> Session {
        let touches = places.iter().map(|(at, bytes)| Touch {
            original: Original::Recorded(Recorded { source: 0, at: *at, bytes: *bytes }),
            ..testing::touch(&format!("/w/{at}"), 1)
        });
        Session { touches: touches.collect(), sources: vec![path.to_owned()], ..Session::default() }
    }

    #[test]
    fn what_is_wanted_is_read_and_what_does_not_fit_tells_nothing() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "xx\"one\\n\"yy\"two\"").expect("written");
        let path = file.path().to_str().expect("text");
        let mut session = session(path, &[(2, 7), (11, 5), (3, 4), (9, 500)]);
        fetch(&mut session, |touch| if touch.path == "/w/11" { Wanted::Change } else { Wanted::All });
        let originals: Vec<_> = session.touches.iter().map(|touch| touch.original.clone()).collect();
        let left = Original::Recorded(Recorded { source: 0, at: 11, bytes: 5 });
        assert_eq!(originals, [Original::Text("one\n".into()), left, Original::Unknown, Original::Unknown]);
    }

    #[test]
    fn a_change_is_read_as_far_as_it_is_used() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let long = "line\n\"é\" ".repeat(40_000);
        let literal = serde_json::to_string(&long).expect("JSON");
        std::fs::write(file.path(), format!("\"old\"{literal}")).expect("written");
        let mut session = session(file.path().to_str().expect("text"), &[(0, 5)]);
        let place = |at, bytes| Recorded { source: 0, at, bytes };
        let new = place(5, u32::try_from(literal.len()).expect("fits"));
        session.touches[0].change_at = Some(ChangeAt { old: Some(place(0, 5)), new });
        fetch(&mut session, |_| Wanted::All);
        let change = session.touches[0].change.as_ref().expect("a change");
        assert_eq!(
            (change.old.as_str(), change.new.as_str()),
            ("old", &long[..long.floor_char_boundary(CHANGE_CAP)])
        );
    }

    #[test]
    fn a_transcript_that_is_gone_tells_nothing() {
        let mut session = session("/nowhere/s.jsonl", &[(0, 9)]);
        fetch(&mut session, |_| Wanted::All);
        assert_eq!(session.touches[0].original, Original::Unknown);
    }

    #[test]
    fn the_text_of_a_read_is_found_where_the_transcript_holds_it() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let read = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"Read","input":{"file_path":"/w/p.md"}}]}}"#;
        let result = r##"{"type":"user","message":{"content":[{"tool_use_id":"1","type":"tool_result","content":"1 # Plan"}]},"uuid":"u","timestamp":"t","toolUseResult":{"type":"text","file":{"content":"# Plan\n- é","startLine":1,"numLines":2,"totalLines":2}}}"##;
        std::fs::write(file.path(), format!("{read}\n{result}\n")).expect("written");
        let session = crate::session::load::load_saved(file.path()).session;
        assert!(matches!(session.reads[0].text, Original::Recorded(_)));
        assert_eq!(text_of_read(&session, &session.reads[0]).as_deref(), Some("# Plan\n- é"));
        let unknown = ReadFile { text: Original::Unknown, ..session.reads[0].clone() };
        assert_eq!(text_of_read(&session, &unknown), None);
    }
}
