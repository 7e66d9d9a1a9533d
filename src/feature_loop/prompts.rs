//! What is said to whoever works: takes a loop and its next feature, gives the words of a hold and the prompt of a fresh
//! session, both from templates. Pure, but for the person's own templates.

use std::path::Path;

use serde_json::{Value, json};

use crate::feature_loop::features::Feature;
use crate::feature_loop::progress::{Progress, Status};
use crate::feature_loop::state::{Changes, Loop};
use crate::text::template::Template;
use crate::text::{first_part, last_part};

/// What a held session is told.
pub const HOLD: &str = include_str!("../../prompts/loop-hold.md");
/// What a fresh session is told.
pub const SESSION: &str = include_str!("../../prompts/loop.md");

/// How much of the notes a fresh session gets, from their end.
const NOTES: usize = 4_000;
/// How long a description or a step may be, and how many steps are told: the file has the rest.
const LONGEST: usize = 2_000;
const STEPS: usize = 40;

/// One of the two texts: the person's own where there is one, with what is wrong with it where it can't be used.
pub fn template(folder: Option<&Path>, name: &str, built_in: &'static str) -> (String, Option<String>) {
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

/// What there is to say.
#[derive(Debug)]
pub struct Told<'a> {
    /// The loop, with the iteration that begins now.
    pub memory: &'a Loop,
    /// The list.
    pub features: &'a [Feature],
    /// The next one, by its place; `None` where only what was removed is left.
    pub at: Option<usize>,
    /// What is not as it was.
    pub changes: &'a Changes,
    /// What the progress file says.
    pub progress: &'a Progress,
    /// Its text.
    pub notes: &'a str,
}

impl Told<'_> {
    fn values(&self) -> Value {
        let feature = self.at.and_then(|at| self.features.get(at)).map(|feature| {
            let steps: Vec<_> =
                feature.steps.iter().take(STEPS).map(|step| first_part(step, LONGEST)).collect();
            json!({
                "name": feature.called(),
                "has_id": feature.id.is_some(),
                "description": first_part(&feature.description, LONGEST),
                "steps": steps,
                "more_steps": feature.steps.len().saturating_sub(STEPS),
            })
        });
        let open = self.features.iter().filter(|feature| !feature.passes).count();
        json!({
            "iteration": self.memory.iteration,
            "max": self.memory.max,
            "passing": self.features.len() - open,
            "total": self.features.len() + self.changes.gone.len(),
            "open": open,
            "feature": feature,
            "features_file": self.memory.features,
            "progress_file": self.memory.progress,
            "said_complete": self.progress.status == Some(Status::Complete),
            "gone": self.changes.gone.join(", "),
            "rewritten": self.changes.rewritten.join(", "),
            "still": self.memory.still,
            "notes": last_part(self.notes.trim(), NOTES),
        })
    }

    /// Fills in a template; one that can't be read gives way to the built-in one.
    pub fn fill(&self, template: &str, built_in: &str) -> String {
        let values = self.values();
        let filled = |text: &str| Template::parse(text).and_then(|template| template.fill(&values));
        filled(template).or_else(|_| filled(built_in)).unwrap_or_default().trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature_loop::features::read;
    use crate::feature_loop::progress;

    fn told(list: &str, at: Option<usize>, changes: &Changes, notes: &str, built_in: &'static str) -> String {
        let features = read(list).expect("features");
        let memory = Loop {
            iteration: 3,
            max: 50,
            features: "feature_list.json".into(),
            progress: "progress.txt".into(),
            ..Loop::default()
        };
        let progress = progress::read(notes);
        Told { memory: &memory, features: &features, at, changes, progress: &progress, notes }
            .fill(built_in, built_in)
    }

    const LIST: &str = r#"[{"id":"F1","passes":true},
        {"id":"F2","description":"A cart","steps":["Add a thing","Pay {{ now }}"]},{"description":"Later"}]"#;

    #[test]
    fn a_held_session_is_told_the_next_feature_and_what_to_update() {
        insta::assert_snapshot!(
            "hold",
            told(LIST, Some(1), &Changes::default(), "status: IN_PROGRESS", HOLD)
        );
        let changes = Changes { gone: vec!["F9".into()], rewritten: vec!["F2".into(), "F1".into()] };
        insta::assert_snapshot!(
            "hold_gone",
            told(r#"[{"id":"F1","passes":true}]"#, None, &changes, "status: COMPLETE", HOLD)
        );
    }

    #[test]
    fn a_fresh_session_is_told_how_things_stand() {
        let notes = "iteration: 2\nstatus: IN_PROGRESS\n\nThe cart is half done.\n";
        insta::assert_snapshot!("session", told(LIST, Some(1), &Changes::default(), notes, SESSION));
    }

    #[test]
    fn a_template_of_ones_own_is_taken_and_a_broken_one_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let take = || template(Some(folder.path()), "loop.md", SESSION);
        assert_eq!(take(), (SESSION.to_owned(), None));
        std::fs::write(folder.path().join("loop.md"), "Do {{ feature.name }}.").expect("written");
        assert_eq!(take().0, "Do {{ feature.name }}.");
        std::fs::write(folder.path().join("loop.md"), "{% for x in %}").expect("written");
        let (text, fault) = take();
        assert_eq!(text, SESSION);
        assert!(fault.expect("a fault").starts_with("the template loop.md can't be filled in: syntax error"));
    }
}
