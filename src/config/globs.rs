//! Globs of the config. A glob of plans or of a check matches in any folder; a [`FileGlob`] counts
//! from one folder. Must not touch the disk.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// Compiles globs that match in any folder: a package of a larger repository has a `docs/plans` of
/// its own, and a workspace behind a link has another name in the transcript.
pub fn plan_globs(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(plan_glob(glob)?);
    }
    set.build()
}

pub(super) fn plan_glob(glob: &str) -> Result<Glob, globset::Error> {
    let anywhere = format!("**/{}", glob.trim_start_matches("./"));
    GlobBuilder::new(&anywhere).literal_separator(true).build()
}

/// A glob that counts from one folder, split so that only the folders that it can match are walked.
#[derive(Debug, Clone)]
pub struct FileGlob {
    /// The leading folders without wildcards; the whole path where it has none.
    pub start: String,
    /// How many folders below `start` it reaches; `None` is any depth.
    pub depth: Option<usize>,
    /// Matches paths below `start`; `None` where `start` is the whole path.
    below: Option<GlobMatcher>,
}

impl FileGlob {
    /// Parses one.
    pub fn new(glob: &str) -> Result<Self, globset::Error> {
        let glob = glob.trim_start_matches("./");
        let parts: Vec<&str> = glob.split('/').collect();
        let is_name = |part: &&&str| !part.contains(['*', '?', '[', ']', '{', '}', '\\']);
        let names = parts.iter().take_while(is_name).count();
        let (start, rest) = (parts[..names].join("/"), parts[names..].join("/"));
        // The part before a leading slash is empty, and stands for the root.
        let start = if glob.starts_with('/') && names == 1 { "/".to_owned() } else { start };
        let depth = (!rest.contains("**") && !rest.contains('{')).then_some(parts.len() - names);
        let compile = |rest: &str| GlobBuilder::new(rest).literal_separator(true).build();
        let below = if rest.is_empty() { None } else { Some(compile(&rest)?.compile_matcher()) };
        Ok(Self { start, depth, below })
    }

    /// Whether it names one path, without wildcards.
    pub fn is_one_path(&self) -> bool {
        self.below.is_none()
    }

    /// Whether it matches a path that is relative to `start`.
    pub fn matches_below(&self, path: &Path) -> bool {
        self.below.as_ref().map_or_else(|| path.as_os_str().is_empty(), |below| below.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AuditConfig;

    #[test]
    fn a_plan_is_found_in_any_folder() {
        let globs = plan_globs(&AuditConfig::default().plan).expect("globs");
        for plan in ["PLAN.md", "a/b/plan.md", "/w/big-plan.md", "docs/plans/x/y.txt", "p/.claude/plans/a.md"]
        {
            assert!(globs.is_match(plan), "{plan}");
        }
        for other in ["PLAN.md/x", "aplan.md", "plan.mdx", "docs/plans", "docs/x/plans/y", "big-plan.md.bak"]
        {
            assert!(!globs.is_match(other), "{other}");
        }
        for (glob, matching, other) in [
            ("{todo,plan}.txt", "a/todo.txt", "a/tod.txt"),
            ("PLAN-[0-9].md", "PLAN-3.md", "PLAN-x.md"),
            ("./plan?.md", "plan2.md", "plan.md"),
        ] {
            let globs = plan_globs(&[glob.to_owned()]).expect("globs");
            assert!(globs.is_match(matching) && !globs.is_match(other), "{glob}");
        }
        assert!(plan_globs(&["{a".into()]).is_err());
    }

    #[test]
    fn a_file_glob_begins_where_it_says() {
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
