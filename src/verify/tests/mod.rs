//! Every rule of the verifier, with the reason it gives; a file for each family of rules. Here is what they
//! share: evidence in the making, and proposals.

mod abandoned;
mod asks;
mod claimed;
mod commands;
mod content;
mod files;
mod lies;
mod merge;
mod tasks;
mod unplanned;

use super::*;
use crate::evidence::{Entered, FileEvidence, LeftOut, TouchNote};
use crate::finding::{Category, Problem};
use crate::plan::{Plan, PlanSource, steps::parse_steps};
use crate::session::{Ask, Command, CommandEnd, EditTool, Original, Outcome, Session, Todo, Touch};

/// Evidence in the making.
struct Case {
    evidence: Evidence,
    disk: Vec<(&'static str, &'static str)>,
}

fn plan(text: &str) -> Case {
    let plan = Plan {
        source: PlanSource::TouchedFile,
        path: Some("/w/PLAN.md".into()),
        text: text.into(),
        steps: parse_steps(text),
        dropped: Vec::new(),
        ticked_before: Vec::new(),
    };
    let files = plan
        .steps
        .iter()
        .flat_map(|step| step.paths.iter().map(|path| (step.number, path.clone())))
        .map(|(step, name)| FileEvidence {
            name,
            touches: Vec::new(),
            steps: vec![step],
            state: FileState::Missing { elsewhere: None },
            entered: Entered::LeftOut(LeftOut::Missing),
            text: String::new(),
            masked: 0,
            digest: String::new(),
            signs: crate::evidence::Signs::default(),
        })
        .collect();
    Case {
        evidence: Evidence {
            plan: Some(plan),
            session: Session::default(),
            files,
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            repository: None,
        },
        disk: Vec::new(),
    }
}

fn no_plan() -> Case {
    Case {
        evidence: Evidence {
            plan: None,
            session: Session::default(),
            files: Vec::new(),
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            repository: None,
        },
        disk: Vec::new(),
    }
}

impl Case {
    fn says(mut self, message: &str) -> Self {
        self.evidence.session.final_message = Some(message.into());
        self
    }

    fn on_disk(mut self, name: &'static str, content: &'static str) -> Self {
        self.disk.push((name, content));
        let state = FileState::File { bytes: content.len() as u64 };
        match self.evidence.files.iter_mut().find(|file| file.name == name) {
            Some(file) => (file.state, file.text) = (state, content.into()),
            None => self.evidence.files.push(FileEvidence {
                name: name.into(),
                touches: Vec::new(),
                steps: Vec::new(),
                state,
                entered: Entered::Whole,
                text: content.into(),
                masked: 0,
                digest: String::new(),
                signs: crate::evidence::Signs::default(),
            }),
        }
        self
    }

    fn touched(mut self, name: &'static str, at: usize) -> Self {
        let note = TouchNote { tool: "Write".into(), outcome: Outcome::Done, agent: None };
        if let Some(file) = self.evidence.files.iter_mut().find(|file| file.name == name) {
            file.touches.push(note);
        }
        let (tool, outcome, original) = (EditTool::Write, Outcome::Done, Original::Absent);
        self.evidence.session.touches.push(Touch {
            path: name.into(),
            tool,
            at,
            outcome,
            original,
            agent: None,
            change_at: None,
            change: None,
        });
        self
    }

    fn ran(mut self, line: &str, end: CommandEnd) -> Self {
        self.evidence.session.commands.push(Command {
            line: line.into(),
            at: 1,
            end,
            output: String::new(),
            agent: None,
        });
        self
    }

    fn asked(mut self, text: &str, at: usize) -> Self {
        self.evidence.session.asks.push(Ask { text: text.into(), at });
        self
    }

    fn todo(mut self, text: &str) -> Self {
        self.evidence.session.todos.push(Todo { id: None, text: text.into(), status: "completed".into() });
        self
    }

    fn ticked_before(mut self, number: usize) -> Self {
        if let Some(plan) = &mut self.evidence.plan {
            plan.ticked_before.push(number);
        }
        self
    }

    /// What the disk would show: as the look at a real one does it.
    fn look(&self, proposal: &Proposal) -> Option<Look> {
        let name = path_of(proposal, &self.evidence)?;
        if name.starts_with('/') || name.starts_with("..") {
            return Some(Look::new(name, FileState::Outside));
        }
        let Some((_, content)) = self.disk.iter().find(|(file, _)| *file == name) else {
            return Some(Look::new(name, FileState::Missing { elsewhere: None }));
        };
        let needle = forms::needle_of(&proposal.needle);
        let holds_needle = (!needle.is_empty()).then(|| content.contains(needle));
        let others = self.evidence.files.iter().filter(|file| file.was_changed() && file.name != name);
        let elsewhere =
            others.filter(|file| forms::holds_it_elsewhere(&file.text, needle)).map(|f| f.name.clone());
        let here = forms::holds_another_form(content, needle).then(|| name.to_owned());
        let other_form = here.into_iter().chain(elsewhere).next().filter(|_| holds_needle == Some(false));
        let state = FileState::File { bytes: content.len() as u64 };
        Some(Look { holds_needle, other_form, ..Look::new(name, state) })
    }

    fn judge(&self, proposal: &Proposal) -> (Status, String) {
        let look = self.look(proposal);
        let verdict = Verdict { findings: vec![proposal.clone()] };
        let found = verify(&verdict, &[look], &self.evidence, Vec::new()).remove(0);
        (found.status, found.verifier)
    }

    #[track_caller]
    fn confirms(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::Confirmed, reason.to_owned()));
    }

    #[track_caller]
    fn doubts(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::CannotVerify, reason.to_owned()));
    }

    #[track_caller]
    fn refutes(&self, proposal: &Proposal, reason: &str) {
        assert_eq!(self.judge(proposal), (Status::Refuted, reason.to_owned()));
    }
}

fn proposal(category: Category, problem: Problem, quote: &str, path: &str, needle: &str) -> Proposal {
    Proposal {
        category,
        problem,
        quote: quote.into(),
        path: path.into(),
        needle: needle.into(),
        why: "because".into(),
        settle: "do it".into(),
    }
}

fn missing(quote: &str, path: &str) -> Proposal {
    proposal(Category::A, Problem::MissingFile, quote, path, "")
}

const TWO: &str = "- [x] Create `alpha.txt`\n- [x] Create `beta.txt`\n";
const NO_FILE: &str = "no such file on disk; nothing in the session removed or moved it";

fn lacks(quote: &str, path: &str, needle: &str) -> Proposal {
    proposal(Category::A, Problem::MissingContent, quote, path, needle)
}
