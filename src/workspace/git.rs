//! Git's view of a workspace: the branch, what differs from the commit before the session, the
//! session's own commits, what is unpushed or stashed. Must not change anything or block for long;
//! a folder that is not a repository is no error.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use jiff::Timestamp;

use super::sealed_git::{SealedGit, top};
use crate::ids::random_fence;

/// How many commits of a session are read.
const MAX_COMMITS: usize = 60;
/// How many commits of the branch are read to find the one before a session.
const MAX_HISTORY: usize = 1_000;
/// Clocks of a transcript and of git may differ a little, and a stop comes after the last row.
const SLACK: i64 = 120;

/// Diffs must not run the repository's programs.
const RUNS_NOTHING: &[&str] = &["--no-ext-diff", "--no-textconv", ONLY_OWN_FILES];
/// A submodule's files would be compared by another git, with the submodule's own settings.
pub(crate) const ONLY_OWN_FILES: &str = "--ignore-submodules=dirty";

/// What git reports about the workspace as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// The branch that is checked out, if one is.
    pub branch: Option<String>,
    /// The branch that it tracks, with how many commits it is ahead and behind.
    pub upstream: Option<Upstream>,
    /// Files that differ from the newest commit, including untracked ones.
    pub uncommitted: Vec<FileStatus>,
    /// Commits from the time of the session on any local branch, newest first.
    pub commits: Vec<Commit>,
    /// The stashes, newest first.
    pub stashes: Vec<Stash>,
    /// Files that differ from the commit before the session, and how. Empty if the start is
    /// unknown.
    pub changed: BTreeMap<String, Change>,
    /// The commit before the session: the newest older one on this branch.
    pub base: Option<String>,
}

/// The branch that another one tracks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub name: String,
    /// How many commits it lacks.
    pub ahead: usize,
    /// How many commits only it has.
    pub behind: usize,
}

/// A file that differs from the newest commit, with git's two letters for how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Such as `.M`, `A.`, `D.`, `??`.
    pub letters: String,
    /// Its path from the workspace.
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its short name.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub subject: String,
    /// Whether the checked-out branch has it.
    pub is_on_branch: bool,
    pub files: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stash {
    /// Git's name for it.
    pub name: String,
    /// When it was made, in seconds since 1970.
    pub time: i64,
    /// Its message.
    pub subject: String,
}

/// How a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Added,
    /// It has another content.
    Modified,
    /// It was deleted.
    Deleted,
}

impl Repository {
    /// Returns the files in the commits of the session, on any branch.
    pub fn committed(&self) -> HashSet<&str> {
        self.commits.iter().flat_map(|commit| &commit.files).map(String::as_str).collect()
    }
}

/// Git in one workspace. What does not depend on a session is asked once, for all of its sessions.
#[derive(Debug)]
pub struct Git {
    root: PathBuf,
    sealed: SealedGit,
    /// The state of the working tree; `None` if there is no repository.
    status: OnceLock<Option<Repository>>,
    /// The time and id of the newest commits of the branch, newest first.
    history: OnceLock<Vec<(i64, String)>>,
}

impl Git {
    /// Git in the workspace at `root`.
    pub fn new(root: PathBuf) -> Self {
        let sealed = SealedGit::new(root.clone());
        Self { root, sealed, status: OnceLock::new(), history: OnceLock::new() }
    }

    /// Returns the text that each of these files had in a commit, for those that were in it. The
    /// paths are relative to the workspace.
    pub fn texts_at(&self, commit: &str, paths: &[&str]) -> HashMap<String, String> {
        if paths.is_empty() {
            return HashMap::new();
        }
        let asked: Vec<_> = paths
            .iter()
            .filter(|path| !path.contains('\n'))
            .map(|path| format!("{commit}:./{path}"))
            .collect();
        let printed = self.run(&["cat-file", "--batch"], asked.join("\n") + "\n");
        printed.map(|printed| parse_batch(&printed, paths)).unwrap_or_default()
    }

    /// Returns the newest commit of the branch that is older than a session, which began at a time
    /// in the client's format; `None` if all commits are newer.
    pub fn base(&self, started: &str) -> Option<String> {
        let started = seconds(started)?;
        let history = self.history.get_or_init(|| {
            let printed = self.ask(&["rev-list", "--timestamp", "-n", &MAX_HISTORY.to_string(), "HEAD"]);
            let commit = |line: &str| {
                let (time, id) = line.split_once(' ')?;
                Some((time.parse().ok()?, id.to_owned()))
            };
            printed.unwrap_or_default().lines().filter_map(commit).collect()
        });
        let newest = history.iter().find(|(time, _)| *time <= started).map(|(_, id)| id.clone());
        // The session is older than the history that was read.
        let ask = || {
            let until = format!("--before={}", git_time(started));
            let printed = self.ask(&["rev-list", "-n", "1", &until, "HEAD"])?;
            Some(printed.trim().to_owned()).filter(|id| !id.is_empty())
        };
        if newest.is_none() && history.len() >= MAX_HISTORY { ask() } else { newest }
    }

