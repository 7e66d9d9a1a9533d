//! A temporary folder in which a recorded session is laid out again: a home and a workspace, with
//! real paths replacing `[workspace]`, `[home]` and `[trip]` (the whole folder). Must not touch
//! anything outside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use walkdir::WalkDir;

use crate::client::folders::project_name;
use crate::client::hook_reply::Reply;
use crate::env::Env;
use crate::hook::stop::{Registered, answer};
use crate::readers::RecordedReplies;
use crate::state::StateFolder;
use crate::timing::Phases;

const HOOK_INPUT: &str = include_str!("../fixtures/trips/drift/hook.json");
const TRANSCRIPT: &str = include_str!("../fixtures/trips/drift/transcript.jsonl");
const WORKSPACE: &[(&str, &str)] = &[
    ("PLAN.md", DRIFT_PLAN),
    ("README.md", include_str!("../fixtures/trips/drift/workspace/README.md")),
    ("src/slug.rs", include_str!("../fixtures/trips/drift/workspace/src/slug.rs")),
];
/// The plan of the recorded session that drifts.
pub const DRIFT_PLAN: &str = include_str!("../fixtures/trips/drift/workspace/PLAN.md");
/// The first and the second reader's replies to it.
pub const DRIFT_REPLIES: [&str; 2] = [
    include_str!("../fixtures/trips/drift/first-reply.json"),
    include_str!("../fixtures/trips/drift/second-reply.json"),
];
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(120);

/// The folder; removed on drop.
#[derive(Debug)]
pub struct Sandbox {
    folder: tempfile::TempDir,
    root: PathBuf,
    workspace: PathBuf,
}

impl Sandbox {
    /// Returns an empty home and an empty workspace of that name.
    pub fn new(workspace: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("punchlist-").tempdir()?;
        // If the temporary folder is a link, paths found on disk differ from those that were
        // written.
        let root = fs::canonicalize(folder.path())?;
        let stage = Self { folder, workspace: root.join(workspace), root };
        fs::create_dir_all(stage.home())?;
        fs::create_dir_all(&stage.workspace)?;
        Ok(stage)
    }

    /// Returns the recorded session that drifts, and the hook's input at its stop.
    pub fn with_drift() -> io::Result<(Self, String)> {
        let sandbox = Self::new("slugs")?;
        sandbox.write_files(WORKSPACE)?;
        fs::write(sandbox.path("transcript.jsonl"), sandbox.placed_in_json(TRANSCRIPT))?;
        let stdin = sandbox.placed_in_json(HOOK_INPUT);
        Ok((sandbox, stdin))
    }

