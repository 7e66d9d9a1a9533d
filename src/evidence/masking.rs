//! Masks a session and a plan in place, before anything else reads them: prompt, findings and log
//! can't leak what they never had. What a file was before the session is left alone: it is only
//! shown as a diff, which is masked then.

use crate::plan::Plan;
use crate::plan::steps::parse_steps;
use crate::redact::mask;
use crate::session::{Masked, Outcome, Session};

fn mask_in_place(text: &mut String) -> usize {
    let masked = mask(text);
    *text = masked.text;
    masked.count
}

/// Masks everything that was said and run; returns how many secrets there were. Entries that were
/// masked before are skipped.
pub fn mask_session(session: &mut Session) -> usize {
    let done = session.masked;
    let asks = session.asks[done.asks..].iter_mut().map(|ask| &mut ask.text);
    let commands = session.commands[done.commands..].iter_mut();
    let lines = commands.flat_map(|command| [command.line.text_mut(), &mut command.output]);
    let delegations = session.delegations[done.delegations..].iter_mut();
    let handed_over =
        delegations.flat_map(|delegation| [&mut delegation.description, &mut delegation.report]);
    let remarks = session.remarks[done.remarks..].iter_mut().map(|remark| &mut remark.text);
    // The client's words for a failed edit hold the text that was to be replaced.
    let failures = session.touches[done.touches..].iter_mut().filter_map(|touch| match &mut touch.outcome {
        Outcome::Failed(why) => Some(why),
        Outcome::Done | Outcome::Unanswered => None,
    });
    let said = asks.chain(remarks).chain(handed_over);
    let lasting: usize = said.chain(lines).chain(failures).map(mask_in_place).sum();
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

/// Masks a plan; its steps are read again from the masked text, so that a quote of what the auditor saw is
/// found in them.
pub fn mask_plan(plan: &mut Plan) -> usize {
    let count = mask_in_place(&mut plan.text);
    if count > 0 {
        plan.steps = parse_steps(&plan.text);
    }
    count + plan.before.as_mut().map_or(0, |before| mask_in_place(&mut before.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{delegation, remark};

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
}
