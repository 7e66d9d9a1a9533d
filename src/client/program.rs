//! The client's program: finds it, learns which flags it understands, and defines the environment
//! it runs in. Must not guess flags from version numbers: packages and forks differ.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::call::{ReaderOutcome, Unavailable};
use super::env_vars;
use crate::child::{self, Ended, Ending, Job};
use crate::env::{self, Env};

/// Flags that work and that no help text lists (measured from 1.0.98 to 2.1.325).
const UNLISTED: &[&str] = &["--max-turns", "--system-prompt"];

/// Variables that keep the client quiet and away from the person's files.
const SET: &[(&str, &str)] = &[
    // Hooks of managed settings run even in a sealed client: ours sees this and does nothing.
    (env::INSIDE_AUDITOR, "1"),
    // Without this, `@path` anywhere in the prompt makes the client read and send that file.
    ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
    // MEMORY.md gets past every flag but `--safe-mode`.
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
    ("CLAUDE_CODE_DISABLE_CLAUDE_MDS", "1"),
    ("CLAUDE_CODE_DISABLE_TERMINAL_TITLE", "1"),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8000"),
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
    // 2.1.42 counts the valid answer as a retry, too.
    ("MAX_STRUCTURED_OUTPUT_RETRIES", "3"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// Variables by which a client notices that it runs inside another. Listed one by one:
/// `CLAUDE_CODE_*` has the credentials, too.
const UNSET: &[&str] = &[
    // Some 2.1.x refuse to start inside a session.
    env_vars::INSIDE_SESSION,
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    env_vars::SESSION_ID,
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    env_vars::PROJECT_DIR,
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    env_vars::PID,
    "CLAUDE_EFFORT",
    env_vars::AGENT,
];

/// The most output that is accepted from the client.
const STDOUT_CAP: usize = 4 << 20;
const STDERR_CAP: usize = 64 << 10;

/// Finds the client to ask: the configured one, the one that runs this session, or the one on PATH.
pub fn find(env: &Env, configured: Option<&Path>) -> Result<PathBuf, Unavailable> {
    if let Some(named) = env.path(env::CLAUDE).or_else(|| configured.map(PathBuf::from)) {
        return env
            .program(&named)
            .ok_or_else(|| Unavailable::NotFound { looked_at: named.display().to_string() });
    }
    let running = env.path(env_vars::EXECPATH).or_else(|| running_client(env));
    // Older clients are scripts: there the running program is the interpreter.
    let running = running.filter(|path| path.is_file() && !is_interpreter(path));
    running.or_else(|| env.program("claude")).ok_or_else(|| Unavailable::NotFound {
        looked_at: format!("{}, {} and PATH", env::CLAUDE, env_vars::EXECPATH),
    })
}

/// Returns the program of the process that started us. No version up to 2.1.325 gives its path to
/// its hooks; from 2.1.221 on it gives its process id.
fn running_client(env: &Env) -> Option<PathBuf> {
    let pid: u32 = env.text(env_vars::PID)?.parse().ok()?;
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn is_interpreter(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default();
    ["node", "nodejs", "bun", "deno"].contains(&stem.as_str())
}

/// Returns the variables that must be hidden from a client that we run.
pub fn env_unset() -> Vec<OsString> {
    UNSET.iter().map(Into::into).collect()
}

/// Returns a job for a client that must not notice that it runs inside another, with empty stdin.
pub fn job(client: &Path, args: &[impl AsRef<OsStr>], cwd: &Path, deadline: Duration) -> Job {
    Job {
        program: client.to_path_buf(),
        args: args.iter().map(Into::into).collect(),
        cwd: cwd.to_path_buf(),
        env_set: SET.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        env_unset: env_unset(),
        stdin: Vec::new(),
        deadline,
        stdout_cap: STDOUT_CAP,
        stderr_cap: STDERR_CAP,
    }
}

/// Runs the client with arguments that it answers by itself, without asking its model.
pub fn run_plain(client: &Path, args: &[&str], unset: &[&str], deadline: Duration) -> Ended {
    let mut job = job(client, args, &std::env::temp_dir(), deadline);
    job.env_unset.extend(unset.iter().map(Into::into));
    child::run(job)
}

fn crashed(why: String) -> ReaderOutcome {
    ReaderOutcome::Unavailable(Unavailable::Crashed(why))
}

/// Returns the exit code of a run of the client, or the outcome if there is none. No other code
/// interprets it. `name` is what was run.
pub fn exit_code(ended: &Ended, client: &Path, name: &str) -> Result<i32, ReaderOutcome> {
    Err(match &ended.how {
        Ending::Exited(code) => return Ok(*code),
        Ending::NotStarted(error) => ReaderOutcome::Unavailable(Unavailable::NotStarted {
            program: client.display().to_string(),
            why: error.to_string(),
        }),
        Ending::TimedOut => ReaderOutcome::TimedOut(ended.duration),
        Ending::Unwanted => ReaderOutcome::Superseded,
        Ending::Interrupted(signal) => ReaderOutcome::Interrupted(signal),
        Ending::Flooded => ReaderOutcome::Unreadable(format!("{name} printed more than {STDOUT_CAP} bytes")),
        Ending::Signaled(signal) => crashed(format!("{name} was ended by signal {signal}")),
    })
}

/// The long flags that a client understands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags(BTreeSet<String>);

impl Flags {
    pub fn from_help(help: &str) -> Self {
        let listed = help.lines().flat_map(|line| {
            // A flag starts a line; one inside a description is only mentioned.
            line.trim_start()
                .split([' ', ','])
                .take_while(|word| word.is_empty() || word.starts_with('-'))
                .filter(|word| word.starts_with("--"))
                .map(|word| word.split('=').next().unwrap_or(word).to_owned())
        });
        Self(listed.chain(UNLISTED.iter().map(|flag| (*flag).to_owned())).collect())
    }

    pub fn probe(client: &Path, deadline: Duration) -> Result<Self, ReaderOutcome> {
        let ended = run_plain(client, &["--help"], &[], deadline);
        match exit_code(&ended, client, "its --help")? {
            0 => Ok(Self::from_help(&String::from_utf8_lossy(&ended.stdout))),
            code => Err(crashed(format!("its --help ended with exit code {code}"))),
        }
    }

    pub fn has(&self, flag: &str) -> bool {
        self.0.contains(flag)
    }

    /// Removes a flag; returns whether it was there.
    pub fn remove(&mut self, flag: &str) -> bool {
        self.0.remove(flag)
    }
}

/// A cache of clients' flags, so that `--help` runs once for each binary.
pub trait FlagCache {
    /// Returns the flags of this client, if its binary is still the same.
    fn get(&self, client: &Path) -> Option<Flags>;
    fn put(&self, client: &Path, flags: &Flags);
}

/// Tells one client binary from another: a new version differs in size or date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientStamp {
    path: PathBuf,
    bytes: u64,
    modified_ms: u128,
}

impl ClientStamp {
    /// Returns the stamp of the binary behind a path, links followed.
    pub fn new(client: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(client).ok()?;
        let meta = std::fs::metadata(&path).ok()?;
        let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(Self { path, bytes: meta.len(), modified_ms: modified.as_millis() })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "#!/bin/sh\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    #[test]
    fn the_named_one_then_the_configured_one_then_the_running_one_then_path() {
        let folder = tempfile::tempdir().expect("a folder");
        let [named, configured, running, on_path, node] =
            ["named", "configured", "running", "claude", "node"].map(|name| program(folder.path(), name));
        let path = ("PATH", folder.path().to_path_buf());
        let env = Env::from_pairs([
            path.clone(),
            (env::CLAUDE, named.clone()),
            (env_vars::EXECPATH, running.clone()),
        ]);
        assert_eq!(find(&env, Some(&configured)), Ok(named));
        let env = Env::from_pairs([path.clone(), (env_vars::EXECPATH, running.clone())]);
        assert_eq!(find(&env, Some(&configured)), Ok(configured));
        assert_eq!(find(&env, None), Ok(running));
        let env = Env::from_pairs([path, (env_vars::EXECPATH, node)]);
        assert_eq!(find(&env, None), Ok(on_path));
    }

    #[test]
    fn a_client_that_is_not_found_says_which_places_were_searched() {
        for (env, places) in [
            (Env::default(), "PUNCHLIST_CLAUDE, CLAUDE_CODE_EXECPATH and PATH"),
            (Env::from_pairs([(env::CLAUDE, "/nowhere/claude")]), "/nowhere/claude"),
        ] {
            assert_eq!(
                find(&env, None).expect_err("none").to_string(),
                format!(
                    "no `claude` program was found (looked at {places}); \
                     PUNCHLIST_CLAUDE or `[auditor] client` can name it"
                )
            );
        }
    }

    #[test]
    fn flags_are_parsed_from_where_they_stand_and_not_from_prose() {
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
