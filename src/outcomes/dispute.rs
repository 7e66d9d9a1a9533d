//! Whether the agent says that a finding is wrong: takes its final message and a finding that held, gives the sentence
//! in which it does. A reading of words, by sentence: one has to speak of the finding, and it, or the next, has to say
//! why it does not count. Pure. Must not judge whether the agent is right.

use super::Held;
use crate::claims;
use crate::finding::Category;
use crate::plan::Mark;
use crate::text::first_part;
use crate::words::{base_name, has_any_words, has_words, names_file, normalised, padded};

/// How much of the agent's words is kept.
const SENTENCE_CAP: usize = 400;

/// Words that call a finding wrong, whatever it is about.
const WRONG: &[&str] = &[
    "are incorrect", "are mistaken", "are not correct", "are not right", "are wrong", "disagree", "dispute",
    "disputed", "disputing", "does not apply", "does not hold", "doesn t apply", "doesn t hold",
    "false alarm", "false alarms", "false positive", "false positives", "inaccurate", "is incorrect",
    "is mistaken", "is not a real", "is not accurate", "is not correct", "is not right", "is not true",
    "is wrong", "isn t accurate", "isn t correct", "isn t right", "isn t true", "looks wrong", "misread",
    "misreads", "mistaken finding", "not a real finding", "not a real problem", "not a valid",
    "not applicable", "not valid", "s incorrect", "s mistaken", "s not correct", "s not right", "s not true",
    "s wrong", "seems wrong", "spurious", "unfounded", "was incorrect", "was mistaken", "was wrong",
    "were wrong", "wrong about", "wrong because", "wrong finding", "wrong here",
];

/// Words that say why what was found is as it should be.
const MEANT: &[&str] = &[
    "already contains", "already covered", "already covers", "already exists", "already handled",
    "already has", "already in place", "already there", "as agreed", "as intended", "as requested",
    "by design", "covered by", "deliberate", "deliberately", "did not ask", "didn t ask", "does not belong",
    "doesn t belong", "expected here", "intended", "intentional", "intentionally", "is expected", "lives in",
    "never asked", "never claimed", "never meant", "never part", "never promised", "no longer needed",
    "no longer required", "no longer wanted", "no need", "nobody asked", "not a mistake", "not a problem",
    "not an error", "not an issue", "not in scope", "not meant", "not my", "not necessary", "not needed",
    "not part", "not required", "not supposed", "not wanted", "obsolete", "on purpose", "out of scope",
    "outside the scope", "superseded", "supposed to be", "told me not", "unnecessary", "was asked not",
    "was not asked", "wasn t asked", "were not asked",
];

/// Words of somebody who has done it meanwhile: "I added it as intended" is no dispute.
const DONE_NOW: &[&str] = &[
    "has been added", "has been created", "has been fixed", "has been written", "i added", "i created",
    "i fixed", "i have added", "i have created", "i have fixed", "i have now", "i have updated",
    "i have written", "i implemented", "i now", "i updated", "i ve added", "i ve created", "i ve fixed",
    "i ve now", "i ve updated", "i ve written", "i wrote", "is now", "now exists", "now has", "now holds",
    "now there",
];

/// Words of a finding that is settled, where another is spoken of in the same breath.
const SETTLED: &[&str] =
    &["are fixed", "fixed", "is addressed", "is done", "is fixed", "s fixed", "was fixed"];

/// Words with which a sentence goes on about the one before it.
const BACK: &[&str] = &[
    "but it", "but that", "but this", "it", "its", "that", "the finding", "there", "these", "they", "this",
    "those", "which",
];

/// Words that grant it.
const GRANTED: &[&str] = &[
    "agreed", "fair point", "good catch", "is correct", "is right", "is valid", "not incorrect", "not wrong",
    "s right", "was correct", "was right", "were right", "you re right",
];

/// Words with which a sentence only asks or supposes.
const SUPPOSED: &[&str] = &["if", "in case", "unless", "whether"];

/// Words for a finding of ours.
const FINDING: &[&str] = &[
    "audit", "auditor", "complaint", "finding", "findings", "flagged", "gate", "hook", "punchlist",
    "stop hook",
];

/// Words for all of them at once.
const ALL: &[&str] = &[
    "all findings", "all four", "all of them", "all of the findings", "all three", "both findings",
    "both of them", "both points", "neither finding", "neither of", "none of the findings", "none of them",
    "the findings", "these findings", "those findings",
];

/// Words that stand before a finding's number.
const BEFORE_NUMBER: &[&str] =
    &["and", "finding", "findings", "issue", "item", "items", "no", "number", "point", "points"];

const ORDINALS: &[&str] = &["first", "second", "third", "fourth", "fifth"];

