//! Puts what the auditor says beside the facts: one thing said twice becomes one finding. Pure. A proven fact
//! stands whatever the auditor says; a candidate of the facts stands or falls with what the rules make of the
//! auditor's word on it.

use crate::finding::{Category, Finding, Problem, Source, Status};
use crate::words::normalised;

/// What the verifier says of a candidate that the auditor, though it answered, did not name.
pub const NOT_TAKEN_UP: &str = "a candidate of the facts; the auditor did not take it up";

/// Puts judged proposals beside the facts.
pub(super) fn merge(facts: Vec<Finding>, proposed: Vec<Finding>) -> Vec<Finding> {
    let mut findings = facts;
    for finding in proposed {
        let known = findings.iter_mut().find(|known| is_same(known, &finding) && may_join(known, &finding));
        match known {
            Some(known) => join(known, finding),
            None => findings.push(finding),
        }
    }
    for finding in &mut findings {
        if finding.source == Source::Facts && finding.status == Status::CannotVerify {
            NOT_TAKEN_UP.clone_into(&mut finding.verifier);
        }
    }
    without_left_steps_that_are_claimed(findings)
}

/// Whether two findings say the same thing: the same kind of drift on the same file, on the same step, on the
/// same words, or on the same command.
fn is_same(one: &Finding, other: &Finding) -> bool {
    if one.category != other.category {
        return false;
    }
    let both = [one, other];
    let is_of_steps = both.iter().all(|finding| finding.step.is_some());
    if let (Some(one_path), Some(other_path)) = (&one.path, &other.path) {
        // Two steps may each have put something into one file, and each of them may lack.
        let lacks = both.iter().all(|finding| finding.problem == Problem::MissingContent);
        return one_path == other_path && !(lacks && is_of_steps && one.step != other.step);
    }
    let is_command = both.iter().all(|finding| finding.problem == Problem::FailedCommand);
    if is_command && let (Some(one), Some(other)) = (command_of(one), command_of(other)) {
        // One sentence may claim many commands, and one of them be spoken of.
        return is_same_command(one, other);
    }
    let words = |finding: &Finding| normalised(&finding.quote);
    (is_of_steps && one.step == other.step) || (!one.quote.is_empty() && words(one) == words(other))
}

/// How much of a command line is surely shown.
const SHOWN: usize = 80;

/// Whether two lines are one. Long ones are cut where they are shown, not always at one place.
fn is_same_command(one: &str, other: &str) -> bool {
    let is_cut = |line: &str| line.chars().count() >= SHOWN;
    one == other || (is_cut(one) && is_cut(other) && one.chars().take(SHOWN).eq(other.chars().take(SHOWN)))
}

/// The command that a finding is about, as its evidence shows it.
fn command_of(finding: &Finding) -> Option<&str> {
    finding.evidence.first()?.strip_prefix('`')?.split('`').next()
}

/// Whether one's end says anything of the other. That a file exists refutes that it is missing, and says
/// nothing of what it lacks.
fn may_join(known: &Finding, finding: &Finding) -> bool {
    let is_one_refuted = (known.status == Status::Refuted) != (finding.status == Status::Refuted);
    let is_proven_fact = known.source != Source::Auditor && known.status == Status::Confirmed;
    let is_same_problem = known.problem == finding.problem
        || matches!(
            (known.problem, finding.problem),
            (Problem::MissingFile, Problem::NoTrace) | (Problem::NoTrace, Problem::MissingFile)
        );
    is_proven_fact || !is_one_refuted || (known.source == Source::Facts && is_same_problem)
}

fn join(known: &mut Finding, finding: Finding) {
    let is_candidate = known.source == Source::Facts && known.status == Status::CannotVerify;
    let is_stronger = strength(&finding) > strength(known);
    match known.source {
        Source::Facts if is_candidate => {
            // The facts' own words stay: they are exact.
            (known.status, known.verifier) = (finding.status, finding.verifier);
            known.source = Source::Both;
        }
        Source::Facts => known.source = Source::Both,
        Source::Both if is_stronger => (known.status, known.verifier) = (finding.status, finding.verifier),
        Source::Auditor if is_stronger => {
            *known = finding;
            return;
        }
        Source::Both | Source::Auditor => {}
    }
    known.step = known.step.or(finding.step);
    if known.evidence.is_empty() {
        known.evidence = finding.evidence;
    }
}

/// What the verifier says of drift that needs judgement and that only the auditor sees.
pub const LONE_WORD: &str = "only the auditor says so: nothing in plan, session and disk hints at it";

/// Judgement takes two: what only the auditor sees, and no fact hints at, is shown and never held against anybody. What
/// is claimed and not there needs no hint, the disk shows it.
pub fn without_lone_words(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| {
        finding.category != Category::A
            && finding.source == Source::Auditor
            && finding.status == Status::Confirmed
    }) {
        finding.status = Status::CannotVerify;
        finding.verifier = format!("{LONE_WORD} ({})", finding.verifier);
    }
}

fn strength(finding: &Finding) -> u8 {
    match finding.status {
        Status::Confirmed => 2,
        Status::CannotVerify => 1,
        Status::Refuted => 0,
    }
}

/// A step that is claimed and not done is not also abandoned.
fn without_left_steps_that_are_claimed(mut findings: Vec<Finding>) -> Vec<Finding> {
    let claimed: Vec<(Option<usize>, Option<String>, u8)> = findings
        .iter()
        .filter(|finding| finding.category == Category::A && finding.status != Status::Refuted)
        .map(|finding| (finding.step, finding.path.clone(), strength(finding)))
        .collect();
    findings.retain(|finding| {
        let is_told = |(step, path, how): &(Option<usize>, Option<String>, u8)| {
            let is_same =
                (step.is_some() && *step == finding.step) || (path.is_some() && *path == finding.path);
            is_same && *how >= strength(finding)
        };
        finding.category != Category::C || finding.status == Status::Refuted || !claimed.iter().any(is_told)
    });
    findings
}
