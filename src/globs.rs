//! The globs of the config, compiled: tells whether a path matches. Pure; must not look at the
//! disk.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// Compiles globs that match at any depth: `PLAN.md` and `docs/plans/**` also match in a package of
/// a larger repository, and in a workspace that the transcript names by a link.
pub fn anywhere(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(anywhere_glob(glob)?);
    }
    set.build()
}

/// Compiles one glob of [`anywhere`].
pub fn anywhere_glob(glob: &str) -> Result<Glob, globset::Error> {
    let glob = format!("**/{}", glob.trim_start_matches("./"));
    GlobBuilder::new(&glob).literal_separator(true).build()
}

/// A glob relative to a folder.
#[derive(Debug, Clone)]
pub struct FileGlob {
    /// The folders that it begins with; the whole path if the glob has no wildcard.
    pub start: String,
    /// How many levels below `start` it reaches; `None` is any depth.
    pub depth: Option<usize>,
    /// Matches paths below `start`; `None` if the glob is one path.
    below: Option<GlobMatcher>,
}

impl FileGlob {
    /// Parses a glob such as `docs/**/*.md`, `/abs/*.md` or `~/notes.md`.
    pub fn new(glob: &str) -> Result<Self, globset::Error> {
        let glob = glob.trim_start_matches("./");
        let parts: Vec<&str> = glob.split('/').collect();
        let is_plain = |part: &&&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let names = parts.iter().take_while(is_plain).count();
        let (start, below) = (parts[..names].join("/"), parts[names..].join("/"));
        let start = if glob.starts_with('/') && names == 1 { "/".to_owned() } else { start };
        let depth = (!below.contains("**") && !below.contains('{')).then_some(parts.len() - names);
        let compile = || GlobBuilder::new(&below).literal_separator(true).build();
        let below = if below.is_empty() { None } else { Some(compile()?.compile_matcher()) };
        Ok(Self { start, depth, below })
    }

    /// Returns whether the glob is one path.
    pub fn is_one_path(&self) -> bool {
        self.below.is_none()
    }

    /// Returns whether a path relative to `start` matches.
    pub fn matches_below(&self, path: &Path) -> bool {
        self.below.as_ref().map_or(path.as_os_str().is_empty(), |below| below.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_at_any_depth() {
        for (glob, matching, other) in [
            ("PLAN.md", "a/b/PLAN.md", "PLAN.md/x"),
            ("PLAN.md", "PLAN.md", "aPLAN.md"),
            ("*-plan.md", "/w/big-plan.md", "big-plan.md.bak"),
            ("./docs/plans/**", "p/docs/plans/x/y.txt", "docs/x/plans/y"),
            ("{todo,plan}.txt", "a/todo.txt", "a/tod.txt"),
            ("PLAN-[0-9].md", "PLAN-3.md", "PLAN-x.md"),
            ("a**b", "a1b", "a1c"),
        ] {
            let globs = anywhere(&["other.txt".to_owned(), glob.to_owned()]).expect(glob);
            assert!(globs.is_match(matching) && !globs.is_match(other), "{glob}");
        }
        assert!(anywhere(&["{a".into()]).is_err());
    }

    #[test]
    fn a_glob_for_files_begins_where_it_says() {
        for (glob, start, depth, matching, other) in [
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
            let parsed = FileGlob::new(glob).expect(glob);
            assert_eq!((parsed.start.as_str(), parsed.depth), (start, depth), "{glob}");
            assert!(parsed.matches_below(Path::new(matching)), "{glob} {matching}");
            assert!(!parsed.matches_below(Path::new(other)), "{glob} {other}");
        }
        assert!(FileGlob::new("{a").is_err());
    }
}
