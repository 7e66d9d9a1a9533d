//! Which items of a session's lists are open, and whether the section is there that is wanted of its final message. Pure, by
//! marks and headings alone: what a message claims is for a reader.

use crate::config::ChecklistConfig;
use crate::plan::{Mark, Plan, Step, StepKind};
use crate::session::{Session, Todo};
use crate::text::normalise::normalised;

/// A file with boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checklist {
    pub name: String,
    /// What stands in it.
    pub steps: Vec<Step>,
}

/// What a session has not settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenClaims {
    /// What is open.
    pub items: Vec<Item>,
    /// The section that its final message lacks.
    pub section: Option<Section>,
}

/// Something that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where it stands.
    pub place: Place,
    /// Its words.
    pub text: String,
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Plan {
        /// Its file, where it has one.
        path: Option<String>,
        line: usize,
        step: usize,
    },
    /// In a file that the config names.
    File { path: String, line: usize },
    /// On the session's own task list.
    Tasks {
        /// How it stands there.
        status: String,
    },
}

/// A section that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    pub heading: String,
    /// Whether the heading is there, and nothing under it.
    pub is_empty: bool,
}

impl OpenClaims {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.section.is_none()
    }
}

/// States of a task that nobody has to do any more, as the client writes them.
const OVER: &[&str] = &["completed", "done", "cancelled", "canceled", "deleted"];

/// What is open: boxes of the plan and of the named lists, and tasks of the session's own list. Whether any of it is claimed
/// as done is for a reader to say.
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
        // A task that stands in a list as well is one thing to do.
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

/// The wanted section, where the message does not have it.
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
