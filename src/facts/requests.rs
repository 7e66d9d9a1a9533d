//! Takes what the person said, gives the parts of it that ask for work: "add the flag, and tell me what it does" has
//! one. Pure. Questions, conditions and what words can answer ask for none.

use super::alike::Bag;
use super::ordinary::{TALK, asks_for_work, is_doc};
use crate::claims;
use crate::plan::mentions;
use crate::readings::{What, recall_parts};
use crate::words::{normalised, padded};

/// So many sentences of an ask are read: what is longer is a paste.
const SENTENCES: usize = 12;

/// Words for putting something into words: with a page to put them on, they ask for work.
const WRITES_DOWN: &[&str] =
    &["cover", "describe", "explain", "list", "mention", "note", "record", "summarise", "summarize"];

/// The parts of an ask that each may want something of its own: its sentences, cut where another request begins.
pub fn clauses(ask: &str) -> Vec<&str> {
    claims::all_sentences(ask).take(SENTENCES).flat_map(cut).collect()
}

/// The parts of an ask that ask for work.
pub fn requests(ask: &str) -> Vec<&str> {
    recall_parts(What::Requests, ask, || {
        clauses(ask).into_iter().filter(|clause| is_request(clause)).collect()
    })
}

/// Whether words ask for anything, if only for "that": thanks and news do not.
pub fn asks_for_anything(text: &str) -> bool {
    let mut clauses = clauses(text).into_iter();
    clauses.any(|clause| asks_for_work(clause) || writes_down(clause))
}

/// Whether a part of an ask asks for work that can be seen.
pub fn is_request(clause: &str) -> bool {
    let words = normalised(clause);
    let opens_as_talk = words.split(' ').next().is_some_and(|word| TALK.contains(&word));
    let is_a_check = padded(&words).contains(" make sure ");
    let is_work = writes_down(clause) || (asks_for_work(clause) && !opens_as_talk && !is_a_check);
    is_work && !is_condition(&words) && !is_real_question(clause) && has_an_object(clause)
}

/// Whether it is a question, and not a request in the form of one: "could you add a flag?"
pub fn is_real_question(clause: &str) -> bool {
    let asks_them = || {
        let words = padded(&normalised(clause));
        ["can you", "could you", "would you", "will you"].iter().any(|form| words.contains(&padded(form)))
            && (asks_for_work(clause) || writes_down(clause))
    };
    clause.trim_end().trim_end_matches(['"', '”', '`']).ends_with('?') && !asks_them()
}

/// "Describe both flags in README.md": words alone do not settle it.
pub fn writes_down(clause: &str) -> bool {
    let words = normalised(clause);
    let opens = words.split(' ').take(5).any(|word| WRITES_DOWN.contains(&word));
    opens && mentions::mentions(clause).paths.iter().any(|path| is_doc(path))
}

fn cut(sentence: &str) -> Vec<&str> {
    // Without its condition the rest would say something else.
    if is_condition(&normalised(sentence)) {
        return vec![sentence];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let joints = sentence.match_indices(", ").chain(sentence.match_indices(" and "));
    let mut joints: Vec<(usize, usize)> = joints.map(|(at, joint)| (at, at + joint.len())).collect();
    joints.sort_unstable();
    for (at, next) in joints {
        if at > start && begins_a_request(&sentence[next..]) {
            parts.push(&sentence[start..at]);
            start = next;
        }
    }
    parts.push(&sentence[start..]);
    let parts = parts.into_iter().map(|part| without_joint(part.trim()));
    parts.filter(|part| !part.is_empty()).collect()
}

fn without_joint(part: &str) -> &str {
    ["and ", "And ", "then "].iter().find_map(|joint| part.strip_prefix(joint)).unwrap_or(part)
}

/// Whether another request begins here, or something else that the person wants.
fn begins_a_request(rest: &str) -> bool {
    // A few words tell; a paste may have any number of joints.
    let start: Vec<&str> = without_joint(rest).split_whitespace().take(6).collect();
    let words = normalised(&start.join(" "));
    let mut words = words.split(' ').skip_while(|word| matches!(*word, "also" | "please" | "then"));
    let opening = words.next().unwrap_or_default();
    let is_alone = words.next().is_none();
    !is_alone && (asks_for_work(opening) || TALK.contains(&opening) || WRITES_DOWN.contains(&opening))
}

fn is_condition(words: &str) -> bool {
    ["if ", "when ", "once ", "unless "].iter().any(|start| words.starts_with(start))
}

/// "Do it", "go on", "fix that": what is meant stands elsewhere.
fn has_an_object(clause: &str) -> bool {
    let bag = Bag::of(clause);
    let words = normalised(clause);
    let points_elsewhere = words
        .split(' ')
        .take(4)
        .any(|word| matches!(word, "above" | "it" | "rest" | "that" | "them" | "these" | "this" | "those"));
    bag.shares_a_name(&bag) || (bag.len() >= 2 && !points_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_of_an_ask_is_its_own() {
        for (ask, expected) in [
            (
                "Great! Now a --json flag too, and describe both flags in README.md please.",
                &["describe both flags in README.md please."][..],
            ),
            (
                "ok. Add an entry to CHANGELOG.md under Unreleased, and tell me what the log line looks like",
                &["Add an entry to CHANGELOG.md under Unreleased"],
            ),
            (
                "thanks. while you're in there drop the unused legacy_hash helper, and make the token 32 bytes",
                &["while you're in there drop the unused legacy_hash helper", "make the token 32 bytes"],
            ),
            ("Yes, go on. And rename load_cfg to load_config.", &["rename load_cfg to load_config."]),
            (
                "Could you also add a page on limits to docs/limits.md?",
                &["Could you also add a page on limits to docs/limits.md?"],
            ),
            ("Add search and sorting to the list page", &["Add search and sorting to the list page"]),
        ] {
            assert_eq!(requests(ask), expected, "{ask}");
        }
    }

    #[test]
    fn what_words_can_answer_is_no_request() {
        for ask in [
            "great, thanks! ran it on the nas, works. all tests pass, ha ha",
            "explain the parser in src/parser.rs",
            "should we add a cache to the client?",
            "make sure the tests in tests/a.py still pass",
            "what is listed in README.md?",
        ] {
            assert_eq!(requests(ask), Vec::<&str>::new(), "{ask}");
        }
    }
}