/// Words that say nothing of what a text is about.
const EMPTY: &[&str] = &[
    "about", "also", "been", "does", "done", "from", "have", "into", "just", "more", "only", "should",
    "some", "step", "that", "their", "them", "then", "there", "these", "they", "this", "those", "were",
    "when", "which", "will", "with", "your",
];

/// One clause of a message, the sentence that it is part of, and the number of the list's item in which it stands.
struct Sentence<'a> {
    text: &'a str,
    whole: &'a str,
    words: String,
    item: Option<usize>,
}

impl<'a> Sentence<'a> {
    fn of(text: &'a str, whole: &'a str, item: Option<usize>) -> Self {
        Self { text, whole, words: padded(&normalised(text)), item }
    }
}

/// The sentence in which the message disputes a finding, if it does. `all` are the findings that held together.
pub fn sentence_on(held: &Held, all: &[Held], message: &str) -> Option<String> {
    let sentences = sentences(message);
    let answers_list = sentences.iter().any(|sentence| has_any_words(&sentence.words, FINDING));
    let speaks = |sentence: &Sentence<'_>, of: &Held| {
        let by_item = answers_list && sentence.item == Some(of.listed);
        by_item || names(of, sentence) || (all.len() == 1 && has_any_words(&sentence.words, FINDING))
    };
    let of_all = |sentence: &Sentence<'_>| has_any_words(&sentence.words, ALL);
    let speaks_of_another = |sentence: &Sentence<'_>| {
        all.iter().any(|other| other.number != held.number && speaks(sentence, other))
    };
    sentences.iter().enumerate().find_map(|(at, sentence)| {
        if !(speaks(sentence, held) || of_all(sentence)) {
            return None;
        }
        if disputes(sentence) {
            return Some(kept(sentence.whole));
        }
        // "On `beta.txt`: I left it out. It was never part of the request."
        let goes_on = |next: &&Sentence<'_>| next.item == sentence.item && points_back(next);
        let next = sentences.get(at + 1).filter(goes_on);
        let next = next.filter(|next| disputes(next) && !speaks_of_another(next));
        let is_open = !has_any_words(&sentence.words, GRANTED);
        next.filter(|_| is_open).map(|next| {
            let is_one = std::ptr::eq(sentence.whole, next.whole);
            if is_one { kept(next.whole) } else { kept(&format!("{} {}", sentence.whole, next.whole)) }
        })
    })
}

/// Whether the message takes back what a finding calls a false claim: it says itself that it was not done. A step that
/// is ticked claims it still, whatever the message says.
pub fn takes_back(held: &Held, message: &str) -> bool {
    let is_claim = held.finding.category == Category::A && held.mark != Some(Mark::Ticked);
    let speaks_of_it = |text: &str| names(held, &Sentence::of(text, text, None));
    is_claim && claims::admits(message, speaks_of_it)
}

fn kept(words: &str) -> String {
    first_part(&words.split_whitespace().collect::<Vec<_>>().join(" "), SENTENCE_CAP)
}

/// The sentences of a message, code left out.
fn sentences(message: &str) -> Vec<Sentence<'_>> {
    let mut all = Vec::new();
    let mut item = None;
    let mut in_code = false;
    for line in message.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || trimmed.is_empty() {
            continue;
        }
        let number = number_at_start(trimmed);
        if number.is_some() {
            item = number;
        } else if !line.starts_with([' ', '\t']) {
            item = None;
        }
        for whole in split(trimmed, &[". ", "! ", "? "]) {
            let clauses = split(whole, CLAUSE_ENDS).into_iter().flat_map(opposites);
            all.extend(clauses.map(|text| Sentence::of(text, whole, item)));
        }
    }
    all
}

/// What ends a clause behind its first letter: what follows a "but" is often the opposite.
const CLAUSE_ENDS: &[&str] = &["; ", ", but ", ", while ", ", whereas "];

