//! C: abandoned, and the plan still lists it. Does the plan list it, does the session say that it is over or
//! that this step was left, and did nothing work on it? Pure. An unfinished plan is normal.

use super::case::Case;
use super::names::line_names;
use super::topics::alike;
use super::{Judged, elsewhere, over, reason, work};
use crate::claims;
use crate::evidence::{FileEvidence, FileState};
use crate::facts::ordinary::{is_optional, is_reference};
use crate::facts::{left, steps, whose};
use crate::plan::{Mark, Step};
use crate::session::shell;
use crate::words::{base_name, normalised};

const LEFT: &str = "the final message says that the step was left or replaced";

pub(super) fn judge(case: &Case<'_>) -> Judged {
    let Some(plan) = case.plan() else { return Judged::refuted(reason::NO_PLAN) };
    let Some(step) = case.step else {
        return Judged::cannot_verify("quote not found in the plan's steps");
    };
    match step.mark {
        Mark::Abandoned => return Judged::refuted("the plan marks the step as abandoned"),
        Mark::Ticked => return Judged::cannot_verify("the step is ticked: done or not, it is not abandoned"),
        Mark::None | Mark::Open => {}
    }
    if is_optional(step) {
        return Judged::cannot_verify("the step says itself that it is optional");
    }
    if over::called_off(case) {
        return Judged::refuted(reason::CALLED_OFF);
    }
    let is_replaced = left::is_replaced(case.message(), step, plan, case.evidence);
    let is_left = is_replaced || says_left(case.message(), step);
    if !is_left && !over::says_plan_is_over(case.evidence, Some(step)) {
        return Judged::refuted("the session does not say that it is finished: an unfinished plan is normal");
    }
    // What was done in its place was done to its files.
    if is_replaced && !elsewhere::worked_there(case) {
        return Judged::confirmed(LEFT);
    }
    if let Some(how) = work::on_step(case.evidence, plan, step) {
        return Judged::refuted(how);
    }
    let files: Vec<&FileEvidence> =
        case.evidence.files.iter().filter(|file| file.steps.contains(&step.number)).collect();
    if let Some(file) = files.iter().find(|file| is_done_already(step, file)) {
        return Judged::refuted(format!("{} was there already", file.name));
    }
    if elsewhere::worked_there(case) {
        return Judged::cannot_verify(reason::REMOTE);
    }
    if is_left {
        return Judged::confirmed(LEFT);
    }
    if files.is_empty() {
        return Judged::cannot_verify("the step names no file, and the final message does not speak of it");
    }
    if is_reference(step) || !files.iter().any(|file| steps::is_promised(step, &file.name)) {
        return Judged::cannot_verify("the step promises no change of its files");
    }
    let own = whose::Names::of(plan).own(step);
    let changed = files.iter().filter(|file| file.was_changed());
    if let Some(file) = changed.into_iter().find(|file| whose::lacks_all(&own, file)) {
        return Judged::confirmed(format!(
            "the session says that it is over, and {} has nothing of what the step names",
            file.name
        ));
    }
    let may_be_changed =
        |file: &&FileEvidence| matches!(file.state, FileState::File { .. }) && !file.signs.is_unchanged();
    if files.iter().any(may_be_changed)
        && case.session().commands.iter().any(|c| shell::may_change_anything(&c.line))
    {
        return Judged::cannot_verify("a command of the session may have changed it");
    }
    if let Some(there) = files.iter().find_map(|file| steps::stand_in(case.evidence, &file.name)) {
        return Judged::cannot_verify(format!("the session wrote {there}, perhaps in its place"));
    }
    Judged::confirmed("the session says that it is over, and nothing in it touched the step's files")
}

/// Whether the final message says of this very step that it was left or replaced.
fn says_left(message: &str, step: &Step) -> bool {
    left::is_skipped(message, step)
        || claims::all_sentences(message).filter(|sentence| claims::says_left_something(sentence)).any(
            |sentence| {
                alike(sentence, &step.text)
                    || step.paths.iter().any(|path| line_names(sentence, base_name(path)))
            },
        )
}

/// Whether the disk shows what the step wants, though nothing in the session touched it: a file to be made is
/// there, or holds everything that the step names.
fn is_done_already(step: &Step, file: &FileEvidence) -> bool {
    let first = normalised(&step.text);
    let makes = ["create", "generate", "make", "new", "scaffold", "write"];
    let is_made = first.split(' ').next().is_some_and(|word| makes.contains(&word));
    let holds_all =
        !step.symbols.is_empty() && step.symbols.iter().all(|symbol| file.text.contains(symbol.as_str()));
    matches!(file.state, FileState::File { .. }) && (is_made || holds_all)
}
