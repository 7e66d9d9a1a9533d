//! What files were before the session: takes the places in the transcripts where that is recorded, gives the
//! texts. Touches the disk; must not read what nobody needs, and a place that does not hold what it should tells
//! nothing.
//!
//! The texts are the largest part of a long transcript that an audit may need, and most of them it never does.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Original, Session, Touch};
use crate::files::open_regular;

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

/// How much is read for one session, in all.
const MOST: u64 = 8 << 20;

/// Puts the texts of the touches that are `wanted` in the place of where they are recorded. The sessions of
/// most stops have few of them; beyond a bound they count as unknown.
pub fn fetch(session: &mut Session, wanted: impl Fn(&Touch) -> bool) {
    let mut files: Vec<Option<File>> = session.sources.iter().map(|_| None).collect();
    let mut left = MOST;
    for touch in &mut session.touches {
        let Original::Recorded(place) = touch.original else { continue };
        if !wanted(touch) {
            continue;
        }
        touch.original = Original::Unknown;
        let Some(source) = session.sources.get(place.source) else { continue };
        let Some(rest) = left.checked_sub(u64::from(place.bytes)) else { continue };
        left = rest;
        let file = &mut files[place.source];
        if file.is_none() {
            *file = open_regular(Path::new(source)).ok();
        }
        if let Some(text) = file.as_mut().and_then(|file| read(file, place)) {
            touch.original = Original::Text(text);
        }
    }
}

fn read(file: &mut File, place: Recorded) -> Option<String> {
    let mut literal = vec![0; usize::try_from(place.bytes).ok()?];
    file.seek(SeekFrom::Start(place.at)).ok()?;
    file.read_exact(&mut literal).ok()?;
    serde_json::from_slice(&literal).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{EditTool, Outcome};

    fn session(path: &str, places: &[(u64, u32)]) -> Session {
        let touches = places.iter().map(|(at, bytes)| Touch {
            path: format!("/w/{at}"),
            tool: EditTool::Edit,
            at: 1,
            outcome: Outcome::Done,
            original: Original::Recorded(Recorded { source: 0, at: *at, bytes: *bytes }),
            agent: None,
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
        fetch(&mut session, |touch| touch.path != "/w/11");
        let originals: Vec<_> = session.touches.iter().map(|touch| touch.original.clone()).collect();
        let left = Original::Recorded(Recorded { source: 0, at: 11, bytes: 5 });
        assert_eq!(originals, [Original::Text("one\n".into()), left, Original::Unknown, Original::Unknown]);
    }

    #[test]
    fn a_transcript_that_is_gone_tells_nothing() {
        let mut session = session("/nowhere/s.jsonl", &[(0, 9)]);
        fetch(&mut session, |_| true);
        assert_eq!(session.touches[0].original, Original::Unknown);
    }
}
