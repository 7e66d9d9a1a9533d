//! What git says: takes paths of a repository, gives their committed text, and what changed meanwhile. Must not
//! change anything, must not wait long, and a folder that is no repository is no error.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::Repository;
use crate::child::{self, Ending, Job};

const DEADLINE: Duration = Duration::from_secs(2);
const OUTPUT_CAP: usize = 16 << 20;

/// Runs git in `root` with these arguments; gives what it printed, if it ended well.
pub(crate) fn git(root: &Path, args: &[&str], stdin: String) -> Option<Vec<u8>> {
    let options = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"];
    let ended = child::run(Job {
        program: PathBuf::from("git"),
        args: options.iter().chain(args).map(Into::into).collect(),
        cwd: root.to_path_buf(),
        env_set: vec![
            ("GIT_OPTIONAL_LOCKS".into(), "0".into()),
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            // A partial clone would fetch what it lacks.
            ("GIT_NO_LAZY_FETCH".into(), "1".into()),
        ],
        env_unset: Vec::new(),
        stdin: stdin.into_bytes(),
        deadline: DEADLINE,
        stdout_cap: OUTPUT_CAP,
        stderr_cap: 1 << 10,
    });
    matches!(ended.how, Ending::Exited(0)).then_some(ended.stdout)
}

/// The text of each of these files in the last commit, for those that are in it. `paths` are relative to
/// `root`.
pub fn committed(root: &Path, paths: &[&str]) -> HashMap<String, String> {
    if paths.is_empty() {
        return HashMap::new();
    }
    let asked: Vec<_> =
        paths.iter().filter(|path| !path.contains('\n')).map(|path| format!("HEAD:./{path}")).collect();
    let printed = git(root, &["cat-file", "--batch"], asked.join("\n") + "\n");
    printed.map(|printed| parse_batch(&printed, paths)).unwrap_or_default()
}

/// What differs from the newest commit, and what was committed between `started` and `ended` (times in the
/// client's words). `None` where there is no repository.
pub fn repository(root: &Path, started: Option<&str>, ended: Option<&str>) -> Option<Repository> {
    // An empty repository has no commit to compare with, and nothing that could be unchanged.
    let status = git(root, &["status", "--porcelain=v1", "-z", "--no-renames", "--", "."], String::new())?;
    let mut repository =
        Repository { changed: parse_status(&status, &prefix(root)), ..Repository::default() };
    let at = |time: Option<&str>| time.and_then(|time| time.parse::<Timestamp>().ok());
    let Some(started) = at(started) else { return Some(repository) };
    let since = format!("--since={}", started.strftime("%Y-%m-%d %H:%M:%S +0000"));
    let log = ["log", "-n", "200", &since, "--format=%x01%ct", "--name-only", "--relative"];
    if let Some(printed) = git(root, &log, String::new()) {
        // What was committed after the session tells nothing about it. (A live session has not ended.)
        let until = at(ended).map_or(i64::MAX, |ended| ended.as_second().saturating_add(SLACK));
        let (last, names) = parse_log(&String::from_utf8_lossy(&printed), until);
        (repository.last_commit, repository.committed) = (last, names);
    }
    Some(repository)
}

/// Which of these paths git tracks.
pub fn tracked(root: &Path, paths: &[String]) -> HashSet<String> {
    let mut args = vec!["--literal-pathspecs", "ls-files", "-z", "--"];
    args.extend(paths.iter().map(String::as_str));
    let printed = git(root, &args, String::new()).unwrap_or_default();
    String::from_utf8_lossy(&printed).split('\0').filter(|name| !name.is_empty()).map(String::from).collect()
}

/// Clocks of a transcript and of git may differ by a little, and a stop comes after the last row.
const SLACK: i64 = 120;

/// The path from the repository's top to `root`, with a slash at its end; empty at the top itself.
fn prefix(root: &Path) -> String {
    let top = root.ancestors().find(|folder| folder.join(".git").exists());
    let below =
        top.and_then(|top| root.strip_prefix(top).ok()).map(|path| path.to_string_lossy().into_owned());
    below.filter(|path| !path.is_empty()).map(|path| path + "/").unwrap_or_default()
}

/// Reads `status --porcelain -z`: `XY <path>` with paths from the repository's top.
fn parse_status(printed: &[u8], prefix: &str) -> Vec<String> {
    let printed = String::from_utf8_lossy(printed);
    let paths = printed.split('\0').filter_map(|entry| entry.get(3..));
    paths
        .filter_map(|path| path.strip_prefix(prefix))
        .filter(|path| !path.is_empty())
        .map(String::from)
        .collect()
}

/// Reads our log format: a line with the time of each commit, then the names of its files.
fn parse_log(printed: &str, until: i64) -> (Option<i64>, Vec<String>) {
    let (mut last, mut names, mut counts) = (None, Vec::new(), false);
    for line in printed.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix('\u{1}').map(str::parse::<i64>) {
            Some(Ok(time)) => {
                counts = time <= until;
                if counts {
                    last = last.max(Some(time));
                }
            }
            Some(Err(_)) => counts = false,
            None if counts => names.push(line.to_owned()),
            None => {}
        }
    }
    (last, names)
}

/// Reads the answers of `cat-file --batch`: `<id> <type> <size>\n<content>\n`, or `<asked> missing\n`.
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
    fn what_changed_is_named_from_the_workspace() {
        let printed = b" M pkg/a.rs\0?? pkg/new/\0 M other/b.rs\0";
        assert_eq!(parse_status(printed, "pkg/"), ["a.rs", "new/"]);
        assert_eq!(parse_status(printed, "").len(), 3);
    }

    #[test]
    fn commits_after_the_session_do_not_count() {
        let printed = "\u{1}300\n\nlate.rs\n\u{1}200\n\na.rs\nb c.rs\n\u{1}100\n\na.rs\n";
        assert_eq!(parse_log(printed, 250), (Some(200), vec!["a.rs".into(), "b c.rs".into(), "a.rs".into()]));
        assert_eq!(parse_log("", 250), (None, Vec::new()));
    }

    #[test]
    fn a_cut_answer_is_no_panic() {
        let output = b"abc blob 400\na\n";
        assert!(parse_batch(output, &["one", "two"]).is_empty());
    }
}
