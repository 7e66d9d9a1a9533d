//! An auditor that lies: takes the evidence of a session, gives findings that sound right and are not, the same
//! ones every time. Pure. It measures the verifier, so its lies are made of real steps, real files and real
//! commands: the kind of thing that a small model says in earnest.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Proposal;
use crate::claims;
use crate::evidence::{Entered, Evidence, FileEvidence, FileState};
use crate::finding::{Category, Problem};
use crate::plan::{Mark, Step};
use crate::session::CommandEnd;
use crate::words::base_name;

/// How many lies of one kind are told: more of the same show nothing new.
const OF_A_KIND: usize = 2;

/// Endings and names of files that go along with any work.
const COMPANIONS: &[&str] = &[
    ".lock", "-lock.json", ".sum", ".snap", ".gitignore", "CHANGELOG.md", "Cargo.toml", "__init__.py",
    "index.ts", "mod.rs", "package.json", "pyproject.toml", "go.mod", "lib.rs",
];

/// A lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invention {
    /// Which kind of lie it is.
    pub kind: &'static str,
    /// What is said.
    pub proposal: Proposal,
}

/// Everything that can be made up from this evidence.
pub fn inventions(evidence: &Evidence) -> Vec<Invention> {
    let liar = Liar { evidence };
    let kinds: [(&'static str, Vec<Proposal>); 14] = [
        ("a file beside a real one", liar.files_beside()),
        ("an invented quote", liar.invented_quotes()),
        ("a file that is there, called missing", liar.present_called_missing()),
        ("content that is there, called missing", liar.content_that_is_there()),
        ("content that nobody promised", liar.content_nobody_promised()),
        ("a file shown in part, called empty", liar.cut_called_empty()),
        ("a command that passed, called failed", liar.passed_called_failed()),
        ("a file that was changed, called untouched", liar.changed_called_untouched()),
        ("a companion, called unplanned", liar.companions_called_unplanned()),
        ("a planned file, called unplanned", liar.planned_called_unplanned()),
        ("an open step, called abandoned", liar.open_called_abandoned()),
        ("a step that was worked on, called abandoned", liar.done_called_abandoned()),
        ("a task like a step, called unplanned", liar.tasks_called_unplanned()),
        ("an ask that was met, called undone", liar.asks_called_undone()),
    ];
    let mut told = BTreeSet::new();
    let mut inventions = Vec::new();
    for (kind, proposals) in kinds {
        let new =
            proposals.into_iter().filter(|one| told.insert(serde_json::to_string(one).unwrap_or_default()));
        inventions.extend(new.take(OF_A_KIND).map(|proposal| Invention { kind, proposal }));
    }
    inventions
}

struct Liar<'a> {
    evidence: &'a Evidence,
}

fn lie(category: Category, problem: Problem, quote: &str, path: &str, needle: &str, why: String) -> Proposal {
    Proposal {
        category,
        problem,
        quote: quote.to_owned(),
        path: path.to_owned(),
        needle: needle.to_owned(),
        why,
        settle: "Do it, or take the claim back.".to_owned(),
    }
}

