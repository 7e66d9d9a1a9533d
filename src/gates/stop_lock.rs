//! Takes a stop in hand: the client runs a hook that is registered twice at the same time, and one of the two must have
//! nothing to do. Gives the reason where this stop is none of ours.

use jiff::Timestamp;

use crate::decision::{Cause, NEWER_STOP, Outcome};
use crate::gates::{StopContext, StopReport};
use crate::state::{NewestStop, Taken};
use crate::timing;

/// Takes it; the reason where another hook has it, or has decided it.
pub fn take(stop: &StopContext<'_>, story: &mut StopReport) -> Option<Outcome> {
    let pass = |cause, detail: &str| Some(Outcome::Pass { cause, detail: Some(detail.to_owned()) });
    let mut may_be_decided = true;
    story.lock = match story.phase(timing::STATE, |_| stop.claim.map(NewestStop::take)) {
        None => story.phase(timing::STATE, |_| stop.state.lock_stop(stop.session, stop.agent())),
        Some(Taken::Ours { place, is_second }) => {
            may_be_decided = is_second;
            Some(place)
        }
        Some(Taken::InHand) => None,
        Some(Taken::Superseded) => return pass(Cause::Superseded, NEWER_STOP),
    };
    if story.lock.is_none() {
        return pass(Cause::Unchanged, "another hook has this stop in hand");
    }
    story.remembered = story.phase(timing::STATE, |_| stop.state.session(stop.session));
    if !may_be_decided {
        return None;
    }
    let remembered = &story.remembered;
    let audited = remembered.audits.get(stop.agent()).map(|last| last.decided_ms);
    let held = remembered.held_ms.get(stop.agent()).copied();
    // (A decision from the future is a clock that jumped back.)
    let now = Timestamp::now().as_millisecond();
    let since = stop.started_ms + 1..=now;
    if audited.into_iter().chain(held).any(|decided_ms| since.contains(&decided_ms)) {
        return pass(Cause::Unchanged, "another hook has decided this stop");
    }
    None
}
