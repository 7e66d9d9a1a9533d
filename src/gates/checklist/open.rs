//! Which open items hold: takes the session with its final message, the plan and the named lists, gives what is open although it is
//! claimed as done, and the section that is missing. Pure. Must not count what is optional, dropped, called off by the person,
//! or what the message itself says is left: none of that is claimed.

use crate::claims;
use crate::config::ChecklistConfig;
use crate::facts::alike::{Bag, same_work};
use crate::facts::left::speaks_of;
use crate::facts::ordinary::is_optional;
use crate::facts::parts::AskedFor;
use crate::plan::{Mark, Plan, Step, StepKind};
use crate::session::{Session, Todo};
use crate::verify::says_it_is_over;
use crate::words::{has_any_words, has_words, normalised, padded};

/// A file with boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checklist {
    /// Its name.
    pub name: String,
    /// What stands in it.
    pub steps: Vec<Step>,
}

/// What a session has not settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsettled {
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
    /// In the plan.
    Plan {
        /// Its file, where it has one.
        path: Option<String>,
        /// On which line.
        line: usize,
        /// Which step it is.
        step: usize,
    },
    /// In a file that the config names.
    File {
        /// Its name.
        path: String,
        /// On which line.
        line: usize,
    },
    /// On the session's own task list.
    Tasks {
        /// How it stands there.
        status: String,
    },
}

/// A section that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its heading.
    pub heading: String,
    /// Whether the heading is there, and nothing under it.
    pub is_empty: bool,
}

impl Unsettled {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.section.is_none()
    }
}

/// Words of a heading under which stands what is not for now.
const NOT_NOW: &[&str] = &[
    "backlog", "future", "icebox", "ideas", "later", "non goals", "open questions", "optional",
    "out of scope", "someday", "stretch",
];

/// States of a task that nobody has to do any more.
const OVER: &[&str] = &["completed", "done", "cancelled", "canceled", "deleted"];

/// What is not settled.
pub(super) fn unsettled(
    config: &ChecklistConfig,
    session: &Session,
    plan: Option<&Plan>,
    lists: &[Checklist],
) -> Unsettled {
    let message = session.final_message.as_deref().unwrap_or_default();
    let said = Said::of(message, session);
    // Who asks how to go on has not come to the end.
    let asks_back = message.trim_end().ends_with('?');
    let is_over = !asks_back && says_it_is_over(session, plan, false);
    let mut items = Vec::new();
    if let Some(plan) = plan.filter(|_| config.plan) {
        let asked = if is_over { AskedFor::of(session) } else { AskedFor::default() };
        let is_all_over = is_over && says_it_is_over(session, Some(plan), true);
        let open = open_boxes(&plan.steps).filter(|step| {
            let is_over = if asked.leaves_out(step) { is_all_over } else { is_over };
            said.is_claimed(step, is_over)
        });
        items.extend(open.map(|step| Item {
            place: Place::Plan { path: plan.path.clone(), line: step.line, step: step.number },
            text: step.text.clone(),
        }));
    }
    for list in lists {
        let open = open_boxes(&list.steps).filter(|step| said.is_claimed(step, is_over));
        items.extend(open.map(|step| Item {
            place: Place::File { path: list.name.clone(), line: step.line },
            text: step.text.clone(),
        }));
    }
    if config.todos && is_over {
        let boxes: Vec<Bag> = items.iter().map(|item| Bag::of(&item.text)).collect();
        let open = session.todos.iter().filter(|todo| is_open(todo)).filter(|todo| {
            let words = Bag::of(&todo.text);
            // A task that stands in a list as well is one thing to do.
            !said.is_taken_back(&words) && !boxes.iter().any(|known| same_work(known, &words))
        });
        items.extend(
            open.map(|todo| Item {
                place: Place::Tasks { status: todo.status.clone() },
                text: todo.text.clone(),
            })
            .collect::<Vec<_>>(),
        );
    }
    let wants_section = !config.require_section.is_empty() && is_over && session.work_done() > 0;
    let section = wants_section.then(|| missing_section(message, &config.require_section)).flatten();
    Unsettled { items, section }
}

fn open_boxes(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|step| {
        let section = padded(&normalised(step.section.as_deref().unwrap_or_default()));
        step.kind == StepKind::Checkbox
            && step.mark == Mark::Open
            && !is_optional(step)
            && !has_any_words(&section, NOT_NOW)
    })
}

fn is_open(todo: &Todo) -> bool {
    !OVER.contains(&todo.status.as_str())
}

/// What the final message and the person say of single items.
struct Said {
    /// Sentences that claim something, in words to compare.
    claims: Vec<(Bag, String)>,
    /// Sentences in which something is left or called off.
    taken_back: Vec<Bag>,
}

impl Said {
    fn of(message: &str, session: &Session) -> Self {
        let called_off = session.asks.iter().flat_map(|ask| claims::cancellations(&ask.text));
        Self {
            claims: claims::sentences(message)
                .into_iter()
                .map(|sentence| (Bag::of(sentence), padded(&normalised(sentence))))
                .collect(),
            taken_back: claims::admissions(message).into_iter().chain(called_off).map(Bag::of).collect(),
        }
    }

    fn is_taken_back(&self, words: &Bag) -> bool {
        self.taken_back.iter().any(|sentence| {
            speaks_of(sentence, words)
                || words.len() == 1 && words.within(sentence) >= 1.0
                || words.shares_a_name(sentence)
        })
    }

    /// Whether an item is claimed as done: with all else, by its number, or by all of its words in one sentence.
    fn is_claimed(&self, step: &Step, is_over: bool) -> bool {
        let words = Bag::of(&step.text);
        let number = format!("step {}", step.number);
        let is_said = || {
            self.claims.iter().any(|(sentence, padded)| {
                has_words(padded, &number) || words.len() >= 2 && words.within(sentence) >= 1.0
            })
        };
        !self.is_taken_back(&words) && (is_over || is_said())
    }
}

/// The wanted section, where the message does not have it.
fn missing_section(message: &str, heading: &str) -> Option<Section> {
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
