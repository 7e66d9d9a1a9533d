//! Whether disk, session or plan settle a finding by themselves. Pure, and reads no prose: the rest
//! is for a reader.

use super::PendingFinding;
use crate::evidence::{Evidence, FileState};
use crate::finding::{Category, ClaimedIn, Kind};
use crate::plan::Mark;
use crate::text::normalise::{bare, normalised};

/// Returns how a finding is settled, if it is. `state` is what is at its path now.
pub fn settled(
    held: &PendingFinding,
    state: Option<&FileState>,
    evidence: &Evidence,
    since: usize,
) -> Option<String> {
    by_disk(held, state)
        .or_else(|| by_command(held, evidence, since))
        .or_else(|| by_plan(held, evidence))
        .or_else(|| by_task_list(held, evidence))
}

fn by_disk(held: &PendingFinding, state: Option<&FileState>) -> Option<String> {
    let finding = &held.finding;
    let path = finding.path.as_deref().filter(|_| finding.kind == Kind::Missing)?;
    match state? {
        FileState::File { bytes } if *bytes > 0 => Some(format!("{path} is there now")),
        FileState::Folder => Some(format!("{path} is there now")),
        _ => None,
    }
}

/// A command that failed, or was not run, has succeeded since, with the exact line that the finding
/// quotes.
fn by_command(held: &PendingFinding, evidence: &Evidence, since: usize) -> Option<String> {
    let finding = &held.finding;
    if !matches!(finding.kind, Kind::Failed | Kind::NotRun) {
        return None;
    }
    let commands = &evidence.session.commands;
    let before = commands.iter().filter(|command| command.at <= since);
    let failed = before.rev().find(|command| command.is_quoted_by(&finding.proof))?;
    let line = normalised(&failed.line);
    let last = commands.iter().rfind(|command| command.at > since && normalised(&command.line) == line)?;
    // What stands between the outer marks is the command, and all of it.
    let shown = last.line.lines().next().unwrap_or_default().replace('`', "'");
    last.has_passed().then(|| format!("`{shown}` succeeded since"))
}

/// Returns what the plan itself now says about the step that a finding quotes.
fn by_plan(held: &PendingFinding, evidence: &Evidence) -> Option<String> {
    let finding = &held.finding;
    let (then, plan) = (held.mark?, evidence.plan.as_ref()?);
    if finding.claimed_in != ClaimedIn::Plan {
        return None;
    }
    let words = bare(&finding.claim);
    let now = plan.steps.iter().find(|step| bare(&step.text).contains(&words))?;
    match (finding.category, now.mark) {
        (Category::A, Mark::None | Mark::Open) if then == Mark::Ticked => {
            Some("the step is no longer ticked".to_owned())
        }
        (Category::A | Category::C, Mark::Abandoned) => {
            Some("the plan marks the step as left out".to_owned())
        }
        _ => None,
    }
}

