//! Takes the evidence, gives what is claimed of commands: by steps that are ticked or called done, and by sentences of
//! the final message. Pure. Must not look at what ran.

use crate::claims::kinds::{Extent, claimed};
use crate::claims::ticks::steps_deeds;
use crate::evidence::Evidence;
use crate::facts::claimed::claimed as claimed_as_done;
use crate::finding::Finding;
use crate::plan::Mark;
use crate::session::shell::Deed;

/// One thing claimed, and where.
#[derive(Debug, Clone)]
pub(super) struct Said<'a> {
    pub deed: Deed,
    pub quote: &'a str,
    pub step: Option<usize>,
    pub extent: Extent,
}

/// Everything claimed: steps first, since a step is easier to point at, and ticked ones before the others.
pub(super) fn said(evidence: &Evidence) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    for claim in claimed_as_done(evidence) {
        let Some(step) = claim.step else { continue };
        said.extend(steps_deeds(&step.text).into_iter().map(|deed| Said {
            deed,
            quote: claim.words,
            step: Some(step.number),
            extent: Extent::Whole,
        }));
    }
    let message = evidence.session.final_message.as_deref().unwrap_or_default();
    said.extend(claimed(message).into_iter().map(|claim| Said {
        deed: claim.deed,
        quote: claim.sentence,
        step: None,
        extent: claim.extent,
    }));
    said
}

/// A finding with all that points at it: a step and a sentence that claim the same are two claims of one thing. The
/// sentence is quoted, since it is the session's own, and the step is named by its number.
pub(super) fn pointed(mut finding: Finding, deed: Deed, said: &[Said<'_>], evidence: &Evidence) -> Finding {
    let of_message = said.iter().find(|claim| claim.deed == deed && claim.step.is_none());
    if let Some(sentence) = of_message.filter(|_| finding.step.is_some()) {
        sentence.quote.clone_into(&mut finding.quote);
    }
    finding.step = finding.step.or_else(|| only_step(deed, evidence));
    finding
}

/// The step that asks for it, where there is but one.
fn only_step(deed: Deed, evidence: &Evidence) -> Option<usize> {
    let plan = evidence.plan.as_ref()?;
    let mut steps = plan.promised().filter(|step| {
        step.mark != Mark::Abandoned
            && !plan.ticked_before.contains(&step.number)
            && steps_deeds(&step.text).contains(&deed)
    });
    let step = steps.next()?;
    steps.next().is_none().then_some(step.number)
}
