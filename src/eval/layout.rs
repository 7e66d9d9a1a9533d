//! Lays out a case on disk: a repository with what was there before, the files as the session left
//! them over it, and the transcripts where the client keeps them. Must not read the person's git
//! configuration or run anybody's hooks.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use walkdir::WalkDir;

use super::case::{Case, EvalError};
use crate::client::folders::project_folder;
use crate::env::Env;
use crate::sandbox::Sandbox;
use crate::session::{Command, CommandEnd, Session, load};

/// The first commit is old, so that nothing in it can be taken for the session's work.
const LONG_AGO: &str = "2020-01-01T12:00:00Z";

/// Up to this version a subagent's transcript is beside the session's.
const LAST_BESIDE: [u32; 3] = [2, 1, 16];

/// Returns the neutral name for a path of the sandbox. None of them is a prefix of a later one.
fn neutral_name(place: &str) -> &'static str {
    match place {
        "[workspace-slug]" => "-home-noor-project",
        "[home-slug]" => "-home-noor",
        "[workspace]" => "/home/noor/project",
        "[home]" => "/home/noor",
        _ => "/srv/noor",
    }
}

/// A case, laid out.
#[derive(Debug)]
pub struct LaidOut {
    pub sandbox: Sandbox,
    pub transcript: PathBuf,
}

impl LaidOut {
    /// Returns the environment of the session's person: a home, and nothing else.
    pub fn env(&self) -> Env {
        Env::from_pairs([("HOME", self.sandbox.home())])
    }

    /// Returns a text that is safe to give away: made-up paths replace this machine's.
    pub fn neutral(&self, text: &str) -> String {
        self.sandbox.renamed(text, neutral_name)
    }

    /// Returns an answer to a neutral text, as JSON, with this machine's paths restored.
    pub fn real(&self, json: &str) -> String {
        self.sandbox.real_names_in_json(json, neutral_name)
    }
}

pub fn lay_out(case: &Case) -> Result<LaidOut, EvalError> {
    try_lay_out(case).map_err(|why| EvalError::Layout { name: case.name.clone(), why })
}

fn try_lay_out(case: &Case) -> io::Result<LaidOut> {
    let sandbox = Sandbox::new("workspace")?;
    let workspace = sandbox.workspace().to_path_buf();
    let before = case.folder.join("before");
    if before.is_dir() {
        sandbox.copy(&before, &workspace)?;
    }
    if case.git {
        begin(&workspace)?;
    }
    let after = case.folder.join("workspace");
    if after.is_dir() {
        remove_what_is_gone(&workspace, &after)?;
        sandbox.copy(&after, &workspace)?;
    }
    let plans = case.folder.join("plans");
    if plans.is_dir() {
        sandbox.copy(&plans, &sandbox.home().join(".claude").join("plans"))?;
    }
    let transcript = put_transcripts(case, &sandbox)?;
    let session = load::load_saved(&transcript).session;
    if let Some(committed) = committed(&session, &workspace) {
        commit(&committed, &session, &workspace)?;
    }
    Ok(LaidOut { sandbox, transcript })
}

/// Puts the transcripts where the client keeps them; returns the session's own.
fn put_transcripts(case: &Case, sandbox: &Sandbox) -> io::Result<PathBuf> {
    let folder = project_folder(&sandbox.home().join(".claude"), sandbox.workspace());
    fs::create_dir_all(&folder)?;
    let text = sandbox.placed_in_json(&fs::read_to_string(case.transcript())?);
    let recorded = load::load_saved(&case.transcript()).session;
    let id = recorded.id.unwrap_or_else(|| "session".to_owned());
    let transcript = folder.join(format!("{id}.jsonl"));
    fs::write(&transcript, text)?;
    let agents = case.folder.join("subagents");
    if agents.is_dir() {
        let version = case.client.clone().or(recorded.version);
        let beside = version.as_deref().and_then(parse_version).is_some_and(|version| version <= LAST_BESIDE);
        let there = if beside { folder } else { folder.join(id).join("subagents") };
        fs::create_dir_all(&there)?;
        for entry in fs::read_dir(agents)? {
            let entry = entry?;
            let text = sandbox.placed_in_json(&fs::read_to_string(entry.path())?);
            fs::write(there.join(entry.file_name()), text)?;
        }
    }
    Ok(transcript)
}

