//! The checklist gate: blocks a session that says that it is finished while boxes or tasks are
//! open, or that ends without a required section. `open` finds the open items and words the message
//! to the agent; a reader is asked which of them are claimed as done. An answer that does not fit
//! counts as none.
//!
//! An unfinished plan is normal: only what the final message claims counts, which a reader decides.
//! Items that the audit blocks for at the same stop are left to it.

mod open;

use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{CheckedGate, Gate, GateDetails, GateResult, SessionView, StopContext};
use crate::decision::{Cause, Outcome};
use crate::evidence::line::one_line;
use crate::evidence::masking::mask_session;
use crate::finding::Finding;
use crate::followup::PendingBlock;
use crate::ids::random_fence;
use crate::plan::steps::parse_steps;
use crate::readers::answer::parse;
use crate::readers::prompt::{self, PromptError, render};
use crate::readers::{Prompt, ReaderOutcome, Readers};
use crate::session::Session;
use crate::text::normalise::normalised;
use crate::text::start_and_end;
use crate::workspace::glob_files::globbed;

pub use open::{Checklist, Item, OpenClaims, Place};

pub const NAME: &str = "checklist";

const READ_CAP: u64 = 1 << 20;

/// How long the question may take; it is a small one.
const TIMEOUT: Duration = Duration::from_secs(20);

const QUESTION: &str = include_str!("../../prompts/checklist.md");
const SCHEMA: &str = include_str!("../../prompts/checklist.schema.json");
const SYSTEM: &str =
    "You read the last message of a coding agent and say what it claims as done. You have no tools.";

const MOST: usize = 100;
/// How much of the message and of the person's last ask is shown.
const MESSAGE: usize = 12_000;
const ASK: usize = 2_000;

#[derive(Debug)]
pub struct ChecklistGate;

impl Gate for ChecklistGate {
    fn name(&self) -> &'static str {
        NAME
    }

    fn check(&self, stop: &StopContext<'_>, _: &[CheckedGate], readers: &mut Readers<'_>) -> GateResult {
        let config = &stop.config.checklist;
        let work_before = stop.saved().audits.get(stop.agent()).map_or(0, |last| last.work);
        let known = stop.view();
        let message = known.session.final_message.as_deref().unwrap_or_default();
        if message.trim().is_empty() || known.session.work_done() == work_before {
            return pass("nothing was done since the last look, or nothing is said of it");
        }
        let (lists, unreadable) = read_lists(stop, known);
        let mut items = open::open_items(config, &known.session, known.plan.as_ref(), &lists);
        name_the_plan(&mut items, known);
        let section = Some(&config.require_section).filter(|heading| !heading.is_empty());
        let section = section.and_then(|heading| open::missing_section(message, heading));
        if items.is_empty() && section.is_none() {
            return match unreadable.first() {
                Some((name, why)) => could_not(format!("the checklist {name} can't be read ({why})")),
                None => pass("no box and no task is open"),
            };
        }
        let mut session = known.session.clone();
        mask_session(&mut session);
        let answer = match ask(&items, &session, readers) {
            Ok(answer) => answer,
            Err(why) => return could_not(format!("open items were not judged: {why}")),
        };
        let claimed = items.into_iter().enumerate().filter(|(at, _)| answer.claimed.contains(&(at + 1)));
        let items = claimed.map(|(_, item)| item).collect();
        let unsettled = OpenClaims { items, section: section.filter(|_| answer.finished) };
        if unsettled.is_empty() {
            return pass("nothing is open that the session claims as done");
        }
        let outcome = block(&unsettled, true);
        GateResult { details: GateDetails::OpenClaims(unsettled), ..outcome.into() }
    }
}

fn pass(detail: &str) -> GateResult {
    Outcome::pass(Cause::NothingOpen, detail).into()
}

fn could_not(message: String) -> GateResult {
    Outcome::could_not_check(Cause::ChecklistUnreadable, message).into()
}

