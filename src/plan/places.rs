//! Where plans live, by the names of files and folders. Must not read a file.

use std::path::{Component, Path, PathBuf};

use crate::config::PlanGlobs;
use crate::paths::is_markdown;

/// Where plans live.
#[derive(Debug)]
pub struct PlanPlaces {
    /// The workspace.
    pub root: PathBuf,
    /// The client's own plan folders, the newest convention first.
    pub folders: Vec<PathBuf>,
    /// Which files of the workspace are plans.
    pub globs: PlanGlobs,
}

/// Folders of other people's files.
const VENDORED: &[&str] = &[
    ".git", ".venv", "Pods", "bower_components", "node_modules", "site-packages", "third-party",
    "third_party", "vendor", "vendored", "venv",
];

/// Folders of the client's settings that hold prompts: code, however it is called.
const PROMPTS: &[&str] = &["agents", "commands", "skills"];

/// Pages that are there for everybody, whatever is to be done.
const PAGES: &[&str] = &["agents.md", "changelog.md", "claude.md", "readme.md"];

impl PlanPlaces {
    /// Plans in a workspace, in these folders of the client, and where the globs say.
    pub fn new(root: PathBuf, folders: Vec<PathBuf>, globs: PlanGlobs) -> Self {
        Self { root, folders, globs }
    }

    /// Whether a file is a plan by its name and place alone.
    pub fn is_plan(&self, path: &Path) -> bool {
        let in_folder = self.folders.iter().any(|folder| path.starts_with(folder));
        (in_folder && path.extension().is_some_and(|ext| ext == "md"))
            || self.globs.is_match(self.relative(path)) && !is_code(self.relative(path))
    }

    /// Whether any other file may be a plan, if what the session did with it says so: Markdown of
    /// the workspace that is not code.
    pub fn may_be_plan(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(&self.root) else { return false };
        relative.to_str().is_some_and(is_markdown) && !is_code(relative)
    }

    /// Whether the file's own name says that it is a plan.
    pub fn is_named_plan(&self, path: &Path) -> bool {
        path.file_stem().is_some_and(|stem| says_plan(&stem.to_string_lossy()))
    }

    /// Whether it stands in a folder of plans. Below `.planning` there is much else.
    pub fn is_in_plan_folder(&self, path: &Path) -> bool {
        let folder = self.relative(path).parent().and_then(Path::file_name);
        folder
            .is_some_and(|folder| folder.eq_ignore_ascii_case("plan") || folder.eq_ignore_ascii_case("plans"))
    }

    /// Whether the file is one that nearly every workspace has, and no plan for being read.
    pub fn is_common_page(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        name.is_some_and(|name| PAGES.contains(&name.as_str()))
    }

    /// The manifests whose presence would make the file a prompt of a plugin: `commands/` and its
    /// like beside a `.claude-plugin/`.
    pub fn plugin_manifests(&self, path: &Path) -> Vec<PathBuf> {
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        let prompts =
            folders.filter(|folder| folder.file_name().is_some_and(|name| is_one_of(PROMPTS, name)));
        prompts.filter_map(|folder| Some(folder.parent()?.join(".claude-plugin/plugin.json"))).collect()
    }

    /// Returns the whole path, with `.` and `..` resolved by name.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
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

    /// Whether what is written so is that file. Most are told by their names.
    pub(super) fn is_at(&self, written: &str, path: &Path) -> bool {
        Path::new(written).file_name() == path.file_name() && self.absolute(written) == path
    }

    fn relative<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

fn is_one_of(names: &[&str], name: &std::ffi::OsStr) -> bool {
    names.iter().any(|known| name == *known)
}

/// Whether a file is edited and read as code: prompts of the client, templates, and what others
/// wrote.
fn is_code(relative: &Path) -> bool {
    let parts: Vec<_> = relative.iter().collect();
    let prompts = parts.windows(2).any(|pair| pair[0] == ".claude" && is_one_of(PROMPTS, pair[1]));
    let is_template = |part: &&std::ffi::OsStr| {
        let part = part.to_string_lossy();
        memchr::memmem::find(part.to_ascii_lowercase().as_bytes(), b"template").is_some()
    };
    prompts || parts.iter().any(|part| is_one_of(VENDORED, part)) || parts.iter().any(is_template)
}

/// Whether a name has "plan" in it as a word, or at the end of one: `plan-auth`,
/// `IMPLEMENTATION_PLAN`, `buildPlan`, `.planning`, but not `explanation` or `planets`.
fn says_plan(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.match_indices("plan").any(|(at, plan)| {
        let end = at + plan.len();
        let goes_on = |from: usize| {
            let next = name.as_bytes().get(from).filter(|byte| byte.is_ascii_alphabetic());
            // `planAuth` begins a new word.
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
    use crate::config::{Config, plan_globs};

    fn places() -> PlanPlaces {
        let globs = plan_globs(&Config::default().audit.plan).expect("globs");
        PlanPlaces::new("/w".into(), vec!["/home/me/.claude/plans".into()], globs)
    }

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
    fn prompts_templates_and_vendored_files_are_code() {
        for path in [
            ".claude/commands/dev/make-plan.md",
            ".claude/agents/plan.md",
            ".claude/skills/x/plan.md",
            "templates/plan.md",
            "docs/plan-template.md",
            "node_modules/x/plan.md",
            "vendor/x/PLAN.md",
        ] {
            let path = Path::new("/w").join(path);
            assert!(!places().is_plan(&path) && !places().may_be_plan(&path), "{path:?}");
        }
        assert!(places().is_plan(Path::new("/w/.claude/plans/x.md")));
        assert!(places().may_be_plan(Path::new("/w/.impl/tasks.md")));
        assert!(!places().may_be_plan(Path::new("/other/tasks.md")));
        assert!(!places().may_be_plan(&places().absolute("../other/tasks.md")));
    }

    #[test]
    fn a_plugins_prompts_are_told_by_its_manifest() {
        let manifests = places().plugin_manifests(Path::new("/w/tools/commands/x/plan.md"));
        assert_eq!(manifests, [PathBuf::from("/w/tools/.claude-plugin/plugin.json")]);
        assert!(places().plugin_manifests(Path::new("/w/docs/plan.md")).is_empty());
    }
}