    pub fn write_files(&self, files: &[(&str, &str)]) -> io::Result<()> {
        for (name, text) in files {
            let path = self.workspace.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&self.workspace))?;
            fs::write(path, text)?;
        }
        Ok(())
    }

    /// Plays a stop through the hook, with recorded replies of the readers.
    pub fn stop(&self, stdin: &str, replies: &[&str]) -> Reply {
        let env = Env::from_pairs([("HOME", self.home())]);
        let registered = Registered::holding(HOOK_TIMEOUT);
        let readers = &mut RecordedReplies::new(replies);
        let phases = Phases::default();
        answer(&phases, stdin.as_bytes(), &env, &self.state(), registered, crate::clock::now(), Some(readers))
    }

    pub fn state(&self) -> StateFolder {
        StateFolder::at(self.path("state"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// Returns the placeholders with their paths, inner folders first.
    fn places(&self) -> [(&'static str, String); 5] {
        let text = |path: &Path| path.display().to_string();
        [
            ("[workspace-slug]", project_name(&self.workspace)),
            ("[home-slug]", project_name(&self.home())),
            ("[workspace]", text(&self.workspace)),
            ("[home]", text(&self.home())),
            ("[trip]", text(&self.root)),
        ]
    }

    /// Returns a text with real paths. A `[workspace]` on a line of its own is a TOML table rather
    /// than a path.
    pub fn placed(&self, text: &str) -> String {
        self.place(text, "\n", str::to_owned)
    }

    /// The same for strings of JSON, in which a Windows path needs its backslashes doubled.
    pub fn placed_in_json(&self, json: &str) -> String {
        self.place(json, "\\n", |path| path.replace('\\', "\\\\"))
    }

    fn place(&self, text: &str, line_end: &str, written: impl Fn(&str) -> String) -> String {
        // Stands in while the rest is replaced: no recorded text has this character.
        const TABLE: &str = "\u{f8ff}";
        let table = |name: &str| format!("{line_end}{name}{line_end}");
        let text = text.replace(&table("[workspace]"), &table(TABLE));
        let text = self.places().iter().fold(text, |text, (name, path)| text.replace(name, &written(path)));
        text.replace(TABLE, "[workspace]")
    }

    /// Returns a text with placeholders for this machine's paths.
    pub fn unplaced(&self, text: &str) -> String {
        let text = self.places().iter().fold(text.to_owned(), |text, (name, path)| text.replace(path, name));
        text.replace(&self.folder.path().display().to_string(), "[trip]")
    }

    /// Returns a text with other names for this machine's paths: `name_of` returns the one for
    /// `[workspace]`, `[home]` and the others.
    pub fn renamed(&self, text: &str, name_of: impl Fn(&str) -> &'static str) -> String {
        self.places().iter().fold(text.to_owned(), |text, (name, path)| text.replace(path, name_of(name)))
    }

    /// The reverse of [`Self::renamed`], in strings of JSON.
    pub fn real_names_in_json(&self, json: &str, name_of: impl Fn(&str) -> &'static str) -> String {
        let places = self.places();
        let written = |path: &str| path.replace('\\', "\\\\");
        places.iter().fold(json.to_owned(), |text, (name, path)| text.replace(name_of(name), &written(path)))
    }

    /// Returns whether a text names the folder itself.
    pub fn is_named_in(&self, text: &str) -> bool {
        let name = self.root.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| text.contains(&name))
    }

    /// Copies a folder into the sandbox, with real paths filled in if a file is text.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in WalkDir::new(from) {
            let entry = entry?;
            let there =
                entry.path().strip_prefix(from).map_or_else(|_| to.to_path_buf(), |rest| to.join(rest));
            if entry.file_type().is_dir() {
                fs::create_dir_all(&there)?;
            } else if entry.file_type().is_symlink() {
                copy_link(entry.path(), &there)?;
            } else {
                copy_file(self, entry.path(), &there)?;
            }
        }
        Ok(())
    }
}

fn copy_file(stage: &Sandbox, from: &Path, to: &Path) -> io::Result<()> {
    // The copy keeps its permissions, so a script stays executable.
    fs::copy(from, to)?;
    let bytes = fs::read(from)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains('[') => fs::write(to, stage.placed(text)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(fs::read_link(from)?, to)
}

#[cfg(not(unix))]
fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_filled_in_and_taken_out() {
        let stage = Sandbox::new("work").expect("a folder");
        let text = "cd [workspace]/src && cat [home]/.claude/projects/[workspace-slug]/x, [trip]/y";
        let placed = stage.placed(text);
        assert!(placed.contains(&format!("cd {}/src", stage.workspace().display())), "{placed}");
        assert!(!placed.contains('['), "{placed}");
        assert_eq!(stage.unplaced(&placed), text);
    }

    #[test]
    fn other_names_can_stand_for_its_paths() {
        let stage = Sandbox::new("work").expect("a folder");
        let name_of = |place: &str| if place == "[workspace]" { "/w" } else { "/other" };
        let real = format!("cd {}/src", stage.workspace().display());
        let renamed = stage.renamed(&real, name_of);
        assert_eq!(renamed, "cd /w/src");
        assert!(stage.is_named_in(&real) && !stage.is_named_in(&renamed));
        assert_eq!(stage.real_names_in_json(&renamed, name_of), real);
    }

    #[test]
    fn a_table_of_a_toml_file_is_no_path() {
        let stage = Sandbox::new("work").expect("a folder");
        let toml = "# all\n[workspace]\nmembers = []\n";
        assert_eq!(stage.placed(toml), toml);
        let json = r##""# all\n[workspace]\nmembers = []""##;
        assert_eq!(stage.placed_in_json(json), json);
    }

    #[test]
    fn a_folder_is_copied_whole() {
        let from = tempfile::tempdir().expect("a folder");
        fs::create_dir(from.path().join("src")).expect("made");
        fs::write(from.path().join("src/a.txt"), "at [workspace]/b").expect("written");
        fs::write(from.path().join("b.bin"), b"\xff[workspace]").expect("written");
        let stage = Sandbox::new("work").expect("a folder");
        stage.copy(from.path(), stage.workspace()).expect("copied");
        let read = |name: &str| fs::read(stage.workspace().join(name)).expect(name);
        assert_eq!(read("src/a.txt"), format!("at {}/b", stage.workspace().display()).into_bytes());
        assert_eq!(read("b.bin"), b"\xff[workspace]");
    }
}
