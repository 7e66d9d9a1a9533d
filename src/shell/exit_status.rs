//! Takes the commands of a line, says of one of them whether the end of the line tells how that one ended:
//! `pytest || true` always succeeds. Pure. Doubt is a no.

use crate::shell::parse::{Part, Separator};
use crate::shell::wrappers::{program_name, program_words};
use crate::shell::{GIT_LOOKERS, LOOKERS, git_subcommand};

/// What hides how a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// Its output goes through another program, whose end counts.
    Pipe,
    /// Something else is done when it fails.
    Or,
    /// Something else comes after it, whose end counts.
    Next,
    /// It is a condition, negated, in a loop, or runs only when something else failed.
    Guard,
    /// It goes on in the background.
    Background,
}

/// What the end of a line tells of one of its commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// What hides its end, if anything does. With nothing, a line that succeeded says that it did.
    pub mask: Option<Mask>,
    /// Whether a line that failed says that this command did.
    pub failure_tells: bool,
    /// Whether a line that failed says at least that this command did not succeed: it failed, or was not reached.
    pub failure_denies: bool,
}

/// Programs that can't well fail, beside those that only look.
const HARDLY_FAIL: &[&str] = &["export", "mkdir", "rm", "set", "source", ".", "tee", "touch", "unset"];

/// What the end of the line tells of its command number `at`.
pub fn reach(parts: &[Part], at: usize) -> Reach {
    let Some(part) = parts.get(at) else {
        return Reach { mask: Some(Mask::Guard), failure_tells: false, failure_denies: false };
    };
    let shell = Options::before(parts, at);
    let (mask, others_after) = after(parts, at, &shell);
    let (is_reached, others_before) = before(parts, at, &shell);
    let mask = if part.is_guarded || !is_reached { Some(Mask::Guard) } else { mask };
    let failure_denies = mask.is_none() && !others_after;
    Reach { mask, failure_tells: failure_denies && !others_before, failure_denies }
}

/// What `set` switched on before a command.
#[derive(Default)]
struct Options {
    pipefail: bool,
    errexit: bool,
}

impl Options {
    fn before(parts: &[Part], at: usize) -> Self {
        let mut options = Self::default();
        for part in parts[..at].iter().filter(|part| part.words.first().is_some_and(|word| word == "set")) {
            let has = |word: &str| part.words.iter().any(|other| other == word);
            options.pipefail |= has("pipefail");
            options.errexit |= part
                .words
                .iter()
                .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('e'));
            options.errexit &= !has("+e");
        }
        options
    }
}

/// What comes after: what hides the end, and whether something else may have made the line fail.
fn after(parts: &[Part], at: usize, shell: &Options) -> (Option<Mask>, bool) {
    let mut others = false;
    let mut piped = false;
    for (offset, part) in parts[at..].iter().enumerate() {
        let next = parts.get(at + offset + 1);
        match part.joint {
            Separator::End => break,
            Separator::Background => return (Some(Mask::Background), true),
            Separator::Pipe => {
                piped |= !shell.pipefail;
                // A `grep` that finds nothing fails, too.
                others |= next.is_some_and(|next| !hardly_fails(next) || is_program(next, &["grep", "rg"]));
            }
            Separator::And => others |= next.is_some_and(|next| !hardly_fails(next)),
            Separator::Or if parts[at + offset + 1..].iter().any(gives_up) => break,
            Separator::Or => return (Some(Mask::Or), true),
            Separator::Next => {
                if next.is_some_and(|next| hands_on(next, piped)) {
                    return (None, others);
                }
                if !shell.errexit {
                    return (Some(if piped { Mask::Pipe } else { Mask::Next }), true);
                }
                others |= next.is_some_and(|next| !hardly_fails(next));
            }
        }
    }
    (piped.then_some(Mask::Pipe), others)
}

/// What comes before: whether the command was surely reached in a line that succeeded, and whether something
/// else may have made the line fail.
fn before(parts: &[Part], at: usize, shell: &Options) -> (bool, bool) {
    let mut others = false;
    for part in parts[..at].iter().rev() {
        match part.joint {
            Separator::And | Separator::Pipe => others |= !hardly_fails(part),
            Separator::Or => return (false, true),
            Separator::Next if shell.errexit => others |= !hardly_fails(part),
            Separator::Next | Separator::Background | Separator::End => break,
        }
    }
    (true, others)
}

