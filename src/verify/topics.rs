//! What texts are about: takes steps, asks, tasks and sentences, says whether they speak of one thing. Pure.
//! Compares words that carry meaning, by their roots; letters alone would make "created alpha" and "create
//! beta" alike.

use std::collections::HashSet;

use super::names::{self, root};
use super::tables::EMPTY_WORDS;
use crate::facts::ordinary::COVERED;
use crate::plan::mentions::mentions;
use crate::words::base_name;

/// The words of a text that carry meaning, by their roots.
pub(super) fn meaning(text: &str) -> HashSet<String> {
    let is_full = |word: &String| word.chars().count() > 2 && !EMPTY_WORDS.contains(&word.as_str());
    names::words(text).iter().filter(|word| is_full(word)).map(|word| root(word).to_owned()).collect()
}

/// How much of what `text` means stands in `source` too.
pub(super) fn share(text: &HashSet<String>, source: &HashSet<String>) -> f32 {
    let shared = text.intersection(source).count();
    #[expect(clippy::cast_precision_loss, reason = "counts of words")]
    let share = shared as f32 / text.len().max(1) as f32;
    share
}

/// What a text names: files by their last part, and things in code.
fn named(text: &str) -> HashSet<String> {
    let found = mentions(text);
    let files = found.paths.iter().map(|path| base_name(path).to_lowercase());
    files.chain(found.symbols.iter().map(|symbol| symbol.to_lowercase())).collect()
}

/// Whether two texts speak of one thing. Two that name different things do not, however alike they sound; two
/// that name the same one do.
pub(super) fn alike(one: &str, other: &str) -> bool {
    let (one_named, other_named) = (named(one), named(other));
    if !one_named.is_empty() && !other_named.is_empty() {
        return !one_named.is_disjoint(&other_named);
    }
    let (one, other) = (meaning(one), meaning(other));
    let (shorter, longer) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let shared = shorter.intersection(longer).count();
    share(shorter, longer) >= COVERED && (shared > 1 || shorter.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_other_words_is_alike() {
        for (one, other) in [
            ("Rewrite the login page in Svelte", "rewriting login page"),
            ("I skipped the user table migration.", "Migrate the user table"),
            ("Please also add a telemetry module", "Add telemetry module"),
            ("I wrote `beta.txt`", "Create beta.txt with all the notes"),
        ] {
            assert!(alike(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn what_only_sounds_alike_is_not() {
        for (one, other) in [
            ("I created alpha.txt.", "Create `beta.txt`"),
            ("Add a caching layer", "Add a parser layer"),
            ("All done.", "Migrate the user table"),
            ("", "Create `beta.txt`"),
        ] {
            assert!(!alike(one, other), "{one} / {other}");
        }
    }
}
