//! Goes on with a session that was made up before: appends turns to its transcript.

use std::io;
use std::path::{Path, PathBuf};

use super::pool::escape;
use super::rows::{Rows, quoted, text};
use super::sink::{Odd, Sink};
use super::truth::Truth;

/// A session that goes on.
#[derive(Debug)]
pub(crate) struct Later {
    transcript: PathBuf,
    session: String,
    cwd: String,
    turns: u64,
}

/// What a turn left behind.
#[derive(Debug)]
pub(crate) struct Turn {
    /// What the agent said in the end.
    pub(crate) final_message: String,
}

impl Later {
    /// Goes on with the session of a transcript.
    pub(crate) fn of(transcript: &Path, truth: &Truth) -> Self {
        Self {
            transcript: transcript.to_path_buf(),
            session: truth.session.clone(),
            cwd: truth.cwd.clone(),
            turns: 0,
        }
    }

    fn turn(&mut self, tell: impl FnOnce(&mut Rows, u64) -> io::Result<String>) -> io::Result<Turn> {
        self.turns += 1;
        let seed = 0x6c61_7465 ^ (self.turns << 32);
        let sink = Sink::open(&self.transcript, true, Odd::default(), seed)?;
        // A day in 2026 after all that any of them tells.
        let now = 1_790_000_000_000 + self.turns * 60_000;
        let mut rows = Rows::new(sink, seed, &self.session, &self.cwd, now, None);
        let final_message = tell(&mut rows, self.turns)?;
        rows.bare("last-prompt", |out| text(out, "lastPrompt", "and now?"))?;
        rows.finish()?;
        Ok(Turn { final_message })
    }

    /// A question and an answer, with no work at all.
    pub(crate) fn chat(&mut self) -> io::Result<Turn> {
        self.turn(|rows, number| {
            rows.prompt(|out| quoted(out, format!("Which unit was number {number}?").as_bytes()))?;
            let answer = format!("That was unit {number}, in the first area.");
            rows.words(&answer)?;
            Ok(answer)
        })
    }

    /// One more change of a line of `path`, which is made on disk as well.
    pub(crate) fn edit(&mut self, path: &Path) -> io::Result<Turn> {
        let before = std::fs::read_to_string(path)?;
        let is_limit = |line: &&str| line.trim_start().starts_with("let limit_");
        let old = before.lines().find(is_limit).ok_or_else(|| io::Error::other("no line to change"))?;
        let old = old.to_owned();
        let kept = old.rsplit_once(", ").map_or(old.as_str(), |(kept, _)| kept);
        let new = format!("{kept}, {});", 1_000_000 + self.turns);
        std::fs::write(path, before.replace(&old, &new))?;
        let path = path.display().to_string();
        self.turn(|rows, number| {
            rows.prompt(|out| {
                quoted(
                    out,
                    format!("Please raise the first limit once more, to number {number}.").as_bytes(),
                );
            })?;
            let call = rows.call_id();
            rows.call(&call, "Edit", |out| {
                text(out, "file_path", &path);
                out.push(b',');
                text(out, "old_string", &old);
                out.push(b',');
                text(out, "new_string", &new);
            })?;
            rows.result(
                &call,
                false,
                |out| out.extend_from_slice(b"\"The file has been updated successfully.\""),
                |out| {
                    out.push(b'{');
                    for (key, value) in
                        [("filePath", path.as_str()), ("oldString", &old), ("newString", &new)]
                    {
                        text(out, key, value);
                        out.push(b',');
                    }
                    let mut original = Vec::new();
                    escape(&before, &mut original);
                    out.extend_from_slice(b"\"originalFile\":");
                    quoted(out, &original);
                    out.extend_from_slice(
                        b",\"structuredPatch\":[],\"userModified\":false,\"replaceAll\":false}",
                    );
                },
            )?;
            let answer = format!("The limit is raised, round {number}.");
            rows.new_message();
            rows.words(&answer)?;
            Ok(answer)
        })
    }
}