fn hardly_fails(part: &Part) -> bool {
    let words = program_words(&part.words);
    words.first().is_none_or(|program| {
        let name = program_name(program);
        if name == "git" {
            return git_subcommand(words).is_some_and(|sub| sub == "add" || GIT_LOOKERS.contains(&sub));
        }
        HARDLY_FAIL.contains(&name)
            || (LOOKERS.contains(&name) && !matches!(name, "[" | "test" | "false" | "exit"))
    })
}

fn is_program(part: &Part, names: &[&str]) -> bool {
    program_words(&part.words).first().is_some_and(|program| names.contains(&program_name(program)))
}

/// `exit 1`, `false`: the line fails after all.
fn gives_up(part: &Part) -> bool {
    let words: Vec<&str> = program_words(&part.words).iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["false"])
        || matches!(words.as_slice(), ["exit" | "return", code] if *code != "0")
}

/// `exit $?`, `exit ${PIPESTATUS[0]}`: the line ends as the command before did.
fn hands_on(part: &Part, piped: bool) -> bool {
    let words = program_words(&part.words);
    let ends = words.first().is_some_and(|word| matches!(word.as_str(), "exit" | "return" | "test" | "["));
    let is_status = |word: &String| {
        word.to_lowercase().contains("pipestatus") || (!piped && (word == "$?" || word == "${?}"))
    };
    ends && words.iter().any(is_status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::wrappers::flat_parts;

    fn reach_of(line: &str) -> Reach {
        let parts = flat_parts(line);
        let at = parts.iter().position(|part| part.words.iter().any(|word| word == "pytest"));
        reach(&parts, at.expect("a run"))
    }

    #[test]
    fn what_hides_the_end_of_a_run() {
        for (line, mask) in [
            ("pytest", None),
            ("cd x && pytest", None),
            ("pytest && echo ok", None),
            ("echo a; pytest", None),
            ("pytest 2>&1 > log", None),
            ("pytest || exit 1", None),
            ("pytest || { echo failed; exit 1; }", None),
            ("set -e; pytest; echo done", None),
            ("set -o pipefail; pytest | tail -5", None),
            ("set -euo pipefail\npytest | tee log\necho done", None),
            ("pytest | tail -5; exit ${PIPESTATUS[0]}", None),
            ("pytest; exit $?", None),
            ("bash -c 'cd x && pytest'", None),
            ("pytest || true", Some(Mask::Or)),
            ("pytest || echo x", Some(Mask::Or)),
            ("(cd x && pytest) || true", Some(Mask::Or)),
            ("bash -c 'pytest' || true", Some(Mask::Or)),
            ("pytest; true", Some(Mask::Next)),
            ("pytest; echo done", Some(Mask::Next)),
            ("pytest\necho $?", Some(Mask::Next)),
            ("set -e; set +e; pytest; echo done", Some(Mask::Next)),
            ("pytest | tail -5", Some(Mask::Pipe)),
            ("pytest 2>&1 | grep -v x | head", Some(Mask::Pipe)),
            ("pytest | tail -5; echo $?", Some(Mask::Pipe)),
            ("pytest &", Some(Mask::Background)),
            ("pytest & sleep 1", Some(Mask::Background)),
            ("if pytest; then echo ok; fi", Some(Mask::Guard)),
            ("! pytest", Some(Mask::Guard)),
            ("for i in 1 2; do pytest; done", Some(Mask::Guard)),
            ("a || pytest", Some(Mask::Guard)),
        ] {
            assert_eq!(reach_of(line).mask, mask, "{line}");
        }
    }

    #[test]
    fn whose_failure_it_was() {
        for line in [
            "pytest",
            "cd x && pytest",
            "pytest && echo ok",
            "echo a; pytest",
            "A=1 pytest -q",
            "pytest && git diff --stat",
        ] {
            assert!(reach_of(line).failure_tells, "{line}");
        }
        for line in [
            "ruff check && pytest", "pytest && ruff check", "git pull && pytest", "pytest | tail",
            "pytest || true",
        ] {
            assert!(!reach_of(line).failure_tells, "{line}");
        }
    }
}
