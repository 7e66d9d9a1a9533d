//! `punchlist log label`: what a person says of a decision. Appends one note to the log; changes nothing that is there.

use jiff::Timestamp;

use super::{Desk, Refusal, out};
use crate::cli::log::{JudgementChoice, LabelArgs};
use crate::ids::new_id;
use crate::log::note::{Judgement, LabelNote, Note, SCHEMA};
use crate::log::reader::{Lines, Pages};
use crate::text::counted;

/// Runs it.
pub(super) fn run(args: &LabelArgs, desk: &Desk<'_>) -> Result<(), Refusal> {
    let pages = Pages::of(&desk.log);
    let (meant, finding) = desk.the_one(&pages, &args.of, Lines::Unwanted)?;
    let (glance, finding) = (&meant.glance, finding.map(|at| at + 1));
    let now = Timestamp::now();
    let label = match args.judgement {
        JudgementChoice::Right => Judgement::Right,
        JudgementChoice::Wrong => Judgement::Wrong,
    };
    let note = Note::Label(LabelNote {
        schema: SCHEMA,
        id: new_id(),
        time: format!("{now:.3}"),
        of: glance.id.to_string(),
        finding,
        label,
        note: args.note.clone(),
    });
    let written = desk.log.append_notes(std::slice::from_ref(&note), now);
    written
        .map_err(|error| format!("the log in {} can't be written: {error}", desk.log.folder().display()))?;
    if args.json {
        let json = serde_json::to_string(&note).map_err(|error| error.to_string())?;
        return out::print(format!("{json}\n").as_bytes());
    }
    let what = match (finding, glance.findings.len()) {
        (Some(number), _) => format!("finding {number} of {}", glance.id),
        (None, 0) => glance.id.to_string(),
        (None, count) => format!("{} and its {}", glance.id, counted(count, "finding", "findings")),
    };
    out::print(
        format!(
            "Noted: {what} {} {}.\n",
            if finding.is_none() && !glance.findings.is_empty() { "were" } else { "was" },
            label.name()
        )
        .as_bytes(),
    )
}