    /// Returns the files in the index that have one of these names, in whatever case; `None` where
    /// there is no commit, or git does not answer.
    pub fn tracked_as(&self, names: &[&str]) -> Option<Vec<String>> {
        self.newest_commit()?;
        let patterns: Vec<String> =
            names.iter().flat_map(|name| [format!(":(icase){name}"), format!(":(icase)*/{name}")]).collect();
        let patterns = patterns.iter().map(String::as_str);
        let asked: Vec<&str> = ["ls-files", "-z", "--"].into_iter().chain(patterns).collect();
        let printed = self.ask(&asked)?;
        Some(printed.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
    }

    /// Returns when the newest commit was made, in seconds since 1970.
    pub fn newest_commit(&self) -> Option<i64> {
        self.ask(&["log", "-1", "--no-show-signature", "--format=%ct"])?.trim().parse().ok()
    }

    /// Returns the repository for a session that lasted from `started` to `ended`, in the client's
    /// format; `None` if there is no repository.
    pub fn repository(&self, started: Option<&str>, ended: Option<&str>) -> Option<Repository> {
        let mut repository = self.status.get_or_init(|| self.ask_status()).clone()?;
        let Some((started, started_at)) = started.and_then(|started| Some((started, seconds(started)?)))
        else {
            return Some(repository);
        };
        repository.commits = self.commits(started_at, ended);
        let base = self.base(started);
        // In a repository that was created in the session everything is new.
        let empty_tree = || self.ask(&["hash-object", "-t", "tree", "--stdin"]);
        if let Some(against) = base.clone().or_else(empty_tree) {
            let against = against.trim();
            let diff = ["diff", "--name-status", "-z", "--no-renames", "--relative"];
            let diff = [&diff[..], RUNS_NOTHING, &[against, "--", "."]].concat();
            repository.changed = self.ask(&diff).map(|printed| parse_diff(&printed)).unwrap_or_default();
        }
        let untracked = repository.uncommitted.iter().filter(|file| file.letters == "??");
        repository.changed.extend(untracked.map(|file| (file.path.clone(), Change::Added)));
        repository.base = base;
        Some(repository)
    }

    /// Returns the files that are gone, of those that the newest commit before a session had;
    /// without a time, or where all commits are newer, of those that the newest one has.
    pub fn deleted(&self, started: Option<&str>) -> Vec<String> {
        let base = started.and_then(|started| self.base(started)).unwrap_or_else(|| "HEAD".into());
        let diff = ["diff", "--name-only", "--diff-filter=D", "-z", "--no-renames", "--relative"];
        let printed = self.ask(&[&diff[..], RUNS_NOTHING, &[&base, "--", "."]].concat()).unwrap_or_default();
        printed.split('\0').filter(|name| !name.is_empty()).map(String::from).collect()
    }

    /// The branch, what is not committed and what is stashed.
    fn ask_status(&self) -> Option<Repository> {
        let status = ["status", "--porcelain=v2", "--branch", "--show-stash", "-z", "--no-renames"];
        let status = [&status[..], &[ONLY_OWN_FILES]].concat();
        let all = [&status[..], &["--untracked-files=all", "--", "."]].concat();
        let few = [&status[..], &["--", "."]].concat();
        let printed = self.ask(&all).or_else(|| self.ask(&few))?;
        let (mut repository, has_stash) = parse_status(&printed, &prefix(&self.root));
        if has_stash {
            // `stash list` would start another git process.
            let log = ["log", "--walk-reflogs", "--first-parent", "--no-show-signature"];
            let printed = self.ask(&[&log[..], &["--format=%gd%x00%ct%x00%s", "refs/stash", "--"]].concat());
            repository.stashes = printed.map(|printed| parse_stashes(&printed)).unwrap_or_default();
        }
        Some(repository)
    }

    /// Returns the commits from a session's time on any branch, newest first.
    fn commits(&self, started: i64, ended: Option<&str>) -> Vec<Commit> {
        // Commits made after the session are irrelevant. A live session has not ended.
        let until = ended.and_then(seconds).map_or(i64::MAX, |ended| ended.saturating_add(SLACK));
        let since = format!("--since={}", git_time(started));
        let max = MAX_COMMITS.to_string();
        // A subject may contain any character, so none could mark where the next commit begins.
        let mark = random_fence();
        let format = format!("--format={mark}%h%x00%ct%x00%s");
        let log = |which: &str| {
            let log =
                ["log", "-n", &max, &since, &format, "--name-only", "--relative", "--no-show-signature"];
            let printed = self.ask(&[&log[..], RUNS_NOTHING, &[which]].concat());
            printed.map(|printed| parse_log(&printed, &mark, until)).unwrap_or_default()
        };
        let on_branch = log("HEAD");
        let mut commits = log("--branches");
        for commit in &mut commits {
            commit.is_on_branch = on_branch.iter().any(|own| own.id == commit.id);
        }
        commits.extend(on_branch.into_iter().map(|own| Commit { is_on_branch: true, ..own }));
        commits.sort_by_key(|commit| std::cmp::Reverse(commit.time));
        let mut seen = HashSet::new();
        commits.retain(|commit| seen.insert(commit.id.clone()));
        commits
    }

    /// Runs git; returns what it printed, if it succeeded.
    fn run(&self, args: &[&str], stdin: String) -> Option<Vec<u8>> {
        self.sealed.run(args, stdin).filter(|(code, _)| *code == 0).map(|(_, printed)| printed)
    }

    fn ask(&self, args: &[&str]) -> Option<String> {
        self.run(args, String::new()).map(|printed| String::from_utf8_lossy(&printed).into_owned())
    }
}

/// Returns whether a name can be looked for in the index of git as it is.
pub(super) fn is_askable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-+@".contains(&b))
}

