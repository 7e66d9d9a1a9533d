//! Takes a shell command line, says what it does at a glance: whether it only looks, what it removes or
//! moves, whether it works elsewhere. A reading of words, not a shell: must not be used to prove more than
//! "this name was removed on purpose".
//!
//! `parts` cuts a line into commands and joints, `wrappers` finds the program of each, `deeds` says by the
//! tables in `runners` what it does, `masks` whether the end of the line tells how it ended.

pub mod actions;
pub mod exit_status;
mod known_tools;
mod names;
pub mod parse;
pub mod wrappers;

pub use crate::shell::actions::{Action, Check};
use crate::shell::parse::{Part, parts};
use crate::shell::wrappers::program_words;

use crate::text::normalise::base_name;

/// Programs that change nothing by themselves.
const LOOKERS: &[&str] = &[
    "[", "awk", "basename", "cat", "cd", "column", "cut", "date", "df", "diff", "dirname", "du", "echo",
    "done", "esac", "exit", "export", "false", "fd", "fi", "file", "find", "for", "grep", "head", "hostname",
    "id", "jq", "less", "ls", "more", "nl", "ps", "printenv", "printf", "pwd", "readlink", "realpath", "rg",
    "sed", "set", "sleep", "sort", "stat", "tail", "test", "tree", "true", "type", "uname", "uniq", "wc",
    "which", "whoami", "xxd",
];

/// `git` subcommands that change nothing.
const GIT_LOOKERS: &[&str] = &[
    "blame", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "reflog", "rev-parse", "show",
    "status",
];

/// Programs whose effects are on another machine or in a container: this disk can't witness them.
const REMOTE: &[&str] = &[
    "ssh", "scp", "sftp", "rsync", "kubectl", "helm", "aws", "gcloud", "az", "fly", "flyctl", "heroku",
    "vercel", "netlify", "wrangler", "ansible", "ansible-playbook", "terraform",
];

/// The simple commands of a line: cut at `;`, `&&`, `||`, `|` and newlines outside quotes, each as words. Files
/// that they read from or write to stand after the others.
pub fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let all = parts(line).into_iter().map(|part| [part.words, part.writes, part.reads].concat());
    all.filter(|words| !words.is_empty()).collect()
}

/// Whether nothing in the line can have changed a file.
pub fn only_looks(line: &str) -> bool {
    parts(line).iter().all(|part| {
        if writes_a_file(part) {
            return false;
        }
        let words = program_words(&part.words);
        let Some(program) = words.first() else { return true };
        let in_place = words.iter().any(|word| {
            let is_short = word.starts_with('-') && !word.starts_with("--");
            (is_short && word.contains('i') && base_name(program) == "sed")
                || word.starts_with("--in-place")
                || matches!(word.as_str(), "-delete" | "-exec" | "-execdir" | "-ok")
        });
        match base_name(program) {
            "git" => git_subcommand(words).is_some_and(|sub| GIT_LOOKERS.contains(&sub)),
            "sed" | "find" => !in_place,
            name => LOOKERS.contains(&name),
        }
    })
}

/// Whether a simple command sends its output to a file.
fn writes_a_file(part: &Part) -> bool {
    part.writes.iter().any(|target| !target.starts_with("/dev/"))
}

/// What a line checks, if it runs a check that changes nothing.
pub fn check(line: &str) -> Option<Check> {
    wrappers::flat_parts(line).iter().find_map(|part| {
        let words = program_words(&part.words);
        let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
        let checks = actions::does(words).deeds.into_iter().find_map(|deed| match deed {
            Action::Check(check) => Some(check),
            _ => None,
        });
        checks.filter(|check| match check {
            Check::Format => has(&["--check", "-c", "-l", "--list-different", "--diff"]),
            _ => !has(&["--fix", "--write"]),
        })
    })
}

/// Whether any of these programs runs in a line.
pub fn runs_any(line: &str, programs: &[&str]) -> bool {
    // Most lines are told by a look.
    programs.iter().any(|program| line.contains(program))
        && wrappers::flat_parts(line).iter().any(|part| {
            let program = program_words(&part.words).first().map(|program| base_name(program));
            program.is_some_and(|program| programs.contains(&program))
        })
}

