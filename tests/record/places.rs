//! Where a recording takes place, and what stands for that in the files of a case. Takes texts with
//! `[workspace]` and `[home]` and gives them with real paths, and the other way round. It must not
//! let a path of this machine through: what is recorded is published.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::rig::client;
use crate::rig::message::ToolCall;
use crate::rig::scratch::{Scratch, slug};

/// Inputs of tools that are paths, and are absolute from a real model.
const PATH_INPUTS: &[&str] = &["file_path", "notebook_path"];

/// The folders of one recording.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    workspace: PathBuf,
    /// What is this machine's, and what stands for it; inner folders first.
    stand_ins: Vec<(String, &'static str)>,
}

impl Places {
    pub(crate) fn of(scratch: &Scratch, tools: &Path) -> Self {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let (project, home) = (scratch.project(), scratch.home());
        let mut stand_ins = vec![
            (slug(&project), "[workspace-slug]"),
            (slug(&home), "[home-slug]"),
            (text(project.clone()), "[workspace]"),
            (text(home), "[home]"),
            // On a real machine both are where everybody has them.
            (text(scratch.temporary()), "/tmp"),
            (text(tools.to_path_buf()), "/usr/local/bin"),
        ];
        // Newer clients write down what they run on.
        stand_ins.extend(kernel().map(|kernel| (kernel, "6.8.0")));
        Self { workspace: project, stand_ins }
    }

    /// A text of the author's with real paths in it.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.stand_ins
            .iter()
            .filter(|(_, name)| name.starts_with('['))
            .fold(text.to_owned(), |text, (path, name)| text.replace(name, path))
    }

    /// A recorded text with this machine taken out of it. Paths have no character that JSON
    /// escapes, so that it is the same for what stands in a string of a transcript.
    pub(crate) fn clear(&self, text: &str) -> String {
        self.stand_ins.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
    }

    /// A call of the author's as a model would make it.
    pub(crate) fn call(&self, name: &str, input: &Value) -> ToolCall {
        let mut input = self.filled(input);
        for key in PATH_INPUTS {
            if let Some(Value::String(path)) = input.get_mut(key) {
                // A path that is absolute stays as it is.
                *path = self.workspace.join(&*path).to_string_lossy().into_owned();
            }
        }
        ToolCall { name: name.to_owned(), input }
    }

    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            plain => plain.clone(),
        }
    }
}

/// What of this machine still stands in a text that is to be published, beyond what the author
/// wrote.
pub(crate) fn left_of_this_machine(text: &str, written_by_the_author: &str) -> Option<String> {
    let home = std::env::var("HOME").ok().filter(|home| home.len() > 1).map(|home| format!("{home}/"));
    let temporary = std::env::temp_dir().join("punchlist-e2e-");
    let telling = [
        Some(client::folder().to_string_lossy().into_owned()),
        Some(env!("CARGO_MANIFEST_DIR").to_owned()),
        Some(temporary.to_string_lossy().into_owned()),
        Some(slug(&temporary)),
        home,
        // The scripted API.
        Some("127.0.0.1:".to_owned()),
        host_name(),
    ];
    telling.into_iter().flatten().find(|word| text.contains(word) && !written_by_the_author.contains(word))
}

/// The kernel's release, where there is a telling one.
fn kernel() -> Option<String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned();
    (release.len() > 5).then_some(release)
}

/// The machine's name, unless it is so short that it may stand in any word.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/etc/hostname").ok()?.trim().to_owned();
    (name.len() > 5).then_some(name)
}
