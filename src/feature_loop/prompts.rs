//! The texts that hand a feature to a session: the reason of a block, and the prompt of a fresh
//! session. Both are templates that a person may replace. Must not decide anything.

use std::path::Path;

use serde_json::{Value, json};

use crate::feature_loop::features::Feature;
use crate::feature_loop::progress::{Progress, Status};
use crate::feature_loop::state::{ListChanges, LoopState, Shown};
use crate::feature_loop::verify::TakenBack;
use crate::text::template::Template;
use crate::text::{first_part, last_part};

/// The reason of a block.
pub const BLOCK_PROMPT: &str = include_str!("../../prompts/loop-hold.md");
/// The prompt of a fresh session.
pub const SESSION_PROMPT: &str = include_str!("../../prompts/loop.md");

/// How many bytes of the notes a fresh session gets, from their end.
const MAX_NOTES: usize = 4_000;
/// How long a description or step may be, and how many steps are shown. The file has the rest.
const MAX_TEXT: usize = 2_000;
const MAX_STEPS: usize = 40;

/// Returns the person's own template, or the built-in one and why their own can't be used.
pub fn load_template(folder: Option<&Path>, name: &str, built_in: &'static str) -> (String, Option<String>) {
    let Some(folder) = folder else { return (built_in.into(), None) };
    let path = folder.join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => match Template::parse(&text) {
            Ok(_) => (text, None),
            Err(error) => (built_in.into(), Some(format!("the template {name} can't be filled in: {error}"))),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (built_in.into(), None),
        Err(error) => (built_in.into(), Some(format!("{}: {error}", path.display()))),
    }
}

/// What a template is filled with.
#[derive(Debug)]
pub struct PromptValues<'a> {
    /// The loop, in the iteration that starts now.
    pub state: &'a LoopState,
    pub features: &'a [Feature],
    /// The next feature's index; `None` where only removed features are left, or the whole list's
    /// command fails.
    pub at: Option<usize>,
    pub changes: &'a ListChanges,
    pub progress: &'a Progress,
    /// The progress file's text.
    pub notes: &'a str,
    /// Marks that did not hold.
    pub taken_back: &'a [TakenBack],
    pub shown: &'a Shown,
}

impl PromptValues<'_> {
    fn values(&self) -> Value {
        let feature = self.at.and_then(|at| self.features.get(at)).map(|feature| {
            let steps: Vec<_> =
                feature.steps.iter().take(MAX_STEPS).map(|step| first_part(step, MAX_TEXT)).collect();
            json!({
                "name": feature.display_name(),
                "has_id": feature.id.is_some(),
                "description": first_part(&feature.description, MAX_TEXT),
                "steps": steps,
                "more_steps": feature.steps.len().saturating_sub(MAX_STEPS),
            })
        });
        let open = self.features.iter().filter(|feature| !feature.passes).count();
        let taken_back: Vec<Value> =
            self.taken_back.iter().map(|one| json!({ "name": one.name, "why": one.why })).collect();
        let list_fails = match self.shown {
            Shown::ListFails(how) => Some(how),
            Shown::Complete | Shown::NotRun(_) => None,
        };
        json!({
            "list_fails": list_fails,
            "iteration": self.state.iteration,
            "max": self.state.max,
            "passing": self.features.len() - open - self.state.unproven(self.features).len(),
            "total": self.features.len() + self.changes.gone.len(),
            "open": open,
            "feature": feature,
            "features_file": self.state.features,
            "progress_file": self.state.progress,
            "said_complete": self.progress.status == Some(Status::Complete),
            "gone": self.changes.gone.join(", "),
            "rewritten": self.changes.rewritten.join(", "),
            "taken_back": taken_back,
            "still": self.state.stalled_rounds,
            "notes": last_part(self.notes.trim(), MAX_NOTES),
        })
    }

    /// Fills a template, or the built-in one where that fails.
    pub fn fill(&self, template: &str, built_in: &str) -> String {
        let values = self.values();
        let filled = |text: &str| Template::parse(text).and_then(|template| template.fill(&values));
        filled(template).or_else(|_| filled(built_in)).unwrap_or_default().trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::progress;
    use crate::testing::features;

    fn fill(
        list: &str,
        at: Option<usize>,
        changes: &ListChanges,
        notes: &str,
        built_in: &'static str,
    ) -> String {
        let features = features(list);
        let state = LoopState {
            iteration: 3,
            max: 50,
            features: "feature_list.json".into(),
            progress: "progress.txt".into(),
            passing: features.iter().filter(|one| one.passes).map(|one| one.key.clone()).collect(),
            ..LoopState::default()
        };
        let progress = progress::parse(notes);
        let taken_back =
            [TakenBack { name: "F2".into(), why: "`npm test` ended with exit code 1\n   | no cart".into() }];
        let taken_back = if changes.gone.is_empty() { &[][..] } else { &taken_back };
        let (state, features, progress) = (&state, &features[..], &progress);
        let shown = &Shown::Complete;
        PromptValues { state, features, at, changes, progress, notes, taken_back, shown }
            .fill(built_in, built_in)
    }

    const LIST: &str = r#"[{"id":"F1","passes":true},
        {"id":"F2","description":"A cart","steps":["Add a thing","Pay {{ now }}"]},{"description":"Later"}]"#;

    #[test]
    fn a_held_session_is_told_the_next_feature_and_what_to_update() {
        insta::assert_snapshot!(
            "hold",
            fill(LIST, Some(1), &ListChanges::default(), "status: IN_PROGRESS", BLOCK_PROMPT)
        );
        let changes = ListChanges { gone: vec!["F9".into()], rewritten: vec!["F2".into(), "F1".into()] };
        insta::assert_snapshot!(
            "hold_gone",
            fill(r#"[{"id":"F1","passes":true}]"#, None, &changes, "status: COMPLETE", BLOCK_PROMPT)
        );
    }

    #[test]
    fn a_fresh_session_is_told_how_things_stand() {
        let notes = "iteration: 2\nstatus: IN_PROGRESS\n\nThe cart is half done.\n";
        insta::assert_snapshot!(
            "session",
            fill(LIST, Some(1), &ListChanges::default(), notes, SESSION_PROMPT)
        );
    }

    #[test]
    fn a_template_of_ones_own_is_taken_and_a_broken_one_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let take = || load_template(Some(folder.path()), "loop.md", SESSION_PROMPT);
        assert_eq!(take(), (SESSION_PROMPT.to_owned(), None));
        std::fs::write(folder.path().join("loop.md"), "Do {{ feature.name }}.").expect("written");
        assert_eq!(take().0, "Do {{ feature.name }}.");
        std::fs::write(folder.path().join("loop.md"), "{% for x in %}").expect("written");
        let (text, fault) = take();
        assert_eq!(text, SESSION_PROMPT);
        assert!(fault.expect("a fault").starts_with("the template loop.md can't be filled in: syntax error"));
    }
}
