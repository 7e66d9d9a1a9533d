//! Which paths plan, asks, tasks and final message name: takes a session and its plan, returns each path with who names it.
//! Pure. Must not judge whether a path should exist: the disk and the readers do that.

use super::NamedIn;
use crate::plan::Plan;
use crate::plan::mentions::paths_named;
use crate::session::Session;

/// A text that names more paths than this is a listing; the rest of it is left out.
const MOST_IN_ONE_TEXT: usize = 60;

/// A path that somebody names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath {
    /// As it is written.
    pub path: String,
    /// Who names it.
    pub by: NamedIn,
    /// Whether it is written as a path: in backticks, as a link, or with a folder and an ending. What is not may be no
    /// path at all.
    pub is_marked: bool,
}

/// Returns the paths that are named, the plan's first.
pub fn named_paths(session: &Session, plan: Option<&Plan>) -> Vec<NamedPath> {
    let mut named = Vec::new();
    let steps = plan.iter().flat_map(|plan| plan.promised());
    for step in steps {
        add(&mut named, &step.text, NamedIn::Step(step.number));
        for path in &step.paths {
            if !named
                .iter()
                .any(|known: &NamedPath| known.path == *path && known.by == NamedIn::Step(step.number))
            {
                named.push(NamedPath { path: path.clone(), by: NamedIn::Step(step.number), is_marked: true });
            }
        }
    }
    add(&mut named, session.final_message.as_deref().unwrap_or_default(), NamedIn::Message);
    for todo in &session.todos {
        add(&mut named, &todo.text, NamedIn::Task);
    }
    for ask in &session.asks {
        add(&mut named, &ask.text, NamedIn::Ask);
    }
    named
}

fn add(named: &mut Vec<NamedPath>, text: &str, by: NamedIn) {
    let paths = paths_named(text).into_iter().take(MOST_IN_ONE_TEXT);
    named.extend(paths.map(|found| NamedPath { path: found.path, by, is_marked: found.marked }));
}
