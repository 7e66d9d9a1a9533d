//! What this session ticked: steps of the plan, tasks that it finished, and ticked items in its
//! final message. Must go by marks alone; what else a text claims is for the readers.

use super::TickedItem;
use crate::evidence::Evidence;
use crate::finding::ClaimedIn;
use crate::plan::Mark;
use crate::plan::mentions::paths_named;
use crate::plan::steps::parse_steps;

/// The status of a finished task.
const FINISHED: &str = "completed";

/// Returns everything that this session ticked.
pub(super) fn ticked(evidence: &Evidence) -> Vec<TickedItem> {
    let mut all = Vec::new();
    if let Some(plan) = &evidence.plan {
        let steps = plan.steps.iter().filter(|step| plan.ticked_now(step));
        all.extend(steps.map(|step| ticked_item(&step.text, ClaimedIn::Plan, Some(step.number))));
    }
    let todos = evidence.session.todos.iter().filter(|todo| todo.status == FINISHED);
    all.extend(todos.map(|todo| ticked_item(&todo.text, ClaimedIn::Tasks, None)));
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    let said = parse_steps(message).into_iter().filter(|step| step.mark == Mark::Ticked);
    all.extend(said.map(|step| ticked_item(&step.text, ClaimedIn::Message, None)));
    all
}

fn ticked_item(text: &str, place: ClaimedIn, step: Option<usize>) -> TickedItem {
    let paths = paths_named(text).into_iter().filter(|named| named.marked).map(|named| named.path).collect();
    TickedItem { text: text.to_owned(), place, step, paths }
}
