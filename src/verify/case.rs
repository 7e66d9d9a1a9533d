//! One proposal beside all that it is judged by. Takes the auditor's word, the look at the disk and the
//! evidence, finds the step that is meant. Must not judge.

use super::Look;
use super::quotes::step_of;
use crate::auditor::Proposal;
use crate::evidence::Evidence;
use crate::finding::{Category, Problem};
use crate::plan::{Plan, Step};
use crate::session::Session;
use crate::words::base_name;

/// One proposal and what speaks for and against it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// The witness's word.
    pub(super) proposal: &'a Proposal,
    /// What the disk shows of its path.
    pub(super) look: Option<&'a Look>,
    /// Plan, session and disk.
    pub(super) evidence: &'a Evidence,
    /// The step that it quotes.
    pub(super) step: Option<&'a Step>,
}

impl<'a> Case<'a> {
    pub(super) fn new(proposal: &'a Proposal, look: Option<&'a Look>, evidence: &'a Evidence) -> Self {
        let is_about_a_step = matches!(proposal.category, Category::A | Category::C);
        let plan = evidence.plan.as_ref().filter(|_| is_about_a_step);
        Self { proposal, look, evidence, step: plan.and_then(|plan| step_of(&proposal.quote, plan)) }
    }

    /// What the agent said at the end.
    pub(super) fn message(&self) -> &'a str {
        self.evidence.session.final_message.as_deref().unwrap_or_default()
    }

    pub(super) fn session(&self) -> &'a Session {
        &self.evidence.session
    }

    pub(super) fn plan(&self) -> Option<&'a Plan> {
        self.evidence.plan.as_ref()
    }

    /// The last part of the path; empty where it names none.
    pub(super) fn file_name(&self) -> &'a str {
        base_name(self.look.map_or(self.proposal.path.as_str(), |look| look.name.as_str()))
    }
}

/// The path that a proposal is about, without what Markdown and compilers put around one. Where it names none,
/// the only file that the quoted step names: a witness that quotes "Create `a.txt`" means that file.
pub fn path_of<'a>(proposal: &'a Proposal, evidence: &'a Evidence) -> Option<&'a str> {
    let marks = ['`', '"', '\'', ' '];
    let written = without_position(proposal.path.trim().trim_matches(marks)).trim_matches(marks);
    if !written.is_empty() {
        return Some(written);
    }
    let is_about_a_file = proposal.category == Category::A
        && matches!(proposal.problem, Problem::MissingFile | Problem::MissingContent | Problem::NoTrace);
    let plan = evidence.plan.as_ref().filter(|_| is_about_a_file)?;
    match step_of(&proposal.quote, plan)?.paths.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// `a.rs:12:3` is the file `a.rs`.
fn without_position(path: &str) -> &str {
    let is_position = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    match path.rsplit_once(':') {
        Some((before, position)) if is_position(position) && !before.is_empty() => without_position(before),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_no_part_of_a_path() {
        assert_eq!(
            ["a.rs:12:3", "a.rs:3-9", "a:b", "a.rs", ":1"].map(without_position),
            ["a.rs", "a.rs", "a:b", "a.rs", ":1"]
        );
    }
}
