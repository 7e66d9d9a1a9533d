//! Takes a message, gives what it claims to have done. A reading of words: it says which sentences speak of
//! finished work, never that the work is there. Negated, hedged, planned and conditional sentences, questions
//! and quotes are no claims.

mod asides;
pub mod deeds;
pub mod kinds;
pub mod ticks;
pub(crate) mod wording;

use crate::readings::{What, recall_parts, recall_parts_now};
use crate::words::has_any_words as has_any;

/// Words that speak of work as done.
const DONE: &[&str] = &[
    "added", "addressed", "all set", "applied", "built", "changed", "clean", "committed", "complete",
    "completed", "completes", "configured", "converted", "created", "deleted", "delivered", "deployed",
    "documented", "done", "executed", "exists", "extracted", "filed", "finalised", "finalized", "finished",
    "fixed", "generated", "green", "handled", "implemented", "in place", "installed", "integrated",
    "introduced", "made", "merged", "migrated", "moved", "opened", "pass", "passed", "passes", "passing",
    "pushed", "ran", "ready", "refactored", "removed", "renamed", "replaced", "resolved", "rewritten",
    "rewrote", "set up", "shipped", "succeeded", "tested", "ticked", "updated", "verified", "wired",
    "working", "works", "written", "wrote", "worked through", "wrapped up", "wraps up", "landed",
    "in the repo", "adjusted", "bumped", "enabled", "exposed", "extended", "improved", "modified", "ported",
    "simplified", "switched",
];

/// Words that make of a sentence something else than a claim.
const NOT_DONE: &[&str] = &[
    "not", "never", "cannot", "can't", "couldn't", "didn't", "doesn't", "don't", "hasn't", "haven't",
    "isn't", "wasn't", "won't", "wouldn't", "aren't", "weren't", "will", "would", "should", "could", "might",
    "may", "plan to", "going", "next", "todo", "remaining", "remains", "pending", "if", "once", "unless",
    "until", "want", "shall", "let's", "let", "need", "needs", "try", "partially", "partly", "almost",
    "nearly", "skipped", "skip", "deferred", "later", "failed", "fails", "failing", "blocked",
];

/// Those of them that say plainly that something is not there.
const UNDONE: &[&str] = &[
    "blocked", "can't", "cannot", "couldn't", "didn't", "doesn't", "hasn't", "haven't", "isn't", "later",
    "never", "not", "pending", "remaining", "remains", "skip", "todo", "wasn't",
];

/// Words with which a person calls something off.
const CALLED_OFF: &[&str] = &[
    "cancel", "don't bother", "don't create", "don't do", "don't need", "drop", "forget", "leave out",
    "never mind", "nevermind", "no longer", "no need", "not create", "not do", "not necessary", "not need",
    "not needed", "skip", "unnecessary",
];

/// And with which they insist on it.
const INSISTED: &[&str] = &[
    "don't drop", "don't forget", "don't leave out", "don't skip", "never skip", "not drop", "not forget",
    "not leave out", "not skip",
];

/// Words for the whole of the work.
const WHOLE: &[&str] = &[
    "all", "both", "entire", "every", "everything", "implementation", "job", "plan", "requirements", "steps",
    "tasks", "todos", "whole", "work",
];

/// Words for every part of it.
const ALL: &[&str] = &[
    "all", "both", "checklist", "entire", "every", "everything", "items", "plan", "steps", "tasks", "whole",
];

/// Words for what a piece of work is made of.
const PIECES: &[&str] = &[
    "branch", "build", "class", "command", "commit", "config", "docs", "documentation", "edit", "file",
    "fix", "function", "helper", "lint", "method", "module", "part", "pr", "run", "setup", "spec", "specs",
    "step", "suite", "test", "tests", "type", "types",
];

/// Words for the whole of the work where they open a sentence: "this is done".
const WHOLE_AT_START: &[&str] = &["feature", "it", "task", "that", "this"];

/// Words for a part: "step 1 is done and all tests pass" is not said of the whole.
const PARTS: &[&str] = &[
    "all of it but", "apart from", "aside from", "but for", "but not", "else", "except", "excluding",
    "first", "half", "most", "other than", "others", "rest", "so far", "some",
];

/// Words for what comes in numbers: with one it is a part, unless it is all of them.
const NUMBERED: &[&str] = &[
    "item", "items", "milestone", "milestones", "part", "parts", "phase", "phases", "stage", "stages",
    "step", "steps", "task", "tasks",
];

