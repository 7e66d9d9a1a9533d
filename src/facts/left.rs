//! Takes the final message and a step of the plan, says whether the message tells that the step was skipped, or that
//! something else was done in its place. Pure. Must not judge whether it was done all the same.

use super::alike::Bag;
use crate::claims;
use crate::evidence::Evidence;
use crate::plan::{Plan, Step};
use crate::words::{has_any_words, has_words, normalised, padded};

/// A sentence with so many of a step's words speaks of that step.
const SPOKEN_OF: f32 = 0.6;

/// Words that say plainly that something was left. The others of `claims` ("instead", "replaced") are as often said
/// of work that was done.
const LEFT: &[&str] = &[
    "abandoned", "deferred", "deferring", "dropped", "left out", "not implemented", "not needed", "omitted",
    "out of scope", "postponed", "skipped", "skipping", "unnecessary", "won t", "didn t", "did not",
    "decided against", "for later", "follow up", "future work",
];

/// Words before what was not taken.
const IN_PLACE_OF: &[&str] = &["instead of ", "rather than ", "in place of "];

/// Words that end the name of what was not taken.
const ENDS_NAME: &[&str] =
    &["and", "as", "because", "but", "for", "in", "on", "since", "so", "that", "to", "which", "with"];

/// Steps with these words speak of a change from one thing to another: that the first is gone is what they want.
const CHANGES_ONE_FOR_ANOTHER: &[&str] = &[
    "convert", "drop", "from", "instead", "migrate", "move", "port", "remove", "rename", "replace", "switch",
];

/// The sentences of a message that say plainly that something was left.
pub fn sentences(message: &str) -> Vec<Bag> {
    claims::all_sentences(message)
        .filter(|sentence| {
            let words = padded(&normalised(sentence));
            // "12 passed, 2 skipped" is said of tests.
            has_any_words(&words, LEFT) && !has_words(&words, "passed")
        })
        .map(Bag::of)
        .collect()
}

/// Whether a sentence speaks of a step.
pub fn speaks_of(sentence: &Bag, step: &Bag) -> bool {
    step.len() >= 2 && step.shared(sentence) >= 2 && step.within(sentence) >= SPOKEN_OF
}

/// Whether the message says of this step that it was skipped.
pub fn is_skipped(message: &str, step: &Step) -> bool {
    let step = Bag::of(&step.text);
    sentences(message).iter().any(|sentence| speaks_of(sentence, &step))
}

/// Whether the message says that something else was done in place of what this step, and no other, wants; and nothing
/// that the session wrote for the step has it.
pub fn is_replaced(message: &str, step: &Step, plan: &Plan, evidence: &Evidence) -> bool {
    let words = padded(&normalised(&step.text));
    if has_any_words(&words, CHANGES_ONE_FOR_ANOTHER) {
        return false;
    }
    let wanted = Bag::of_words(&step.text);
    let is_of_another = |thing: &Bag| {
        let mut others = plan.promised().filter(|other| other.number != step.number);
        others.any(|other| thing.within(&Bag::of_words(&other.text)) >= 1.0)
    };
    let is_there = |thing: &Bag| {
        let of_step = |steps: &[usize]| steps.contains(&step.number) || step.paths.is_empty();
        let mut files = evidence.files.iter().filter(|file| file.was_changed() && of_step(&file.steps));
        files.any(|file| thing.within(&Bag::of_words_again(&file.text)) >= 1.0)
    };
    claims::all_sentences(message)
        .flat_map(not_taken)
        .any(|thing| thing.within(&wanted) >= 1.0 && !is_of_another(&thing) && !is_there(&thing))
}

/// What a sentence says was not taken: "the database instead of Redis".
fn not_taken(sentence: &str) -> Vec<Bag> {
    let lower = sentence.to_lowercase();
    let behind = IN_PLACE_OF
        .iter()
        .flat_map(|phrase| lower.match_indices(phrase).map(|(at, phrase)| &lower[at + phrase.len()..]));
    behind
        .map(|rest| {
            let name = rest.split(['.', ',', ';', ':', '(', ')', '—']).next().unwrap_or_default();
            let words: Vec<&str> =
                name.split_whitespace().take_while(|word| !ENDS_NAME.contains(word)).take(4).collect();
            Bag::of_words(&words.join(" "))
        })
        .filter(|thing| !thing.is_empty())
        .collect()
}
