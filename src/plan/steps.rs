//! The steps of a Markdown plan, in order, each with its line, its own text, its mark and the paths
//! that it names. Must not judge whether a step is done, or leave out steps that a consumer may
//! want: lists of findings and of steps look the same, so `kind` lets the consumer choose.
//!
//! Steps are list items, numbered headings (`Step 3`, `## 2. …`, `### [x] …`), headings in a row
//! with others that name files, bold lines used as such headings, and table rows with a status or a
//! number. The steps of a text without any of them are its paragraphs. Nothing in code, comments or
//! quotes is a step.

mod headings;
mod marks;
mod reader;
mod tables;

use serde::{Deserialize, Serialize};

use super::mentions::{Named, paths_named};
use reader::Draft;

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its position in the plan, from 1.
    pub number: usize,
    /// The line that it begins on, from 1.
    pub line: usize,
    /// Its own text on one line, as written, without list marker and checkbox. Does not include
    /// nested items and further paragraphs.
    pub text: String,
    /// Done, open, abandoned, or not marked at all.
    pub mark: Mark,
    /// How it is written in the text.
    pub kind: StepKind,
    /// Files that it names, in its text, in further paragraphs of its item, or on a `File:` line
    /// below its heading.
    pub paths: Vec<String>,
    /// Those that its own text names.
    #[serde(skip)]
    pub own_paths: Vec<Named>,
}

/// What the plan says about a step's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Nothing.
    None,
    /// Explicitly not done: `[ ]`, `☐`, `❌`, `⏳`.
    Open,
    /// Explicitly done: `[x]`, `✅`, `☑`.
    Ticked,
    /// Struck through, `[-]`, `[~]`, `[>]`; or part of something that is.
    Abandoned,
}

/// How a step is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// An item with a box.
    Checkbox,
    /// An item with a number.
    Numbered,
    /// An item with a dash or a dot.
    Bullet,
    /// A heading such as "Step 3".
    Heading,
    /// A row of a table, without a box.
    Row,
    /// A paragraph of a text that has no other steps.
    Paragraph,
}

/// Returns the steps of a plan.
pub fn parse_steps(markdown: &str) -> Vec<Step> {
    let mut drafts = reader::drafts(markdown);
    drafts.sort_by_key(|draft| draft.words.start);

    let line_ends: Vec<usize> = markdown.match_indices('\n').map(|(at, _)| at).collect();
    let mut abandoned_until = 0;
    let mut steps = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let Some(mut step) = step(markdown, &draft) else {
            continue;
        };
        step.number = steps.len() + 1;
        step.line = line_ends.partition_point(|end| *end < draft.words.start) + 1;
        // A part of something abandoned is abandoned too, unless it is marked as done.
        if step.mark == Mark::Abandoned {
            abandoned_until = abandoned_until.max(draft.scope.end);
        } else if draft.words.start < abandoned_until && step.mark != Mark::Ticked {
            step.mark = Mark::Abandoned;
        }
        steps.push(step);
    }
    steps
}

/// Returns `None` if nothing is left beside the marker. The caller fills in number and line.
fn step(markdown: &str, draft: &Draft) -> Option<Step> {
    let words = one_line(&markdown[draft.words.clone()]);
    let marked = match draft.kind {
        StepKind::Heading => marks::of_heading(&words),
        _ => match draft.row {
            Some((mark, boxed)) => marks::Marked { mark, boxed, text: &words },
            None => marks::of_item(&words),
        },
    };
    if marked.text.is_empty() {
        return None;
    }
    let own_paths = paths_named(marked.text);
    let paths = |named: &[Named]| named.iter().map(|named| named.path.clone()).collect();
    let more = || draft.more.iter().map(|range| &markdown[range.clone()]);
    Some(Step {
        number: 0,
        line: 0,
        text: marked.text.to_owned(),
        mark: marked.mark,
        kind: match draft.kind {
            StepKind::Numbered | StepKind::Bullet if marked.boxed => StepKind::Checkbox,
            kind => kind,
        },
        paths: match draft.more.as_slice() {
            [] => paths(&own_paths),
            _ => paths(&paths_named(
                &std::iter::once(marked.text).chain(more()).collect::<Vec<_>>().join("\n"),
            )),
        },
        own_paths,
    })
}

fn one_line(source: &str) -> String {
    let mut line = String::with_capacity(source.len());
    for part in source.lines().map(str::trim).filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line
}
