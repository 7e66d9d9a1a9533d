//! What files were before the session, and what edits put in the place of what: takes the places in the transcripts
//! where that is recorded, gives the texts. Touches the disk; must not read what nobody needs, and a place that does not hold what it should tells
//! nothing.
//!
//! The texts are the largest part of a long transcript that an audit may need, and most of them it never does. They are
//! people's files, secrets and all: what is remembered between stops has only the places.

use std::fs::File;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::client::json_scan::{Raw, Scan, is_place_to_cut};
use crate::files::{open_regular, read_at, read_some_at};
use crate::session::{Change, ChangeAt, Original, Outcome, ReadFile, Session, Touch};

/// Where a transcript holds a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Which of the session's [sources](Session::sources).
    pub source: usize,
    /// From which byte on.
    pub at: u64,
    /// How many bytes, quotes included.
    pub bytes: u32,
}

impl Recorded {
    /// The place of a value in the line that starts at `line_at`, in the first source.
    pub fn of(raw: Raw<'_>, line_at: u64) -> Self {
        let bytes = u32::try_from(raw.json().len()).unwrap_or_default();
        Self { source: 0, at: line_at + raw.at() as u64, bytes }
    }

    /// The same place, where so many sources stand before its own.
    #[must_use]
    pub fn moved_by(self, sources: usize) -> Self {
        Self { source: self.source + sources, ..self }
    }
}

impl Touch {
    /// Forgets what it put in the place of what.
    pub fn forget_change(&mut self) {
        (self.change, self.change_at) = (None, None);
    }
}

/// How much is used of what an edit took out and put in, each.
pub const CHANGE_CAP: usize = 8 << 10;

/// How much is read for one session, in all.
const MOST: u64 = 16 << 20;

/// What of a touch is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Nothing,
    /// What it put in the place of what.
    Change,
    /// That, and what the file was before.
    All,
}

/// Puts the texts of the touches that are `wanted` in the place of where they are recorded. The sessions of
/// most stops have few of them; beyond a bound they count as unknown.
pub fn fetch(session: &mut Session, wanted: impl Fn(&Touch) -> Wanted) {
    let mut shelf = Shelf::of(&session.sources);
    for touch in session.touches.iter_mut().filter(|touch| touch.outcome == Outcome::Done) {
        let wanted = wanted(touch);
        if wanted == Wanted::All {
            touch.original = shelf.original(&touch.original);
        }
        if wanted != Wanted::Nothing
            && let Some(ChangeAt { old, new }) = touch.change_at.take()
        {
            let old = old.map_or(Some(String::new()), |old| shelf.start_of(old));
            touch.change = old.zip(shelf.start_of(new)).map(|(old, new)| Change { old, new });
        }
    }
}

/// Returns what a file held when it was first read whole; `None` where the transcript does not say.
pub fn text_of_read(session: &Session, read: &ReadFile) -> Option<String> {
    match Shelf::of(&session.sources).original(&read.text) {
        Original::Text(text) => Some(text),
        Original::Unknown | Original::Absent | Original::Recorded(_) => None,
    }
}

/// The transcripts of a session, opened when they are needed.
#[derive(Debug)]
pub struct Shelf {
    sources: Vec<String>,
    files: Vec<(usize, File)>,
    left: u64,
    /// What was read last: what an edit put in stands behind what it took out.
    last: (Recorded, Vec<u8>),
}

/// So much is read at the least, to spare another call.
const AHEAD: u64 = 512;

impl Shelf {
    /// These transcripts.
    pub fn of(sources: &[String]) -> Self {
        let nothing = Recorded { source: 0, at: 0, bytes: 0 };
        Self { sources: sources.to_vec(), files: Vec::new(), left: MOST, last: (nothing, Vec::new()) }
    }

    /// What a file was before, with the text in the place of where it is recorded.
    pub fn original(&mut self, original: &Original) -> Original {
        match original {
            Original::Recorded(place) => self.text(*place).map_or(Original::Unknown, Original::Text),
            known => known.clone(),
        }
    }

    /// The text that stands there.
    fn text(&mut self, place: Recorded) -> Option<String> {
        serde_json::from_slice(&self.read(place, u64::from(place.bytes))?).ok()
    }

    fn start_of(&mut self, place: Recorded) -> Option<String> {
        // Enough for what is used of it, however much of that are escapes.
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
        self.left = self.left.checked_sub(bytes)?;
        if let Some(part) = self.part_of_last(place, bytes) {
            return Some(part.to_vec());
        }
        if !self.files.iter().any(|(source, _)| *source == place.source) {
            let file = open_regular(Path::new(self.sources.get(place.source)?)).ok()?;
            self.files.push((place.source, file));
        }
        let file = self.file(place.source)?;
        if bytes >= AHEAD {
            return read_at(file, place.at, bytes).ok();
        }
        let mut part = vec![0; usize::try_from(AHEAD).ok()?];
        // One call gives all that is there, or the whole is asked for as ever.
        let length = read_some_at(file, &mut part, place.at).unwrap_or_default();
        part.truncate(length);
        self.last = (place, part);
        let part = self.part_of_last(place, bytes).map(<[u8]>::to_vec);
        part.or_else(|| read_at(self.file(place.source)?, place.at, bytes).ok())
    }

    fn file(&self, source: usize) -> Option<&File> {
        self.files.iter().find(|(known, _)| *known == source).map(|(_, file)| file)
    }

    /// What stands there, if it was read already.
    fn part_of_last(&self, place: Recorded, bytes: u64) -> Option<&[u8]> {
        let (known, part) = &self.last;
        let from = place.at.checked_sub(known.at).filter(|_| known.source == place.source)?;
        part.get(usize::try_from(from).ok()?..usize::try_from(from + bytes).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{EditTool, Outcome};

    fn session(path: &str, places: &[(u64, u32)]) -> Session {
        let touches = places.iter().map(|(at, bytes)| Touch {
            time: None,
            path: format!("/w/{at}"),
            tool: EditTool::Edit,
            at: 1,
            outcome: Outcome::Done,
            original: Original::Recorded(Recorded { source: 0, at: *at, bytes: *bytes }),
            agent: None,
            change_at: None,
            change: None,
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