/// Asks a reader which of the open items are claimed as done.
fn ask(items: &[Item], session: &Session, readers: &mut Readers<'_>) -> Result<Answer, String> {
    let prompt = question(items, session).map_err(|error| error.to_string())?;
    match readers.ask_within(TIMEOUT, &prompt).outcome {
        ReaderOutcome::Answered(json) => Ok(parse(&json).unwrap_or_default()),
        other => Err(other.detail().unwrap_or_else(|| other.name().to_owned())),
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The numbers of the items that are claimed as done, from 1.
    claimed: Vec<usize>,
    /// Whether the message says that the work as a whole is finished.
    finished: bool,
}

fn check_answer(json: &str) -> Result<(), String> {
    parse::<Answer>(json).map(drop)
}

/// Returns the question. All its text is masked.
fn question(items: &[Item], session: &Session) -> Result<Prompt, PromptError> {
    let listed = items.iter().take(MOST).enumerate();
    let listed: Vec<String> =
        listed.map(|(at, item)| format!("{}. {}", at + 1, one_line(&item.text))).collect();
    let ask = session.asks.last().map_or("(nothing)", |ask| ask.text.as_str());
    let message = session.final_message.as_deref().unwrap_or_default();
    let text = render(
        "checklist.md",
        QUESTION,
        &json!({
            "fence": random_fence(),
            "items": if listed.is_empty() { "(none)".to_owned() } else { listed.join("\n") },
            "ask": start_and_end(ask, ASK),
            "message": start_and_end(message, MESSAGE),
        }),
    )?;
    Ok(Prompt { system: SYSTEM.to_owned(), text, schema: prompt::one_line(SCHEMA), check: check_answer })
}

/// Names the plan by its path in the workspace.
fn name_the_plan(items: &mut [Item], known: &SessionView) {
    for item in items {
        if let Place::Plan { path: Some(path), .. } = &mut item.place
            && let Some(place) = known.workspace.locate(path)
        {
            *path = place.name;
        }
    }
}

fn block(unsettled: &OpenClaims, is_alone: bool) -> Outcome {
    let cause = if unsettled.items.is_empty() { Cause::SectionMissing } else { Cause::OpenItems };
    Outcome::block(cause, open::reason(unsettled, is_alone))
}

/// Reads the files that the config names, except the plan. Returns their boxes, and the files that
/// can't be read.
fn read_lists(stop: &StopContext<'_>, known: &SessionView) -> (Vec<Checklist>, Vec<(String, String)>) {
    let config = &stop.config.checklist;
    let plan = known.plan.as_ref().filter(|_| config.plan).and_then(|plan| plan.path.as_deref());
    let plan = plan.and_then(|plan| known.workspace.locate(plan)).map(|place| place.path);
    let (mut lists, mut unreadable) = (Vec::new(), Vec::new());
    for file in globbed(stop.project, None, &config.files) {
        let is_plan =
            plan.as_ref().is_some_and(|plan| fs::canonicalize(plan).is_ok_and(|plan| plan == file.path));
        if is_plan {
            continue;
        }
        match file.start(READ_CAP) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                let boxes = parse_steps(&String::from_utf8_lossy(&bytes));
                lists.push(Checklist { name: file.name, steps: boxes });
            }
            Err(error) => unreadable.push((file.name, error.to_string())),
        }
    }
    lists.sort_by(|one, other| one.name.cmp(&other.name));
    (lists, unreadable)
}

/// Drops items that the audit blocks for as well: it says more about a step than that its box is
/// open.
pub fn leave_to_the_audit(checked: &mut [CheckedGate]) {
    let pending = checked.iter().find_map(|gate| match &gate.result.details {
        GateDetails::Audit(audit) if gate.blocks() => audit.pending.clone(),
        _ => None,
    });
    let Some(pending) = pending else { return };
    for own in checked {
        let GateDetails::OpenClaims(unsettled) = &own.result.details else { continue };
        let rest = without_the_audits(unsettled, &pending);
        own.result.outcome = if rest.is_empty() {
            Outcome::pass(Cause::NothingOpen, "the audit blocks for what is open")
        } else {
            block(&rest, false)
        };
    }
}

fn without_the_audits(unsettled: &OpenClaims, pending: &PendingBlock) -> OpenClaims {
    let speaks_of = |finding: &Finding, item: &Item| match &item.place {
        Place::Plan { step, .. } if finding.step.is_some() => finding.step == Some(*step),
        _ => !finding.claim.is_empty() && normalised(&finding.claim) == normalised(&item.text),
    };
    let is_audits = |item: &&Item| pending.findings.iter().any(|held| speaks_of(&held.finding, item));
    let items = unsettled.items.iter().filter(|item| !is_audits(item)).cloned().collect();
    OpenClaims { items, section: unsettled.section.clone() }
}

#[cfg(test)]
mod tests;
