//! A first reader that lies: makes plausible but false findings from a session's evidence, the same
//! ones every time. Pure. It measures the checks and the second reader, so its lies use real steps,
//! files and commands, like a small model's mistakes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::checked::{CheckOutcome, check_alone};
use crate::evidence::{Entered, Evidence, FileEvidence, FileState};
use crate::finding::{Category, ClaimedIn, Kind};
use crate::past_sessions::audit::Prepared;
use crate::paths::base_name;
use crate::plan::{Mark, Plan, Step};
use crate::readers::prompt::SharedPrompt;
use crate::readers::{Answer, Proposal};
use crate::session::CommandEnd;

/// How many lies of one kind are made: more of the same show nothing new.
const OF_A_KIND: usize = 2;

/// How many lies that pass the checks are used in one case: the second reader is asked about them.
const MAX_PASSING: usize = 6;
/// How many lies that the checks stop; together they fit in one answer.
const MAX_STOPPED: usize = 14;

/// A lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invention {
    pub kind: &'static str,
    pub proposal: Proposal,
}

/// Returns every lie that can be made from this evidence.
pub fn inventions(evidence: &Evidence) -> Vec<Invention> {
    let liar = Liar { evidence, steps: evidence.plan.iter().flat_map(Plan::promised).cloned().collect() };
    let kinds: [(&'static str, Vec<Proposal>); 12] = [
        ("a file beside a real one", liar.files_beside()),
        ("an invented claim", liar.invented_claims()),
        ("an invented proof", liar.invented_proofs()),
        ("a file that is there, called missing", liar.present_called_missing()),
        ("a file shown in part, called empty", liar.cut_called_empty()),
        ("a command that passed, called failed", liar.passed_called_failed()),
        ("a file that was changed, called untouched", liar.changed_called_untouched()),
        ("a planned file, called unplanned", liar.planned_called_unplanned()),
        ("an open step, called left out", liar.open_called_left_out()),
        ("a step that was worked on, called replaced", liar.done_called_replaced()),
        ("a task like a step, called unplanned", liar.tasks_called_unplanned()),
        ("an ask that was met, called undone", liar.asks_called_undone()),
    ];
    let mut seen = BTreeSet::new();
    let mut inventions = Vec::new();
    for (kind, proposals) in kinds {
        let new =
            proposals.into_iter().filter(|one| seen.insert(serde_json::to_string(one).unwrap_or_default()));
        inventions.extend(new.take(OF_A_KIND).map(|proposal| Invention { kind, proposal }));
    }
    inventions
}

/// Returns the lies for a case: some that the checks stop and a few that they let through, of as
/// many kinds as possible.
pub fn lies(prepared: &Prepared, shown: &SharedPrompt) -> Vec<Invention> {
    let is_stopped =
        |lie: &Invention| check_alone(&lie.proposal, prepared, shown).outcome == CheckOutcome::Stopped;
    let (stopped, passing): (Vec<_>, Vec<_>) =
        inventions(&prepared.brief.evidence).into_iter().partition(is_stopped);
    let mut lies = spread(passing, MAX_PASSING);
    lies.extend(spread(stopped, MAX_STOPPED));
    lies
}

/// Returns at most `max` lies, the first of each kind before the second of any.
fn spread(lies: Vec<Invention>, max: usize) -> Vec<Invention> {
    let mut of_kind: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, Invention)> = Vec::new();
    for lie in lies {
        let rank = of_kind.entry(lie.kind).or_default();
        ranked.push((*rank, lie));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, lie)| lie).take(max).collect()
}

/// Returns an answer made of these lies.
pub fn lying_answer(lies: &[Invention]) -> Answer {
    Answer { findings: lies.iter().map(|lie| lie.proposal.clone()).collect(), ..Answer::default() }
}

struct Liar<'a> {
    evidence: &'a Evidence,
    steps: Vec<Step>,
}

