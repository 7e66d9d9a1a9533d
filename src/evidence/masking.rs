//! Masks a whole session and a whole plan, in place, before anything else looks at them: what comes after
//! (prompt, findings, log) can't leak what it never had. What a file was before the session is left alone:
//! it is only ever shown as a diff, which is masked then.

use super::redact::masked;
use crate::plan::Plan;
use crate::plan::steps::parse_steps;
use crate::session::{Outcome, Session};

fn mask_in_place(text: &mut String) -> usize {
    let Some(masked) = masked(text) else { return 0 };
    *text = masked.text;
    masked.count
}

/// Masks everything that was said and run; gives how many secrets there were.
pub fn mask_session(session: &mut Session) -> usize {
    let asks = session.asks.iter_mut().map(|ask| &mut ask.text);
    let lines = session.commands.iter_mut().flat_map(|command| [&mut command.line, &mut command.output]);
    let todos = session.todos.iter_mut().map(|todo| &mut todo.text);
    let titles = session.delegations.iter_mut().map(|delegation| &mut delegation.description);
    // The client's words for a failed edit hold the text that was to be replaced.
    let failures = session.touches.iter_mut().filter_map(|touch| match &mut touch.outcome {
        Outcome::Failed(why) => Some(why),
        Outcome::Done | Outcome::Unanswered => None,
    });
    let rest = session.final_message.iter_mut().chain(&mut session.rejected_plans);
    asks.chain(lines).chain(todos).chain(titles).chain(failures).chain(rest).map(mask_in_place).sum()
}

/// Masks a plan; its steps are read again from the masked text, so that a quote of what the auditor saw is
/// found in them.
pub fn mask_plan(plan: &mut Plan) -> usize {
    let count = mask_in_place(&mut plan.text);
    if count > 0 {
        plan.steps = parse_steps(&plan.text);
    }
    count + plan.dropped.iter_mut().map(|step| mask_in_place(&mut step.text)).sum::<usize>()
}
