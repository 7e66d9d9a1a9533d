//! The project that a made-up session works on: source files that change in a few lines only, and a
//! plan that names them. Knows what stands in each at any moment; writes them out as they are in
//! the end.

use std::fs;
use std::io;
use std::path::Path;

use super::pool::{Pools, escape};

/// How many places of a file are changed, over and over, at the most.
const PLACES: usize = 6;

/// A source file.
#[derive(Debug, Clone)]
pub(crate) struct SourceFile {
    number: usize,
    /// Where it is.
    pub(crate) path: String,
    /// Where it is, from the project's folder.
    pub(crate) name: String,
    /// Which lines of the pool it holds.
    lines: (usize, usize),
    /// How often each of its places was changed.
    versions: Vec<usize>,
    /// Whether it is there now.
    pub(crate) is_there: bool,
}

/// One change of one line.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The line before.
    pub(crate) old: String,
    /// The line after.
    pub(crate) new: String,
    /// The line above it.
    pub(crate) above: String,
    /// Its number.
    pub(crate) line: usize,
}

impl SourceFile {
    /// A file of about that many bytes.
    pub(crate) fn new(number: usize, root: &str, pools: &Pools, bytes: usize, was_there: bool) -> Self {
        let name = format!("src/area_{}/unit_{number:03}.rs", number % 7);
        let from = (number * 97) % (pools.code.len() / 2);
        let places = PLACES.min(bytes / 400).max(1);
        let wanted = bytes.saturating_sub(places * 120).max(40);
        let mut count = 1;
        while pools.code.raw(from, count).len() < wanted && from + count < pools.code.len() {
            count += 1;
        }
        Self {
            number,
            path: format!("{root}/{name}"),
            name,
            lines: (from, count),
            versions: vec![0; places],
            is_there: was_there,
        }
    }

    /// How many places of it can be changed.
    pub(crate) fn places(&self) -> usize {
        self.versions.len()
    }

    /// The function that stands around a place.
    pub(crate) fn symbol(&self, place: usize) -> String {
        format!("part_{}_{place}", self.number)
    }

    fn above(&self, place: usize) -> String {
        format!("pub fn {}(input: &Input) -> Limit {{", self.symbol(place))
    }

    fn line(&self, place: usize, version: usize) -> String {
        format!(
            "    let limit_{}_{place} = Limit::named(\"unit {} \\\\ {place}\", {version});",
            self.number, self.number
        )
    }

    /// The pool's lines before each place, and after the last.
    fn share(&self, index: usize) -> (usize, usize) {
        let (from, count) = self.lines;
        let shares = self.versions.len() + 1;
        let (start, end) = (count * index / shares, count * (index + 1) / shares);
        (from + start, end - start)
    }

    /// The text as it stands, as it is or as it stands in a JSON string.
    pub(crate) fn write_text(&self, pools: &Pools, escaped: bool, out: &mut Vec<u8>) {
        for (place, version) in self.versions.iter().enumerate() {
            let (from, count) = self.share(place);
            let (above, line) = (self.above(place), self.line(place, *version));
            if escaped {
                out.extend_from_slice(pools.code.escaped(from, count));
                escape(&above, out);
                out.extend_from_slice(b"\\n");
                escape(&line, out);
                out.extend_from_slice(b"\\n");
            } else {
                out.extend_from_slice(pools.code.raw(from, count));
                out.extend_from_slice(above.as_bytes());
                out.push(b'\n');
                out.extend_from_slice(line.as_bytes());
                out.push(b'\n');
            }
        }
        let (from, count) = self.share(self.versions.len());
        out.extend_from_slice(if escaped {
            pools.code.escaped(from, count)
        } else {
            pools.code.raw(from, count)
        });
    }

    /// What the next change of a place does.
    pub(crate) fn next_edit(&self, place: usize) -> Edit {
        let version = self.versions[place];
        let before: usize = (0..=place).map(|index| self.share(index).1).sum();
        Edit {
            old: self.line(place, version),
            new: self.line(place, version + 1),
            above: self.above(place),
            line: before + 2 * (place + 1),
        }
    }

    /// Makes it.
    pub(crate) fn apply(&mut self, place: usize) {
        self.versions[place] += 1;
    }
}

/// A plan of ticked and unticked steps in `PLAN.md`.
#[derive(Debug, Clone)]
pub(crate) struct PlanFile {
    /// Where it is.
    pub(crate) path: String,
    steps: Vec<String>,
    ticked: usize,
}

impl PlanFile {
    /// A plan of that many steps, each of which names a place in one of the files.
    pub(crate) fn new(root: &str, steps: usize, files: &[SourceFile]) -> Self {
        let step = |index: usize| {
            let file = &files[index % files.len()];
            let place = (index / files.len()) % file.places();
            let round = index / files.len() / file.places() + 1;
            format!("Tune the limit of `{}` in `{}`, round {round}", file.symbol(place), file.name)
        };
        Self { path: format!("{root}/PLAN.md"), steps: (0..steps).map(step).collect(), ticked: 0 }
    }

    /// How many steps are not ticked yet.
    pub(crate) fn open_steps(&self) -> usize {
        self.steps.len() - self.ticked
    }

    fn line(&self, index: usize, ticked: bool) -> String {
        format!("- [{}] {}\n", if ticked { 'x' } else { ' ' }, self.steps[index])
    }

    /// The plan as it stands.
    pub(crate) fn text(&self) -> String {
        let lines = (0..self.steps.len()).map(|index| self.line(index, index < self.ticked));
        format!("# Tuning the limits\n\n{}", lines.collect::<String>())
    }

    /// Ticks the next steps, at most `count`; gives the lines before and after.
    pub(crate) fn tick(&mut self, count: usize) -> (String, String) {
        let steps = self.ticked..(self.ticked + count).min(self.steps.len());
        let lines = |ticked| steps.clone().map(|index| self.line(index, ticked)).collect();
        let change = (lines(false), lines(true));
        self.ticked = steps.end;
        change
    }
}

/// Writes everything out as it stands in the end.
pub(crate) fn write_out(
    root: &Path,
    files: &[SourceFile],
    plan: Option<&PlanFile>,
    pools: &Pools,
) -> io::Result<()> {
    fs::create_dir_all(root)?;
    let mut text = Vec::new();
    for file in files.iter().filter(|file| file.is_there) {
        let path = root.join(&file.name);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        text.clear();
        file.write_text(pools, false, &mut text);
        fs::write(path, &text)?;
    }
    plan.map_or(Ok(()), |plan| fs::write(root.join("PLAN.md"), plan.text()))
}
