//! Takes a message, gives what it claims to have done. A reading of words: it says which sentences speak of
//! finished work, never that the work is there. Negated, hedged, planned and conditional sentences, questions
//! and quotes are no claims.

/// Words that speak of work as done.
const DONE: &[&str] = &[
    "added", "all set", "built", "clean", "committed", "complete", "completed", "completes", "configured",
    "created", "deleted", "deployed", "done", "exists", "filed", "finished", "fixed", "green", "implemented",
    "in place", "installed", "merged", "migrated", "moved", "opened", "pass", "passed", "passes", "passing",
    "pushed", "ran", "ready", "refactored", "removed", "renamed", "replaced", "resolved", "shipped",
    "succeeded", "ticked", "tested", "updated", "verified", "works", "written", "wrote",
];

/// Words that make of a sentence something else than a claim.
const NOT_DONE: &[&str] = &[
    "not", "never", "cannot", "can't", "couldn't", "didn't", "doesn't", "don't", "hasn't", "haven't",
    "isn't", "wasn't", "won't", "wouldn't", "aren't", "weren't", "will", "would", "should", "could", "might",
    "may", "plan to", "going", "next", "todo", "remaining", "remains", "pending", "if", "once", "unless",
    "until", "want", "shall", "let's", "let", "need", "needs", "try", "partially", "partly", "almost",
    "nearly", "skipped", "skip", "deferred", "later", "failed", "fails", "failing", "blocked",
];

/// Words for the whole of the work.
const WHOLE: &[&str] = &[
    "all", "both", "each", "entire", "every", "everything", "feature", "implementation", "it", "job", "plan",
    "steps", "task", "tasks", "that", "this", "whole", "work",
];

/// Words for work that is over.
const OVER: &[&str] = &[
    "all set", "complete", "completed", "created", "done", "finished", "implemented", "in place", "ready",
    "shipped", "ticked", "written",
];

/// Words for a step that was left or replaced.
const LEFT: &[&str] = &[
    "abandoned", "deferred", "dropped", "instead", "left out", "no longer", "not implement", "not needed",
    "omitted", "out of scope", "postponed", "rather than", "replaced", "skipped", "skipping", "unnecessary",
    "won't",
];

/// The sentences of a message: cut at line ends and full stops, code blocks and quotes left out.
fn all_sentences(message: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    message
        .lines()
        .filter(move |line| {
            let line = line.trim_start();
            if line.starts_with("```") || line.starts_with("~~~") {
                in_code = !in_code;
                return false;
            }
            !in_code && !line.starts_with('>')
        })
        .flat_map(|line| line.split_inclusive(['!', '?', ';']).flat_map(|part| part.split_inclusive(". ")))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Lower-case words with single spaces around each, so that whole words can be looked for.
fn padded_words(sentence: &str) -> String {
    let mut words = String::from(" ");
    for word in sentence.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')) {
        if !word.is_empty() {
            words.push_str(&word.replace('’', "'").to_lowercase());
            words.push(' ');
        }
    }
    words
}

fn has_any(padded: &str, words: &[&str]) -> bool {
    words.iter().any(|word| padded.contains(&format!(" {word} ")))
}

fn is_claim(sentence: &str) -> bool {
    if sentence.ends_with('?') {
        return false;
    }
    let words = padded_words(sentence);
    let ticked = sentence.contains(['✅', '✔', '☑']) || sentence.to_lowercase().contains("- [x]");
    (ticked || has_any(&words, DONE)) && !has_any(&words, NOT_DONE)
}

/// The sentences that claim something as done.
pub fn sentences(message: &str) -> Vec<&str> {
    all_sentences(message).filter(|sentence| is_claim(sentence)).collect()
}

/// Whether the message says that the work as a whole is over.
pub fn says_finished(message: &str) -> bool {
    sentences(message).into_iter().any(|sentence| {
        let words = padded_words(sentence);
        let is_short = words.split_whitespace().count() <= 3;
        has_any(&words, OVER) && (is_short || has_any(&words, WHOLE))
    })
}

/// Whether the message says that something was left undone or done another way.
pub fn says_left_something(message: &str) -> bool {
    all_sentences(message).any(|sentence| has_any(&padded_words(sentence), LEFT))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "Both files are written.",
            "The plan is fully implemented. ✅",
        ] {
            assert!(says_finished(message), "{message}");
        }
        for message in
            ["I added the parser.", "Step 1 of 3 is written; step 2 next?", "All steps are not done."]
        {
            assert!(!says_finished(message), "{message}");
        }
    }

    #[test]
    fn what_was_left_is_heard() {
        assert!(says_left_something("I skipped the migration."));
        assert!(says_left_something("I used sqlite instead."));
        assert!(!says_left_something("All done."));
    }
}
