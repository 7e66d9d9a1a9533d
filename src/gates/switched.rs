//! Who used the person's switch: takes a stop that it lets through, and looks whether the agent threw it. That is
//! honoured, logged, and told to the person once. What was typed at a terminal is the person's, and nothing is read.

use super::{Stop, Story};
use crate::decision::Outcome;
use crate::evidence::redact::mask;
use crate::facts::risks::switched_off_by;
use crate::names::ContentName;
use crate::session::ledger::Role;
use crate::session::load::load;
use crate::state::SwitchedOff;

/// The outcome of a stop that the switch lets through.
pub fn with_whose_it_was(outcome: Outcome, off: &SwitchedOff, stop: &Stop<'_>, story: &mut Story) -> Outcome {
    let Outcome::Pass { cause, detail } = outcome else { return outcome };
    let pass = Outcome::Pass { cause, detail: detail.clone() };
    if off.thrown.at_terminal {
        return pass;
    }
    // Looked at once for each time that it was thrown: a long session takes a while to read.
    let name = ContentName::of(format!("switch {}", off.thrown.at_ms));
    if stop.state.session(stop.session).told.contains(&name) {
        return pass;
    }
    story.told.push(name);
    let input = stop.input;
    let loaded = load(input.transcript_path.as_deref(), Role::Main, input.last_assistant_message.as_deref());
    let Some(mut advisory) = switched_off_by(&loaded.session) else { return pass };
    advisory.evidence = mask(&advisory.evidence).text;
    let message = format!(
        "{}; the agent did it itself ({}). `punchlist on` switches it on again",
        detail.unwrap_or_default(),
        advisory.evidence
    );
    story.advisories.push(advisory);
    Outcome::Advise { cause, message }
}
