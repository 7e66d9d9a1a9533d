//! The checks between the two readers: whether a proposal of the first is quoted from the evidence
//! and not contradicted by it. Pure. Must not interpret prose: whether words are a claim is the
//! second reader's to say.

use crate::evidence::sections::claims_text;
use crate::evidence::{Entered, Evidence, FileChange, FileEvidence, FileState, LeftOut};
use crate::finding::{Category, ClaimedIn, Finding, Kind, Source, Status};
use crate::paths::is_scratch;
use crate::plan::Plan;
use crate::readers::Proposal;
use crate::session::{Command, Session};
use crate::shell::CommandLine;
use crate::text::normalise::{bare, normalised};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathOnDisk {
    pub name: String,
    pub state: FileState,
}

/// Why a proposal does not reach the second reader: its status, and the reason.
type Objection = (Status, String);

/// The evidence does not support it.
fn unsupported(why: impl Into<String>) -> Objection {
    (Status::CannotVerify, why.into())
}

/// The disk or the session contradicts it.
fn contradicted(why: String) -> Objection {
    (Status::Refuted, why)
}

/// Turns a proposal into a finding. One without an objection is confirmed until the second reader
/// has answered; one that the first reader is unsure of is shown and never blocks. `shown` is the
/// evidence that the readers had, as [`bare`] writes it.
pub fn check(proposal: &Proposal, look: Option<&PathOnDisk>, evidence: &Evidence, shown: &str) -> Finding {
    let claimed_in = place_of_claim(proposal, evidence);
    let objection = match claimed_in {
        Ok(_) => objection(proposal, look, evidence, shown),
        Err(ref objection) => Some(objection.clone()),
    };
    let (status, check) = match objection {
        Some(objection) => objection,
        None if !proposal.sure => unsupported(UNSURE),
        None => {
            let holds = "its quotes are in the evidence, and nothing there contradicts it";
            (Status::Confirmed, holds.to_owned())
        }
    };
    let path = look.map(|look| look.name.clone()).or_else(|| Some(proposal.path.clone()));
    // Text that is found nowhere is not a quote.
    let claim = if claimed_in == Ok(ClaimedIn::Nowhere) { "" } else { proposal.claim.trim() };
    Finding {
        category: proposal.category,
        status,
        source: Source::Reader,
        kind: proposal.kind,
        claim: claim.to_owned(),
        claimed_in: claimed_in.unwrap_or(proposal.claimed_in),
        proof: proposal.proof.trim().to_owned(),
        path: path.filter(|path| !path.trim().is_empty()),
        why: proposal.why.clone(),
        settle: proposal.settle.clone(),
        check,
        second: None,
        step: step_of(&proposal.claim, evidence.plan.as_ref()),
    }
}

/// The check of a finding that the first reader is unsure of.
pub const UNSURE: &str = "the first reader is not sure of it";

fn objection(
    proposal: &Proposal,
    look: Option<&PathOnDisk>,
    evidence: &Evidence,
    shown: &str,
) -> Option<Objection> {
    check_proof(proposal, shown)
        .or_else(|| check_plan(proposal, evidence))
        .or_else(|| check_path(look))
        .or_else(|| check_missing(proposal, look))
        .or_else(|| check_unplanned(proposal, look, evidence))
        .or_else(|| check_content(proposal, look, evidence))
        .or_else(|| check_failed(proposal, &evidence.session))
        .or_else(|| check_not_run(proposal, &evidence.session))
}

