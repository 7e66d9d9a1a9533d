//! What all groups of rows share: sizes, rounds, projects that are made once, and the rows so far.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::Command;

use crate::measure::{Fault, Rounds, Runner, timed};
use crate::project::BenchProject;
use crate::rows::Row;
use crate::transcripts::{Generator, Spec};

/// How large things are, and how often they are measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) small: u64,
    /// What most is measured on.
    pub(crate) middle: u64,
    pub(crate) large: u64,
    /// How many saved sessions `audit --all` audits.
    pub(crate) sessions: usize,
    pub(crate) rounds: Rounds,
    /// By what factor a row may be over its limit.
    pub(crate) slack: f64,
}

impl Sizes {
    pub(crate) const FULL: Self = Self {
        small: 1_000_000,
        middle: 100_000_000,
        large: 1_000_000_000,
        sessions: 1000,
        rounds: Rounds { many: 20, few: 5 },
        slack: 1.2,
    };
    /// Small sizes and few rounds: everything has to work, but no time is judged.
    pub(crate) const QUICK: Self = Self {
        small: 1_000_000,
        middle: 10_000_000,
        large: 40_000_000,
        sessions: 50,
        rounds: Rounds { many: 5, few: 2 },
        slack: f64::INFINITY,
    };
}

/// One run of the benchmark.
pub(crate) struct Bench {
    pub(crate) sizes: Sizes,
    pub(crate) rows: Vec<Row>,
    /// What could not be measured, and why.
    pub(crate) skipped: Vec<String>,
    projects: BTreeMap<(Generator, u64), BenchProject>,
}

impl Bench {
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self { sizes, rows: Vec::new(), skipped: Vec::new(), projects: BTreeMap::new() }
    }

    /// Returns the project whose transcript has that many bytes, made when it is first asked for.
    pub(crate) fn project(&mut self, generator: Generator, bytes: u64) -> Result<&mut BenchProject, Fault> {
        match self.projects.entry((generator, bytes)) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                Ok(place.insert(BenchProject::of(&Spec { generator, ..Spec::of(bytes) })?))
            }
        }
    }

    /// Returns two of them.
    pub(crate) fn projects(
        &mut self,
        generator: Generator,
        sizes: [u64; 2],
    ) -> Result<[&mut BenchProject; 2], Fault> {
        for bytes in sizes {
            self.project(generator, bytes)?;
        }
        let mut found = Vec::new();
        for (key, project) in &mut self.projects {
            if key.0 == generator && sizes.contains(&key.1) {
                found.push(project);
            }
        }
        found.try_into().map_err(|_| "the two sizes are the same".to_owned())
    }
}

/// Returns a runner of the least that a process can do.
pub(crate) fn bin_true() -> Runner<'static> {
    Box::new(|| {
        let mut command = Command::new("/bin/true");
        command.env_clear();
        Ok(timed(&mut command, b"")?.time)
    })
}

/// Returns a size in words.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
        1_000_000.. => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} kB", bytes / 1000),
    }
}