/// Returns a time in git's format.
fn git_time(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M:%S +0000").to_string()
}

fn seconds(time: &str) -> Option<i64> {
    time.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

/// Returns the path from the repository's top to `root`, with a trailing slash; empty at the top
/// itself.
fn prefix(root: &Path) -> String {
    let below =
        top(root).and_then(|top| root.strip_prefix(top).ok()).map(|path| path.to_string_lossy().into_owned());
    below.filter(|path| !path.is_empty()).map(|path| path + "/").unwrap_or_default()
}

/// Parses `status --porcelain=v2 --branch -z`, with paths from the repository's top; also returns
/// whether anything is stashed.
fn parse_status(printed: &str, prefix: &str) -> (Repository, bool) {
    let mut repository = Repository::default();
    let (mut upstream, mut counts, mut has_stash) = (None, (0, 0), false);
    for entry in printed.split('\0') {
        if let Some(head) = entry.strip_prefix("# branch.head ") {
            repository.branch = Some(head.to_owned()).filter(|head| head != "(detached)");
        } else if let Some(name) = entry.strip_prefix("# branch.upstream ") {
            upstream = Some(name.to_owned());
        } else if let Some(ab) = entry.strip_prefix("# branch.ab ") {
            let mut numbers =
                ab.split(' ').map(|part| part.trim_start_matches(['+', '-']).parse().unwrap_or(0));
            counts = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        } else if entry.starts_with("# stash ") {
            has_stash = true;
        } else if let Some((letters, path)) = file_status(entry)
            && let Some(path) = path.strip_prefix(prefix).filter(|path| !path.is_empty())
        {
            repository.uncommitted.push(FileStatus { letters: letters.to_owned(), path: path.to_owned() });
        }
    }
    repository.upstream = upstream.map(|name| Upstream { name, ahead: counts.0, behind: counts.1 });
    (repository, has_stash)
}

/// Parses `1 .M N... 100644 100644 100644 <id> <id> <path>`, `u UU …` (ten fields before the path),
/// `? <path>`.
fn file_status(entry: &str) -> Option<(&str, &str)> {
    let mut fields = entry.split(' ');
    let before_path = match fields.next()? {
        "1" => 8,
        "u" => 10,
        "?" => return Some(("??", entry.get(2..)?)),
        _ => return None,
    };
    let letters = fields.next()?;
    let path = entry.splitn(before_path + 1, ' ').nth(before_path)?;
    Some((letters, path))
}

/// Parses `diff --name-status -z`.
fn parse_diff(printed: &str) -> BTreeMap<String, Change> {
    let mut fields = printed.split('\0');
    let mut changed = BTreeMap::new();
    while let (Some(letter), Some(path)) = (fields.next(), fields.next()) {
        let change = match letter.chars().next() {
            Some('A') => Change::Added,
            Some('D') => Change::Deleted,
            Some(_) => Change::Modified,
            None => break,
        };
        changed.insert(path.to_owned(), change);
    }
    changed
}

/// Parses our log format: for each commit the mark and a line, then the names of its files.
fn parse_log(printed: &str, mark: &str, until: i64) -> Vec<Commit> {
    let mut commits: Vec<Commit> = Vec::new();
    for part in printed.split(mark).skip(1) {
        let mut lines = part.lines();
        let mut head = lines.next().unwrap_or_default().split('\0');
        let (Some(id), Some(Ok(time)), Some(subject)) =
            (head.next(), head.next().map(str::parse::<i64>), head.next())
        else {
            continue;
        };
        if time > until {
            continue;
        }
        let files = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
        commits.push(Commit {
            id: id.to_owned(),
            time,
            subject: subject.to_owned(),
            is_on_branch: false,
            files,
        });
    }
    commits
}

fn parse_stashes(printed: &str) -> Vec<Stash> {
    let stash = |line: &str| {
        let mut fields = line.split('\0');
        let (name, time, subject) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
        Some(Stash { name: name.to_owned(), time, subject: subject.to_owned() })
    };
    printed.lines().filter_map(stash).collect()
}

/// Parses the output of `cat-file --batch`: `<id> <type> <size>\n<content>\n`, or `<asked>
/// missing\n`.
fn parse_batch(mut output: &[u8], paths: &[&str]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for path in paths.iter().filter(|path| !path.contains('\n')) {
        let Some(end) = output.iter().position(|byte| *byte == b'\n') else { break };
        let header = String::from_utf8_lossy(&output[..end]).into_owned();
        output = &output[end + 1..];
        let mut words = header.split(' ');
        let (_, kind, size) =
            (words.next(), words.next(), words.next().and_then(|size| size.parse::<usize>().ok()));
        let Some(size) = size.filter(|_| !header.ends_with(" missing")) else { continue };
        if output.len() < size {
            break;
        }
        if kind == Some("blob")
            && let Ok(text) = std::str::from_utf8(&output[..size])
        {
            found.insert((*path).to_owned(), text.to_owned());
        }
        output = &output[(size + 1).min(output.len())..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_matched_to_what_was_asked() {
        let output = b"abc blob 4\na\nb\n\nHEAD:./none missing\ndef tree 3\nxyz\nfed blob 2\nhi\n";
        let found = parse_batch(output, &["one", "none", "folder", "two"]);
        assert_eq!(found, HashMap::from([("one".into(), "a\nb\n".into()), ("two".into(), "hi".into())]));
    }

    #[test]
    fn a_cut_answer_is_no_panic() {
        let output = b"abc blob 400\na\n";
        assert!(parse_batch(output, &["one", "two"]).is_empty());
    }

    #[test]
    fn branch_upstream_and_files_are_read_from_the_status() {
        let printed = "# branch.oid 1234\0# branch.head main\0# branch.upstream origin/main\0# branch.ab +2 -1\0\
            # stash 1\x001 .M N... 100644 100644 100644 aa bb pkg/a b.rs\0? pkg/new.rs\0? other.rs\0";
        let (repository, has_stash) = parse_status(printed, "pkg/");
        assert!(has_stash);
        assert_eq!(repository.branch.as_deref(), Some("main"));
        let upstream = repository.upstream.expect("followed");
        assert_eq!((upstream.name.as_str(), upstream.ahead, upstream.behind), ("origin/main", 2, 1));
        let files: Vec<_> =
            repository.uncommitted.iter().map(|file| (file.letters.as_str(), file.path.as_str())).collect();
        assert_eq!(files, [(".M", "a b.rs"), ("??", "new.rs")]);
    }

    #[test]
    fn commits_after_the_session_do_not_count() {
        let printed = "MARKc\x00300\0late\n\nlate.rs\nMARKb\x00200\0Add a\n\na.rs\nb c.rs\nMARKa\x00100\0First\n\na.rs\n";
        let commits = parse_log(printed, "MARK", 250);
        let read: Vec<_> =
            commits.iter().map(|c| (c.id.as_str(), c.subject.as_str(), c.files.len())).collect();
        assert_eq!(read, [("b", "Add a", 2), ("a", "First", 1)]);
        assert!(parse_log("", "MARK", 250).is_empty());
    }

    #[test]
    fn what_changed_is_told_by_its_letter() {
        let changed = parse_diff("M\0a.rs\0D\0b c.rs\0A\0d.rs\0");
        assert_eq!(
            changed.into_iter().collect::<Vec<_>>(),
            [
                ("a.rs".to_owned(), Change::Modified),
                ("b c.rs".to_owned(), Change::Deleted),
                ("d.rs".to_owned(), Change::Added)
            ]
        );
    }
}