/// Finds the section that the claim is quoted from: the one that the proposal names, else any
/// other. White space and Markdown marks do not count, and a part of a line is enough.
fn place_of_claim(proposal: &Proposal, evidence: &Evidence) -> Result<ClaimedIn, Objection> {
    let claim = bare(&proposal.claim);
    if claim.is_empty() {
        return match proposal.category {
            Category::B => Ok(ClaimedIn::Nowhere),
            _ => Err(unsupported("it quotes no claim")),
        };
    }
    let stands_in = |place: ClaimedIn| {
        let text = bare(&claims_text(evidence, place));
        pieces(&proposal.claim).all(|piece| text.contains(&piece))
    };
    let others = ClaimedIn::ALL.into_iter().filter(|place| *place != proposal.claimed_in);
    let found = [proposal.claimed_in].into_iter().chain(others).find(|place| stands_in(*place));
    found.or((proposal.category == Category::B).then_some(ClaimedIn::Nowhere)).ok_or_else(|| {
        let place = match proposal.claimed_in {
            ClaimedIn::Plan => "the plan",
            ClaimedIn::Message => "the final message",
            ClaimedIn::Tasks => "the task list",
            ClaimedIn::Asks => "the person's asks",
            ClaimedIn::Nowhere => "the plan, the final message, the task list or the asks",
        };
        unsupported(format!("its quote is not in {place}"))
    })
}

pub fn pieces(quote: &str) -> impl Iterator<Item = String> {
    let parts = quote.split('…').flat_map(|part| part.split("...")).flat_map(|part| part.split("[…]"));
    parts.map(bare).filter(|part| !part.is_empty())
}

/// Objects to a proof that is not in the evidence. An empty one is fine: then absence is the proof.
fn check_proof(proposal: &Proposal, shown: &str) -> Option<Objection> {
    let is_shown = pieces(&proposal.proof).all(|piece| shown.contains(&piece));
    (!is_shown).then(|| unsupported("its proof is not in the evidence"))
}

/// Objects to categories that are about a plan if there is none.
fn check_plan(proposal: &Proposal, evidence: &Evidence) -> Option<Objection> {
    let needs_plan = matches!(proposal.category, Category::B | Category::C | Category::D);
    (needs_plan && evidence.plan.is_none()).then(|| unsupported("there is no plan to drift from"))
}

/// Objects to a path outside the workspace, in a scratch folder, or unreadable.
fn check_path(look: Option<&PathOnDisk>) -> Option<Objection> {
    let look = look?;
    if is_scratch(&look.name) {
        return Some(unsupported(format!("{} is in a folder for temporary files", look.name)));
    }
    match &look.state {
        FileState::Outside => Some(unsupported(format!("{} is outside the workspace", look.name))),
        FileState::Unreadable(why) => Some(unsupported(format!("{} can't be read: {why}", look.name))),
        FileState::File { .. } | FileState::Folder | FileState::Missing { .. } => None,
    }
}

/// Objects to "missing" if the file exists. If the claim names something else in backticks, that
/// may be missing inside the file.
fn check_missing(proposal: &Proposal, look: Option<&PathOnDisk>) -> Option<Objection> {
    let look = look.filter(|_| proposal.kind == Kind::Missing)?;
    if names_a_part(&proposal.claim, &look.name) {
        return None;
    }
    match look.state {
        FileState::File { bytes } if bytes > 0 => {
            Some(contradicted(format!("{} is there, {bytes} bytes", look.name)))
        }
        FileState::Folder => Some(contradicted(format!("{} is there", look.name))),
        _ => None,
    }
}

/// Returns whether a claim has code in backticks that is not the path itself.
fn names_a_part(claim: &str, path: &str) -> bool {
    let path = bare(path);
    let mut spans = claim.split('`').skip(1).step_by(2).map(bare);
    spans.any(|span| !span.is_empty() && !path.ends_with(&span) && !span.ends_with(&path))
}

/// Objects to work beyond the plan on a file that did not change.
fn check_unplanned(proposal: &Proposal, look: Option<&PathOnDisk>, evidence: &Evidence) -> Option<Objection> {
    let look = look.filter(|_| proposal.category == Category::B)?;
    let file = evidence.file(&look.name)?;
    (file.change == FileChange::Unchanged)
        .then(|| contradicted(format!("{} was not changed in this session", look.name)))
}

