//! The paths that plan, asks, tasks and final message name, each with who names it. Pure. Must not
//! judge whether a path should exist: the disk and the readers do that.

use super::NamedIn;
use crate::plan::Plan;
use crate::plan::mentions::paths_named;
use crate::session::Session;

/// A text that names more paths than this is a listing; the rest of it is left out.
const MAX_IN_ONE_TEXT: usize = 60;

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
    let paths = paths_named(text).into_iter().take(MAX_IN_ONE_TEXT);
    named.extend(paths.map(|found| NamedPath { path: found.path, by, is_marked: found.marked }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ask, plan, plan_from, said, todo};

    fn named(session: &Session, plan: Option<&Plan>) -> Vec<(String, NamedIn, bool)> {
        named_paths(session, plan).into_iter().map(|named| (named.path, named.by, named.is_marked)).collect()
    }

    #[test]
    fn each_path_is_named_by_whoever_names_it_the_plan_first() {
        let mut session = said("`a.rs` is done.");
        session.todos.push(todo("Mend `a.rs`", "completed"));
        session.asks.push(ask("Make src/b.rs", 1));
        let plan = plan("- [x] Create `a.rs`\n- [ ] Rest\n- [ ] Mend `a.rs`\n");
        assert_eq!(
            named(&session, Some(&plan)),
            [
                ("a.rs".into(), NamedIn::Step(1), true),
                ("a.rs".into(), NamedIn::Step(3), true),
                ("a.rs".into(), NamedIn::Message, true),
                ("a.rs".into(), NamedIn::Task, true),
                ("src/b.rs".into(), NamedIn::Ask, true),
            ]
        );
    }

    #[test]
    fn a_step_that_was_taken_out_still_names_its_files() {
        let plan = plan_from("- [ ] Create `a.rs`\n- [ ] Create `b.rs`\n", "- [x] Create `a.rs`\n");
        let paths: Vec<_> =
            named(&said("Done."), Some(&plan)).into_iter().map(|(path, by, _)| (path, by)).collect();
        assert_eq!(paths, [("a.rs".into(), NamedIn::Step(1)), ("b.rs".into(), NamedIn::Step(2))]);
    }

    #[test]
    fn a_listing_is_bounded() {
        let listing: String = (0..200).map(|number| format!("src/f{number}.rs\n")).collect();
        assert_eq!(named(&said(&listing), None).len(), MAX_IN_ONE_TEXT);
    }
}