/// The text of a claim, and its location.
type Claim = (String, ClaimedIn);

fn lie(category: Category, kind: Kind, claim: Claim, path: &str, proof: &str, why: String) -> Proposal {
    Proposal {
        category,
        sure: true,
        kind,
        claim: claim.0,
        claimed_in: claim.1,
        proof: proof.to_owned(),
        path: path.to_owned(),
        why,
        settle: "Do it, or take the claim back.".to_owned(),
    }
}

fn step_claim(step: &Step) -> Claim {
    (step.text.clone(), ClaimedIn::Plan)
}

impl<'a> Liar<'a> {
    fn present(&self) -> impl Iterator<Item = &'a FileEvidence> {
        self.evidence.files.iter().filter(|file| matches!(file.state, FileState::File { .. }))
    }

    fn of_present(&self, lie: impl Fn(&FileEvidence) -> Option<Proposal>) -> Vec<Proposal> {
        self.present().filter_map(lie).collect()
    }

    fn message_lines(&self) -> impl Iterator<Item = &'a str> {
        let message = self.evidence.session.final_message.as_deref().unwrap_or_default();
        message.lines().map(str::trim).filter(|line| line.split_whitespace().nth(2).is_some())
    }

    /// Returns a text that names the file: a step, or a line of the final message.
    fn claim_naming(&self, file: &FileEvidence) -> Option<Claim> {
        let step = self.steps.iter().find(|step| file.steps().any(|number| number == step.number));
        let line = || self.message_lines().find(|line| line.contains(base_name(&file.name)));
        step.map(step_claim).or_else(|| line().map(|line| (line.to_owned(), ClaimedIn::Message)))
    }

    /// Returns what the session says or, failing that, promises.
    fn any_claim(&self) -> Option<Claim> {
        let line = self.message_lines().next().map(|line| (line.to_owned(), ClaimedIn::Message));
        line.or_else(|| self.steps.first().map(step_claim))
    }

    fn files_beside(&self) -> Vec<Proposal> {
        self.of_present(|file| {
            let (stem, ending) = file.name.rsplit_once('.').unwrap_or((&file.name, "txt"));
            let beside = format!("{stem}_helpers.{ending}");
            let why = format!("{beside} was promised and is not there.");
            Some(lie(Category::A, Kind::Missing, self.claim_naming(file)?, &beside, "", why))
        })
    }

    fn invented_claims(&self) -> Vec<Proposal> {
        self.present()
            .map(|file| {
                let name = base_name(&file.name);
                let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "txt"));
                let path = format!("tests/integration/{stem}.{ending}");
                let claim = format!("Cover {stem} with an integration test against a real server");
                let why = format!("There is no {path}.");
                lie(Category::A, Kind::Missing, (claim, ClaimedIn::Plan), &path, "", why)
            })
            .collect()
    }

    fn invented_proofs(&self) -> Vec<Proposal> {
        self.of_present(|file| {
            let proof = format!("TODO: implement {} later, not done yet", base_name(&file.name));
            let why = format!("{} is a stub.", file.name);
            Some(lie(Category::A, Kind::WrongContent, self.claim_naming(file)?, &file.name, &proof, why))
        })
    }

    fn present_called_missing(&self) -> Vec<Proposal> {
        self.of_present(|file| {
            let why = format!("There is no {}.", file.name);
            Some(lie(Category::A, Kind::Missing, self.claim_naming(file)?, &file.name, "", why))
        })
    }

    fn cut_called_empty(&self) -> Vec<Proposal> {
        let in_part = |file: &&FileEvidence| matches!(file.entered, Entered::Cut(_) | Entered::LeftOut(_));
        self.present()
            .filter(in_part)
            .filter_map(|file| {
                let why = format!("{} does not do what was promised.", file.name);
                Some(lie(Category::A, Kind::WrongContent, self.claim_naming(file)?, &file.name, "", why))
            })
            .collect()
    }

    fn passed_called_failed(&self) -> Vec<Proposal> {
        let commands = &self.evidence.session.commands;
        let passed = commands.iter().rev().filter(|command| {
            let last = commands.iter().rev().find(|other| other.line == command.line);
            last.is_some_and(|last| last.end == CommandEnd::Succeeded)
        });
        passed
            .filter_map(|command| {
                let proof = command.line.lines().next().unwrap_or_default();
                let why = format!("`{proof}` failed.");
                Some(lie(Category::A, Kind::Failed, self.any_claim()?, "", proof, why))
            })
            .collect()
    }

    fn changed_called_untouched(&self) -> Vec<Proposal> {
        self.present()
            .filter(|file| file.was_changed())
            .filter_map(|file| {
                let why = format!("Nothing in the session touched {}.", file.name);
                Some(lie(Category::A, Kind::Other, self.claim_naming(file)?, &file.name, "", why))
            })
            .collect()
    }

    fn planned_called_unplanned(&self) -> Vec<Proposal> {
        let planned = self.evidence.files.iter().filter(|file| file.steps().next().is_some());
        planned
            .map(|file| {
                let why = format!("{} was changed beyond the plan.", file.name);
                lie(Category::B, Kind::NotInPlan, Claim::default(), &file.name, "", why)
            })
            .collect()
    }

    fn open_called_left_out(&self) -> Vec<Proposal> {
        let open = self.steps.iter().filter(|step| matches!(step.mark, Mark::Open | Mark::None));
        open.map(|step| {
            let path = step.paths.first().map_or("", String::as_str);
            let why = "The session gave this step up and did not say so in the plan.".to_owned();
            lie(Category::C, Kind::LeftOut, step_claim(step), path, "", why)
        })
        .collect()
    }

    fn done_called_replaced(&self) -> Vec<Proposal> {
        let worked_on = self.steps.iter().filter(|step| {
            let of_step = |file: &&FileEvidence| file.steps().any(|number| number == step.number);
            step.mark == Mark::Ticked
                || self.evidence.files.iter().filter(of_step).any(FileEvidence::was_changed)
        });
        worked_on
            .map(|step| {
                let why = "The step was replaced by something simpler.".to_owned();
                lie(Category::C, Kind::LeftOut, step_claim(step), "", "", why)
            })
            .collect()
    }

    fn tasks_called_unplanned(&self) -> Vec<Proposal> {
        self.evidence
            .session
            .todos
            .iter()
            .map(|todo| {
                let why = "It is in no step of the plan.".to_owned();
                lie(Category::D, Kind::NotInPlan, (todo.text.clone(), ClaimedIn::Tasks), "", "", why)
            })
            .collect()
    }

    fn asks_called_undone(&self) -> Vec<Proposal> {
        self.evidence
            .session
            .asks
            .iter()
            .map(|ask| {
                let first = ask.text.lines().find(|line| !line.trim().is_empty()).unwrap_or(&ask.text);
                let changed = self.evidence.files.iter().filter(|file| file.was_changed());
                let named =
                    changed.map(|file| file.name.as_str()).find(|name| ask.text.contains(base_name(name)));
                let why = "The person asked for it, and nothing was done.".to_owned();
                let claim = (first.trim().to_owned(), ClaimedIn::Asks);
                lie(Category::Ask, Kind::LeftOut, claim, named.unwrap_or_default(), "", why)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::proposal;

    #[test]
    fn the_first_of_each_kind_comes_before_the_second_of_any() {
        let lie = |kind, claim| Invention { kind, proposal: proposal(Kind::Other, claim, "") };
        let lies =
            vec![lie("one", "1"), lie("one", "2"), lie("two", "3"), lie("three", "4"), lie("three", "5")];
        let spread: Vec<String> = spread(lies, 4).into_iter().map(|lie| lie.proposal.claim).collect();
        assert_eq!(spread, ["1", "3", "4", "2"]);
    }
}