/// Words for work that is over.
const OVER: &[&str] = &[
    "addressed", "all set", "applied", "complete", "completed", "completes", "created", "delivered", "done",
    "executed", "finalised", "finalized", "finished", "handled", "implemented", "in place", "in the repo",
    "landed", "made", "ready", "set up", "shipped", "ticked", "working", "written", "worked through",
    "wrapped up", "wraps up",
];

/// Words for a step that was left or replaced.
const LEFT: &[&str] = &[
    "abandoned", "deferred", "dropped", "instead", "left out", "no longer", "not implement", "not needed",
    "omitted", "out of scope", "postponed", "rather than", "replaced", "skipped", "skipping", "unnecessary",
    "won't",
];

/// The lines of a message that are no code and no quote.
fn outside_code(message: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    message.lines().filter(move |line| {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            return false;
        }
        !in_code && !line.starts_with('>')
    })
}

/// The sentences of a message: cut at line ends and full stops, code blocks and quotes left out.
pub fn all_sentences(message: &str) -> impl Iterator<Item = &str> {
    outside_code(message)
        .flat_map(|line| line.split_inclusive(['!', '?', ';']).flat_map(|part| part.split_inclusive(". ")))
        // "Pushed, so the nightly job will pick it up": what follows from it is another matter.
        .flat_map(|part| part.split_inclusive(", so "))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Lower-case words with single spaces around each, so that whole words can be looked for.
fn padded_words(sentence: &str) -> String {
    let mut words = String::with_capacity(sentence.len() + 8);
    words.push(' ');
    // What stands in backticks are names: `round_half_even` is no half of anything.
    for word in sentence.split('`').step_by(2).flat_map(str::split_whitespace) {
        // And so are those of files: the items in `TODO.md` may well be done.
        let word = if wording::is_file_name(word) { "named file" } else { word };
        let pieces = word.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'));
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let start = words.len();
            if piece.is_ascii() {
                words.push_str(piece);
                words[start..].make_ascii_lowercase();
            } else {
                words.push_str(&piece.replace('’', "'").to_lowercase());
            }
            if words[start..].ends_with("'s") {
                words.truncate(words.len() - 2);
            }
            words.push(' ');
        }
    }
    words
}

fn is_claim(sentence: &str) -> bool {
    if sentence.ends_with('?') {
        return false;
    }
    let words = padded_words(sentence);
    let ticked = sentence.contains(['✅', '✔', '☑']) || sentence.to_lowercase().contains("- [x]");
    (ticked || has_any(&words, DONE) || is_in(&words)) && !has_any(&words, NOT_DONE)
}

/// "Both changes are in", "PLAN.md is through": so much is only said at the end of a sentence.
fn is_in(padded: &str) -> bool {
    ["are in", "is in", "in now", "are through", "is through"]
        .iter()
        .any(|end| padded.trim_end().ends_with(&format!(" {end}")))
}

/// The sentences that claim something as done.
pub fn sentences(message: &str) -> Vec<&str> {
    let claims = || all_sentences(message).filter(|sentence| is_claim(sentence)).collect();
    recall_parts_now(What::Claims, message, claims)
}

/// Whether the message says that the work as a whole is over, in whatever words: "Done!", "The migration is complete."
pub fn says_finished(message: &str) -> bool {
    let mut said = sentences(message).into_iter();
    said.any(|sentence| {
        let words = padded_words(sentence);
        let is_short = words.split_whitespace().count() <= 3;
        has_any(&words, OVER)
            && !is_of_a_part(&words)
            && (is_short || is_of_the_whole(&words) || is_of_one_thing(sentence))
    })
}

/// Whether the message says of every step, of the plan or of all that was asked that it is done.
pub fn says_all_is_done(message: &str) -> bool {
    sentences(message).into_iter().any(|sentence| {
        let words = padded_words(sentence);
        (has_any(&words, OVER) || is_in(&words))
            && !is_of_a_part(&words)
            && has_any(&without_checks(&words), ALL)
    })
}

fn is_of_the_whole(padded: &str) -> bool {
    let start: Vec<_> = padded.split_whitespace().take(2).collect();
    has_any(&without_checks(padded), WHOLE) || start.iter().any(|word| WHOLE_AT_START.contains(word))
}

