//! Files by their names: takes the globs of the config, says of a path whether one of them fits. A glob for plans
//! without a slash is a file's name, wherever it stands; all others count from a folder on. Must not make an automaton of globs that can be
//! walked as they are written: every stop that reads its session asks.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Deserializer, de};

/// The globs.
#[derive(Debug, Clone, Default)]
pub struct PlanGlobs {
    plain: Vec<Vec<Part>>,
    /// Those with more in them than names, `*` and `**`.
    rest: GlobSet,
}

/// What stands between two slashes of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `**`: any folders, or none; at the end of a glob, anything below.
    Any,
    /// A name; what stands between its `*`.
    Name(Vec<Vec<u8>>),
}

/// The globs, ready to use.
pub fn plan_globs(globs: &[String]) -> Result<PlanGlobs, globset::Error> {
    let mut plain = Vec::new();
    let mut rest = GlobSetBuilder::new();
    let mut is_plain = true;
    for glob in globs {
        if let Some(parts) = parts(glob) {
            plain.push(parts);
        } else {
            is_plain = false;
            rest.add(plan_glob(glob)?);
        }
    }
    // Even an empty set looks around how many processors there are.
    let rest = if is_plain { GlobSet::empty() } else { rest.build()? };
    Ok(PlanGlobs { plain, rest })
}

impl PlanGlobs {
    /// Whether one of them fits.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let names: Vec<&[u8]> = path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/').collect();
        self.plain.iter().any(|parts| fits(parts, &names))
            || (!self.rest.is_empty() && self.rest.is_match(path))
    }
}

impl PlanGlobs {
    /// For each glob a text that stands in every path that it fits; `None` if there is a glob without one.
    pub fn literals(&self) -> Option<Vec<&[u8]>> {
        self.rest.is_empty().then_some(())?;
        self.plain.iter().map(|parts| literal(parts)).collect()
    }
}

/// The longest text between the stars and slashes of a glob.
fn literal(parts: &[Part]) -> Option<&[u8]> {
    let names = parts.iter().filter_map(|part| match part {
        Part::Any => None,
        Part::Name(pieces) => Some(pieces),
    });
    let longest = names.flatten().max_by_key(|piece| piece.len())?;
    (!longest.is_empty()).then_some(longest.as_slice())
}

/// A glob that counts from a folder on.
#[derive(Debug, Clone)]
pub struct FileGlob {
    /// The folders that it begins with, as they are; the whole path where nothing else is in it.
    pub start: String,
    /// How far below them it reaches; `None` is any depth.
    pub depth: Option<usize>,
    rest: Rest,
}

/// What follows the names that a glob begins with.
#[derive(Debug, Clone)]
enum Rest {
    Nothing,
    Plain(Vec<Part>),
    Compiled(Box<GlobMatcher>),
}

impl FileGlob {
    /// Reads one.
    pub fn of(glob: &str) -> Result<Self, globset::Error> {
        let glob = glob.trim_start_matches("./");
        let is_name = |part: &&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let parts: Vec<&str> = glob.split('/').collect();
        let names = parts.iter().take_while(|part| is_name(part)).count();
        let (start, rest) = (parts[..names].join("/"), parts[names..].join("/"));
        // A slash before everything is a name of nothing, and stands for the root.
        let start = if glob.starts_with('/') && names == 1 { "/".to_owned() } else { start };
        let depth = (!rest.contains("**") && !rest.contains('{')).then_some(parts.len() - names);
        let plain: Option<Vec<Part>> = parts[names..].iter().map(|text| part(text)).collect();
        let is_plain =
            |parts: &Vec<Part>| !cfg!(windows) && parts.windows(2).all(|two| two != [Part::Any, Part::Any]);
        let is_special = |rest: &str| rest.contains(['?', '[', ']', '{', '}', '\\']);
        let rest = match plain.filter(is_plain).filter(|_| !is_special(&rest)) {
            _ if rest.is_empty() => Rest::Nothing,
            Some(parts) => Rest::Plain(parts),
            None => Rest::Compiled(Box::new(
                GlobBuilder::new(&rest).literal_separator(true).build()?.compile_matcher(),
            )),
        };
        Ok(Self { start, depth, rest })
    }

    /// Whether it is one path, with nothing to look for.
    pub fn is_one_path(&self) -> bool {
        matches!(self.rest, Rest::Nothing)
    }

    /// Whether a path fits, as seen from the folders that the glob begins with.
    pub fn fits_below(&self, path: &Path) -> bool {
        match &self.rest {
            Rest::Nothing => path.as_os_str().is_empty(),
            Rest::Plain(parts) => {
                let names: Vec<&[u8]> =
                    path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/').collect();
                fits(parts, &names)
            }
            Rest::Compiled(matcher) => matcher.is_match(path),
        }
    }
}

/// A list of such globs in a config file.
pub(super) fn file_globs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    for glob in &globs {
        let fault =
            |why: &dyn std::fmt::Display| de::Error::custom(format!("\"{glob}\" is not a glob: {why}"));
        FileGlob::of(glob).map_err(|error| fault(error.kind()))?;
        if glob.trim().is_empty() || glob.split('/').any(|part| part == "..") {
            return Err(fault(&"it names no file, or goes up with `..`"));
        }
    }
    Ok(globs)
}

/// A package of a larger repository has a `docs/plans` of its own, and a workspace behind a link has another name in
/// the transcript.
fn anywhere(glob: &str) -> String {
    format!("**/{}", glob.trim_start_matches("./"))
}

/// A glob as the library reads it.
pub(super) fn plan_glob(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(&anywhere(glob)).literal_separator(true).build()
}

