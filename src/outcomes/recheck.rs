//! Whether disk or plan have settled a finding: takes the finding as it held, what today's rules say of it, and the
//! plan; gives how it stands. Pure. What can't be told is not settled. The rules are given the final message of then,
//! so that a claim does not vanish only because the agent speaks of something else now.

use super::Held;
use crate::evidence::Evidence;
use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::plan::{Mark, Plan};
use crate::verify::{NO_PLAN, SETTLING, step_quoted};
use crate::words::normalised;

/// How a finding stands at the next stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Disk or plan settle it, and how.
    Settled(String),
    /// It is as it was, by which rule.
    Stands(String),
    /// Neither can be shown, and why not.
    CanNotTell(String),
}

/// What there is to compare with.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// Plan, session and disk as they are, with the final message of then.
    pub evidence: &'a Evidence,
    /// What they show by themselves.
    pub facts: &'a [Finding],
    /// The plan is the one that was in play.
    pub same_plan: bool,
}

/// How a finding stands. `judged` is what the verifier says of it today.
pub fn standing(held: &Held, judged: &Finding, now: Now<'_>) -> Standing {
    let then = &held.finding;
    let plan = now.evidence.plan.as_ref();
    let rests_on_plan =
        then.step.is_some() || matches!(then.category, Category::B | Category::C | Category::D);
    if rests_on_plan && !now.same_plan {
        return Standing::CanNotTell("another plan is in play, or none".to_owned());
    }
    if let Some(how) = plan.and_then(|plan| settled_by_plan(held, plan)) {
        return Standing::Settled(how);
    }
    if let Some(fact) = now.facts.iter().find(|fact| is_same_fact(then, fact)) {
        return Standing::Stands(fact.why.clone());
    }
    let is_settled = match judged.status {
        Status::Refuted => judged.verifier != NO_PLAN,
        Status::CannotVerify => SETTLING.contains(&judged.verifier.as_str()),
        Status::Confirmed => false,
    };
    if is_settled {
        return Standing::Settled(judged.verifier.clone());
    }
    if then.category == Category::D && is_off_the_list(then, now.evidence) {
        return Standing::Settled("it is no longer on the task list".to_owned());
    }
    // What only facts can tell (a run that was made good, a file that was hollow) they do not tell any more. Of a file
    // that is not there the verifier has the last word.
    let is_of_facts = then.source != Source::Auditor && then.status == Status::Confirmed;
    let is_theirs = then.category == Category::A && then.problem != Problem::MissingFile;
    if is_of_facts && is_theirs && judged.status != Status::Confirmed {
        return Standing::Settled(
            "what was missing is there now: the facts do not find it any more".to_owned(),
        );
    }
    match judged.status {
        Status::Confirmed => Standing::Stands(judged.verifier.clone()),
        Status::CannotVerify | Status::Refuted => Standing::CanNotTell(judged.verifier.clone()),
    }
}

/// What the plan itself says now of the step that a finding quotes.
fn settled_by_plan(held: &Held, plan: &Plan) -> Option<String> {
    let then = held.mark?;
    let step = step_quoted(&held.finding.quote, plan);
    let is_dropped = step.is_some_and(|step| plan.dropped.iter().any(|other| other.number == step.number));
    match (held.finding.category, step.map(|step| step.mark)) {
        // What was approved and is gone from the file is still promised.
        _ if is_dropped => None,
        (Category::A | Category::C, Some(Mark::Abandoned)) => {
            Some("the plan marks the step as abandoned".to_owned())
        }
        (Category::A, Some(Mark::None | Mark::Open)) if then == Mark::Ticked => {
            Some("the step is no longer ticked".to_owned())
        }
        (Category::C, Some(Mark::Ticked)) if then != Mark::Ticked => {
            Some("the step is ticked now".to_owned())
        }
        (Category::A | Category::C, None) => Some("the plan does not list the step any more".to_owned()),
        _ => None,
    }
}

/// Whether a fact of today says the same as a finding of then.
fn is_same_fact(then: &Finding, fact: &Finding) -> bool {
    let is_same_place = match (&then.path, &fact.path) {
        (Some(then), Some(now)) => then == now,
        (None, None) => normalised(&then.quote) == normalised(&fact.quote),
        _ => false,
    };
    then.category == fact.category && then.problem == fact.problem && is_same_place
}

