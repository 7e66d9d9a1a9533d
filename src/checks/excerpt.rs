//! The lines of a program's output that matter, errors first. Pure. Must not return more than an
//! agent reads, nor characters that control a terminal.

use std::collections::BTreeSet;

use anstream::adapter::strip_str;

use crate::text::{first_part, is_harmless};

const MOST_LINES: usize = 40;
/// How long they may be together, and each of them.
const MOST_BYTES: usize = 4_000;
const MOST_BYTES_OF_A_LINE: usize = 400;
/// How many lines after one that tells of an error belong to it.
const AFTER_AN_ERROR: usize = 4;
/// How many of the last lines are always returned: most programs sum up at their end.
const AT_THE_END: usize = 6;

/// Words with which programs begin to tell of an error, in lower case.
const ERRORS: &[&str] = &[
    "error", "fail", "panicked", "exception", "traceback", "assert", "fatal", "expected", "cannot ",
    "undefined", "not ok", "✗", "✘", "×", "segmentation", "e   ",
];
/// Words that stand in lines in which nothing failed.
const NO_ERRORS: &[&str] = &["0 error", "0 fail", "no error", "errors: 0", "failures: 0", "failed: 0"];

fn tells_of_an_error(line: &str) -> bool {
    let line = line.to_lowercase();
    ERRORS.iter().any(|word| line.contains(word)) && !NO_ERRORS.iter().any(|word| line.contains(word))
}

/// The part that matters, in the order in which it was printed, with `…` where something was left
/// out.
pub(super) fn excerpt(output: &str) -> String {
    let output = without_escapes(output);
    let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let mut chosen: BTreeSet<usize> = (lines.len().saturating_sub(AT_THE_END)..lines.len()).collect();
    let errors: Vec<usize> = (0..lines.len()).filter(|at| tells_of_an_error(lines[*at])).collect();
    // First every error's own line, then what follows each, then the rest from the end on.
    let own = errors.iter().copied();
    let after = errors.iter().flat_map(|at| at + 1..=at + AFTER_AN_ERROR).filter(|at| *at < lines.len());
    let rest = (0..lines.len()).rev();
    for at in own.chain(after).chain(rest) {
        if chosen.len() >= MOST_LINES {
            break;
        }
        chosen.insert(at);
    }
    set(&lines, &chosen)
}

fn set(lines: &[&str], chosen: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut next = 0;
    for at in chosen {
        let line = first_part(lines[*at], MOST_BYTES_OF_A_LINE);
        if text.len() + line.len() > MOST_BYTES {
            text.push_str("…\n");
            return text;
        }
        if *at != next {
            text.push_str("…\n");
        }
        next = at + 1;
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The text without colours and the like; a line that was written over is as it was left.
fn without_escapes(text: &str) -> String {
    let text = strip_str(text).to_string().replace("\r\n", "\n");
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\r' => plain.truncate(plain.rfind('\n').map_or(0, |end| end + 1)),
            '\n' | '\t' => plain.push(letter),
            letter if is_harmless(letter) => plain.push(letter),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_output_is_given_whole() {
        assert_eq!(excerpt("one\n\ntwo\n"), "one\ntwo\n");
        assert_eq!(excerpt(""), "");
    }

    #[test]
    fn errors_come_before_what_is_long() {
        let mut output: String = (0..500).map(|n| format!("test case_{n} ... ok\n")).collect();
        output.insert_str(4_000, "\nerror[E0425]: no `x` here\n  --> src/a.rs:3:9\n");
        output.push_str("test result: 1 of 500\n");
        let told = excerpt(&output);
        assert!(told.contains("error[E0425]: no `x` here\n  --> src/a.rs:3:9\n"), "{told}");
        assert!(told.ends_with("test result: 1 of 500\n"), "{told}");
        assert!(told.lines().count() <= MOST_LINES + 3, "{told}");
        assert!(told.contains("…\n"), "{told}");
    }

    #[test]
    fn what_says_that_nothing_failed_is_no_error() {
        assert!(tells_of_an_error("3 tests failed"));
        assert!(tells_of_an_error("AssertionError: 1 != 2"));
        assert!(!tells_of_an_error("12 passed, 0 failed"));
        assert!(!tells_of_an_error("Compiling punchlist"));
    }

    #[test]
    fn colours_and_lines_that_were_written_over_are_taken_out() {
        assert_eq!(
            excerpt("\u{1b}[31merror\u{1b}[0m: no\r\n10 %\r20 %\rdone\n\u{1b}]0;title\u{7}end\u{8}\n"),
            "error: no\ndone\nend\n"
        );
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_harmless(output in "(?s).{0,2000}", many in 0usize..30) {
            let told = excerpt(&output.repeat(many));
            prop_assert!(told.len() <= MOST_BYTES + MOST_BYTES_OF_A_LINE + 100);
            prop_assert!(told.chars().all(|letter| is_harmless(letter) || letter == '\n' || letter == '\t'));
        }
    }
}
