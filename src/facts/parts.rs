//! Takes what the person asked, says which steps of the plan it was about. Pure. "Done." after "do steps 1 and 2" is
//! said of those two.

use crate::plan::Step;
use crate::session::Session;
use crate::words::{has_any_words, normalised, padded};

/// Words for all of it, in an ask that also names a part.
const ALL_OF_IT: &[&str] =
    &["all", "complete plan", "entire", "every", "everything", "full plan", "remaining", "rest", "whole"];

/// Words for what comes in numbers.
const NUMBERED: &[&str] = &[
    "item", "items", "milestone", "milestones", "part", "parts", "phase", "phases", "stage", "stages",
    "step", "steps", "task", "tasks",
];

const ORDINALS: &[&str] =
    &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/// Whether the person asked for some steps by number, and this one is none of them.
pub fn asked_for_other_parts(session: &Session, step: &Step) -> bool {
    AskedFor::of(session).leaves_out(step)
}

/// The steps that the person asked for by number; none where they asked for all of it, or named none.
#[derive(Debug, Default)]
pub struct AskedFor(Vec<usize>);

impl AskedFor {
    /// What a session's asks name.
    pub fn of(session: &Session) -> Self {
        let mut numbers = Vec::new();
        for ask in &session.asks {
            let words = normalised(&ask.text);
            if has_any_words(&padded(&words), ALL_OF_IT) {
                return Self::default();
            }
            numbers.extend(numbers_asked_for(&words));
        }
        Self(numbers)
    }

    /// Whether there are any, and this step is none of them.
    pub fn leaves_out(&self, step: &Step) -> bool {
        let Self(numbers) = self;
        if numbers.is_empty() {
            return false;
        }
        let own = numbers_asked_for(&normalised(&step.text));
        !numbers.contains(&step.number) && !own.iter().any(|number| numbers.contains(number))
    }
}

/// The numbers of steps that an ask names: "step 2", "steps 1-3", "the first phase".
fn numbers_asked_for(words: &str) -> Vec<usize> {
    let words: Vec<&str> = words.split(' ').collect();
    let mut numbers = Vec::new();
    for at in (0..words.len()).filter(|at| NUMBERED.contains(&words[*at])) {
        let is_joint = |word: &&&str| matches!(**word, "and" | "to" | "through");
        let listed: Vec<&str> = words[at + 1..]
            .iter()
            .take_while(|word| is_joint(word) || word.parse::<usize>().is_ok())
            .copied()
            .collect();
        let after: Vec<usize> = listed.iter().filter_map(|word| word.parse().ok()).collect();
        match after.as_slice() {
            // "Steps 1-3" has lost its dash by now.
            [from, to] if from < to && to - from < 100 && !listed.contains(&"and") => {
                numbers.extend(*from..=*to);
            }
            _ => numbers.extend(after),
        }
        let ordinal = at.checked_sub(1).and_then(|at| ORDINALS.iter().position(|name| *name == words[at]));
        // "The first two steps" are numbered as well.
        let counted = at.checked_sub(2).filter(|at| words[*at] == "first").map(|at| match words[at + 1] {
            "two" | "2" => 2,
            "three" | "3" => 3,
            _ => 1,
        });
        numbers.extend(ordinal.map(|number| number + 1).into_iter().chain((1..=counted.unwrap_or(0)).rev()));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_asked_for_by_number() {
        for (ask, expected) in [
            ("implement step 2", vec![2]),
            ("please do steps 1 and 3 now", vec![1, 3]),
            ("please do steps 1-3 now", vec![1, 2, 3]),
            ("do steps 1, 2, 4", vec![1, 2, 4]),
            ("Phase 2 only", vec![2]),
            ("the first step, please", vec![1]),
            ("the first two steps", vec![2, 1]),
            ("implement the plan", vec![]),
        ] {
            assert_eq!(numbers_asked_for(&normalised(ask)), expected, "{ask}");
        }
    }
}
