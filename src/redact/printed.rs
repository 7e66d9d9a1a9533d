//! Hides what a command printed of secret files: all of it where the command shows one, else the
//! lines that a search or a diff says are of one. Must not judge what is in the lines.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::redact::Masked;
use crate::redact::files::is_secret_file;
use crate::shell::{CommandLine, SimpleCommand};

/// Programs that print nothing of what is in the files that they are given.
#[rustfmt::skip]
const SILENT: &[&str] = &[
    "", ".", "[", "[[", "basename", "chmod", "chown", "cp", "dirname", "echo", "file", "find", "install", "ln", "ls", "mkdir",
    "mv", "printf", "realpath", "rm", "shred", "source", "stat", "tar", "test", "touch", "trash", "tree", "unlink", "zip",
];
/// Subcommands of git of which the same is so.
const SILENT_GIT: &[&str] =
    &["add", "check-ignore", "commit", "ls-files", "mv", "reset", "restore", "rm", "status", "update-index"];

/// What stands in the place of the output of a command that shows a secret file.
const HIDDEN: &str = "[masked:secret-file]";

/// The start of a line of a search: a file's name, and a line's number.
static OF_FILE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^((?:\./)?[^\s:]{1,200}?)(?::[0-9]+:|-[0-9]+-|:)").expect("a valid pattern")
});

/// Returns what a command printed, without what it shows of secret files.
pub fn without_secret_files(line: &CommandLine, output: &str) -> Masked {
    if output.is_empty() {
        return Masked { text: String::new(), count: 0 };
    }
    if line.all().into_iter().any(shows_a_secret_file) {
        return Masked { text: HIDDEN.to_owned(), count: 1 };
    }
    let (mut text, mut count, mut is_in_secret_file) = (String::with_capacity(output.len()), 0, false);
    for row in output.split_inclusive('\n') {
        let (content, end) = row.split_at(row.trim_end_matches(['\n', '\r']).len());
        if let Some(files) = content.strip_prefix("diff --git ") {
            is_in_secret_file = files.split(' ').any(|name| is_secret_file(Path::new(name)));
        }
        let is_of_diff = content.starts_with(['+', '-', ' ', '@']);
        if is_in_secret_file && is_of_diff {
            text.push_str(HIDDEN);
            text.push_str(end);
            count += 1;
            continue;
        }
        is_in_secret_file &= ["diff --git ", "index ", "new file ", "deleted file "]
            .iter()
            .any(|start| content.starts_with(start));
        match OF_FILE.captures(content).and_then(|found| found.get(1).zip(found.get(0))) {
            Some((name, start)) if is_secret_file(Path::new(name.as_str())) => {
                text.push_str(start.as_str());
                text.push_str(HIDDEN);
                count += 1;
            }
            _ => text.push_str(content),
        }
        text.push_str(end);
    }
    Masked { text, count }
}

fn shows_a_secret_file(command: &SimpleCommand) -> bool {
    let is_silent = SILENT.contains(&command.program())
        || command.git().is_some_and(|(subcommand, _)| SILENT_GIT.contains(&subcommand));
    // `env` is a program far more often than a file.
    let words = command.words.iter().filter(|word| *word != "env");
    let all = words.chain(&command.reads);
    // `git show HEAD:.env`, `--env-file=.env`, `@.env`.
    let mut names = all.map(|word| word.rsplit([':', '=', '@']).next().unwrap_or(word));
    !is_silent && names.any(|name| is_secret_file(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(line: &str, output: &str) -> String {
        without_secret_files(&CommandLine::from(line), output).text
    }

    #[test]
    fn the_output_of_a_command_that_shows_a_secret_file_is_hidden() {
        for line in [
            "cat .env",
            "cd app && tail -n 3 ./.env.local | sort",
            "grep -n A .env",
            "git show HEAD:.env",
            "git diff -- .env",
            "bash -c 'cat .env'",
            "sort < .env",
            "docker run --env-file=.env app env",
        ] {
            assert_eq!(printed(line, "COLOUR=vermilion heron\n"), HIDDEN, "{line}");
        }
        for line in [
            "cp .env notes.md",
            "ls -la .env",
            "source .env && npm test",
            "test -f .env && make",
            "git add .env",
        ] {
            assert_eq!(printed(line, "12 passed\n"), "12 passed\n", "{line}");
        }
    }

    #[test]
    fn lines_of_a_search_and_of_a_diff_that_are_of_a_secret_file_are_hidden() {
        let search = "./.env:COLOUR=vermilion heron\nsrc/a.ts:3:COLOUR\n.env.local-7-X=wagtail\n";
        let hidden = "./.env:[masked:secret-file]\nsrc/a.ts:3:COLOUR\n.env.local-7-[masked:secret-file]\n";
        assert_eq!(printed("grep -rn COLOUR", search), hidden);
        let diff = "diff --git a/.env b/.env\nindex 1..2\n--- a/.env\n+++ b/.env\n+COLOUR=vermilion\n\
                    diff --git a/b.txt b/b.txt\n+here\n";
        let shown = printed("git diff", diff);
        assert!(!shown.contains("vermilion") && shown.contains("+here"), "{shown}");
    }
}