/// Objects to "wrong content" without a quote, of a file that the reader did not see whole.
fn check_content(proposal: &Proposal, look: Option<&PathOnDisk>, evidence: &Evidence) -> Option<Objection> {
    let look = look.filter(|_| proposal.kind == Kind::WrongContent && bare(&proposal.proof).is_empty())?;
    let file: &FileEvidence = evidence.file(&look.name)?;
    let why = match &file.entered {
        Entered::Cut(_) => "was shown in part",
        Entered::LeftOut(LeftOut::Missing | LeftOut::Folder | LeftOut::Unchanged)
        | Entered::Whole
        | Entered::Diff => {
            return None;
        }
        Entered::LeftOut(_) => "was not shown",
    };
    Some(unsupported(format!("{} {why}, and what is not shown proves nothing", look.name)))
}

/// Objects to "failed" if the last run of the same command succeeded. A command's output may show a
/// failure whatever its exit code; its line alone does not.
fn check_failed(proposal: &Proposal, session: &Session) -> Option<Objection> {
    if proposal.kind != Kind::Failed {
        return None;
    }
    let commands = &session.commands;
    let failed = commands
        .iter()
        .rfind(|command| !command.has_passed() && command.is_quoted_by(&proposal.proof))
        .or_else(|| commands.iter().rfind(|command| command.has_passed() && is_line(proposal, command)))?;
    let line = normalised(&failed.line);
    let is_run = |command: &&Command| command.at >= failed.at && normalised(&command.line) == line;
    let passed = commands.iter().rfind(is_run).is_some_and(Command::has_passed);
    passed.then(|| contradicted(format!("`{}` succeeded when it was run last", first_line(&failed.line))))
}

/// Returns whether a proof is a command's line and nothing of its output.
fn is_line(proposal: &Proposal, command: &Command) -> bool {
    let proof = bare(&proposal.proof);
    let is_whole = [&*command.line, first_line(&command.line)].iter().any(|line| bare(line) == proof);
    !proof.is_empty() && is_whole && !bare(&command.output).contains(&proof)
}

/// Objects to "not run" if a command that the claim has in backticks ran and succeeded.
fn check_not_run(proposal: &Proposal, session: &Session) -> Option<Objection> {
    if proposal.kind != Kind::NotRun {
        return None;
    }
    let named =
        proposal.claim.split('`').skip(1).step_by(2).map(normalised).filter(|line| line.contains(' '));
    let mut ran = named.filter_map(|line| {
        session.commands.iter().find(|command| command.has_passed() && is_run_in(&line, &command.line))
    });
    ran.next().map(|command| contradicted(format!("`{}` was run, and succeeded", first_line(&command.line))))
}

/// Returns whether a line runs a command, with any arguments; printing or quoting it does not
/// count.
fn is_run_in(command: &str, line: &CommandLine) -> bool {
    let mut runs = line.commands().iter().map(|run| normalised(&run.words_and_files().join(" ")));
    runs.any(|run| run.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

fn first_line(line: &str) -> &str {
    let first = line.trim().lines().next().unwrap_or_default();
    &first[..first.floor_char_boundary(120)]
}

/// Returns the number of the plan's step that a claim quotes.
pub fn step_of(claim: &str, plan: Option<&Plan>) -> Option<usize> {
    let words = bare(claim);
    if words.is_empty() {
        return None;
    }
    let steps: Vec<(usize, String)> =
        plan?.steps.iter().map(|step| (step.number, bare(&step.text))).collect();
    let find = |is_meant: &dyn Fn(&str) -> bool| steps.iter().find(|(_, step)| is_meant(step));
    // A quote with the step's mark, or of more than the step: the longest step that it contains.
    let within = steps.iter().filter(|(_, step)| !step.is_empty() && words.contains(step.as_str()));
    let step = find(&|step| step == words)
        .or_else(|| find(&|step| step.contains(&words)))
        .or_else(|| within.rev().max_by_key(|(_, step)| step.len()));
    step.map(|(number, _)| *number)
}
