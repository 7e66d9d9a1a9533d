//! Which files may be plans, by the names of files and folders. Must not read a file.

use std::path::{Component, Path, PathBuf};

use globset::GlobSet;

use crate::globs;
use crate::paths::{SKIPPED_FOLDERS, is_markdown};
use crate::text::contains_ignoring_case;

/// Where plans live.
#[derive(Debug)]
pub struct PlanPlaces {
    root: PathBuf,
    /// The client's own plan folders, the newest convention first.
    pub(super) folders: Vec<PathBuf>,
    globs: GlobSet,
    /// The globs that the project alone has named.
    only_projects: GlobSet,
    /// Texts of which one is part of every path that may be a plan; empty where a glob has none.
    hints: Vec<String>,
}

/// A file that may be a plan. Unless `is_plan`, that depends on what the session did with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    pub path: PathBuf,
    /// It is in a plan folder of the client, or a glob of the config matches it.
    pub is_plan: bool,
    /// Only a glob that the project itself has named says that it is a plan.
    pub is_only_projects: bool,
    /// It is in a folder called `plan` or `plans`. `.planning` has many other files.
    pub is_in_plan_folder: bool,
}

impl PlanFile {
    /// Returns whether its own name contains the word "plan".
    pub fn is_called_plan(&self) -> bool {
        self.path.file_stem().is_some_and(|stem| says_plan(&stem.to_string_lossy()))
    }

    /// Returns whether nearly every workspace has such a file, so that reading it does not make it
    /// a plan.
    pub fn is_common_page(&self) -> bool {
        let name = self.path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        name.is_some_and(|name| PAGES.contains(&name.as_str()))
    }
}

/// Folders of the client's settings with prompts, which count as code whatever their names.
const PROMPTS: &[&str] = &["agents", "commands", "skills"];

/// Pages that nearly every workspace has.
const PAGES: &[&str] = &["agents.md", "changelog.md", "claude.md", "readme.md"];

impl PlanPlaces {
    /// Returns the places of plans: a workspace, the client's folders, and where the globs match. A
    /// glob that does not compile was reported with the config, and matches nothing.
    pub fn new(root: PathBuf, folders: Vec<PathBuf>, globs: &[String]) -> Self {
        let hints = hints(globs).unwrap_or_default();
        let globs = globs::anywhere(globs).unwrap_or_default();
        Self { root, folders, globs, only_projects: GlobSet::empty(), hints }
    }

    /// Adds the globs that the project has named besides the person's.
    #[must_use]
    pub fn with_projects(self, globs: &[String]) -> Self {
        let hints = if self.hints.is_empty() { None } else { hints(globs) };
        let hints = hints.map(|more| [self.hints, more].concat()).unwrap_or_default();
        Self { only_projects: globs::anywhere(globs).unwrap_or_default(), hints, ..self }
    }

    /// Returns whether a text may name a plan: a quick look, before a command line is parsed for
    /// its words.
    pub fn may_be_named_in(&self, text: &str) -> bool {
        self.hints.is_empty() || self.hints.iter().any(|hint| contains_ignoring_case(text, hint))
    }

    /// Returns the file with this path, if it may be a plan: one of the client's or the config's,
    /// or any Markdown of the workspace that is not code.
    pub fn file(&self, written: &str) -> Option<PlanFile> {
        // A session names thousands of paths, and few of them can be plans.
        let is_named = |path: &Path| self.globs.is_match(path) || self.only_projects.is_match(path);
        if !self.may_be_named_in(written) || !is_markdown(written) && !is_named(Path::new(written)) {
            return None;
        }
        let path = self.absolute(written);
        let relative = path.strip_prefix(&self.root).ok();
        let name = relative.unwrap_or(&path);
        let is_page = relative.and_then(Path::to_str).is_some_and(is_markdown);
        let is_clients = path.extension().is_some_and(|ending| ending == "md")
            && self.folders.iter().any(|folder| path.starts_with(folder));
        let is_code = is_code(name);
        let is_plan = is_clients || is_named(name) && !is_code;
        let is_only_projects = is_plan && !is_clients && !self.globs.is_match(name);
        if !is_plan && (!is_page || is_code) {
            return None;
        }
        let folder = name.parent().and_then(Path::file_name);
        let is_in_plan_folder =
            folder.is_some_and(|name| ["plan", "plans"].iter().any(|plan| name.eq_ignore_ascii_case(plan)));
        Some(PlanFile { path, is_plan, is_only_projects, is_in_plan_folder })
    }

    /// Returns the manifests whose presence would make the file a plugin's prompt: `commands/` and
    /// the like beside a `.claude-plugin/`.
    pub(super) fn plugin_manifests(&self, path: &Path) -> Vec<PathBuf> {
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        let prompts =
            folders.filter(|folder| folder.file_name().is_some_and(|name| is_one_of(PROMPTS, name)));
        prompts.filter_map(|folder| Some(folder.parent()?.join(".claude-plugin/plugin.json"))).collect()
    }

    /// Returns the absolute path, with `.` and `..` resolved by name.
    pub fn absolute(&self, path: &str) -> PathBuf {
        let mut whole = PathBuf::new();
        for part in self.root.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                part => whole.push(part),
            }
        }
        whole
    }
}