fn parse_version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('.').map(str::parse::<u32>);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// Removes every file of the workspace that the session did not leave there.
fn remove_what_is_gone(workspace: &Path, after: &Path) -> io::Result<()> {
    let left: HashSet<PathBuf> = files_below(after).collect();
    for name in files_below(workspace).filter(|name| !left.contains(name)).collect::<Vec<_>>() {
        fs::remove_file(workspace.join(&name))?;
        // Removes emptied folders, too; this fails for any that is not empty.
        let folders = name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        for folder in folders {
            if after.join(folder).is_dir() || fs::remove_dir(workspace.join(folder)).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Returns every file below a folder, relative to it, except git's own.
fn files_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let top = folder.to_path_buf();
    WalkDir::new(folder)
        .into_iter()
        .filter_entry(|entry| entry.file_name() != ".git")
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir())
        .filter_map(move |entry| entry.path().strip_prefix(&top).ok().map(Path::to_path_buf))
}

fn begin(workspace: &Path) -> io::Result<()> {
    git(workspace, LONG_AGO, &["init", "--quiet", "--initial-branch", "main", "--template="])?;
    git(workspace, LONG_AGO, &["add", "."])?;
    git(workspace, LONG_AGO, &["commit", "--quiet", "--allow-empty", "--message", "Begin"])
}

/// Makes the session's own commit, at a time within the session.
fn commit(committed: &Committed, session: &Session, workspace: &Path) -> io::Result<()> {
    let during = session.ended.as_deref().or(session.started.as_deref()).unwrap_or(LONG_AGO);
    if !workspace.join(".git").is_dir() {
        git(workspace, during, &["init", "--quiet", "--initial-branch", "main", "--template="])?;
    }
    for path in &committed.added {
        // A file that the session added may be gone by now under that name.
        let _ = git(workspace, during, &["add", "--all", "--", path]);
    }
    for path in &committed.changed_later {
        let _ = git(workspace, during, &["reset", "--quiet", "--", path]);
    }
    git(workspace, during, &["commit", "--quiet", "--allow-empty", "--message", &committed.message])
}

/// Runs git without the machine's configuration.
fn git(workspace: &Path, date: &str, args: &[&str]) -> io::Result<()> {
    let program = Env::of_process().program("git");
    let output = process::Command::new(program.ok_or_else(|| io::Error::other("there is no git"))?)
        .args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false", "-c", "gc.auto=0"])
        .args(["-c", "core.autocrlf=false", "-c", "core.fsmonitor=false"])
        .args(args)
        .current_dir(workspace)
        // A surrounding repository's variable would point git at that one.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", workspace.parent().unwrap_or(workspace))
        .envs([("GIT_AUTHOR_NAME", "Somebody"), ("GIT_AUTHOR_EMAIL", "somebody@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Somebody"), ("GIT_COMMITTER_EMAIL", "somebody@example.com")])
        .envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("git {} in {}: {said}", args.join(" "), workspace.display())))
}

/// What a session committed.
#[derive(Debug, PartialEq, Eq)]
struct Committed {
    /// The last commit's message.
    message: String,
    /// What was added, as written; `.` for all.
    added: Vec<String>,
    /// Files that changed after the last commit, so they are not in it.
    changed_later: Vec<String>,
}

/// Returns what the session committed, as far as its commands show. A recording has no `.git`, so
/// commits are made again; otherwise the work would look uncommitted.
fn committed(session: &Session, workspace: &Path) -> Option<Committed> {
    let last = session.commands.iter().rposition(has_committed)?;
    let (until, at) = (&session.commands[..=last], session.commands[last].at);
    let mut added = Vec::new();
    for command in until.iter().flat_map(|command| command.line.commands()) {
        match command.git() {
            Some(("add" | "sandbox", rest)) => added.extend(operands(rest)),
            Some(("commit", rest)) if rest.iter().any(|word| is_flag(word, 'a', "--all")) => {
                added.push(".".to_owned());
            }
            Some(("rm" | "mv", _)) => added.push(".".to_owned()),
            _ => {}
        }
    }
    // Staged in an unknown way: by a script, or before the session.
    if added.is_empty() {
        added.push(".".to_owned());
    }
    let changed_later = session.done_touches().filter(|touch| touch.at > at).map(|touch| {
        let path = Path::new(&touch.path);
        path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().into_owned()
    });
    Some(Committed {
        message: message(&session.commands[last]),
        added,
        changed_later: changed_later.collect(),
    })
}

