//! Takes a session, gives what it committed, as far as its commands tell. Pure. A recording has no
//! `.git`: what was committed has to be made again, lest committed work looks as if it were not.

use std::path::Path;

use crate::session::{Command, CommandEnd, Session};

/// What a session committed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Committed {
    /// The last commit's message.
    pub(super) message: String,
    /// What was added, as written; `.` for all.
    pub(super) added: Vec<String>,
    /// Files that were changed after the last commit: they are not in it.
    pub(super) changed_later: Vec<String>,
}

/// What the session committed, if it did.
pub(super) fn committed(session: &Session, workspace: &Path) -> Option<Committed> {
    let last = session.commands.iter().rposition(has_committed)?;
    let (until, at) = (&session.commands[..=last], session.commands[last].at);
    let mut added = Vec::new();
    for command in until.iter().flat_map(|command| command.line.commands()) {
        match command.git() {
            Some(("add" | "stage", rest)) => added.extend(operands(rest)),
            Some(("commit", rest)) if rest.iter().any(|word| is_flag(word, 'a', "--all")) => {
                added.push(".".to_owned());
            }
            Some(("rm" | "mv", _)) => added.push(".".to_owned()),
            _ => {}
        }
    }
    // Staged in a way that we do not know: by a script, or before the session.
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

/// Whether a commit was made by this command, whatever became of the rest of its line.
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
    use crate::session::{EditTool, Original, Outcome, Touch};

    fn session(commands: &[(&str, &str, bool)], touched_after: &[&str]) -> Session {
        let commands: Vec<_> = commands
            .iter()
            .enumerate()
            .map(|(at, (line, output, ok))| Command {
                line: (*line).into(),
                at: at + 1,
                end: if *ok { CommandEnd::Succeeded } else { CommandEnd::Failed(Some(1)) },
                output: (*output).to_owned(),
                agent: None,
                time: None,
            })
            .collect();
        let touches = touched_after.iter().map(|path| Touch {
            path: format!("/w/{path}"),
            tool: EditTool::Edit,
            at: 99,
            outcome: Outcome::Done,
            original: Original::Unknown,
            agent: None,
            time: None,
            change_at: None,
            change: None,
        });
        Session { touches: touches.collect(), commands, ..Session::default() }
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
