//! Masks a session and a plan in place, before anything else reads them: prompt, findings and log
//! can't leak what they never had. The original text of files is left alone: it is only shown as a
//! diff, which is masked separately.

use crate::evidence::{Evidence, Sections};
use crate::finding::{Advisory, Finding};
use crate::plan::Plan;
use crate::redact::{SecretValues, mask, without_secret_files};
use crate::session::{Masked, Outcome, Session};

fn mask_in_place(text: &mut String) -> usize {
    let masked = mask(text);
    *text = masked.text;
    masked.count
}

/// Masks everything that was said and run; returns the number of secrets. Skips entries that were
/// masked before.
pub fn mask_session(session: &mut Session) -> usize {
    let done = session.masked;
    let mut hidden = 0;
    for command in &mut session.commands[done.commands..] {
        let shown = without_secret_files(&command.line, &command.output);
        (command.output, hidden) = (shown.text, hidden + shown.count);
    }
    let asks = session.asks[done.asks..].iter_mut().map(|ask| &mut ask.text);
    let commands = session.commands[done.commands..].iter_mut();
    let lines = commands.flat_map(|command| [command.line.text_mut(), &mut command.output]);
    let delegations = session.delegations[done.delegations..].iter_mut();
    let handed_over =
        delegations.flat_map(|delegation| [&mut delegation.description, &mut delegation.report]);
    let remarks = session.remarks[done.remarks..].iter_mut().map(|remark| &mut remark.text);
    // The client's message for a failed edit has the text that was to be replaced.
    let failures = session.touches[done.touches..].iter_mut().filter_map(|touch| match &mut touch.outcome {
        Outcome::Failed(why) => Some(why),
        Outcome::Done | Outcome::Unanswered => None,
    });
    let said = asks.chain(remarks).chain(handed_over);
    let lasting: usize = said.chain(lines).chain(failures).map(mask_in_place).sum::<usize>() + hidden;
    let todos = session.todos.iter_mut().map(|todo| &mut todo.text);
    let passing: usize =
        todos.chain(&mut session.rejected_plans).chain(&mut session.final_message).map(mask_in_place).sum();
    session.masked = Masked {
        asks: session.asks.len(),
        commands: session.commands.len(),
        delegations: session.delegations.len(),
        remarks: session.remarks.len(),
        touches: session.touches.len(),
        count: done.count + lasting,
    };
    session.masked.count + passing
}

/// Masks a plan; its steps are parsed again from the masked text, so that quotes of what the reader
/// saw are found in them.
pub fn mask_plan(plan: &mut Plan) -> usize {
    let before = plan.before.as_mut().map_or(0, |before| mask_in_place(&mut before.text));
    let count = before + mask_in_place(&mut plan.text);
    if count > 0 {
        plan.parse_again();
    }
    count
}

/// Masks what findings say and quote; returns how many secrets there were.
pub fn mask_findings(findings: &mut [Finding]) -> usize {
    let texts = |finding: &mut Finding| {
        let Finding { claim, proof, why, settle, path, .. } = finding;
        [claim, proof, why, settle].into_iter().chain(path).map(mask_in_place).sum::<usize>()
    };
    findings.iter_mut().map(texts).sum()
}

/// Masks what advisories say and quote; returns how many secrets there were.
pub fn mask_advisories(advisories: &mut [Advisory]) -> usize {
    let texts = advisories.iter_mut().flat_map(|advisory| [&mut advisory.text, &mut advisory.evidence]);
    texts.map(mask_in_place).sum()
}

/// Hides the values of secret files in what was asked, printed and told, before any of it is
/// remembered. Command lines, tasks and the final message are for later: facts go by them.
pub fn mask_values_said(values: &SecretValues, session: &mut Session) -> usize {
    if values.is_empty() {
        return 0;
    }
    let printed = session.commands.iter_mut().map(|command| &mut command.output);
    let asked = session.asks.iter_mut().map(|ask| &mut ask.text);
    let told = session.remarks.iter_mut().map(|remark| &mut remark.text);
    let handed_over = session
        .delegations
        .iter_mut()
        .flat_map(|delegation| [&mut delegation.description, &mut delegation.report]);
    printed.chain(asked).chain(told).chain(handed_over).map(|text| values.mask_in_place(text)).sum()
}

/// Hides the values of secret files wherever else they stand: in what a prompt is made of, and in
/// what its quotes are looked for in. After the facts: whoever can write a secret file must not be
/// able to hide a step from them.
pub fn mask_values(
    values: &SecretValues,
    evidence: &mut Evidence,
    sections: &mut Sections,
    facts: &mut [Finding],
) -> usize {
    if values.is_empty() {
        return 0;
    }
    let Evidence { plan, session, files, repository, .. } = evidence;
    let mut count = mask_values_said(values, session);
    let mut hide = |text: &mut String| count += values.mask_in_place(text);
    for command in &mut session.commands {
        // A line is parsed anew after a change.
        if values.mask(&command.line).count > 0 {
            hide(command.line.text_mut());
        }
    }
    session.todos.iter_mut().for_each(|todo| hide(&mut todo.text));
    session.rejected_plans.iter_mut().chain(&mut session.final_message).for_each(&mut hide);
    for touch in &mut session.touches {
        if let Outcome::Failed(why) = &mut touch.outcome {
            hide(why);
        }
    }
    if let Some(plan) = plan {
        hide(&mut plan.text);
        plan.steps.iter_mut().chain(&mut plan.removed).for_each(|step| hide(&mut step.text));
        if let Some(before) = &mut plan.before {
            hide(&mut before.text);
        }
    }
    for file in files {
        hide(&mut file.text);
    }
    if let Some(repository) = repository {
        repository.commits.iter_mut().for_each(|commit| hide(&mut commit.subject));
        repository.stashes.iter_mut().for_each(|stash| hide(&mut stash.subject));
    }
    let Sections { plan, plan_diff, asks, tasks, timeline, message } = sections;
    [plan, plan_diff, asks, tasks, timeline, message].into_iter().for_each(&mut hide);
    for fact in facts {
        [&mut fact.claim, &mut fact.proof].into_iter().for_each(&mut hide);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{AdvisoryKind, Category, Kind};
    use crate::testing::{delegation, finding, remark};

    #[test]
    fn remarks_and_reports_of_subagents_leak_nothing() {
        let text = "the key is sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9";
        let (remarks, delegations) = (vec![remark(text, 1)], vec![delegation("", 1, text)]);
        let mut session = Session { remarks, delegations, ..Session::default() };
        assert_eq!(mask_session(&mut session), 2);
        for shown in [&session.remarks[0].text, &session.delegations[0].report] {
            assert!(!shown.contains("sk-ant"), "{shown}");
        }
        assert_eq!((session.masked.remarks, session.masked.delegations), (1, 1));
    }

    #[test]
    fn what_is_reported_of_a_session_that_was_not_masked_leaks_nothing() {
        let text = "curl -H 'x-api-key: sk-ant-api03-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9' failed";
        let mut findings = vec![finding(Category::A, Kind::Failed, text, None)];
        findings[0].proof = text.into();
        let mut advisories =
            vec![Advisory { kind: AdvisoryKind::ForcePush, text: text.into(), evidence: text.into() }];
        assert_eq!((mask_findings(&mut findings), mask_advisories(&mut advisories)), (2, 2));
        let shown = format!("{findings:?}{advisories:?}");
        assert!(!shown.contains("sk-ant"), "{shown}");
    }
}
