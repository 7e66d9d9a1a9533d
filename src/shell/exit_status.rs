//! Whether the exit status of a line tells how one of its commands ended: `pytest || true` always
//! succeeds. Pure. In doubt it does not.

use crate::shell::parse::{Separator, SimpleCommand};

/// Returns whether a successful line leaves it open whether its command number `at` succeeded.
pub(super) fn is_hidden(commands: &[&SimpleCommand], at: usize) -> bool {
    commands[at].is_conditional
        || !is_reached(&commands[..at], Options::set_by(&commands[..at]))
        || is_hidden_by_rest(&commands[at..], Options::set_by(&commands[..at]))
}

/// The options that `set` switched on.
#[derive(Clone, Copy, Default)]
struct Options {
    pipefail: bool,
    errexit: bool,
}

impl Options {
    fn set_by(commands: &[&SimpleCommand]) -> Self {
        let mut options = Self::default();
        for words in commands.iter().map(|command| &command.words) {
            if words.first().is_none_or(|word| word != "set") {
                continue;
            }
            let has = |word: &str| words.iter().any(|other| other == word);
            options.pipefail |= has("pipefail");
            options.errexit |= words
                .iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('e'));
            options.errexit &= !has("+e");
        }
        options
    }
}

/// Returns whether the status of the first command is hidden by the rest of the line.
fn is_hidden_by_rest(commands: &[&SimpleCommand], shell: Options) -> bool {
    let mut is_piped = false;
    for (at, command) in commands.iter().enumerate() {
        let rest = &commands[at + 1..];
        match command.separator {
            Separator::And => {}
            Separator::Pipe => is_piped |= !shell.pipefail,
            Separator::Or if !rest.iter().any(|next| fails_on_purpose(next)) => return true,
            Separator::Or | Separator::End => break,
            Separator::Next if rest.first().is_some_and(|next| passes_status_on(next, is_piped)) => {
                return false;
            }
            Separator::Next if shell.errexit => {}
            Separator::Next | Separator::Background => return true,
        }
    }
    is_piped
}

/// Returns whether a successful line certainly ran the command after these.
fn is_reached(before: &[&SimpleCommand], shell: Options) -> bool {
    for command in before.iter().rev() {
        match command.separator {
            Separator::And | Separator::Pipe => {}
            Separator::Or => return false,
            Separator::Next if shell.errexit => {}
            Separator::Next | Separator::Background | Separator::End => break,
        }
    }
    true
}

/// Returns whether the line fails on purpose, with `exit 1` or `false`.
fn fails_on_purpose(command: &SimpleCommand) -> bool {
    let words: Vec<&str> = command.program_words().iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["false"])
        || matches!(words.as_slice(), ["exit" | "return", code] if *code != "0")
}

/// Returns whether the line ends with the previous command's status: `exit $?`, `exit
/// ${PIPESTATUS[0]}`.
fn passes_status_on(command: &SimpleCommand, is_piped: bool) -> bool {
    let words = command.program_words();
    let ends = words.first().is_some_and(|word| matches!(word.as_str(), "exit" | "return" | "test" | "["));
    let is_status = |word: &String| {
        word.to_lowercase().contains("pipestatus") || (!is_piped && (word == "$?" || word == "${?}"))
    };
    ends && words.iter().any(is_status)
}

#[cfg(test)]
mod tests {
    use crate::shell::CommandLine;

    #[test]
    fn what_hides_the_end_of_a_run() {
        let shown = [
            "pytest",
            "cd x && pytest",
            "pytest && echo ok",
            "echo a; pytest",
            "pytest 2>&1 > log",
            "pytest || exit 1",
            "pytest || { echo failed; exit 1; }",
            "set -e; pytest; echo done",
            "set -o pipefail; pytest | tail -5",
            "set -euo pipefail\npytest | tee log\necho done",
            "pytest | tail -5; exit ${PIPESTATUS[0]}",
            "pytest; exit $?",
            "bash -c 'cd x && pytest'",
        ];
        let hidden = [
            "pytest || true",
            "pytest || echo x",
            "(cd x && pytest) || true",
            "bash -c 'pytest' || true",
            "pytest; true",
            "pytest; echo done",
            "pytest\necho $?",
            "set -e; set +e; pytest; echo done",
            "pytest | tail -5",
            "pytest 2>&1 | grep -v x | head",
            "pytest | tail -5; echo $?",
            "pytest &",
            "pytest & sleep 1",
            "if pytest; then echo ok; fi",
            "! pytest",
            "for i in 1 2; do pytest; done",
            "a || pytest",
        ];
        for (lines, is_hidden) in [(&shown[..], false), (&hidden[..], true)] {
            for line in lines {
                assert_eq!(CommandLine::from(*line).hides_exit_status(), is_hidden, "{line}");
            }
        }
    }
}