/// Returns texts of which one is part of every path that may be a plan: Markdown's ending, and the
/// longest plain part of each other glob; `None` where a glob has no such part.
fn hints(globs: &[String]) -> Option<Vec<String>> {
    let plain = |glob: &String| {
        let parts = glob.split(['*', '?', '[', ']', '{', '}', '\\', '!']).map(|part| part.trim_matches('/'));
        let longest = parts.max_by_key(|part| part.len())?;
        // What is inside of brackets or braces is not part of every path.
        (longest.len() >= 3 && !glob.contains(['[', '{'])).then(|| longest.to_owned())
    };
    let others = globs.iter().filter(|glob| !is_markdown(glob)).map(plain);
    std::iter::once(Some(".md".to_owned())).chain(others).collect()
}

fn is_one_of(names: &[&str], name: &std::ffi::OsStr) -> bool {
    names.iter().any(|known| name == *known)
}

/// Returns whether a file is edited and read as code: prompts of the client, templates, and
/// vendored files.
fn is_code(relative: &Path) -> bool {
    let parts: Vec<_> = relative.iter().collect();
    let prompts = parts.windows(2).any(|pair| pair[0] == ".claude" && is_one_of(PROMPTS, pair[1]));
    let is_template =
        |part: &&std::ffi::OsStr| part.to_string_lossy().to_ascii_lowercase().contains("template");
    prompts || parts.iter().any(|part| is_one_of(SKIPPED_FOLDERS, part)) || parts.iter().any(is_template)
}

/// Returns whether a name contains "plan" as a word, or at the end of one: `plan-auth`,
/// `IMPLEMENTATION_PLAN`, `buildPlan`, `.planning`, but not `explanation` or `planets`.
fn says_plan(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.match_indices("plan").any(|(at, plan)| {
        let end = at + plan.len();
        let goes_on = |from: usize| {
            let next = name.as_bytes().get(from).filter(|byte| byte.is_ascii_alphabetic());
            // `planAuth` starts a new word.
            next.is_some_and(|next| {
                !(next.is_ascii_uppercase() && name.as_bytes()[from - 1].is_ascii_lowercase())
            })
        };
        let endings = ["", "s", "ning"];
        endings.iter().any(|ending| lower[end..].starts_with(ending) && !goes_on(end + ending.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::plan_places;

    #[test]
    fn names_that_say_plan() {
        for name in [
            "plan", "PLAN", "plan-auth", "auth-plan", "IMPLEMENTATION_PLAN", "buildPlan", "planAuth",
            "03-02-PLAN", "plans", ".planning", "masterplan", "plan2",
        ] {
            assert!(says_plan(name), "{name}");
        }
        for name in ["explanation", "EXPLANATION", "planets", "airplane", "plant", "planner", "notes", ""] {
            assert!(!says_plan(name), "{name}");
        }
    }

    #[test]
    fn files_of_the_workspace_may_be_plans_and_code_may_not() {
        for code in [
            "/w/.claude/commands/dev/make-plan.md",
            "/w/.claude/agents/plan.md",
            "/w/.claude/skills/x/plan.md",
            "/w/templates/plan.md",
            "/w/docs/plan-template.md",
            "/w/node_modules/x/plan.md",
            "/w/vendor/x/PLAN.md",
            "/other/tasks.md",
            "../other/tasks.md",
            "/w/src/a.rs",
        ] {
            assert_eq!(plan_places(&[]).file(code), None, "{code}");
        }
        let is_plan = |path: &str| plan_places(&[]).file(path).map(|file| file.is_plan);
        for (path, expected) in [
            ("/w/.claude/plans/x.md", true),
            ("docs/plans/x/y.txt", true),
            ("/home/me/.claude/plans/x.md", true),
            ("/w/.impl/tasks.md", false),
        ] {
            assert_eq!(is_plan(path), Some(expected), "{path}");
            assert!(plan_places(&[]).may_be_named_in(&format!("cat {path} | head")), "{path}");
        }
    }

    #[test]
    fn globs_of_any_form_are_matched() {
        for (glob, path) in
            [("todo.txt", "/w/a/todo.txt"), ("{todo,plan}.txt", "/w/todo.txt"), ("*", "/w/x"), ("**", "/w/x")]
        {
            assert!(plan_places(&[glob]).file(path).is_some_and(|file| file.is_plan), "{glob}");
            assert!(plan_places(&[glob]).may_be_named_in(&format!("cat {path}")), "{glob}");
            assert_eq!(plan_places(&[]).file(path), None, "{path}");
        }
        let built_in = plan_places(&[]);
        assert!(built_in.may_be_named_in("sed -i s/x/y/ TODO.MD") && !built_in.may_be_named_in("cargo test"));
    }

    #[test]
    fn a_plugins_prompts_are_told_by_its_manifest() {
        let places = plan_places(&[]);
        let manifests = places.plugin_manifests(Path::new("/w/tools/commands/x/plan.md"));
        assert_eq!(manifests, [PathBuf::from("/w/tools/.claude-plugin/plugin.json")]);
        assert!(places.plugin_manifests(Path::new("/w/docs/plan.md")).is_empty());
    }
}