fn by_task_list(held: &PendingFinding, evidence: &Evidence) -> Option<String> {
    let finding = &held.finding;
    let words = bare(&finding.claim);
    let todos = &evidence.session.todos;
    let is_gone = finding.claimed_in == ClaimedIn::Tasks
        && !todos.is_empty()
        && !todos.iter().any(|todo| bare(&todo.text).contains(&words));
    is_gone.then(|| "it is no longer on the task list".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;
    use crate::session::Command;
    use crate::testing::{self, command, failed, finding, plan, session, todo};

    fn held(category: Category, kind: Kind, claim: &str, path: Option<&str>) -> PendingFinding {
        PendingFinding { number: 1, finding: finding(category, kind, claim, path), mark: None }
    }

    fn nothing() -> Evidence {
        testing::evidence(session())
    }

    #[test]
    fn a_file_that_was_missing_and_is_there_is_settled() {
        let held = held(Category::A, Kind::Missing, "Create `a.rs`", Some("a.rs"));
        let settled = |held: &PendingFinding, state: FileState| settled(held, Some(&state), &nothing(), 9);
        assert_eq!(settled(&held, FileState::File { bytes: 1 }).as_deref(), Some("a.rs is there now"));
        assert_eq!(settled(&held, FileState::Folder).as_deref(), Some("a.rs is there now"));
        for state in [
            FileState::File { bytes: 0 },
            FileState::Missing { elsewhere: None },
            FileState::Outside,
            FileState::Unreadable("x".into()),
        ] {
            assert_eq!(settled(&held, state.clone()), None, "{state:?}");
        }
        let wrong =
            PendingFinding { finding: Finding { kind: Kind::WrongContent, ..held.finding.clone() }, ..held };
        assert_eq!(
            settled(&wrong, FileState::File { bytes: 1 }),
            None,
            "that it is there was never in doubt"
        );
    }

    /// Returns what settles a run that failed at 3, with the stop at 5.
    fn after(kind: Kind, proof: &str, commands: Vec<Command>) -> Option<String> {
        let mut evidence = nothing();
        evidence.session.commands = commands;
        let mut held = held(Category::A, kind, "All tests pass", None);
        held.finding.proof = proof.into();
        settled(&held, None, &evidence, 5)
    }

    #[test]
    fn a_command_that_failed_and_has_passed_since_is_settled() {
        let red = || failed("cargo test", 3, "1 test failed");
        let passed = Some("`cargo test` succeeded since".to_owned());
        for kind in [Kind::Failed, Kind::NotRun] {
            for proof in ["1 test failed", "$ cargo test", "cargo test 1 test failed"] {
                assert_eq!(after(kind, proof, vec![red(), command("cargo test", 7)]), passed, "{proof}");
            }
        }
        let green = || command("cargo test", 7);
        let again = failed("cargo test", 8, "1 test failed");
        let early = command("cargo test", 4);
        let piped = "cargo test | tail";
        for (proof, commands) in [
            ("1 test failed", vec![red()]),
            ("1 test failed", vec![red(), early]),
            ("1 test failed", vec![red(), green(), again]),
            ("1 test failed", vec![red(), command("cargo build", 7)]),
            ("1 test failed", vec![failed(piped, 3, "1 test failed"), command(piped, 7)]),
            ("something else", vec![red(), green()]),
            ("", vec![red(), green()]),
        ] {
            assert_eq!(after(Kind::Failed, proof, commands.clone()), None, "{proof:?} {commands:?}");
        }
        assert_eq!(after(Kind::Other, "1 test failed", vec![red(), green()]), None);
    }

    /// Returns what the current plan settles about its step.
    fn planned(category: Category, then: Option<Mark>, now: &str) -> Option<String> {
        let mut held = held(category, Kind::LeftOut, "Write the docs", None);
        held.mark = then;
        settled(&held, None, &Evidence { plan: Some(plan(now)), ..nothing() }, 9)
    }

    #[test]
    fn a_tick_that_was_taken_back_or_a_step_that_was_struck_out_is_settled() {
        let (ticked, open) = ("- [x] Write the docs\n", "- [ ] Write the docs, all of them\n");
        let struck = "- [ ] ~~Write the docs~~\n";
        let unticked = Some("the step is no longer ticked".to_owned());
        let left_out = Some("the plan marks the step as left out".to_owned());
        assert_eq!(planned(Category::A, Some(Mark::Ticked), open), unticked);
        assert_eq!(planned(Category::A, Some(Mark::Ticked), struck), left_out);
        assert_eq!(planned(Category::C, Some(Mark::Open), struck), left_out);
        for (category, then, now) in [
            (Category::A, Some(Mark::Ticked), ticked),
            (Category::A, Some(Mark::Open), open),
            (Category::C, Some(Mark::Ticked), open),
            (Category::B, Some(Mark::Open), struck),
            (Category::A, None, struck),
            (Category::A, Some(Mark::Ticked), "- [ ] Something else\n"),
        ] {
            assert_eq!(planned(category, then, now), None, "{category:?} {then:?} {now}");
        }
    }

    #[test]
    fn what_is_claimed_elsewhere_is_not_settled_by_the_plan() {
        let mut held = held(Category::A, Kind::Other, "Write the docs", None);
        (held.mark, held.finding.claimed_in) = (Some(Mark::Ticked), ClaimedIn::Message);
        let evidence = Evidence { plan: Some(plan("- [ ] Write the docs\n")), ..nothing() };
        assert_eq!(settled(&held, None, &evidence, 9), None);
    }

    #[test]
    fn a_task_that_is_off_the_list_is_settled() {
        let mut held = held(Category::D, Kind::NotInPlan, "Port the parser", None);
        held.finding.claimed_in = ClaimedIn::Tasks;
        let listed = |tasks: &[&str]| {
            let mut evidence = nothing();
            evidence.session.todos = tasks.iter().map(|text| todo(text, "pending")).collect();
            settled(&held, None, &evidence, 9)
        };
        assert_eq!(listed(&["Write the docs"]).as_deref(), Some("it is no longer on the task list"));
        assert_eq!(listed(&["Write the docs", "- Port the **parser**, soon"]), None);
        assert_eq!(listed(&[]), None, "no list is no word on it");
    }
}
