//! Which items of a session's lists are open, whether its final message has the required section,
//! and what the agent is told about both. Pure, by marks and headings alone: what a message claims
//! is for a reader.

use std::fmt::Write as _;

use crate::audit::reason::SWITCH;
use crate::config::ChecklistConfig;
use crate::plan::{Mark, Plan, Step, StepKind};
use crate::redact::mask;
use crate::session::{Session, Todo};
use crate::text::normalise::normalised;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checklist {
    pub name: String,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenClaims {
    pub items: Vec<Item>,
    /// The section that its final message lacks.
    pub section: Option<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub place: Place,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Plan {
        path: Option<String>,
        line: usize,
        step: usize,
    },
    /// In a file that the config names.
    File {
        path: String,
        line: usize,
    },
    Tasks {
        status: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub heading: String,
    /// Whether the heading is there, but without text.
    pub is_empty: bool,
}

impl OpenClaims {
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.section.is_none()
    }
}

/// States of a task that is over, as the client writes them.
const OVER: &[&str] = &["completed", "done", "cancelled", "canceled", "deleted"];

/// Returns what is open: boxes of the plan and of the configured lists, and tasks of the session's
/// own list. Whether any of it is claimed as done is for a reader to say.
pub(super) fn open_items(
    config: &ChecklistConfig,
    session: &Session,
    plan: Option<&Plan>,
    lists: &[Checklist],
) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(plan) = plan.filter(|_| config.plan) {
        items.extend(open_boxes(&plan.steps).map(|step| Item {
            place: Place::Plan { path: plan.path.clone(), line: step.line, step: step.number },
            text: step.text.clone(),
        }));
    }
    for list in lists {
        items.extend(open_boxes(&list.steps).map(|step| Item {
            place: Place::File { path: list.name.clone(), line: step.line },
            text: step.text.clone(),
        }));
    }
    if config.todos {
        // A task that is also in a list is one thing to do.
        let known: Vec<String> = items.iter().map(|item| normalised(&item.text)).collect();
        let open = session.todos.iter().filter(|todo| is_open(todo));
        let open = open.filter(|todo| !known.contains(&normalised(&todo.text)));
        items.extend(open.map(|todo| Item {
            place: Place::Tasks { status: todo.status.clone() },
            text: todo.text.clone(),
        }));
    }
    items
}

fn open_boxes(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|step| step.kind == StepKind::Checkbox && step.mark == Mark::Open)
}

fn is_open(todo: &Todo) -> bool {
    !OVER.contains(&todo.status.as_str())
}

/// Returns the required section, if the message lacks it.
pub(super) fn missing_section(message: &str, heading: &str) -> Option<Section> {
    let wanted = normalised(heading);
    let mut lines = message.lines().map(str::trim);
    let mut in_code = false;
    let is_heading = |line: &str| line.starts_with('#');
    let found = lines.by_ref().find(|line| {
        in_code ^= line.starts_with("```") || line.starts_with("~~~");
        !in_code && is_heading(line) && normalised(line) == wanted
    });
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    let is_empty = found.is_some_and(|own| {
        let mut below = lines.take_while(|line| !is_heading(line) || level(line) > level(own));
        !below.any(|line| !line.is_empty() && !is_heading(line))
    });
    (found.is_none() || is_empty).then(|| Section { heading: heading.to_owned(), is_empty })
}

/// How many items are listed: nobody works through a list of hundreds.
const MOST_LISTED: usize = 12;

/// How much of each is quoted.
const LONGEST: usize = 200;

/// `is_alone` is set if no other gate tells the agent how this ends and the person how to switch it
/// off.
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