/// The parts of a glob that has nothing in it but names, `*` and `**`.
fn parts(glob: &str) -> Option<Vec<Part>> {
    // Where paths have two kinds of slashes the library knows better.
    if cfg!(windows) || glob.contains(['?', '[', ']', '{', '}', '\\']) {
        return None;
    }
    let anywhere = anywhere(glob);
    let parts: Option<Vec<Part>> = anywhere.split('/').map(part).collect();
    parts.filter(|parts| parts.windows(2).all(|two| two != [Part::Any, Part::Any]))
}

fn part(text: &str) -> Option<Part> {
    match text {
        "**" => Some(Part::Any),
        _ if text.is_empty() || text.contains("**") => None,
        _ => Some(Part::Name(text.split('*').map(|piece| piece.as_bytes().to_vec()).collect())),
    }
}

fn fits(parts: &[Part], names: &[&[u8]]) -> bool {
    match parts {
        [] => names.is_empty(),
        [Part::Any] => !names.is_empty(),
        [Part::Any, rest @ ..] => (0..names.len()).any(|skipped| fits(rest, &names[skipped..])),
        [Part::Name(pieces), rest @ ..] => {
            names.split_first().is_some_and(|(name, names)| is_named(pieces, name) && fits(rest, names))
        }
    }
}

/// Whether a name begins with the first piece, ends with the last, and has the others in between, in their order.
fn is_named(pieces: &[Vec<u8>], name: &[u8]) -> bool {
    let [first, between @ .., last] = pieces else {
        return pieces.first().is_some_and(|piece| piece == name);
    };
    let Some(mut left) =
        name.strip_prefix(first.as_slice()).and_then(|name| name.strip_suffix(last.as_slice()))
    else {
        return false;
    };
    between.iter().filter(|piece| !piece.is_empty()).all(|piece| {
        let found = left.windows(piece.len()).position(|window| window == piece.as_slice());
        found.is_some_and(|at| {
            left = &left[at + piece.len()..];
            true
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::Config;

    fn is_plan(globs: &[&str], path: &str) -> bool {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        plan_globs(&globs).expect("globs").is_match(path)
    }

    #[test]
    fn the_built_in_globs_need_no_library() {
        let globs = plan_globs(&Config::default().audit.plan).expect("globs");
        assert_eq!((globs.plain.len(), globs.rest.len()), (5, 0));
        for plan in ["PLAN.md", "a/b/plan.md", "/w/big-plan.md", "docs/plans/x/y.txt", "p/.claude/plans/a.md"]
        {
            assert!(globs.is_match(plan), "{plan}");
        }
        for other in ["PLAN.md/x", "aplan.md", "plan.mdx", "docs/plans", "docs/x/plans/y", "big-plan.md.bak"]
        {
            assert!(!globs.is_match(other), "{other}");
        }
    }

    #[test]
    fn what_is_more_than_names_and_stars_is_left_to_the_library() {
        for (glob, fits, fits_not) in [
            ("{todo,plan}.txt", "a/todo.txt", "a/tod.txt"),
            ("PLAN-[0-9].md", "PLAN-3.md", "PLAN-x.md"),
            ("plan?.md", "plan2.md", "plan.md"),
            ("a**b", "a1b", "a1c"),
        ] {
            assert!(is_plan(&["x", glob], fits) && !is_plan(&["x", glob], fits_not), "{glob}");
        }
        assert!(plan_globs(&["{a".into()]).is_err());
    }

    #[test]
    fn a_glob_for_files_begins_where_it_says() {
        for (glob, start, depth, fits, fits_not) in [
            ("NOTES.md", "NOTES.md", Some(0), "", "NOTES.md"),
            ("./docs/*.md", "docs", Some(1), "a.md", "x/a.md"),
            ("*.md", "", Some(1), "a.md", "x/a.md"),
            ("docs/**/*.md", "docs", None, "x/y/a.md", "x/y/a.txt"),
            ("docs/**/x", "docs", None, "a/x", "a/y"),
            ("/abs/n-*/a.md", "/abs", Some(2), "n-1/a.md", "a.md"),
            ("/*.md", "/", Some(1), "a.md", "b/a.md"),
            ("~/notes/{a,b}.md", "~/notes", None, "b.md", "c.md"),
            ("log-[0-9].txt", "", Some(1), "log-3.txt", "log-x.txt"),
        ] {
            let read = FileGlob::of(glob).expect(glob);
            assert_eq!((read.start.as_str(), read.depth), (start, depth), "{glob}");
            assert!(read.fits_below(Path::new(fits)), "{glob} {fits}");
            assert!(!read.fits_below(Path::new(fits_not)), "{glob} {fits_not}");
        }
        assert!(FileGlob::of("{a").is_err());
    }

    proptest! {
        #[test]
        fn walked_and_compiled_globs_say_the_same(
            glob in "(\\./)?\\*?[ab.]{1,2}\\*?[ab.]?(/(\\*\\*/)?\\*?[ab.]{1,2}\\*?){0,2}(/\\*\\*)?",
            path in "/?[ab.]{0,4}(/[ab.]{0,4}){0,5}",
        ) {
            let Some(parts) = parts(&glob) else { return Ok(()) };
            let compiled = plan_glob(&glob).expect("a glob").compile_matcher();
            let names: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
            prop_assert_eq!(fits(&parts, &names), compiled.is_match(&path), "{} {}", glob, path);
            let globs = PlanGlobs { plain: vec![parts], rest: GlobSet::empty() };
            if let Some(literals) = globs.literals().filter(|_| globs.is_match(&path)) {
                let literal = std::str::from_utf8(literals[0]).expect("text");
                prop_assert!(path.contains(literal), "{} {}", glob, path);
            }
        }
    }
}