/// Programs of version control and of its forges: what they print settles many claims.
const VERSION_CONTROL: &[&str] = &["gh", "git", "glab", "hg", "hub", "jj", "svn"];

/// Whether a line asks git or the forge for something, or tells them.
pub fn asks_git_or_forge(line: &str) -> bool {
    runs_any(line, VERSION_CONTROL)
}

/// Whether the end of a line hides how a check or another deed in it ended: `npm test | tail` succeeds whatever the tests do.
pub fn hides_exit_code(line: &str) -> bool {
    let parts = wrappers::flat_parts(line);
    (0..parts.len()).any(|at| {
        !actions::does(program_words(&parts[at].words)).deeds.is_empty()
            && exit_status::reach(&parts, at).mask.is_some()
    })
}

/// The subcommand of a `git` line: the first word that is no option and no option's value.
fn git_subcommand(words: &[String]) -> Option<&str> {
    let mut rest = words.iter().skip(1).map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "-C" | "-c" => rest.next(),
            option if option.starts_with('-') => continue,
            subcommand => return Some(subcommand),
        };
    }
    None
}

/// Whether any part of the line works on another machine or in a container.
pub fn works_elsewhere(line: &str) -> bool {
    parts(line).iter().any(|part| {
        // `docker exec web touch a` has a program of its own, and works in the container all the same.
        let starts = [part.words.as_slice(), program_words(&part.words)];
        starts.iter().any(|words| {
            let words: Vec<&str> = words
                .iter()
                .map(String::as_str)
                .skip_while(|word| {
                    word.contains('=') || matches!(*word, "sudo" | "time" | "env" | "then" | "do")
                })
                .collect();
            let second = words.get(1).copied();
            match words.first().map(|program| base_name(program)) {
                Some("docker" | "podman") => matches!(second, Some("exec" | "cp" | "compose" | "run")),
                Some("gh") => second == Some("api"),
                Some(name) => REMOTE.contains(&name),
                None => false,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_that_only_look() {
        for line in [
            "ls -la",
            "cd src && cat a.rs | head -5",
            "git status; git -C . log --oneline 2>&1 | tail",
            "grep -rn 'a > b' src 2>/dev/null",
            "sed -n 1,20p x",
            "find . -name '*.rs'",
            "for f in *; do cat $f; done",
            "cat a 2> /dev/null",
        ] {
            assert!(only_looks(line), "{line}");
        }
        for line in [
            "cargo build",
            "echo x > a",
            "echo x>a.txt",
            "echo x > a 2>/dev/null",
            "cat >>a",
            "env A=1 cargo build",
            "sed --in-place s/a/b/ x",
            "sed -Ei s/a/b/ x",
            "sed -i s/a/b/ x",
            "git commit -m x",
            "rm a",
            "ls && touch b",
        ] {
            assert!(!only_looks(line), "{line}");
        }
    }

    #[test]
    fn checks_are_told_from_other_commands() {
        for (line, expected) in [
            ("npm test", Check::Tests),
            ("cd web && npx vitest run", Check::Tests),
            ("npm run test:unit -- a", Check::Tests),
            ("python -m pytest -q", Check::Tests),
            ("cargo clippy", Check::Lint),
            ("npm run build", Check::Build),
            ("tsc --noEmit", Check::Types),
        ] {
            assert_eq!(check(line), Some(expected), "{line}");
        }
        for line in
            ["cargo init .", "npx prisma generate", "python codemod.py", "git apply a.diff", "cargo fmt"]
        {
            assert_eq!(check(line), None, "{line}");
        }
        for line in ["git add . && git commit -m 'fix test'", "mkdir -p a", "grep test a"] {
            assert_eq!(check(line), None, "{line}");
        }
    }

    #[test]
    fn work_on_other_machines_is_told() {
        for line in
            ["ssh host 'touch a'", "cd x && kubectl apply -f y", "docker exec c touch a", "FOO=1 scp a h:b"]
        {
            assert!(works_elsewhere(line), "{line}");
        }
        for line in ["echo ssh", "docker build .", "cat ~/.ssh/config"] {
            assert!(!works_elsewhere(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_panic(line in ".{0,200}") {
            let _ = (only_looks(&line), works_elsewhere(&line));
        }
    }
}
