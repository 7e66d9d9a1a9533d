//! What all groups of rows share: sizes, rounds, scenes that are made once, and the rows so far.

use std::cell::OnceCell;
use std::process::Command;

use crate::measure::{Fault, Rounds, Runner, timed};
use crate::rows::Row;
use crate::scene::BenchProject;
use crate::transcripts::Spec;

/// How large things are, and how often they are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// The small transcript.
    pub(crate) small: u64,
    /// The one that most is measured on.
    pub(crate) middle: u64,
    /// The large one.
    pub(crate) large: u64,
    /// How many saved sessions are audited at once.
    pub(crate) sessions: usize,
    /// How often.
    pub(crate) rounds: Rounds,
}

impl Sizes {
    /// Those of the table.
    pub(crate) const FULL: Self = Self {
        small: 1_000_000,
        middle: 100_000_000,
        large: 1_000_000_000,
        sessions: 1000,
        rounds: Rounds { many: 20, few: 5 },
    };
    /// Small ones, to see that everything works.
    pub(crate) const QUICK: Self = Self {
        small: 1_000_000,
        middle: 10_000_000,
        large: 40_000_000,
        sessions: 50,
        rounds: Rounds { many: 5, few: 2 },
    };
}

/// One run of the benchmark.
pub(crate) struct Bench {
    /// How large, how often.
    pub(crate) sizes: Sizes,
    /// What came out.
    pub(crate) rows: Vec<Row>,
    /// What could not be measured, and why.
    pub(crate) skipped: Vec<String>,
    small: OnceCell<BenchProject>,
    middle: OnceCell<BenchProject>,
    large: OnceCell<BenchProject>,
}

impl Bench {
    /// Nothing measured yet.
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self {
            sizes,
            rows: Vec::new(),
            skipped: Vec::new(),
            small: OnceCell::new(),
            middle: OnceCell::new(),
            large: OnceCell::new(),
        }
    }

    fn scene(cell: &mut OnceCell<BenchProject>, bytes: u64) -> Result<&mut BenchProject, Fault> {
        if cell.get().is_none() {
            let _ = cell.set(BenchProject::of(&Spec::of(bytes))?);
        }
        cell.get_mut().ok_or_else(|| "no scene".to_owned())
    }

    /// The scenes of the small and of the large transcript.
    pub(crate) fn small_and_large(&mut self) -> Result<(&mut BenchProject, &mut BenchProject), Fault> {
        let (small, large) = (self.sizes.small, self.sizes.large);
        Ok((Self::scene(&mut self.small, small)?, Self::scene(&mut self.large, large)?))
    }

    /// The scenes of the middle and of the large transcript.
    pub(crate) fn middle_and_large(&mut self) -> Result<(&mut BenchProject, &mut BenchProject), Fault> {
        let (middle, large) = (self.sizes.middle, self.sizes.large);
        Ok((Self::scene(&mut self.middle, middle)?, Self::scene(&mut self.large, large)?))
    }

    /// The scene of the small transcript.
    pub(crate) fn small(&mut self) -> Result<&mut BenchProject, Fault> {
        let bytes = self.sizes.small;
        Self::scene(&mut self.small, bytes)
    }
}

/// The least that a process can do.
pub(crate) fn bin_true() -> Runner<'static> {
    Box::new(|| {
        let mut command = Command::new("/bin/true");
        command.env_clear();
        Ok(timed(&mut command, b"")?.time)
    })
}

/// A size in words.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} kB", bytes / 1000),
    }
}
