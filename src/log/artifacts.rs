//! What was sent to the readers, what came back and what an audit looked at, stored beside the log
//! under the decision's id. Everything comes masked. Failing to write one is not worth a word to
//! anybody: the log says what was decided.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::private_file::{self, Durability};
use crate::redact::mask_json;

/// The most that is stored of one prompt or reply.
const MAX_BYTES: usize = 1 << 20;

/// Stands where the rest is missing.
const CUT: &str = "\n[… cut …]\n";

/// What one audit looked at, so that a person can go from a finding to the very words. Masked and
/// bounded before it comes here. A disk format: fields may be added.
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
    /// Its path, as the decision's list of files has it.
    pub path: String,
    /// What was shown of it: a diff, or the text.
    pub text: String,
}

/// Where a file of one decision is. An id that somebody wrote into a log must not lead out of the
/// folder.
fn path(state: &Path, id: &str, name: &str) -> PathBuf {
    state.join("audits").join(format!("{}.{name}", id.replace(['/', '\\'], "_")))
}

/// Stores the first reader's prompt and what the audit looked at.
pub fn write_prompt(state: &Path, id: &str, prompt: &str, snapshot: &Snapshot) {
    write_text(state, id, "prompt.md", prompt);
    write_snapshot(state, id, snapshot);
}

/// Stores the first reader's reply.
pub fn write_reply(state: &Path, id: &str, reply: &str) {
    write_text(state, id, "reply.txt", reply);
}

/// Stores what the second reader was asked beyond the evidence, and its reply.
pub fn write_second(state: &Path, id: &str, task: &str, reply: &str) {
    write_text(state, id, "second.md", task);
    write_text(state, id, "second-reply.txt", reply);
}

/// Stores what an audit looked at, which comes bounded.
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

/// What an audit looked at, if it is there.
pub fn snapshot(state: &Path, id: &str) -> Option<Snapshot> {
    serde_json::from_str(&read(state, id, "scene.json").ok()?).ok()
}

/// The first reader's prompt.
pub fn prompt(state: &Path, id: &str) -> io::Result<String> {
    read(state, id, "prompt.md")
}

/// The first reader's reply.
pub fn reply(state: &Path, id: &str) -> io::Result<String> {
    read(state, id, "reply.txt")
}

/// What the second reader was asked beyond the evidence, and its reply.
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