/// Returns whether this command made a commit, whatever the outcome of the rest of its line.
fn has_committed(command: &Command) -> bool {
    let commits = command.line.commands().iter().any(|it| matches!(it.git(), Some(("commit", _))));
    // `[main 3fa2c1d] Add the parser`
    let is_receipt = |line: &str| {
        let inside =
            line.trim().strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
        let hash = inside.and_then(|inside| inside.rsplit_once(' ')).map(|(_, hash)| hash);
        hash.is_some_and(|hash| hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()))
    };
    let nothing = ["nothing to commit", "nothing added to commit", "no changes added to commit"];
    let has_receipt = command.output.lines().any(is_receipt);
    let went_well =
        command.end == CommandEnd::Succeeded && !nothing.iter().any(|no| command.output.contains(no));
    commits && (has_receipt || went_well)
}

fn is_flag(word: &str, short: char, long: &str) -> bool {
    word == long || (word.starts_with('-') && !word.starts_with("--") && word.contains(short))
}

fn operands(rest: &[String]) -> Vec<String> {
    let all = rest.iter().any(|word| is_flag(word, 'A', "--all") || is_flag(word, 'u', "--update"));
    let named: Vec<_> = rest.iter().filter(|word| !word.starts_with('-')).cloned().collect();
    if all && named.is_empty() { vec![".".to_owned()] } else { named }
}

fn message(command: &Command) -> String {
    let words = command.line.commands().iter().find_map(|command| match command.git() {
        Some(("commit", rest)) => {
            let flag = rest.iter().position(|word| is_flag(word, 'm', "--message"))?;
            rest.get(flag + 1).cloned()
        }
        _ => None,
    });
    words.filter(|words| !words.trim().is_empty()).unwrap_or_else(|| "Work".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{command, failed, touch};

    fn session(commands: &[(&str, &str, bool)], touched_after: &[&str]) -> Session {
        let commands = commands.iter().zip(1..).map(|((line, output, ok), at)| match ok {
            true => Command { output: (*output).to_owned(), ..command(line, at) },
            false => failed(line, at, output),
        });
        let touches = touched_after.iter().map(|path| touch(path, 99));
        Session { commands: commands.collect(), touches: touches.collect(), ..Session::default() }
    }

    fn what(commands: &[(&str, &str, bool)]) -> Option<Vec<String>> {
        committed(&session(commands, &[]), Path::new("/w")).map(|committed| committed.added)
    }

    #[test]
    fn what_was_added_before_the_last_commit_is_in_it() {
        assert_eq!(what(&[("git add -A && git commit -m 'x y'", "", true)]), Some(vec![".".into()]));
        assert_eq!(what(&[("git commit -qam x", "", true)]), Some(vec![".".into()]));
        assert_eq!(
            what(&[("git add src/a.rs b", "", true), ("git commit -m x", "", true), ("git add c", "", true)]),
            Some(vec!["src/a.rs".into(), "b".into()])
        );
        let later = committed(&session(&[("git commit -m 'x y'", "", true)], &["src/z.rs"]), Path::new("/w"));
        let later = later.expect("a commit");
        assert_eq!((later.message.as_str(), later.changed_later), ("x y", vec!["src/z.rs".to_owned()]));
    }

    #[test]
    fn a_commit_that_was_not_made_is_none() {
        assert_eq!(what(&[("git commit -m x", "fatal: no", false)]), None);
        assert_eq!(what(&[("git commit -m x || true", "nothing to commit, working tree clean", true)]), None);
        assert_eq!(what(&[("echo git commit", "", true), ("git status", "", true)]), None);
        let pushed_in_vain = ("git commit -m x && git push", "[main 3fa2c1d] x\nfatal: no remote", false);
        assert!(what(&[pushed_in_vain]).is_some());
    }
}
