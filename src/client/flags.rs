//! Which flags a client understands: asked once with `--help`, remembered per binary. Must not be guessed
//! from version numbers: packages and forks differ.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::child::{self, Ending, Job};
use crate::readers::{ReaderOutcome, Unavailable};

/// Flags that no help text lists and that work all the same (measured from 1.0.98 to 2.1.325).
const UNLISTED: &[&str] = &["--max-turns", "--system-prompt"];

/// The long flags of one client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(BTreeSet<String>);

impl Flags {
    /// The flags in a help text.
    pub fn from_help(help: &str) -> Self {
        let listed = help.lines().flat_map(|line| {
            // Flags stand at the start of a line; those in a description are talked about, not offered.
            line.trim_start()
                .split([' ', ','])
                .take_while(|word| word.is_empty() || word.starts_with('-'))
                .filter(|word| word.starts_with("--"))
                .map(|word| word.split('=').next().unwrap_or(word).to_owned())
        });
        Self(listed.chain(UNLISTED.iter().map(|flag| (*flag).to_owned())).collect())
    }

    /// Whether the client has this flag.
    pub fn has(&self, flag: &str) -> bool {
        self.0.contains(flag)
    }

    /// Takes a flag out; says whether it was there.
    pub fn remove(&mut self, flag: &str) -> bool {
        self.0.remove(flag)
    }
}

/// What is remembered of clients between audits.
pub trait KnownClients {
    /// What is known of this client, if its binary is still the same.
    fn flags_of(&self, client: &Path) -> Option<Flags>;
    /// Remembers it.
    fn remember(&self, client: &Path, flags: &Flags);
}

/// Asks the client for its flags.
pub fn probe(client: &Path, deadline: Duration) -> Result<Flags, ReaderOutcome> {
    let ended = child::run(Job {
        program: client.to_path_buf(),
        args: vec!["--help".into()],
        cwd: std::env::temp_dir(),
        env_set: crate::client::claude_args::env_set(),
        env_unset: crate::client::claude_args::env_unset(),
        stdin: Vec::new(),
        deadline,
        stdout_cap: 1 << 20,
        stderr_cap: 64 << 10,
    });
    let crashed = |why: String| Err(ReaderOutcome::Unavailable(Unavailable::Crashed(why)));
    match ended.how {
        Ending::Exited(0) => Ok(Flags::from_help(&String::from_utf8_lossy(&ended.stdout))),
        Ending::Exited(code) => crashed(format!("its --help ended with exit code {code}")),
        Ending::Signaled(signal) => crashed(format!("its --help was ended by signal {signal}")),
        Ending::Flooded => crashed("its --help does not end".into()),
        Ending::Unwanted => Err(ReaderOutcome::Superseded),
        Ending::TimedOut => Err(ReaderOutcome::TimedOut(ended.duration)),
        Ending::Interrupted(signal) => Err(ReaderOutcome::Interrupted(signal)),
        Ending::NotStarted(error) => Err(ReaderOutcome::Unavailable(Unavailable::NotStarted {
            program: client.display().to_string(),
            why: error.to_string(),
        })),
    }
}

/// What tells one client's binary from another: a new version has another size or date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStamp {
    path: PathBuf,
    bytes: u64,
    modified_ms: u128,
}

impl ClientStamp {
    /// The stamp of the binary behind a path, links followed.
    pub fn of(client: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(client).ok()?;
        let meta = std::fs::metadata(&path).ok()?;
        let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self { path, bytes: meta.len(), modified_ms: modified.as_millis() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_from_where_they_stand_and_not_from_prose() {
        let flags = Flags::from_help(
            "Usage: claude [options]\n  -p, --print      Print (use with --imagined-flag)\n  \
             --allowedTools, --allowed-tools <tools...>  x\n  --output-format <format>  y\n  --tools <tools...>   z",
        );
        for flag in
            ["--print", "--allowedTools", "--allowed-tools", "--output-format", "--tools", "--max-turns"]
        {
            assert!(flags.has(flag), "{flag}");
        }
        assert!(!flags.has("--imagined-flag") && !flags.has("--safe-mode"));
    }
}
