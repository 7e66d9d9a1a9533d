//! What the agent is told of what is not settled: takes it, gives the reason. Pure; what is quoted is masked and one line each.

use std::fmt::Write as _;

use super::open::{Item, OpenClaims, Place};
use crate::audit::reason::SWITCH;
use crate::redact::mask;

/// So many items are listed; a list of hundreds is nobody's next step.
const MOST_LISTED: usize = 12;

/// So much of one is quoted.
const LONGEST: usize = 200;

/// `is_alone` where no other gate tells the agent how this ends and the person how to switch it off.
pub(super) fn reason(unsettled: &OpenClaims, is_alone: bool) -> String {
    let mut text = String::new();
    let items = &unsettled.items;
    if !items.is_empty() {
        let (count, are) = if items.len() == 1 { ("one item", "is") } else { ("these items", "are") };
        let _ = writeln!(
            text,
            "Punchlist looked at what this session has to do. The final message says that it is done, and {count} of its checklist {are} still open:\n"
        );
        for (number, item) in items.iter().take(MOST_LISTED).enumerate() {
            let _ = writeln!(text, "{}. {}", number + 1, line(item));
        }
        let more = items.len().saturating_sub(MOST_LISTED);
        if more > 0 {
            let _ = writeln!(text, "… and {more} more.");
        }
        let ways = if items.len() == 1 { "Settle it" } else { "Settle each" };
        let _ = write!(
            text,
            "\n{ways}: finish it; or, if it is done, tick it and say what was done; or, if it is dropped, strike it through and \
             say why, as in `- [ ] ~~…~~ (why)`. Then end the turn again, saying what is so."
        );
    }
    if let Some(section) = &unsettled.section {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let lacks = if section.is_empty { "has nothing under the heading" } else { "lacks the section" };
        let _ = write!(
            text,
            "The final message {lacks} `{heading}`. End with a message that has the line `{heading}` and under it, for each thing that \
             was asked for or planned, whether it is done and what shows it.",
            heading = section.heading
        );
    }
    if is_alone {
        let _ = write!(
            text,
            "\n\nEither way the next stop goes through. The person can switch this gate off with {SWITCH}."
        );
    }
    text
}

fn line(item: &Item) -> String {
    let text = quoted(&item.text);
    match &item.place {
        Place::Plan { path, line, .. } => {
            let path = path.as_ref().map_or("the plan".to_owned(), |path| quoted(path));
            format!("{path}, line {line}: - [ ] {text}")
        }
        Place::File { path, line } => format!("{}, line {line}: - [ ] {text}", quoted(path)),
        Place::Tasks { status } => format!("your task list ({}): {text}", quoted(status)),
    }
}

fn quoted(text: &str) -> String {
    let text = mask(&text.split_whitespace().collect::<Vec<_>>().join(" ")).text;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