fn is_off_the_list(then: &Finding, evidence: &Evidence) -> bool {
    let words = normalised(&then.quote);
    let todos = &evidence.session.todos;
    !todos.is_empty() && !todos.iter().any(|todo| normalised(&todo.text).contains(&words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcomes::pending::tests::finding;
    use crate::session::{Session, Todo};

    fn evidence(plan: Option<&str>) -> Evidence {
        let plan = plan.map(|text| {
            let session = Session::default();
            crate::plan::given(&session, std::path::Path::new("PLAN.md"), text)
        });
        Evidence {
            plan,
            session: Session::default(),
            deeds: Vec::new(),
            todo_paths: Vec::new(),
            files: Vec::new(),
            repository: None,
        }
    }

    fn held(category: Category, mark: Option<Mark>) -> Held {
        let mut finding = finding(category, Problem::MissingFile, "Create `beta.txt`", Some("beta.txt"));
        finding.step = mark.map(|_| 2);
        Held { number: 1, listed: 1, finding, needle: String::new(), mark }
    }

    fn judged(held: &Held, status: Status, verifier: &str) -> Finding {
        Finding { status, verifier: verifier.into(), source: Source::Auditor, ..held.finding.clone() }
    }

    fn stands(held: &Held, judged: &Finding, plan: Option<&str>, facts: &[Finding]) -> Standing {
        let evidence = evidence(plan);
        standing(held, judged, Now { evidence: &evidence, facts, same_plan: plan.is_some() })
    }

    const TICKED: &str = "- [x] Create `alpha.txt`\n- [x] Create `beta.txt`\n";

    #[test]
    fn a_file_that_is_there_now_settles_it_and_one_that_is_not_does_not() {
        let held = held(Category::A, Some(Mark::Ticked));
        let refuted = judged(&held, Status::Refuted, "the file exists");
        assert_eq!(stands(&held, &refuted, Some(TICKED), &[]), Standing::Settled("the file exists".into()));
        let confirmed = judged(&held, Status::Confirmed, "no such file");
        assert_eq!(stands(&held, &confirmed, Some(TICKED), &[]), Standing::Stands("no such file".into()));
        let fact = held.finding.clone();
        assert_eq!(stands(&held, &confirmed, Some(TICKED), &[fact]), Standing::Stands("why".into()));
        let doubt = judged(&held, Status::CannotVerify, "remote");
        assert_eq!(stands(&held, &doubt, Some(TICKED), &[]), Standing::CanNotTell("remote".into()));
    }

    #[test]
    fn a_plan_that_says_otherwise_now_settles_it() {
        let held = held(Category::A, Some(Mark::Ticked));
        let still = judged(&held, Status::Confirmed, "no such file");
        for (plan, how) in [
            ("- [x] Create `alpha.txt`\n- [ ] Create `beta.txt`\n", "the step is no longer ticked"),
            (
                "- [x] Create `alpha.txt`\n- [ ] ~~Create `beta.txt`~~\n",
                "the plan marks the step as abandoned",
            ),
            ("- [x] Create `alpha.txt`\n- [ ] Write the docs\n", "the plan does not list the step any more"),
        ] {
            assert_eq!(stands(&held, &still, Some(plan), &[]), Standing::Settled(how.into()), "{plan}");
        }
    }

    #[test]
    fn another_plan_or_none_tells_nothing() {
        let gone = "another plan is in play, or none";
        let by_plan = held(Category::B, None);
        let refuted = judged(&by_plan, Status::Refuted, NO_PLAN);
        assert_eq!(stands(&by_plan, &refuted, None, &[]), Standing::CanNotTell(gone.into()));
        let by_message = held(Category::A, None);
        let refuted = judged(&by_message, Status::Refuted, "the file exists");
        assert_eq!(stands(&by_message, &refuted, None, &[]), Standing::Settled("the file exists".into()));
    }

    #[test]
    fn a_step_that_was_left_and_is_ticked_now_is_settled() {
        let held = held(Category::C, Some(Mark::Open));
        let doubt =
            judged(&held, Status::CannotVerify, "the step is ticked: done or not, it is not abandoned");
        assert_eq!(
            stands(&held, &doubt, Some(TICKED), &[]),
            Standing::Settled("the step is ticked now".into())
        );
    }

    #[test]
    fn a_run_that_only_facts_know_of_is_settled_when_they_do_not_find_it_any_more() {
        let mut held = held(Category::A, None);
        held.finding.problem = Problem::FailedCommand;
        held.finding.path = None;
        let doubt = judged(&held, Status::CannotVerify, "the same program succeeded after it");
        assert!(matches!(stands(&held, &doubt, None, &[]), Standing::Settled(_)));
        let fact = held.finding.clone();
        assert!(matches!(stands(&held, &doubt, None, &[fact]), Standing::Stands(_)));
        held.finding.source = Source::Auditor;
        assert!(matches!(stands(&held, &doubt, None, &[]), Standing::Settled(_)));
        let hidden = judged(&held, Status::CannotVerify, "it was run in a way in which it can't fail");
        assert!(matches!(stands(&held, &hidden, None, &[]), Standing::CanNotTell(_)));
    }

    #[test]
    fn a_task_that_was_taken_off_the_list_is_settled() {
        let mut held = held(Category::D, None);
        held.finding.problem = Problem::NotInPlan;
        let doubt = judged(&held, Status::CannotVerify, "quote not found in the task list");
        let mut evidence = evidence(Some(TICKED));
        let now =
            |evidence: &Evidence| standing(&held, &doubt, Now { evidence, facts: &[], same_plan: true });
        assert!(matches!(now(&evidence), Standing::CanNotTell(_)), "an empty list tells nothing");
        evidence.session.todos = vec![Todo { id: None, text: "Write docs".into(), status: "pending".into() }];
        assert!(matches!(now(&evidence), Standing::Settled(_)));
    }
}