/// "All tests" are said to pass in all kinds of part reports.
fn without_checks(padded: &str) -> String {
    padded
        .replace(" all tests ", " tests ")
        .replace(" all checks ", " checks ")
        .replace(" all specs ", " specs ")
}

/// Whether a sentence says of one thing with a name of its own that it is over: "The contact importer is finished". A
/// file, a name in code, and what a piece of work is made of are parts of it.
fn is_of_one_thing(sentence: &str) -> bool {
    let words = padded_words(sentence);
    let words: Vec<&str> = words.split_whitespace().collect();
    let Some(at) = words.iter().position(|word| {
        matches!(*word, "complete" | "done" | "finished" | "implemented" | "ready" | "shipped")
    }) else {
        return false;
    };
    let subject = &words[..at];
    let is_said = subject.last().is_some_and(|word| matches!(*word, "are" | "fully" | "has" | "is" | "now"))
        || words.len() == at + 1;
    (1..=6).contains(&subject.len())
        && is_said
        && !sentence.contains('`')
        && !subject.iter().any(|word| PIECES.contains(word))
}

fn is_of_a_part(padded: &str) -> bool {
    let words: Vec<_> = padded.split_whitespace().collect();
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    has_any(padded, PARTS)
        || words
            .windows(2)
            .any(|pair| NUMBERED.contains(&pair[0].trim_end_matches('s')) && is_number(pair[1]))
}

/// The sentences in which a message itself says that something was not done.
pub fn admissions(message: &str) -> Vec<&str> {
    let is_admission = |sentence: &&str| {
        let words = padded_words(sentence);
        [LEFT, UNDONE, EXCEPTIONS].iter().any(|table| has_any(&words, table))
    };
    let mut admissions: Vec<&str> = all_sentences(message).filter(is_admission).collect();
    // "Not started yet:" is said of all that is listed below it.
    let mut is_below = false;
    for line in message.lines() {
        let is_item = line.trim_start().starts_with(['-', '*', '•', '|'])
            || line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if is_below && is_item {
            admissions.push(line.trim());
        } else if !line.trim().is_empty() {
            let is_title = line.trim_end().ends_with([':', '*']) || line.starts_with('#');
            is_below = is_title && has_any(&padded_words(line), NOT_YET);
        }
    }
    admissions
}

/// Words of a title under which stands what is not done.
const NOT_YET: &[&str] = &[
    "deferred", "later", "left", "next", "not", "open", "pending", "remaining", "skipped", "still", "to do",
    "todo",
];

/// Words that take something out of what is done.
const EXCEPTIONS: &[&str] =
    &["all of it but", "apart from", "aside from", "but for", "but not", "except", "excluding", "other than"];

/// Whether the message itself says, in a sentence of which `speaks_of_it` holds, that it was not done.
pub fn admits(message: &str, speaks_of_it: impl Fn(&str) -> bool) -> bool {
    admissions(message).into_iter().any(speaks_of_it)
}

/// The sentences in which the person calls something off.
pub fn cancellations(ask: &str) -> Vec<&str> {
    let is_cancellation = |sentence: &&str| {
        let words = padded_words(sentence);
        has_any(&words, CALLED_OFF) && !has_any(&words, INSISTED)
    };
    recall_parts(What::Cancellations, ask, || all_sentences(ask).filter(is_cancellation).collect())
}

/// Whether the person, in a sentence of which `speaks_of_it` holds, called something off.
pub fn calls_off(ask: &str, speaks_of_it: impl Fn(&str) -> bool) -> bool {
    cancellations(ask).into_iter().any(speaks_of_it)
}

