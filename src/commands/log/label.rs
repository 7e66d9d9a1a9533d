//! `punchlist log label`: what a person says of a decision. Appends one note to the log; changes
//! nothing that is there.

use jiff::Timestamp;

use super::{Context, Result, output};
use crate::cli::log::{JudgementChoice, LabelArgs};
use crate::log::note::{Label, LabelNote, Note};
use crate::text::counted;

/// Runs the command.
pub(super) fn run(args: &LabelArgs, context: &Context<'_>) -> Result {
    let (annotated, finding) = context.find_one(&args.of)?;
    let (record, finding) = (&annotated.decision, finding.map(|at| at + 1));
    let label = match args.judgement {
        JudgementChoice::Right => Label::Right,
        JudgementChoice::Wrong => Label::Wrong,
    };
    let now = Timestamp::now();
    let note = LabelNote { note: args.note.clone(), ..LabelNote::new(&record.id, finding, label, now) };
    let note = Note::Label(note);
    context.log.append_notes(std::slice::from_ref(&note), now).map_err(|error| {
        format!("the log in {} can't be written: {error}", context.log.folder().display())
    })?;
    if args.json {
        let json = serde_json::to_string(&note).map_err(|error| error.to_string())?;
        return output::print(format!("{json}\n").as_bytes());
    }
    let (what, was) = match (finding, record.findings.len()) {
        (Some(number), _) => (format!("finding {number} of {}", record.id), "was"),
        (None, 0) => (record.id.clone(), "was"),
        (None, count) => (format!("{} and its {}", record.id, counted(count, "finding", "findings")), "were"),
    };
    output::print(format!("Noted: {what} {was} {}.\n", label.name()).as_bytes())
}