/// A text cut behind the first letter of each of these ends. They have a space in them, so that `beta.txt` stays whole; so
/// does "1.", which begins an item.
fn split<'a>(line: &'a str, ends: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in line.match_indices(['.', '!', '?', ';', ',']) {
        let is_end = ends.iter().any(|end| line[at..].starts_with(end));
        let is_number = line[start..at].trim().trim_matches(['*', '#', '-', ' ']).parse::<usize>().is_ok();
        if is_end && !is_number {
            parts.push(line[start..=at].trim());
            start = at + 1;
        }
    }
    parts.push(line[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// "Finding 1 is right and finding 2 is wrong" as the two clauses that it is.
fn opposites(clause: &str) -> Vec<&str> {
    let settles = |words: &str| [GRANTED, DONE_NOW, SETTLED].iter().any(|list| has_any_words(words, list));
    let objects = |words: &str| has_any_words(words, WRONG) || has_any_words(words, MEANT);
    let joints = clause.match_indices(" and ").map(|(at, _)| at);
    let of = |text: &str| padded(&normalised(text));
    let is_turn = |at: &usize| {
        let (before, after) = (of(&clause[..*at]), of(&clause[*at..]));
        let turns =
            |one: &str, other: &str| settles(one) && !objects(one) && objects(other) && !settles(other);
        turns(&before, &after) || turns(&after, &before)
    };
    match joints.filter(is_turn).last() {
        Some(at) => vec![&clause[..at], clause[at..].trim_start()],
        None => vec![clause],
    }
}

/// "2. …", "**2)** …", "- #2: …": the number that a line begins with.
fn number_at_start(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(['*', '-', '#', '[', '(', ' ', '_']);
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_numbering = rest[digits..].starts_with(['.', ')', ':', ']', '*']);
    rest[..digits].parse().ok().filter(|_| is_numbering && digits < 3)
}

/// Whether a sentence says that what it speaks of is wrong or as it should be.
fn disputes(sentence: &Sentence<'_>) -> bool {
    let words = &sentence.words;
    let is_supposed = sentence.text.ends_with('?') || has_any_words(first_words(words), SUPPOSED);
    let is_meant = || has_any_words(words, MEANT) && !has_any_words(words, DONE_NOW);
    !is_supposed && !has_any_words(words, GRANTED) && (has_any_words(words, WRONG) || is_meant())
}

/// Whether a sentence goes on about what the one before it speaks of.
fn points_back(sentence: &Sentence<'_>) -> bool {
    has_any_words(first_words(&sentence.words), BACK) || has_any_words(&sentence.words, WRONG)
}

/// The start of padded words, up to the second of them.
fn first_words(padded: &str) -> &str {
    let end = padded.match_indices(' ').nth(2).map_or(padded.len(), |(at, _)| at + 1);
    &padded[..end]
}

/// Whether a sentence names a finding: by its number, its file, its step, its command or most words of its quote.
fn names(held: &Held, sentence: &Sentence<'_>) -> bool {
    let finding = &held.finding;
    let by_path = finding
        .path
        .as_deref()
        .is_some_and(|path| sentence.text.contains(path) || names_file(sentence.text, base_name(path)));
    let by_step = finding.step.is_some_and(|step| has_words(&sentence.words, &format!("step {step}")));
    let needle = held.needle.trim();
    let by_needle = needle.len() > 4 && sentence.text.contains(needle);
    by_path
        || by_step
        || by_needle
        || by_number(held.listed, &sentence.words)
        || by_quote(&finding.quote, &sentence.words)
}

fn by_number(number: usize, words: &str) -> bool {
    let ordinal = number.checked_sub(1).and_then(|at| ORDINALS.get(at));
    let is_ordinal = ordinal.is_some_and(|ordinal| {
        ["finding", "one", "point"].iter().any(|noun| has_words(words, &format!("{ordinal} {noun}")))
    });
    let speaks_of_findings =
        has_any_words(words, &["finding", "findings", "item", "items", "point", "points", "number"]);
    let number = number.to_string();
    let mut before = "";
    let is_numbered = words.split_whitespace().any(|word| {
        let is_it = word == number && BEFORE_NUMBER.contains(&before);
        // "Findings 1, 2 and 3": a number behind a number.
        before = if word.parse::<usize>().is_ok() && BEFORE_NUMBER.contains(&before) { before } else { word };
        is_it
    });
    is_ordinal || (speaks_of_findings && is_numbered)
}

fn by_quote(quote: &str, words: &str) -> bool {
    let quote = normalised(quote);
    let telling = quote.split(' ').filter(|word| word.chars().count() > 3 && !EMPTY.contains(word));
    let (mut all, mut found) = (0, 0);
    for word in telling {
        all += 1;
        found += usize::from(has_words(words, word));
    }
    found >= 2 && found * 5 >= all * 3
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::finding::Problem;
    use crate::outcomes::pending::tests::finding;

    fn held(number: usize, quote: &str, path: Option<&str>) -> Held {
        let mut finding = finding(Category::A, Problem::MissingFile, quote, path);
        finding.step = Some(number + 1);
        // The log's number is another one than the list's.
        Held { number: number + 3, listed: number, finding, needle: String::new(), mark: None }
    }

    fn two() -> [Held; 2] {
        [
            held(1, "Create `beta.txt` with the greeting", Some("docs/beta.txt")),
            held(2, "Wire the retry policy into the client", Some("src/client.rs")),
        ]
    }

    /// Which of two findings a message disputes, with the words.
    fn disputed(message: &str) -> Vec<(usize, String)> {
        let two = two();
        two.iter().filter_map(|held| Some((held.listed, sentence_on(held, &two, message)?))).collect()
    }

    fn numbers(message: &str) -> Vec<usize> {
        disputed(message).into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn a_finding_is_named_in_many_ways() {
        for message in [
            "Finding 2 is wrong: the retry happens in the proxy.",
            "The second finding does not apply here.",
            "I looked again. src/client.rs is left alone on purpose.",
            "`client.rs` was never part of the request.",
            "Step 3 is no longer needed.",
            "The retry policy of the client is out of scope, as the person said.",
            "About the findings:\n\n1. Written now.\n2. This is intentional, the proxy retries.",
            "Findings:\n- **2)** not needed: the proxy retries.",
            "I wrote beta.txt.\n\nOn client.rs: nothing to do there. It is covered by the proxy.",
            "Punchlist flagged findings 1 and 2. Number 2 is a false positive.",
            "The first finding is right, but the second finding is wrong.",
            "Finding 1 is right and finding 2 is wrong.",
            "Finding 2 is wrong and finding 1 is right.",
            "I fixed finding 1 and finding 2 is wrong.",
            "Finding 1 is fixed, and finding 2 does not apply: the proxy and the client retry.",
            "The second finding is out of scope and I added beta.txt.",
            "There is no retry in client.rs, but that is intended.",
        ] {
            assert_eq!(numbers(message), [2], "{message}");
        }
    }

    #[test]
    fn all_can_be_disputed_at_once() {
        for message in [
            "Both findings are wrong: the work is on another branch.",
            "I disagree with findings 1 and 2.",
            "Finding 1 is wrong and finding 2 is not needed.",
            "None of the findings is a real problem; the findings are false positives.",
        ] {
            assert_eq!(numbers(message), [1, 2], "{message}");
        }
    }

    #[test]
    fn what_grants_asks_or_supposes_disputes_nothing() {
        for message in [
            "",
            "Done.",
            "You're right, finding 2 is correct; I wired it in.",
            "Is client.rs left out on purpose?",
            "If finding 2 is wrong, tell me.",
            "Finding 2 is not wrong, I fixed it.",
            "Finding 1 and finding 2 are fixed and the tests pass.",
            "I fixed the wrong path in client.rs and created beta.txt.",
            "client.rs now has the retry policy.",
            "I have now wired the policy into client.rs as intended.",
            "I looked at client.rs. The tests are covered by the pipeline.",
            "```\nfinding 2 is wrong\n```",
            "1. Create beta.txt\n2. On purpose nothing else was touched.",
        ] {
            assert_eq!(disputed(message), [], "{message}");
        }
    }

    #[test]
    fn the_very_words_are_kept() {
        assert_eq!(
            disputed(
                "I checked.  The file `docs/beta.txt` is intentionally\tabsent; the greeting lives in lib.rs. Bye."
            ),
            [(
                1,
                "The file `docs/beta.txt` is intentionally absent; the greeting lives in lib.rs.".to_owned()
            )]
        );
        let long = format!("Finding 1 is wrong because {}", "of this ".repeat(200));
        let kept = &disputed(&long)[0].1;
        assert!(kept.len() < SENTENCE_CAP + 40 && kept.ends_with(" bytes cut …]"), "{kept}");
    }

    #[test]
    fn a_claim_is_taken_back_where_the_message_says_that_it_was_not_done() {
        let mut one = held(1, "I wrote docs.md", Some("docs.md"));
        assert!(takes_back(&one, "Sorry: docs.md was not written."));
        assert!(!takes_back(&one, "Sorry: notes.md was not written."));
        assert!(!takes_back(&one, "docs.md is written."));
        one.mark = Some(Mark::Ticked);
        assert!(!takes_back(&one, "Sorry: docs.md was not written."), "the plan says otherwise");
    }

    #[test]
    fn where_only_one_was_found_that_one_is_meant() {
        let one = [held(1, "Create `beta.txt`", Some("beta.txt"))];
        for message in ["The finding is wrong.", "This is a false positive of the stop hook."] {
            assert_eq!(sentence_on(&one[0], &one, message).as_deref(), Some(message));
        }
        assert_eq!(numbers("The finding is wrong."), Vec::<usize>::new(), "which of the two?");
    }

    proptest! {
        #[test]
        fn whatever_is_said_it_is_kept_short_and_taken_from_the_message(
            message in "(finding|findings|[0-9]|is wrong|on purpose|beta\\.txt|é|[.!?;:\n `*-]|not needed| ){0,40}"
        ) {
            for (_, sentence) in disputed(&message) {
                prop_assert!(!sentence.is_empty() && sentence.len() <= SENTENCE_CAP + 40);
                let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                let first = sentence.split(' ').next().unwrap_or_default();
                prop_assert!(squeezed(&message).contains(first));
            }
        }

        #[test]
        fn no_text_makes_it_panic(message in any::<String>()) {
            let _ = disputed(&message);
        }
    }
}
