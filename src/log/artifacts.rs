//! The prompts and replies of the readers and a snapshot of the evidence, stored beside the log
//! under the decision's id. Everything is masked already. A failure to write one is not reported:
//! the log has the decision.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::private_file::{self, Durability};
use crate::redact::mask_json;

/// The most that is stored of one prompt or reply.
const MAX_BYTES: usize = 1 << 20;

/// Marks where the rest was cut.
const CUT: &str = "\n[… cut …]\n";

/// What one audit looked at, so that a person can trace a finding to the exact text. Masked and
/// bounded before it gets here. A disk format: fields may be added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// What the person asked for, oldest first.
    pub asks: Vec<String>,
    /// The plan's steps, in its order.
    pub steps: Vec<StepSnapshot>,
    pub final_message: Option<String>,
    /// The files whose content was shown.
    pub files: Vec<FileSnapshot>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepSnapshot {
    /// Its number, as findings name it.
    pub number: usize,
    pub text: String,
    /// `open`, `ticked` or `dropped`.
    pub state: String,
}

/// One file, as it was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSnapshot {
    /// Its path, as in the decision's list of files.
    pub path: String,
    /// What was shown of it: a diff, or the text.
    pub text: String,
}

/// Returns the path of a file of one decision. An id that somebody wrote into a log must not lead
/// out of the folder.
fn path(state: &Path, id: &str, name: &str) -> PathBuf {
    state.join("audits").join(format!("{}.{name}", id.replace(['/', '\\'], "_")))
}

/// Stores the first reader's prompt and the snapshot of its evidence.
pub fn write_prompt(state: &Path, id: &str, prompt: &str, snapshot: &Snapshot) {
    write_text(state, id, "prompt.md", prompt);
    write_snapshot(state, id, snapshot);
}

/// Stores the first reader's reply.
pub fn write_reply(state: &Path, id: &str, reply: &str) {
    write_text(state, id, "reply.txt", reply);
}

/// Stores the second reader's task, without the evidence, and its reply.
pub fn write_second(state: &Path, id: &str, task: &str, reply: &str) {
    write_text(state, id, "second.md", task);
    write_text(state, id, "second-reply.txt", reply);
}

/// Stores a snapshot, which is bounded already.
pub fn write_snapshot(state: &Path, id: &str, snapshot: &Snapshot) {
    if let Ok(json) = serde_json::to_string(snapshot) {
        write(&path(state, id, "scene.json"), mask_json(&json).as_bytes());
    }
}

fn write_text(state: &Path, id: &str, name: &str, text: &str) {
    let end = text.floor_char_boundary(MAX_BYTES);
    let cut = if end < text.len() { CUT } else { "" };
    write(&path(state, id, name), format!("{}{cut}", &text[..end]).as_bytes());
}

fn write(path: &Path, bytes: &[u8]) {
    if let Err(error) = private_file::write(path, bytes, Durability::Lazy) {
        tracing::debug!(%error, "an artifact could not be written");
    }
}

fn read(state: &Path, id: &str, name: &str) -> io::Result<String> {
    let bytes = private_file::read(&path(state, id, name))?.ok_or(io::ErrorKind::NotFound)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Returns the snapshot, if there is one.
pub fn snapshot(state: &Path, id: &str) -> Option<Snapshot> {
    serde_json::from_str(&read(state, id, "scene.json").ok()?).ok()
}

/// Returns the first reader's prompt.
pub fn prompt(state: &Path, id: &str) -> io::Result<String> {
    read(state, id, "prompt.md")
}

/// Returns the first reader's reply.
pub fn reply(state: &Path, id: &str) -> io::Result<String> {
    read(state, id, "reply.txt")
}

/// Returns the second reader's task, without the evidence, and its reply.
pub fn second(state: &Path, id: &str) -> io::Result<(String, String)> {
    Ok((read(state, id, "second.md")?, read(state, id, "second-reply.txt")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_id_does_not_lead_out_of_the_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        fs::create_dir_all(state.join("audits")).expect("made");
        fs::write(folder.path().join("secret.prompt.md"), "theirs").expect("written");
        assert!(prompt(&state, "../../secret").is_err());
        assert!(prompt(&state, &folder.path().join("secret").display().to_string()).is_err());
        write_reply(&state, "../../x", "ours");
        assert!(!folder.path().join("x.reply.txt").exists());
        assert_eq!(reply(&state, "../../x").ok().as_deref(), Some("ours"));
    }

    #[test]
    fn a_long_reply_is_cut_and_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        write_reply(folder.path(), "id", &"é".repeat(MAX_BYTES));
        let reply = fs::read_to_string(folder.path().join("audits/id.reply.txt")).expect("there");
        assert!(reply.ends_with(CUT) && reply.len() < MAX_BYTES + 40);
    }
}
