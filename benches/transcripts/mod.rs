//! Makes up transcripts like the real client's, of any size, in bounded memory, the same for the
//! same seed; writes the files that the session worked on, and the truth about it. Shapes, shares
//! and sizes of rows are those of real files: half are smaller than a kilobyte, a few have
//! hundreds, most bytes are results of tools.
//!
//! `second` is a generator of its own with other rows; what follows is the first one's: `chance`
//! gives numbers, `pool` text, `project` the files, `rows` writes rows and `sink` lines, `session`
//! and `calls` tell what happens, `later` goes on with a session that is there, `truth` is what
//! there is to find.

mod calls;
mod chance;
pub(crate) mod later;
mod pool;
mod project;
mod rows;
mod second;
mod session;
pub(crate) mod sink;
pub(crate) mod truth;

use std::fs;
use std::io;
use std::path::Path;

pub(crate) use later::Later;
pub(crate) use sink::Odd;
pub(crate) use truth::Truth;

/// Which generator makes a transcript up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Generator {
    /// Kinds, shares and sizes of rows as in sessions of recent clients.
    First,
    /// Rows that have little in common with those.
    Second,
}

impl Generator {
    pub(crate) const ALL: [Self; 2] = [Self::First, Self::Second];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::First => "first generator",
            Self::Second => "second generator",
        }
    }
}

/// What to make up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spec {
    /// By which of them. The second one takes only seed and size.
    pub(crate) generator: Generator,
    /// Another seed is another session.
    pub(crate) seed: u64,
    /// How long the transcript is, but for its last turn.
    pub(crate) bytes: u64,
    /// How many files are changed.
    pub(crate) files: usize,
    /// How large each of them is; 0 for some small and some large.
    pub(crate) file_bytes: usize,
    /// How many steps `PLAN.md` has; 0 for no plan.
    pub(crate) plan_steps: usize,
    /// How many commands there are; `None` for as many as sessions of that size have.
    pub(crate) commands: Option<usize>,
    /// How many changes of files there are, at least one for each; `None` for as many as such
    /// sessions have.
    pub(crate) edits: Option<usize>,
    /// How many subagents have a transcript beside it.
    pub(crate) subagents: usize,
    /// Odd shapes.
    pub(crate) odd: Odd,
}

impl Spec {
    /// A session of that many bytes, with all that sessions of that size have.
    pub(crate) fn of(bytes: u64) -> Self {
        let files = usize::try_from(bytes >> 20).unwrap_or(usize::MAX).clamp(4, 50);
        Self {
            generator: Generator::First,
            seed: 1,
            bytes,
            files,
            file_bytes: 0,
            plan_steps: 0,
            commands: None,
            edits: None,
            subagents: 0,
            odd: Odd::default(),
        }
    }
}

/// Writes the transcript, the files of its workspace, its subagents' transcripts, and `truth.json`
/// beside them: the transcript's name with `.truth.json` for `.jsonl`.
pub(crate) fn generate(spec: &Spec, transcript: &Path, workspace: &Path) -> io::Result<Truth> {
    if let Some(folder) = transcript.parent() {
        fs::create_dir_all(folder)?;
    }
    let truth = match spec.generator {
        Generator::First => session::tell(spec, transcript, workspace)?,
        Generator::Second => second::write(spec, transcript, workspace)?,
    };
    let json = serde_json::to_vec(&truth).map_err(io::Error::other)?;
    fs::write(transcript.with_extension("truth.json"), json)?;
    Ok(truth)
}