/// Whether the message says that something was left undone or done another way.
pub fn says_left_something(message: &str) -> bool {
    all_sentences(message).any(|sentence| has_any(&padded_words(sentence), LEFT))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same in one step after the other.
    fn slowly_padded_words(sentence: &str) -> String {
        let mut words = String::from(" ");
        // What stands in backticks are names: `round_half_even` is no half of anything.
        let prose: Vec<&str> = sentence.split('`').step_by(2).collect();
        // And so are those of files: the items in `TODO.md` may well be done.
        let prose: Vec<&str> = prose.iter().flat_map(|span| span.split_whitespace()).collect();
        let prose =
            prose.into_iter().map(|word| if wording::is_file_name(word) { "named file" } else { word });
        for word in prose
            .collect::<Vec<_>>()
            .join(" ")
            .split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        {
            if !word.is_empty() {
                let word = word.replace('’', "'").to_lowercase();
                words.push_str(word.strip_suffix("'s").unwrap_or(&word));
                words.push(' ');
            }
        }
        words
    }

    proptest! {
        #[test]
        fn words_are_those_of_each_step(sentence in "(Done|it|TODO\\.md|a\\.b|'|’|'s|’s|S|`| |  |,|-|—|é|É|Σ|x_y|1|\\.|\t){0,16}") {
            prop_assert_eq!(padded_words(&sentence), slowly_padded_words(&sentence), "{}", sentence);
        }
    }

    #[test]
    fn claims_are_found() {
        for message in [
            "Done.",
            "I wrote src/a.rs and src/b.rs.",
            "All tests pass.",
            "✅ Step 3",
            "I've added the flag. Shall I go on?",
            "- Created `beta.txt`",
            "All tests pass with no errors, as planned.",
        ] {
            assert!(!sentences(message).is_empty(), "{message}");
        }
    }

    #[test]
    fn what_is_negated_hedged_planned_asked_or_quoted_is_no_claim() {
        for message in [
            "I have not created beta.txt.",
            "The tests didn't pass.",
            "I'll add the flag next.",
            "Once this is merged, deploy.",
            "Is it done?",
            "> all done",
            "```\ntests passed\n```",
            "Two steps are remaining before it is complete.",
            "You're welcome!",
        ] {
            assert_eq!(sentences(message), Vec::<&str>::new(), "{message}");
        }
    }

    #[test]
    fn finished_is_said_of_the_whole() {
        for message in [
            "Done!",
            "All steps are complete.",
            "All three items in TODO.md are done.",
            "Both files are written.",
            "The plan is fully implemented. ✅",
            "Everything's in place.",
            "All changes have been made.",
            "Everything is set up and working.",
            "The plan has been fully executed.",
            "All items on the checklist are handled.",
            "This is now complete.",
            "The protobuf migration is complete. ✅",
            "The contact importer is finished and works end to end.",
            "Docs refresh complete!",
            "The requirements are fully implemented.",
        ] {
            assert!(says_finished(message), "{message}");
        }
        for message in [
            "I added the parser.",
            "Step 1 of 3 is written; step 2 next?",
            "All steps are not done.",
            "Step 1 is done and all tests pass.",
            "I created a file that holds the alphabet.",
            "I implemented the feature flag for this module.",
            "Everything else is done.",
            "Steps 1–3 are done.",
            "All the steps are done except beta.txt.",
            "The rest of the plan is implemented.",
            "The test run is done.",
            "The `parse` function is done.",
            "README.md is done.",
            "The first part of the importer is finished.",
            "Steps 1–3 are done: the parser and its tests.",
        ] {
            assert!(!says_finished(message), "{message}");
        }
        for message in
            ["All steps are complete.", "Both files are written.", "The plan is fully implemented."]
        {
            assert!(says_all_is_done(message), "{message}");
        }
        for message in ["Done!", "The migration is complete.", "Setup is done and all tests pass."] {
            assert!(!says_all_is_done(message), "{message}");
        }
    }

    #[test]
    fn what_is_admitted_is_heard() {
        let about_beta = |sentence: &str| sentence.contains("beta");
        assert!(admits("I did not create beta.txt. All else is done.", about_beta));
        assert!(admits("All is done except beta.txt.", about_beta));
        assert!(calls_off("Good. Forget beta.txt, we do not need it.", about_beta));
        assert!(!calls_off("Don't stop. Create beta.txt.", about_beta));
        assert!(!calls_off("Don't forget beta.txt, and do not skip it.", about_beta));
        assert!(!admits("I did not run it. I created beta.txt.", about_beta));
        assert!(!admits("- `beta.txt`: `round_half_even`", about_beta));
        assert!(!admits("Fixed the half-cent rounding in beta.txt, most of all the first case.", about_beta));
        assert!(admits("Steps 1–3 are done.\n\nNot started yet:\n- step 4, `beta.txt`\n", about_beta));
        assert!(!admits("Not started yet:\n- step 4\n\nDone:\n- `beta.txt`\n", about_beta));
    }

    #[test]
    fn what_was_left_is_heard() {
        assert!(says_left_something("I skipped the migration."));
        assert!(says_left_something("I used sqlite instead."));
        assert!(!says_left_something("All done."));
    }
}
