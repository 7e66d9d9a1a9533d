//! Takes a message, gives the sentences in which it tells what was done: what stands in code blocks, in quotes or
//! under a heading such as "Next steps" is left out. Pure.

use super::all_sentences;

/// Headings under which nothing is told as done.
const NOT_TOLD: &[&str] = &[
    "before", "can", "caveats", "checklist", "could", "example", "examples", "expected", "flow", "follow",
    "future", "goal", "goals", "how", "if", "known", "later", "manual", "next", "not", "open", "option",
    "options", "pending", "plan", "proposal", "proposed", "recommend", "recommendation", "recommendations",
    "recommended", "remaining", "should", "suggest", "suggested", "suggestions", "todo", "usage", "want",
    "will", "workflow", "would", "you",
];

/// Those of them that are only called after a list: "All parts of the plan are done:" tells of deeds.
const LISTS: &[&str] = &["checklist", "goal", "goals", "plan", "todo", "workflow"];

/// The sentences that tell what was done.
pub(super) fn told(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    let mut is_aside = false;
    let mut was_blank = true;
    for line in message.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        if trimmed.is_empty() {
            was_blank = true;
            continue;
        }
        if is_heading(trimmed) {
            is_aside = speaks_of_no_deed(trimmed);
        } else if was_blank && !is_item(line) && !trimmed.ends_with(':') {
            // A paragraph after a list that a plain line opened.
            is_aside = false;
        }
        was_blank = false;
        if !is_aside {
            found.extend(all_sentences(line));
        }
    }
    found
}

fn is_heading(line: &str) -> bool {
    line.starts_with('#')
        || line.ends_with(':')
        || line.ends_with(":**")
        || (line.starts_with("**") && line.ends_with("**") && line.len() > 4)
}

fn is_item(line: &str) -> bool {
    let trimmed = line.trim_start();
    line.len() > trimmed.len()
        || trimmed.starts_with(['-', '*', '+', '•', '|'])
        || trimmed
            .split_once(['.', ')'])
            .is_some_and(|(number, _)| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

fn speaks_of_no_deed(heading: &str) -> bool {
    let words = heading.to_lowercase();
    let is_told_by_itself = ["i ", "i've ", "we ", "we've "].iter().any(|start| words.starts_with(start))
        && !words.contains("plan to");
    let tells_of_deeds = is_told_by_itself || super::is_claim(heading);
    let mut words = words.split(|c: char| !c.is_alphanumeric());
    words.any(|word| NOT_TOLD.contains(&word) && !(tells_of_deeds && LISTS.contains(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_that_names_the_plan_and_tells_of_deeds_is_no_aside() {
        for message in [
            "All three parts of the plan are done:\n- tests pass",
            "The items in TODO.md are done:\n- tests pass",
            "## Checklist completed\n- tests pass",
            "I worked through the whole plan:\n- tests pass",
        ] {
            assert!(told(message).contains(&"- tests pass"), "{message}");
        }
        for message in [
            "## Test plan\n- tests pass",
            "What is done once you merge:\n- tests pass",
            "Next, once the plan is done:\n- tests pass",
            "TODO:\n- tests pass",
            "I plan to get here:\n- tests pass",
            "I will follow the plan:\n- tests pass",
        ] {
            assert!(!told(message).contains(&"- tests pass"), "{message}");
        }
    }
}