impl<'a> Liar<'a> {
    fn steps(&self) -> impl Iterator<Item = &'a Step> {
        self.evidence.plan.iter().flat_map(crate::plan::Plan::promised)
    }

    /// Files that are there.
    fn present(&self) -> impl Iterator<Item = &'a FileEvidence> {
        self.evidence.files.iter().filter(|file| matches!(file.state, FileState::File { .. }))
    }

    /// The words that name a file: a step's, a sentence of the final message, or the last resort.
    fn words_for(&self, file: &FileEvidence) -> Option<String> {
        let step = self.steps().find(|step| file.steps.contains(&step.number)).map(|step| step.text.clone());
        step.or_else(|| {
            let claims = claims::sentences(self.final_message());
            claims.into_iter().find(|claim| claim.contains(base_name(&file.name))).map(ToOwned::to_owned)
        })
    }

    fn final_message(&self) -> &'a str {
        self.evidence.session.final_message.as_deref().unwrap_or_default()
    }

    /// What the session claims, or else promises.
    fn any_words(&self) -> Option<String> {
        let claim = claims::sentences(self.final_message()).first().map(|claim| (*claim).to_owned());
        claim.or_else(|| self.steps().next().map(|step| step.text.clone()))
    }

    fn files_beside(&self) -> Vec<Proposal> {
        let lies = self.present().filter_map(|file| {
            let (stem, ending) = file.name.rsplit_once('.').unwrap_or((&file.name, "txt"));
            let beside = format!("{stem}_helpers.{ending}");
            let words = self.words_for(file)?;
            let why = format!("{beside} was promised and is not there.");
            Some(lie(Category::A, Problem::MissingFile, &words, &beside, "", why))
        });
        lies.collect()
    }

    fn invented_quotes(&self) -> Vec<Proposal> {
        let lies = self.present().flat_map(|file| {
            let name = base_name(&file.name);
            let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "txt"));
            let path = format!("tests/integration/{stem}.{ending}");
            let quote = format!("Cover {stem} with an integration test against a real server");
            let why = format!("There is no {path}.");
            let docs = format!("I also wrote a migration guide for {stem}");
            [
                lie(Category::A, Problem::MissingFile, &quote, &path, "", why),
                lie(Category::A, Problem::NoTrace, &docs, "", "", "Nothing of the kind was written.".into()),
            ]
        });
        lies.collect()
    }

    fn present_called_missing(&self) -> Vec<Proposal> {
        let lies = self.present().filter_map(|file| {
            let why = format!("There is no {}.", file.name);
            Some(lie(Category::A, Problem::MissingFile, &self.words_for(file)?, &file.name, "", why))
        });
        lies.collect()
    }

    fn content_that_is_there(&self) -> Vec<Proposal> {
        let lies = self.present().filter(|file| file.entered == Entered::Whole).filter_map(|file| {
            let needle = file.text.lines().map(str::trim).rfind(|line| line.len() > 8)?;
            let why = format!("{} lacks `{needle}`.", file.name);
            Some(lie(Category::A, Problem::MissingContent, &self.words_for(file)?, &file.name, needle, why))
        });
        lies.collect()
    }

    fn content_nobody_promised(&self) -> Vec<Proposal> {
        let lies = self.present().filter_map(|file| {
            let name = base_name(&file.name);
            let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or(name);
            let needle = format!("validate_{stem}_input");
            let why = format!("{} has no `{needle}`.", file.name);
            Some(lie(Category::A, Problem::MissingContent, &self.words_for(file)?, &file.name, &needle, why))
        });
        lies.collect()
    }

    fn cut_called_empty(&self) -> Vec<Proposal> {
        let in_part = |file: &&FileEvidence| matches!(file.entered, Entered::Cut(_) | Entered::LeftOut(_));
        let lies = self.present().filter(in_part).filter_map(|file| {
            let why = format!("{} is empty.", file.name);
            Some(lie(Category::A, Problem::MissingContent, &self.words_for(file)?, &file.name, "main", why))
        });
        lies.collect()
    }

    fn passed_called_failed(&self) -> Vec<Proposal> {
        let commands = &self.evidence.session.commands;
        let passed = commands.iter().rev().filter(|command| {
            let last = commands.iter().rev().find(|other| other.line == command.line);
            last.is_some_and(|last| last.end == CommandEnd::Succeeded)
        });
        let lies = passed.filter_map(|command| {
            let word = command.line.split_whitespace().next()?;
            let claims = claims::sentences(self.final_message());
            let claim = claims.into_iter().find(|claim| claim.contains(word)).map(ToOwned::to_owned);
            let words = claim.or_else(|| self.any_words())?;
            let why = format!("`{}` failed.", command.line.trim());
            Some(lie(Category::A, Problem::FailedCommand, &words, "", &command.line, why))
        });
        lies.collect()
    }

    fn changed_called_untouched(&self) -> Vec<Proposal> {
        let lies = self.present().filter(|file| file.was_changed()).filter_map(|file| {
            let why = format!("Nothing in the session touched {}.", file.name);
            Some(lie(Category::A, Problem::NoTrace, &self.words_for(file)?, &file.name, "", why))
        });
        lies.collect()
    }

    fn companions_called_unplanned(&self) -> Vec<Proposal> {
        let is_companion = |file: &&FileEvidence| COMPANIONS.iter().any(|end| file.name.ends_with(end));
        let lies = self.evidence.files.iter().filter(is_companion).map(|file| {
            let why = format!("No step speaks of {}.", file.name);
            lie(Category::B, Problem::NotInPlan, "", &file.name, "", why)
        });
        let never_touched = ["package-lock.json", "src/index.ts"].into_iter().map(|name| {
            lie(Category::B, Problem::NotInPlan, "", name, "", format!("No step speaks of {name}."))
        });
        lies.chain(never_touched).collect()
    }

    fn planned_called_unplanned(&self) -> Vec<Proposal> {
        let lies = self.evidence.files.iter().filter(|file| !file.steps.is_empty()).map(|file| {
            let why = format!("{} was changed beyond the plan.", file.name);
            lie(Category::B, Problem::NotInPlan, "", &file.name, "", why)
        });
        lies.collect()
    }

    fn open_called_abandoned(&self) -> Vec<Proposal> {
        let open = self.steps().filter(|step| matches!(step.mark, Mark::Open | Mark::None));
        let lies = open.map(|step| {
            let path = step.paths.first().map_or("", String::as_str);
            let why = "The session gave this step up and did not say so in the plan.".to_owned();
            lie(Category::C, Problem::NoTrace, &step.text, path, "", why)
        });
        lies.collect()
    }

    fn done_called_abandoned(&self) -> Vec<Proposal> {
        let worked_on = self.steps().filter(|step| {
            let of_step = |file: &&FileEvidence| file.steps.contains(&step.number);
            step.mark == Mark::Ticked
                || self.evidence.files.iter().filter(of_step).any(FileEvidence::was_changed)
        });
        let lies = worked_on.map(|step| {
            let why = "The step was replaced by something simpler.".to_owned();
            lie(Category::C, Problem::NoTrace, &step.text, "", "", why)
        });
        lies.collect()
    }

    fn tasks_called_unplanned(&self) -> Vec<Proposal> {
        let why = || "It is in no step of the plan.".to_owned();
        let on_list = self
            .evidence
            .session
            .todos
            .iter()
            .map(|todo| lie(Category::D, Problem::NotInPlan, &todo.text, "", "", why()));
        let paraphrased = self.steps().map(|step| {
            lie(Category::D, Problem::NotInPlan, &format!("Take care of: {}", step.text), "", "", why())
        });
        on_list.chain(paraphrased).collect()
    }

    fn asks_called_undone(&self) -> Vec<Proposal> {
        let lies = self.evidence.session.asks.iter().map(|ask| {
            let first = ask.text.lines().find(|line| !line.trim().is_empty()).unwrap_or(&ask.text);
            let changed = self.evidence.files.iter().filter(|file| file.was_changed());
            let named =
                changed.map(|file| file.name.as_str()).find(|name| ask.text.contains(base_name(name)));
            let why = "The person asked for it, and nothing was done.".to_owned();
            lie(Category::Ask, Problem::NoTrace, first.trim(), named.unwrap_or_default(), "", why)
        });
        lies.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Memory, Workspace, gather};
    use crate::session::{Ask, Command, EditTool, Original, Outcome, Session, Todo, Touch};

    fn evidence() -> Evidence {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let long = "a line of a long file\n".repeat(1_000);
        let touches = [("a.rs", "fn main() {}\n"), ("b.rs", &long), ("Cargo.lock", "# generated\n")];
        let touches = touches.map(|(name, text)| {
            std::fs::write(folder.path().join(name), text).expect("written");
            Touch {
                path: path(name),
                tool: EditTool::Write,
                at: 1,
                outcome: Outcome::Done,
                original: Original::Absent,
                agent: None,
                change_at: None,
                change: None,
            }
        });
        let text = "- [x] Create `a.rs` and `b.rs`\n- [ ] Document it\n";
        let plan = crate::plan::given(&Session::default(), &folder.path().join("PLAN.md"), text);
        let command = Command {
            line: "cargo test".into(),
            at: 2,
            end: CommandEnd::Succeeded,
            output: String::new(),
            agent: None,
        };
        let session = Session {
            asks: vec![Ask { text: "Carry out the plan, please.".into(), at: 1 }].into(),
            touches: touches.to_vec().into(),
            commands: vec![command].into(),
            todos: vec![Todo { id: None, text: "Create a.rs".into(), status: "completed".into() }],
            final_message: Some("Created a.rs. All tests pass.".into()),
            ..Session::default()
        };
        let workspace = Workspace::new(folder.path(), folder.path(), None, &[]);
        gather(session, Some(plan), &workspace, 20_000, &mut Memory::default())
    }

    #[test]
    fn every_kind_of_lie_is_told_and_the_same_ones_every_time() {
        let told = inventions(&evidence());
        let kinds: BTreeSet<_> = told.iter().map(|lie| lie.kind).collect();
        assert_eq!(kinds.len(), 14, "{kinds:?}");
        assert_eq!(told, inventions(&evidence()));
    }

    #[test]
    fn with_nothing_to_lie_about_there_is_little_to_say() {
        let folder = tempfile::tempdir().expect("a folder");
        let workspace = Workspace::new(folder.path(), folder.path(), None, &[]);
        let nothing = gather(Session::default(), None, &workspace, 20_000, &mut Memory::default());
        assert!(inventions(&nothing).iter().all(|lie| lie.kind == "a companion, called unplanned"));
    }
}
