//! Finds a quote in what was really written. Pure. A quote counts when its words are there, exactly or very
//! nearly; an invented one must not pass because it sounds alike.

use crate::plan::{Plan, Step};
pub(super) use crate::words::likeness;
use crate::words::{normalised, padded, ratio};

/// How alike a quote and its source must be when it is not there to the letter.
const NEARLY: f32 = 0.87;
/// A quote with fewer letters than this proves nothing unless it is all that was written.
const LEAST: usize = 6;

/// Whether `quote` stands in `source`: as a part of it, or nearly as one of its lines. What a quote leaves out
/// (`…`) may be anything, as long as its parts come in order.
pub(super) fn stands_in(quote: &str, source: &str) -> bool {
    if let Some(parts) = parts_around_gaps(quote) {
        return stand_in_order(&parts, &normalised(source));
    }
    let wanted = normalised(quote);
    if wanted.is_empty() {
        return false;
    }
    let is_part = || wanted.len() >= LEAST && padded(&normalised(source)).contains(&padded(&wanted));
    is_part() || source.lines().any(|line| nearly(&wanted, &normalised(line)))
}

/// The parts of a quote that leaves something out in the middle, each of them long enough to prove something.
fn parts_around_gaps(quote: &str) -> Option<Vec<String>> {
    let quote = quote.replace("[...]", "…").replace("...", "…");
    let parts: Vec<String> = quote.split('…').map(normalised).filter(|part| !part.is_empty()).collect();
    (parts.len() > 1 && parts.iter().all(|part| part.len() >= LEAST)).then_some(parts)
}

fn stand_in_order(parts: &[String], source: &str) -> bool {
    let mut rest = source;
    parts.iter().all(|part| match rest.find(part.as_str()) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

fn nearly(one: &str, other: &str) -> bool {
    one == other
        || (one.len() >= LEAST
            && one.len().abs_diff(other.len()) * 4 <= one.len().max(other.len())
            && ratio(one, other) >= NEARLY)
}

/// The step that a quote comes from: the one whose words it holds or is a part of.
pub(super) fn step_of<'a>(quote: &str, plan: &'a Plan) -> Option<&'a Step> {
    let wanted = normalised(quote);
    if wanted.is_empty() {
        return None;
    }
    if let Some(parts) = parts_around_gaps(quote) {
        return plan.promised().find(|step| stand_in_order(&parts, &normalised(&step.text)));
    }
    let exact = plan.promised().find(|step| normalised(&step.text) == wanted);
    let part = || {
        plan.promised().filter(|_| wanted.len() >= LEAST).find(|step| {
            let words = normalised(&step.text);
            padded(&words).contains(&padded(&wanted))
                || (words.len() >= LEAST && padded(&wanted).contains(&padded(&words)))
        })
    };
    let near = || plan.promised().find(|step| nearly(&wanted, &normalised(&step.text)));
    exact.or_else(part).or_else(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_of_any_length_is_compared_in_no_time() {
        let one = "all work and no play ".repeat(20_000);
        let other = "no time for play at all ".repeat(18_000);
        assert!(!stands_in(&one, &other));
        assert!(likeness(&one, &other) <= 1.0);
    }
}
